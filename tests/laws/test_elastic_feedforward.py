"""Motors' motion and torques from the motion of the links."""

from dataclasses import replace
from math import factorial

import numpy as np
import pytest
from numpy.polynomial import Polynomial

import linkwise as lw
from support.elastic import elastic_tree, hua_arm, with_free_motors
from support.every_machine import driven, elastic, sort
from support.trees import error

SEEDS = range(6)


def polynomials(robot, seed, order):
    """Random motions of the joints of a fixed robot, as functions of time with all derivatives."""
    rng = np.random.default_rng(seed)
    curves = [Polynomial(rng.normal(size=9) / [1, 1, 2, 6, 24, 60, 200, 600, 2000]) for _ in robot.names]
    return lambda t: [np.array([c.deriv(k)(t) if k else c(t) for c in curves]) for k in range(order + 3)]


def residual(robot, motion, found):
    """Forces on elastic joints beside their springs, and the error of the drives' torques."""
    full = [np.concatenate([x, theta]) for x, theta in zip(motion[:3], found[:3], strict=True)]
    tau = lw.compile(robot).inverse_dynamics(*full)
    beside = np.delete(tau, robot.motors)
    return np.abs(beside).max(initial=0.0) / np.abs(tau).max(), error(found.tau, tau[robot.motors])


@pytest.mark.parametrize("mount", ["parent", "base"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_motion_satisfies_the_equations(seed, mount):
    """No force is left on elastic joints, at the least order that the robot allows."""
    robot = with_free_motors(seed, 4, mount=mount, floating=False, friction=0.0)
    kernel, order = least(robot)
    motion = polynomials(robot, seed, order)(0.3)
    beside, torques = residual(robot, motion, kernel(*motion))
    assert beside < 1e-12
    assert torques < 1e-12


def least(robot):
    """The feed-forward with the fewest derivatives that are enough, and its order."""
    refusals = []
    for order in (2, 4, 6):
        try:
            return lw.compile(robot, lw.algorithms.elastic_feedforward, order=order), order
        except lw.LinkwiseError as refusal:
            refusals.append(str(refusal))
    raise AssertionError(refusals)


@pytest.mark.parametrize("seed", SEEDS)
def test_rates_of_motors_are_derivatives(seed):
    """thetad and thetadd are the derivatives of theta along the motion, also where motors couple."""
    robot = with_free_motors(seed, 3, mount="parent", floating=False, friction=0.0)
    kernel, order = least(robot)
    motion, h = polynomials(robot, seed, order), 1e-3
    samples = [kernel(*motion(0.3 + k * h)) for k in range(-4, 5)]
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / h  # eighth order
    for value, rate in (("theta", "thetad"), ("thetad", "thetadd")):
        slope = sum(w * getattr(s, value) for w, s in zip(weights, samples, strict=True))
        assert np.abs(slope - getattr(samples[4], rate)).max() < 1e-9 * max(1.0, np.abs(slope).max())


@pytest.mark.parametrize("base", [False, True], ids=["standing", "moving base"])
@pytest.mark.parametrize("name", ["arm", "floating", "five-bar", "ankle", "hexapod", "Delta"])
def test_every_machine(name, base):
    """No force is left beside the springs, with loops and on moving bases; tau_dot is the derivative of tau."""
    robot = soft_machine(name)
    stiff = robot.rigid()
    rng, steps = np.random.default_rng(5), lw.compile(stiff)
    q = steps.integrate(stiff.q(), 0.1 * rng.uniform(-1.0, 1.0, stiff.nv), 1.0)
    motion = [q, *rng.uniform(-1.0, 1.0, (5, stiff.nv))]
    options = {"base_motion": True, "gravity": "input"} if base else {}
    *carrier, gravity = [*rng.uniform(-1.0, 1.0, (5, 6)), rng.uniform(-9.0, 9.0, 3)]
    kernel = lw.compile(robot, lw.algorithms.elastic_feedforward, order=3, **options)
    found = kernel(*motion, *([*carrier, gravity] if base else []))
    full = [np.concatenate([x, theta]) for x, theta in zip(motion[:3], found[:3], strict=True)]
    tau = lw.compile(robot, **options).inverse_dynamics(*full, *([*carrier[:2], gravity] if base else []))
    assert np.abs(np.delete(tau, robot.motors)).max(initial=0.0) < 1e-12 * np.abs(tau).max()
    assert error(found.tau, tau[robot.motors]) < 1e-12
    if not base:
        assert found.tau_dot == pytest.approx(_slope(kernel, steps, motion), rel=1e-6, abs=1e-6 * np.abs(tau).max())


def soft_machine(name):
    robot = {"arm": sort("arm"), "floating": sort("floating")}.get(name)
    robot = robot.robot if robot else {
        "five-bar": lw.load("fivebar"), "ankle": lw.load("ankle"), "hexapod": lw.gough_stewart(), "Delta": lw.delta(),
    }[name]  # fmt: skip
    soft = elastic(robot, driven(robot) or {"joint2", "joint4"})
    joints = [replace(j, drive=replace(j.drive, damping=0.0)) if j.is_elastic else j for j in soft.joints]
    return soft.replace(joints=joints).without_friction()


def _slope(kernel, steps, motion, h=1e-4):
    """d tau/dt along the motion, by differences of the fourth order."""
    q, *rates = motion

    def later(t):
        speeds = [sum(x * t**k / factorial(k) for k, x in enumerate(rates[j:])) for j in range(5)]
        there = position(steps, q, rates, t)
        return kernel(there, *speeds).tau

    return (8.0 * (later(h) - later(-h)) - (later(2.0 * h) - later(-2.0 * h))) / (12.0 * h)


def position(steps, q, rates, t):
    """Positions after a short time t, from velocities as series."""
    v0, v1, v2 = rates[:3]
    return steps.integrate(q, v0 * t + v1 * t**2 / 2 + v2 * t**3 / 6, 1.0)


def test_external_wrenches_enter_with_their_rates():
    """A load that changes in time: theta's rates contain those of the load."""
    robot, h = hua_arm(), 1e-3
    kernel = lw.compile(robot, lw.algorithms.elastic_feedforward, external="tool")
    motion = polynomials(robot, 3, 2)
    assert list(kernel.inputs)[-3:] == ["f_ext", "f_ext_dot", "f_ext_ddot"]

    def at(t):
        load = np.array([[np.sin(t), 2.0, -t * t, 0.3, 0.1 * t, 0.2]])
        rate = np.array([[np.cos(t), 0.0, -2.0 * t, 0.0, 0.1, 0.0]])
        return kernel(*motion(t), load, rate, np.array([[-np.sin(t), 0.0, -2.0, 0.0, 0.0, 0.0]]))

    slope = (at(0.3 + h).thetad - at(0.3 - h).thetad) / (2 * h)
    assert np.abs(slope - at(0.3).thetadd).max() < 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_rigid_coupling_neglects_second_order_of_compliance(seed):
    """What coupling="rigid" leaves on elastic joints falls with 1/K, and is none where motors stand on the base."""
    robot = with_free_motors(seed, 4, mount="parent", floating=False, friction=0.0)
    motion = polynomials(robot, seed, 2)(0.3)
    left = []
    for scale in (1.0, 10.0, 100.0):
        joints = [
            replace(j, drive=replace(j.drive, stiffness=scale * j.drive.stiffness)) if j.is_elastic else j
            for j in robot.joints
        ]
        stiff = robot.replace(joints=joints)
        left.append(
            residual(stiff, motion, lw.compile(stiff, lw.algorithms.elastic_feedforward, coupling="rigid")(*motion))[0]
        )
    assert left[0] < 1e-12 or (left[1] < 0.2 * left[0] and left[2] < 0.02 * left[0])


def test_a_motor_carried_by_what_it_moves_has_no_closed_form():
    motor = lw.Motor("arm", rotor=1e-3)
    links = [lw.Link("ground"), lw.Link("arm", 1.0, (0.1, 0, 0), (1, 1, 1))]
    robot = lw.Robot(links, [lw.Joint("elbow", "ground", "arm", drive=lw.Drive(motor, 10.0, 100.0))])
    with pytest.raises(lw.LinkwiseError, match=r"'elbow'.*no number of derivatives.*coupling=\"rigid\""):
        lw.compile(robot, lw.algorithms.elastic_feedforward)
    assert lw.compile(robot, lw.algorithms.elastic_feedforward, coupling="rigid").outputs["theta"] == (1,)


def test_wrong_uses_are_named():
    robot = hua_arm()
    with pytest.raises(lw.InputError, match="coupling: expected one of"):
        lw.compile(robot, lw.algorithms.elastic_feedforward, coupling="none")
    with pytest.raises(lw.InputError, match="order: expected a whole number from 2 to 7, got 8"):
        lw.compile(robot, lw.algorithms.elastic_feedforward, order=8)
    follower = elastic_tree(5, mimic=0.5, elastic=1.0)
    with pytest.raises(lw.LinkwiseError, match="mimics another"):
        lw.compile(follower, lw.algorithms.elastic_feedforward, coupling="rigid")
