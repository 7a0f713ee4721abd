"""Numbers of a robot by path, such as "hand.mass", "elbow.viscous" or "tool.xyz.z".

A path is a link's, joint's or frame's name, a quantity, and perhaps a component. The quantity tells the kind, so that
a link and a joint may share a name.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from linkwise.errors import InputError, ModelError, UnknownNameError
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar
from linkwise.spatial import Pose
from linkwise.vector import Mat3, Vec3

XYZ = ("x", "y", "z")
TENSOR = ("xx", "xy", "xz", "yy", "yz", "zz")
MATRIX = tuple(f"{i}{j}" for i in "xyz" for j in "xyz")


class Quantity(NamedTuple):
    """How a quantity of an item is read as numbers and written back."""

    group: str
    components: tuple[str, ...]
    read: Callable[[Any], tuple[Scalar, ...]]
    write: Callable[[Any, tuple[Scalar, ...]], None]


def _field(group: str, *path: str) -> Quantity:
    """A single number, reached through attributes."""

    def read(item: Any) -> tuple[Scalar, ...]:
        for attribute in path:
            item = getattr(item, attribute)
            if item is None:
                raise ModelError(f"it has no {attribute}")
        return (item,)

    def write(item: Any, values: tuple[Scalar, ...]) -> None:
        for attribute in path[:-1]:
            inner = copy.copy(getattr(item, attribute))
            object.__setattr__(item, attribute, inner)
            item = inner
        object.__setattr__(item, path[-1], values[0])

    return Quantity(group, (), read, write)


def _origin(
    group: str, components: tuple[str, ...], read: Any, make: Callable[[Pose, tuple[Scalar, ...]], Pose]
) -> Quantity:
    return Quantity(
        group, components, lambda item: tuple(read(item.origin)),
        lambda item, values: object.__setattr__(item, "origin", make(item.origin, values)),
    )  # fmt: skip


def _xyz(group: str) -> Quantity:
    return _origin(group, XYZ, lambda pose: pose.p, lambda pose, v: Pose(pose.R, Vec3(*v)))


def _rotation(group: str) -> Quantity:
    return _origin(
        group,
        MATRIX,
        lambda pose: [x for r in pose.R for x in r],
        lambda pose, v: Pose(Mat3.of([v[0:3], v[3:6], v[6:9]]), pose.p),
    )


QUANTITIES: dict[str, tuple[Quantity, ...]] = {
    "mass": (_field("links", "mass"),),
    "com": (Quantity("links", XYZ, lambda k: tuple(k.com), lambda k, v: object.__setattr__(k, "com", Vec3(*v))),),
    "inertia": (Quantity("links", TENSOR, lambda k: k.inertia, lambda k, v: object.__setattr__(k, "inertia", v)),),
    "viscous": (_field("joints", "friction", "viscous"),),
    "coulomb": (_field("joints", "friction", "coulomb"),),
    "armature": (_field("joints", "armature"),),
    "stiffness": (_field("joints", "spring", "stiffness"),),
    "damping": (_field("joints", "spring", "damping"),),
    "rest": (_field("joints", "spring", "rest"),),
    "gear": (_field("joints", "drive", "gear"),),
    "rotor": (_field("joints", "drive", "motor", "rotor"),),
    "xyz": (_xyz("frames"), _xyz("joints")),
    "rotation": (_rotation("frames"), _rotation("joints")),
}


class Place(NamedTuple):
    """Where a path leads."""

    quantity: Quantity
    name: str
    component: int | None


def find(robot: Robot, path: str) -> Place:
    """Where `path` leads in this robot, or an error that lists what is valid."""
    if not isinstance(path, str):
        raise InputError(f"parameter {path!r}: expected a path such as 'hand.mass', got {type(path).__name__}.")
    head, _, last = path.rpartition(".")
    name, component = head, None
    if last not in QUANTITIES and "." in head:
        inner, _, before = head.rpartition(".")
        if before in QUANTITIES:
            name, component, last = inner, last, before
    if not name or last not in QUANTITIES:
        raise InputError(
            f"parameter {path!r}: expected <name>.<quantity>[.<component>] with a quantity among"
            f" {', '.join(QUANTITIES)}."
        )
    for quantity in QUANTITIES[last]:
        if any(x.name == name for x in getattr(robot, quantity.group)):
            if component is not None and component not in quantity.components:
                raise UnknownNameError(f"component of {name}.{last}", component, quantity.components)
            return Place(quantity, name, None if component is None else quantity.components.index(component))
    groups = [q.group for q in QUANTITIES[last]]
    raise UnknownNameError(
        f"{groups[0][:-1]} in parameter {path!r}:", name, [x.name for g in groups for x in getattr(robot, g)]
    )


def read(robot: Robot, path: str) -> tuple[float, ...]:
    """The numbers a path stands for."""
    place = find(robot, path)
    item = next(x for x in getattr(robot, place.quantity.group) if x.name == place.name)
    try:
        values = place.quantity.read(item)
    except ModelError as error:
        raise InputError(f"parameter {path!r}: {error}; give the robot one first.") from None
    return values if place.component is None else (values[place.component],)


def substitute(robot: Robot, values: Mapping[str, tuple[Scalar, ...]]) -> Robot:
    """The robot with the numbers at these paths exchanged for any scalars, unchecked: a model to trace."""
    new = copy.copy(robot)
    for path, numbers in values.items():
        place = find(robot, path)
        group = list(getattr(new, place.quantity.group))
        k = next(k for k, x in enumerate(group) if x.name == place.name)
        item = copy.copy(group[k])
        if place.component is not None:
            whole = list(place.quantity.read(item))
            whole[place.component] = numbers[0]
            numbers = tuple(whole)
        place.quantity.write(item, numbers)
        group[k] = item
        object.__setattr__(new, place.quantity.group, tuple(group))
    return new
