"""A robot whose root link is free to move."""

from __future__ import annotations

from linkwise.robot.joint import Joint
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.robot.structure import unused

BASES = ("fixed", "floating")


def floating(robot: Robot) -> Robot:
    """The robot with its root link on a floating joint "root_joint", carried by a new link "world"."""
    world = unused("world", (k.name for k in robot.links))
    joint = unused("root_joint", (j.name for j in robot.joints))
    free = Joint(joint, world, robot.root.name, "floating")
    return robot.replace(links=[Link(world), *robot.links], joints=[free, *robot.joints])
