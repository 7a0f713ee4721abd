"""Numbers of robots from positions and torques alone, however coarse the encoders are."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.identification.output_error import _Windows, output_error
from linkwise.motion.log import Log

RATE = 200.0


def pendulum(viscous=0.12, coulomb=0.05, mass=1.4, reach=0.35):
    """An arm on a motor with friction."""
    friction = lw.Friction(viscous, coulomb, "tanh", width=0.05)
    arm = lw.Link("arm", mass, (0.0, 0.0, -reach), (0.02, 0.02, 0.002))
    return lw.Robot([lw.Link("base"), arm], [lw.Joint("pin", "base", "arm", axis=(0, 1, 0), friction=friction)])


def arm3(scale=1.0):
    """An arm of three joints, held by nothing but its motors."""
    robot = lw.load("arm.urdf")
    joints = [
        replace(j, friction=lw.Friction(0.6 * scale, 0.4 * scale, "tanh", width=0.05), armature=0.3) if j.nv else j
        for j in robot.joints
    ]
    return robot.replace(joints=joints)


def logged(robot, seconds, control, counts=None, noise=0.0, torque_noise=0.0, seed=0, q0=None):
    """Samples of a simulated motion as encoders and torque sensors give them; torques are commands that are held."""
    rng = np.random.default_rng(seed)
    steps, fine = int(seconds * RATE), 10
    rollout = lw.compile_rollout(robot, method="rk4")
    q, qd = robot.q() if q0 is None else q0, robot.v()
    rows, torques = [], []
    for k in range(steps):
        u = control(k / RATE, q, qd)
        rows.append(q)
        torques.append(u)
        end = rollout(q, qd, u, 1.0 / (RATE * fine), steps=fine, keep="end")
        q, qd = end.q, end.qd
    q, u = np.array(rows), np.array(torques)
    measured = q + noise * rng.standard_normal(q.shape)
    if counts:
        step = 2.0 * np.pi / counts
        measured = step * np.round(measured / step)
    return Log(robot, np.arange(steps) / RATE, measured, tau=u + torque_noise * rng.standard_normal(u.shape))


def swing(t, q, qd):
    return np.array([2.5 * np.sin(3.0 * t) + 1.5 * np.sin(7.3 * t + 1.0)])


@pytest.fixture(scope="module")
def coarse():
    """A pendulum with an encoder of 500 counts a turn."""
    return logged(pendulum(), 20.0, swing, counts=500)


def test_friction_and_mass_of_a_pendulum(coarse):
    wrong = pendulum(viscous=0.3, coulomb=0.2, mass=1.0)
    found = output_error(coarse, ("pin.viscous", "pin.coulomb", "arm.mass"), robot=wrong, torques="held")
    assert found.status == "solved"
    assert found.names == ("pin.viscous", "pin.coulomb", "arm.mass")
    np.testing.assert_allclose(found.values, [0.12, 0.05, 1.4], rtol=0.03, atol=0.01)
    assert np.all(np.abs(found.values - [0.12, 0.05, 1.4]) < 5.0 * found.errors + 0.01 * np.array([0.12, 0.05, 1.4]))
    assert found.robot.link("arm").mass == found.values[2]
    assert found.robot.joint("pin").friction.viscous == found.values[0]
    assert np.nanstd(found.residuals) < 2.0 * np.pi / 500


def test_sensitivities_are_exact(coarse):
    """The gradient of the cost by numbers and starts, against differences of whole simulations."""
    problem = _Windows(
        coarse.part(0.0, 0.2), ("pin.viscous", "arm.mass"), pendulum(mass=1.2), 0.5, 0.01, None, None, 2, "rk4"
    )
    state = problem.simulated(problem.first, problem.starts())
    normal = problem.normal(state)

    def cost(theta, starts):
        return problem.simulated(theta, starts).cost

    for k in range(2):
        # of window gradients with starts eliminated, only their sum with the starts' own part is a derivative
        h = 1e-6 * np.eye(2)[k]
        slope = (cost(state.theta + h, state.starts) - cost(state.theta - h, state.starts)) / 2e-6
        inside = np.linalg.solve(normal.starts, normal.own[..., None])[..., 0]
        whole = normal.g[k] + np.einsum("wi,wi->", normal.mixed[:, :, k], inside)
        assert whole == pytest.approx(slope, rel=1e-5)
    h = np.zeros_like(state.starts)
    h[1, 1] = 1e-6
    slope = (cost(state.theta, state.starts + h) - cost(state.theta, state.starts - h)) / 2e-6
    assert normal.own[1, 1] == pytest.approx(slope, rel=1e-5)


def test_scipy_finds_the_same(coarse):
    """The same windows by SciPy's least squares with differences."""
    from scipy.optimize import least_squares

    part = coarse.part(0.0, 0.15)
    problem = _Windows(part, ("pin.viscous", "arm.mass"), pendulum(mass=1.2), 1.0, 0.01, None, None, 1, "rk4")
    first = problem.starts()

    def residual(z):
        return problem.simulated(z[:2], z[2:].reshape(first.shape)).r.ravel()

    theirs = least_squares(residual, [*problem.first, *first.ravel()], xtol=1e-12, ftol=1e-12, x_scale="jac")
    ours = output_error(part, ("pin.viscous", "arm.mass"), robot=pendulum(mass=1.2), window=1.0, noise=0.01)
    assert ours.cost == pytest.approx(theirs.cost, rel=1e-6)
    np.testing.assert_allclose(ours.values, theirs.x[:2], rtol=1e-3)


@pytest.fixture(scope="module")
def held(examples):
    """An arm that follows a slow motion by its joint controllers, with encoders of 2000 counts."""
    robot = arm3()
    dyn = lw.compile(robot)
    goal = np.array([[0.5, 1.1, 0.0], [0.4, 1.7, 1.0], [0.6, 2.3, 2.0]])

    def control(t, q, qd):
        wanted = goal[:, 0] * np.sin(goal[:, 1] * t + goal[:, 2])
        return dyn.gravity_forces(q) + 60.0 * (wanted - q) - 6.0 * qd

    return logged(robot, 15.0, control, counts=2000, torque_noise=0.02)


@pytest.fixture(scope="module")
def examples():
    import os
    from pathlib import Path

    here = Path.cwd()
    os.chdir(Path(__file__).parents[2] / "examples")
    yield
    os.chdir(here)


def test_an_arm_of_three_joints_with_coarse_encoders(held):
    names = [f"{j}.{x}" for j in held.robot.names for x in ("viscous", "coulomb")]
    tip = held.robot.moving_links[-1]
    wrong = arm3(scale=0.5)
    wrong = wrong.replace(replace(wrong.link(tip), mass=0.7 * wrong.link(tip).mass))
    found = output_error(held, [*names, f"{tip}.mass"], robot=wrong, window=0.5, torques="held")
    true = [*[0.6, 0.4] * 3, held.robot.link(tip).mass]
    assert found.status == "solved"
    np.testing.assert_allclose(found.values, true, rtol=0.05)
    assert np.mean(np.abs(found.values - true) < 2.5 * found.errors + 0.02 * np.array(true)) > 0.7


def test_torques_between_samples_are_lines_or_held():
    """A torque that changes between samples, measured at them: straight lines are right, and held ones are late."""
    fine = 20
    t = np.arange(int(10.0 * RATE) * fine) / (RATE * fine)
    u, between = (np.array([swing(x, None, None) for x in s]) for s in (t, t + 0.5 * t[1]))
    robot = pendulum()
    moved = lw.compile_rollout(robot)(robot.q(), robot.v(), between, t[1])
    q = np.concatenate([[robot.q()], moved.q[:-1]])
    log = Log(robot, t[::fine], q[::fine], tau=u[::fine])
    off = [
        np.nanstd(output_error(log, "arm.mass", torques=x, substeps=4, noise=1.0).residuals)
        for x in ("sampled", "held")
    ]
    assert off[0] < 0.02 * off[1]


def test_numbers_that_the_log_does_not_tell_are_named(coarse):
    both = output_error(coarse.part(0.0, 0.3), ("pin.armature", "arm.inertia.yy"), robot=pendulum())
    assert any("does not determine" in note for note in both.notes)


def test_a_prior_holds_what_is_not_told(coarse):
    part = coarse.part(0.0, 0.3)
    found = output_error(
        part, ("pin.armature", "arm.inertia.yy"), robot=pendulum(), noise=0.004, prior={"arm.inertia.yy": 1e-4},
        torques="held",
    )  # fmt: skip
    assert found.values[1] == pytest.approx(0.02, abs=3e-4)
    assert not any("does not determine" in note for note in found.notes)


def test_wrong_arguments_are_named(coarse):
    for given, words in (
        ({"numbers": ()}, "at least one path"),
        ({"numbers": "pin.viscous", "torques": "guessed"}, "torques: expected one of"),
        ({"numbers": "pin.magic"}, "expected <name>.<quantity>"),
        ({"numbers": "pin.viscous", "window": 0.0}, "window: expected"),
        ({"numbers": "pin.viscous", "noise": -1.0}, "noise: expected numbers above 0"),
        ({"numbers": "pin.viscous", "noise": [1.0, 2.0]}, "noise: expected 1 numbers or one"),
        ({"numbers": "pin.viscous", "velocity_noise": 1.0}, "a log with velocities"),
        ({"numbers": "pin.viscous", "prior": {"pin.mass": 1.0}}, "unknown number in prior"),
        ({"numbers": "pin.viscous", "robot": floating()}, "floating or"),
        ({"numbers": "elbow.viscous", "robot": lw.load("rr")}, "expected one of 1 coordinates"),
    ):
        with pytest.raises(lw.LinkwiseError, match=words):
            output_error(coarse, **given)
    with pytest.raises(lw.InputError, match="measured torques"):
        output_error(replace(coarse, tau=None), "pin.viscous")
    with pytest.raises(lw.InputError, match="five samples or more"):
        output_error(replace(coarse.part(0.0, 0.001)), "pin.viscous")


def floating():
    from linkwise.robot.edit import floating

    return floating(pendulum())
