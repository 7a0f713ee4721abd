"""Solves of a motion among obstacles: in each it stays near the last one, so that what was far away cannot be hit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.planning import solvers
from linkwise.planning.certified import along_curve
from linkwise.planning.clearance import Active
from linkwise.planning.curve import Curve
from linkwise.planning.problem import Problem
from linkwise.planning.program import Dual
from linkwise.planning.samples import Samples

if TYPE_CHECKING:
    from linkwise.planning.attempts import How

ROUNDS = 30
RADIUS, SMALLEST, LARGEST = 0.15, 0.01, 1.0  # rad or m that control points may move in a solve
SHRINK, GROW = 0.4, 1.5  # of the radius, after a solve that hit something, and after one that went as far as it could
HIT = 0.1  # a violation of margins, over their scale, after which the last motion is taken again
FEW = {"uno": 3}  # iterations of a solver while the motion still goes far
MORE = 40  # of others, whose first ones lead away, and of all at the end
GAIN = 2e-3  # of the objective: less than that is none
FINEST, SLOWER = 80, 4  # points in parts of those that are held, and how often a motion is slowed for them
FINE = 0.2  # of the tolerance, towards which points are added


def rounds_among(problem: Problem, curve: Curve, how: How, name: str) -> dict[str, Any]:
    """Solve near the last motion, look what is near now, solve again; the best motion that keeps everything.

    Returns:
        Arguments of `Solution`.
    """
    whole, grid = problem.variables(curve.duration), problem.grid
    radius, moving, value = RADIUS, True, np.inf
    extra: list[Active] = [frozenset()] * len(problem.near)
    duals: tuple[Dual, ...] = ()
    best: tuple[Any, ...] | None = None
    status, message, spent, rounds = "gave up", "", 0.0, 0
    for _ in range(ROUNDS):
        rounds += 1
        variables = whole.within(curve, radius)
        active = [a | b for a, b in zip(problem.active(curve), extra, strict=True)]
        program = problem.program(variables, grid, active)
        answer = solvers.solve(
            name, program, variables.of(curve), how.monitor, tolerance=1e-6, warm=program.multipliers(duals),
            iterations=min(how.iterations, FEW.get(name, MORE) if moving else MORE),
        )  # fmt: skip
        spent += program.seconds
        found, f = variables.curve(answer.x), program.f(answer.x)
        largest = problem.largest_violation(found)
        extra = problem.active(found, extra, how.tolerance)
        if best is None or largest.violation <= how.tolerance or largest.violation < best[3].violation:
            best = found, program, program.duals(answer.multipliers), largest
        if how.monitor.reason:
            message = answer.message
            break
        if largest.name.startswith("clearance") and largest.violation > HIT:
            radius = max(SMALLEST, SHRINK * radius)
            continue
        edge = np.abs(found.points - curve.points).max() > 0.98 * radius
        moving = bool(edge) and f < (1.0 - GAIN) * value
        curve, value, duals = found, f, program.duals(answer.multipliers)
        if moving:
            radius = min(LARGEST, GROW * radius)
            continue
        if answer.status == "converged" and largest.violation <= how.tolerance and _sure(problem, curve):
            status, message = "converged", answer.message
            break
        grid = problem.refined(found, grid, FINE * how.tolerance)
    assert best is not None
    curve, program, duals, largest = best
    program.seconds = spent
    return {
        "problem": problem, "curve": curve, "status": status, "message": message, "program": program, "duals": duals,
        "largest": largest, "rounds": rounds, "solver": name,
    }  # fmt: skip


def slow_enough(problem: Problem, curve: Curve) -> Curve:
    """The motion, a little slower where that brings it within its limits on a ten times finer grid too."""
    high, T = (problem.longest or (0.0, np.inf))[1], curve.duration
    finest = problem.basis.grid(FINEST * problem.points)
    samples = [Samples(kernel, problem.basis, finest) for kernel in problem.along]
    for _ in range(SLOWER if problem.duration is None else 0):
        over = max((float(s.beyond(s.values(curve.points, T)).max()) for s in samples), default=0.0)
        if over <= 0.0 or T * (1.0 + over) > high:
            break
        T *= 1.0 + over
    return Curve(curve.basis, curve.points, T)


def _sure(problem: Problem, curve: Curve) -> bool:
    """Whether margins are kept along the whole motion."""
    found = [along_curve(near.near, curve, near.margin) for near in problem.near]
    return all(x.distance >= near.margin for x, near in zip(found, problem.near, strict=True) if x.certified)
