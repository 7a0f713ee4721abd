"""A planning problem: words and robot made into variables, kernels and programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.motion.environment import Environment
from linkwise.planning.chart import Chart, chart_of
from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.ends import Ends, State, ends
from linkwise.planning.free_base import free_base_rows
from linkwise.planning.kernels import PointKernel, surroundings
from linkwise.planning.loops import closure_rows
from linkwise.planning.program import Program
from linkwise.planning.rows import LinearRows, Rows
from linkwise.planning.samples import Samples
from linkwise.planning.solvable import beyond
from linkwise.planning.variables import Objective, Variables
from linkwise.planning.words import Constraint, Sum
from linkwise.robot.robot import Robot

GAUSS = 5  # points of integrals in a span
FINER = 8  # times the grid on which a motion is judged
REACH = 30.0  # a free duration stays within this factor of the guess


@dataclass(frozen=True)
class Worst:
    """The largest violation of a motion on the fine grid: relative to the limit, of which constraint, and when."""

    violation: float
    name: str
    t: float

    def __str__(self) -> str:
        if not self.name:
            return "all constraints are kept"
        return f"{self.name} at t = {self.t:.4g} s is {100.0 * self.violation:.3g} % beyond its limit"


@dataclass(frozen=True, eq=False)
class Problem:
    """A planning problem.

    Args:
        robot: what moves.
        start: how it starts, or None.
        goal: how it ends, or None.
        minimize: the terms of the objective.
        constraints: what must hold.
        basis: of the spline.
        duration: seconds, or None where it is free.
        longest: bounds of a free duration, or None.
        points: constraint points in every span of the spline.
        kernels: those made so far; problems that differ in curve and duration alone share them.
        given_chart: what the numbers on splines are, in which both ends are given; those of `chart_of` without it.
        environment: how the base moves, and what pushes the robot from outside.
    """

    robot: Robot
    start: State | None
    goal: State | None
    minimize: Sum
    constraints: tuple[Constraint, ...]
    basis: Basis
    duration: float | None = None
    longest: tuple[float, float] | None = None
    points: int = 3
    kernels: dict[Any, PointKernel] = field(default_factory=dict)
    given_chart: Chart | None = None
    environment: Environment = field(default_factory=Environment)

    @cached_property
    def chart(self) -> Chart:
        """What the numbers on splines are."""
        return self.given_chart or chart_of(self.robot)

    @cached_property
    def ends(self) -> Ends:
        return ends(self.chart, self.basis, self.start, self.goal, self.duration)

    # ---- rows and kernels

    @cached_property
    def rows(self) -> list[Rows]:
        """All rows of instants."""
        asked = [r for c in self.constraints for r in c.rows(self.robot)]
        closure = closure_rows(self.chart, self.basis, self.ends.fixed)
        begin = (self.start or State(qd=None)).values(self.chart, "start")[:2]
        base = free_base_rows(self.chart, self.basis, begin, self.environment)
        return [*asked, *self.ends.rows, *closure, *base]

    def _kernel(self, key: Any, rows: Sequence[Rows]) -> PointKernel:
        if key not in self.kernels:
            self.kernels[key] = PointKernel(self.robot, rows, surroundings(self.environment, self.chart))
        return self.kernels[key]

    @property
    def orders(self) -> int:
        """How many derivatives of positions matter, the positions counted."""
        objective = [self.objective.samples.kernel] if self.objective.samples else []
        path = [self.path_kernel] if self.path_kernel else []
        return max((k.orders for k in [*objective, *path]), default=1)

    def _samples(self, kernel: PointKernel, s: Any) -> Samples:
        return Samples(kernel, self.basis, s)

    @cached_property
    def path_kernel(self) -> PointKernel | None:
        """Rows that hold all along."""
        along = [r for r in self.rows if r.at is None]
        return self._kernel("path", along) if along else None

    @cached_property
    def instants(self) -> list[Samples]:
        """Rows that hold at some instants, those of the same instants together."""
        groups: dict[tuple[float, ...], list[Rows]] = {}
        for r in self.rows:
            if r.at is not None:
                groups.setdefault(r.at, []).append(r)
        return [self._samples(self._kernel(at, rows), np.array(at)) for at, rows in groups.items()]

    @cached_property
    def linear(self) -> list[LinearRows]:
        """Linear rows of control points."""
        return [r for c in self.constraints for r in c.linear(self.robot, self.basis)]

    @cached_property
    def objective(self) -> Objective:
        """The sum of terms."""
        s, rule = self.basis.gauss(GAUSS)

        def sampled(rows: Sequence[Rows]) -> Samples:
            return self._samples(self._kernel("objective", rows), s)

        return Objective.of(self.minimize, self.robot, sampled, rule)

    # ---- variables and programs

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Bounds of the numbers on splines."""
        lower, upper = np.full(self.chart.n, -np.inf), np.full(self.chart.n, np.inf)
        for low, high in (b for c in self.constraints if (b := c.box(self.robot)) is not None):
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        return lower, upper

    def variables(self, guess: float) -> Variables:
        """The variables; a free duration stays near the guess."""
        lower, upper = (np.tile(b, (self.basis.count, 1)) for b in self.box)
        fixed = np.isfinite(self.ends.fixed)
        self._check_ends(fixed, lower, upper)
        lower[fixed] = upper[fixed] = self.ends.fixed[fixed]
        shortest, longest = self.longest or (guess / REACH, guess * REACH)
        if self.duration is not None:
            shortest = longest = self.duration
        return Variables(
            self.basis, self.chart.n, np.append(lower.ravel(), shortest), np.append(upper.ravel(), longest)
        )

    def _check_ends(self, fixed: Any, lower: Array, upper: Array) -> None:
        out = fixed & ((self.ends.fixed < lower - 1e-9) | (self.ends.fixed > upper + 1e-9))
        if out.any():
            k, j = np.argwhere(out)[0]
            which = "start" if k < self.basis.count / 2 else "goal"
            raise InputError(
                f"{which}: joint {self.chart.names[j]!r} is to be at {self.ends.fixed[k, j]:g}, outside of its limits"
                f" {lower[k, j]:g} to {upper[k, j]:g}. Choose another {which}."
            )

    def program(self, variables: Variables, grid: Array) -> Program:
        """The program with constraint points at `grid`."""
        path = [self._samples(self.path_kernel, grid)] if self.path_kernel else []
        return Program(variables, self.objective, [*path, *self.instants], self.linear)

    @cached_property
    def grid(self) -> Array:
        """Where constraints are held at first."""
        return self.basis.grid(self.points)

    @cached_property
    def fine(self) -> Array:
        """Where a motion is judged."""
        return self.basis.grid(self.points * FINER)

    # ---- judgement

    @cached_property
    def _judges(self) -> list[Samples]:
        path = [self._samples(self.path_kernel, self.fine)] if self.path_kernel else []
        return [*path, *self.instants]

    def violations(self, curve: Curve) -> list[tuple[Samples, Array]]:
        """How far each row is beyond its bounds on the fine grid (points, rows), relative, in the user's quantity."""
        found = []
        for s in self._judges:
            values, groups = s.values(curve.points, curve.duration), s.kernel.rows
            low, high, size, power = (np.concatenate([np.broadcast_to(getattr(g, k), len(g.names)) for g in groups])
                                      for k in ("lower", "upper", "scale", "power"))  # fmt: skip
            over = beyond(values / size, low / size, high / size)
            found.append((s, np.where(power == 2, over / 2.0, over)))
        return found

    def worst(self, curve: Curve) -> Worst:
        """The largest violation, and where it is."""
        worst = Worst(0.0, "", 0.0)
        for s, over in self.violations(curve):
            i, k = np.unravel_index(int(np.argmax(over)), over.shape)
            if over[i, k] > worst.violation:
                titles = [g.title(r) for g in s.kernel.rows for r in range(len(g.names))]
                worst = Worst(float(over[i, k]), titles[k], float(s.s[i]) * curve.duration)
        P = curve.points.ravel()
        for group in self.linear:
            over = beyond(group.matrix @ P, group.lower, group.upper)
            row = int(np.argmax(over))
            if over[row] > max(worst.violation, 1e-7):
                worst = Worst(float(over[row]), group.title(row), group.at * curve.duration)
        return worst

    def refined(self, curve: Curve, grid: Array, tolerance: float) -> Array:
        """The grid with the places added where the motion is worst beyond it."""
        new = []
        for s, over in self.violations(curve)[: 1 if self.path_kernel else 0]:
            for column in over.T:
                before, after = np.append(-np.inf, column[:-1]), np.append(column[1:], -np.inf)
                new.append(s.s[(column > 0.3 * tolerance) & (column >= before) & (column >= after)])
        return np.union1d(grid, np.concatenate([*new, np.zeros(0)]))
