"""Robots with elastic drives: torques are those of motors, and springs have limits."""

import dataclasses

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion.base_motion import BaseMotion
from linkwise.scalar import sin


def elastic(stiffness: float) -> lw.Robot:
    rr = lw.load("rr")
    drive = lw.Drive(gear=10.0, stiffness=stiffness)
    return rr.replace(*(dataclasses.replace(j, drive=drive, armature=0.02) for j in rr.joints if j.nv))


def fastest(robot, *more, **options):
    ends = lw.planning.State([0.0, -2.0], qdd=0.0, qddd=0.0), lw.planning.State([1.0, -1.0], qdd=0.0, qddd=0.0)
    return lw.plan(robot, *ends, subject_to=[lw.limit.joints("effort"), *more], solver="uno", **options)


def test_motor_torques_keep_their_limits():
    """Along the plan the whole robot, links and motors, moves by the drives' torques alone."""
    robot = elastic(300.0)
    plan = fastest(robot)
    assert plan.converged, plan.summary
    assert plan.curve.basis.degree == 6
    t = np.linspace(0.0, plan.duration, 1001)
    tau = plan.tau(t)
    assert np.abs(tau).max() <= 10.0 * 1.002
    motors = lw.compile(robot, lw.algorithms.elastic_feedforward)(*(plan.curve(t, k) for k in range(5)))
    whole = [
        np.concatenate(pair, axis=1) for pair in zip((plan.q(t), plan.qd(t), plan.qdd(t)), motors[:3], strict=True)
    ]
    forces = lw.compile(robot).inverse_dynamics(*whole)
    np.testing.assert_allclose(forces[:, :2], 0.0, atol=1e-9)
    np.testing.assert_allclose(forces[:, robot.motors], tau, atol=1e-9)
    assert "tau_dot.joint1" in plan.columns()
    assert plan["wrench.link2.fx"].shape == plan.times().shape


def test_springs_have_limits():
    robot = elastic(300.0)
    free = fastest(robot)
    bound = fastest(robot, lw.limit.joints(deflection=0.02))
    assert bound.converged
    assert bound.duration > free.duration
    motors = lw.compile(robot, lw.algorithms.elastic_feedforward)
    t = bound.times()
    stretch = motors(*(bound.curve(t, k) for k in range(5))).theta - bound.q(t)
    assert np.abs(stretch).max() <= 0.02 * 1.002


def test_stiff_springs_tend_to_the_rigid_robot():
    rigid = fastest(elastic(1.0).rigid(), degree=6)
    times = [fastest(elastic(k)).duration - rigid.duration for k in (3e2, 3e3, 3e5)]
    assert abs(times[2]) < abs(times[1]) < abs(times[0])
    assert abs(times[2]) < 1e-4


def test_rates_of_torques_have_limits():
    robot = elastic(300.0)
    free = fastest(robot)
    bound = fastest(robot, lw.limit.joints(effort_rate=120.0))
    assert bound.converged, bound.summary
    assert bound.duration > free.duration
    t = np.linspace(0.0, bound.duration, 2001)
    assert np.abs(np.diff(bound.tau(t), axis=0) / np.diff(t)[:, None]).max() <= 120.0 * 1.002
    np.testing.assert_allclose(bound.tau_dot(t)[1:-1], (bound.tau(t[2:]) - bound.tau(t[:-2])) / (t[2] - t[0]), atol=0.5)


def test_limits_of_springs_that_are_not_known():
    with pytest.raises(lw.InputError, match="has none"):
        fastest(elastic(300.0), lw.limit.joints("deflection"))


def test_a_base_that_moves():
    """Motors behind springs follow from further derivatives of the base's motion."""
    robot = elastic(300.0)

    def shaken(t):
        return lw.Pose.of((0.05 * sin(6.0 * t), 0.0, 0.0), rpy=(0.2 * sin(2.0 * t), 0.0, 0.5 * t))

    plan = fastest(robot, base_motion=shaken)
    assert plan.converged, plan.summary
    t = np.linspace(0.0, plan.duration, 501)
    around = {"base_motion": True, "gravity": "input"}
    *base, gravity = BaseMotion(shaken).inputs(t, robot.gravity, 4)
    motion = [plan.curve(t, k) for k in range(5)]
    motors = lw.compile(robot, lw.algorithms.elastic_feedforward, **around)(*motion, *base, gravity)
    whole = [np.hstack(pair) for pair in zip(motion[:3], motors[:3], strict=True)]
    tau = lw.compile(robot, **around).inverse_dynamics(*whole, *base[:2], gravity)
    np.testing.assert_allclose(tau[:, :2], 0.0, atol=1e-9)
    np.testing.assert_allclose(plan.tau(t), tau[:, robot.motors], atol=1e-7)
    assert np.abs(tau[:, robot.motors]).max() <= 10.0 * 1.002


def carrying(link=None) -> lw.Robot:
    rr = lw.load("rr")
    drive = lw.Drive(motor=lw.Motor(link, mass=0.1, rotor=2e-4), gear=10.0, stiffness=300.0)
    return rr.replace(*(dataclasses.replace(j, drive=drive) for j in rr.joints if j.nv))


def test_motors_that_springs_carry():
    """Where the load of a spring has further motors their stretch counts, by two derivatives more."""
    robot = carrying()
    plan = fastest(robot)
    assert plan.converged, plan.summary
    assert plan.curve.basis.degree == 8
    assert plan.notes == ()
    t = np.linspace(0.0, plan.duration, 2001)
    exact = lw.compile(robot, lw.algorithms.elastic_feedforward, order=4)(*(plan.curve(t, k) for k in range(7)))
    assert np.abs(exact.tau).max() <= 10.0 * 1.002
    np.testing.assert_allclose(plan.tau(t), exact.tau, atol=1e-9)


def test_what_is_neglected_is_said(tmp_path):
    """Motors on links that they move have no closed form: the plan says what it leaves out, and how much that is."""
    plan = fastest(carrying("link2"))
    assert plan.converged, plan.summary
    (note,) = plan.notes
    assert "carried by links that they move" in note
    assert note in plan.summary
    t = plan.times()
    assert 0.0 < np.abs(plan.unbalanced(t)).max() < 3.0
    plan.save(tmp_path / "plan.npz")
    assert lw.planning.Plan.load(tmp_path / "plan.npz").notes == plan.notes
    (damped,) = fastest(elastic(300.0).replace(*_damped())).notes
    assert damped.startswith("damping of springs is neglected in the motors' motion: joint1, joint2; exact torques")


def _damped():
    drive = lw.Drive(gear=10.0, stiffness=300.0, damping=0.2)
    return [dataclasses.replace(j, drive=drive, armature=0.02) for j in lw.load("rr").joints if j.nv]


def test_positions_are_ends_at_which_motors_rest_too() -> None:
    """At both ends the robot stands still: springs hold gravity alone, and motors do not move."""
    robot = elastic(3e2)
    plan = lw.plan(robot, [0.0, -2.0], [1.0, -1.0], subject_to=lw.limit.joints("effort"), progress=False)
    assert plan.converged, plan.summary
    ends = np.array([0.0, plan.duration])
    assert np.abs(plan.qdd(ends)).max() < 1e-9
    assert np.abs(plan.qddd(ends)).max() < 1e-6
    still = lw.compile(robot.rigid()).gravity_forces(plan.q(ends)[:, :2]) / 3e2
    np.testing.assert_allclose(np.abs(plan.deflection(ends)), np.abs(still), atol=1e-9)
    free = lw.plan(robot, lw.planning.State([0.0, -2.0]), lw.planning.State([1.0, -1.0]), progress=False,
                   subject_to=lw.limit.joints("effort"))  # fmt: skip
    assert free.duration < plan.duration
