"""A first motion of a robot that stands: smooth, balanced, clear, its feet in place and frames where they are to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwise.planning.clearance import Active, Near
from linkwise.planning.contact_rows import LIFT
from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.free_base import LABELS
from linkwise.planning.kernels import PointKernel
from linkwise.planning.problem import Problem
from linkwise.planning.rows import Rows
from linkwise.planning.samples import Samples
from linkwise.planning.variables import Calm
from linkwise.scalar import Scalar
from linkwise.vector import Vec3, dot

if TYPE_CHECKING:
    from linkwise.planning.point import Point

STEPS, CLOSE = 30, 1e-5  # of Gauss's and Newton's method, and how small its last one is
SLACK, ASIDE = 1e-6, 1e-3  # by which rows give way to smoothness, and by which those do that are short
BENT, PULL = 0.2, 10.0  # of the way to the middle of a joint's range: a posture, and what it costs to be away from it
BALANCE = 1e5  # what it costs to have the centre of mass a metre away from above the feet
UPRIGHT = 0.5  # cosine of an angle to the vertical, within which the normal of a contact makes it one to stand on


def stood(problem: Problem, shape: Array, duration: float) -> Array:
    """Control points near these at which rows of instants hold, of all such ones the smoothest.

    Each step solves a quadratic program without inequalities: least squares of accelerations, of what joints are away
    from a posture in which they are slightly bent, for a straight knee shows no way up, of what the centre of mass is
    away from above the feet, and of rows beyond their bounds, which count far more. Distances to keep and heights of
    feet that swing are among the rows where they are short, and as long as something pushes them there.
    """
    basis = problem.basis
    own = [s for s in problem.instants if not any(g.label in LABELS for g in s.kernel.rows)]
    if balance := _balance(problem):
        own.append(Samples(PointKernel(problem.robot, balance, problem.surroundings), basis, basis.abscissae))
    fixed, lower, upper = problem.ends.fixed, *problem.box
    count, n = shape.shape
    at = np.flatnonzero(np.isnan(fixed[:, : problem.chart.moving]).ravel())
    at = (at // problem.chart.moving) * n + at % problem.chart.moving
    ranged = np.isfinite(lower) & np.isfinite(upper)
    middle = np.where(ranged, 0.5 * (np.where(ranged, lower, 0.0) + np.where(ranged, upper, 0.0)), shape)
    bent = shape + BENT * (middle - shape)
    pull = np.tile(np.where(ranged, PULL / count, SLACK), count)
    smooth = np.kron(Calm.of(basis, 1.0, 0.5, np.ones(n)).matrix, np.eye(n)) + np.diag(pull)
    P, held = np.where(np.isnan(fixed), bent, shape), np.zeros(shape.shape, dtype=bool)
    kept: list[Near | _Height] = [*problem.near, *_heights(problem)]
    short: list[Active] = [frozenset()] * len(kept)
    for _ in range(STEPS):
        now = Curve(basis, P, duration)
        short = [a | x.nearest(now, problem.grid, 0.0) for x, a in zip(kept, short, strict=True)]
        off, J, give = _rows(own, P, duration, [x.samples(a) for x, a in zip(kept, short, strict=True) if a])
        for group in problem.linear:
            values = group.matrix @ P.ravel()
            off = np.append(off, values - np.clip(values, group.lower, group.upper))
            J, give = np.vstack([J, group.matrix]), np.append(give, np.full(len(values), SLACK))
        free = at[~held.flat[at]]
        left = np.block([[smooth[np.ix_(free, free)], J[:, free].T], [J[:, free], -np.diag(give)]])
        slope = smooth @ P.ravel() - pull * bent.ravel()
        found = np.linalg.solve(left, np.concatenate([-slope[free], -off]))
        step, y = found[: len(free)], found[len(free) :]
        slope += smooth[:, free] @ step + J.T @ y
        pushes = iter((y < 0.0).tolist())
        short = [frozenset(x for x in sorted(a) if next(pushes)) for a in short]
        before = P.copy()
        P.flat[free] += step * min(1.0, 0.5 / float(np.abs(step).max(initial=0.5)))
        P = np.where(np.isnan(fixed), np.clip(P, lower, upper), P)
        # joints rest on a bound while all pushes them beyond it
        back = slope.reshape(P.shape)
        held = ((lower >= P) & ((back > 0.0) | ~held)) | ((upper <= P) & ((back < 0.0) | ~held))
        if np.abs(P - before).max(initial=0.0) < CLOSE:
            break
    return P


class _Height(NamedTuple):
    """The height of a foot that swings, asked as a distance to keep is."""

    kernel: PointKernel
    basis: Basis

    def samples(self, active: Active) -> Samples:
        """The rows at instants."""
        return Samples(self.kernel, self.basis, sorted(s for s, _ in active))

    def nearest(self, curve: Curve, s: Array, within: float) -> Active:
        """The instants at which it is nearer than so much to its bound, or below."""
        own = Samples(self.kernel, self.basis, s)
        low = own.values(curve.points, curve.duration) / own.scale < own.limits[0] + within
        return frozenset((x, 0) for x in s[low[:, 0]].tolist())


def _heights(problem: Problem) -> list[_Height]:
    lifted = [r for r in problem.rows if r.label == LIFT]
    return [_Height(PointKernel(problem.robot, [r], problem.surroundings), problem.basis) for r in lifted]


def _balance(problem: Problem) -> list[Rows]:
    """The centre of mass above the middle of the contacts that it can stand on, as far as that costs little."""
    g = np.array(problem.robot.gravity, dtype=float)
    size, basis = float(np.linalg.norm(g)), problem.basis
    up = -g / (size or 1.0)
    feet = [s for s in problem.chart.stances if np.array(s.normal) @ up > UPRIGHT]
    if not feet:
        return []

    def support(s: Array) -> Array:
        shares = np.stack([basis.matrix(s) @ stance.fixed(basis)[:, -1] for stance in feet]) + SLACK
        at = []
        for stance in feet:
            pose = stance.reference(s)
            at.append(pose[:, :9].reshape(-1, 3, 3) @ np.array(stance.middle) + pose[:, 9:])
        found: Array = np.einsum("ks,ksi->si", shares / shares.sum(axis=0), np.array(at))
        return found

    def away(p: Point) -> list[Scalar]:
        d = Vec3(*p.centre) - Vec3(*p.data[:3])
        return list(d - Vec3(*up.tolist()) * dot(d, Vec3(*up.tolist())))

    zero, one = np.zeros(3), np.ones(3)
    return [Rows("balance", ("x", "y", "z"), away, zero, zero, one, data=support, width=3, price=BALANCE)]


def _rows(own: list[Samples], P: Array, duration: float, short: Sequence[Samples] = ()) -> tuple[Array, Array, Array]:
    """How far rows are beyond their bounds, over their scales, derivatives by all control points, and how they give.

    Rows of `short` come first; they are to be at their lower bounds.
    """
    parts, slopes, give = [np.zeros(0)], [np.zeros((0, P.size))], [np.zeros(0)]
    for k, s in enumerate([*short, *own]):
        first = s.first(P, duration)
        values, (lower, upper), soft = first.values / s.scale, s.limits, k < len(short)
        J = np.zeros((len(s.s), s.kernel.count, P.size))
        J[np.arange(len(s.s))[:, None, None], s.kernel.entries[:, 0][:, None], s.columns] = first.by_points
        parts.append((values - np.clip(values, lower, lower if soft else upper)).ravel())
        slopes.append((J / s.scale[:, None]).reshape(-1, P.size))
        give.append(np.tile(np.maximum(len(s.s) / s.prices, ASIDE if soft else SLACK), len(s.s)))
    return np.concatenate(parts), np.vstack(slopes), np.concatenate(give)
