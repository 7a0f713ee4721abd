"""First motions around what is in the way: by a sampling planner, shortened, retimed, and laid on a spline."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from linkwise.errors import LinkwiseError
from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.free_base import settled
from linkwise.planning.joint_limits import JointLimits
from linkwise.planning.path import Path
from linkwise.planning.problem import Problem
from linkwise.planning.sampling import WIDE, Space, clear_way, evenly, shortened
from linkwise.planning.timing import retime

WAYS, PATIENCE = 3, 10.0  # ways that are tried, and seconds to look for each
CORNERS = (40, 80, 160)  # control points of a smooth path: the more, the nearer it is to the way with its corners
ROWS = 8  # of a retimed path for each control point of the spline that is laid through them
SLOWER = 1.05  # the factor by which a motion is slowed until it keeps its limits
SLOWEST = 100  # such factors
RETIMED = ("velocity", "acceleration", "effort")


def is_clear(problem: Problem, curve: Curve) -> bool:
    """Whether a motion keeps all margins at the points where it is held."""
    return all(bool((near.along(curve, problem.grid) > near.margin).all()) for near in problem.near)


def ways_around(problem: Problem) -> Iterator[Curve]:
    """Motions that are clear of everything, or nearly; none where nothing is in the way, or no way is found."""
    fixed = problem.ends.fixed
    if not problem.near or problem.chart.sought or not np.isfinite(fixed[[0, -1]]).all():
        return
    start, goal = fixed[0], fixed[-1]
    lower, upper = (np.where(np.isfinite(b), b, end) for b, end in zip(
        problem.box, (np.minimum(start, goal) - WIDE, np.maximum(start, goal) + WIDE), strict=True))  # fmt: skip
    for seed in range(WAYS):
        space = Space(problem.near, lower, upper, time.monotonic() + PATIENCE)
        way = clear_way(space, start, goal, seed)
        if way is None:
            return
        yield on_spline(problem, space, shortened(space, way, seed))


def on_spline(problem: Problem, space: Space, way: Array) -> Curve:
    """A motion on the problem's spline along a way, slow enough for all limits."""
    path = _smooth(problem, space, way)
    at = np.linspace(0.0, 1.0, ROWS * problem.basis.count)
    rows, duration = path(at), 0.05
    with suppress(LinkwiseError):
        timed = retime(problem.robot, Path.spline(path), **_limits(problem), jerk=np.inf, effort_rate=np.inf)
        rows, duration = timed(at * timed.duration)[0], timed.duration
    shape = _fitted(problem.basis, problem.ends.fixed, at, rows)
    return settled(problem, Curve(problem.basis, shape, problem.duration or slow_enough(problem, shape, duration)))


def _smooth(problem: Problem, space: Space, way: Array) -> Any:
    """A curve without corners near the way, as a spline of SciPy over 0 to 1; clear, if it can be."""
    from scipy.interpolate import BSpline

    for count in CORNERS:
        basis = Basis.uniform(max(3, min(5, problem.basis.degree)), count)
        path = BSpline(basis.knots, evenly(space, way, basis.abscissae), basis.degree)
        if space.clear(path(basis.grid(2))[1:-1]).all():
            break
    return path


def _limits(problem: Problem) -> dict[str, Any]:
    """What limits of joints and drives allow, by kind."""
    found: dict[str, Any] = dict.fromkeys(RETIMED, np.inf)
    for c in problem.constraints:
        if isinstance(c, JointLimits):
            for kind in (k for k in c.kinds if k in RETIMED):
                found[kind] = np.minimum(found[kind], c.bound(problem.robot, kind))
    return found


def _fitted(basis: Basis, fixed: Array, s: Array, rows: Array) -> Array:
    """Control points of the spline nearest to rows at s, those that are fixed as they are."""
    shape, B = fixed.copy(), basis.matrix(s)
    for j, known in enumerate(np.isfinite(fixed).T):
        rest = rows[:, j] - B[:, known] @ fixed[known, j]
        shape[~known, j] = np.linalg.lstsq(B[:, ~known], rest, rcond=None)[0]
    return shape


def slow_enough(problem: Problem, shape: Array, duration: float) -> float:
    """The shortest duration from a given one on in which a motion keeps its limits."""
    low, high = problem.longest or (0.0, np.inf)
    held, T = problem.held[: len(problem.along)], max(duration, low)
    for _ in range(SLOWEST):
        if high <= T or all(s.beyond(s.values(shape, T)).max() <= 0.0 for s in held):
            break
        T *= SLOWER
    return float(min(T, high))
