"""What `plan` gives: the motion as functions of time, how good it is, and how well it keeps its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.algorithms.elastic_feedforward import elastic_feedforward
from linkwise.algorithms.force_rates import force_rates
from linkwise.algorithms.inverse_dynamics import joint_wrenches
from linkwise.errors import InputError, LinkwiseError, UnknownNameError
from linkwise.kernel.compile import compile
from linkwise.motion.columns import endings
from linkwise.planning.carrier import Carrier
from linkwise.planning.chart import Chart, chart_of, drive_names
from linkwise.planning.curve import Array, Curve
from linkwise.planning.problem import Worst
from linkwise.planning.program import Dual
from linkwise.planning.words import positive
from linkwise.robot.robot import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True, eq=False)
class Plan:
    """A planned motion.

    Args:
        robot: what moves.
        curve: its motion.
        objective: what was minimised.
        status: "converged", "infeasible", "stopped" (too many iterations), "out of time" or "interrupted".
        worst: the largest violation on the fine grid, relative to its limit, with its name and time.
        terms: the integral of each term without its factor, by name.
        multipliers: what a larger limit would change: d objective / d limit, by name of the constraint; none for
            equations, and for limits of positions.
        facts: how it was computed: solver, iterations, rounds, seconds.
        duals: multipliers of single rows, from which a solver can start again.
        carrier: how the base moves, or None where it stands still.
        given_chart: what the numbers on the curve are; those of `chart_of` without it.
    """

    robot: Robot
    curve: Curve
    objective: float
    status: str
    worst: Worst
    terms: Mapping[str, float] = field(default_factory=dict)
    multipliers: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    duals: tuple[Dual, ...] = field(default=(), repr=False)
    carrier: Carrier | None = field(default=None, repr=False)
    given_chart: Chart | None = field(default=None, repr=False)

    @cached_property
    def chart(self) -> Chart:
        """What the numbers on the curve are."""
        return self.given_chart or chart_of(self.robot)

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.curve.duration

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    @property
    def words(self) -> str:
        """How it went, in a sentence."""
        if self.converged:
            edge = f" (the {self.facts['edge']} that was allowed)" if self.facts.get("edge") else ""
            return f"converged: {self.duration:.6g} s{edge}, {self.worst}"
        if self.status == "infeasible":
            return f"infeasible: {self.worst}"
        return f"{self.status}: {self.duration:.6g} s so far, {self.worst}"

    # ---- the motion at any time

    def q(self, t: Any) -> Array:
        """Positions at times t (...,), of shape (..., n); with loops, those of what leads."""
        return self._motion(t, 1)[0]

    def qd(self, t: Any) -> Array:
        """Velocities."""
        return self._motion(t, 2)[1]

    def qdd(self, t: Any) -> Array:
        """Accelerations."""
        return self._motion(t, 3)[2]

    def qddd(self, t: Any) -> Array:
        """Jerks."""
        return self._motion(t, 4)[3]

    def positions(self, t: Any) -> Array:
        """Positions of all joints, (..., nq of `robot.opened()`); loops are closed exactly."""
        q = self.q(t)
        if not self.robot.loops:
            return q
        rows = q.reshape(-1, q.shape[-1])
        return compile(self.robot).positions(rows, along=True).q.reshape(*q.shape[:-1], -1)

    def _motion(self, t: Any, orders: int = 4) -> list[Array]:
        """Positions and as many derivatives, of what leads."""
        return self.chart.motion([self.curve(t, k) for k in range(orders)])

    def _base(self, t: Any, count: int = 3) -> list[Array]:
        """So many of velocity, acceleration and jerk of the base, where it moves."""
        return self.carrier(np.asarray(t, dtype=float) / self.duration)[:count] if self.carrier else []

    @property
    def has_rates(self) -> bool:
        """Whether the torques have rates: those of rigid drives do."""
        return not self.is_elastic

    @cached_property
    def is_elastic(self) -> bool:
        """Whether the robot has elastic drives, whose torques are those of motors and have no rates here."""
        return any(j.is_elastic for j in self.robot.joints)

    @cached_property
    def _rates(self) -> Any:
        return compile(self.robot, force_rates, base_motion=self.carrier is not None)

    def _motors(self, t: Any) -> Any:
        """Motion of motors behind springs, and torques of all drives."""
        motion = [self.curve(t, k) for k in range(5)]
        try:
            return compile(self.robot, elastic_feedforward)(*motion)
        except LinkwiseError:  # where motors act on each other through springs
            return compile(self.robot, elastic_feedforward, coupling="rigid")(*motion)

    def tau(self, t: Any) -> Array:
        """Torques of the drives, with loops in the order of `robot.drives`."""
        if self.is_elastic:
            return self._motors(t).tau
        return self._rates(*self._motion(t), *self._base(t)).tau

    def tau_dot(self, t: Any) -> Array:
        """Torque rates, of rigid drives."""
        if not self.has_rates:
            raise InputError("tau_dot: expected rigid drives, got elastic ones.")
        return self._rates(*self._motion(t), *self._base(t)).tau_dot

    @cached_property
    def _wrenches(self) -> Any:
        return compile(self.robot, joint_wrenches, base_motion=self.carrier is not None)

    def wrenches(self, t: Any) -> Array:
        """Reactions through the joints (..., links, 6), as `joint_wrenches` has them."""
        return self._through(t).wrench

    def _through(self, t: Any) -> Any:
        state = [self.q(t), self.qd(t), self.qdd(t)]
        if self.is_elastic:
            state = [np.concatenate(pair, axis=-1) for pair in zip(state, self._motors(t)[:3], strict=True)]
        return self._wrenches(*state, *self._base(t, 2))

    def cut_wrenches(self, t: Any) -> Array:
        """Reactions through the cut joints of loops (..., loops, 6): of link a on b, in the axes of frame a."""
        if not self.robot.loops:
            raise InputError(f"cut_wrenches: expected a robot with loops, got the tree {self.robot.name!r}.")
        cut: Array = self._through(t).cut
        return cut

    # ---- channels by name

    def names(self, quantity: str) -> list[str]:
        """Names of the columns of q, qd, qdd, qddd, tau or tau_dot."""
        if quantity.startswith("tau"):
            return [f"{quantity}.{name}" for name in drive_names(self.robot)]
        kinds = [(name, self.robot.slots[name].kind) for name in self.robot.names]
        return [f"{quantity}.{name}{end}" for name, kind in kinds for end in endings(kind, quantity)]

    def times(self, step: float | None = None) -> Array:
        """Evenly spread times, the end among them; with `step` at that distance, the last one at the end."""
        if step is None:
            return np.linspace(0.0, self.duration, 401)
        step = positive(step, "step")
        even = np.arange(int(np.ceil(self.duration / step - 1e-9))) * step
        return np.append(even, self.duration)

    def columns(self, step: float | None = None) -> dict[str, Array]:
        """Everything as named columns: t, q.elbow, ..., tau.elbow, tau_dot.elbow, wrench.elbow.fx, ..., cut.tip.fx."""
        t = self.times(step)
        found = {"t": t}
        rates = ("tau_dot",) if self.has_rates else ()
        for quantity in ("q", "qd", "qdd", "qddd", "tau", *rates):
            values = getattr(self, quantity)(t)
            found |= dict(zip(self.names(quantity), values.T, strict=True))
        moving = [j.name for j in self.robot.joints if not j.is_fixed]
        through = {"wrench": (moving, self.wrenches(t))}
        if self.robot.loops:
            through["cut"] = ([loop.name for loop in self.robot.loops], self.cut_wrenches(t))
        for key, (names, six) in through.items():
            found |= {f"{key}.{n}.{c}": six[:, k, i] for k, n in enumerate(names) for i, c in enumerate(WRENCH)}
        return found

    def __getitem__(self, name: str) -> Array:
        """One of the columns."""
        columns = self.columns()
        if name not in columns:
            raise UnknownNameError("channel", name, columns)
        return columns[name]

    # ---- files and pictures

    def save(self, path: str | PathLike[str], step: float | None = None) -> None:
        """Write all to an .npz file that `Plan.load` takes back, or the motion and torques to a .csv file.

        Args:
            path: ends in .npz or .csv.
            step: seconds between rows of a .csv file, such as a controller's period.
        """
        from linkwise.planning.files import save

        save(self, path, step)

    @staticmethod
    def load(path: str | PathLike[str]) -> Plan:
        """The plan of an .npz file."""
        from linkwise.planning.files import load

        return load(path)

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """A picture of positions, speeds, torques and their rates, which `path` (.png, .svg or .pdf) receives."""
        from linkwise.figures import drawn
        from linkwise.planning.plot import figure_of

        return drawn(figure_of(self), path)

    def __repr__(self) -> str:
        return f"<Plan of {self.robot.name!r}: {self.words}>"
