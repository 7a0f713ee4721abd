"""Rollouts with laws of the environment: contact, crawling, the order of the method, copies."""

import pickle

import numpy as np
import pytest

import linkwise as lw

G = 9.81


def test_a_ball_settles_on_compliant_ground():
    """At the depth where the ground carries its weight, wherever it was thrown from."""
    links = [lw.Link("world"), lw.Link("ball", 2.0, inertia=(0.02, 0.03, 0.04))]
    robot = lw.Robot(links, [lw.Joint("free", "world", "ball", "floating")])
    contact = lw.simulation.GroundContact(1e4, damping=2.0, radius=0.1, onset=1e-3)
    rollout = lw.compile_rollout(robot, forces={"ball": contact})
    q = np.zeros((3, 7))
    q[:, 2], q[:, 6] = (0.1, 0.15, 0.3), 1.0
    found = rollout(q, np.zeros((3, 6)), np.zeros((12_000, 6)), 5e-4)
    assert 0.1 - found.q[:, -1, 2] == pytest.approx(np.full(3, 2.0 * G / 1e4 + 0.5e-3), rel=1e-4)
    assert np.abs(found.qd[:, -1]).max() < 1e-3
    assert found.q[..., 2].min() > 0.05


def test_a_snake_crawls_where_it_slides_along_more_easily_than_across():
    """A travelling wave of set points moves it, and which way depends on the friction; without friction it stays."""
    n, length = 6, 0.2
    links = [lw.Link("ground"), lw.Link("x"), lw.Link("y")]
    links += [lw.Link(f"link{k}", 0.2, (length / 2, 0, 0), (1e-4, 1e-3, 1e-3)) for k in range(n)]
    joints = [
        lw.Joint("x", "ground", "x", "prismatic", axis=(1, 0, 0)),
        lw.Joint("y", "x", "y", "prismatic", axis=(0, 1, 0)),
        lw.Joint("heading", "y", "link0"),
    ]
    joints += [lw.Joint(f"bend{k}", f"link{k - 1}", f"link{k}", origin=(length, 0, 0)) for k in range(1, n)]
    middles = [lw.Frame(f"middle{k}", f"link{k}", (length / 2, 0, 0)) for k in range(n)]
    snake = lw.Robot(links, joints, middles)

    def follow(q, qd, u):
        bends = [20.0 * (x - a) - 0.1 * v for x, a, v in zip(u, q[3:], qd[3:], strict=True)]
        return [0.0, 0.0, 0.0, *bends]

    dt = 5e-4
    t = dt * np.arange(8000)[:, None]
    wave = np.minimum(t, 1.0) * 0.6 * np.sin(2 * np.pi * (t + np.arange(1, n) / n))
    dyn, travelled = lw.compile(snake), {}
    for name, along, across in (("skin", 0.5, 20.0), ("comb", 20.0, 0.5), ("ice", 0.0, 0.0)):
        skin = lw.simulation.GroundFriction.of_rod(length, along=along, across=across)
        rollout = lw.compile_rollout(snake, control=follow, inputs=n - 1, forces={f"middle{k}": skin for k in range(n)})
        found = rollout(np.zeros(n + 2), np.zeros(n + 2), wave, dt)
        assert np.isfinite(found.q).all()
        centre = dyn.centre_of_mass(found.q[[0, -1]])
        travelled[name] = centre[1] - centre[0]
    assert np.abs(travelled["ice"]).max() < 1e-5  # the error of the method: a sixteenth at half the step
    assert travelled["skin"][0] > 2.0
    assert travelled["comb"][0] < -0.4


def swim(pose, velocity):
    """A smooth law of pose and velocity."""
    pull = pose.R.T @ (pose.p * -3.0)
    return lw.Wrench(pull - velocity.linear * 0.7, velocity.angular * -0.2)


def harden(q, qd):
    """A spring that hardens, with a damper."""
    return q * q * q * -2.0 - qd * 0.3


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("euler", 1)])
@pytest.mark.parametrize("floating", [False, True])
def test_laws_agree_with_the_accurate_simulation(method, order, floating):
    """The difference from SciPy's solution shrinks with the order of the method."""
    robot = lw.random_tree(2, 3, floating=floating)
    joint = robot.names[-1]
    laws = {"forces": {"tool": swim}, "joint_forces": {joint: harden}}
    q, qd = robot.q(), 0.3 * np.random.default_rng(0).normal(size=robot.nv)
    exact = lw.simulate(robot, q, qd, 0.5, rtol=1e-12, atol=1e-13, method="DOP853", **laws)
    rollout = lw.compile_rollout(robot, method=method, **laws)
    errors = []
    for steps in (50, 100):
        found = rollout(q, qd, np.zeros((steps, robot.nv)), 0.5 / steps)
        errors.append(np.abs(found.qd[-1] - exact.qd[-1]).max())
    assert errors[1] < (1e-6 if order == 4 else 0.1)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


def test_a_copy_makes_the_same_steps():
    """Pickled with laws and a control that are named; and what it is called."""
    robot = lw.random_tree(1, 3)
    rollout = lw.compile_rollout(
        robot, method="euler", forces={"tool": swim}, joint_forces={robot.names[0]: lw.simulation.JointStop(-1.0, 1.0)}
    )
    again = pickle.loads(pickle.dumps(rollout))
    q, qd, u = np.ones(3), np.zeros(3), np.ones((20, 3))
    np.testing.assert_array_equal(again(q, qd, u, 1e-3).q, rollout(q, qd, u, 1e-3).q)
    assert repr(again) == repr(rollout)
    assert repr(rollout) == (
        f"<Rollout by euler of the robot {robot.name!r}: q(3,), qd(3,), u(steps, 3), dt() -> q(steps, 3), qd(steps, 3)>"
    )
