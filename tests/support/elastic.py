"""Robots with elastic drives: random ones, and the arm of Hua, Poursina and Sanfilippo."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.robot import Robot
from linkwise.vector import Mat3, Vec3
from support.sources import case

FEATURES = {"armature": 0.4, "motors": 0.7, "elastic": 0.6, "frames": 2}
LOSSES = {"friction": 0.5, "springs": 0.4}


@cache
def elastic_tree(seed: int, joints: int = 5, **options: Any) -> Robot:
    """A robot with rigid and elastic drives, motors on any link; each third has a floating base, odd ones mimics."""
    features = {**FEATURES, **LOSSES, "floating": seed % 3 == 1, "mimic": 0.25 * (seed % 2), **options}
    robot = lw.random_tree(seed, joints, **features)
    if not any(j.is_elastic for j in robot.joints):  # chance left all rigid
        last = [j for j in robot.joints if j.kind in ("revolute", "prismatic")][-1]
        drive = replace(last.drive or lw.Drive(), stiffness=100.0)
        robot = robot.replace(replace(last, drive=drive, armature=0.0 if drive.motor else 0.1))
    return robot


def ideal_elastic_tree(seed: int, **options: Any) -> Robot:
    """The same without friction, damping and passive springs."""
    return elastic_tree(seed, **{"friction": 0.0, "springs": 0.0, **options})


@cache
def with_free_motors(seed: int, joints: int = 5, mount: str = "any", **options: Any) -> Robot:
    """A robot whose motors on links are all behind springs; mounted on "any" link, on the "parent" or on the "base"."""
    robot = elastic_tree(seed, joints, **{"mimic": 0.0, **options})
    return robot.replace(joints=[_freed(j, mount) for j in robot.joints])


def _freed(j: lw.Joint, mount: str) -> lw.Joint:
    if j.drive is None or j.drive.motor is None:
        return j
    if not j.is_elastic:
        return replace(j, drive=None, armature=0.1)
    link = {"any": j.drive.motor.link, "parent": None, "base": "base"}[mount]
    return replace(j, drive=replace(j.drive, motor=replace(j.drive.motor, link=link)))


def tied(robot: Robot) -> np.ndarray:
    """P with [qd; thetad] = P qd where motors turn with their joints."""
    n = robot.nv - sum(j.is_elastic for j in robot.joints)
    return np.stack([robot.v(unit) for unit in np.eye(n)], axis=1)


def hua_arm(stiffness: float | None = None, gravity: Any = (0.0, 0.0, -9.81)) -> Robot:
    """The arm of case 000, whose link frames stand at their joints in the source's axes of frame i+1."""
    c = case("000_arm3_table1")
    names = ["base", "link1", "link2", "link3"]
    links, joints, at = [lw.Link("base")], [], np.zeros(3)
    for i, (R, m) in enumerate(zip(c["Rfix"], c["motors"], strict=True)):
        motor = lw.Motor(names[m["link"]], rotor=m["Iz"], axis=m["z"])
        soft = (stiffness or c["K"][i]) if c["elastic"][i] else None
        drive = lw.Drive(motor, gear=m["eta"], stiffness=soft)
        links.append(lw.Link(names[i + 1], c["m"][i], c["r_oi_ci"][i], c["Ibar"][i]))
        origin = lw.Pose(Mat3.of(R), Vec3(*at.tolist()))
        axis = np.transpose(R) @ [0.0, 0.0, 1.0]
        joints.append(lw.Joint(f"joint{i + 1}", names[i], names[i + 1], "revolute", origin, axis, drive=drive))
        at = np.array(c["r_oi_oi1"][i])
    return Robot(links, joints, [lw.Frame("tool", "link3", lw.Pose(p=Vec3(*at.tolist())))], gravity=gravity)
