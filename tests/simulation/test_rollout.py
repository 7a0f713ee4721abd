"""Compiled rollouts: the same steps as by hand, conserved quantities, rows on their own, interruptions."""

import numpy as np
import pytest

import linkwise as lw


def by_hand(robot, q, qd, u, dt, method):
    """The same steps in NumPy, one after the other, for robots without floating joints."""
    forward = lw.compile(robot).forward_dynamics
    motion = []
    for tau in np.moveaxis(u, -2, 0):
        if method == "euler":
            qd = qd + dt * forward(q, qd, tau)
            q = q + dt * qd
        else:
            a1 = forward(q, qd, tau)
            v2 = qd + dt / 2 * a1
            a2 = forward(q + dt / 2 * qd, v2, tau)
            v3 = qd + dt / 2 * a2
            a3 = forward(q + dt / 2 * v2, v3, tau)
            v4 = qd + dt * a3
            a4 = forward(q + dt * v3, v4, tau)
            q, qd = q + dt / 6 * (qd + 2 * v2 + 2 * v3 + v4), qd + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        motion.append((q, qd))
    return [np.stack(x, axis=-2) for x in zip(*motion, strict=True)]


def start(robot, rows, seed=0, steps=50):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(rows, robot.nq)),
        rng.normal(size=(rows, robot.nv)),
        rng.normal(size=(rows, steps, robot.nv)),
    )


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_the_same_steps_as_by_hand(method):
    robot = lw.random_tree(2, 4, friction=0.5, armature=0.5)
    q, qd, u = start(robot, 7)
    found = lw.compile_rollout(robot, method=method)(q, qd, u, 1e-3)
    expected = by_hand(robot, q, qd, u, 1e-3, method)
    assert found.steps == 50
    for ours, theirs in zip(found[:2], expected, strict=True):
        assert np.abs(ours - theirs).max() < 1e-12 * np.abs(theirs).max()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_row_does_not_depend_on_the_others(threads):
    robot = lw.random_tree(1, 3)
    q, qd, u = start(robot, 600, steps=20)
    rollout = lw.compile_rollout(robot, threads=threads)
    together = rollout(q, qd, u, 1e-3)
    for k in (0, 5, 599):
        alone = rollout(q[k], qd[k], u[k], 1e-3)
        np.testing.assert_array_equal(alone.q, together.q[k])
    u[3] = np.nan
    spoilt = rollout(q, qd, u, 1e-3)
    assert np.isnan(spoilt.qd[3]).all()
    np.testing.assert_array_equal(np.delete(spoilt.q, 3, 0), np.delete(together.q, 3, 0))


def test_momentum_of_a_free_flyer_and_energy():
    """Ten seconds without gravity and torques: momentum and energy stay."""
    robot = lw.random_tree(4, 4, floating=True).replace(gravity=(0, 0, 0))
    q, qd, _ = start(robot, 2)
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    qd *= 0.5
    dyn = lw.compile(robot)
    found = lw.compile_rollout(robot)(q, qd, np.zeros((2, 10_000, robot.nv)), 1e-3)
    before, after = dyn.momentum(q, qd), dyn.momentum(found.q[:, -1], found.qd[:, -1])
    assert np.abs(after - before).max() < 1e-8 * np.abs(before).max()
    energy = dyn.kinetic_energy(found.q, found.qd)
    assert np.abs(energy / dyn.kinetic_energy(q, qd)[:, None] - 1).max() < 1e-8
    np.testing.assert_allclose(np.linalg.norm(found.q[..., 3:7], axis=-1), 1.0, atol=1e-14)


def test_set_points_by_a_control():
    """A spring and damper towards the input, evaluated inside the loop, settle at it."""
    robot = lw.random_tree(3, 3).replace(gravity=(0, 0, 0))

    def hold(q, qd, u):
        return [400.0 * (x - a) - 60.0 * v for x, a, v in zip(u, q, qd, strict=True)]

    goal = np.array([0.3, -0.2, 0.1])
    found = lw.compile_rollout(robot, control=hold)(np.zeros(3), np.zeros(3), np.broadcast_to(goal, (8000, 3)), 1e-3)
    np.testing.assert_allclose(found.q[-1], goal, atol=1e-4)


def test_an_interruption_keeps_what_was_computed():
    robot = lw.random_tree(0, 3)
    q, qd, u = start(robot, 4, steps=1000)
    rollout = lw.compile_rollout(robot)

    def stop(done, total):
        if done >= 64:
            raise KeyboardInterrupt

    part = rollout(q, qd, u, 1e-4, progress=stop)
    assert 64 <= part.steps <= 1000
    assert part.q.shape == (4, part.steps, robot.nq)
    np.testing.assert_array_equal(part.q, rollout(q, qd, u, 1e-4).q[:, : part.steps])


def test_no_steps_and_one_step_length_for_each_row():
    robot = lw.random_tree(0, 3)
    q, qd, u = start(robot, 4, steps=3)
    rollout = lw.compile_rollout(robot)
    for _ in range(2):  # the second knows how long a step takes
        none = rollout(q, qd, u[:, :0], 1e-3)
        assert none.q.shape == (4, 0, robot.nq)
        assert none.steps == 0
    each = rollout(q, qd, u, np.array([1e-3, 2e-3, 3e-3, 4e-3]))
    np.testing.assert_array_equal(each.q[2], rollout(q[2], qd[2], u[2], 3e-3).q)


def test_the_interpreter_makes_the_same_steps(monkeypatch):
    robot = lw.random_tree(5, 3, floating=True)
    q, qd, u = start(robot, 3, steps=5)
    native = lw.compile_rollout(robot)(q, qd, u, 1e-3)
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")
    interpreted = lw.compile_rollout(robot)(q, qd, u, 1e-3)
    np.testing.assert_allclose(interpreted.q, native.q, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "leapfrog"}, r"method: expected one of"),
        ({"inputs": 0}, r"inputs: expected a whole number"),
        ({"control": lambda q, qd, u: u[:1]}, r"control: expected 3 torques, got 1"),
        ({"control": lambda q, qd, u: None}, r"control: expected 3 torques, got None"),
        ({"control": lambda q, qd, u: u if q[0] > 0.0 else qd}, r"control: expected a function that can be traced"),
        ({"control": lambda q, qd: qd}, r"control: expected a function that can be traced, got: .*takes 2 positional"),
        ({"control": "pd"}, r"control: expected a function of \(q, qd, u\), got 'pd'"),
        ({"threads": 0}, r"threads: expected"),
        ({"inputs": 2.5, "control": lambda q, qd, u: u}, r"inputs: expected a whole number of at least 1, got 2\.5"),
        ({"inputs": 2}, r"inputs: expected 3, because u are torques"),
        ({"gravity": "down"}, r"gravity: expected a vector of three, 'input' or None"),
        ({"forces": {"moon": lw.simulation.Drag()}}, r"unknown .*'moon'"),
        ({"joint_forces": {"elbow": lw.simulation.JointStop()}}, r"unknown joint .*'elbow'"),
        ({"forces": {"tool": lambda pose, velocity: 1.0}}, r"forces 'tool': expected a law that returns Wrench"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.compile_rollout(lw.random_tree(0, 3), **options)


def test_bad_arrays():
    rollout = lw.compile_rollout(lw.random_tree(0, 3))
    with pytest.raises(lw.LinkwiseError, match=r"expected u of shape \(\.\.\., steps, 3\)"):
        rollout(np.zeros(3), np.zeros(3), np.zeros(3), 1e-3)
    with pytest.raises(lw.LinkwiseError, match=r"expected u of shape \(\.\.\., steps, 3\), got \(5, 2\)"):
        rollout(np.zeros(3), np.zeros(3), np.zeros((5, 2)), 1e-3)
    with pytest.raises(lw.LinkwiseError, match=r"rollout dt: expected a length of at least 0 s, got -0\.001"):
        rollout(np.zeros(3), np.zeros(3), np.zeros((5, 3)), -1e-3)
    assert np.isnan(rollout(np.zeros((2, 3)), np.zeros(3), np.zeros((5, 3)), [np.nan, 1e-3]).q[0]).any()
