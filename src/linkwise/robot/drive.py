"""What moves a joint: friction, springs, motors, gears, limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from linkwise.errors import ModelError
from linkwise.robot import check
from linkwise.scalar import Scalar, absolute, exp, is_number, less, sign, tanh, where
from linkwise.vector import EZ, ZERO3, Vec3

LAWS = ("coulomb", "tanh", "stribeck")


@dataclass(frozen=True)
class Friction:
    """Torque that opposes a speed, and perhaps a constant one.

        coulomb:   viscous v + coulomb sign(v), with sign(0) = 0
        tanh:      viscous v + coulomb tanh(v / width), smooth, for simulation and planning
        stribeck:  as tanh, with coulomb + (static - coulomb) exp(-(v / stribeck)^2) in place of coulomb

    An offset is added to each: a constant torque, as a worn brake, a cable or a sensor's zero leaves it.

    Args:
        viscous: N m s/rad or N s/m.
        coulomb: N m or N.
        law: "coulomb", "tanh" or "stribeck".
        width: speed over which the smooth laws reverse.
        static: breakaway torque of the Stribeck law.
        stribeck: speed at which it has decayed.
        offset: a constant torque, N m or N, of either sign, at rest too.
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    law: str = "coulomb"
    width: float = 1e-2
    static: float = 0.0
    stribeck: float = 1e-1
    offset: float = 0.0

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise ModelError(f"friction law: expected one of {LAWS}, got {self.law!r}.")
        for field in ("viscous", "coulomb", "static"):
            object.__setattr__(self, field, check.number(getattr(self, field), f"friction {field}", least=0.0))
        for field in ("width", "stribeck"):
            object.__setattr__(self, field, check.number(getattr(self, field), f"friction {field}", above=0.0))
        object.__setattr__(self, "offset", check.number(self.offset, "friction offset"))

    def torque(self, v: Scalar) -> Scalar:
        """The torque needed against friction at speed v."""
        against = self._against(v)
        return against if is_number(self.offset) and self.offset == 0.0 else against + self.offset

    def _against(self, v: Scalar) -> Scalar:
        """The part of the torque that opposes the speed v."""
        if self.law == "coulomb":
            return v * self.viscous + sign(v) * self.coulomb
        level = self.coulomb
        if self.law == "stribeck":
            ratio = v * (1.0 / self.stribeck)
            level = level + exp(-(ratio * ratio)) * (self.static - self.coulomb)
        return v * self.viscous + tanh(v * (1.0 / self.width)) * level

    def slope(self, v: Scalar) -> Scalar:
        """The torque over the speed v, by a smooth law: the viscous friction that takes as much."""
        if all(is_number(x) and x == 0.0 for x in (self.coulomb, self.static)):
            return self.viscous
        small = less(absolute(v), 1e-4 * self.width)
        full = (self._against(v) - v * self.viscous) / where(small, self.width, v)
        return where(small, (self.static if self.law == "stribeck" else self.coulomb) / self.width, full) + self.viscous


@dataclass(frozen=True)
class Spring:
    """A passive spring and damper along a joint: torque -stiffness (q - rest) - damping qd on the joint.

    Args:
        stiffness: N m/rad or N/m.
        damping: N m s/rad or N s/m.
        rest: the position without force.
    """

    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "stiffness", check.number(self.stiffness, "spring stiffness", least=0.0))
        object.__setattr__(self, "damping", check.number(self.damping, "spring damping", least=0.0))
        object.__setattr__(self, "rest", check.number(self.rest, "spring rest"))

    def torque(self, q: Scalar, qd: Scalar) -> Scalar:
        """The torque a motor must give to hold the spring at q, qd."""
        return (q - self.rest) * self.stiffness + qd * self.damping


@dataclass(frozen=True)
class Motor:
    """A spinning rotor, and the housing with it, mounted on a link (Hua et al.).

    Args:
        link: the link that carries the motor (None: the parent link of the driven joint).
        mass: of the whole motor, kg.
        com: its centre of mass in the mounting link's frame, m.
        inertia: tensor of the whole motor, rotor included, about its com in the mounting link's axes, kg m^2.
        rotor: inertia of the rotor about its own axis, kg m^2 (before the gear; the rotor must be axisymmetric).
        axis: the rotor's axis in the mounting link's axes.
    """

    link: str | None = None
    mass: float = 0.0
    com: Vec3 = ZERO3
    inertia: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    rotor: float = 0.0
    axis: Vec3 = EZ

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        if self.link is not None:
            check.name(self.link, "motor link")
        set_(self, "mass", check.number(self.mass, "motor mass", least=0.0))
        set_(self, "com", check.vector(self.com, "motor com"))
        set_(self, "inertia", check.tensor(self.inertia, "motor inertia"))
        set_(self, "rotor", check.number(self.rotor, "motor rotor", least=0.0))
        set_(self, "axis", check.axis(self.axis, "motor axis"))


@dataclass(frozen=True)
class Drive:
    """The chain from motor to joint.

    Args:
        motor: a spinning body; None where only `Joint.armature` counts.
        gear: motor turns per joint turn.
        stiffness: of a series spring between gear and link, N m/rad; None for a rigid drive.
        damping: in parallel with that spring, N m s/rad.
        friction: on the motor's side of the gear.
        curve: torque-speed points (speed, torque) at the motor, or empty.
        power: supply limit of the drive, W.
    """

    motor: Motor | None = None
    gear: float = 1.0
    stiffness: float | None = None
    damping: float = 0.0
    friction: Friction = Friction()
    curve: tuple[tuple[float, float], ...] = ()
    power: float = math.inf

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "gear", check.number(self.gear, "drive gear"))
        if self.gear == 0.0:
            raise ModelError("drive gear: expected a ratio that is not zero, got 0. Use 1 for a direct drive.")
        if self.stiffness is not None:
            set_(self, "stiffness", check.number(self.stiffness, "drive stiffness", above=0.0))
        set_(self, "damping", check.number(self.damping, "drive damping", least=0.0))
        if self.damping and self.stiffness is None:
            raise ModelError(
                "drive damping: expected a stiffness beside it, got none, so that the drive is rigid. Give the spring's"
                " stiffness, or the drive a viscous friction."
            )
        points: Any = tuple(check.numbers(p, "drive curve point", 2) for p in self.curve)
        if any(b[0] <= a[0] for a, b in pairwise(points)):
            raise ModelError("drive curve: expected speeds in rising order.")
        set_(self, "curve", points)
        set_(self, "power", check.bound(self.power, "drive power"))

    @property
    def is_elastic(self) -> bool:
        return self.stiffness is not None


@dataclass(frozen=True)
class Limits:
    """Bounds of a joint, on the joint's side of the gear; infinite where unknown."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    acceleration: float = math.inf
    jerk: float = math.inf
    effort: float = math.inf
    effort_rate: float = math.inf

    def __post_init__(self) -> None:
        for field in ("lower", "upper"):
            value = getattr(self, field)
            if not (isinstance(value, float) and math.isinf(value)):
                object.__setattr__(self, field, check.finite(value, f"limits {field}"))
        for field in ("velocity", "acceleration", "jerk", "effort", "effort_rate"):
            object.__setattr__(self, field, check.bound(getattr(self, field), f"limits {field}"))
        if self.lower > self.upper:
            raise ModelError(f"limits: expected lower <= upper, got {self.lower:g} > {self.upper:g}. Swap them.")
