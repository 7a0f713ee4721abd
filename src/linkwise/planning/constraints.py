"""What a motion must respect, beside the limits of its joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.check import finite, fraction, number, positive, whole
from linkwise.errors import InputError, UnknownNameError
from linkwise.planning.chart import chart_of
from linkwise.planning.curve import Array, Basis
from linkwise.planning.drives import drive_names
from linkwise.planning.point import Point, carriers
from linkwise.planning.rows import LinearRows, Rows, symmetric
from linkwise.planning.term_and_constraint import Constraint, chosen_joints
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar
from linkwise.vector import dot

COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")
PARTS = ("force", "moment", *COMPONENTS)


def check_carrier(robot: Robot, joint: str) -> None:
    """Refuse a joint through which no reaction is known."""
    if joint not in carriers(robot):
        raise UnknownNameError("joint in reaction", joint, carriers(robot))


@dataclass(frozen=True)
class Reaction(Constraint):
    """The wrench through a joint within bounds."""

    joint: str
    bounds: Mapping[str, Any]

    def rows(self, robot: Robot) -> list[Rows]:
        check_carrier(robot, self.joint)
        return [self._row(part, bound) for part, bound in self.bounds.items()]

    def _row(self, part: str, bound: Any) -> Rows:
        what, name = f"reaction {self.joint!r} {part}", (f"{self.joint}.{part}",)
        if part in ("force", "moment"):
            most = positive(bound, what)

            def square(p: Point) -> list[Scalar]:
                v = getattr(p.wrench(self.joint), part)
                return [dot(v, v)]

            top = np.array([most * most])
            return Rows("reaction", name, square, np.array([-np.inf]), top, top, power=2)
        k = COMPONENTS.index(part)

        def component(p: Point) -> list[Scalar]:
            return [list(p.wrench(self.joint))[k]]

        if isinstance(bound, (tuple, list)):
            low, high = _range(bound, what)
            size = max(abs(x) for x in (low, high) if np.isfinite(x))
            return Rows("reaction", name, component, np.array([low]), np.array([high]), np.array([size or 1.0]))
        return symmetric("reaction", name, component, [positive(bound, what)])


def reaction(joint: str, **bounds: Any) -> Reaction:
    """Bounds on the reaction through a joint: `force=` and `moment=` of norms, fx, ..., mz of components.

    Force and moment are those that the parent exerts on the child link, at the joint, in the child's axes; of a loop,
    which stands for its cut joint, those that link a exerts on b, in the axes of frame a. A component is bounded by one
    number or by a pair.
    """
    for part in bounds:
        if part not in PARTS:
            raise UnknownNameError("part of a reaction", part, PARTS)
    if not bounds:
        raise InputError(f"reaction {joint!r}: expected a bound, such as force=500 or fz=(-200, 50), got none.")
    return Reaction(joint, bounds)


def _range(value: Sequence[Any], what: str) -> tuple[float, float]:
    try:
        low, high = (float(x) for x in value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected a number or a pair of numbers, got {value!r}.") from error
    if not low < high or (np.isinf(low) and np.isinf(high)):
        raise InputError(f"{what}: expected a lower bound below the upper one, got {value!r}.")
    return low, high


@dataclass(frozen=True)
class Passive(Constraint):
    """Joints without a drive."""

    joints: tuple[str, ...]
    tolerance: float

    def rows(self, robot: Robot) -> list[Rows]:
        drives = drive_names(robot)
        names = chosen_joints(drives, self.joints, "passive")
        at = [drives.index(n) for n in names]
        return [symmetric("passive", names, lambda p: [p.tau[k] for k in at], np.full(len(at), self.tolerance))]


def passive(*joints: str, tolerance: float = 0.1) -> Passive:
    """Joints that have no drive: their torque stays within `tolerance` (N m or N) of zero.

    A spline cannot follow such a motion exactly; the more control points it has, the smaller the tolerance can be. With
    30 to 60 of them it is about a hundredth of the torques of the driven joints.
    """
    if not joints:
        raise InputError("passive: expected names of joints, got none.")
    return Passive(joints, positive(tolerance, "passive tolerance"))


@dataclass(frozen=True)
class Cyclic(Constraint):
    """The end equals the start, mirrored where asked."""

    order: int
    partners: Mapping[str, str]
    signs: Mapping[str, float]
    label: str

    def linear(self, robot: Robot, basis: Basis) -> list[LinearRows]:
        known, found = chart_of(robot).names, []
        n = len(known)
        pairs = {**{name: name for name in known}, **self.partners, **{b: a for a, b in self.partners.items()}}
        chosen_joints(known, [*pairs, *self.signs], self.label)
        image = np.zeros((n, n))  # of a posture
        for k, name in enumerate(known):
            image[k, known.index(pairs[name])] = float(self.signs.get(name, self.signs.get(pairs[name], 1.0)))
        for order in range(self.order + 1):
            first, last = basis.matrix([0.0, 1.0], order)
            A = (np.kron(last, np.eye(n)) - np.kron(first, image)) / max(np.abs(first).max(), 1.0)
            label = self.label if not order else f"{self.label} derivative {order}"
            found.append(LinearRows(label, known, A, np.zeros(n), np.zeros(n), 1.0))
        return found


def cyclic(order: int = 2) -> Cyclic:
    """The motion ends as it began, with derivatives up to `order`: it can be repeated for ever."""
    return Cyclic(_order(order), {}, {}, "cyclic")


def mirrored(pairs: Any, signs: Any = None, order: int = 2) -> Cyclic:
    """The end is the mirror image of the start: each joint of a pair ends as the other began, as in a step of a walk.

    Args:
        pairs: joints by their partners, each pair once; joints that are not named are their own partners.
        signs: -1 for joints, of pairs or single, whose mirror image turns the other way.
        order: up to which derivative.
    """
    if not isinstance(pairs, Mapping) or not isinstance(signs or {}, Mapping):
        given = signs if isinstance(pairs, Mapping) else pairs
        raise InputError(f"mirrored: expected joints by their partners, {{'left_hip': 'right_hip'}}, got {given!r}.")
    turned = {name: finite(x, f"mirrored signs {name!r}") for name, x in (signs or {}).items()}
    return Cyclic(_order(order), dict(pairs), turned, "mirrored")


def _order(order: Any) -> int:
    return whole(order, "order", 0, 4, "the highest derivative, a whole number from 0 to 4")


@dataclass(frozen=True)
class BaseMotion(Constraint):
    """A base that moves in a known way."""

    function: Callable[[float], Any]

    def base(self, robot: Robot) -> Callable[[Array], Array]:
        def at(times: Array) -> Array:
            rows = np.zeros((len(times), 18))
            for row, t in zip(rows, times, strict=True):
                given = _flat(self.function(float(t)), f"base_motion at t = {t:g} s")
                if given.shape not in ((12,), (18,)):
                    raise InputError(
                        "base_motion: expected velocity and acceleration, perhaps jerk, 6 numbers each,"
                        f" got {given.size} numbers at t = {t:g} s."
                    )
                row[: len(given)] = given
            return rows

        return at


def _flat(parts: Any, what: str) -> Array:
    """Vectors as one of finite numbers."""
    try:
        found = np.concatenate([np.asarray(x, dtype=float).ravel() for x in parts])
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected vectors of 6 numbers each, got {parts!r}.") from error
    if not np.isfinite(found).all():
        raise InputError(f"{what}: expected finite numbers, got {parts!r}.")
    return found


def base_motion(function: Callable[[float], Any]) -> BaseMotion:
    """A base as the last release took it; now `plan(base_motion=...)` takes a function that returns its pose.

    `function(t)` returns velocity and classical acceleration, six numbers each, linear then angular, in base axes, of
    which angular velocity and linear acceleration count. The duration must be fixed. Gravity turns with the base.
    """
    if not callable(function):
        raise InputError(f"base_motion: expected a function of time, got {function!r}.")
    return BaseMotion(function)


@dataclass(frozen=True)
class UserRows(Constraint):
    """A user's function between bounds."""

    function: Callable[[Point], Any]
    lower: float
    upper: float
    label: str
    at: float | None

    def rows(self, robot: Robot) -> list[Rows]:
        finite = [abs(x) for x in (self.lower, self.upper) if np.isfinite(x) and x]
        low, high, size = (np.array([x]) for x in (self.lower, self.upper, max(finite, default=1.0)))
        at = None if self.at is None else (self.at,)
        return [Rows(self.label, ("",), lambda p: [self.function(p)], low, high, size, at=at)]


def function(
    function: Callable[[Point], Any],
    lower: float = -np.inf,
    upper: float = np.inf,
    label: str = "function",
    at: float | None = None,
) -> UserRows:
    """Bounds on a function of your own, all along the motion or at one fraction of it.

    `function(point)` is traced once, as that of `lw.cost.function`.
    """
    if not callable(function):
        raise InputError(f"limit.function: expected a function of a point, got {function!r}.")
    low, high = (number(x, f"limit.function {label!r}", "numbers lower= and upper=") for x in (lower, upper))
    if not low <= high or (np.isinf(low) and np.isinf(high)):
        raise InputError(
            f"limit.function {label!r}: expected lower <= upper, one of them finite, got {lower!r}, {upper!r}."
        )
    return UserRows(function, low, high, label, None if at is None else fraction(at, "limit.function at"))
