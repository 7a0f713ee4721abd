"""Which joints of a robot with loops lead, and which drives push: declared, or by a rule that needs no numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from linkwise.errors import InputError, ModelError, UnknownNameError
from linkwise.robot import check, coordinates
from linkwise.robot.joint import Joint

if TYPE_CHECKING:
    from linkwise.robot.robot import Robot


def names(value: Any) -> tuple[str, ...]:
    """The field `leads` of a robot."""
    try:
        found = (value,) if isinstance(value, str) else tuple(value)
    except TypeError as error:
        raise ModelError(f"leads: expected names of joints, got {value!r}.") from error
    for name in found:
        if not isinstance(name, str):
            raise ModelError(f"leads: expected names of joints, got {name!r}.")
    if len(set(found)) < len(found):
        raise ModelError(f"leads: expected each joint once, got {found}.")
    return found


def reference(value: Any, joints: Sequence[Joint]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """The field `reference` of a robot: positions by joint."""
    try:
        items = list(value.items() if isinstance(value, Mapping) else value)
        pairs = [(name, x) for name, x in items]
    except (TypeError, ValueError) as error:
        raise ModelError(f"reference: expected positions by joint, such as {{'crank': 0.3}}, got {value!r}.") from error
    by_name = {j.name: j for j in joints}
    found = []
    for name, x in pairs:
        joint = by_name.get(name)
        if joint is None:
            raise ModelError(f"reference: {UnknownNameError('joint', name, by_name)}")
        if not joint.nv:
            raise ModelError(f"reference: expected joints with coordinates, got {name!r}, which has none.")
        given = tuple(x) if isinstance(x, Iterable) else (x,)
        found.append((name, check.numbers(given, f"reference {name!r}", joint.freedom.nq)))
    check.unique((name for name, _ in found), "joint in reference")
    return tuple(found)


def check_robot(robot: Robot) -> None:
    """Refuse names that two coordinates would have, and leads that are no joints with coordinates."""
    coordinates.packed(robot.joints)
    by_name = {j.name: j for j in robot.joints}
    for name in robot.leads:
        if name not in by_name:
            raise ModelError(f"leads: {UnknownNameError('joint', name, by_name)}")
        if not by_name[name].nv:
            raise ModelError(f"leads: expected joints with coordinates of their own, got {name!r}. Name another.")
    closing = [loop.name for loop in robot.loops if not loop.is_wheel]
    if robot.rolls and closing:
        raise ModelError(
            f"robot {robot.name!r}: expected wheels alone or loops that close alone, got wheels and the loop"
            f" {closing[0]!r}. Replace the loop by joints that mimic, or leave the wheels to forces (RollingWheel)."
        )


def refuse_wheels(robot: Any, what: str, instead: str = "") -> None:
    """Refuse a robot on wheels where each position must have a velocity of its own."""
    if getattr(robot, "rolls", False):
        held = ", ".join(repr(n) for n in robot.slots if n not in robot.speeds)
        raise InputError(
            f"{what}: expected a robot whose positions change one by one, got {robot.name!r} on wheels that do not"
            f" slip: positions of {held} can only be reached along a path ({robot.nq} positions, {robot.nv}"
            f" velocities). {instead or 'Use inverse_dynamics, forward_dynamics, joint_wrenches and simulate.'}"
        )


def leading_joints(robot: Robot) -> set[str]:
    """The joints whose positions are chosen: all outside of loops, and inside them those that lead."""
    groups = looped_groups(robot)
    inside = {name for group in groups for name in group}
    lead = {j.name for j in robot.joints if j.nv and j.name not in inside} | (set(robot.leads) & inside)
    active = {name for loop in robot.loops for name in loop.active}
    for group in groups:
        if any(name in robot.leads for name in group):
            continue
        members = [j for j in robot.joints if j.name in group]
        platforms = {j.name for j in members if _is_platform(j) and j.name not in active and not robot.rolls}
        lead |= platforms or {j.name for j in members if j.name in active}
    return lead


def drives(robot: Robot) -> tuple[str, ...]:
    """The names of what pushes, in the order of `tau`."""
    lead = leading_joints(robot)
    active = {name for loop in robot.loops for name in loop.active}
    follow = [j for j in robot.joints if j.name in active and j.name not in lead and j.nv and not j.is_elastic]
    if not follow:
        return robot.speeds
    inside = {name for group in looped_groups(robot) for name in group}
    driven = active | {j.name for j in robot.joints if j.name not in inside}
    elastic = {j.name for j in robot.joints if j.is_elastic}
    joints = [name for name in robot.opened().slots if name in driven and name not in elastic]
    return (*joints, *(j.motor_name for j in robot.joints if j.is_elastic))


def drive_places(robot: Robot) -> tuple[int, ...]:
    """Where drives are in `tau` of a robot with loops; what is there beside them are residuals."""
    inside = {name for group in looped_groups(robot) for name in group}
    active = {name for loop in robot.loops for name in loop.active}
    by_name = {j.name: j for j in robot.joints}
    places: list[int] = []
    at, slots = 0, robot.opened().slots
    for name in robot.drives:
        joint = by_name.get(name)
        driven = joint is None or (not joint.is_elastic and (name in active or name not in inside))
        places += range(at, at + slots[name].nv) if driven else ()
        at += slots[name].nv
    return tuple(places)


def looped_groups(robot: Robot) -> list[set[str]]:
    """The joints with coordinates that lie in loops, those together whose loops share one."""
    above = {j.child: j for j in robot.joints}

    def up(link: str) -> list[Joint]:
        chain = []
        while link in above:
            chain.append(above[link])
            link = above[link].parent
        return chain

    groups: list[set[str]] = []
    for loop in robot.loops:
        a, b = up(loop.a), up(loop.b)
        shared = {j.name for j in a} & {j.name for j in b}
        apart = [j for j in (*a, *b) if j.name not in shared and not j.is_fixed]
        found = {j.mimic.joint if j.mimic else j.name for j in apart}
        touched = [g for g in groups if g & found]
        groups = [g for g in groups if not g & found]
        groups.append(found.union(*touched))
    return groups


def _is_platform(joint: Joint) -> bool:
    """Whether a joint moves in several directions, as what a machine on legs carries does."""
    return joint.freedom.nv > 2 and any(joint.freedom.lengths)
