"""The structure of a model: what measured torques are a linear function of, column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.regressor import regressor
from linkwise.errors import InputError, UnknownNameError
from linkwise.kernel.base_parameters import grouped, random_positions, sum_of
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.robot.coordinates import drive_slots
from linkwise.robot.drive import Friction
from linkwise.robot.robot import Robot

FRICTION = {
    "viscous": "proportional to the speed",
    "coulomb": "constant, against the speed",
    "presliding": "Coulomb friction that comes back over a distance after a reversal, as bristles bend (Dahl)",
    "stribeck": "larger at low speeds, with a speed at which it has decayed",
    "root": "proportional to the root of the speed, for drives whose friction flattens",
    "asymmetric": "viscous friction that differs by direction (Coulomb's does with offsets)",
    "load": "Coulomb friction proportional to the torque that is carried",
    "temperature": "viscous and Coulomb friction that change with a measured temperature",
}
INERTIAL = 10  # numbers of a link
ROUNDED = 1e-12  # rad/s or m/s, by which speeds are rounded
PHASE = 0.6  # steps: standard deviation over which the doubt of a reversal is spread, so that all phases have as much


class Axis(NamedTuple):
    """A drive of one degree of freedom: a direction among velocities, and the same among torques."""

    name: str
    v: tuple[tuple[int, float], ...]
    u: tuple[tuple[int, float], ...]

    def speed(self, qd: Array) -> Array:
        """Its speed (rows,), or of whatever else is linear like it."""
        return np.asarray(sum(qd[:, k] * r for k, r in self.v))


class Extra(NamedTuple):
    """A column beside those of the regressor: `law` of the speed of an axis, pushing along it."""

    name: str
    law: str
    axis: Axis
    channel: str = ""  # of the log


@dataclass(frozen=True, eq=False)
class State:
    """What columns are functions of: rows of a smooth motion, and of further channels."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array | None = None
    others: Mapping[str, Array] = field(default_factory=dict)
    push: Mapping[str, Array] = field(default_factory=dict)  # which way friction pushes, by axis, -1 to 1
    wrenches: Mapping[str, Array] = field(default_factory=dict)  # on the robot, by frame

    def rows(self, piece: slice) -> State:
        """Some rows."""
        tau = None if self.tau is None else self.tau[piece]
        named = [{k: x[piece] for k, x in part.items()} for part in (self.others, self.push, self.wrenches)]
        return State(self.q[piece], self.qd[piece], self.qdd[piece], tau, named[0], named[1], named[2])


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

    def __post_init__(self) -> None:
        for law in self.friction:
            if law not in FRICTION:
                raise UnknownNameError("friction", law, FRICTION)
        for name in self.hold:
            if name not in self.robot.parameter_names:
                raise UnknownNameError("parameter to hold", name, self.robot.parameter_names)
        for pair in self.coupled:
            for joint in pair:
                if joint not in {a.name for a in self.axes}:
                    raise UnknownNameError("coupled joint", joint, [a.name for a in self.axes])

    # ---- names

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """Drives of one degree of freedom whose joint leads."""
        leads, found = self.robot.slots, []
        for name, slot in drive_slots(self.robot).items():
            if slot.nv == 1 and name in leads:
                found.append(Axis(name, ((leads[name].v, 1.0),), ((slot.v, 1.0),)))
        return tuple(found)

    @cached_property
    def extras(self) -> tuple[Extra, ...]:
        """Columns beside those of the regressor."""
        sums = [self._sum(*pair) for pair in self.coupled]
        found = [Extra(f"{a.name}.{law}", law, a) for a in sums for law in ("rotor", "viscous", "coulomb")]
        for axis in self.axes:
            found += [Extra(f"{axis.name}.offset", "offset", axis)] * self.offsets
            found += [Extra(f"{axis.name}.{law}", law, axis) for law in self.friction if law in LAWS and law not in OWN]
            if "temperature" in self.friction and axis.name in self.channels:
                there = self.channels[axis.name]
                found += [Extra(f"{axis.name}.{w}_by_temperature", w, axis, there) for w in ("viscous", "coulomb")]
        return tuple(found)

    def _sum(self, first: str, second: str) -> Axis:
        """The axis along which a coupled motor turns."""
        a, b = (next(x for x in self.axes if x.name == name) for name in (first, second))
        return Axis(f"{first}+{second}", a.v + b.v, a.u + b.u)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all columns."""
        return (*self.robot.parameter_names, *(e.name for e in self.extras))

    @cached_property
    def prior(self) -> Array:
        """The robot's values, and zero for extra columns."""
        return np.concatenate([self.robot.parameters(), np.zeros(len(self.extras))])

    @cached_property
    def link(self) -> str:
        """The moving link that carries the payload."""
        if self.payload is None:
            return ""
        at = self.robot.frame(self.payload).link
        while at not in self.robot.moving_links:
            at = next((j.parent for j in self.robot.joints if j.child == at), "")
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
        inertial = INERTIAL * len(self.robot.moving_links)
        found = []
        for k, name in enumerate(self.robot.parameter_names):
            if k < inertial:
                found.append(not self.payload or name.rpartition(".")[0] == self.link)
            else:
                found.append(next(on for word, on in words.items() if name.endswith(word)))
        found = [on and name not in self.hold for on, name in zip(found, self.robot.parameter_names, strict=True)]
        return np.array(found + [True] * len(self.extras))

    @cached_property
    def _grouped(self) -> tuple[Any, Array]:
        """Places of columns that lead a group, and the mapping onto the groups, from columns at random states."""
        robot, rng = self.robot, np.random.default_rng(0)
        count, inertial = len(self.names), INERTIAL * len(self.robot.moving_links)
        rows = max(8, -(-3 * count // max(1, robot.nu)))
        q = random_positions(robot, rng, rows)
        qd, qdd = rng.normal(size=(2, len(q), robot.nv)) * 3.0
        tau, others = rng.normal(size=(len(q), robot.nu)), {c: rng.normal(size=len(q)) for c in self.channels.values()}
        Y = self.columns(State(q, qd, qdd, tau, others)).reshape(-1, count)
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

    def columns(self, state: State) -> Array:
        """Y (rows, nu, columns) with tau = Y @ parameters + springs."""
        robot = self.robot
        Y = self._kernel(state.q, state.qd, state.qdd)
        for place, axis in self._coulomb:
            Y[:, axis.u[0][0], place] = self.sign(axis, state)
        extra = np.zeros((len(state.q), robot.nu, len(self.extras)))
        for k, e in enumerate(self.extras):
            column = LAWS[e.law](self, e, state)
            if e.channel:
                column = column * state.others[e.channel]
            for u, r in e.axis.u:
                extra[:, u, k] = r * column
        return np.concatenate([Y, extra], axis=2)

    def known(self, state: State) -> Array | float:
        """Torques that no parameter stands for (rows, nu): of springs, and against measured wrenches."""
        motion = (state.q, state.qd, state.qdd)
        idle, pushed = self._frictionless, tuple(state.wrenches)
        elastic = any(j.spring or j.is_elastic for j in self.robot.joints)
        if not elastic and not pushed:
            return 0.0
        free = compile(idle, inverse_dynamics)(*motion)
        found = free - compile(idle, regressor)(*motion) @ idle.parameters() if elastic else np.zeros_like(free)
        if pushed:
            six = np.stack([state.wrenches[frame] for frame in pushed], axis=1)
            found = found + compile(idle, inverse_dynamics, external=pushed)(*motion, six) - free
        return np.asarray(found)

    @cached_property
    def _kernel(self) -> Any:
        return compile(self.robot, regressor)

    @cached_property
    def _frictionless(self) -> Robot:
        """The robot without friction, but with the damping of its springs."""
        joints = []
        for j in self.robot.joints:
            drive = j.drive and replace(j.drive, friction=Friction())
            joints.append(replace(j, friction=Friction(), drive=drive))
        return self.robot.replace(*joints)

    @cached_property
    def _coulomb(self) -> list[tuple[int, Axis]]:
        """Places of Coulomb's columns, with their axis."""
        names = self.robot.parameter_names
        return [(names.index(f"{a.name}.coulomb"), a) for a in self.axes if f"{a.name}.coulomb" in names]

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
            mean = np.concatenate([_bristles(v[run], reach * rate) for run in runs])
        return mean, unsure

    def with_friction(self, state: State, runs: Sequence[slice], rate: float, step: float = 0.0) -> tuple[State, Array]:
        """A motion with which way friction pushes, and (rows, nu) by how much that is unsure, as a variance."""
        push, unsure = {}, np.zeros((len(state.q), self.robot.nu))
        for axis in self.lines:
            push[axis.name], variance = self.pushed(axis, state, runs, rate, step)
            for u, _ in axis.u if "coulomb" in self.friction else ():
                unsure[:, u] = np.maximum(unsure[:, u], variance)
        return replace(state, push=push), unsure


def _bristles(v: Array, reach: float) -> Array:
    """Friction that comes back over a distance after each reversal, from speeds; `reach` in speeds times rows."""
    way = np.sign(v)
    path = np.concatenate([[0.0], np.cumsum(np.abs(v[1:] + v[:-1]) / 2.0)]) / reach
    ends = [0, *(np.flatnonzero(np.diff(way) != 0.0) + 1), len(v)]
    found, z = np.empty(len(v)), 0.0
    for first, last in pairwise(ends):
        s = way[first]
        start = path[first - 1] if first else path[0]
        found[first:last] = s + (z - s) * np.exp(start - path[first:last])
        z = found[last - 1]
    return found


OWN = ("viscous", "coulomb")  # friction that has columns in the regressor


def _sign(s: Structure, e: Extra, x: State) -> Array:
    return s.sign(e.axis, x)


def _stribeck(s: Structure, e: Extra, x: State) -> Array:
    v = e.axis.speed(x.qd)
    return np.asarray(_sign(s, e, x) * np.exp(-((v / s.stribeck.get(e.axis.name, 0.05)) ** 2)))


def _load(s: Structure, e: Extra, x: State) -> Array:
    if x.tau is None:
        raise InputError("friction 'load': expected torques beside the motion, got none. Give a log with torques.")
    return _sign(s, e, x) * np.abs(x.tau[:, e.axis.u[0][0]])


# a column as a function of the speed of its axis
LAWS: dict[str, Callable[[Structure, Extra, State], Array]] = {
    "offset": lambda s, e, x: np.ones(len(x.q)),
    "rotor": lambda s, e, x: e.axis.speed(x.qdd),
    "viscous": lambda s, e, x: e.axis.speed(x.qd),
    "coulomb": _sign,
    "stribeck": _stribeck,
    "root": lambda s, e, x: _sign(s, e, x) * np.sqrt(np.abs(e.axis.speed(x.qd))),
    "asymmetric": lambda s, e, x: np.abs(e.axis.speed(x.qd)),
    "load": _load,
}


def laws(given: str | Iterable[str] | None) -> tuple[str, ...]:
    """Names of friction laws as a user gives them: "viscous, coulomb", or a sequence; None for none."""
    if given is None:
        return ()
    words: Sequence[str] = given.replace(",", " ").replace("+", " ").split() if isinstance(given, str) else list(given)
    return tuple(dict.fromkeys(words))
