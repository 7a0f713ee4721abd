"""A predicted step looked at between the points where its constraints were asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.check import whole
from linkwise.planning.curve import Curve
from linkwise.planning.samples import Samples
from linkwise.walking.instant import GLOBAL
from linkwise.walking.problem import Problem
from linkwise.walking.reactions import LoadKernel


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
    s = problem.timetable.even((problem.points - 1) * whole(finer, "finer", 1) + 1)
    samples = Samples(problem.own_kernel(problem.own_rows), curve.basis, s)
    values = samples.values(curve.points, curve.duration)
    ends = np.cumsum([len(r.names) for r in problem.own_rows])[:-1]
    found = {r.label: v for r, v in zip(problem.own_rows, np.split(values, ends, axis=1), strict=True)}
    limits = {r.label: r.limits(s) for r in problem.own_rows}

    def off(kind: str, width: float) -> float:
        """The largest distance from the middle of bands of half a width."""
        lower, upper = limits[kind]
        return width + float(np.maximum(lower - found[kind], found[kind] - upper).max())

    sunk = np.where(np.isfinite(limits["ground"][0]), -found["ground"], 0.0).max()
    outside = np.where(np.isfinite(limits["zmp"][1]), found["zmp"] / found["vertical"], 0.0).max()
    ratio = found["torque"] / np.array(list(problem.effort.values()))
    loads = LoadKernel(problem.robot)(samples.motion(curve.points, curve.duration), problem.timetable.supports(s))
    free = [name not in problem.held_joints for name in problem.effort]
    return Audit(
        points=len(s),
        drift=off("contact", problem.bounds.contact),
        slip=off("slip", problem.bounds.slip),
        sunk=float(max(0.0, sunk)),
        zmp=float(max(0.0, outside)),
        torque=float(np.abs(ratio).max()),
        residual=float(np.abs(loads.tau[:, :GLOBAL]).max()),
        effort=float(np.trapezoid((ratio[:, free] ** 2).sum(axis=1), s) * curve.duration),
    )
