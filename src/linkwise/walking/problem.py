"""The walking problem of a person: one step, mirrored by the next one, or two where left and right differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.kernels import PointKernel, Surroundings
from linkwise.planning.program import Program
from linkwise.planning.rows import LinearRows, Rows
from linkwise.planning.term_and_constraint import Constraint, Sum, per_joint
from linkwise.planning.transcription import Transcription
from linkwise.planning.variables import Anchor, Integral, Objective, Variables
from linkwise.robot.robot import Robot
from linkwise.walking.checks import check
from linkwise.walking.effort import Effort
from linkwise.walking.instant import GLOBAL
from linkwise.walking.joints import called
from linkwise.walking.kernel import shared_kernel, surroundings
from linkwise.walking.person import Person
from linkwise.walking.rows import KINDS, Bounds, rows_of
from linkwise.walking.skeleton import GRAVITY
from linkwise.walking.symmetry import mirror
from linkwise.walking.timetable import Foot, Step, Timetable
from linkwise.walking.tracking import Tracking

DEGREE = 3
WIDTH = 0.07  # half the distance of the feet of a person of 1.741 m, m
EFFORT = Sum.of(Effort())
POSTURE = 0.01  # weight of postures, on coordinates that neither carry nor swing
UPRIGHT = ("gx", "gy", "gz", "hip_flex", "knee", "ank_flex", "toe")  # those that do
DAMPING = 0.01  # of solvers
FINER = 8  # times the grid on which a motion is judged
SCALES = (1.0, 0.1, 0.01)  # of rows of positions, velocities, accelerations


@dataclass(frozen=True, eq=False)
class Problem(Transcription):
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
        constraints: of planning, beside the rows of walking.
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
    constraints: tuple[Constraint, ...] = ()
    soft: Mapping[str, float] = field(default_factory=dict)
    kernels: dict[Any, PointKernel] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        check(self)

    def __reduce__(self) -> Any:
        """Compiled functions stay here: another process has its own."""
        return Problem, tuple(getattr(self, f.name) for f in fields(self) if f.init)

    @cached_property
    def robot(self) -> Robot:
        """The skeleton, whose frozen joints are locked unless it is kept whole."""
        return self.person.robot(frozen=not self.whole)

    @cached_property
    def held_joints(self) -> frozenset[str]:
        """Joints that are variables but fixed."""
        return frozenset(self.person.frozen) if self.whole else frozenset()

    @cached_property
    def basis(self) -> Basis:
        return Basis.uniform(DEGREE, self.steps * (self.control_points - DEGREE) + DEGREE)

    @property
    def duration(self) -> float:
        """The duration of the motion, s."""
        return self.steps * self.step / self.speed

    @cached_property
    def timetable(self) -> Timetable:
        """The timetable of the steps of the motion."""
        feet = {side: Foot.of(self.robot, side) for side in "rl"}
        width = WIDTH * self.person.height / 1.741
        first = Step(self.step, width, self.double, self.heel_off, feet)
        return Timetable((first, first.next())[: self.steps])

    @cached_property
    def grid(self) -> Array:
        return self.timetable.even(self.points)

    @cached_property
    def fine(self) -> Array:
        return self.timetable.even((self.points - 1) * FINER + 1)

    @property
    def names(self) -> Sequence[str]:
        return self.robot.names

    @cached_property
    def surroundings(self) -> Surroundings:
        return surroundings(self.timetable.supports)

    @property
    def weight(self) -> float:
        """The weight of body and loads, N."""
        return self.person.total_mass * -GRAVITY[1]

    @cached_property
    def effort(self) -> dict[str, float]:
        """Bounds of torques by joint, N m."""
        found = {j.name: j.limits.effort for j in self.robot.joints if j.name in self.robot.names}
        return {name: found[name] for name in self.robot.names[GLOBAL:]}

    # ---- rows

    def own_kernel(self, rows: Sequence[Rows]) -> PointKernel:
        """The kernel of `own_rows`, whose bounds may be others."""
        return shared_kernel(self.robot, rows, self.timetable.supports)

    @cached_property
    def own_rows(self) -> list[Rows]:
        """The rows of walking, those that are left out too."""
        return rows_of(self.timetable.at, self.effort, self.weight, self.bounds)

    @cached_property
    def along(self) -> list[PointKernel]:
        """Rows of walking, those that are left out without bounds, and those of constraints."""
        rows = [r.unbounded() if r.label in self.without else self._priced(r) for r in self.own_rows]
        return [self.own_kernel(rows), *super().along]

    def _priced(self, rows: Any) -> Any:
        return replace(rows, price=self.soft.get(rows.label, np.inf))

    @cached_property
    def linear(self) -> list[LinearRows]:
        """Rows of control points: the last posture is the (mirrored) first, and the swinging knee bends."""
        found = []
        if "symmetry" not in self.without:
            found += [self._symmetry(order) for order in range(3 if self.smooth else 2)]
        if "knee" not in self.without:
            found += [self._knee(k) for k in range(self.steps) if self._bends(self.timetable.steps[k].trail)]
        return [*map(self._priced, found), *super().linear]

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
        free = [k for k, name in enumerate(self.robot.names) if name not in self.held_joints]
        names = tuple(f"{label}.{self.robot.names[k]}" for k in free)
        return LinearRows("symmetry", names, matrix[free], bound[free], bound[free])

    def _bends(self, side: str) -> bool:
        """Whether a knee can be bent as far as is asked for: a stiff one is not asked."""
        name = f"knee_{side}"
        if name not in self.robot.names or name in self.held_joints:
            return False
        low, high = (x[self.robot.names.index(name)] for x in self.box)
        return bool(low <= self.bounds.knee[1] and high >= self.bounds.knee[0])

    def _knee(self, step: int) -> LinearRows:
        at = (step + 0.5 * (self.double + 1.0)) / self.steps
        side = self.timetable.steps[step].trail
        unit = np.eye(self.robot.nv)[self.robot.names.index(f"knee_{side}")]
        matrix = np.kron(self.basis.matrix([at])[0], unit)[None, :]
        lower, upper = (np.array([x]) for x in self.bounds.knee)
        return LinearRows("knee", (f"knee_{side}",), matrix, lower, upper, at)

    @property
    def ranges(self) -> tuple[Array, Array]:
        """The ranges of joints; control points stay within them too."""
        joints = {j.name: j.limits for j in self.robot.joints}
        lower, upper = (
            np.array([0.0 if n in self.held_joints else getattr(joints[n], b) for n in self.robot.names])
            for b in ("lower", "upper")
        )
        return lower, upper

    @cached_property
    def variables(self) -> Variables:
        """Control points, within the bounds of coordinates; the duration is given."""
        bounds = (np.append(np.tile(x, self.basis.count), self.duration) for x in self.box)
        return Variables(self.basis, self.robot.nv, *bounds)

    @cached_property
    def reference(self) -> Array:
        """Control points of a person who is moved along upright."""
        P = np.zeros((self.basis.count, self.robot.nv))
        P[:, self.robot.names.index("gx")] = self.steps * self.step * self.basis.abscissae
        return P

    # ---- what is minimised

    @cached_property
    def quadrature(self) -> tuple[Array, Array]:
        """The trapezoidal rule on the grid."""
        rule = np.full(len(self.grid), 1.0 / (len(self.grid) - 1))
        rule[[0, -1]] *= 0.5
        return self.grid, rule

    def _torques(self, weights: Any = 1.0, factor: float = 1.0) -> Integral:
        """(5.1) of the source: squares of torques over their limits."""
        if isinstance(weights, Mapping):
            weights = {called(name): w for name, w in weights.items()}
        factors = per_joint(self.robot.names, weights, "effort weights", 0.0)[GLOBAL:]
        strengths = self.effort.items()
        each = [0.0 if n in self.held_joints else w / x**2 for w, (n, x) in zip(factors, strengths, strict=True)]
        samples = self.held[0]
        whole = [each if r.label == "torque" else np.zeros(len(r.names)) for r in samples.kernel.rows]
        counted = factor * np.concatenate(whole)
        return Integral(samples, self.quadrature[1], counted, np.full(len(counted), True))

    @cached_property
    def objective(self) -> Objective:
        """Efforts, whose torques are among the rows, other terms, and a posture."""
        terms = [(w, t.over(self.steps) if isinstance(t, Tracking) else t) for w, t in self.minimize.terms]
        efforts = tuple(self._torques(t.weights, w) for w, t in terms if isinstance(t, Effort))
        others = self._objective(Sum(tuple((w, t) for w, t in terms if not isinstance(t, Effort))))
        posture = np.array([0.0 if n.startswith(UPRIGHT) else self.posture for n in self.robot.names])
        anchor = Anchor(self.reference.ravel(), np.tile(posture, self.basis.count))
        return Objective(0.0, (*efforts, *others.integrals), (anchor,), DAMPING)

    def effort_of(self, curve: Curve) -> float:
        """(5.1) of the source, s."""
        torques = self._torques()
        return torques.value(torques.samples.values(curve.points, curve.duration), curve.duration)

    # ---- the program

    def to_solve(self, effort: bool = True) -> Program:
        """The problem of least effort, or that of being feasible, whose objective is constant."""
        objective = self.objective if effort else Objective(damping=DAMPING)
        return Program(self.variables, objective, self.held, self.linear)

    @cached_property
    def counted(self) -> dict[str, int]:
        """How many rows of each kind."""
        program = self.to_solve()
        found = Counter(name.label for name in (*program.names, *program.soft_names))
        return {kind: found[kind] for kind in KINDS}
