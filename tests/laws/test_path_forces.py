"""Torques along a path, split by the speed along it, are those of inverse dynamics, and so are their rates."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.planning.path_forces import path_forces, path_friction, path_parts
from support.trees import dynamics, error, tree

SEEDS = [s for s in range(12) if s % 4 in (0, 3)]  # trees without floating joints
ROWS = 7


def along_a_path(robot: lw.Robot, seed: int) -> tuple[np.ndarray, ...]:
    """q and three derivatives by s at random, and s_dot > 0, s_ddot, s_dddot."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, (4, ROWS, robot.nv))
    return q, rng.uniform(0.3, 2.0, (ROWS, 1)), rng.normal(size=(ROWS, 1)), rng.normal(size=(ROWS, 1))


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_make_torques_and_their_rates(seed):
    """With springs, friction of all laws, rotors, motors and mimic joints."""
    robot = tree(seed)
    q, w, u, j = along_a_path(robot, seed)
    motion = q[0], q[1] * w, q[2] * w**2 + q[1] * u, q[3] * w**3 + 3.0 * q[2] * w * u + q[1] * j
    tau, tau_dot = dynamics(robot).force_rates(*motion)
    m, c, g, dm, dc, dg = lw.compile(robot, path_forces)(*q)
    friction, by_speed, by_place = lw.compile(robot, path_friction)(*q[:3], w[:, 0])
    assert error(m * u + c * w**2 + g + friction, tau) < 1e-12
    rest = w * ((dm + 2.0 * c) * u + dc * w**2 + dg + by_place) + by_speed * u
    assert error(m * j + rest, tau_dot) < 1e-11


@pytest.mark.parametrize("seed", SEEDS)
def test_viscous_and_coulomb_friction_are_parts_at_any_speed(seed):
    robot = tree(seed)
    plain = robot.replace(*(_plain(x) for x in robot.joints if x.kind not in ("fixed", "floating")))
    q, w, u, _ = along_a_path(plain, seed)
    tau = dynamics(plain).inverse_dynamics(q[0], q[1] * w, q[2] * w**2 + q[1] * u)
    parts, slope = lw.compile(plain, path_parts)(*q)
    m, c, g, a, b = np.moveaxis(parts, 1, 0)[:5]
    assert error(m * u + c * w**2 + g + a + b * w, tau) < 1e-12
    assert np.array_equal(slope, q[1])


def _plain(joint: lw.Joint) -> lw.Joint:
    """The joint with viscous and Coulomb friction."""
    return replace(joint, friction=lw.Friction(0.7, 0.4), drive=None)
