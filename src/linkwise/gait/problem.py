"""The walking problem of a person: one step, mirrored by the next one, or two where left and right differ."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.errors import InputError, UnknownNameError
from linkwise.gait.instant import GLOBAL
from linkwise.gait.kernel import InstantKernel
from linkwise.gait.person import Person
from linkwise.gait.program import Grid, WalkProgram
from linkwise.gait.rows import KINDS, Bounds, Row, rows_of
from linkwise.gait.symmetry import mirror
from linkwise.gait.timetable import Foot, Moment, Step, moments_of
from linkwise.plan.curve import Array, Basis
from linkwise.plan.rows import LinearRows
from linkwise.robot.robot import Robot

DEGREE = 3
WIDTH = 0.07  # half the distance of the feet of a person of 1.741 m, m
POSTURE = 0.01  # weight of postures, on coordinates that neither carry nor swing
UPRIGHT = ("gx", "gy", "gz", "hip_flex", "knee", "ank_flex", "toe")  # those that do
SCALES = (1.0, 0.1, 0.01)  # of rows of positions, velocities, accelerations


@dataclass(frozen=True, eq=False)
class Problem:
    """One step of a person, from heel strike to the other foot's heel strike, or two.

    Args:
        person: who walks.
        speed: m/s.
        step: length of a step, m.
        control_points: of each joint in a problem of one step; with two there are as many spans in each.
        points: of the grid in each step; the timetable's fractions should be among them.
        double: fraction of the step during which both feet carry.
        heel_off: fraction at which the standing heel rises.
        bounds: how tight rows are.
        smooth: whether accelerations are periodic too.
        without: kinds of rows that are left out.
        posture: weight of the posture term.
        steps: 1 where the next step is the mirrored one, 2 where only the stride repeats.
        whole: keep frozen joints as variables that are fixed, with torques that are bounded, as the source has them.
    """

    person: Person
    speed: float = 1.2
    step: float = 0.6
    control_points: int = 6
    points: int = 21
    double: float = 0.2
    heel_off: float = 0.6
    bounds: Bounds = Bounds()
    smooth: bool = False
    without: Collection[str] = ()
    posture: float = POSTURE
    steps: int = 1
    whole: bool = False

    def __post_init__(self) -> None:
        for kind in self.without:
            if kind not in KINDS:
                raise UnknownNameError("kind of rows", kind, KINDS)
        if not 0.0 < self.double < self.heel_off < 1.0:
            raise InputError(
                "double, heel_off: expected 0 < double < heel_off < 1 as fractions of the step,"
                f" got {self.double:g} and {self.heel_off:g}."
            )
        if self.steps not in (1, 2):
            raise InputError(f"steps: expected 1 or 2, got {self.steps!r}.")
        if self.steps == 1 and not self.person.is_symmetric:
            raise InputError(
                "steps: expected 2 for a person whose left and right sides differ, got 1."
                " One step tells of both only where they are alike."
            )
        if self.control_points < 6:
            raise InputError(
                f"control_points: expected at least 6, got {self.control_points}: with fewer no step can be taken."
            )

    def __reduce__(self) -> Any:
        """Compiled functions stay here: another process has its own."""
        return Problem, tuple(getattr(self, f.name) for f in fields(self))

    @cached_property
    def robot(self) -> Robot:
        """The skeleton, whose frozen joints are locked unless it is kept whole."""
        return self.person.robot(frozen=not self.whole)

    @cached_property
    def held(self) -> frozenset[str]:
        """Joints that are variables but fixed."""
        return frozenset(self.person.frozen) if self.whole else frozenset()

    @cached_property
    def kernel(self) -> InstantKernel:
        return InstantKernel(self.robot)

    @cached_property
    def basis(self) -> Basis:
        return Basis.uniform(DEGREE, self.steps * (self.control_points - DEGREE) + DEGREE)

    @property
    def duration(self) -> float:
        """Of the motion, s."""
        return self.steps * self.step / self.speed

    @cached_property
    def timetables(self) -> tuple[Step, ...]:
        """Of the steps of the motion."""
        feet = {side: Foot.of(self.robot, side) for side in "rl"}
        width = WIDTH * self.person.height / 1.741
        first = Step(self.step, width, self.double, self.heel_off, feet)
        return (first, first.next())[: self.steps]

    @cached_property
    def instants(self) -> list[Moment]:
        """What holds at the points of the grid."""
        return self.moments(self.points)

    def moments(self, points: int) -> list[Moment]:
        """What holds at so many evenly spread instants of each step."""
        return moments_of(self.timetables, points)

    @property
    def weight(self) -> float:
        """Of body and loads, N."""
        return self.person.total_mass * 9.81

    @cached_property
    def effort(self) -> dict[str, float]:
        """Bounds of torques by joint, N m."""
        found = {j.name: j.limits.effort for j in self.robot.joints if j.name in self.robot.names}
        return {name: found[name] for name in self.robot.names[GLOBAL:]}

    @cached_property
    def rows(self) -> list[Row]:
        """Rows at the grid's instants."""
        every = rows_of(self.instants, list(self.effort), self.effort, self.weight, self.bounds)
        return [row for row in every if row.kind not in self.without]

    @cached_property
    def linear(self) -> list[LinearRows]:
        """Rows of control points: the last posture is the (mirrored) first, and the swinging knee bends."""
        found = []
        if "symmetry" not in self.without:
            found += [self._symmetry(order) for order in range(3 if self.smooth else 2)]
        if "knee" not in self.without:
            found += [self._knee(k) for k in range(self.steps)]
        return found

    def _symmetry(self, order: int) -> LinearRows:
        n, scale = self.robot.nv, SCALES[order]
        place, sign = mirror(self.robot.names)
        first, last = self.basis.matrix([0.0, 1.0], order) / self.duration**order
        S = np.eye(n)[place] * sign[:, None] if self.steps == 1 else np.eye(n)
        matrix = scale * (np.kron(first, np.eye(n)) - np.kron(last, S))
        bound = np.zeros(n)
        if order == 0:
            bound[self.robot.names.index("gx")] = -self.step * self.steps
        label = ("position", "velocity", "acceleration")[order]
        free = [k for k, name in enumerate(self.robot.names) if name not in self.held]
        names = tuple(f"{label}.{self.robot.names[k]}" for k in free)
        return LinearRows("symmetry", names, matrix[free], bound[free], bound[free])

    def _knee(self, step: int) -> LinearRows:
        at = (step + 0.5 * (self.double + 1.0)) / self.steps
        side = self.timetables[step].trail
        unit = np.eye(self.robot.nv)[self.robot.names.index(f"knee_{side}")]
        matrix = np.kron(self.basis.matrix([at])[0], unit)[None, :]
        lower, upper = (np.array([x]) for x in self.bounds.knee)
        return LinearRows("knee", (f"knee_{side}",), matrix, lower, upper, at)

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Bounds of control points (count, joints), within which the curves stay as well."""
        joints = {j.name: j.limits for j in self.robot.joints}
        lower, upper = (
            [0.0 if n in self.held else getattr(joints[n], b) for n in self.robot.names] for b in ("lower", "upper")
        )
        return tuple(np.tile(x, (self.basis.count, 1)) for x in (lower, upper))  # type: ignore[return-value]

    @cached_property
    def reference(self) -> Array:
        """Control points of a person who is moved along upright."""
        P = np.zeros((self.basis.count, self.robot.nv))
        P[:, self.robot.names.index("gx")] = self.steps * self.step * self.basis.abscissae
        return P

    def program(self, effort: bool) -> WalkProgram:
        """The problem of least effort, or that of being feasible, whose objective is constant."""
        names = self.robot.names
        if effort:
            posture = np.array([0.0 if n.startswith(UPRIGHT) else self.posture for n in names])
            count = len(self.instants)
            rule = np.full(count, self.duration / (count - 1))
            rule[[0, -1]] *= 0.5
            counted = [0.0 if n in self.held else 1.0 / x**2 for n, x in self.effort.items()]
            weights = np.outer(rule, counted)
        else:
            posture = np.zeros(len(names))
            weights = np.zeros((len(self.instants), len(self.effort)))
        grid = Grid(self.kernel, self.basis, self.duration, self.instants)
        return WalkProgram(grid, self.rows, self.linear, *self.limits, self.reference, posture, weights)


def counted(rows: Sequence[Row], linear: Sequence[LinearRows]) -> dict[str, int]:
    """How many rows of each kind."""
    found = {kind: sum(row.kind == kind for row in rows) for kind in KINDS}
    for group in linear:
        found[group.label] += len(group.lower)
    return found
