"""Rollouts of machines whose joints follow others, and on bases that move: closure, linear steps, drives, time."""

import pickle

import numpy as np
import pytest

import linkwise as lw
from linkwise.scalar import cos, sin
from support.every_machine import sort
from support.trees import error

ANKLE, FIVE_BAR = "ankle, moving base", "five-bar"


def rocking(t):
    """A base that rocks."""
    return lw.Pose.of((0.1 * sin(3.0 * t), 0.0, 0.05 * cos(2.0 * t)), rpy=(0.2 * sin(2.0 * t), 0.1 * t, 0.0))


def differences(robot, step, q, qd, u, h=1e-4):
    """A and B of a step by central differences of fourth order."""
    n = robot.nv
    moves = np.array([s * h * np.eye(2 * n + len(u)) for s in (-2, -1, 1, 2)])
    dyn = lw.compile(robot)
    q_new, qd_new = step(dyn.integrate(q, moves[..., :n], 1.0), qd + moves[..., n : 2 * n], u + moves[..., 2 * n :])
    end = np.concatenate([dyn.difference(step(q, qd, u)[0], q_new), qd_new], axis=-1)
    whole = ((8.0 * (end[2] - end[1]) - (end[3] - end[0])) / (12.0 * h)).T
    return whole[:, : 2 * n], whole[:, 2 * n :]


@pytest.mark.parametrize("method", ["euler", "implicit", "rk4"])
@pytest.mark.parametrize("name", [FIVE_BAR, ANKLE])
def test_linear_steps_of_a_machine_on_a_moving_base(name, method, monkeypatch):
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    robot, (q, qd) = sort(name).robot, (x[0] for x in sort(name).states(1, 1))
    u, curve = np.array([0.6, -0.4]), [(0.0, 3.0), (20.0, 0.0)]
    rollout = lw.compile_rollout(
        robot, method=method, base_motion=rocking, torque_limits=dict.fromkeys(robot.drives, curve),
        control=lambda q, qd, u, dyn: dyn.gravity_forces(q) * u + np.sin(q) * 8.0 - qd,
    )  # fmt: skip
    found = rollout.linearization(q, qd, u, 0.01, 0.3)
    A, B = differences(robot, lambda q, qd, u: rollout.step(q, qd, u, 0.01, 0.3), q, qd, u)
    assert error(found.A, A) < 1e-8
    assert error(found.B, B) < 1e-8


def test_newton_closes_as_closed_forms_do():
    """Lengths that are inputs leave no closed form; each step then begins where the last one left the loops."""
    robot, (q, qd) = sort(FIVE_BAR).robot, sort(FIVE_BAR).states(5, 1)
    for method in ("euler", "rk4"):
        closed = lw.compile_rollout(robot, method=method)
        newton = lw.compile_rollout(robot, method=method, parameters=f"{robot.joints[-1].name}.xyz")
        found, theirs = newton(q, qd, None, 1e-3, newton.parameters, steps=100), closed(q, qd, None, 1e-3, steps=100)
        np.testing.assert_allclose(found.q, theirs.q, atol=1e-9)


def test_parts_of_a_rollout_go_on_where_the_last_ended(monkeypatch):
    robot, (q, qd) = sort(ANKLE).robot, sort(ANKLE).states(3, 1)
    rollout = lw.compile_rollout(robot, method="euler", base_motion=rocking)
    whole = rollout(q, qd, None, 1e-3, steps=40)
    monkeypatch.setattr(rollout, "_most", lambda rows: 7)
    np.testing.assert_array_equal(rollout(q, qd, None, 1e-3, steps=40).q, whole.q)
    np.testing.assert_array_equal(rollout(q, qd, None, 1e-3, steps=40, every=10).q, whole.q[:, 9::10])
    first = rollout(q, qd, None, 1e-3, steps=15, keep="end")
    then = rollout(first.q, first.qd, None, 1e-3, steps=25, keep="end", t=0.015)
    np.testing.assert_allclose(then.q, whole.q[:, -1], atol=1e-14)
    np.testing.assert_array_equal(rollout.step(q, qd, [0.0, 0.0], 1e-3, 0.0).q_new, whole.q[:, 0])
    again = pickle.loads(pickle.dumps(rollout))
    np.testing.assert_array_equal(again(q, qd, None, 1e-3, steps=40).q, whole.q)


def test_other_back_ends_and_numbers_close_too(monkeypatch):
    robot, (q, qd) = sort(ANKLE).robot, sort(ANKLE).states(3, 1)
    native = lw.compile_rollout(robot, base_motion=rocking)(q, qd, None, 1e-3, steps=5)
    single = lw.compile_rollout(robot, base_motion=rocking, dtype="float32")(q, qd, None, 1e-3, steps=5)
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    slow = lw.compile_rollout(robot, base_motion=rocking)(q, qd, None, 1e-3, steps=5)
    np.testing.assert_allclose(slow.q, native.q, atol=1e-14)
    assert single.q.dtype == np.float32
    np.testing.assert_allclose(single.q, native.q, atol=1e-6)


def test_rows_whose_loops_cannot_be_closed_are_not_numbers():
    robot = sort(ANKLE).robot
    dyn, tried = lw.compile(robot), np.random.default_rng(0).uniform(-3.0, 3.0, (100, 2))
    out_of_reach = tried[np.isnan(dyn.positions(tried).q).any(axis=1)][0]
    q = np.array([[0.0, 0.0], out_of_reach, [0.1, 0.1]])
    found = lw.compile_rollout(robot, method="euler")(q, np.zeros(2), None, 1e-3, steps=5)
    assert np.isnan(found.q[1]).all()
    assert np.isfinite(found.q[[0, 2]]).all()


def test_limits_see_the_speeds_of_drives_that_follow(monkeypatch):
    """Legs of a hexapod, whose platform leads: the same as limits in a control that knows their speeds."""
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    robot, (q, qd) = sort("hexapod").robot, sort("hexapod").states(4, 1)
    curve = {name: [(0.0, 100.0), (2.0, 0.0)] for name in robot.drives}

    def by_hand(q, qd, u, dyn):
        speeds = dyn.drive_jacobian(q) @ qd
        return np.clip(u, -100.0 + 50.0 * np.clip(-speeds, 0.0, 2.0), 100.0 - 50.0 * np.clip(speeds, 0.0, 2.0))

    u = np.linspace(-150.0, 150.0, robot.nu)
    limited = lw.compile_rollout(robot, method="euler", torque_limits=curve)
    theirs = lw.compile_rollout(robot, method="euler", control=by_hand)
    assert limited.inputs["u"] == theirs.inputs["u"] == (robot.nu,)
    found, expected = (x(q, qd, u, 1e-3, steps=3).qd for x in (limited, theirs))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    with pytest.raises(lw.LinkwiseError, match=r"unknown drive in torque_limits 'platform'"):
        lw.compile_rollout(robot, torque_limits={"platform": 3.0})


def test_a_lift_that_falls_leaves_a_pendulum_without_weight():
    links = [lw.Link("cabin"), lw.Link("bob", 1.0, (0.0, 0.0, -0.5))]
    robot = lw.Robot(links, [lw.Joint("hinge", "cabin", "bob", axis=(0, 1, 0))])
    rollout = lw.compile_rollout(robot, base_motion=lambda t: lw.Pose.of((0.0, 0.0, -4.905 * t * t)))
    found = rollout([0.3], [1.0], None, [1e-2, 2e-2], steps=50, t=[0.0, 5.0])
    np.testing.assert_allclose(found.q[..., 0], 0.3 + np.outer([1e-2, 2e-2], np.arange(1, 51)), atol=1e-12)


def test_what_cannot_be_is_named():
    robot = sort(ANKLE).robot
    with pytest.raises(lw.InputError, match=r"dyn.gravity_forces in control: expected the positions q that control"):
        lw.compile_rollout(robot, method="euler", control=lambda q, qd, u, dyn: dyn.gravity_forces(q * 2.0))
    with pytest.raises(lw.InputError, match="base_motion: expected a function of time that returns a Pose"):
        lw.compile_rollout(robot, base_motion=True)
    rollout = lw.compile_rollout(robot, method="euler", base_motion=rocking)
    assert "dt(), t() -> q(steps, 2)" in repr(rollout)
    with pytest.raises(lw.InputError, match=r"expected t of shape \(\.\.\.\) and real numbers, got <U4"):
        rollout([0.0, 0.0], [0.0, 0.0], None, 1e-3, steps=3, t="noon")
    with pytest.raises(lw.InputError, match=r"do not broadcast: q \(2,\), .*, t \(3,\)"):
        rollout(np.zeros((2, 2)), [0.0, 0.0], None, 1e-3, steps=3, t=[0.0, 1.0, 2.0])
    with pytest.raises(lw.InputError, match="expected the inputs q, qd, u, dt, t, got q, qd, u, dt, t, guess"):
        rollout([0.0, 0.0], [0.0, 0.0], None, 1e-3, steps=3, guess=1.0)
