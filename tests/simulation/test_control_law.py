"""Control laws inside rollouts: vectors that behave like arrays, the robot's algorithms in them, what is refused."""

import pickle

import numpy as np
import pytest

import linkwise as lw
from linkwise import scalar
from support.arms import arm
from support.trees import error

ROBOT = arm(3).without_friction()
GAINS = np.array([40.0, 30.0, 20.0])
MATRIX = np.random.default_rng(0).normal(size=(3, 3))


# each of the same torques, by arrays and number by number
LAWS = {
    "gains": (lambda q, qd, u: GAINS * (u - q) - 2.0 * qd, lambda q, qd, u, k: GAINS[k] * (u[k] - q[k]) - 2.0 * qd[k]),
    "matrix": (
        lambda q, qd, u: MATRIX @ (u - q),
        lambda q, qd, u, k: sum(MATRIX[k, j] * (u[j] - q[j]) for j in range(3)),
    ),
    "from the right": (lambda q, qd, u: u @ MATRIX, lambda q, qd, u, k: sum(MATRIX[j, k] * u[j] for j in range(3))),
    "sum and length": (lambda q, qd, u: u + q.sum() * len(q), lambda q, qd, u, k: u[k] + 3.0 * sum(q)),
    "slices": (
        lambda q, qd, u: np.concatenate([u[1:], -q[:1] / 2.0]),
        lambda q, qd, u, k: (u[1], u[2], -q[0] / 2.0)[k],
    ),
    "in place": (lambda q, qd, u: _in_place(u, q), lambda q, qd, u, k: u[k] + 3.0 * q[k] if k else 1.5),
    "functions of NumPy": (
        lambda q, qd, u: np.tanh(u) + np.sin(q) * np.cos(qd) + np.exp(-q * q) + np.sqrt(q * q + 1.0) + np.arctan2(q, u),
        lambda q, qd, u, k: (
            scalar.tanh(u[k]) + scalar.sin(q[k]) * scalar.cos(qd[k]) + scalar.exp(-q[k] * q[k])
            + scalar.sqrt(q[k] * q[k] + 1.0) + scalar.atan2(q[k], u[k])
        ),
    ),
    "functions of scalar": (
        lambda q, qd, u: (
            scalar.tanh(u) + scalar.sin(q) * scalar.cos(qd) + scalar.exp(-q * q)
            + scalar.sqrt(q * q + 1.0) + scalar.atan2(q, u) + scalar.atan2(1.0, u) + scalar.sign(q)
        ),
        lambda q, qd, u, k: (
            scalar.tanh(u[k]) + scalar.sin(q[k]) * scalar.cos(qd[k]) + scalar.exp(-q[k] * q[k])
            + scalar.sqrt(q[k] * q[k] + 1.0) + scalar.atan2(q[k], u[k]) + scalar.atan2(1.0, u[k]) + scalar.sign(q[k])
        ),
    ),
    "bounds of NumPy": (
        lambda q, qd, u: np.clip(GAINS * (u - q), -GAINS, 9.0) + np.minimum(q, 0.1) + np.maximum(0.2, qd) + np.abs(q),
        lambda q, qd, u, k: (
            scalar.clip(GAINS[k] * (u[k] - q[k]), -GAINS[k], 9.0) + scalar.minimum(q[k], 0.1)
            + scalar.maximum(qd[k], 0.2) + scalar.absolute(q[k])
        ),
    ),
    "bounds of scalar": (
        lambda q, qd, u: scalar.clip(u, -0.3, q) + scalar.where(scalar.less(q, u), u, 0.0) + scalar.absolute(qd),
        lambda q, qd, u, k: (
            scalar.clip(u[k], -0.3, q[k]) + scalar.where(scalar.less(q[k], u[k]), u[k], 0.0) + scalar.absolute(qd[k])
        ),
    ),
    "bounded above": (lambda q, qd, u: u.clip(max=0.2), lambda q, qd, u, k: scalar.minimum(u[k], 0.2)),
}  # fmt: skip


def _in_place(u, q):
    tau = u.copy()
    tau += 3.0 * q
    tau[0] = 1.5
    return tau


@pytest.mark.parametrize("name", LAWS)
def test_arrays_and_numbers_say_the_same(name):
    by_arrays, by_numbers = LAWS[name]
    rng = np.random.default_rng(0)
    q, qd, u = rng.normal(size=(3, 6, 3))
    one = lw.compile_rollout(ROBOT, method="euler", control=by_arrays)
    other = lw.compile_rollout(
        ROBOT, method="euler", control=lambda q, qd, u: [by_numbers(q, qd, u, k) for k in range(3)]
    )
    assert error(one.step(q, qd, u, 1e-3).qd_new, other.step(q, qd, u, 1e-3).qd_new) < 1e-13
    # and the same as on plain arrays, by forward dynamics
    if name != "functions of scalar" and name != "bounds of scalar" and name != "bounded above":
        tau = np.array([by_arrays(*x) for x in zip(q, qd, u, strict=True)])
        expected = qd + 1e-3 * lw.compile(ROBOT).forward_dynamics(q, qd, tau)
        assert error(one.step(q, qd, u, 1e-3).qd_new, expected) < 1e-13


def hold(q, qd, u, dyn):
    """Gravity compensation, and gains by the inertia."""
    return dyn.gravity_forces(q) + dyn.mass_matrix(q) @ (100.0 * (u - q) - 20.0 * qd)


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_gravity_compensation_holds_a_set_point(method):
    rollout = lw.compile_rollout(ROBOT, method=method, control=hold)
    goal = np.array([0.4, -0.3, 0.8])
    end = rollout(np.zeros(3), np.zeros(3), goal, 1e-3, steps=3000, keep="end")
    np.testing.assert_allclose(end.q, goal, atol=1e-9)
    again = pickle.loads(pickle.dumps(rollout))
    np.testing.assert_array_equal(again(np.zeros(3), np.zeros(3), goal, 1e-3, steps=30).q[-1],
                                  rollout(np.zeros(3), np.zeros(3), goal, 1e-3, steps=30).q[-1])  # fmt: skip


def test_the_linearization_knows_the_law():
    """Computed torques make each joint a double integrator with its gains."""
    dt = 1e-3

    def computed(q, qd, u, dyn):
        return dyn.inverse_dynamics(q, qd, u - 50.0 * q - 10.0 * qd)

    rollout = lw.compile_rollout(ROBOT, method="euler", control=computed)
    q, qd, u = np.random.default_rng(0).normal(size=(3, 3))
    A, B = rollout.linearization(q, qd, u, dt)
    one = np.eye(3)
    below = np.hstack([-50.0 * dt * one, (1.0 - 10.0 * dt) * one])
    assert error(A, np.vstack([np.hstack([one, 0 * one]) + dt * below, below])) < 1e-12
    assert error(B, np.vstack([dt * dt * one, dt * one])) < 1e-12


def test_frames_and_several_results():
    """A force at the tool through its Jacobian, and results of several fields."""

    def push(q, qd, u, dyn):
        pose, J = dyn.pose(q, "tool"), dyn.jacobian(q, frame="tool")
        T = dyn.kinetic_energy(q, qd)
        tau, wrench = dyn.joint_wrenches(q, qd, np.zeros(3))
        return J[:3].T @ (u - pose[:3, 3]) + T * qd + 0.0 * wrench[2, :3] + 0.0 * tau

    rollout = lw.compile_rollout(ROBOT, method="euler", control=push)
    q, qd, u = np.random.default_rng(0).normal(size=(3, 3))
    dyn = lw.compile(ROBOT)
    tau = dyn.jacobian(q, "tool")[:3].T @ (u - dyn.pose(q, "tool")[:3, 3]) + dyn.kinetic_energy(q, qd) * qd
    expected = qd + 1e-3 * dyn.forward_dynamics(q, qd, tau)
    assert error(rollout.step(q, qd, u, 1e-3).qd_new, expected) < 1e-13


def test_a_controller_knows_the_model_and_not_the_robot():
    """With another mass and gravity as inputs, gravity compensation stays that of the model."""
    heavy = lw.compile_rollout(ROBOT, method="euler", control=lambda q, qd, u, dyn: dyn.gravity_forces(q) + u,
                               parameters=("link3.mass",), gravity="input")  # fmt: skip
    q, zero = np.array([0.3, 0.5, -0.4]), np.zeros(3)
    own = heavy.parameters
    still = heavy.step(q, zero, zero, 1e-3, own, ROBOT.gravity)
    assert np.abs(still.qd_new).max() < 1e-15
    for parameters, gravity in ((own * 2.0, ROBOT.gravity), (own, (0.0, 0.0, 0.0))):
        assert np.abs(heavy.step(q, zero, zero, 1e-3, parameters, gravity).qd_new).max() > 1e-4


@pytest.mark.parametrize(
    ("control", "message"),
    [
        (lambda q, qd, u: u[7], r"control: expected a function that can be traced, got: .*out of bounds"),
        (lambda q, qd, u: u + np.ones(2), r"control: expected a function that can be traced, got: .*broadcast"),
        (lambda q, qd, u: u.speed, r"control: expected a function that can be traced, got: .*no attribute 'speed'"),
        (lambda q, qd, u: [float(x) for x in u], r"no number while tracing: use the functions of linkwise\.scalar"),
        (lambda q, qd, u: u if u.sum() > 0.0 else q, r"no truth of its own while tracing"),
        (lambda q, qd, u: np.outer(u, q), r"control: expected 3 torques, got an array of shape \(3, 3\)"),
        (lambda q, qd, u, dyn: dyn.gravity(q), r"unknown function of dyn in control 'gravity'\. Did you mean"),
        (lambda q, qd, u, dyn: dyn.inverse_dynamics(q, qd), r"dyn\.inverse_dynamics .*: expected q.*, got 3, 3"),
        (lambda q, qd, u, dyn: dyn.pose(q, "moon"), r"unknown .*'moon'"),
    ],
)  # fmt: skip
def test_laws_that_cannot_be_traced(control, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.compile_rollout(ROBOT, control=control)
