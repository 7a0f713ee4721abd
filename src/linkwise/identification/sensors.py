"""Force sensors inside a robot: fixed joints through which a wrench is measured.

A fixed joint that is measured counts as one that could move in all six ways and is held still: the six forces along
these ways are the wrench through it, and what lies beyond it is a moving link with parameters of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from linkwise.errors import InputError
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot

FREE = 6  # ways in which a body can move


def sensor_joints(robot: Robot, sensors: Iterable[str]) -> dict[str, Joint]:
    """By sensor the fixed joint that it is in, named by itself or by its child link."""
    fixed = {name: j for j in robot.joints if j.is_fixed for name in (j.name, j.child)}
    found: dict[str, Joint] = {}
    for name in sensors:
        if name not in fixed:
            links = ", ".join(j.child for j in robot.joints if j.is_fixed) or "none"
            raise InputError(
                f"sensor {name!r}: expected a link that a fixed joint carries, or this joint, got none of that name;"
                f" there are {links}. Give the robot a fixed joint where the sensor is."
            )
        if fixed[name] in found.values():
            raise InputError(f"sensor {name!r}: expected each sensor once, got it twice. Leave one out.")
        found[name] = fixed[name]
    return found


def with_sensors(robot: Robot, sensors: Iterable[str]) -> Robot:
    """The robot whose measured joints could move."""
    joints = sensor_joints(robot, sensors).values()
    if not joints:
        return robot
    found = robot.replace(*(replace(j, kind="floating") for j in joints))
    if found.nv != robot.nv + FREE * len(joints):
        names = ", ".join(j.name for j in joints)
        raise InputError(f"sensors in {names}: expected joints outside loops, got one that a loop runs through.")
    return found


def without_sensors(found: Robot, robot: Robot, sensors: Iterable[str]) -> Robot:
    """The robot that `with_sensors` was made of, with the numbers of another one that was made of it."""
    return found.replace(*sensor_joints(robot, sensors).values())
