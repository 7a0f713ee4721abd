"""Platforms on legs plan, retime and reach poses like any robot: the platform leads, the legs follow and push."""

from functools import cache

import numpy as np
import pytest

import linkwise as lw
from linkwise.planning.chart import chart_of
from linkwise.planning.curve import Basis
from linkwise.planning.guess import first_motion
from linkwise.planning.problem import Problem
from linkwise.planning.term_and_constraint import Sum
from linkwise.robot import Robot
from support.machines import machine
from support.programs import close, dense, set_up

NAMES = ["Gough-Stewart", "Delta", "3-RRR"]
STEP = np.array([0.03, 0.02, 0.01, 0.1, -0.05, 0.2])  # of a platform, m and rad


@cache
def platform(name: str) -> Robot:
    """A platform on legs, assembled in the middle of its motion."""
    robot, home = machine(name)
    return robot.replace(reference={**dict(robot.reference), "platform": tuple(home)})


def ends(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    q = robot.q()
    step = STEP[: robot.nv] if robot.nv == 6 else STEP[:3]
    return q, lw.compile(robot).integrate(q, step, 1.0)


@cache
def gentle(name: str) -> lw.planning.Plan:
    robot = platform(name)
    return lw.plan(robot, *ends(robot), lw.cost.effort(), duration=0.5, control_points=12)


def holding(robot: Robot) -> float:
    """The largest torque at rest."""
    q, rest = robot.q(), np.zeros(robot.nv)
    return float(np.abs(lw.compile(robot).inverse_dynamics(q, rest, rest)).max())


@pytest.mark.parametrize("name", NAMES)
def test_motion_and_torques(name):
    """Velocities are those of positions, torques those of inverse dynamics, and both ends are met."""
    found, robot = gentle(name), platform(name)
    assert found.converged, found.summary
    dyn, t = lw.compile(robot), found.times()[3:-3]
    start, goal = ends(robot)
    for time, q in ((0.0, start), (found.duration, goal)):
        assert np.abs(dyn.difference(found.q(time), q)).max() < 1e-12
    h = 1e-5
    np.testing.assert_allclose(dyn.difference(found.q(t - h), found.q(t + h)) / (2.0 * h), found.qd(t), atol=1e-6)
    np.testing.assert_allclose((found.qd(t + h) - found.qd(t - h)) / (2.0 * h), found.qdd(t), atol=1e-5)
    np.testing.assert_allclose(found.tau(t), dyn.inverse_dynamics(found.q(t), found.qd(t), found.qdd(t)), atol=1e-9)
    assert found.tau(t).shape == (len(t), robot.nu)
    closed = dyn.positions(found.q(t))
    assert closed.converged.all()
    np.testing.assert_array_equal(found.positions(t), closed.q)
    assert {f"tau.{n}" for n in robot.drives} <= set(found.columns())


@pytest.mark.parametrize("name", NAMES)
def test_limits_of_legs(name):
    """Speeds of joints that follow are kept, on a fine grid of positions."""
    robot, free = platform(name), gentle(name)
    joint = robot.drives[0]
    at = robot.opened().slots[joint].q

    def speed(p: lw.planning.Plan) -> float:
        t = np.linspace(0.0, p.duration, 4001)
        return float(np.abs(np.diff(p.positions(t)[:, at]) / np.diff(t)).max())

    top = 0.8 * speed(free)
    slow = lw.plan(
        robot,
        *ends(robot),
        lw.cost.effort(),
        lw.limit.joints(velocity={joint: top}),
        duration=0.5,
        control_points=12,
        guess=free,
    )
    assert slow.converged, slow.summary
    assert 0.99 * top <= speed(slow) <= 1.002 * top
    assert slow.objective > free.objective


@pytest.mark.parametrize("name", NAMES)
def test_derivatives(name):
    """First derivatives of rows against complex steps through the definition; turns and all."""
    robot = platform(name)
    start, goal = ends(robot)
    dyn = lw.compile(robot)
    chart = chart_of(robot).centred(start, dyn.positions(start).q)
    states = [lw.planning.State(chart.numbers(q, dyn.positions(q).q)) for q in (start, goal)]
    limits = (lw.limit.joints(effort=300.0, velocity=9.0, effort_rate=3e3),)
    made = Problem(
        robot, *states, Sum.of(0.1 * lw.cost.effort()), limits, Basis.uniform(4, 7), points=1, given_chart=chart
    )
    program, defined, _ = set_up(made)
    x = program.variables.of(first_motion(made, 0.5)) + 0.003 * np.random.default_rng(1).normal(size=program.n)
    close(program.g(x), defined.g(x), 1e-11)
    defined.check_slopes(dense(program, x), defined.g, x, 1e-9)
    defined.check_slopes(program.gradient(x), defined.f, x, 1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("smooth", [False, True])
def test_retimed(name, smooth):
    """The fastest timing of a path through poses uses the drives' limits, and no more."""
    robot = platform(name)
    dyn = lw.compile(robot)
    start, _ = ends(robot)
    step = STEP[: robot.nv] if robot.nv == 6 else STEP[:3]
    poses = [dyn.integrate(start, share * step, 1.0) for share in (0.0, 0.3, 0.7, 1.0)]
    effort = 3.0 * holding(robot) + 30.0
    more = {"effort_rate": 20.0 * effort} if smooth else {}
    found = lw.retime(robot, poses, effort=effort, **more)
    tau = dyn.inverse_dynamics(found.q, found.qd, found.qdd)
    np.testing.assert_allclose(found.tau, tau, atol=1e-8)
    assert np.abs(tau).max() <= effort * 1.002
    assert max(use.share for use in found.uses.values()) == pytest.approx(1.0, abs=2e-3)
    assert np.abs(dyn.difference(found.q[-1], poses[-1])).max() < 1e-9
    assert found.positions().shape == (len(found), robot.opened().nq)
    if smooth:
        assert np.abs(found.tau_dot).max() <= 20.0 * effort * 1.002


@pytest.mark.parametrize("name", NAMES)
def test_poses_are_reached(name):
    robot = platform(name)
    dyn = lw.compile(robot)
    link = "platform"
    rng = np.random.default_rng(2)
    q = np.array([dyn.integrate(robot.q(), 0.04 * rng.uniform(-1.0, 1.0, robot.nv), 1.0) for _ in range(6)])
    T = dyn.pose(q, link)
    found = lw.inverse_kinematics(robot, link, T)
    assert found.converged.all()
    assert found.q.shape == (6, robot.nq)
    np.testing.assert_allclose(dyn.pose(found.q, link), T, atol=1e-7)


def test_files(tmp_path):
    """A plan read back moves the same; as a guess it may begin elsewhere."""
    found = gentle("Gough-Stewart")
    found.save(tmp_path / "p.npz")
    found.plot(tmp_path / "p.png")
    again = lw.planning.Plan.load(tmp_path / "p.npz")
    np.testing.assert_array_equal(again.q(0.2), found.q(0.2))
    robot = platform("Gough-Stewart")
    start, goal = ends(robot)
    near = lw.compile(robot).integrate(start, 0.1 * STEP, 1.0)
    other = lw.plan(robot, near, goal, lw.cost.effort(), duration=0.5, control_points=12, guess=again)
    assert other.converged, other.summary
    assert np.abs(lw.compile(robot).difference(other.q(0.0), near)).max() < 1e-12
