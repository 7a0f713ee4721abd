"""Limits of drives in rollouts: saturation, torque-speed lines, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from support.arms import arm
from support.trees import error

ROBOT = arm(3).without_friction()


def accelerations(rollout, q, qd, u, dt=1e-3):
    return (rollout.step(q, qd, u, dt).qd_new - qd) / dt


def test_torques_are_cut_off():
    """One number for all joints, and numbers by name."""
    rng = np.random.default_rng(0)
    q, qd, u = rng.normal(size=(3, 50, 3)) * [[[1.0]], [[1.0]], [[30.0]]]
    dyn = lw.compile(ROBOT)
    for given, most in ((10.0, [10.0, 10.0, 10.0]), ({"joint2": 5.0, "joint1": 0}, [0.0, 5.0, np.inf])):
        rollout = lw.compile_rollout(ROBOT, method="euler", torque_limits=given)
        expected = dyn.forward_dynamics(q, qd, np.clip(u, np.negative(most), most))
        assert error(accelerations(rollout, q, qd, u), expected) < 1e-10


def test_a_line_bounds_what_drives_and_not_what_brakes():
    """From 20 N m at rest to none at 4 rad/s, where a driven wheel settles; one that brakes is not held back."""
    points = [(0.0, 20.0), (4.0, 0.0)]
    robot = lw.Robot(
        [lw.Link("base"), lw.Link("wheel", 1.0, inertia=(0.1, 0.1, 0.5))], [lw.Joint("axle", "base", "wheel")]
    )
    rollout = lw.compile_rollout(robot, torque_limits={"axle": points})
    driven = rollout([0.0], [0.0], [100.0], 1e-3, steps=4000)
    t = 1e-3 * np.arange(1, 4001)
    np.testing.assert_allclose(driven.qd[:, 0], 4.0 * (1.0 - np.exp(-10.0 * t)), rtol=1e-9)  # (20 / 4) / 0.5
    braked = rollout([0.0], [9.0], [-100.0], 1e-3, steps=100)
    np.testing.assert_allclose(braked.qd[:, 0], 9.0 - 40.0 * t[:100], rtol=1e-12)
    beyond = rollout([0.0], [9.0], [100.0], 1e-3, steps=100)
    np.testing.assert_allclose(beyond.qd[:, 0], 9.0)
    back = rollout([0.0], [0.0], [-100.0], 1e-3, steps=4000)
    np.testing.assert_allclose(back.qd, -driven.qd)


def test_the_robots_own_limits():
    """Efforts, and the curve of a drive seen through its gear; of joints without either, none."""
    first, second, third = ROBOT.joints
    gear = 50.0
    curve = lw.Drive(gear=gear, curve=((0.0, 0.8), (100.0, 0.8), (200.0, 0.2)))
    robot = ROBOT.replace(joints=[replace(first, limits=lw.Limits(effort=7.0)), replace(second, drive=curve), third])
    rollout = lw.compile_rollout(robot, method="euler", torque_limits=True)
    speeds = np.linspace(-6.0, 6.0, 41)
    most = np.interp(speeds, [100 / gear, 200 / gear], [0.8 * gear, 0.2 * gear])
    q, qd, u = np.zeros((41, 3)), np.stack([0 * speeds, speeds, 0 * speeds], axis=1), np.full((41, 3), 100.0)
    expected = lw.compile(robot).forward_dynamics(q, qd, np.stack([0 * speeds + 7.0, most, 0 * speeds + 100.0], axis=1))
    assert error(accelerations(rollout, q, qd, u), expected) < 1e-10


def test_the_linearization_knows_the_limits():
    """A saturated joint does not answer to its input; on a line it is damped."""
    rollout = lw.compile_rollout(ROBOT, method="euler", torque_limits={"joint1": 1.0, "joint2": [(0, 9.0), (3.0, 0)]})
    q, qd = np.zeros(3), np.array([0.0, 1.0, 0.0])
    A, B = rollout.linearization(q, qd, [50.0, 50.0, 50.0], 1e-3)
    assert np.abs(B[:, :2]).max() == 0.0
    assert np.abs(B[3:, 2]).min() > 0.0
    h = 1e-5
    ends = [rollout.step(q, qd + s * h * np.eye(3), [50.0, 50.0, 50.0], 1e-3).qd_new for s in (1, -1)]
    assert error(A[3:, 3:], (ends[0] - ends[1]).T / (2 * h)) < 1e-9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (True, r"torque_limits: expected limits of effort or drives with curves, got the robot 'arm', which has none"),
        ({"elbow": 3.0}, r"unknown drive in torque_limits 'elbow'"),
        (-1.0, r"torque_limits 'joint1': torque"),
        ({"joint1": "strong"}, r"torque_limits 'joint1': torque"),
        ({"joint1": [(0.0, 2.0)]}, r"expected a number, or points \(speed, torque\) in rising speeds"),
        ({"joint1": [(3.0, 2.0), (1.0, 0.0)]}, r"expected a number, or points \(speed, torque\) in rising speeds"),
        ({"joint1": [(0.0, 2.0), (1.0,)]}, r"torque_limits 'joint1': point \(speed, torque\)"),
    ],
)
def test_bad_limits(given, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.compile_rollout(ROBOT, torque_limits=given)


def test_torques_that_are_not_numbers_stay_so():
    """A saturation must not hide a NaN."""
    rollout = lw.compile_rollout(ROBOT, torque_limits=1.0)
    assert np.isnan(rollout.step(np.zeros(3), np.zeros(3), [np.nan, 0.0, 0.0], 1e-3).qd_new).any()
