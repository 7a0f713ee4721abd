"""Robots as tables: the robot built of the rows moves and weighs as the old one."""

import math
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import InputError
from linkwise.formats.dh_writer import Table
from support.everything import pose_error, torque_error
from support.pinocchio_bridge import ROBOTS, example
from support.sources import serial, stanford

NAMES = ["stanford", "puma560", "rr", "pr", "scara", "industrial6", "arm7", "snake6"]
RICH = {"friction": 0.5, "armature": 0.5, "frames": 2}
# tables of these can be had: they have neither mimic joints nor no joint at all
TREES = [p for p in sorted(ROBOTS.rglob("*.urdf")) if p.name in (
    "anymal.urdf", "centauro.urdf", "icub.urdf", "kinova.urdf", "so100.urdf", "talos_reduced.urdf", "ur5_robot.urdf",
)]  # fmt: skip


def rebuilt(table: Table) -> lw.Robot:
    build = lw.modified_dh if isinstance(table.rows[0], lw.dh.DHRow) else lw.khalil
    return build(table.rows, gravity=table.gravity, frames=table.frames)


def agree(robot, table, torque=1e-13, pose=1e-13):
    again = rebuilt(table)
    assert again.names == robot.names
    assert torque_error(robot, again) < torque
    assert pose_error(robot, again, table.base) < pose


@pytest.mark.parametrize("convert", [lw.dh.to_modified_dh, lw.dh.to_khalil])
@pytest.mark.parametrize("name", NAMES)
def test_bundled_robots(name, convert):
    robot = lw.load(name)
    agree(robot, convert(robot))


@pytest.mark.parametrize("seed", range(30))
def test_random_chains(seed):
    robot = lw.random_tree(seed, 6, branching=0.0, kinds=("revolute", "prismatic", "continuous"), **RICH)
    robot = robot.replace(gravity=(1.0, 2.0, -9.0))
    agree(robot, lw.dh.to_modified_dh(robot))
    agree(robot, lw.dh.to_khalil(robot))


@pytest.mark.parametrize("seed", range(30))
def test_random_trees(seed):
    robot = lw.random_tree(seed, 9, branching=0.5, kinds=("revolute", "prismatic", "continuous"), **RICH)
    agree(robot, lw.dh.to_khalil(robot))


@pytest.mark.parametrize("file", TREES, ids=lambda p: p.name)
def test_real_robots(file):
    robot = lw.load(file)
    agree(robot, lw.dh.to_khalil(robot), torque=1e-12, pose=1e-12)


def test_a_table_comes_back():
    """Rows that are such already are found again: parameters, masses, friction and limits."""
    for robot in (stanford(), lw.load("stanford"), lw.load("scara")):
        table = lw.dh.to_modified_dh(robot)
        assert table.base == lw.Pose()
        assert table.tool == lw.Pose()
        again = lw.modified_dh(table.rows, gravity=table.gravity)
        for a, b in zip(again.joints, robot.joints, strict=True):
            assert np.abs(np.array(a.origin.matrix()) - np.array(b.origin.matrix())).max() < 1e-15
            assert (a.friction, a.limits, a.armature) == (b.friction, b.limits, b.armature)
        for a, b in zip(again.links[1:], robot.links[1:], strict=True):
            assert (a.mass, a.com, a.inertia) == (b.mass, b.com, b.inertia)
    rows = lw.dh.to_modified_dh(lw.load("stanford")).rows
    assert [row.alpha for row in rows] == [0.0, -math.pi / 2, math.pi / 2, 0.0, -math.pi / 2, math.pi / 2]
    assert [row.d for row in rows] == [0.412, 0.154, 0.0, 0.0, 0.0, 0.263]
    assert [row.kind for row in rows] == ["revolute"] * 2 + ["prismatic"] + ["revolute"] * 3


def test_standard_becomes_modified():
    robot = serial()
    table = lw.dh.to_modified_dh(robot)
    agree(robot, table)
    assert all(row.alpha == old.alpha for row, old in zip(table.rows[1:], lw.dh.to_khalil(robot).rows[1:], strict=True))


@pytest.mark.parametrize("seed", range(10))
def test_a_dh_table_with_branches_comes_back(seed):
    rng = np.random.default_rng(seed)
    ways = [int(rng.integers(0, k)) for k in range(1, 9)]
    rows = [
        lw.dh.DHRow(*rng.uniform(-1, 1, 4), str(rng.choice(["revolute", "prismatic"])), antecedent=way, mass=1.0)
        for way in ways
    ]
    robot = lw.modified_dh(rows)
    table = lw.dh.to_modified_dh(robot)
    agree(robot, table)
    assert table.base == lw.Pose()


def test_the_base_pose_turns_about_the_vertical_only():
    robot = lw.random_tree(3, 5, branching=0.0)
    base = lw.dh.to_modified_dh(robot).base
    assert base.R.column(2) == base.R.z == (0.0, 0.0, 1.0)
    assert lw.dh.to_modified_dh(robot).gravity == robot.gravity


def test_the_tool_pose_ends_the_chain():
    robot = lw.random_tree(4, 5, branching=0.0)
    table = lw.dh.to_modified_dh(robot)
    again = lw.modified_dh(table.rows, gravity=table.gravity)
    q = np.full(5, 0.3)
    last = np.reshape(lw.pose.plain(again, q, frame="joint5"), (4, 4))
    whole = np.array(table.base.matrix()) @ last @ np.array(table.tool.matrix())
    np.testing.assert_allclose(whole, np.reshape(lw.pose.plain(robot, q, frame="link5"), (4, 4)), atol=1e-14)


# ---- parallel axes


def two(angle, offset=(0.2, 0.0, 0.1)):
    """Two axes that miss being parallel by an angle."""
    links = [lw.Link("base"), lw.Link("a", 1.0, (0.1, 0.2, 0.3)), lw.Link("b", 1.0, (0.3, 0.2, 0.1))]
    tilted = lw.Pose.of(offset, (angle, 0.0, 0.0))
    joints = [lw.Joint("i", "base", "a"), lw.Joint("j", "a", "b", origin=tilted)]
    return lw.Robot(links, joints)


@pytest.mark.parametrize("angle", [0.0, 1e-16, 0.05, 1.0, math.pi / 2, math.pi - 0.05, math.pi])
@pytest.mark.parametrize("offset", [(0.2, 0.0, 0.1), (0.0, 0.3, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, -0.4)])
def test_parallel_and_skew_axes(angle, offset):
    agree(two(angle, offset), lw.dh.to_modified_dh(two(angle, offset)))


def test_axes_that_are_parallel_but_for_a_misprint():
    robot = two(1e-5, (0.2, 0.1, 0.0))
    for convert in (lw.dh.to_modified_dh, lw.dh.to_khalil):
        with pytest.raises(InputError, match=r"joint 'j' is parallel to the one before but for 1.0e-05 rad.*2e-05"):
            convert(robot)
        agree(robot, convert(robot, tolerance=2e-5), torque=1e-4, pose=1e-4)


def test_a_base_that_is_upright_but_for_a_misprint():
    robot = two(1.0)
    tilted = replace(robot.joints[0], origin=lw.Pose.of((0.1, 0.2, 0.3), (1e-7, 0.0, 0.0)))
    for convert in (lw.dh.to_modified_dh, lw.dh.to_khalil):
        agree(robot.replace(tilted), convert(robot.replace(tilted)))


# ---- what a table cannot say


def test_branches_off_the_normal_are_refused_for_dh_only():
    robot = lw.load(example("talos_reduced.urdf"))
    with pytest.raises(
        InputError, match=r"one common normal on link 'torso_2_link', got 'head_1_joint' and 'arm_left_1_j"
    ):
        lw.dh.to_modified_dh(robot)
    assert len(lw.dh.to_khalil(robot).rows) == robot.nv


def test_what_is_refused():
    for convert in (lw.dh.to_modified_dh, lw.dh.to_khalil):
        with pytest.raises(InputError, match="joint 'root_joint' is floating, which a table cannot say"):
            convert(lw.load(example("ur5_robot.urdf"), base="floating"))
        with pytest.raises(InputError, match="joint 'panda_finger_joint2' mimics 'panda_finger_joint1'"):
            convert(lw.load(example("panda.urdf")))
        with pytest.raises(InputError, match="expected a robot with a joint that moves, got none"):
            convert(lw.Robot([lw.Link("a")]))
        with pytest.raises(lw.LinkwiseError, match="tolerance"):
            convert(lw.load("rr"), tolerance=-1.0)


def test_what_is_lost_is_said():
    robot = lw.load("rr")
    robot = robot.replace(
        replace(robot.joints[0], spring=lw.Spring(1.0)), replace(robot.joints[1], drive=lw.Drive(stiffness=5.0))
    )
    table = lw.dh.to_modified_dh(robot)
    assert table.lost == (
        "joint 'joint1': left out: spring.",
        "joint 'joint2': left out: elasticity of the drive.",
    )


def test_a_joint_called_base():
    robot = two(1.0)
    robot = lw.Robot(robot.links, [replace(robot.joints[0], name="base"), robot.joints[1]])
    table = lw.dh.to_khalil(robot)
    assert torque_error(robot, rebuilt(table)) < 1e-14
    assert rebuilt(table).names == ("base_2", "j")
