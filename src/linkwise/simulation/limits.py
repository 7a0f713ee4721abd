"""Limits of joints and drives in a simulation: which are met, when first, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf, isfinite, nan
from typing import NamedTuple

import numpy as np

from linkwise.motion.limits import ROUNDING, TOLERANCE
from linkwise.robot.robot import Robot
from linkwise.simulation.leading_view import View
from linkwise.simulation.motions import Array
from linkwise.simulation.torque_limits import TorqueLimit, own_limits

MODES = ("note", "saturate", "stop")
UNITS = {
    "position": ("rad", "m"),
    "velocity": ("rad/s", "m/s"),
    "acceleration": ("rad/s^2", "m/s^2"),
    "effort": ("N m", "N"),
    "torque_speed": ("N m", "N"),
    "power": ("W", "W"),
}
WORDS = {"torque_speed": "torque-speed curve"}


class LimitMet(NamedTuple):
    """A limit that a motion meets; `str()` of it is a sentence.

    Args:
        joint: its name; that of a motor behind a spring where its speed is meant.
        kind: "position", "velocity", "acceleration", "effort", "torque_speed" or "power".
        limit: its value; of a torque-speed curve, at the speed of the worst moment.
        t: when it was first met, s.
        worst: the value furthest beyond; of a torque that was clipped, the one that was asked for.
        worst_t: when that was, s.
        held: whether the limit acted: a drive that gave no more, a stop that held the joint.
    """

    joint: str
    kind: str
    limit: float
    t: float
    worst: float
    worst_t: float
    held: bool = False
    slides: bool = False

    def __str__(self) -> str:
        unit = UNITS[self.kind][self.slides]
        what = f"the {WORDS.get(self.kind, self.kind)} limit {self.limit:.6g} {unit} of {self.joint!r}"
        worst = f"at worst {self.worst:.6g} {unit} at t = {self.worst_t:.6g} s"
        if not self.held:
            return f"{what} is exceeded from t = {self.t:.6g} s on, {worst}"
        how = (
            f"a stop holds the joint, {worst}" if self.kind == "position" else f"the drive gives no more, asked {worst}"
        )
        return f"{what} is met at t = {self.t:.6g} s: {how}"


class Moment(NamedTuple):
    """The motion of all joints of a tree at one time, and the forces that were asked for."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array


class Limit(NamedTuple):
    """One limit: of `ratio` times a number of a `Moment`, plus `offset`; above, below, or on both sides (side 0)."""

    joint: str
    kind: str
    field: int  # of a moment
    place: int
    value: float
    side: float = 0.0
    ratio: float = 1.0
    offset: float = 0.0
    slides: bool = False


class RobotLimits:
    """All limits of a robot, as one vector of what is beyond them.

    Args:
        robot: a tree or a machine with loops; joints that follow or mimic others have their limits too.
    """

    def __init__(self, robot: Robot) -> None:
        tree, view, joints = robot.opened(), View.of(robot), {j.name: j for j in robot.joints}
        starts = np.cumsum([0, tree.nq, tree.nv, tree.nv])
        own = {name: (int(view.tau[x.place]), x) for name, x in own_limits(robot).items()}
        every = list(motion_limits(robot))
        for name, (at, x) in own.items():
            if isfinite(x.effort) and not x.curve:
                every.append(Limit(name, "effort", 3, at, x.effort, slides=joints[name].freedom.slides))
        self.drives = tuple(own.values())
        self._curves = [(name, at, replace(x, power=inf)) for name, (at, x) in own.items() if x.curve]
        self._powers = [(name, at, x.power) for name, (at, x) in own.items() if isfinite(x.power)]
        self._places = np.array([starts[x.field] + x.place for x in every], dtype=int)
        self._ratio, self._offset, self._side = (
            np.array([getattr(x, key) for x in every]) for key in ("ratio", "offset", "side")
        )
        self._bound = np.array([x.value for x in every])
        slack = np.where(self._side == 0.0, TOLERANCE * np.abs(self._bound), 0.0)
        self._allowed = np.where(self._side < 0.0, -self._bound, self._bound) + np.maximum(slack, ROUNDING)
        every += [
            Limit(n, kind, 3, at, nan, slides=joints[n].freedom.slides)
            for kind, group in (("torque_speed", self._curves), ("power", self._powers))
            for n, at, _ in group
        ]
        self.every = every

    def __bool__(self) -> bool:
        return bool(self.every)

    def beyond(self, at: Moment) -> tuple[Array, Array, Array]:
        """What is beyond each limit, more than 0 where it is met; the values; and the limits as they are then."""
        values = np.concatenate(at)[self._places] * self._ratio + self._offset
        over = np.where(self._side == 0.0, np.abs(values), values * self._side) - self._allowed
        if not (self._curves or self._powers):
            return over, values, self._bound
        more = [self._at_speed(at.tau[k], at.qd[k], x) for _, k, x in self._curves]
        for _, k, power in self._powers:
            given = float(at.tau[k] * at.qd[k])
            more.append((given - power * (1.0 + TOLERANCE), given, power))
        return tuple(np.append(a, b) for a, b in zip((over, values, self._bound), zip(*more, strict=True), strict=True))  # type: ignore[return-value]

    @staticmethod
    def _at_speed(tau: float, speed: float, limit: TorqueLimit) -> tuple[float, float, float]:
        most = float(limit.most(float(speed if tau > 0.0 else -speed)))
        return abs(tau) - most - max(TOLERANCE * most, ROUNDING), float(tau), most

    def clipped(self, tau: Array, qd: Array) -> Array:
        """Forces of the tree that come of those asked for."""
        found = tau.copy()
        for at, limit in self.drives:
            found[at] = limit.applied(float(tau[at]), float(qd[at]))
        return found


def motion_limits(robot: Robot) -> Iterator[Limit]:
    """Limits of positions, velocities and accelerations of all joints; of motors behind springs their speeds."""
    slots = robot.opened().slots
    for joint in robot.joints:
        mimics = joint.mimic if joint.name not in slots else None
        slot = slots.get(mimics.joint if mimics else joint.name)
        if slot is None or slot.nv != 1 or not joint.freedom.is_single:
            continue
        limits, slides = joint.limits, joint.freedom.slides
        ratio, offset = (mimics.ratio, mimics.offset) if mimics else (1.0, 0.0)
        for value, side in ((limits.upper, 1.0), (limits.lower, -1.0)):
            if isfinite(value) and not joint.freedom.endless:
                yield Limit(joint.name, "position", 0, slot.q, value, side, ratio, offset, slides)
        moving = [("velocity", 1, joint.name, slot.v, ratio), ("acceleration", 2, joint.name, slot.v, ratio)]
        if joint.is_elastic:
            moving.append(("velocity", 1, joint.motor_name, slots[joint.motor_name].v, 1.0))
        for kind, field, name, place, factor in moving:
            if isfinite(bound := getattr(limits, kind)):
                yield Limit(name, kind, field, place, bound, 0.0, factor, 0.0, slides)


class LimitWatch:
    """Looks at limits at the rows of a run and at the ends of its steps, and finds the moment each is first met.

    Args:
        limits: of the robot.
        moment: what the robot does in a state y at a time t.
        stop: whether the first limit ends the simulation.
        held: whether a limit acts.
    """

    def __init__(
        self,
        limits: RobotLimits,
        moment: Callable[[float, Array], Moment],
        stop: bool,
        held: Callable[[Limit], bool] = lambda limit: False,
    ) -> None:
        self._limits, self._moment, self._stop, self._held = limits, moment, stop, held
        n = len(limits.every)
        self._first, self._worst = np.full(n, np.nan), np.zeros(n)
        self._figures = np.zeros((n, 3))  # of the worst moment: value, limit, time
        self._last = np.full(n, -inf)

    def begin(self, t: float, y: Array) -> str:
        """Look at a moment where something jumps, such as the start; why the simulation ends there, or nothing."""
        self._last = self._look(t, y)
        new = (self._last > 0.0) & np.isnan(self._first)
        self._first[new] = t
        return self._why(int(np.flatnonzero(new)[0])) if self._stop and new.any() else ""

    def step(self, state: Callable[[float], Array], begin: float, times: Sequence[float]) -> tuple[float, str] | None:
        """Look at times within a step, in order; when and why the simulation ends there, if it does."""
        for t in times:
            over, before = self._look(t, state(t)), self._last
            crossed = np.flatnonzero((over > 0.0) & ~(before > 0.0) & np.isnan(self._first))
            when = [self._crossing(int(k), state, begin, t) for k in crossed]
            if self._stop and len(crossed):
                k, at = int(crossed[np.argmin(when)]), min(when)
                self._first[k], self._figures[k, 2] = at, at
                self._figures[k, 0] = self._limits.beyond(self._moment(at, state(at)))[1][k]
                return at, self._why(k)
            self._first[crossed] = when
            begin, self._last = t, over
        return None

    def met(self) -> tuple[LimitMet, ...]:
        """The limits that were met, in the order of time."""
        found = []
        for k in np.flatnonzero(~np.isnan(self._first)):
            limit, (value, bound, when) = self._limits.every[k], self._figures[k]
            sign = -1.0 if limit.kind not in ("position", "power") and value < 0.0 else 1.0
            figures = float(sign * bound), float(self._first[k]), float(value), float(when)
            found.append(LimitMet(limit.joint, limit.kind, *figures, self._held(limit), limit.slides))
        return tuple(sorted(found, key=lambda x: x.t))

    def _look(self, t: float, y: Array) -> Array:
        """What is beyond limits at a moment; the worst of it is kept."""
        over, values, limits = self._limits.beyond(self._moment(t, y))
        worse = over > self._worst
        if worse.any():
            self._worst[worse] = over[worse]
            self._figures[worse] = np.stack([values, limits, np.full(len(over), t)], axis=1)[worse]
        return over

    def _crossing(self, k: int, state: Callable[[float], Array], begin: float, end: float) -> float:
        """When a limit is passed, between a moment before and one after."""
        from scipy.optimize import brentq

        def over(t: float) -> float:
            return float(self._limits.beyond(self._moment(t, state(t)))[0][k])

        return begin if over(begin) > 0.0 else float(brentq(over, begin, end, xtol=1e-14, rtol=1e-13))

    def _why(self, k: int) -> str:
        limit, (_value, bound, _) = self._limits.every[k], self._figures[k]
        unit = UNITS[limit.kind][limit.slides]
        return f"stopped by the {WORDS.get(limit.kind, limit.kind)} limit of {limit.joint!r}, {bound:.6g} {unit}"


def states_met(robot: Robot, t: Array, q: Array, qd: Array) -> tuple[LimitMet, ...]:
    """Limits of positions and velocities that states (..., rows, nq) and (..., rows, nv) of a tree exceed anywhere."""
    found = []
    for limit in motion_limits(robot):
        if limit.kind == "acceleration":
            continue
        values = (q, qd)[limit.field][..., limit.place].reshape(-1, len(t)) * limit.ratio + limit.offset
        sign = limit.side or np.sign(values)
        over = values * sign - limit.value * (limit.side or 1.0)
        beyond = over > (ROUNDING if limit.side else max(TOLERANCE * limit.value, ROUNDING))
        if beyond.any():
            row, k = np.unravel_index(int(np.argmax(np.where(beyond, over, -inf))), over.shape)
            first, worst = int(np.flatnonzero(beyond.any(axis=0))[0]), float(values[row, k])
            bound = -limit.value if not limit.side and worst < 0.0 else limit.value
            figures = bound, float(t[first]), worst, float(t[k])
            found.append(LimitMet(limit.joint, limit.kind, *figures, slides=limit.slides))
    return tuple(sorted(found, key=lambda x: x.t))
