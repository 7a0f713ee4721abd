"""Poses, velocities and momenta."""

import numpy as np
import pytest

import linkwise as lw
from support.trees import SEEDS, dynamics, error, masses, rate_along, seen_from, states, tree, vee

pytestmark = pytest.mark.parametrize("seed", SEEDS)


def points(robot):
    """The tool, and a link that is welded or moves."""
    return "tool", next((j.child for j in robot.joints[::-1] if j.is_fixed), "link2")


def test_velocity_is_the_rate_of_the_pose(seed):
    """v = p_dot, and hat(omega) = R_dot R^T."""
    robot = tree(seed)
    dyn, (q, qd, _) = dynamics(robot), states(robot, 3)
    for name in points(robot):
        v, T = dyn.velocity(q, qd, name), dyn.pose(q, name)
        for k in range(len(q)):
            T_dot = rate_along(robot, lambda q, n=name: lw.pose.plain(robot, q, frame=n), q[k], qd[k]).reshape(4, 4)
            assert error([*T_dot[:3, 3], *vee(T_dot[:3, :3] @ T[k, :3, :3].T)], v[k]) < 1e-12


def test_acceleration_is_the_rate_of_the_velocity(seed):
    """a = v_dot in world axes."""
    robot = tree(seed)
    dyn, (q, qd, qdd) = dynamics(robot), states(robot, 3)
    for name in points(robot):
        a = dyn.acceleration(q, qd, qdd, name)
        for k in range(len(q)):
            v_dot = rate_along(
                robot, lambda q, qd, n=name: lw.algorithms.velocity.plain(robot, q, qd, frame=n), q[k], qd[k], qdd[k]
            )
            assert error(a[k], v_dot) < 1e-12


def test_jacobian_gives_the_velocity(seed):
    """J qd = v, and the local ones are the same in the frame's axes."""
    robot = tree(seed)
    dyn, (q, qd, qdd) = dynamics(robot), states(robot)
    for name in points(robot):
        J, v = dyn.jacobian(q, name), dyn.velocity(q, qd, name)
        assert error(np.einsum("bij,bj->bi", J, qd), v) < 1e-12
        R = dyn.pose(q, name)[:, :3, :3]
        back = np.zeros((len(q), 6, 6))
        back[:, :3, :3] = back[:, 3:, 3:] = R.swapaxes(1, 2)
        assert error(dyn.jacobian(q, name, axes="local"), back @ J) < 1e-12
        assert error(dyn.velocity(q, qd, name, axes="local"), np.einsum("bij,bj->bi", back, v)) < 1e-12
        a = dyn.acceleration(q, qd, qdd, name)
        assert error(dyn.acceleration(q, qd, qdd, name, axes="local"), np.einsum("bij,bj->bi", back, a)) < 1e-12


def test_poses_are_the_poses_of_links(seed):
    """poses() row by row = pose(link), and a frame stands in its link."""
    robot = tree(seed)
    dyn, (q, _, _) = dynamics(robot), states(robot)
    for k, link in enumerate(robot.moving_links):
        assert error(dyn.poses(q)[:, k], dyn.pose(q, link)) < 1e-13
    frame = robot.frame("tool")
    assert error(dyn.pose(q, "tool"), dyn.pose(q, frame.link) @ np.array(frame.origin.matrix())) < 1e-13


def test_poses_are_rigid(seed):
    """R^T R = 1 and det R = 1."""
    robot = tree(seed)
    q, _, _ = states(robot)
    R = dynamics(robot).poses(q)[..., :3, :3]
    assert error(R.swapaxes(-1, -2) @ R, np.broadcast_to(np.eye(3), R.shape)) < 1e-14
    assert error(np.linalg.det(R), np.ones(R.shape[:-2])) < 1e-14


def test_momentum_is_that_of_the_bodies(seed):
    """Sum over bodies of m c_dot and of c x m c_dot + I omega, no motor spinning."""
    robot = tree(seed, motors=0.0)
    q, qd, _ = states(robot, 3)
    momentum = dynamics(robot).momentum(q, qd)
    for k in range(len(q)):
        total = np.zeros(6)
        for link, mass, com, I_c in masses(robot):
            T = np.reshape(lw.pose.plain(robot, q[k].tolist(), frame=link), (4, 4))
            T_dot = rate_along(robot, lambda q, n=link: lw.pose.plain(robot, q, frame=n), q[k], qd[k]).reshape(4, 4)
            R = T[:3, :3]
            c, c_dot = R @ com + T[:3, 3], T_dot[:3, :3] @ com + T_dot[:3, 3]
            spin = R @ I_c @ R.T @ vee(T_dot[:3, :3] @ R.T)
            total += [*(mass * c_dot), *(np.cross(c, mass * c_dot) + spin)]
        assert error(momentum[k], total) < 1e-12


def test_momentum_of_a_floating_robot_is_in_the_mass_matrix(seed):
    """The first six rows of M qd are the momentum, motors included, in the body's axes about its origin."""
    robot = tree(seed, floating=True, motors=0.6)
    dyn, (q, qd, _) = dynamics(robot), states(robot)
    rows = np.einsum("bij,bj->bi", dyn.mass_matrix(q), qd)[:, :6]
    T = dyn.pose(q, "body")
    found = [seen_from(T[k], rows[k]) for k in range(len(q))]
    assert error(dyn.momentum(q, qd), found) < 1e-12
