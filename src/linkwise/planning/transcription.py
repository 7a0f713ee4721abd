"""A motion to be found on a spline, made into rows, kernels, variables and programs, and judged between its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import InputError
from linkwise.planning.clearance import BAND, Active, Near
from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.kernels import PointKernel, Surroundings
from linkwise.planning.program import Program
from linkwise.planning.rows import LinearRows, RowName, Rows, beyond
from linkwise.planning.samples import Samples
from linkwise.planning.term_and_constraint import Constraint, Sum
from linkwise.planning.variables import Objective, Variables
from linkwise.robot.robot import Robot

ROUNDING = 1e-8  # beyond a limit: what is none


@dataclass(frozen=True)
class Violation:
    """The largest violation of a motion on the fine grid: relative to the limit, of which constraint, and when."""

    violation: float
    name: str
    t: float

    def __str__(self) -> str:
        if self.violation <= ROUNDING:
            return "all constraints are kept"
        return f"{self.name} at t = {self.t:.4g} s is {100.0 * self.violation:.3g} % beyond its limit"


class Transcription:
    """What problems of any kind do alike: a robot, or a person who walks.

    Attributes:
        robot: what moves.
        basis: of the spline.
        minimize: the terms of the objective.
        constraints: what must hold, as users said it.
        kernels: those made so far.
    """

    minimize: Sum
    constraints: tuple[Constraint, ...]
    kernels: dict[Any, Any]

    if TYPE_CHECKING:  # given to some, made by others

        @property
        def robot(self) -> Robot: ...
        @property
        def basis(self) -> Basis: ...

    # ---- what problems differ in

    @property
    def names(self) -> Sequence[str]:
        """The names of the numbers on splines."""
        raise NotImplementedError

    @property
    def ranges(self) -> tuple[Array, Array]:
        """The lower and upper ends of these numbers, before any constraint."""
        return np.full(len(self.names), -np.inf), np.full(len(self.names), np.inf)

    @property
    def exact(self) -> bool | None:
        """Whether second derivatives are exact; None where the duration decides."""
        return None

    @property
    def surroundings(self) -> Surroundings:
        """What instants are told besides the motion."""
        raise NotImplementedError

    @property
    def grid(self) -> Array:
        """Where rows are held at first, as fractions of the motion's time."""
        raise NotImplementedError

    @property
    def fine(self) -> Array:
        """Where a motion is judged."""
        raise NotImplementedError

    @property
    def quadrature(self) -> tuple[Array, Array]:
        """Points and weights of integrals over [0, 1]."""
        raise NotImplementedError

    @property
    def near(self) -> Sequence[Near]:
        """What has to stay clear of something."""
        return ()

    # ---- rows and kernels

    @cached_property
    def rows(self) -> list[Rows]:
        """All rows of instants."""
        return [r for c in self.constraints for r in c.rows(self.robot)]

    def _kernel(self, key: Any, rows: Sequence[Rows]) -> PointKernel:
        if key not in self.kernels:
            self.kernels[key] = PointKernel(self.robot, rows, self.surroundings)
        return self.kernels[key]

    @cached_property
    def along(self) -> list[PointKernel]:
        """Rows that hold all along."""
        rows = [r for r in self.rows if r.at is None]
        return [self._kernel("path", rows)] if rows else []

    @cached_property
    def instants(self) -> list[Samples]:
        """Rows that hold at some instants, those of the same instants together."""
        groups: dict[tuple[float, ...], list[Rows]] = {}
        for r in self.rows:
            if r.at is not None:
                groups.setdefault(r.at, []).append(r)
        return [Samples(self._kernel(at, rows), self.basis, at) for at, rows in groups.items()]

    @cached_property
    def linear(self) -> list[LinearRows]:
        """Linear rows of control points."""
        return [r for c in self.constraints for r in c.linear(self.robot, self.basis)]

    @cached_property
    def objective(self) -> Objective:
        """The sum of terms."""
        return self._objective(self.minimize)

    def _objective(self, minimize: Sum) -> Objective:
        s, rule = self.quadrature

        def sampled(rows: Sequence[Rows], key: Any = "objective") -> Samples:
            return Samples(self._kernel(key, rows), self.basis, s)

        return Objective.of(minimize, self.robot, sampled, rule)

    @property
    def orders(self) -> int:
        """How many derivatives of positions matter, the positions counted."""
        sampled = [i.samples for i in self.objective.integrals] + [w.samples for _, w in self.objective.wholes]
        kernels = [*(s.kernel for s in sampled), *self.along]
        return max((k.orders for k in kernels), default=1)

    # ---- variables and programs

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Bounds of the numbers on splines."""
        lower, upper = self.ranges
        for low, high in (b for c in self.constraints if (b := c.box(self.robot)) is not None):
            own = slice(len(low))  # contacts have further numbers
            lower[own], upper[own] = np.maximum(lower[own], low), np.minimum(upper[own], high)
        if (wrong := lower > upper).any():
            k = int(np.argmax(wrong))
            raise InputError(
                f"subject_to: expected limits within which joint {self.names[k]!r} can be, got positions of at least"
                f" {lower[k]:g} and of at most {upper[k]:g}."
            )
        return lower, upper

    def samples(self, grid: Array) -> list[Samples]:
        """All rows, those that hold all along at the points of a grid."""
        return [*(Samples(kernel, self.basis, grid) for kernel in self.along), *self.instants]

    @cached_property
    def held(self) -> list[Samples]:
        """All rows, at the points where they are held at first."""
        return self.samples(self.grid)

    def program(self, variables: Variables, grid: Array, active: Sequence[Active] = ()) -> Program:
        """The program with constraint points at `grid`, and rows of the pairs that are `active`."""
        samples = self.held if grid is self.grid else self.samples(grid)
        close = [near.samples(pairs) for near, pairs in zip(self.near, active, strict=False) if pairs]
        return Program(variables, self.objective, [*samples, *close], self.linear, self.exact)

    def active(self, curve: Curve, before: Sequence[Active] = (), tolerance: float = 0.0) -> list[Active]:
        """For each of `near` the pairs that are near along a motion; beside those before, where it is too near."""
        if not before:
            return [near.nearest(curve, self.grid, BAND) for near in self.near]
        return [a | near.too_near(curve, self.fine, 0.3 * tolerance) for near, a in zip(self.near, before, strict=True)]

    # ---- judgement

    @cached_property
    def _judges(self) -> list[Samples]:
        return self.samples(self.fine)

    def violations(self, curve: Curve) -> list[tuple[Samples, Array]]:
        """How far each row is beyond its bounds on the fine grid (points, rows), relative, in the user's quantity."""
        found = []
        for s in self._judges:
            over = s.beyond(s.values(curve.points, curve.duration))
            found.append((s, np.where(s.powers == 2, over / 2.0, over)))
        return found

    def largest_violation(self, curve: Curve) -> Violation:
        """The largest violation, and where it is."""
        largest = Violation(0.0, "", 0.0)
        for s, over in self.violations(curve):
            i, k = np.unravel_index(int(np.argmax(over)), over.shape)
            if over[i, k] > largest.violation:
                largest = Violation(float(over[i, k]), s.name(int(i), int(k)).title, float(s.s[i]) * curve.duration)
        for near in self.near:
            over = near.violations(curve, self.fine)
            i, k = np.unravel_index(int(np.argmax(over)), over.shape)
            if over[i, k] > largest.violation:
                title = RowName("clearance", ".".join(near.near.pairs[int(k)]), 0.0).title
                largest = Violation(float(over[i, k]), title, float(self.fine[i]) * curve.duration)
        P = curve.points.ravel()
        for group in self.linear:
            over = beyond(group.matrix @ P, group.lower, group.upper)
            row = int(np.argmax(over))
            if over[row] > max(largest.violation, 1e-7):
                name = RowName(group.label, group.names[row], group.at)
                largest = Violation(float(over[row]), name.title, name.s * curve.duration)
        return largest

    def refined(self, curve: Curve, grid: Array, tolerance: float) -> Array:
        """The grid with the places added where the motion is most beyond its limits."""
        new = []
        for s, over in self.violations(curve)[: len(self.along)]:
            for column in over.T:
                before, after = np.append(-np.inf, column[:-1]), np.append(column[1:], -np.inf)
                new.append(s.s[(column > 0.3 * tolerance) & (column >= before) & (column >= after)])
        return np.union1d(grid, np.concatenate([*new, np.zeros(0)]))
