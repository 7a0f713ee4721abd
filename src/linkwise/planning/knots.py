"""Knots as variables: the breaks of a spline moved to where its motion needs them.

For given breaks the best motion is a program of its own; its optimum f* changes with them as the Lagrangian does,

    df*/db = d/db [f + multipliers . g]   with control points, duration and multipliers held,

so that an outer descent over the lengths of spans finds the best breaks. Rows are asked for at points that move with
the breaks, so f* has edges where other rows become active. A descent along one slope stops at the first edge; here each
step minimises the largest of the tangents found nearby, within a box that grows and shrinks by what steps bring.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.planning import solvers
from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.problem import Problem
from linkwise.planning.program import Program

LONGEST = 2.0  # of the logarithm of a span's length, relative to the mean
STEP = 1e-6  # of a difference
ROUNDS = 60
BOX = 0.1  # of logarithms: the first step
LEAST = 1e-4  # of logarithms: the last one
KEPT = 20  # tangents


def breaks_of(logarithms: Array) -> tuple[float, ...]:
    """The breaks of spans whose lengths have these logarithms, but for a factor."""
    lengths = np.exp(logarithms)
    ends = np.cumsum(lengths / lengths.sum())
    return (0.0, *ends[:-1].tolist(), 1.0)


def free_knots(
    problem: Problem, curve: Curve, monitor: solvers.Monitor, solver: str, iterations: int
) -> tuple[Problem, Curve]:
    """The problem with breaks moved to where the optimum is least, and its motion."""
    if any(stance.phases != ((0.0, 1.0),) for stance in problem.chart.stances):
        raise InputError('knots: expected "even", as contacts begin and end at breaks of the curve, got "free".')
    best: list[Any] = [np.inf, problem, curve]
    last: list[Any] = [curve, None]  # motion and multipliers of the last solve

    def value_and_slope(logarithms: Array) -> tuple[float, Array]:
        near = _with_breaks(problem, breaks_of(logarithms))
        variables = near.variables(curve.duration)
        program = near.program(variables, near.grid)
        start = variables.of(Curve(near.basis, last[0].points, last[0].duration))
        answer = solvers.solve(solver, program, start, monitor, tolerance=1e-8, iterations=iterations, warm=last[1])
        if monitor.reason:
            raise solvers.Stop(monitor.reason)
        f = program.f(answer.x)
        if answer.status != "converged":
            return max(2.0 * abs(best[0]), f) if np.isfinite(best[0]) else f, np.zeros(len(logarithms))
        found = variables.curve(answer.x)
        last[:] = [found, answer.multipliers if len(answer.multipliers) == program.m else None]
        if f < best[0]:
            best[:] = [f, near, found]
        return f, _slope(problem, logarithms, answer.x, answer.multipliers, curve.duration)

    spans = len(problem.basis.breaks) - 1
    begin = np.log(np.diff(problem.basis.breaks) * spans)
    with suppress(solvers.Stop):  # with the best so far
        _descend(value_and_slope, begin)
    return best[1], best[2]


def _descend(value_and_slope: Callable[[Array], tuple[float, Array]], x: Array) -> None:
    """Go down a function with edges, by the largest of its tangents within a box."""
    from scipy.optimize import linprog

    f, slope = value_and_slope(x)
    tangents, size, n = [(f - slope @ x, slope)], BOX, len(x)
    for _ in range(ROUNDS):
        # min t with f_i + g_i . y <= t; tangents above f at x, of a function that is not convex, are lowered
        rows = [[*g, -1.0] for _, g in tangents]
        room = [-min(c, f - g @ x) for c, g in tangents]
        low, high = np.maximum(x - size, -LONGEST), np.minimum(x + size, LONGEST)
        found = linprog([0.0] * n + [1.0], rows, room, bounds=[*zip(low, high, strict=True), (None, None)])
        if found.status != 0 or f - found.fun <= 1e-9 * abs(f):
            return
        value, slope = value_and_slope(found.x[:n])
        brought = (f - value) / (f - found.fun)
        if slope.any():
            tangents = [*tangents[1 - KEPT :], (value - slope @ found.x[:n], slope)]
        size *= 2.0 if brought > 0.7 else 0.5 if brought < 0.2 else 1.0
        if brought > 0.0:
            f, x = value, found.x[:n]
        if size < LEAST:
            return


def _with_breaks(problem: Problem, breaks: tuple[float, ...]) -> Problem:
    return replace(problem, basis=Basis(problem.basis.degree, breaks))


def _slope(problem: Problem, logarithms: Array, x: Array, multipliers: Array, guess: float) -> Array:
    """The derivative of the Lagrangian by the logarithms of lengths."""

    def lagrangian(at: Array) -> float:
        near = _with_breaks(problem, breaks_of(at))
        program: Program = near.program(near.variables(guess), near.grid)
        return program.f(x) + float(multipliers @ program.g(x)) if len(multipliers) else program.f(x)

    found = np.empty(len(logarithms))
    for k in range(len(logarithms)):
        e = np.zeros(len(logarithms))
        e[k] = STEP
        found[k] = (lagrangian(logarithms + e) - lagrangian(logarithms - e)) / (2.0 * STEP)
    return found
