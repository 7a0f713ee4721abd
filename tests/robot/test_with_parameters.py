"""Robots whose parameters are given have them, and the torques that follow from them."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot.lumped_parameters import pseudo_inertia
from support.every_machine import SORTS, sort
from support.everything import everything
from support.trees import error, states

TREES = {"friction": 0.6, "armature": 0.4, "motors": 0.6, "fixed": 0.5, "mimic": 0.3, "elastic": 0.4}


def random_robot(seed, **further):
    return lw.random_tree(seed, 7, floating=seed % 3 == 0, **{**TREES, **further})


def dry(robot):
    """The robot with Coulomb's law of friction, as the regressor has it."""
    laws = [(replace(j.friction, law="coulomb"), j.drive) for j in robot.joints]
    drives = [d and replace(d, friction=replace(d.friction, law="coulomb")) for _, d in laws]
    return robot.replace(
        joints=[replace(j, friction=f, drive=d) for j, (f, _), d in zip(robot.joints, laws, drives, strict=True)]
    )


def disturbed(robot, seed):
    """Parameters of other bodies and frictions: each link lighter or heavier, its pseudo-inertia congruent."""
    rng = np.random.default_rng(seed)
    theta = robot.parameters()
    n = len(robot.moving_links)
    for k in range(n):
        T = np.eye(4) + 0.3 * rng.uniform(-1.0, 1.0, (4, 4))
        P = T @ pseudo_inertia(theta[10 * k : 10 * k + 10]) @ T.T
        I = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
        theta[10 * k : 10 * k + 10] = [P[3, 3], *P[:3, 3], I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]]
    theta[10 * n :] *= rng.uniform(0.2, 2.0, len(theta) - 10 * n)
    return theta


@pytest.mark.parametrize("seed", range(12))
def test_the_same_parameters_leave_the_robot_as_it_is(seed):
    for robot in (random_robot(seed), everything(seed)):
        assert robot.with_parameters(robot.parameters()) == robot
        assert robot.with_parameters({}) == robot


@pytest.mark.parametrize("name", SORTS)
def test_the_same_parameters_on_every_machine(name):
    robot = sort(name).robot
    assert robot.with_parameters(robot.parameters()) == robot


@pytest.mark.parametrize("name", SORTS)
def test_torques_change_as_the_regressor_says_on_every_machine(name):
    machine = sort(name)
    robot, motion, around = machine.robot, machine.states(), machine.surroundings()
    change = np.random.default_rng(3).uniform(0.05, 0.15) * robot.parameters()
    new = replace(machine, robot=robot.with_parameters(robot.parameters() + change))
    before, after = (x.dynamics().inverse_dynamics(*motion, *around) for x in (machine, new))
    Y = machine.dynamics().regressor(*motion, *around)
    np.testing.assert_allclose(after - before, Y @ change, atol=1e-9 * np.abs(after).max())


@pytest.mark.parametrize("seed", range(12))
def test_a_robot_has_the_parameters_that_it_is_given(seed):
    robot = random_robot(seed)
    theta = disturbed(robot, seed)
    new = robot.with_parameters(theta)
    np.testing.assert_allclose(new.parameters(), theta, rtol=1e-11, atol=1e-12 * np.abs(theta).max())
    assert not [d for d in new.diagnostics if d.level == "error"]
    by_name = robot.with_parameters(dict(zip(robot.parameter_names, theta, strict=True)))
    assert by_name == new


@pytest.mark.parametrize("seed", range(6))
def test_regressor_times_parameters_is_the_new_robots_inverse_dynamics(seed):
    robot = dry(random_robot(seed, springs=0.0))
    theta = disturbed(robot, seed)
    new, state = robot.with_parameters(theta), states(robot)
    still = robot.with_parameters(0.0 * theta)  # springs of elastic drives are left
    rest = lw.compile(still).inverse_dynamics(*state)
    tau = lw.compile(new).inverse_dynamics(*state)
    assert error(lw.compile(robot).regressor(*state) @ theta + rest, tau) < 1e-11


def hand_on_arm():
    motor = lw.Motor("arm", 0.3, (0.0, 0.0, 0.1), (1e-3, 1e-3, 1e-3), 1e-4)
    return lw.Robot(
        [lw.Link("base"), lw.Link("arm", 2.0, (0.0, 0.0, 0.3), (0.1, 0.1, 0.02)),
         lw.Link("flange", 0.5, inertia=[1e-3] * 3),
         lw.Link("hand", 0.7, (0.01, 0.0, 0.1), [2e-3] * 3)],
        [lw.Joint("shoulder", "base", "arm"),
         lw.Joint("weld", "arm", "flange", "fixed", origin=lw.Pose.of((0, 0, 0.6))),
         lw.Joint("wrist", "flange", "hand", drive=lw.Drive(motor, 50.0, friction=lw.Friction(1e-4, 1e-3)))],
    )  # fmt: skip


def test_the_moving_link_gets_the_difference():
    robot = hand_on_arm()
    new = robot.with_parameters({"arm.m": 4.0})
    assert new.link("arm").mass == pytest.approx(3.2)
    assert new.link("flange") == robot.link("flange")
    assert new.joint("wrist") == robot.joint("wrist")


def test_a_moving_link_that_would_get_less_than_nothing_gets_all():
    robot = hand_on_arm()
    scaled = robot.parameters()
    scaled[:10] *= 0.2
    new = robot.with_parameters(scaled)
    assert new.link("arm").mass == pytest.approx(0.56)
    assert new.link("flange") == lw.Link("flange")
    assert new.joint("wrist").drive.motor.mass == 0.0
    np.testing.assert_allclose(new.parameters(), scaled, rtol=1e-12, atol=1e-15)
    assert any("the motor of joint 'wrist'" in d.message for d in new.diagnostics)


def test_rotors_and_friction_on_both_sides_of_a_gear():
    robot = hand_on_arm()
    new = robot.with_parameters(
        {"wrist.rotor": 3e-4, "wrist.viscous": 0.3, "wrist.coulomb": 0.02, "shoulder.rotor": 0.1}
    )
    assert new.joint("wrist").drive.motor.rotor == 3e-4
    assert new.joint("wrist").friction.viscous == pytest.approx(0.3 - 1e-4 * 2500)
    assert new.joint("wrist").friction.coulomb == 0.0
    assert new.joint("wrist").drive.friction.coulomb == pytest.approx(0.02 / 50)
    assert new.joint("shoulder").armature == 0.1


def test_laws_of_friction_by_name():
    robot = hand_on_arm()
    robot = robot.replace(replace(robot.joint("shoulder"), friction=lw.Friction(0.1, 0.5, "stribeck", static=0.8)))
    new = robot.with_parameters({"shoulder.offset": -0.2, "shoulder.static": 0.9, "shoulder.stribeck": 0.05})
    assert new.joint("shoulder").friction == lw.Friction(0.1, 0.5, "stribeck", static=0.9, stribeck=0.05, offset=-0.2)


def test_impossible_numbers_are_answered_as_those_of_a_file_are():
    robot = hand_on_arm()
    with pytest.raises(lw.ModelError, match=r"'hand.m': expected a number of at least 0, got -1"):
        robot.with_parameters({"hand.m": -1.0})
    with pytest.raises(lw.ModelError, match=r"'hand.Ixx': expected a finite number"):
        robot.with_parameters({"hand.Ixx": np.nan})
    with pytest.raises(lw.ModelError, match="viscous: expected a number of at least 0"):
        robot.with_parameters({"shoulder.viscous": -0.1})
    with pytest.raises(lw.ModelError, match="armature: expected a number of at least 0"):
        robot.with_parameters({"shoulder.rotor": -0.1})
    with pytest.raises(lw.ModelError, match="first moments of zero where the mass is zero"):
        robot.with_parameters({"hand.m": 0.0})
    with pytest.raises(lw.UnknownNameError, match=r"Did you mean 'shoulder.viscous'"):
        robot.with_parameters({"shoulder.viscos": 0.1})
    with pytest.raises(lw.InputError, match=r"'hand.m': expected a number, got 'heavy'"):
        robot.with_parameters({"hand.m": "heavy"})
    with pytest.raises(lw.InputError, match="expected a vector of 26 numbers"):
        robot.with_parameters([1.0, 2.0])
    with pytest.raises(lw.InputError, match="expected numbers"):
        robot.with_parameters(["a"])
    odd = robot.with_parameters({"hand.Ixx": -1.0})
    assert any(d.level == "error" and "indefinite" in d.message for d in odd.diagnostics)
    free = lw.Robot([lw.Link("world"), lw.Link("a", 1.0)], [lw.Joint("free", "world", "a", "floating")])
    with pytest.raises(lw.ModelError, match="cannot have an armature"):
        free.with_parameters({"free.rotor": 1.0})
