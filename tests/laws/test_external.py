"""Wrenches that the environment exerts."""

import numpy as np
import pytest

import linkwise as lw
from support.trees import SEEDS, dynamics, error, states, tree

pytestmark = pytest.mark.parametrize("seed", SEEDS)


def loaded(robot, names, state, f_ext):
    """Torques less those without load."""
    tau = lw.compile(robot, lw.inverse_dynamics, external=names)(*state, f_ext)
    return tau - dynamics(robot).inverse_dynamics(*state)


def test_external_wrench_is_taken_off_by_the_jacobian(seed):
    """tau changes by -J^T f for a wrench f on a frame, in the frame's axes."""
    robot = tree(seed)
    state = states(robot)
    names = ("tool", "frame2", "frame3", "link2", *(j.child for j in robot.joints if j.is_fixed))
    f_ext = np.random.default_rng(1).normal(size=(len(state[0]), len(names), 6)) * 20.0
    J = np.stack([dynamics(robot).jacobian(state[0], name, axes="local") for name in names], axis=1)
    assert error(loaded(robot, names, state, f_ext), -np.einsum("bfij,bfi->bj", J, f_ext)) < 1e-12


def test_two_wrenches_on_one_body_add(seed):
    """A wrench on a link and one on its frame act as their sum."""
    robot = tree(seed)
    frame = robot.frame("tool")
    state = states(robot)
    f_ext = np.random.default_rng(2).normal(size=(len(state[0]), 2, 6))
    parts = [loaded(robot, (name,), state, f_ext[:, k : k + 1]) for k, name in enumerate(("tool", frame.link))]
    assert error(loaded(robot, ("tool", frame.link), state, f_ext), sum(parts)) < 1e-11


def test_lifting_the_tool_relieves_the_joints(seed):
    """A force that carries the weight of the tool's link leaves the torques of the robot without that mass."""
    robot = tree(seed)
    link = robot.link(robot.frame("tool").link)
    robot = robot.replace(lw.Link(link.name, link.mass, link.com)).add(lw.Frame("com", link.name, lw.Pose(p=link.com)))
    q, qd, _ = states(robot)
    rest = np.zeros_like(qd)
    R = dynamics(robot).pose(q, "com")[:, :3, :3]
    lift = np.concatenate([-link.mass * np.array(robot.gravity) @ R, np.zeros((len(q), 3))], axis=1)
    held = lw.compile(robot, lw.inverse_dynamics, external="com")(q, rest, rest, lift[:, None, :])
    empty = lw.compile(robot.replace(lw.Link(link.name)))
    assert error(held, empty.inverse_dynamics(q, rest, rest)) < 1e-12
