"""Robots that stand: a body on one leg with a sole, Solo12 on four points, TALOS on two soles."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.planning import Plan
from linkwise.planning.chart import chart_of
from linkwise.planning.contact import space, with_contacts
from linkwise.planning.curve import Curve
from linkwise.planning.ends import State
from linkwise.planning.transcription import Violation
from linkwise.robot import Robot
from tests.support.pinocchio_bridge import example

FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
SOLES = ("left_sole_link", "right_sole_link")
STILL = ("gripper_left_joint", "gripper_right_joint", "head_1_joint", "head_2_joint")


@cache
def hopper() -> tuple[Robot, np.ndarray]:
    """A body of 20 kg on a leg of six joints with a sole, and how it stands."""
    links = [lw.Link("world"), lw.Link("body", 20.0, (0.02, 0.0, 0.1), (0.5, 0.6, 0.3))]
    joints = [lw.Joint("base", "world", "body", "floating")]
    X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    parts = (
        ("yaw", Z, 0.0),
        ("roll", X, 0.0),
        ("hip", Y, 0.0),
        ("knee", Y, -0.4),
        ("pitch", Y, -0.4),
        ("tilt", X, 0.0),
    )
    parent = "body"
    for name, axis, z in parts:
        mass = 3.0 if name in ("hip", "knee") else 0.8
        links.append(lw.Link(name, mass, (0.0, 0.0, -0.2 if mass > 1.0 else -0.02), (0.02, 0.02, 0.01)))
        limits = lw.Limits(effort=300.0, velocity=15.0)
        joints.append(lw.Joint(name, parent, name, "revolute", lw.Pose.of((0.0, 0.0, z)), axis, limits=limits))
        parent = name
    frames = [lw.Frame("sole", "tilt", lw.Pose.of((0.03, 0.0, -0.08)))]
    robot = lw.Robot(links, joints, frames, name="hopper")
    q = robot.q({"base": (0, 0, 0, 0, 0, 0, 1), "hip": -0.5, "knee": 1.0, "pitch": -0.5})
    q[:3] -= lw.compile(robot).pose(q, "sole")[:3, 3]
    return robot, q


@cache
def solo() -> tuple[Robot, np.ndarray]:
    """Solo12 on its feet."""
    robot = lw.load(str(example("solo12.urdf")), base="floating").without_friction()
    legs = {"root_joint": (0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 1.0)}
    for leg, bend in (("FL", 0.8), ("FR", 0.8), ("HL", -0.8), ("HR", -0.8)):
        legs |= {f"{leg}_HFE": bend, f"{leg}_KFE": -2.0 * bend}
    return robot, robot.q(legs)


@cache
def talos() -> tuple[Robot, np.ndarray]:
    """TALOS on its soles, with head and grippers locked and without dry friction."""
    robot = lw.load(str(example("talos_reduced.urdf")), base="floating").lock(STILL).without_friction()
    q = {"root_joint": (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), "torso_2_joint": 0.006761}
    for side, s in (("left", 1.0), ("right", -1.0)):
        q |= {f"leg_{side}_3_joint": -0.411354, f"leg_{side}_4_joint": 0.859395, f"leg_{side}_5_joint": -0.448041}
        q |= {f"arm_{side}_1_joint": 0.25847 * s, f"arm_{side}_2_joint": 0.173046 * s, f"arm_{side}_4_joint": -0.525366}
    start = robot.q(q)
    start[2] -= lw.compile(robot).pose(start, SOLES[0])[2, 3]
    return robot, start


def anyhow(robot: Robot, q: np.ndarray, contacts: list[Any], seed: int = 0, count: int = 14, **options: Any) -> Plan:
    """A plan that nobody made: a random motion near q, with random wrenches of contacts."""
    rng = np.random.default_rng(seed)
    chart = chart_of(robot).centred(q, q)
    start = State(chart.numbers(q, q))
    chart = with_contacts(chart, contacts, start)
    basis = space(5, count, chart)
    points = np.tile(chart.numbers(q, q), (basis.count, 1)) + 0.3 * rng.normal(size=(basis.count, chart.n))
    for stance, at in zip(chart.stances, chart.pushing, strict=True):
        known = stance.fixed(basis)
        points[:, at] = np.where(np.isnan(known), points[:, at], known)
    plan = Plan(robot, Curve(basis, points, 1.3), 0.0, "converged", Violation(0.0, "", 0.0), given_chart=chart)
    return replace(plan, **options)
