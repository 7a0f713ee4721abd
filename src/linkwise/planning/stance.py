"""A contact that stands: where a frame is held, the numbers on splines that its wrench is made of, and its sole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwise.planning.curve import Array, Basis
from linkwise.scalar import Scalar
from linkwise.spatial import Pose, Wrench
from linkwise.vector import Mat3, Vec3, cross

FORCE, MOMENT = ("fx", "fy", "fz"), ("mx", "my", "mz")
SHARE = "share"
TINY, SWEEPS = 1e-15, 3  # what stands in for contacts where none stands, and how often their shares are mended
LEVER = 0.1  # m: moments on splines are counted in weights times this
LEAVING = 0.2  # of a swing: while a frame that was at rest gains speed, or loses it, the way is at its end

Numbers = tuple[float, float, float]


@dataclass(frozen=True)
class Stance:
    """A contact of a robot in a plan.

    Its own axes have the normal of the ground, pointing to the robot, as z; they are fixed in the frame where it has a
    sole, else in the world. Its numbers on splines are the force in these axes in weights of the robot, the moment
    about the sole's middle where it has a sole, and its share: 1 while it stands, 0 while it does not, smooth between.

    Args:
        name: by which it is known.
        frame: that stands.
        phases: fractions of the motion's time, from and to, in which it does.
        places: where the frame is held in each of them, in the world.
        axes: of the contact, in those of the frame, or of the world where it is a point.
        middle: of the sole, or the point, in the frame's axes.
        corners: of the sole in the contact's x and y, about the middle, anticlockwise; none of a point.
        friction: coefficient of dry friction.
        torsion: m, the moment about the normal that friction withstands, over the normal force.
        slip: m and rad, how far the frame may be from its place between the instants where it is there.
        lift: m, how high the frame is at least in the middle of the way between two places.
        weight: of the robot, N.
        normal: of the ground, in the world.
    """

    name: str
    frame: str
    phases: tuple[tuple[float, float], ...]
    places: tuple[Pose, ...]
    axes: Mat3
    middle: Vec3
    corners: tuple[tuple[float, float], ...]
    friction: float
    torsion: float
    slip: float
    lift: float
    weight: float
    normal: Vec3

    @property
    def is_sole(self) -> bool:
        """Whether it has a sole, on which it does not tip over; else it is a point."""
        return bool(self.corners)

    @property
    def components(self) -> tuple[str, ...]:
        """The parts of its wrench."""
        return (*FORCE, *MOMENT) if self.is_sole else FORCE

    @property
    def names(self) -> list[str]:
        """The names of its numbers."""
        return [f"{self.name}.{x}" for x in (*self.components, SHARE)]

    @property
    def units(self) -> list[float]:
        """What one of each number of its wrench is, N and N m."""
        return [self.weight] * 3 + [self.weight * LEVER] * (len(self.components) - 3)

    @property
    def lower(self) -> list[float]:
        """The least of each number: the ground does not pull."""
        return [0.0 if x == "fz" else -np.inf for x in (*self.components, SHARE)]

    @cached_property
    def radius(self) -> float:
        """The size of the sole by which moments are compared with forces, m; next to nothing for a point."""
        return float(np.sqrt(np.mean(np.square(self.corners).sum(axis=1)))) if self.is_sole else 1e-3

    def stands(self, s: Array) -> Array:
        """Whether it stands, at fractions (n,) of the motion's time."""
        return np.any([(s >= a - 1e-12) & (s <= b + 1e-12) for a, b in self.phases], axis=0)

    def fixed(self, basis: Basis) -> Array:
        """Control points (count, numbers) that are known: no force outside of phases; nan where they are free."""
        knots, d = basis.knots, basis.degree
        first, last = knots[: basis.count], knots[d + 1 : d + 1 + basis.count]
        own = np.any([(first >= a - 1e-12) & (last <= b + 1e-12) for a, b in self.phases], axis=0)
        found = np.full((basis.count, len(self.names)), np.nan)
        found[~own] = 0.0
        found[:, -1] = own
        return found

    # ---- on any scalars

    def wrench(self, numbers: Sequence[Scalar]) -> list[Scalar]:
        """Force and moment about the middle in the contact's axes, from its numbers."""
        own = [x * unit for x, unit in zip(numbers, self.units, strict=False)]
        return [*own, *[0.0] * (6 - len(own))]

    def in_world(self, pose: Pose) -> Mat3:
        """The contact's axes in the world, where the frame is at a pose."""
        found: Mat3 = pose.R @ self.axes if self.is_sole else self.axes
        return found

    def on_frame(self, six: Sequence[Scalar], pose: Pose) -> Wrench:
        """A wrench in the contact's axes about the middle, in the frame's axes about its origin."""
        axes = self.axes if self.is_sole else pose.R.T @ self.axes
        force, moment = axes @ Vec3(*six[:3]), axes @ Vec3(*six[3:])
        return Wrench(force, moment + cross(self.middle, force))

    def reference(self, s: Array) -> Array:
        """Where the frame is to be (n, 12), rotation row after row, then position; between places on a straight way.

        It leaves its place later than the frame may, and is at the next one sooner.
        """
        ends = np.array([x for phase in self.phases for x in phase])
        late = LEAVING * (ends[2::2] - ends[1:-1:2])
        ends[1:-1:2] += late
        ends[2::2] -= late
        rows = np.array([[*(x for row in X.R for x in row), *X.p] for X in self.places for _ in range(2)])
        found = np.stack([np.interp(s, ends, column) for column in rows.T], axis=1)
        upcoming = np.clip(np.searchsorted([a for a, _ in self.phases], s + 1e-12, side="right") - 1, 0, None)
        found[:, :9] = rows[2 * upcoming, :9]
        return found


def checked(stance: Stance) -> Stance:
    """A contact from a file, if it can be one."""
    numbers = [
        *stance.middle,
        *stance.normal,
        *(x for row in stance.axes for x in row),
        stance.friction,
        stance.torsion,
    ]
    numbers += [x for X in stance.places for v in (*X.R, X.p) for x in v] + [x for c in stance.corners for x in c]
    ends = [x for phase in stance.phases for x in phase]
    kept = len(stance.places) == len(stance.phases) > 0 and len(stance.corners) != 1 and stance.weight > 0.0
    if not kept or not np.isfinite([*numbers, *ends, stance.slip, stance.lift, stance.weight]).all():
        raise ValueError("contact")
    return stance


def balanced(
    stances: Sequence[Stance],
    poses: Sequence[Pose],
    wrenches: Sequence[Sequence[Scalar]],
    shares: Sequence[Scalar],
    missing: tuple[Vec3, Vec3],
) -> list[list[Scalar]]:
    """The wrenches of contacts, in their axes, with what misses shared among those that stand.

    Of all ways to share, that with the least sum of squares of forces and of moments over the soles' sizes, weighted by
    shares: with d from the weighted middle of all contacts and rho the size of a sole

        f_i = a_i (f / sum a + u x d_i),   m_i = a_i rho_i^2 u,   (sum a_i (|d_i|^2 + rho_i^2 - d_i d_i^T)) u = m

    What points on one line, or no contact at all, cannot hold is left.

    Args:
        stances: the contacts.
        poses: of their frames in the world.
        wrenches: of each, in its axes about its middle.
        shares: how much each stands.
        missing: force, and moment about the world's origin, in world axes.
    """
    total = sum(shares[1:], shares[0]) + TINY
    points = [X.point(s.middle) for s, X in zip(stances, poses, strict=True)]
    centre = _sum([p * (a / total) for p, a in zip(points, shares, strict=True)])
    levers = [p - centre for p in points]
    S = _spread(stances, shares, levers)
    f, m = missing
    force, left, turn = f * (1.0 / total), m - cross(centre, f), Vec3(0.0, 0.0, 0.0)
    held = sum((a * (s.radius**2) for s, a in zip(stances, shares, strict=True) if not s.is_sole), 0.0 * total)
    for _ in range(SWEEPS):  # again for what points seemed to hold of it
        u = _solved(S, left)
        turn = turn + u
        left = u * held
    found = []
    for s, X, six, a, d in zip(stances, poses, wrenches, shares, levers, strict=True):
        axes = s.in_world(X).T
        more = [*(axes @ ((force + cross(turn, d)) * a)), *(axes @ (turn * (a * (s.radius**2))))]
        found.append([x + y for x, y in zip(six, more if s.is_sole else [*more[:3], 0.0, 0.0, 0.0], strict=True)])
    return found


def _sum(vectors: Sequence[Vec3]) -> Vec3:
    total = vectors[0]
    for v in vectors[1:]:
        total = total + v
    return total


def _spread(stances: Sequence[Stance], shares: Sequence[Scalar], levers: Sequence[Vec3]) -> Mat3:
    """sum a_i (|d_i|^2 + rho_i^2 - d_i d_i^T)."""
    xx = yy = zz = 0.0 * shares[0] + TINY
    xy = xz = yz = 0.0 * shares[0]
    for s, a, d in zip(stances, shares, levers, strict=True):
        own = s.radius**2
        xx = xx + a * (d.y * d.y + d.z * d.z + own)
        yy = yy + a * (d.x * d.x + d.z * d.z + own)
        zz = zz + a * (d.x * d.x + d.y * d.y + own)
        xy, xz, yz = xy - a * d.x * d.y, xz - a * d.x * d.z, yz - a * d.y * d.z
    return Mat3.of([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _solved(S: Mat3, m: Vec3) -> Vec3:
    """S^-1 m of a symmetric matrix."""
    a, b, c = cross(S.y, S.z), cross(S.z, S.x), cross(S.x, S.y)
    share = 1.0 / (S.x.x * a.x + S.x.y * a.y + S.x.z * a.z)
    return (a * m.x + b * m.y + c * m.z) * share
