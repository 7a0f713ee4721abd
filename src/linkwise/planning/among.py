"""Solves of a motion among obstacles: in each it stays near the last one, so that what was far away cannot be hit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.planning import solvers
from linkwise.planning.certified import along_curve
from linkwise.planning.clearance import SCALE, Active
from linkwise.planning.curve import Curve
from linkwise.planning.problem import Problem
from linkwise.planning.program import Dual
from linkwise.planning.rows import RowName
from linkwise.planning.samples import Samples
from linkwise.planning.transcription import Violation

if TYPE_CHECKING:
    from linkwise.planning.attempts import How

ROUNDS = 60  # of solves from a motion, those that hit something counted
RADIUS, SMALLEST, LARGEST = 0.15, 0.01, 1.0  # rad or m that control points may move in a solve
SHRINK, GROW = 0.4, 1.5  # of the radius, after a solve that hit something, and after one that went as far as it could
KEPT = 1e-3  # a violation up to which objectives are compared
HIT = 0.1  # a violation of margins, over their scale, after which the last motion is taken again
FEW, SETTLED = {"uno": 3}, {"uno": 15}  # iterations of a solver while the motion still goes far, and then
MORE = 40  # of others, whose first ones lead away
LAST = 3  # motions that are looked at once more, where none converged
GAIN = 5e-3  # of the objective: less than that is none
FINEST, SLOWER = 80, 4  # points in parts of those that are held, and how often a motion is slowed for them
FINE = 0.2  # of the tolerance, towards which points are added


def rounds_among(problem: Problem, curve: Curve, how: How, name: str) -> dict[str, Any]:
    """Solve near the last motion, look what is near now, solve again; the best motion that keeps everything.

    Returns:
        Arguments of `Solution`.
    """
    whole, grid = problem.variables(curve.duration), problem.grid
    radius, moving, value = LARGEST if problem.chart.stances else RADIUS, True, np.inf
    extra: list[Active] = [frozenset()] * len(problem.near)
    duals: tuple[Dual, ...] = ()
    tried: list[tuple[Curve, Any, tuple[Dual, ...], Violation]] = []
    moves = np.arange(problem.chart.n) < problem.chart.moving  # forces of contacts hit nothing
    status, message, spent, rounds = "gave up", "", 0.0, 0
    while rounds < ROUNDS:
        rounds += 1
        whole = problem.next_variables(whole, curve)
        variables = whole.within(curve, np.where(moves, radius, np.inf))
        active = [a | b for a, b in zip(problem.active(curve), extra, strict=True)]
        program = problem.program(variables, grid, active)
        # far from the best motion the curvature of rows only leads astray, unless contacts ask for it
        program.exact = bool(problem.exact) or not moving
        answer = solvers.solve(
            name, program, variables.of(curve), how.monitor, tolerance=1e-6, warm=program.multipliers(duals),
            iterations=min(how.iterations, (FEW if moving else SETTLED).get(name, MORE)),
        )  # fmt: skip
        spent += program.seconds
        found, f, weights = variables.curve(answer.x), program.f(answer.x), program.duals(answer.multipliers)
        largest, message = problem.largest_violation(found), answer.message
        before, extra = extra, problem.active(found, extra, how.tolerance)
        tried += [] if tried else [(curve, program, (), problem.largest_violation(curve))]
        tried.append((found, program, weights, largest))
        if how.monitor.reason:
            break
        if largest.name.startswith("clearance") and largest.violation > HIT:
            if radius == SMALLEST and extra == before:  # the same again
                break
            radius = max(SMALLEST, SHRINK * radius)
            continue
        edge = np.abs(found.points - curve.points)[:, moves].max() > 0.98 * radius
        moving = bool(edge) and f < (1.0 - GAIN) * value
        curve, duals = found, weights
        value = f if largest.violation <= KEPT else np.inf  # what breaks limits is no better for being faster
        if moving:
            radius = min(LARGEST, GROW * radius)
            continue
        if answer.status == "converged" and largest.violation <= how.tolerance:
            missed = _missed(problem, curve)
            if not any(missed) and problem.next_variables(whole, curve) is whole:
                status = "converged"
                break
            extra = [a | b for a, b in zip(extra, missed, strict=True)]
        grid = problem.refined(found, grid, FINE * how.tolerance)
    best, program, duals, largest = tried[-1] if status == "converged" else _best(problem, tried, how.tolerance)
    program.seconds = spent
    return {
        "problem": problem, "curve": best, "status": status, "message": message, "program": program, "duals": duals,
        "largest": largest, "rounds": rounds, "solver": name,
    }  # fmt: skip


def _best(problem: Problem, tried: Sequence[tuple[Any, ...]], tolerance: float) -> tuple[Any, ...]:
    """The last motion that keeps everything, the first among them; or the one that is least beyond its limits."""
    kept = [x for x in tried if x[3].violation <= tolerance]
    sure = (x for x in reversed(kept[:1] + kept[-LAST:]) if not any(_missed(problem, x[0])))
    if found := next(sure, None):
        return found
    curve, program, duals, largest = min(tried, key=lambda x: float(x[3].violation))
    return curve, program, duals, _between(problem, curve, largest)


def _between(problem: Problem, curve: Curve, largest: Violation) -> Violation:
    """The largest violation of a motion, with what comes too near between the instants that it is judged at."""
    for near in problem.near:
        least = along_curve(near.near, curve, near.margin)
        over = float(near.over(least.distance))
        if over > largest.violation:
            largest = Violation(over, RowName("clearance", ".".join(least.pair), 0.0).title, least.time)
    return largest


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


def _missed(problem: Problem, curve: Curve) -> list[Active]:
    """For each of `near` the pair that comes too near between instants that were looked at, if there is one."""
    missed: list[Active] = []
    for near in problem.near:
        least = along_curve(near.near, curve, near.margin)
        bad = least.certified and least.distance < near.margin
        missed.append(near.nearest(curve, np.array([least.time / curve.duration]), SCALE) if bad else frozenset())
    return missed
