"""A predicted step looked at between the points where its constraints were asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwise.planning.bounds import whole
from linkwise.walking.program import Grid
from linkwise.walking.rows import places_of
from linkwise.walking.stride import centre

if TYPE_CHECKING:
    from linkwise.planning.curve import Curve
    from linkwise.walking.problem import Problem


@dataclass(frozen=True)
class Audit:
    """The worst of a step on a finer grid.

    Args:
        points: of the grid.
        drift: of points in contact from their places, m.
        slip: their speed, m/s.
        sunk: how far points are below the ground, m.
        zmp: how far the zero-moment point is outside of its region, m.
        torque: the largest torque as a fraction of its limit.
        residual: the largest generalised force of the pelvis that is left, N or N m.
        effort: the objective's integral on this grid.
    """

    points: int
    drift: float
    slip: float
    sunk: float
    zmp: float
    torque: float
    residual: float
    effort: float


def audit(problem: Problem, curve: Curve, finer: int = 8) -> Audit:
    """Look at a step on a grid that is so many times finer."""
    points = (problem.points - 1) * whole(finer, 1, "finer") + 1
    moments = problem.moments(points)
    grid = Grid(problem.kernel, curve.basis, curve.duration, moments)
    found = grid.kernel(grid.motion(curve.points), grid.supports)
    where = places_of(grid.kernel.groups)

    def value(name: str, k: int) -> float:
        g, i = where[name]
        return float(found.values[g][k, i])

    drift = slip = sunk = outside = 0.0
    n = len(problem.effort)
    zmp = centre(found.values[0][:, n:])
    for k, m in enumerate(moments):
        for place, target in m.contacts:
            drift = max(drift, abs(value(place, k) - target))
            slip = max(slip, abs(value(f"speed.{place}", k)))
        for place in m.above:
            sunk = max(sunk, -value(place, k))
        facets = m.facets
        outside = max(outside, float((facets[:, :2] @ zmp[k] + facets[:, 2]).max()))
    ratio = found.values[0][:, :n] / np.array(list(problem.effort.values()))
    free = [name not in problem.held for name in problem.effort]
    effort = float(np.trapezoid((ratio[:, free] ** 2).sum(axis=1), grid.s) * curve.duration)
    return Audit(
        len(moments), drift, slip, sunk, outside, float(np.abs(ratio).max()), _residual(problem, grid, curve), effort
    )


def _residual(problem: Problem, grid: Grid, curve: Curve) -> float:
    """What is left of the pelvis' generalised forces when ground reactions act as wrenches on the feet."""
    from linkwise.walking.instant import GLOBAL
    from linkwise.walking.reactions import LoadKernel

    loads = LoadKernel(problem.robot)(grid.motion(curve.points), grid.supports)
    return float(np.abs(loads.tau[:, :GLOBAL]).max())
