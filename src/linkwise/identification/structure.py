"""The structure of a model: what measured torques are a linear function of, column by column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.regressor import regressor
from linkwise.errors import InputError, UnknownNameError
from linkwise.identification.drift import Drift
from linkwise.identification.laws import FRICTION, LAWS, NONE, OWN, Axis, Extra, State, bristles
from linkwise.identification.sensors import sensor_joints, with_sensors, without_sensors
from linkwise.identification.springs import spring_numbers, with_springs
from linkwise.kernel.base_parameters import grouped, random_positions, sum_of
from linkwise.kernel.compile import compile
from linkwise.motion.columns import endings
from linkwise.motion.smoothing import Smoothed
from linkwise.motion.trajectory import Array
from linkwise.robot.coordinates import drive_slots
from linkwise.robot.drive import Friction
from linkwise.robot.robot import Robot

INERTIAL = 10  # numbers of a link
ROUNDED = 1e-12  # rad/s or m/s, by which speeds are rounded
PHASE = 0.6  # steps: standard deviation over which the doubt of a reversal is spread, so that all phases have as much
BLOCK = 4096  # rows whose columns are held at once
NOT_NEGATIVE = ("m", "rotor", "viscous", "coulomb", "motor_viscous", "motor_coulomb")


@dataclass(frozen=True, eq=False)
class Structure:
    """Torques as a linear function: tau = columns @ parameters + what is known.

    Columns are those of `robot.parameters()`, then the extra ones.

    Args:
        robot: its values are the prior, and stay where a parameter is not free.
        friction: some of FRICTION.
        rotors: whether rotor inertias are unknown.
        offsets: whether each drive has a constant torque too, as sensors and springs leave.
        payload: a frame or link that carries an unknown load; then only the load, friction and offsets are unknown.
        coupled: pairs of joints whose motors are coupled: the motor of the second one turns with both, and its friction
            and rotor act on the sum of their speeds.
        hold: names of parameters that keep the robot's values.
        spread: (nv,) standard deviations of velocities: where the sign of one is not sure, Coulomb friction is taken
            at its mean.
        stribeck: by axis the speed at which Stribeck's friction has decayed.
        presliding: by axis the distance over which Coulomb friction comes back after a reversal.
        channels: names of temperatures in the log, by axis.
        sensors: links behind fixed joints, or these joints, through which the log has wrenches: six rows of each.
        springs: whether stiffness and damping of elastic drives, and stiffness of springs along joints, are unknown.
        drift: offsets that change with time.
        seen: (outputs,) the rows that were measured, which alone tell parameters apart; all by default.
    """

    robot: Robot
    friction: tuple[str, ...] = ("viscous", "coulomb")
    rotors: bool = True
    offsets: bool = True
    payload: str | None = None
    coupled: tuple[tuple[str, str], ...] = ()
    hold: tuple[str, ...] = ()
    spread: Array | None = None
    stribeck: Mapping[str, float] = field(default_factory=dict)
    presliding: Mapping[str, float] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)
    sensors: tuple[str, ...] = ()
    springs: bool = True
    drift: Drift = Drift()
    seen: Any = True

    def __post_init__(self) -> None:
        for law in self.friction:
            if law not in FRICTION:
                raise UnknownNameError("friction", law, FRICTION)
        for name in self.hold:
            if name not in self.names:
                raise UnknownNameError("parameter to hold", name, self.names)
        for pair in self.coupled:
            for joint in pair:
                if joint not in {a.name for a in self.axes}:
                    raise UnknownNameError("coupled joint", joint, [a.name for a in self.axes])

    # ---- names

    @cached_property
    def machine(self) -> Robot:
        """The robot, in which joints with sensors count as ones that could move."""
        return with_sensors(self.robot, self.sensors)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Names of the rows: of drives, "elbow", and of wrenches through sensors, "wrist.fx"."""
        labels = {j.name: name for name, j in sensor_joints(self.robot, self.sensors).items()}
        slots = drive_slots(self.machine).items()
        return tuple(f"{labels.get(n, n)}{end}" for n, slot in slots for end in endings(slot.kind, "tau"))

    @cached_property
    def driven(self) -> Any:
        """(nu,) the rows of the robot's drives."""
        slots = drive_slots(self.machine)
        return np.concatenate([np.arange(slots[n].v, slots[n].v + slots[n].nv) for n in self.robot.drives])

    @cached_property
    def sensed(self) -> dict[str, slice]:
        """By sensor its six rows."""
        slots = drive_slots(self.machine)
        joints = sensor_joints(self.robot, self.sensors).items()
        return {name: slice(slots[j.name].v, slots[j.name].v + slots[j.name].nv) for name, j in joints}

    @cached_property
    def sprung(self) -> tuple[tuple[int, int], ...]:
        """Rows of joints behind springs, each with its motor's.

        Nothing else acts on such a joint. An equation whose sum is zero would fit best with parameters that are too
        small; so its motor's is added, and the row is the motor's torque by all that moves.
        """
        slots = drive_slots(self.machine)
        soft = [j for j in self.robot.joints if j.is_elastic and j.name in slots and j.motor_name in slots]
        return tuple((slots[j.name].v, slots[j.motor_name].v) for j in soft)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """Drives of one degree of freedom whose joint leads."""
        leads, found = self.robot.slots, []
        motors = {j.motor_name for j in self.robot.joints if j.is_elastic}
        for name, slot in drive_slots(self.machine).items():
            if slot.nv == 1 and name in leads:
                mark = "_" if name in motors else "."
                found.append(Axis(name, ((leads[name].v, 1.0),), ((slot.v, 1.0),), mark))
        return tuple(found)

    @cached_property
    def extras(self) -> tuple[Extra, ...]:
        """Columns beside those of the regressor."""
        sums = [self._sum(*pair) for pair in self.coupled]
        found = [Extra(f"{a.name}.{law}", law, a) for a in sums for law in ("rotor", "viscous", "coulomb")]
        known = {j.name: j.friction.offset for j in self.robot.joints}
        for axis in (*self.axes, *self._other_axes):
            own = Extra(axis.number("offset"), "offset", axis, "", known.get(axis.name, 0.0), self.offsets)
            found += [own] if own.free or own.prior else []
            found += [Extra(axis.number(f"drift{label}"), "offset", axis, c) for c, label in self.drift.labels.items()]
        for axis in self.axes:
            found += [Extra(axis.number(law), law, axis) for law in self.friction if law in LAWS and law not in OWN]
            if "temperature" in self.friction and axis.name in self.channels:
                there = self.channels[axis.name]
                found += [Extra(axis.number(f"{w}_by_temperature"), w, axis, there) for w in ("viscous", "coulomb")]
        free = self.springs and not self.payload
        return (*found, *(Extra(name, "spring", NONE, "", x, free) for name, x in self.springs_by_path.items()))

    @cached_property
    def _other_axes(self) -> list[Axis]:
        """Rows that may have an offset and no speed of their own: of drives that follow, and of sensors."""
        leads, slots = self.robot.slots, drive_slots(self.machine)
        rows = [slot.v for name, slot in slots.items() if slot.nv == 1 and name not in leads]
        rows += [k for own in self.sensed.values() for k in range(own.start, own.stop)]
        return [Axis(self.outputs[k], (), ((k, 1.0),)) for k in rows]

    def _sum(self, first: str, second: str) -> Axis:
        """The axis along which a coupled motor turns."""
        a, b = (next(x for x in self.axes if x.name == name) for name in (first, second))
        return Axis(f"{first}+{second}", a.v + b.v, a.u + b.u)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all columns."""
        return (*self.machine.parameter_names, *(e.name for e in self.extras))

    @cached_property
    def prior(self) -> Array:
        """The robot's values; of most extra columns zero."""
        return np.concatenate([self.machine.parameters(), [e.prior for e in self.extras]])

    @cached_property
    def held(self) -> Array:
        """The prior of what keeps it, and zero for what is free."""
        return np.where(self.free, 0.0, self.prior)

    @cached_property
    def link(self) -> str:
        """The moving link that carries the payload."""
        if self.payload is None:
            return ""
        at = self.machine.frame(self.payload).link
        while at not in self.machine.moving_links:
            at = next((j.parent for j in self.machine.joints if j.child == at), "")
            if not at:
                raise InputError(
                    f"payload {self.payload!r}: expected a frame or link that moves, got one that does not."
                )
        return at

    @cached_property
    def free(self) -> Any:
        """(columns,) which parameters are unknown."""
        words = {f".{w}": w in self.friction for w in OWN}
        words |= {f".motor_{w}": w in self.friction for w in OWN} | {".rotor": self.rotors and not self.payload}
        inertial = INERTIAL * len(self.machine.moving_links)
        found = []
        for k, name in enumerate(self.machine.parameter_names):
            if k < inertial:
                found.append(not self.payload or name.rpartition(".")[0] == self.link)
            else:
                found.append(next(on for word, on in words.items() if name.endswith(word)))
        found += [e.free for e in self.extras]
        return np.array([on and name not in self.hold for on, name in zip(found, self.names, strict=True)])

    @cached_property
    def _grouped(self) -> tuple[Any, Array]:
        """Places of columns that lead a group, and the mapping onto the groups, from columns at random states."""
        robot, rng = self.robot, np.random.default_rng(0)
        count, inertial = len(self.names), INERTIAL * len(self.machine.moving_links)
        rows = max(8, -(-3 * count // max(1, int(np.broadcast_to(self.seen, len(self.outputs)).sum()))))
        q = random_positions(robot, rng, rows)
        qd, qdd = rng.normal(size=(2, len(q), robot.nv)) * 3.0
        tau = rng.normal(size=(len(q), len(self.outputs)))
        others = {c: rng.normal(size=len(q)) for c in (*self.channels.values(), *self.drift.labels)}
        wide = replace(self, stribeck={a.name: 1.0 for a in self.axes})  # groups do not depend on that speed
        seen = np.broadcast_to(self.seen, len(self.outputs))
        Y = wide.columns(State(q, qd, qdd, tau, others))[:, seen].reshape(-1, count)
        links = [range(k, k + INERTIAL) for k in range(0, inertial, INERTIAL)]
        kept, mapping, _ = grouped(Y, [*links, *([k] for k in range(inertial, count))], self.free)
        return kept, mapping

    @cached_property
    def kept(self) -> Any:
        """Places of columns that lead a group."""
        return self._grouped[0]

    @cached_property
    def mapping(self) -> Array:
        """(groups, columns) with base = mapping @ parameters; columns that are not free do not count."""
        return self._grouped[1]

    @cached_property
    def base_names(self) -> tuple[str, ...]:
        """Each group as a sum of parameters."""
        return tuple(sum_of(row, int(k), self.names) for row, k in zip(self.mapping, self.kept, strict=True))

    # ---- numbers

    def state(self, smoothed: Smoothed, values: Array | None = None) -> State:
        """A smooth log, with the torques that its links take by some values of the parameters."""
        log = smoothed.log
        others = {**log.others, **self.drift.channels(log)}
        state = State(smoothed.q, smoothed.qd, smoothed.qdd, None, others, wrenches=log.wrenches)
        if values is None or "load" not in self.friction:
            return state
        inertial = INERTIAL * len(self.machine.moving_links)
        parts = []
        for k in range(0, len(state.q), BLOCK):
            some = state.rows(slice(k, k + BLOCK))
            Y = self._summed(np.array(self._kernel(*self._motion(some))[:, :, :inertial]))
            parts.append(Y @ values[:inertial] + self.known(some))
        return replace(state, carried=np.concatenate(parts))

    def columns(self, state: State) -> Array:
        """Y (rows, outputs, columns) with torques and sensors' wrenches = Y @ parameters + what is known."""
        motion = self._motion(state)
        Y = self._kernel(*motion)
        for place, axis in self._coulomb:
            Y[:, axis.u[0][0], place] = self.sign(axis, state)
        extra = np.zeros((*Y.shape[:2], len(self.extras)))
        for k, e in enumerate(self.extras):
            if e.law in LAWS:
                column = LAWS[e.law](self, e, state)
                if e.channel:
                    column = column * state.others[e.channel]
                for u, r in e.axis.u:
                    extra[:, u, k] = r * column
        for k, unit in enumerate(np.eye(len(self.springs_by_path))):
            extra[:, :, k - len(unit)] = self._spring_kernel(*motion, unit) - self._spring_kernel(*motion, 0.0 * unit)
        return self._summed(np.concatenate([Y, extra], axis=2))

    def _summed(self, rows: Array) -> Array:
        """Rows (rows, outputs, ...) of joints behind springs with those of their motors, in place."""
        for joint, motor in self.sprung:
            rows[:, joint] += rows[:, motor]
        return rows

    def known(self, state: State) -> Array | float:
        """Torques that no parameter stands for (rows, outputs): of dampers along joints, and against wrenches."""
        motion, pushed = self._motion(state), self.pushes(state.wrenches)
        found: Array | float = (
            self._spring_kernel(*motion, np.zeros(len(self.springs_by_path))) if self.springs_by_path else 0.0
        )
        if pushed:
            six = np.stack([state.wrenches[frame] for frame in pushed], axis=1)
            loaded, bare = (compile(self._bare, inverse_dynamics, external=x) for x in (pushed, ()))
            found = found + loaded(*motion, six) - bare(*motion)
        return self._summed(found) if isinstance(found, np.ndarray) else found

    def pushes(self, wrenches: Iterable[str]) -> tuple[str, ...]:
        """Those of some frames at which a measured wrench pushes the robot: all but those of its sensors."""
        return tuple(frame for frame in wrenches if frame not in self.sensors)

    def _motion(self, state: State) -> tuple[Array, Array, Array]:
        """The motion of `machine`, in which joints with sensors stand still."""
        if not self.sensors:
            return state.q, state.qd, state.qdd
        old, new, rows = self.robot.slots, self.machine.slots, len(state.q)
        q = np.tile(self.machine.q(), (rows, 1))
        qd, qdd = np.zeros((2, rows, self.machine.nv))
        for name, a in old.items():
            b = new[name]
            q[:, b.q : b.q + b.nq] = state.q[:, a.q : a.q + a.nq]
            for into, rates in ((qd, state.qd), (qdd, state.qdd)):
                into[:, b.v : b.v + b.nv] = rates[:, a.v : a.v + a.nv]
        return q, qd, qdd

    @cached_property
    def _kernel(self) -> Any:
        return compile(self.machine, regressor)

    @cached_property
    def springs_by_path(self) -> dict[str, float]:
        """Numbers of springs that have columns, in their order."""
        return spring_numbers(self.machine)

    @cached_property
    def _spring_kernel(self) -> Any:
        """Torques of springs and dampers alone, with the numbers of `springs_by_path` as an input."""
        return compile(self._bare, inverse_dynamics, parameters=tuple(self.springs_by_path))

    @cached_property
    def _bare(self) -> Robot:
        """The machine without masses, rotors and friction, but with its springs and their dampers."""
        joints = []
        for j in self.machine.joints:
            drive = j.drive and replace(j.drive, friction=Friction())
            joints.append(replace(j, friction=Friction(), drive=drive))
        idle = self.machine.replace(*joints)
        return idle.with_parameters(np.zeros(len(idle.parameter_names)))

    @cached_property
    def not_in_robots(self) -> tuple[str, ...]:
        """Kinds of columns that `with_values` leaves out."""
        laws = [law for law in self.friction if law not in (*OWN, "presliding")]
        return (*laws, *["drift"] * bool(self.drift.knots), *["coupled motors"] * bool(self.coupled))

    def with_values(self, values: Array) -> Robot:
        """The robot with values of all columns, as far as a robot can have them."""
        count = len(self.machine.parameter_names)
        named = dict(zip(self.names[:count], np.asarray(values[:count]).tolist(), strict=True))
        named |= {name: 0.0 for name, x in named.items() if name.rpartition(".")[2] in NOT_NEGATIVE and x < 0.0}
        extra = dict(zip(self.names[count:], np.asarray(values[count:]).tolist(), strict=True))
        offsets = [a.number("offset") for a in (*self.axes, *self._other_axes) if a.name in self.robot.drives]
        named |= {name: extra[name] for name in offsets if name in extra}
        found = with_springs(self.machine.with_parameters(named), {name: extra[name] for name in self.springs_by_path})
        return without_sensors(found, self.robot, self.sensors)

    @cached_property
    def _coulomb(self) -> list[tuple[int, Axis]]:
        """Places of Coulomb's columns, with their axis."""
        names = self.machine.parameter_names
        return [(names.index(a.number("coulomb")), a) for a in self.axes if a.number("coulomb") in names]

    def sign(self, axis: Axis, state: State) -> Array:
        """(rows,) which way Coulomb friction pushes."""
        return state.push[axis.name] if axis.name in state.push else np.sign(axis.speed(state.qd))

    @cached_property
    def lines(self) -> tuple[Axis, ...]:
        """Axes with friction: of the drives, and of coupled motors."""
        return (*self.axes, *(self._sum(*pair) for pair in self.coupled))

    def pushed(self, axis: Axis, state: State, runs: Sequence[slice], rate: float, step: float) -> tuple[Array, Array]:
        """(rows,) which way Coulomb friction pushes, in the mean, and by how much that is unsure.

        Where the sign of a speed is not sure the mean of the sign counts, given the noise of velocities and the time
        between instants of positions and torques. How unsure a reversal is must not depend on where between two
        instants it is: reversals near the middle move sampled torques towards whole steps of delay. So doubt is
        spread over neighbours, the same in all. After a reversal bristles bend over a distance.
        """
        from scipy.special import erf

        v = axis.speed(state.qd)
        change = (step * axis.speed(state.qdd)) ** 2  # of the speed from one instant to the next, squared
        noise = ROUNDED**2 + sum(self.spread[k] ** 2 * r**2 for k, r in axis.v if self.spread is not None)
        variance, wide = noise + change / 12.0, noise + PHASE**2 * change
        mean = np.asarray(erf(v / np.sqrt(2.0 * variance)))
        unsure = np.sqrt(variance / wide) * (1.0 - np.asarray(erf(v / np.sqrt(2.0 * wide))) ** 2)
        reach = self.presliding.get(axis.name, 0.0)
        if reach > 0.0:
            mean = np.concatenate([bristles(v[run], reach * rate) for run in runs])
        return mean, unsure

    def with_friction(self, state: State, runs: Sequence[slice], rate: float, step: float = 0.0) -> tuple[State, Array]:
        """A motion with which way friction pushes, and (rows, nu) by how much that is unsure, as a variance."""
        push, unsure = {}, np.zeros((len(state.q), len(self.outputs)))
        for axis in self.lines:
            push[axis.name], variance = self.pushed(axis, state, runs, rate, step)
            for u, _ in axis.u if "coulomb" in self.friction else ():
                unsure[:, u] = np.maximum(unsure[:, u], variance)
        for joint, motor in self.sprung:
            unsure[:, joint] = np.maximum(unsure[:, joint], unsure[:, motor])
        return replace(state, push=push), unsure
