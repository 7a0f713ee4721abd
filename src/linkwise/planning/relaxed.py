"""How nearly a problem can be kept: its bounds widened by the least amount that lets a motion keep them all."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from linkwise.planning import solvers
from linkwise.planning.curve import Array, Curve, Index
from linkwise.planning.problem import Problem
from linkwise.planning.program import Program

NEAR = 1e-6  # the price of half of a squared distance from the start, so that there is one nearest motion
MARGIN = 0.02  # of bounds: how far within them a motion is enough
ROOM = 1.1  # times the largest violation of a start: where the widening begins


class Relaxed:
    """minimise t, with rows between lower - t and upper + t: any start is feasible, and the least t tells.

    It is a program as solvers take it, with t as the last variable.
    """

    def __init__(self, program: Program, x: Array) -> None:
        self._p, self._near, p = program, x, program
        self._low, self._high = (np.flatnonzero(np.isfinite(b)) for b in (p.row_lower, p.row_upper))
        lows, highs = len(self._low), len(self._high)
        self.n, self.m = p.n + 1, lows + highs
        self.lower, self.upper = np.append(p.lower, -MARGIN), np.append(p.upper, np.inf)
        self.row_lower = np.concatenate([p.row_lower[self._low], np.full(highs, -np.inf)])
        self.row_upper = np.concatenate([np.full(lows, np.inf), p.row_upper[self._high]])
        self._sides = np.repeat([1.0, -1.0], [lows, highs])
        places = [self._entries(self._low, 0), self._entries(self._high, lows)]
        self._taken = np.concatenate([taken for taken, _ in places])
        own = np.arange(self.m)
        self.jac_rows = np.concatenate([*(rows for _, rows in places), own])
        self.jac_columns = np.concatenate([p.jac_columns[self._taken], np.full(self.m, p.n)])
        self.hess_rows, self.hess_columns = p.hess_rows, p.hess_columns

    def _entries(self, rows: Index, offset: int) -> tuple[Index, Index]:
        """The derivatives of some rows, and the rows that they are in here."""
        place = np.full(self._p.m, -1)
        place[rows] = offset + np.arange(len(rows))
        taken = np.flatnonzero(place[self._p.jac_rows] >= 0)
        return taken, place[self._p.jac_rows[taken]]

    seconds: float = property(lambda self: self._p.seconds)  # type: ignore[assignment]

    def prepare(self, second: bool) -> None:
        """Compile what a solver will call."""
        self._p.prepare(second)

    def f(self, x: Array) -> float:
        return float(x[-1] + 0.5 * NEAR * np.sum((x[:-1] - self._near) ** 2))

    def gradient(self, x: Array) -> Array:
        return np.append(NEAR * (x[:-1] - self._near), 1.0)

    def g(self, x: Array) -> Array:
        g = self._p.g(x[:-1])
        return np.concatenate([g[self._low], g[self._high]]) + self._sides * x[-1]

    def jacobian(self, x: Array) -> Array:
        return np.concatenate([self._p.jacobian(x[:-1])[self._taken], self._sides])

    def hessian(self, x: Array, sigma: float, multipliers: Array) -> Array:
        whole = np.zeros(self._p.m)
        np.add.at(whole, np.concatenate([self._low, self._high]), multipliers)
        return self._p.hessian(x[:-1], 0.0, whole) + sigma * NEAR * (self.hess_rows == self.hess_columns)

    def infeasibility(self, x: Array) -> float:
        """The largest violation of these rows."""
        g = self.g(x)
        return float(np.maximum(self.row_lower - g, g - self.row_upper).max(initial=0.0))


class Nearest(NamedTuple):
    """The motion that is least beyond the bounds of a problem, by how much, and whether that is a minimum."""

    curve: Curve
    violation: float
    is_minimum: bool


def nearest(problem: Problem, curve: Curve, monitor: solvers.Monitor, iterations: int) -> Nearest:
    """The motion near a curve that is least beyond its bounds."""
    variables = problem.variables(curve.duration)
    program, x = problem.program(variables, problem.grid), variables.of(curve)
    over = program.infeasibility(x)
    if not np.isfinite(over):
        return Nearest(curve, np.inf, False)
    start = np.append(x, ROOM * over + 1e-3)
    widened = cast(Program, Relaxed(program, x))  # as far as solvers can see
    answer = solvers.solve("scipy", widened, start, monitor, tolerance=1e-6, iterations=iterations)
    at = np.clip(answer.x[:-1], program.lower, program.upper)
    return Nearest(variables.curve(at), program.infeasibility(at), answer.status == "converged")
