"""Machines without friction that plans, timings and controllers lead, and what surrounds them."""

from dataclasses import dataclass

import linkwise as lw
from linkwise.robot.joint.curve import Course, Curve
from linkwise.scalar import sin
from support.every_machine import elastic, sort


def waves(t):
    """A base that shakes and turns."""
    return lw.Pose.of((0.03 * sin(6.0 * t), 0.0, 0.02 * t), rpy=(0.1 * sin(3.0 * t), 0.0, 0.3 * t))


def push(t):
    """A load on the robot."""
    return 2.0, 3.0 * t, -1.0, 0.1, 0.05 * t, 0.0


@dataclass(frozen=True)
class Case:
    """A machine without friction, whose jumps have no rates; a link that is pushed, and whether the base moves."""

    robot: lw.Robot
    pushed: str
    base_motion: bool = False
    width: float = 0.15


def knee() -> lw.Robot:
    course = Course(x=Curve((0.0, 0.01, -0.02)), y=Curve((0.0, 0.02, -0.03)), turn_z=Curve((0.0, 1.0)))
    thigh, shank = (lw.Link(n, 4.0, (0.2, 0.0, 0.0), (0.02, 0.1, 0.1)) for n in ("thigh", "shank"))
    hip = lw.Joint("hip", "pelvis", "thigh", axis=(0.0, 0.0, 1.0))
    rolls = lw.Joint("knee", "thigh", "shank", "coupled", lw.Pose.of((0.4, 0.0, 0.0)), course=course)
    return lw.Robot([lw.Link("pelvis"), thigh, shank], [hip, rolls], gravity=(9.81, 0.0, 0.0), name="leg")


def case(name: str) -> Case:
    if name == "coupled":
        return Case(knee(), "shank", width=0.4)
    if name == "elastic, moving base, small":
        return Case(undamped(elastic(lw.load("rr"), {"joint1", "joint2"})), "link2", True, 0.5)
    made = sort(name)
    return Case(undamped(made.robot), made.pushed, made.base_motion, made.width)


def undamped(robot: lw.Robot) -> lw.Robot:
    return robot.without_friction()


def satellite() -> lw.Robot:
    """A body that floats without gravity, with an arm."""
    links = [
        lw.Link("world"),
        lw.Link("body", 120.0, (0.0, 0.0, 0.0), (20.0, 22.0, 18.0)),
        lw.Link("upper", 12.0, (0.5, 0.0, 0.0), (0.1, 1.0, 1.0)),
        lw.Link("fore", 8.0, (0.4, 0.0, 0.0), (0.1, 0.6, 0.6)),
    ]
    limits = lw.Limits(effort=20.0)
    joints = [
        lw.Joint("base", "world", "body", "floating"),
        lw.Joint("yaw", "body", "upper", origin=lw.Pose.of((0.5, 0.0, 0.2)), limits=limits),
        lw.Joint("elbow", "upper", "fore", origin=lw.Pose.of((1.0, 0.0, 0.0)), axis=(0.0, 1.0, 0.0), limits=limits),
    ]
    return lw.Robot(links, joints, gravity=(0.0, 0.0, 0.0), name="satellite")
