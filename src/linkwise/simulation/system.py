"""A robot as a first-order system: the free coordinates, their velocities, and the work done on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from linkwise.control.sampled import Commands, Hold, SampledControl
from linkwise.errors import InputError, SimulationError
from linkwise.motion.base_motion import BaseMotion
from linkwise.motion.columns import column_names
from linkwise.robot.robot import Robot
from linkwise.simulation.kernels import Kernels
from linkwise.simulation.leading_view import View
from linkwise.simulation.limits import Moment
from linkwise.simulation.motions import Array, Prescribed, together
from linkwise.simulation.rates import POWERS
from linkwise.simulation.stiffness import joint_laws

Control = Callable[[float, Array, Array], Any]
CLOSINGS = 2  # times that a state is closed before it is handed out: interpolants are further off than steps


class System:
    """The right-hand side of the equations of motion.

    The state is y = [q of free joints; qd of free joints; the integrals of `POWERS`]. A quaternion is integrated as
    four numbers whose length does not matter; what is handed out has length one, and closed loops.

    Args:
        robot: a tree, or a machine with loops; all joints of its tree are integrated or driven.
        kernels: the rates of the tree, and how its loops close.
        control: forces of the drives.
        motions: of driven joints.
        loads: wrenches of the environment.
        base: how the base moves, or None where it stands.
        clipped: what drives make of forces of the tree that are asked for at velocities; None where they can do all.
    """

    def __init__(
        self,
        robot: Robot,
        kernels: Kernels,
        control: Control | None,
        motions: Sequence[Prescribed],
        loads: Sequence[Control],
        base: BaseMotion | None = None,
        clipped: Callable[[Array, Array], Array] | None = None,
    ) -> None:
        robot, self.view = robot.opened(), View.of(robot)
        self.robot = robot
        self._kernels, self._control, self._motions, self._loads = kernels, control, motions, loads
        self._base, self._clipped = base, clipped
        self._hold: Hold | None = None
        self._asked = np.zeros(robot.nv)  # of the drives, before it is clipped
        self._splines, self._separate = together(motions)
        held = {m.joint for m in motions}
        free = [s for n, s in robot.slots.items() if n not in held]
        self.free_q = np.array([s.q + k for s in free for k in range(s.nq)], dtype=int)
        self.free_v = np.array([s.v + k for s in free for k in range(s.nv)], dtype=int)
        self._turning = [at for s in robot.slots.values() if (at := s.quaternion) is not None]
        positions, speeds = (column_names(robot, x) for x in ("q", "qd"))
        self.labels = [positions[k] for k in self.free_q] + [speeds[k] for k in self.free_v]
        self.first_speed = len(self.free_q)
        options = kernels.rates.options
        laws = [name for name, _ in (*options.forces, *options.joint_forces)]
        self.environment = f"the laws of forces or joint_forces on {', '.join(map(repr, laws))}" if laws else ""
        self.evaluations = 0
        self.asking = False  # whether one of the caller's functions is at work
        self._warnings: Any = np.geterr()  # of the caller's functions, whatever a solver does with those of its own

    def start(self, q: Array, qd: Array) -> Array:
        """The state of a robot at the beginning."""
        return np.concatenate([q[self.free_q], qd[self.free_v], np.zeros(len(POWERS))])

    def __call__(self, t: float, y: Array) -> Array:
        """The rate of the state; what is not finite is answered by an error, because solvers hang on it."""
        self.evaluations += 1
        return self._rate(t, *self.arguments(t, y))

    def held(self, t: float, y: Array) -> Callable[[float, Array], Array]:
        """The same with control and wrenches held at what they are at a time and state."""
        inputs = self.arguments(t, y)[2:]
        return lambda at, x: self._rate(at, *self._expanded(at, x)[:2], *inputs)

    def laws(self, y: Array, label: str) -> list[tuple[float, str]]:
        """What the robot has that acts on the coordinate of a velocity, each with the rate that it makes, 1/s."""
        q = self._expanded(0.0, y)[0] if not self._motions else np.zeros(self.robot.nq)
        return joint_laws(self.robot, self._unit(q), label.partition(".")[2])

    def _rate(self, t: float, q: Array, qd: Array, *inputs: Array) -> Array:
        rates = self._kernels.rates(q, qd, *inputs)
        rate = np.concatenate([rates.q_dot[self.free_q], rates.qdd[self.free_v], rates.power])
        if not np.isfinite(rate).all():
            raise self._lost(t, q, qd, rates)
        return rate

    def arguments(self, t: float, y: Array) -> tuple[Array, ...]:
        """What the kernel is called with: all positions and velocities, forces, and wrenches."""
        q, qd, given = self._expanded(t, y)
        return q, qd, *self._inputs(t, q, qd, given)

    @property
    def has_slopes(self) -> bool:
        """Whether the Jacobian of the rates can be compiled: nothing closes, and no function of a user's takes part."""
        return not (self._kernels.closed or self._control or self._loads or self._clipped)

    def state(self, t: float, y: Array) -> tuple[Array, Array]:
        """Positions and velocities of what leads."""
        return self.view.state(*self.whole(t, y))

    def whole(self, t: float, y: Array) -> tuple[Array, Array]:
        """All positions and velocities of the tree, closed."""
        q, qd, _ = self._expanded(t, y)
        return self._closed(self._unit(q), qd)

    def without_inputs(self) -> Self:
        """The same for states alone, which need nothing that may not be picklable but motions of driven joints."""
        bare = copy(self)
        bare._kernels = bare._kernels._replace(rates=None, kinetic=None, potential=None)  # type: ignore[arg-type]
        bare._control = bare._base = bare._hold = bare._clipped = None
        bare._loads = ()
        return bare

    def moment(self, t: float, y: Array) -> Moment:
        """What the robot does at a time, with the forces that were asked of free joints."""
        q, qd, *inputs = self.arguments(t, y)
        rates = self._kernels.rates(q, qd, *inputs)
        tau = rates.tau
        if self._clipped is not None:
            tau = tau.copy()
            tau[self.free_v] = self._asked[self.free_v]
        return Moment(q, qd, rates.qdd, tau)

    def sample_by(self, control: SampledControl, times: Array) -> None:
        """Take the forces of a sampled control, of which `tick` tells when the time has come."""

        def fitted(returned: Any, t: float) -> Array:
            what = "sampled control"
            return self._fitted(returned, what, t, self.view.applied, self.view.wanted())

        self._hold = Hold(control, times, fitted)

    @property
    def next_tick(self) -> float:
        """When the inputs jump next, s."""
        return self._hold.next if self._hold else np.inf

    def tick(self, t: float, y: Array) -> None:
        """Let a sampled control do what is due."""
        if self._hold:
            self._hold.tick(t, self.state(t, y), self._ask)

    @property
    def commands(self) -> Commands | None:
        """What a sampled control asked for."""
        return self._hold.commands(self.view.tau) if self._hold else None

    def row(self, t: float, y: Array) -> tuple[Any, ...]:
        """What is kept of a moment: t, q, qd, the work done, and the inputs of the robot."""
        q, qd, given = self._expanded(t, y)
        inputs = self._inputs(t, self._unit(q), qd, given)
        return t, *self._closed(q, qd), y[-len(POWERS) :].copy(), *inputs

    def _expanded(self, t: float, y: Array) -> tuple[Array, Array, Array]:
        """All positions and velocities, and the accelerations of driven coordinates among zeros."""
        robot, n = self.robot, len(self.free_q)
        q, qd, qdd = np.empty(robot.nq), np.empty(robot.nv), np.zeros(robot.nv)
        q[self.free_q], qd[self.free_v] = y[:n], y[n : n + len(self.free_v)]
        for group in self._splines:
            q[group.q], qd[group.v], qdd[group.v] = group.at(t)
        for m in self._separate:
            s = m.slot
            to = slice(s.v, s.v + s.nv)
            q[s.q : s.q + s.nq], qd[to], qdd[to] = m.at(t)
        return q, qd, qdd

    def _unit(self, q: Array) -> Array:
        """Positions with quaternions of length one, changed in place."""
        for at in self._turning:
            q[at] /= np.sqrt(q[at] @ q[at])
        return q

    def _closed(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """The nearest closed state."""
        if self._kernels.closed is not None:
            for _ in range(CLOSINGS):
                q, qd = self._kernels.closed(q, qd)
        return q, qd

    def _inputs(self, t: float, q: Array, qd: Array, given: Array) -> tuple[Array, ...]:
        """Forces of free coordinates beside accelerations of driven ones, wrenches of `external`, the base's motion."""
        tau = self._hold.forces if self._hold else None
        if self._control is not None:
            tau = self._user_value(self._control, "control", t, q, qd, self.view.applied, self.view.wanted())
        if tau is not None:
            self._asked = tau
            given[self.free_v] = (self._clipped(tau, qd) if self._clipped else tau)[self.free_v]
        loads = [self._user_value(f, "external", t, q, qd, _wrench, "6 numbers") for f in self._loads]
        return given, *([np.stack(loads)] if loads else []), *self._moving(t)

    def _moving(self, t: float) -> list[Array]:
        """The base's velocity and acceleration, its pose where laws of `forces` see it, and gravity in its axes."""
        if self._base is None:
            return []
        v, a, gravity = self._base.inputs(t, self.robot.gravity)
        return [v, a, *([self._base.poses(t)] if self._kernels.rates.options.base_pose else []), gravity]

    def _user_value(
        self,
        function: Control,
        what: str,
        t: float,
        q: Array,
        qd: Array,
        fitted: Callable[[Any], Array | None],
        wanted: str,
    ) -> Array:
        """What a user's function returns, checked and made fit; `wanted` says what is expected of it."""
        returned = self._ask(function, t, *self.view.state(self._unit(q.copy()), qd))
        return self._fitted(returned, what, t, fitted, wanted, q, qd)

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a user's function, with the warnings that the user has set."""
        self.asking = True
        with np.errstate(**self._warnings):
            returned = function(*arguments)
        self.asking = False
        return returned

    @staticmethod
    def _fitted(
        returned: Any, what: str, t: float, fitted: Callable[[Any], Array | None], wanted: str, *state: Array
    ) -> Array:
        """What was returned as an array of finite numbers, or an error."""
        try:
            array = fitted(returned)
        except (TypeError, ValueError):
            array = None
        if array is None:
            raise InputError(f"{what} at t = {t:g} s: expected {wanted}, got {returned!r}.")
        if not np.isfinite(array).all():
            got = _text(np.asarray(returned, dtype=float))
            where = f" at q = {_text(state[0])}, qd = {_text(state[1])}" if state else ""
            raise SimulationError(f"{what} at t = {t:g} s: expected finite numbers, got {got}{where}.")
        return array

    def _lost(self, t: float, q: Array, qd: Array, rates: Any) -> SimulationError:
        """What to say of a rate that is not finite."""
        where = f"at t = {t:.9g} s, q = {_text(q)}, qd = {_text(qd)}"
        if not (np.isfinite(q).all() and np.isfinite(qd).all()):
            return SimulationError(f"simulate: expected a finite state, got one that is not {where}.")
        names = [n for n, s in self.robot.slots.items() if not np.isfinite(rates.qdd[s.v : s.v + s.nv]).all()]
        of = f"accelerations of {', '.join(map(repr, names))}" if names else "rates"
        return SimulationError(
            f"simulate: expected finite accelerations, got {of} that are not, {where}."
            " Has the motion run away, or has a link that moves no inertia here?"
        )


def constant(value: Array) -> Control:
    """A control that does not change."""
    return lambda t, q, qd: value


def loads_of(external: Any, robot: Robot) -> dict[str, Control]:
    """Wrenches on frames as functions of t, q and qd."""
    if external is None:
        return {}
    if not isinstance(external, Mapping):
        raise InputError(f"external: expected wrenches by frame, such as {{'tool': wrench}}, got {external!r}.")
    loads: dict[str, Control] = {}
    for name, load in external.items():
        robot.frame(name)
        loads[name] = load if callable(load) else constant(load)
    return loads


def _wrench(value: Any) -> Array | None:
    array = np.asarray(list(value), dtype=float)
    return array if array.shape == (6,) else None


def _text(x: Array) -> str:
    return np.array2string(x, precision=6, threshold=40, max_line_width=10**6)
