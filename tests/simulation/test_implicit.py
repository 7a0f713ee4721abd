"""Steps with dampers and friction taken at their ends: stable where explicit steps are not."""

import numpy as np
import pytest

import linkwise as lw
from support.arms import arm
from support.trees import error, states, tree


def wheel(**how):
    links = [lw.Link("base"), lw.Link("wheel", 1.0, inertia=(0.1, 0.1, 0.5))]
    return lw.Robot(links, [lw.Joint("axle", "base", "wheel", **how)], gravity=(0, 0, 0))


@pytest.mark.parametrize("damping", [0.5, 50.0, 5e6])
@pytest.mark.parametrize(
    "how",
    [
        lambda d: {"friction": lw.Friction(viscous=d)},
        lambda d: {"spring": lw.Spring(0.0, d)},
        lambda d: {"drive": lw.Drive(gear=10.0, friction=lw.Friction(viscous=d / 100.0))},
    ],
)
def test_a_damped_wheel_makes_the_steps_of_backward_euler(damping, how):
    """I (v_new - v) / dt = u - d v_new, however stiff the damper is."""
    dt, u, v = 1e-2, 3.0, 4.0
    rollout = lw.compile_rollout(wheel(**how(damping)), method="implicit")
    found = rollout([0.0], [v], [u], dt, steps=50)
    for k in range(50):
        v = (0.5 * v + dt * u) / (0.5 + dt * damping)
        assert found.qd[k, 0] == pytest.approx(v, rel=1e-12)
    assert found.q[-1, 0] == pytest.approx(dt * found.qd[:, 0].sum(), rel=1e-12)


def test_a_stiff_arm_follows_its_exact_motion():
    """Dampers of a thousand times the inertia over the step, where explicit steps explode: M qdd + d qd = tau."""
    robot = arm(3).without_friction()
    joints = [lw.Joint(j.name, j.parent, j.child, origin=j.origin, axis=j.axis, friction=lw.Friction(viscous=2e3))
              for j in robot.joints]  # fmt: skip
    stiff = robot.replace(joints=joints)
    q, qd, u = np.array([0.3, -0.2, 0.5]), np.zeros(3), np.array([500.0, 400.0, -300.0])
    exact = lw.simulate(stiff, q, qd, [0.0, 1.0], control=lambda t, q, qd: u, method="Radau", rtol=1e-10, atol=1e-12)
    errors = []
    for dt in (1e-2, 5e-3):
        found = lw.compile_rollout(stiff, method="implicit")(q, qd, u, dt, steps=round(1.0 / dt), keep="end")
        errors.append(np.abs(found.q - exact.q[-1]).max())
    assert errors[0] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.2)
    explicit = lw.compile_rollout(stiff, method="euler")(q, qd, u, 1e-2, steps=100, keep="end")
    assert not np.abs(explicit.q).max() < 1e3


@pytest.mark.parametrize("law", ["coulomb", "tanh", "stribeck"])
def test_dry_friction_stops_and_holds(law):
    """A wheel slows down by its dry friction, never turns back, and creeps below the width under a smaller torque."""
    friction = lw.Friction(coulomb=2.0, law=law, width=1e-2, static=2.5 if law == "stribeck" else 0.0)
    rollout = lw.compile_rollout(wheel(friction=friction), method="implicit")
    dt = 1e-2
    found = rollout([0.0], [3.0], [0.0], dt, steps=200)
    assert found.qd.min() >= 0.0
    t = dt * np.arange(1, 60)
    np.testing.assert_allclose(found.qd[:59, 0], 3.0 - 4.0 * t, atol=0.06)
    assert found.qd[-1, 0] < 1e-3
    held = rollout([0.0], [0.0], [1.5], dt, steps=200)
    assert np.abs(held.qd).max() < 1e-2
    moved = rollout([0.0], [0.0], [3.0], dt, steps=200)
    assert moved.qd[-1, 0] == pytest.approx(dt * 200 * 2.0, rel=0.1)
    explicit = lw.compile_rollout(wheel(friction=lw.Friction(coulomb=2.0)), method="euler")
    assert explicit([0.0], [3.01], [0.0], dt, steps=200).qd.min() < -1e-3  # turns back and forth


def test_laws_along_joints_are_damped_too():
    """A damper as a law is as stable as one of the robot."""
    rollout = lw.compile_rollout(wheel(), method="implicit", joint_forces={"axle": lambda q, qd: q * -3.0 - qd * 1e5})
    robot = lw.compile_rollout(wheel(spring=lw.Spring(3.0, 1e5)), method="implicit")
    start = ([0.2], [4.0], [1.0], 1e-2)
    np.testing.assert_allclose(rollout(*start, steps=50).qd, robot(*start, steps=50).qd, rtol=1e-9)
    drives = lw.compile_rollout(wheel(), method="implicit", joint_forces={"axle": lambda q, qd: qd * 1.0})
    np.testing.assert_allclose(drives([0.0], [1.0], [0.0], 1e-2, steps=1).qd, 1.02)  # what does not damp is taken now


@pytest.mark.parametrize("seed", [0, 1, 5, 7])
def test_without_dampers_it_is_euler(seed):
    robot = tree(seed, friction=0.0, elastic=0.2)
    joints = [j for j in robot.joints if (j.spring and j.spring.damping) or (j.drive and j.drive.friction.viscous)]
    robot = robot if not joints else robot.without_friction()
    q, qd, tau = (x[0] for x in states(robot, 1, seed))
    one, other = (lw.compile_rollout(robot, method=m).step(q, qd, tau, 1e-3) for m in ("implicit", "euler"))
    if not any(j.spring and j.spring.damping for j in robot.joints):
        assert error(one.qd_new, other.qd_new) < 1e-12


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_small_steps_agree_with_the_accurate_simulation(seed):
    """Of first order, with friction, springs, floating bases and elastic drives."""
    robot = tree(seed, friction=0.3)
    q, qd, tau = (x[0] for x in states(robot, 1, seed))
    tau = 0.1 * tau
    exact = lw.simulate(robot, q, 0.1 * qd, [0.0, 0.02], control=lambda t, q, qd: tau, rtol=1e-11, atol=1e-12)
    rollout = lw.compile_rollout(robot, method="implicit")
    errors = []
    for steps in (400, 800):
        found = rollout(q, 0.1 * qd, tau, 0.02 / steps, steps=steps, keep="end")
        errors.append(np.abs(found.qd - exact.qd[-1]).max())
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.4)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_linearization_is_the_derivative_of_the_step(seed, monkeypatch):
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    robot = tree(seed, friction=0.5)
    q, qd, tau = (x[0] for x in states(robot, 1, seed))
    rollout = lw.compile_rollout(robot, method="implicit")
    n, h = robot.nv, 1e-6
    found = rollout.linearization(q, qd, tau, 0.01)
    dyn = lw.compile(robot)

    def ends(s):
        x = s * h * np.eye(3 * n)
        end = rollout.step(dyn.integrate(q, x[:, :n], 1.0), qd + x[:, n : 2 * n], tau + x[:, 2 * n :], 0.01)
        middle = rollout.step(q, qd, tau, 0.01)
        return np.concatenate([dyn.difference(middle.q_new, end.q_new), end.qd_new], axis=1)

    slopes = (ends(1) - ends(-1)).T / (2 * h)
    assert error(np.concatenate(found, axis=1), slopes) < 1e-6
