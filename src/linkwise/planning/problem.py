"""A planning problem: words and robot made into variables, kernels and programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.motion.environment import Environment
from linkwise.planning.chart import Chart, chart_of
from linkwise.planning.clearance import Near
from linkwise.planning.contact_rows import contact_rows
from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.ends import Ends, State, ends
from linkwise.planning.free_base import free_base_rows
from linkwise.planning.joint_limits import STRICT
from linkwise.planning.kernels import Surroundings, surroundings
from linkwise.planning.loop_closure import closure_rows
from linkwise.planning.nearness import Nearness
from linkwise.planning.rows import LinearRows, Rows
from linkwise.planning.term_and_constraint import Constraint, Sum
from linkwise.planning.transcription import Transcription
from linkwise.planning.variables import Calm, Objective, Spanned, Variables
from linkwise.robot.robot import Robot

GAUSS = 5  # points of integrals in a span
FINER = 8  # times the grid on which a motion is judged
CALM = 1e-6  # of the duration: what a motion that jerks for nothing costs, in a problem of time alone
DAMPING = 1e-4  # of second derivatives where contacts stand
REACH = 30.0  # a free duration stays within this factor of the guess
STILL = 1e-9  # rad or m; a motion that goes no farther stands still, and nothing bounds its time


@dataclass(frozen=True, eq=False)
class Problem(Transcription):
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
        space: directions (count, k) and an origin (count, n) of control points that are free, where not all are; bounds
            of positions are rows of instants then.
        gauss: points of integrals in every span.
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
    kernels: dict[Any, Any] = field(default_factory=dict)
    given_chart: Chart | None = None
    environment: Environment = field(default_factory=Environment)
    space: tuple[Array, Array] | None = None
    gauss: int = GAUSS

    @cached_property
    def chart(self) -> Chart:
        """What the numbers on splines are."""
        return self.given_chart or chart_of(self.robot)

    @cached_property
    def ends(self) -> Ends:
        return ends(self.chart, self.basis, self.start, self.goal, self.duration)

    @property
    def names(self) -> Sequence[str]:
        return self.chart.names

    @property
    def surroundings(self) -> Surroundings:
        return surroundings(self.environment, self.chart)

    @cached_property
    def rows(self) -> list[Rows]:
        """What is asked for, and what loops, ends and a base that nothing drives ask for."""
        closure = closure_rows(self.chart, self.basis, self.ends.fixed)
        ends = [(x or State(qd=None)).values(self.chart, "end") for x in (self.start, self.goal)]
        base = free_base_rows(self.chart, self.basis, ends[0][:2], self.environment)
        asked = [r for c in self.constraints for r in c.rows(self.robot)]
        held = [_held(self.chart, *self.box)] if self.space else []
        return [*asked, *held, *self.ends.rows, *closure, *base, *contact_rows(self.chart, self.basis, *ends)]

    @property
    def exact(self) -> bool | None:
        return True if self.chart.stances else None

    @property
    def ranges(self) -> tuple[Array, Array]:
        lower = [-np.inf] * self.chart.moving + [x for stance in self.chart.stances for x in stance.lower]
        return np.array(lower), np.full(self.chart.n, np.inf)

    @cached_property
    def linear(self) -> list[LinearRows]:
        return [self._widened(r) for c in self.constraints for r in c.linear(self.robot, self.basis)]

    def _widened(self, rows: LinearRows) -> LinearRows:
        """Rows of control points of positions, as of all numbers."""
        more = self.chart.n - self.chart.moving
        every = rows.matrix.reshape(len(rows.matrix), self.basis.count, -1)
        every = np.pad(every, ((0, 0), (0, 0), (0, more))) if every.shape[2] == self.chart.moving else every
        return replace(rows, matrix=every.reshape(len(every), -1))

    @cached_property
    def objective(self) -> Objective:
        """The sum of terms; where that is the time alone, of equal times the calmest motion is the best.

        How contacts share what they hold it may leave open: solvers then stay where they are.
        """
        found = replace(self._objective(self.minimize), damping=DAMPING if self.chart.stances else 0.0)
        if found.integrals or found.wholes:
            return found
        weight = CALM * found.time if self.duration is None else 1.0
        positions = (np.arange(self.chart.n) < self.chart.moving).astype(float)
        return replace(found, pulls=(Calm.of(self.basis, self.way or 1.0, weight, positions),))

    @property
    def way(self) -> float:
        """How far the joint that goes farthest has to go from the start to the goal, where both are given."""
        ends = self.ends.fixed[[0, -1], : self.chart.moving]
        return float(np.nan_to_num(np.ptp(ends, axis=0)).max(initial=0.0))

    @cached_property
    def near(self) -> list[Near]:
        """What has to stay clear of something."""
        moving = self.chart.moving  # forces of contacts hit nothing
        ends = [(which, np.nan_to_num(x)) for which, x in zip(("start", "goal"), self.ends.fixed[[0, -1]], strict=True)
                if np.isfinite(x[:moving]).all()]  # fmt: skip
        found = []
        for k, c in enumerate(self.constraints):
            if (scene := c.scene(self.robot)) is not None:
                key = "near", k
                if key not in self.kernels:
                    self.kernels[key] = Nearness(scene, self.chart, self.environment)
                found.append(Near(self.kernels[key], self.basis, c.margin, ends))
        return found

    @property
    def quadrature(self) -> tuple[Array, Array]:
        return self.basis.gauss(self.gauss)

    @cached_property
    def grid(self) -> Array:
        return self.basis.grid(self.points)

    @cached_property
    def fine(self) -> Array:
        return self.basis.grid(self.points * FINER)

    def variables(self, guess: float) -> Variables:
        """The variables; a free duration stays near the guess."""
        shortest, longest = self.longest or (guess / REACH, guess * REACH)
        if self.duration is not None:
            shortest = longest = self.duration
        if self.space:
            free = np.full(self.basis.count * self.chart.n, np.inf)
            ends = np.append(-free, shortest), np.append(free, longest)
            return Spanned(self.basis, self.chart.n, *ends, *self.space)
        lower, upper = (np.tile(b, (self.basis.count, 1)) for b in self.box)
        fixed = np.isfinite(self.ends.fixed)
        self._check_ends(fixed, lower, upper)
        lower[fixed] = upper[fixed] = self.ends.fixed[fixed]
        return Variables(
            self.basis, self.chart.n, np.append(lower.ravel(), shortest), np.append(upper.ravel(), longest)
        )

    def next_variables(self, variables: Variables, curve: Curve) -> Variables:
        """The variables of a next solve: a duration that only the guess keeps from being shorter may be shorter."""
        held = self.longest is None and variables.edge(curve.duration) == "shortest"
        return self.variables(curve.duration) if held and self.way > STILL else variables

    def _check_ends(self, fixed: Any, lower: Array, upper: Array) -> None:
        out = fixed & ((self.ends.fixed < lower - 1e-9) | (self.ends.fixed > upper + 1e-9))
        if out.any():
            k, j = np.argwhere(out)[0]
            which = "start" if k < self.basis.count / 2 else "goal"
            at = self.ends.fixed[k, j] + 0.0  # no minus before a zero
            raise InputError(
                f"{which}: joint {self.chart.names[j]!r} is to be at {at:g}, outside of its limits"
                f" {lower[k, j]:g} to {upper[k, j]:g} (rad or m). Choose another {which}."
            )


def _held(chart: Chart, lower: Array, upper: Array) -> Rows:
    """Bounds of positions at instants, for curves that the bounds of control points do not hold."""
    at = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper)).tolist()
    low, high = lower[at], upper[at]
    size = STRICT * np.where(np.isfinite(high - low), high - low, 1.0)
    return Rows("position", tuple(chart.names[k] for k in at), lambda p: [p.numbers[0][k] for k in at], low, high, size)
