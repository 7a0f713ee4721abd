"""Edits of robots. Each returns a new one; `Robot` has them as methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from linkwise.errors import InputError, UnknownNameError
from linkwise.robot import coordinates
from linkwise.robot.drive import Friction
from linkwise.robot.geometry import Shape
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.loop import Loop
from linkwise.robot.structure import unused

if TYPE_CHECKING:
    from linkwise.robot.robot import Robot

BASES = ("fixed", "floating")
GROUPS: dict[type, str] = {Link: "links", Joint: "joints", Frame: "frames", Loop: "loops", Shape: "shapes"}


def replaced(robot: Robot, items: Iterable[Any], values: Mapping[str, Any]) -> Robot:
    """The robot with items exchanged for those of the same kind and name, and with other values of fields."""
    now = {f.name: getattr(robot, f.name) for f in fields(robot)}
    for key in values:
        if key not in now:
            raise UnknownNameError("field of a robot", key, sorted(now))
    new: dict[str, dict[str, Any]] = {}
    for item in items:
        if type(item) not in GROUPS or type(item) is Shape:  # a shape has no name
            raise InputError(f"replace: expected a Link, Joint, Frame or Loop, got {item!r}.")
        group = GROUPS[type(item)]
        find(now[group], item.name, group[:-1])
        new.setdefault(group, {})[item.name] = item
    for group, named in new.items():
        now[group] = [named.get(x.name, x) for x in now[group]]
    return type(robot)(**{**now, **values})


def extended(robot: Robot, items: Iterable[Any]) -> Robot:
    """The robot with further items."""
    grown = {group: list(getattr(robot, group)) for group in GROUPS.values()}
    for item in items:
        if type(item) not in GROUPS:
            raise InputError(f"add: expected a Link, Joint, Frame, Loop or Shape, got {item!r}.")
        grown[GROUPS[type(item)]].append(item)
    return robot.replace(**grown)


def locked(robot: Robot, names: set[str], at: Any) -> Robot:
    """The robot with joints fixed at their positions in `at`."""
    slots = robot.opened().slots
    for name in names:
        find(robot.joints, name, "joint")
    q = coordinates.of_all_joints(robot, names, at)
    joints, links = [], {k.name: k for k in robot.links}
    for j in robot.joints:
        leader = j.mimic.joint if j.mimic else j.name
        if j.is_fixed or (leader not in names and j.name not in names):
            joints.append(j)
            continue
        slot = slots[leader]
        value = [float(x) for x in q[slot.q : slot.q + slot.nq]]
        if j.mimic:
            value = [j.mimic.ratio * value[0] + j.mimic.offset]
        joints.append(Joint(j.name, j.parent, j.child, "fixed", origin=j.pose(value)))
        if j.drive and j.drive.motor:
            links[j.motor_link] = links[j.motor_link].carrying(j.drive.motor)
    return robot.replace(
        joints=joints,
        links=list(links.values()),
        loops=[replace(k, active=tuple(n for n in k.active if n not in names)) for k in robot.loops],
        leads=tuple(n for n in robot.leads if n not in names),
        reference=tuple((n, x) for n, x in robot.reference if n not in names),
    )


def rigid(robot: Robot) -> Robot:
    """The robot with its elastic drives made rigid."""
    drives = [j.drive and replace(j.drive, stiffness=None, damping=0.0) for j in robot.joints]
    return robot.replace(joints=[replace(j, drive=drive) for j, drive in zip(robot.joints, drives, strict=True)])


def without_friction(robot: Robot) -> Robot:
    """The robot without friction and damping."""
    joints = []
    for j in robot.joints:
        drive = j.drive and replace(j.drive, friction=Friction(), damping=0.0)
        spring = j.spring and replace(j.spring, damping=0.0)
        joints.append(replace(j, friction=Friction(), drive=drive, spring=spring))
    return robot.replace(joints=joints)


def loaded(robot: Robot, body: Link, at: str) -> Robot:
    """The robot with a body welded to a frame or link."""
    carrier = robot.frame(at)
    return robot.add(body, Joint(f"{body.name}_mount", carrier.link, body.name, "fixed", origin=carrier.origin))


def attached(robot: Robot, other: Robot, at: str, prefix: str) -> Robot:
    """The robot with another welded to a frame or link, whose names get a prefix."""
    carrier = robot.frame(at)

    def renamed(item: Any, *names: str) -> Any:
        return replace(item, **{n: prefix + getattr(item, n) for n in ("name", *names)})

    joints = []
    for j in other.joints:
        new = renamed(j, "parent", "child")
        if j.mimic:
            new = replace(new, mimic=replace(j.mimic, joint=prefix + j.mimic.joint))
        if j.drive and j.drive.motor and j.drive.motor.link is not None:
            motor = replace(j.drive.motor, link=prefix + j.drive.motor.link)
            new = replace(new, drive=replace(j.drive, motor=motor))
        joints.append(new)
    links = [Link(prefix + k.name, k.mass, k.com, k.inertia) for k in other.links]
    mount = Joint(f"{prefix}{other.name}_mount", carrier.link, prefix + other.root.name, "fixed", carrier.origin)
    loops = [replace(renamed(c, "a", "b"), active=tuple(prefix + n for n in c.active)) for c in other.loops]
    shapes = [replace(k, link=prefix + k.link) for k in other.shapes]
    joined = robot.add(*links, mount, *joints, *(renamed(f, "link") for f in other.frames), *loops, *shapes)
    return joined.replace(
        leads=(*robot.leads, *(prefix + n for n in other.leads)),
        reference=(*robot.reference, *((prefix + n, x) for n, x in other.reference)),
        provenance={prefix + n: x for n, x in other.provenance} | dict(robot.provenance),
    )


def floating(robot: Robot) -> Robot:
    """The robot with its root link on a floating joint "root_joint", carried by a new link "world"."""
    world = unused("world", (k.name for k in robot.links))
    joint = unused("root_joint", (j.name for j in robot.joints))
    free = Joint(joint, world, robot.root.name, "floating")
    return robot.replace(links=[Link(world), *robot.links], joints=[free, *robot.joints])


def find(items: Iterable[Any], name: str, kind: str) -> Any:
    """The item of a name, or an error that lists the names there are."""
    for x in items:
        if x.name == name:
            return x
    raise UnknownNameError(kind, name, [x.name for x in items])
