"""Numbers of a robot by path, such as "hand.mass", "elbow.viscous" or "tool.xyz.z"; a joint's axis is not among them.

A path is a link's, joint's or frame's name, a quantity, and perhaps a component. The quantity tells the kind, so that
a link and a joint may share a name.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

from linkwise.errors import InputError, ModelError, UnknownNameError
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar
from linkwise.vector import Mat3, Vec3

XYZ = ("x", "y", "z")
GEOMETRY = ("xyz", "rotation", "anchor", "ratio", "offset")
TENSOR = ("xx", "xy", "xz", "yy", "yz", "zz")
MATRIX = tuple(f"{i}{j}" for i in "xyz" for j in "xyz")


class Quantity(NamedTuple):
    """Where a quantity of an item is, as attributes of attributes, and the names of its components."""

    group: str
    path: tuple[str, ...]
    components: tuple[str, ...] = ()

    def read(self, item: Any) -> tuple[Scalar, ...]:
        """The quantity as numbers."""
        for attribute in self.path:
            item = getattr(item, attribute)
            if item is None:
                raise ModelError(f"it has no {attribute}")
        if isinstance(item, Mat3):
            return tuple(x for row in item for x in row)
        return tuple(item) if self.components else (item,)

    def write(self, item: Any, values: tuple[Scalar, ...]) -> None:
        """Exchange the quantity's numbers in an item that is a copy already."""
        for attribute in self.path[:-1]:
            inner = copy.copy(getattr(item, attribute))
            object.__setattr__(item, attribute, inner)
            item = inner
        old: Any = getattr(item, self.path[-1])
        new: Any = tuple(values) if self.components else values[0]
        if isinstance(old, Vec3):
            new = Vec3(*values)
        elif isinstance(old, Mat3):
            new = Mat3.of([values[0:3], values[3:6], values[6:9]])
        object.__setattr__(item, self.path[-1], new)


QUANTITIES: dict[str, tuple[Quantity, ...]] = {
    "mass": (Quantity("links", ("mass",)),),
    "com": (Quantity("links", ("com",), XYZ),),
    "inertia": (Quantity("links", ("inertia",), TENSOR),),
    "xyz": (Quantity("frames", ("origin", "p"), XYZ), Quantity("joints", ("origin", "p"), XYZ)),
    "rotation": (Quantity("frames", ("origin", "R"), MATRIX), Quantity("joints", ("origin", "R"), MATRIX)),
    "anchor": (Quantity("joints", ("anchor",), XYZ),),
    "ratio": (Quantity("joints", ("mimic", "ratio")),),
    "offset": (Quantity("joints", ("mimic", "offset")),),
    "armature": (Quantity("joints", ("armature",)),),
    "viscous": (Quantity("joints", ("friction", "viscous")),),
    "coulomb": (Quantity("joints", ("friction", "coulomb")),),
    "static": (Quantity("joints", ("friction", "static")),),
    "stribeck": (Quantity("joints", ("friction", "stribeck")),),
    "width": (Quantity("joints", ("friction", "width")),),
    "friction_offset": (Quantity("joints", ("friction", "offset")),),
    "stiffness": (Quantity("joints", ("spring", "stiffness")),),
    "damping": (Quantity("joints", ("spring", "damping")),),
    "rest": (Quantity("joints", ("spring", "rest")),),
    "drive_stiffness": (Quantity("joints", ("drive", "stiffness")),),
    "drive_damping": (Quantity("joints", ("drive", "damping")),),
    "gear": (Quantity("joints", ("drive", "gear")),),
    "rotor": (Quantity("joints", ("drive", "motor", "rotor")),),
    "motor_mass": (Quantity("joints", ("drive", "motor", "mass")),),
    "motor_com": (Quantity("joints", ("drive", "motor", "com"), XYZ),),
    "motor_inertia": (Quantity("joints", ("drive", "motor", "inertia"), TENSOR),),
    "motor_axis": (Quantity("joints", ("drive", "motor", "axis"), XYZ),),
    "motor_viscous": (Quantity("joints", ("drive", "friction", "viscous")),),
    "motor_coulomb": (Quantity("joints", ("drive", "friction", "coulomb")),),
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
        other = f"drive_{place.quantity.path[-1]}"  # a passive spring was named, a drive's may be meant
        meant = other in QUANTITIES and place.quantity.path[0] == "spring" and getattr(item, "is_elastic", False)
        remedy = f"its drive has: use {place.name}.{other}" if meant else "give the robot one first"
        raise InputError(f"parameter {path!r}: {error}; {remedy}.") from None
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
    for derived in ("_opened", "couplings"):  # which have the old numbers
        new.__dict__.pop(derived, None)
    return new


def moves_joints(path: str) -> bool:
    """Whether a number is one of those that say where joints are."""
    return any(word in GEOMETRY for word in path.split(".")[-2:])
