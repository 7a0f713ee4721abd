"""Limits of joints and drives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.errors import InputError, ModelError, UnknownNameError
from linkwise.planning.chart import chart_of, joint_names
from linkwise.planning.curve import Array
from linkwise.planning.drives import drive_names, drives_of
from linkwise.planning.point import Point
from linkwise.planning.rows import Rows, symmetric
from linkwise.planning.term_and_constraint import Constraint, constraints_of, per_joint
from linkwise.robot.drive import Drive
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar

KINDS = ("position", "velocity", "acceleration", "jerk", "effort", "effort_rate", "power", "deflection")


def _power(p: Point) -> list[Scalar]:
    return [f * v for f, v in zip(p.tau, p.drive_rates, strict=True)]


STRICT = 0.1  # of a range of positions, rad or m: what violations of it are measured by, as stops are hard
MOTION = ("position", "velocity", "acceleration", "jerk")  # of joints, those that follow too; the others of drives
QUANTITIES: dict[str, Callable[[Point], Sequence[Scalar]]] = {
    "velocity": lambda p: p.joint_motion(1),
    "acceleration": lambda p: p.joint_motion(2),
    "jerk": lambda p: p.joint_motion(3),
    "effort": lambda p: p.tau,
    "effort_rate": lambda p: p.tau_dot,
    "power": _power,
    "deflection": lambda p: p.deflection,
}


@dataclass(frozen=True)
class JointLimits(Constraint):
    """Limits of some kinds, the robot's own or given here; without any kind all that the robot has."""

    kinds: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)

    def kinds_of(self, robot: Robot) -> tuple[str, ...]:
        """The kinds that are limited, of those that were not named the ones of which the robot has a limit."""
        return self.kinds or tuple(k for k in KINDS if k == "position" or _is_limited(robot, k))

    def bound(self, robot: Robot, kind: str) -> Array:
        """The limit of each joint, infinite where it has none."""
        if kind in self.values:
            found = per_joint(_names(robot, kind), self.values[kind], f"limits {kind}", np.inf)
            if (found <= 0.0).any():
                raise InputError(f"limits {kind}: expected numbers above zero, got {self.values[kind]!r}.")
            return found
        joints, found = _joints(robot, kind), _own(robot, kind)
        if not _is_limited(robot, kind):
            raise InputError(
                f"limits {kind!r}: the robot {robot.name!r} has none. Give some, such as lw.limit.joints({kind}=10.0)."
            )
        zero = [j.name for j, x in zip(joints, found, strict=True) if x <= 0.0]
        if zero:
            raise ModelError(f"limits {kind!r}: joint {zero[0]!r} has a limit of zero. Lock it, or give another limit.")
        return found

    def box(self, robot: Robot) -> tuple[Array, Array] | None:
        known, ranges = chart_of(robot).names, self.ranges(robot)
        if not ranges:
            return None
        pairs = [ranges.get(name, (-np.inf, np.inf)) for name in known]
        return np.array([low for low, _ in pairs]), np.array([high for _, high in pairs])

    def _followers(self, robot: Robot) -> list[Rows]:
        """Positions of joints that follow in closed form, which no number on a spline bounds."""
        known, ranges = chart_of(robot).names, self.ranges(robot)
        at = [
            k for k, n in enumerate(joint_names(robot)) if n not in known and np.isfinite(ranges.get(n, np.inf)).any()
        ]
        if not at:
            return []
        names = [joint_names(robot)[k] for k in at]
        low, high = (np.array([ranges[n][side] for n in names]) for side in (0, 1))
        size = STRICT * np.where(np.isfinite(high - low), high - low, 1.0)
        return [Rows("position", tuple(names), _picked(lambda p: p.joint_motion(0), at), low, high, size)]

    def ranges(self, robot: Robot) -> dict[str, tuple[float, float]]:
        if "position" not in self.kinds_of(robot):
            return {}
        if "position" in self.values:
            given = self.values["position"]
            if not isinstance(given, Mapping):
                raise InputError(f"limits position: expected pairs by joint, {{'elbow': (-1, 2)}}, got {given!r}.")
            for name in given:
                if name not in joint_names(robot):
                    raise UnknownNameError("joint in limits position", name, joint_names(robot))
            return {name: _pair(pair, f"limits position {name!r}") for name, pair in given.items()}
        limits = {n: robot.joint(n).limits for n in joint_names(robot)}
        return {n: (x.lower, x.upper) for n, x in limits.items()}

    def rows(self, robot: Robot) -> list[Rows]:
        found = []
        for kind in self.kinds_of(robot):
            if kind == "position":
                found += self._followers(robot)
                continue
            bound = self.bound(robot, kind)
            at = np.flatnonzero(np.isfinite(bound))
            names = [_names(robot, kind)[k] for k in at]
            if len(at):
                found.append(symmetric(kind, names, _picked(QUANTITIES[kind], at.tolist()), bound[at]))
            if kind == "effort" and kind not in self.values:
                found += [_curve_rows(robot, j) for j in _joints(robot, kind) if _curve(j)]
        return found


def with_own_limits(given: Any) -> tuple[Constraint, ...]:
    """What was given as `subject_to`; the robot's own limits where nothing was, and where nothing was said of joints.

    None at all, (), leaves a robot free.
    """
    if given is None:
        return (JointLimits(),)
    found = constraints_of(given)
    said = not found or any(isinstance(c, JointLimits) for c in found)
    return found if said else (JointLimits(), *found)


def joints(*kinds: str, **values: Any) -> JointLimits:
    """Limits of joints and drives.

    Kinds are "position", "velocity", "acceleration", "jerk", "effort", "effort_rate" and "power" of joints, and the
    "deflection" of springs in elastic drives. A kind that is named takes the robot's own limits; joints without one are
    free. Motion is limited of all joints, in loops of those that follow too, the rest of drives. A kind that is given
    has these: `lw.limit.joints("position", effort=10.0, velocity={"elbow": 2.0})`, for positions pairs by joint.
    Without any kind, `lw.limit.joints()`, all limits that the robot has hold. Efforts respect the torque-speed curves
    of drives. Positions bound the control points, so that they hold all along the curve.
    """
    every = (*kinds, *values)
    for kind in every:
        if kind not in KINDS:
            raise UnknownNameError("kind of limits", kind, KINDS)
    return JointLimits(tuple(dict.fromkeys(every)), values)


def _names(robot: Robot, kind: str) -> tuple[str, ...]:
    """What a kind of limits belongs to."""
    return joint_names(robot) if kind in MOTION else drive_names(robot)


def _joints(robot: Robot, kind: str) -> list[Joint]:
    """The joints whose limits these are."""
    return [robot.joint(n) for n in (joint_names(robot) if kind in MOTION else drives_of(robot).joints)]


def _own(robot: Robot, kind: str) -> Array:
    """The robot's limits of a kind, infinite where there is none."""
    joints = _joints(robot, kind)
    if kind == "deflection":
        return np.full(len(joints), np.inf)
    if kind == "power":
        return np.array([j.drive.power if j.drive else np.inf for j in joints])
    return np.array([getattr(j.limits, kind) for j in joints])


def _is_limited(robot: Robot, kind: str) -> bool:
    """Whether the robot has a limit of a kind, torque-speed curves among those of effort."""
    curved = kind == "effort" and any(j.drive and j.drive.curve for j in _joints(robot, kind))
    return curved or bool(np.isfinite(_own(robot, kind)).any())


def _picked(quantity: Callable[[Point], Sequence[Scalar]], at: Sequence[int]) -> Callable[[Point], list[Scalar]]:
    return lambda p: [quantity(p)[k] for k in at]


def _pair(value: Any, what: str) -> tuple[float, float]:
    try:
        low, high = (float(x) for x in value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected two numbers, lower and upper, got {value!r}.") from error
    if not low < high:
        raise InputError(f"{what}: expected lower below upper, got {value!r}.")
    return low, high


def _curve(joint: Joint) -> Drive | None:
    """The drive whose torque-speed curve bounds a joint."""
    return joint.drive if joint.drive is not None and len(joint.drive.curve) > 1 else None


def _curve_rows(robot: Robot, joint: Joint) -> Rows:
    """|tau| + slope |qd| <= limit for every piece of a torque-speed curve: two rows with bounds of both signs."""
    drive = _curve(joint)
    assert drive is not None
    gear = abs(drive.gear)
    points = [(speed / gear, torque * gear) for speed, torque in drive.curve]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points)]
    if any(x > 1e-9 for x in slopes) or any(b > a + 1e-9 * abs(a) for a, b in pairwise(slopes)):
        raise ModelError(
            f"joint {joint.name!r} drive curve: expected a torque that falls with speed, ever faster, for planning."
            " Leave out the points inside of its hull."
        )
    k = drive_names(robot).index(joint.name)
    pieces = [(-slope, a[1] - slope * a[0]) for slope, a in zip(slopes, points, strict=False)]

    def function(p: Point) -> list[Scalar]:
        tau, speed = p.tau[k], p.drive_rates[k]
        return [tau + speed * (sign * fall) for fall, _ in pieces for sign in (1.0, -1.0)] + [speed]

    names = [f"{joint.name}.{side}{i + 1}" for i in range(len(pieces)) for side in ("motoring", "braking")]
    bounds = [level for _, level in pieces for _ in range(2)]
    return symmetric("torque_speed", [*names, f"{joint.name}.speed"], function, [*bounds, points[-1][0]])
