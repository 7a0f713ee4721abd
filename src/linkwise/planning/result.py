"""What `plan` gives: the motion as functions of time, how good it is, and how well it keeps its limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.algorithms.algorithm import Algorithm
from linkwise.algorithms.elastic_feedforward import elastic_feedforward
from linkwise.algorithms.force_rates import force_rates
from linkwise.algorithms.inverse_dynamics import inverse_dynamics, joint_wrenches
from linkwise.check import positive
from linkwise.deprecated import warn
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.mechanism.scene import Obstacle, Scene
from linkwise.motion.base_motion import base_columns
from linkwise.motion.columns import column_names, endings
from linkwise.planning.carrier import Carrier
from linkwise.planning.chart import Chart, chart_of, joint_places
from linkwise.planning.contact_forces import along, around, pressed, stance_of
from linkwise.planning.curve import Array, Curve
from linkwise.planning.drives import Drives, drives_of
from linkwise.planning.program import Dual
from linkwise.planning.transcription import Violation
from linkwise.robot.robot import Robot
from linkwise.table import WRENCH, Sampled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwise.planning.certified import LeastDistance
    from linkwise.planning.nearness import Nearness


@dataclass(frozen=True, eq=False)
class Plan(Sampled):
    """A planned motion. `plan["tau.elbow"]` is one column of `columns()`.

    Args:
        robot: what moves.
        curve: its motion.
        objective: what was minimised.
        status: "converged", "gave up", "out of time", "interrupted", or "infeasible": from several starts the
            violation of limits was made as small as it can be, and some was left.
        largest_violation: on the fine grid, relative to its limit, with its name and time.
        terms: the integral of each term without its factor, by name.
        multipliers: what a larger limit would change: d objective / d limit, by name of the constraint; none for
            equations, and for limits of positions.
        facts: how it was computed: solver, iterations, rounds, seconds.
        duals: multipliers of single rows, from which a solver can start again.
        carrier: how the base moves and what pushes the robot from outside, or None where nothing does.
        given_chart: what the numbers on the curve are; those of `chart_of` without it.
        notes: what else a user should know, such as what was neglected, in sentences.
        scenes: what the robot had to stay clear of, itself among it.
    """

    robot: Robot
    curve: Curve
    objective: float
    status: str
    largest_violation: Violation
    terms: Mapping[str, float] = field(default_factory=dict)
    multipliers: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    duals: tuple[Dual, ...] = field(default=(), repr=False)
    carrier: Carrier | None = field(default=None, repr=False)
    given_chart: Chart | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    scenes: tuple[Scene, ...] = field(default=(), repr=False)

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
    def summary(self) -> str:
        """How it went, in a sentence, what was tried where it failed, and the notes."""
        edge = f" (the {self.facts['edge']} that was allowed)" if self.facts.get("edge") else ""
        left = str(self.largest_violation)
        said = {
            "converged": f"converged: {self.duration:.6g} s{edge}, {left}",
            "infeasible": f"infeasible: {left}",
        }.get(self.status, f"{self.status}: {self.duration:.6g} s so far, {left}")
        return "; ".join((said, *self._trials(), *self.notes))

    def _trials(self) -> Iterator[str]:
        """What was tried in vain, and what to try."""
        starts = self.facts.get("starts", 1)
        if self.status == "infeasible":
            least = 100.0 * min(self.facts["least_violation"], self.largest_violation.violation)
            yield f"from {starts} starts no motion was found that is less than {least:.3g} % beyond some limit"
            yield "try larger limits, a longer duration, another start or goal, or a guess"
        elif self.status == "gave up":
            tried = ", then ".join(dict.fromkeys(self.facts.get("tried", ())))
            yield f"tried {tried or self.facts.get('solver', 'nothing')} from {starts} start{'s' * (starts != 1)}"
            yield "try a guess, more control_points, or more iterations"
            if any(j.friction.coulomb and j.friction.law == "coulomb" for j in self.robot.joints):
                yield "Coulomb friction jumps where joints reverse or rest: friction of the law 'tanh' does not"

    @property
    def words(self) -> str:
        """The former name of `summary`."""
        warn("plan.words", "plan.summary")
        return self.summary

    @property
    def worst(self) -> Violation:
        """The former name of `largest_violation`."""
        warn("plan.worst", "plan.largest_violation")
        return self.largest_violation

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
        """Positions of all joints, (..., nq of `robot.opened()` without motors); loops are closed exactly."""
        q = self.q(t)
        rows = compile(self.robot.rigid()).positions(q.reshape(-1, q.shape[-1]), along=True).q
        return np.asarray(rows.reshape(*q.shape[:-1], -1))

    def _motion(self, t: Any, orders: int = 4) -> list[Array]:
        """Positions and as many derivatives, of what leads."""
        return self.chart.motion([self.curve(t, k) for k in range(orders)])

    def _called(self, algorithm: Algorithm, t: Any, motion: Sequence[Array], rates: int, **static: Any) -> Any:
        """An algorithm along the motion, in what surrounds the robot, of which it needs so many rates."""
        options, inputs = around(self.chart, self.curve, self.carrier, t, rates)
        return compile(self.robot, algorithm, **options, **static)(*motion, *inputs)

    def _forces(self, t: Any, rates: int) -> Array:
        """Generalised forces at `robot.motors`, or their first rate."""
        name = "tau_dot" if rates else "tau"
        if self._drives.levels:
            return np.asarray(getattr(self._motors(t, rates), name))
        found = self._called(force_rates, t, self._motion(t), 1)
        return np.asarray(getattr(found, name)[..., self.robot.motors])

    @cached_property
    def _drives(self) -> Drives:
        return drives_of(self.robot)

    def _motors(self, t: Any, rates: int = 0) -> Any:
        """Motion of motors behind springs, and torques of all drives with so many rates."""
        order = 2 * self._drives.levels + rates
        motion, coupling = self._motion(t, order + 3), self._drives.coupling
        return self._called(elastic_feedforward, t, motion, order, order=order, coupling=coupling)

    def tau(self, t: Any) -> Array:
        """Torques of the drives, in the order of `names("tau")`; where drives are elastic those of their motors."""
        return self._forces(t, 0)[..., list(self._drives.places)]

    def tau_dot(self, t: Any) -> Array:
        """Torque rates."""
        return self._forces(t, 1)[..., list(self._drives.places)]

    def base_wrench(self, t: Any, held: bool = False) -> Array:
        """What would have to push a floating base that nothing drives (..., 6): zero but for what splines leave.

        With `held`, what it would feel of the rest if it stood still.
        """
        if not self._drives.passive:
            raise InputError(f"base_wrench: expected a floating base that nothing drives, got {self.robot.name!r}.")
        if not held:
            return self._forces(t, 0)[..., list(self._drives.passive)]
        links = self.robot.rigid()
        q, *rates = self._motion(t, 3)
        for name in self._drives.floating_joints:
            slot = links.slots[name]
            for x in rates:
                x[..., slot.v : slot.v + slot.nv] = 0.0
        tau = compile(links, inverse_dynamics, gravity=(0.0, 0.0, 0.0))(q, *rates)
        return np.asarray(tau[..., links.motors][..., list(self._drives.passive)])

    def deflection(self, t: Any) -> Array:
        """How far springs of drives are stretched, theta - q, of the elastic joints in their order."""
        if not self._drives.levels:
            raise InputError(f"deflection: expected elastic drives, got {self.robot.name!r} without.")
        joints = [j.name for j in self.robot.joints if j.is_elastic]
        places = joint_places(self.robot)
        return np.asarray(self._motors(t).theta - self.positions(t)[..., [places[n][0] for n in joints]])

    def unbalanced(self, t: Any) -> Array:
        """Forces on joints beside the springs of their elastic drives: zero but for what is neglected."""
        return np.delete(np.asarray(self._through(t).tau), self.robot.motors, axis=-1)

    def wrenches(self, t: Any) -> Array:
        """Reactions through the joints (..., links, 6), as `joint_wrenches` has them."""
        return np.asarray(self._through(t).wrench)

    def _through(self, t: Any) -> Any:
        state = self._motion(t, 3)
        if self._drives.levels:
            state = [np.concatenate(pair, axis=-1) for pair in zip(state, self._motors(t)[:3], strict=True)]
        return self._called(joint_wrenches, t, state, 0)

    def cut_wrenches(self, t: Any) -> Array:
        """Reactions through the cut joints of loops (..., loops, 6): of link a on b, in the axes of frame a."""
        if not self.robot.loops:
            raise InputError(f"cut_wrenches: expected a robot with loops, got the tree {self.robot.name!r}.")
        return np.asarray(self._through(t).cut)

    # ---- what is near

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What was in the way."""
        return tuple(dict.fromkeys(x for scene in self.scenes for x in scene.obstacles))

    @cached_property
    def clearance(self) -> LeastDistance:
        """The least distance of all pairs along the whole motion, proven; of its own links if nothing was asked."""
        from linkwise.planning.certified import along_curve

        return min((along_curve(near, self.curve) for near in self._near), key=float)

    def distance(self, t: Any) -> Array:
        """The least distance of all pairs at times t (...,), m."""
        x = self.curve(t)
        found = [near.distances(x.reshape(-1, x.shape[-1])).min(axis=1) for near in self._near]
        return np.asarray(np.min(found, axis=0).reshape(x.shape[:-1]))

    @cached_property
    def _near(self) -> list[Nearness]:
        from linkwise.planning.certified import nearness_of

        return nearness_of(self.robot, self.chart, self.scenes, bool(self.carrier and self.carrier.moves))

    @property
    def contacts(self) -> tuple[str, ...]:
        """The names of contacts that stand at some time."""
        return tuple(stance.name for stance in self.chart.stances)

    def contact_wrench(self, contact: str, t: Any) -> Array:
        """What the ground exerts on a contact (..., 6), at the origin of its frame, in the frame's axes."""
        return along(self.chart, self.curve, self.carrier, t)[..., stance_of(self.chart, contact)[0], :]

    def contact_force(self, contact: str, t: Any) -> Array:
        """Where the ground pushes a contact, and the force (..., 6), in the world: a sole's centre of pressure."""
        return pressed(stance_of(self.chart, contact)[1], self.chart, self.q(t), self.contact_wrench(contact, t))

    def forces(self, t: Any) -> dict[str, Array]:
        """What pushes the robot in the world, by name, as `contact_force` has it: what viewers draw."""
        return {f"contact {name}": self.contact_force(name, t) for name in self.contacts}

    # ---- channels by name

    def names(self, quantity: str) -> list[str]:
        """Names of the columns of q, qd, qdd, qddd, tau or tau_dot."""
        if quantity.startswith("tau"):
            return [f"{quantity}.{name}" for name in self._drives.names]
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
        """Everything as named columns: t, q.elbow, ..., tau.elbow, ..., wrench.forearm.fx, ..., cut.tip.fx.

        Of a base that moves base.x, ..., base.qw too.
        """
        t = self.times(step)
        found = {"t": t} | (base_columns(self.carrier.poses(t)) if self.carrier and self.carrier.moves else {})
        for quantity in ("q", "qd", "qdd", "qddd", "tau", "tau_dot"):
            values = getattr(self, quantity)(t)
            found |= dict(zip(self.names(quantity), values.T, strict=True))
        through = {"wrench": self.wrenches(t)} | ({"cut": self.cut_wrenches(t)} if self.robot.loops else {})
        for key, six in through.items():
            found |= dict(zip(column_names(self.robot, key), six.reshape(len(t), -1).T, strict=True))
        for name in self.contacts:
            six = self.contact_wrench(name, t)
            found |= {f"contact.{name}.{part}": x for part, x in zip(WRENCH, six.T, strict=True)}
        return found

    def curves(self) -> Any:
        t, found = self.times(), {}
        for title, quantity in (("position", "q"), ("torque", "tau")):
            names = [name.removeprefix(f"{quantity}.") for name in self.names(quantity)]
            found[title] = names, getattr(self, quantity)(t)
        return t, found

    # ---- files and pictures

    def save(self, path: str | PathLike[str], step: float | None = None) -> None:
        """Write all to an .npz file that `Plan.load` takes back, columns to a .csv or .parquet file, or a ROS message.

        A .yaml or .json file has a trajectory_msgs/JointTrajectory, for controllers.

        Args:
            path: ends in .npz, .csv, .parquet, .yaml, .yml or .json.
            step: seconds between rows of columns, such as a controller's period.
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

    def view(self, path: str | PathLike[str] | None = None, **options: Any) -> Path:
        """A page that shows the motion; see `Robot.view`."""
        from linkwise.view.page import view

        return view(self.robot, self, path, **options)

    def __repr__(self) -> str:
        return f"<Plan of {self.robot.name!r}: {self.summary}>"
