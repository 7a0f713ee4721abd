"""A person: a body with its strengths, ranges of joints, and what it carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite, pi
from typing import Any

from linkwise.check import positive
from linkwise.errors import InputError, UnknownNameError
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot
from linkwise.walking.anthropometry import Segment, body, sides_of
from linkwise.walking.joints import FROZEN, GLOBAL, called, spoken
from linkwise.walking.skeleton import DEPTH, skeleton

SLIDES = [name for name, kind in GLOBAL.items() if kind.slides]
BACKPACK = (0.30, 0.50, 0.20)  # breadth, height and depth of a packed one, m


@dataclass(frozen=True)
class Load:
    """Something that a person carries, fixed to a link or frame of the skeleton.

    Args:
        mass: kg.
        at: the link or frame, such as "chest" or "hand_r".
        com: mass centre in its axes, m: x is forward, y up, z to the right.
        inertia: about the mass centre, kg m^2, as of a `Link`.
    """

    mass: float
    at: str
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: tuple[float, ...] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Person:
    """A person, from whom `robot` makes a skeleton of 55 degrees of freedom.

    Args:
        mass: of the body without loads, kg.
        height: m.
        sex: "male" or "female": whose proportions (de Leva 1996) it has.
        segments: other numbers of some segments, {"thigh_l": {"length": 0.40}}; a name without side means both.
        limits: strengths of joints, N m, {"ankle_l": 60}; a name without side means both.
        ranges: lower and upper bounds of joints, rad (m of the pelvis' translations), {"knee_l": (0.1, 1.0)}; equal
            ones hold a joint at an angle.
        frozen: joints that stand still at zero, in place of the upper spine, neck, clavicles and wrists.
        loads: what the person carries; see also `with_backpack` and `with_hand_load`.
    """

    mass: float = 73.0
    height: float = 1.741
    sex: str = "male"
    segments: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    frozen: str | tuple[str, ...] = FROZEN
    loads: tuple[Load, ...] = ()

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "mass", positive(self.mass, "mass of a person"))
        set_(self, "height", positive(self.height, "height of a person"))
        if not 0.5 <= self.height <= 2.7:
            raise InputError(f"height of a person: expected 0.5 to 2.7 m, got {self.height:g}. Give it in metres.")
        set_(self, "loads", tuple(self.loads))
        set_(self, "frozen", self._frozen_names())
        self.robot()

    def _frozen_names(self) -> tuple[str, ...]:
        names = (self.frozen,) if isinstance(self.frozen, str) else self.frozen
        joints = [n for n in self._bare.names if n not in GLOBAL]
        for key in names:
            if key in GLOBAL:
                raise InputError(
                    f"joint to freeze {key!r}: expected a joint of the body, got a coordinate of the pelvis in the"
                    " world, which moves in every walk. Bound it by ranges instead."
                )
        found = {name for key in names for name in _joints(key, joints, "joint to freeze")}
        return tuple(n for n in joints if n in found)

    @cached_property
    def body(self) -> dict[str, Segment]:
        """The segments by name."""
        return body(self.mass, self.height, self.sex, self.segments)

    @cached_property
    def _bare(self) -> Robot:
        """The skeleton of an able body without loads."""
        return skeleton(self.body, self.mass, self.height)

    @cached_property
    def total_mass(self) -> float:
        """The mass of body and loads, kg."""
        return sum(k.mass for k in self.robot().links)

    @property
    def body_mass(self) -> float:
        """The mass of the body with its segments as they are, without loads, kg."""
        return self.total_mass - sum(load.mass for load in self.loads)

    def robot(self, frozen: bool = False) -> Robot:
        """The skeleton with its loads; with `frozen` the frozen joints are locked."""
        whole = self._whole
        return whole.lock(self.frozen) if frozen else whole

    def floating(self, lock: Iterable[str] | None = None) -> Robot:
        """The skeleton whose pelvis floats, as `lw.limit.contact` needs it: a joint "pelvis" in place of six.

        Args:
            lock: joints that stand still at zero; the frozen ones without it.
        """
        robot = self.robot().lock(self.frozen if lock is None else lock)
        chain = [j for j in robot.joints if j.name in GLOBAL]
        gone = {j.child for j in chain[:-1]}
        joint = Joint("pelvis", chain[0].parent, chain[-1].child, "floating", origin=chain[0].origin)
        links = [link for link in robot.links if link.name not in gone]
        joints = [joint, *(j for j in robot.joints if j.name not in GLOBAL)]
        return Robot(links, joints, robot.frames, gravity=robot.gravity, name=robot.name)

    @cached_property
    def _whole(self) -> Robot:
        robot = self._bare
        changed = {j.name: j for j in robot.joints}
        for joint, value in _by_joint(self.limits, "limits", robot):
            effort = positive(value, f"limits {joint!r}")
            changed[joint] = _limited(changed[joint], effort=effort)
        for joint, value in _by_joint(self.ranges, "ranges", robot):
            lower, upper = _range(value, joint)
            changed[joint] = _limited(changed[joint], lower=lower, upper=upper)
        robot = robot.replace(*changed.values())
        for k, load in enumerate(self.loads):
            if not isinstance(load, Load):
                raise InputError(f"loads[{k}]: expected a Load, got {load!r}.")
            mass = positive(load.mass, f"loads[{k}] mass")
            robot = robot.with_payload(mass, load.com, load.inertia, at=load.at, name=f"load{k + 1}")
        return robot

    # ---- other persons

    def with_backpack(self, mass: float, size: Iterable[float] = BACKPACK) -> Person:
        """This person with a packed backpack on the chest; size is breadth, height and depth, m."""
        m = positive(mass, "backpack mass")
        wide, tall, deep = (positive(x, "backpack size") for x in size)
        inertia = tuple(m / 12.0 * (a * a + b * b) for a, b in ((tall, wide), (deep, wide), (deep, tall)))
        behind = -0.5 * (DEPTH * self.height / 1.741 + deep)
        return replace(self, loads=(*self.loads, Load(m, "chest", (behind, 0.0, 0.0), inertia)))

    def with_hand_load(self, mass: float, side: str) -> Person:
        """This person with a point mass in the hand of one side, "r" or "l"."""
        if side not in ("r", "l"):
            raise UnknownNameError("side", side, ("r", "l"))
        return replace(self, loads=(*self.loads, Load(positive(mass, "hand load"), f"hand_{side}")))

    @property
    def is_symmetric(self) -> bool:
        """Whether left and right are alike, so that one step tells of all."""
        from linkwise.walking.symmetry import is_symmetric

        return is_symmetric(self.robot(frozen=True))


def _by_joint(values: Any, what: str, robot: Robot) -> list[tuple[str, Any]]:
    """Values with the names of the joints they are for."""
    if not isinstance(values, Mapping):
        raise InputError(f"{what}: expected values by joint, such as {{'knee_l': 100.0}}, got {values!r}.")
    joints = [n for n in robot.names if what != "limits" or n not in GLOBAL]
    return [(name, value) for key, value in values.items() for name in _joints(key, joints, "joint")]


def _joints(key: Any, joints: list[str], kind: str) -> list[str]:
    """The joints that a name stands for; an unknown one is answered with those that people use first."""
    try:
        return sides_of(called(key), joints, kind)
    except UnknownNameError:
        raise UnknownNameError(kind, key, [*spoken(), *(n for n in joints if n not in spoken())]) from None


def _limited(joint: Joint, **bounds: float) -> Joint:
    return replace(joint, limits=replace(joint.limits, **bounds))


def _range(value: Any, joint: str) -> tuple[float, float]:
    try:
        lower, upper = (float(x) for x in value)
    except (TypeError, ValueError) as error:
        raise InputError(f"ranges {joint!r}: expected a lower and an upper bound, got {value!r}.") from error
    if not (isfinite(lower) and isfinite(upper) and lower <= upper):
        raise InputError(f"ranges {joint!r}: expected a lower bound below the upper one, got {value!r}.")
    if joint not in SLIDES and max(-lower, upper) > 2.0 * pi:
        raise InputError(f"ranges {joint!r}: expected angles within a turn, got {value!r}. Give them in radians.")
    return lower, upper
