"""Robots with elastic drives: torques are those of motors, and springs have limits."""

import dataclasses

import numpy as np
import pytest

import linkwise as lw


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
    assert plan.converged, plan.words
    assert plan.curve.basis.degree == 5
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
    assert "tau_dot.joint1" not in plan.columns()
    assert plan["wrench.joint2.fx"].shape == plan.times().shape


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
    rigid = fastest(elastic(1.0).rigid(), degree=5)
    times = [fastest(elastic(k)).duration - rigid.duration for k in (3e2, 3e3, 3e5)]
    assert abs(times[2]) < abs(times[1]) < abs(times[0])
    assert abs(times[2]) < 1e-4


def test_what_elastic_drives_have_not():
    with pytest.raises(lw.InputError, match="effort_rate: expected rigid drives"):
        fastest(elastic(300.0), lw.limit.joints(effort_rate=100.0))
    with pytest.raises(lw.InputError, match="has none"):
        fastest(elastic(300.0), lw.limit.joints("deflection"))


def test_a_base_that_moves_is_refused():
    """Motors behind springs would need further derivatives of its motion."""
    shaken = lw.base_motion(lambda t: (np.zeros(6), np.zeros(6)))
    with pytest.raises(lw.InputError, match="base_motion: expected rigid drives"):
        lw.plan(elastic(300.0), [0.0, 0.0], [0.5, 0.5], lw.cost.effort(), shaken, duration=1.0)


def test_motors_that_springs_carry():
    """Where the load of a spring has further motors, their stretch is left out of it, and the plan is still found."""
    rr = lw.load("rr")
    drive = lw.Drive(motor=lw.Motor(mass=0.1, rotor=2e-4), gear=10.0, stiffness=300.0)
    plan = fastest(rr.replace(*(dataclasses.replace(j, drive=drive) for j in rr.joints if j.nv)))
    assert plan.converged, plan.words
    assert np.abs(plan.tau(plan.times())).max() <= 10.0 * 1.002
