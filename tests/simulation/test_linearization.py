"""Linear systems near a motion: against differences of rollouts, and closed forms where the motion is linear."""

import pickle

import numpy as np
import pytest
from scipy.linalg import expm

import linkwise as lw
from linkwise.scalar import sin, tanh
from support.arms import two_link
from support.trees import error, states, tree

SLOW = [pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 5)]
some = pytest.mark.parametrize("seed", [0, 1, 7, *SLOW])  # each kind of base and joint
METHODS = ("euler", "rk4")


@pytest.fixture(autouse=True)
def back_end(monkeypatch):
    """The interpreter: that native code computes the same is tested for kernels in general."""
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")


def smooth(seed):
    """A robot without jumps, and light enough to be differentiated by steps."""
    return tree(seed, friction=0.0, elastic=0.2)


def differences(robot, rollout, q, qd, u, dt, h=1e-4):
    """A and B by central differences of fourth order of one step of the rollout, tangent in, tangent out."""

    n, width = robot.nv, 2 * robot.nv + len(u)
    steps = np.array([s * h * np.eye(width) for s in (0, -2, -1, 1, 2)])
    x = lw.compile(robot).integrate(q, steps[..., :n], 1.0)
    found = rollout(x, qd + steps[..., n : 2 * n], (u + steps[..., 2 * n :])[..., None, :], dt)
    end = found.q[0, 0, 0]
    _, far_below, below, above, far_above = np.concatenate(
        [lw.compile(robot).difference(end, found.q[..., 0, :]), found.qd[..., 0, :]], axis=-1
    )
    whole = ((8.0 * (above - below) - (far_above - far_below)) / (12.0 * h)).T
    return whole[:, : 2 * n], whole[:, 2 * n :]


@some
@pytest.mark.parametrize("method", METHODS)
def test_a_step_is_the_derivative_of_the_rollout(seed, method):
    robot = smooth(seed)
    q, qd, tau = (x[0] for x in states(robot, 1, seed))
    rollout = lw.compile_rollout(robot, method=method)
    found = rollout.linearization(q, qd, tau, 0.01)
    A, B = differences(robot, rollout, q, qd, tau, 0.01)
    assert error(found.A, A) < 1e-8
    assert error(found.B, B) < 1e-8


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [0, 1])
def test_control_and_laws_are_in_it(seed, method):
    robot = smooth(seed)
    n = robot.nv

    def control(q, qd, u):
        return [u[k % 2] * sin(q[-1]) - qd[k] * 2.0 - (u[2] * u[2] if k == n - 1 else 0.0) for k in range(n)]

    def wind(pose, velocity):
        return lw.Wrench(pose.R.T @ lw.Vec3(5.0 * tanh(pose.p.z), 0.0, 0.0) + velocity.linear * -2.0)

    rollout = lw.compile_rollout(robot, method=method, control=control, inputs=3, forces={"tool": wind})
    q, qd, _ = (x[0] for x in states(robot, 1, seed))
    u = np.array([0.4, -0.7, 1.1])
    found = rollout.linearization(q, qd, u, 0.01)
    A, B = differences(robot, rollout, q, qd, u, 0.01)
    assert found.B.shape == (2 * n, 3)
    assert error(found.A, A) < 1e-8
    assert error(found.B, B) < 1e-8


@some
def test_continuous_time_is_the_limit_of_steps(seed):
    """A = d/dt of the step's matrix at dt = 0, on floating joints too."""
    robot = smooth(seed)
    q, qd, tau = (x[0] for x in states(robot, 1, seed))
    rollout = lw.compile_rollout(robot, method="rk4")
    found = lw.compile(robot).linearization(q, qd, tau)
    h = 1e-4
    steps = [rollout.linearization(q, qd, tau, k * h) for k in range(5)]
    for name in ("A", "B"):
        value = [getattr(x, name) for x in steps]
        slope = sum(c * x for c, x in zip((-25.0, 48.0, -36.0, 16.0, -3.0), value, strict=True)) / (12.0 * h)
        assert error(getattr(found, name), slope) < 1e-6


@some
def test_both_routes_and_their_blocks(seed):
    robot = tree(seed)
    n = robot.nv
    state = [x[0] for x in states(robot, 1, seed)]
    found, by_graph = (lw.compile(robot, lw.algorithms.linearization, route=r)(*state) for r in ("recursion", "graph"))
    blocks = lw.compile(robot).forward_dynamics_derivatives(*state)
    assert error(found.A, by_graph.A) < 1e-11
    assert error(found.B, by_graph.B) < 1e-11
    assert error(found.A[n:, :n], blocks.dqdd_dq) < 1e-14
    assert error(found.A[n:, n:], blocks.dqdd_dqd) < 1e-14
    assert np.array_equal(found.A[:n, n:], np.eye(n))
    assert np.array_equal(found.B[:n], np.zeros((n, n)))


def carts(n=3):
    """Carts on one rail between springs and dampers: a linear system."""
    links = [lw.Link("ground"), *(lw.Link(f"cart{k}", 1.0 + k) for k in range(n))]
    joints = [
        lw.Joint(
            f"rail{k}", links[k].name, links[k + 1].name, "prismatic", axis=(1, 0, 0),
            spring=lw.Spring(30.0 + 5.0 * k, 0.4), friction=lw.Friction(viscous=0.2),
        )
        for k in range(n)
    ]  # fmt: skip
    return lw.Robot(links, joints)


def test_a_linear_system_has_its_exponential():
    """rk4's step is the series of exp(A dt) to the fourth power; B the same of its integral."""
    robot = carts()
    n, dt = robot.nv, 0.02
    rng = np.random.default_rng(0)
    q, qd, tau = rng.normal(size=(3, n))
    A, B = lw.compile(robot).linearization(q, qd, tau)
    step = lw.compile_rollout(robot).linearization(q, qd, tau, dt)
    X = A * dt
    series = np.eye(2 * n) + X @ (np.eye(2 * n) + X @ (np.eye(2 * n) + X @ (np.eye(2 * n) + X / 4) / 3) / 2)
    assert error(step.A, series) < 1e-14
    both = expm(np.block([[A, B], [np.zeros((n, 3 * n))]]) * dt)
    assert error(step.A, both[: 2 * n, : 2 * n]) < np.linalg.norm(X, 2) ** 5 / 120
    assert error(step.B, both[: 2 * n, 2 * n :]) < np.linalg.norm(X, 2) ** 4 / 24
    euler = lw.compile_rollout(robot, method="euler").linearization(q, qd, tau, dt)
    below = np.eye(2 * n)[n:] + dt * A[n:]
    assert error(euler.A, np.concatenate([np.eye(2 * n)[:n] + dt * below, below])) < 1e-14


def test_batches_and_all_steps_of_a_rollout():
    robot = two_link()
    rollout = lw.compile_rollout(robot)
    rng = np.random.default_rng(0)
    u = rng.normal(size=(4, 10, 2))
    q0, qd0 = rng.normal(size=(2, 4, 2))
    rolled = rollout(q0, qd0, u, 0.01)
    q = np.concatenate([q0[:, None], rolled.q[:, :-1]], axis=1)
    qd = np.concatenate([qd0[:, None], rolled.qd[:, :-1]], axis=1)
    A, B = rollout.linearization(q, qd, u, 0.01)
    assert A.shape == (4, 10, 4, 4)
    assert B.shape == (4, 10, 4, 2)
    one = rollout.linearization(q[2, 7], qd[2, 7], u[2, 7], [0.01, 0.02])
    assert one.A.shape == (2, 4, 4)
    assert error(one.A[0], A[2, 7]) < 1e-14

    # the end of the rollout moves by the product of all steps
    through = np.linalg.multi_dot(list(A[0][::-1]))
    h = 1e-6
    ends = [rollout(q0[0] + s * h * np.eye(2), qd0[0], u[0], 0.01) for s in (1, -1)]
    moved = [np.concatenate([x.q[:, -1], x.qd[:, -1]], axis=1) for x in ends]
    assert error(through[:, :2], (moved[0] - moved[1]).T / (2 * h)) < 1e-7


def test_pickled_and_mistaken():
    robot = two_link()
    rollout = pickle.loads(pickle.dumps(lw.compile_rollout(robot)))
    assert rollout.linearization([0.1, 0.2], [0, 0], [0, 0], 0.01).A.shape == (4, 4)
    with pytest.raises(lw.InputError, match="q"):
        rollout.linearization([0.1], [0, 0], [0, 0], 0.01)
    with pytest.raises(lw.InputError, match=r"expected dt of shape \(\.\.\.\) and real numbers, got <U4"):
        rollout.linearization([0.1, 0.2], [0, 0], [0, 0], "fast")
    with pytest.raises(lw.InputError, match="u"):
        rollout.linearization([0.1, 0.2], [0, 0], [0, 0, 0], 0.01)
    with pytest.raises(lw.InputError, match=r"linearization dt: expected a length of at least 0 s, got -0\.01"):
        rollout.linearization([0.1, 0.2], [0, 0], [0, 0], [0.01, -0.01])
    with pytest.raises(lw.InputError, match=r"expected dt of shape \(\.\.\.\) and real numbers, got object"):
        rollout.linearization([0.1, 0.2], [0, 0], [0, 0], None)
    with pytest.raises(lw.InputError, match=r"do not broadcast: q \(3,\), qd \(\), u \(\), dt \(2,\)"):
        rollout.linearization(np.zeros((3, 2)), [0, 0], [0, 0], [0.01, 0.02])


@pytest.mark.parametrize("method", ["rk4", "euler", "implicit"])
@pytest.mark.parametrize("name", ["stanford", "fivebar"])
def test_parameter_derivatives_are_those_of_the_step(name, method):
    """By differences; also where Newton's method closes loops within the step."""
    robot = lw.load(name)
    links, joint = robot.moving_links, robot.names[0]
    rollout = lw.compile_rollout(
        robot, method=method, parameters=(f"{links[0]}.mass", f"{links[1]}.com", f"{joint}.viscous")
    )
    rng = np.random.default_rng(3)
    q, qd, u = robot.q() + 0.1, rng.uniform(-1, 1, robot.nv), rng.uniform(-1, 1, robot.nu)
    values = rollout.parameters + 0.1
    found = rollout.parameter_derivatives(q, qd, u, 0.01, values)
    assert [x.shape for x in found] == [(robot.nq, 5), (robot.nv, 5)]
    for k in range(5):
        h = 1e-5 * np.eye(5)[k]
        ends = zip(rollout.step(q, qd, u, 0.01, values + h), rollout.step(q, qd, u, 0.01, values - h), strict=True)
        for x, (a, b) in zip(found, ends, strict=True):
            np.testing.assert_allclose(x[:, k], (a - b) / 2e-5, atol=1e-8)


def test_parameter_derivatives_need_parameters():
    with pytest.raises(lw.InputError, match="some of whose numbers are inputs"):
        _ = lw.compile_rollout(lw.load("rr")).parameter_derivatives
