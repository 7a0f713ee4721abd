"""Forward dynamics with inertias as inputs: right where they determine the motion, NaN where they do not."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot.parameters import substitute
from support.trees import error, states, tree

ROUTES = ["inertia", "articulated"]
POINT = np.array([2.0, 0.1, 0.05, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # mass, com, tensor: a particle


def gimbal():
    """Two rings without mass and a head."""
    links = [lw.Link("ground"), lw.Link("outer"), lw.Link("inner")]
    links.append(lw.Link("head", 2.0, (0.1, 0.05, 0.2), (0.02, 0.03, 0.04)))
    joints = [
        lw.Joint("yaw", "ground", "outer", axis=(0, 0, 1)),
        lw.Joint("pitch", "outer", "inner", axis=(0, 1, 0)),
        lw.Joint("roll", "inner", "head", axis=(0, 0, 1)),
    ]
    return lw.Robot(links, joints)


@pytest.mark.parametrize("route", ROUTES)
def test_a_singular_state_is_nan_and_its_neighbours_are_not(route):
    robot, kernel_of = gimbal(), {"parameters": ("head.mass", "head.com", "head.inertia"), "route": route}
    off = np.array([0.0, 1e-12, 1e-9, 1e-7, np.pi, 0.1, 1.0, -2.0])  # from yaw and roll in line
    q = np.stack([np.full(8, 0.3), off, np.full(8, 0.7)], axis=1)
    qd, qdd = np.random.default_rng(0).normal(size=(2, 8, 3))
    tau = lw.compile(robot).inverse_dynamics(q, qd, qdd)
    kernel = lw.compile(robot, lw.forward_dynamics, **kernel_of)
    found = kernel(q, qd, tau, kernel.parameters)
    assert np.isnan(found[:5]).all()
    assert error(found[5:], qdd[5:]) < 1e-10
    mixed = lw.compile(robot, lw.hybrid_dynamics, driven=("yaw",), **kernel_of)
    tau[:, 0] = qdd[:, 0]
    assert error(mixed(q, qd, tau, mixed.parameters).qdd, qdd) < 1e-10


@pytest.mark.parametrize("route", ROUTES)
def test_values_without_inertia_are_nan(route):
    """A head that becomes a particle, nothing, or less than nothing, in rows of one batch."""
    robot = gimbal()
    kernel = lw.compile(robot, lw.forward_dynamics, parameters=("head.mass", "head.com", "head.inertia"), route=route)
    q, qd, tau = np.full((5, 3), 0.4), np.ones((5, 3)), np.ones((5, 3))
    rows = np.array([kernel.parameters, POINT, 0.0 * POINT, kernel.parameters * -1.0, kernel.parameters])
    found = kernel(q, qd, tau, rows)
    assert np.isfinite(found[[0, 4]]).all()
    assert np.isnan(found[1:4]).all(axis=1).all()


@pytest.mark.parametrize("route", ROUTES)
def test_a_mass_of_zero_at_the_end_of_a_chain_is_nan(route):
    """Only what M does not determine: the joints before it move as without the link."""
    links = [lw.Link("ground"), lw.Link("arm", 1.0, (0.3, 0, 0), (0.1, 0.2, 0.3)), lw.Link("hand", 0.5, (0.2, 0, 0))]
    robot = lw.Robot(links, [lw.Joint("a", "ground", "arm"), lw.Joint("b", "arm", "hand", axis=(0, 1, 0))])
    kernel = lw.compile(robot, lw.forward_dynamics, parameters="hand.mass", route=route)
    found = kernel([[0.3, 0.4]] * 2, [[1.0, 2.0]] * 2, [[1.0, 0.1]] * 2, [[0.5], [0.0]])
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1, 1])


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("seed", range(3))
def test_other_values_are_those_of_a_robot_that_has_them(seed, route):
    robot = tree(seed, mimic=0.0, motors=0.0)
    robot = robot.replace(joints=[replace(j, armature=0.0) for j in robot.joints])
    last = robot.moving_links[-1]
    path = f"{getattr(last, 'name', last)}.mass"
    kernel = lw.compile(robot, lw.forward_dynamics, parameters=path, route=route)
    q, qd, tau = states(robot)
    value = kernel.parameters * 1.7
    same = lw.compile(substitute(robot, {path: tuple(value.tolist())}), lw.forward_dynamics, route=route)
    assert error(kernel(q, qd, tau, value), same(q, qd, tau)) < 1e-9
