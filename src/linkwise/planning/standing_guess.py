"""A first motion of a robot that stands: smooth, with its feet in place and frames where they are to be."""

from __future__ import annotations

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.free_base import LABELS
from linkwise.planning.problem import Problem
from linkwise.planning.samples import Samples

STEPS, CLOSE = 30, 1e-6  # of Gauss's and Newton's method, and how far rows may be off in the end
SLACK = 1e-6  # by which rows give way to smoothness


def stood(problem: Problem, shape: Array, duration: float) -> Array:
    """Control points near these at which rows of instants hold, of all such ones the smoothest.

    Each step solves a quadratic program without inequalities: least squares of second differences of control points,
    and of rows beyond their bounds, which count far more.
    """
    own = [s for s in problem.instants if not any(g.label in LABELS for g in s.kernel.rows)]
    fixed, lower, upper = problem.ends.fixed, *problem.box
    count, n = shape.shape
    at = np.flatnonzero(np.isnan(fixed[:, : problem.chart.moving]).ravel())
    at = (at // problem.chart.moving) * n + at % problem.chart.moving
    D = np.kron(np.diff(np.eye(count), 2, axis=0), np.eye(n))
    bend, P = (D.T @ D)[np.ix_(at, at)] + SLACK * np.eye(len(at)), shape.copy()
    for _ in range(STEPS):
        off, J = _rows(own, P, duration)
        for group in problem.linear:
            values = group.matrix @ P.ravel()
            off = np.append(off, values - np.clip(values, group.lower, group.upper))
            J = np.vstack([J, group.matrix])
        if np.abs(off).max(initial=0.0) < CLOSE:
            break
        A = J[:, at]
        left = np.block([[bend, A.T], [A, -SLACK * np.eye(len(A))]])
        right = np.concatenate([-(D.T @ (D @ P.ravel()))[at], -off])
        step = np.linalg.lstsq(left, right, rcond=None)[0][: len(at)]
        P.flat[at] += step * min(1.0, 0.5 / float(np.abs(step).max(initial=0.5)))
        P = np.where(np.isnan(fixed), np.clip(P, lower, upper), P)
    return P


def _rows(own: list[Samples], P: Array, duration: float) -> tuple[Array, Array]:
    """How far rows are beyond their bounds, over their scales, and their derivatives by all control points."""
    parts, slopes = [np.zeros(0)], [np.zeros((0, P.size))]
    for s in own:
        first = s.first(P, duration)
        values, (lower, upper) = first.values / s.scale, s.limits
        J = np.zeros((len(s.s), s.kernel.count, P.size))
        J[np.arange(len(s.s))[:, None, None], s.kernel.entries[:, 0][:, None], s.columns] = first.by_points
        parts.append((values - np.clip(values, lower, upper)).ravel())
        slopes.append((J / s.scale[:, None]).reshape(-1, P.size))
    return np.concatenate(parts), np.vstack(slopes)
