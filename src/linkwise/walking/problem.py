"""The walking problem of a person: one step, mirrored by the next one, or two where left and right differ."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.kernels import PointKernel
from linkwise.planning.rows import LinearRows
from linkwise.planning.rows import Rows as PlanRows
from linkwise.planning.samples import Samples
from linkwise.planning.variables import Objective
from linkwise.planning.words import Constraint, Sum, per_joint
from linkwise.robot.robot import Robot
from linkwise.walking.checks import check
from linkwise.walking.instant import GLOBAL
from linkwise.walking.joints import called
from linkwise.walking.kernel import InstantKernel
from linkwise.walking.objective import Effort, Part, Penalty, Posture, State, Terms, Torques
from linkwise.walking.person import Person
from linkwise.walking.point import STANDING
from linkwise.walking.program import ConstantRows, Grid, InstantRows, PlannedRows, Rows, WalkProgram
from linkwise.walking.rows import KINDS, Bounds, Row, rows_of
from linkwise.walking.skeleton import GRAVITY
from linkwise.walking.symmetry import mirror
from linkwise.walking.timetable import Foot, Moment, Step, moments_of, supports_of
from linkwise.walking.tracking import Tracking

DEGREE = 3
WIDTH = 0.07  # half the distance of the feet of a person of 1.741 m, m
EFFORT = Sum.of(Effort())
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
        minimize: terms of planning beside `effort`; effort alone if none is given.
        subject_to: constraints of planning beside the rows of walking.
        soft: kinds of rows that may be broken, with the weights of the squares of how far they are.
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
    minimize: Sum = EFFORT
    subject_to: tuple[Constraint, ...] = ()
    soft: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check(self)

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
        return self.person.total_mass * -GRAVITY[1]

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
            found += [self._knee(k) for k in range(self.steps) if self._bends(self.timetables[k].trail)]
        return found

    def _symmetry(self, order: int) -> LinearRows:
        n, scale = self.robot.nv, SCALES[order]
        first, last = self.basis.matrix([0.0, 1.0], order) / self.duration**order
        S = np.eye(n)
        if self.steps == 1:
            place, sign = mirror(self.robot.names)
            S = S[place] * sign[:, None]
        matrix = scale * (np.kron(first, np.eye(n)) - np.kron(last, S))
        bound = np.zeros(n)
        if order == 0:
            bound[self.robot.names.index("gx")] = -self.step * self.steps
        label = ("position", "velocity", "acceleration")[order]
        free = [k for k, name in enumerate(self.robot.names) if name not in self.held]
        names = tuple(f"{label}.{self.robot.names[k]}" for k in free)
        return LinearRows("symmetry", names, matrix[free], bound[free], bound[free])

    def _bends(self, side: str) -> bool:
        """Whether a knee can be bent as far as is asked for: a stiff one is not asked."""
        name = f"knee_{side}"
        if name not in self.robot.names or name in self.held:
            return False
        low, high = (x[0, self.robot.names.index(name)] for x in self.limits)
        return bool(low <= self.bounds.knee[1] and high >= self.bounds.knee[0])

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
            np.array([0.0 if n in self.held else getattr(joints[n], b) for n in self.robot.names])
            for b in ("lower", "upper")
        )
        for low, high in (b for c in self.subject_to if (b := c.box(self.robot)) is not None):
            lower, upper = np.maximum(lower, low), np.minimum(upper, high)
        return tuple(np.tile(x, (self.basis.count, 1)) for x in (lower, upper))  # type: ignore[return-value]

    @cached_property
    def reference(self) -> Array:
        """Control points of a person who is moved along upright."""
        P = np.zeros((self.basis.count, self.robot.nv))
        P[:, self.robot.names.index("gx")] = self.steps * self.step * self.basis.abscissae
        return P

    # ---- what is minimised

    @cached_property
    def rule(self) -> Array:
        """Weights of the instants in integrals over time, s."""
        count = len(self.instants)
        rule = np.full(count, self.duration / (count - 1))
        rule[[0, -1]] *= 0.5
        return rule

    def _torques(self, weights: Any = 1.0) -> Torques:
        """(5.1) of the source: squares of torques over their limits."""
        if isinstance(weights, Mapping):
            weights = {called(name): w for name, w in weights.items()}
        factors = per_joint(self.robot.names, weights, "effort weights", 0.0)[GLOBAL:]
        counted = [0.0 if n in self.held else w / x**2 for w, (n, x) in zip(factors, self.effort.items(), strict=True)]
        return Torques(np.outer(self.rule, counted))

    @cached_property
    def parts(self) -> list[Part]:
        """The objective."""
        posture = np.array([0.0 if n.startswith(UPRIGHT) else self.posture for n in self.robot.names])
        parts: list[Part] = [Posture(self.reference.ravel(), np.tile(posture, self.basis.count))]
        others = []
        for factor, term in self.minimize.terms:
            if isinstance(term, Effort):
                torques = self._torques(term.weights)
                parts.append(Torques(factor * torques.weights))
            else:
                others.append((factor, term.over(self.steps) if isinstance(term, Tracking) else term))
        if others:
            rule = self.rule / self.duration
            objective = Objective.of(Sum(tuple(others)), self.robot, lambda r: self._sampled(r, self.instants), rule)
            parts.append(Terms(objective, self.duration))
        return parts + self._penalties

    @cached_property
    def _penalties(self) -> list[Part]:
        soft = [r for r in self.rows if r.kind in self.soft]
        linear = [g for g in self.linear if g.label in self.soft]
        groups: list[Rows] = [InstantRows(self.grid, soft)] if soft else []
        groups += [ConstantRows(linear)] if linear else []
        return [Penalty(g, [self.soft[label.kind] for label in g.labels]) for g in groups]

    def effort_of(self, curve: Curve) -> float:
        """(5.1) of the source, s."""
        return self._torques().value(State(self.grid, curve.points.ravel()))

    # ---- the program

    @cached_property
    def grid(self) -> Grid:
        return Grid(self.kernel, self.basis, self.duration, self.instants)

    def _sampled(self, rows: Sequence[PlanRows], moments: Sequence[Moment]) -> Samples:
        kernel = PointKernel(self.robot, rows, STANDING)
        supports = supports_of(moments)
        return Samples(kernel, self.basis, [m.s for m in moments], lambda _: supports)

    @cached_property
    def _planned(self) -> list[PlannedRows]:
        """Rows of the user's constraints, those of the same instants together."""
        groups: dict[tuple[float, ...] | None, list[PlanRows]] = {}
        for rows in (r for c in self.subject_to for r in c.rows(self.robot)):
            groups.setdefault(rows.at, []).append(rows)
        found = []
        for at, several in groups.items():
            moments = self.instants if at is None else [self._moment(s) for s in at]
            found.append(PlannedRows(self._sampled(several, moments), moments))
        return found

    def _moment(self, s: float) -> Moment:
        """What holds at a fraction of the motion's time."""
        k = min(int(s * self.steps), self.steps - 1)
        return replace(self.timetables[k].at(s * self.steps - k), s=s)

    @cached_property
    def groups(self) -> list[Rows]:
        """Rows that have to be kept."""
        hard = [r for r in self.rows if r.kind not in self.soft]
        linear = [g for g in self.linear if g.label not in self.soft]
        linear += [g for c in self.subject_to for g in c.linear(self.robot, self.basis)]
        return [InstantRows(self.grid, hard), *self._planned, *([ConstantRows(linear)] if linear else [])]

    def program(self, effort: bool) -> WalkProgram:
        """The problem of least effort, or that of being feasible, whose objective is constant."""
        return WalkProgram(self.grid, self.groups, *self.limits, self.parts if effort else [])


def counted(rows: Sequence[Row], linear: Sequence[LinearRows]) -> dict[str, int]:
    """How many rows of each kind."""
    found = {kind: sum(row.kind == kind for row in rows) for kind in KINDS}
    for group in linear:
        found[group.label] += len(group.lower)
    return found
