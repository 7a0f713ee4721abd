"""Plans of every machine: their limits by the machine's own compiled dynamics, their rates by differences."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion.environment import Environment
from support.every_machine import TABLE
from support.led_machines import Case, case, push, satellite, waves

OVER = 1.0 + 2e-3
QUICK = ("coupled", "five-bar, elastic", "elastic, moving base, small")
MORE = ("hexapod, elastic", "palletiser, floating", "arm + Delta")


def planned(made: Case, **options):
    """The fastest motion to a random place nearby, under a load, with limits of efforts and their rates."""
    robot, links = made.robot, made.robot.rigid()
    dyn = lw.compile(links)
    step = made.width * np.random.default_rng(3).uniform(-1.0, 1.0, links.nv)
    goal, still = dyn.integrate(links.q(), step, 1.0), np.zeros(links.nv)
    held = dyn.inverse_dynamics(links.q(), still, still)[6 if links.names[0] == "root_joint" else 0 :]
    top = 3.0 * float(np.abs(held).max()) + 8.0
    if links.names[0] == "root_joint":  # floats: where it goes follows
        goal = {n: goal[links.slots[n].q] for n in links.names[1:]}
    around = {"base_motion": waves if made.base_motion else None, "external": {made.pushed: push}}
    limits = lw.limit.joints(effort=top, effort_rate=30.0 * top)
    options = {"control_points": 12, "solver": "uno", "progress": False, **options}
    plan = lw.plan(robot, links.q(), goal, subject_to=limits, **around, **options)
    assert plan.converged, plan.summary
    return plan, top


def exact(made: Case, plan, t):
    """The drives' torques by the compiled inverse dynamics of the whole machine, motors behind springs among it."""
    robot = made.robot
    outside = Environment.of(robot, waves if made.base_motion else None, {made.pushed: push})
    dyn = lw.compile(robot, **outside.options)
    motion = [plan.q(t), plan.qd(t), plan.qdd(t)]
    if any(j.is_elastic for j in robot.joints):
        derivatives = plan.chart.motion([plan.curve(t, k) for k in range(5)])
        feed = lw.compile(robot, lw.algorithms.elastic_feedforward, **outside.options)
        motors = feed(*derivatives, *outside.inputs(t, robot.gravity, 2))[:3]
        motion = [np.concatenate(pair, axis=-1) for pair in zip(motion, motors, strict=True)]
    tau = dyn.inverse_dynamics(*motion, *outside.inputs(t, robot.gravity))
    beside = np.delete(tau, robot.motors, axis=1)
    assert np.abs(beside).max(initial=0.0) <= 1e-9 * np.abs(tau).max()
    return tau[:, robot.motors][:, -len(plan.names("tau")) :]  # a base that floats stands first


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in (*TABLE, *MORE))])
def test_limits_hold_by_the_machines_own_dynamics(name):
    made = case(name)
    plan, top = planned(made)
    t = np.linspace(0.0, plan.duration, 401)
    tau = exact(made, plan, t)
    np.testing.assert_allclose(plan.tau(t), tau, atol=1e-6 * top)
    assert np.abs(tau).max() <= top * OVER
    # rates between the breaks of the curve, by differences
    breaks = np.array(plan.curve.basis.breaks) * plan.duration
    t, h = breaks[:-1] + 0.4 * np.diff(breaks), 1e-4 * breaks[1]
    near, far = (exact(made, plan, t + k * h) - exact(made, plan, t - k * h) for k in (1, 2))
    slope = (8.0 * near - far) / (12.0 * h)
    np.testing.assert_allclose(plan.tau_dot(t), slope, atol=1e-5 * 30.0 * top)
    assert np.abs(slope).max() <= 30.0 * top * OVER
    assert plan.wrenches(t).shape == (len(t), len(made.robot.moving_links), 6)
    # velocities are those of the positions
    dyn = lw.compile(made.robot.rigid())
    moved = dyn.difference(plan.q(t - h), plan.q(t + h)) / (2.0 * h)
    np.testing.assert_allclose(plan.qd(t), moved, atol=1e-5 * max(1.0, np.abs(moved).max()))


def test_a_satellite_turns_by_moving_its_arm():
    """Nothing pushes it: momentum stays zero, and the body turns against the arm."""
    robot = satellite()
    plan = lw.plan(robot, {}, {"yaw": 1.5, "elbow": -0.8}, subject_to=lw.limit.joints("effort"), solver="uno")
    assert plan.converged, plan.summary
    dyn, t = lw.compile(robot), np.linspace(0.0, plan.duration, 401)
    q, qd = plan.q(t), plan.qd(t)
    assert q[-1, 7:] == pytest.approx([1.5, -0.8])
    assert np.abs(q[-1, 3:6]).max() > 0.1
    held = qd.copy()
    held[:, :6] = 0.0
    size = np.linalg.norm(dyn.centroidal_momentum(q, held).reshape(-1, 2, 3), axis=2).max(axis=0)
    left = np.linalg.norm(dyn.centroidal_momentum(q, qd).reshape(-1, 2, 3), axis=2).max(axis=0)
    assert (left < 0.02 * size).all(), (left, size)
    assert np.abs(dyn.centre_of_mass(q) - dyn.centre_of_mass(q[0])).max() < 2e-4
    assert plan.tau(t).shape == (401, 2)
    assert plan.names("tau") == ["tau.yaw", "tau.elbow"]
    assert np.abs(plan.tau(t)).max() <= 20.0 * OVER
    assert plan.notes[0].startswith("the base floats freely")


def test_a_rotation_of_the_body_that_is_asked_for():
    """The arm moves so that the body ends as it should; where it is then follows."""
    robot, turned = satellite(), np.array([0.0, 0.0, np.sin(-0.15), np.cos(-0.15)])
    goal = lw.planning.State({"base": [0.0, 0.0, 0.0, *turned]}, free=("base.x", "base.y", "base.z", "yaw", "elbow"))
    plan = lw.plan(robot, {}, goal, lw.cost.effort(), duration=3.0, solver="uno", guess=_swung(robot))
    assert plan.converged, plan.summary
    assert plan.q(3.0)[3:7] == pytest.approx(turned, abs=1e-9)
    assert np.abs(plan.q(3.0)[7]) > 0.3


def _swung(robot: lw.Robot) -> np.ndarray:
    rows = np.tile(robot.q(), (5, 1))
    rows[:, 7] = np.linspace(0.0, 1.0, 5)
    return rows


def test_a_base_that_is_pushed_falls():
    """With gravity and a load the base follows too: no force is left on it at the instants that are asked for."""
    robot = satellite().replace(gravity=(0.0, 0.0, -9.81))
    plan = lw.plan(
        robot, {}, {"yaw": 0.5}, lw.cost.effort(), duration=1.0, solver="uno", external={"body": [30.0, 0, 0, 0, 0, 0]}
    )
    assert plan.converged, plan.summary
    com = lw.compile(robot).centre_of_mass(plan.q([0.0, 1.0]))
    assert (com[1] - com[0])[2] == pytest.approx(-9.81 / 2.0, rel=1e-3)
    free = lw.plan(robot, {}, {"yaw": 0.5}, lw.cost.effort(), duration=1.0, solver="uno")
    com = lw.compile(robot).centre_of_mass(free.q([0.0, 1.0]))
    assert com[1] - com[0] == pytest.approx([0.0, 0.0, -9.81 / 2.0], abs=1e-6)


def test_a_base_with_thrusters_is_driven():
    """A floating joint with a limit of effort has drives of its own."""
    robot = satellite()
    driven_base = robot.replace(replace(robot.joint("base"), limits=lw.Limits(effort=50.0)))
    goal = {"base": [0.3, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]}
    plan = lw.plan(driven_base, {}, goal, subject_to=lw.limit.joints("effort"), solver="uno")
    assert plan.converged, plan.summary
    assert plan.names("tau")[:2] == ["tau.base.fx", "tau.base.fy"]
    assert plan.q(plan.duration)[0] == pytest.approx(0.3)
    assert np.abs(plan.tau(plan.times())[:, :6]).max() == pytest.approx(50.0, rel=1e-2)
    assert plan.notes == ()


@pytest.mark.slow
def test_a_hexapod_between_two_poses():
    """The fastest motion under limits of forces and of their rates."""
    robot = lw.gough_stewart()
    q = robot.q()
    goal = lw.compile(robot).integrate(q, np.array([0.08, -0.05, 0.06, 0.15, -0.1, 0.2]), 1.0)
    plan = lw.plan(robot, q, goal, subject_to=lw.limit.joints(effort=150.0, effort_rate=4000.0), solver="uno")
    assert plan.converged, plan.summary
    t = np.linspace(0.0, plan.duration, 1001)
    tau = lw.compile(robot).inverse_dynamics(plan.q(t), plan.qd(t), plan.qdd(t))
    assert 0.99 * 150.0 <= np.abs(tau).max() <= 150.0 * OVER or np.abs(plan.tau_dot(t)).max() >= 0.99 * 4000.0
    assert np.abs(np.diff(tau, axis=0) / np.diff(t)[:, None]).max() <= 4000.0 * OVER


@pytest.mark.slow
def test_a_delta_picks_and_places():
    """Up, across and down, as fast as its motors can."""
    robot = lw.delta()
    low, high = robot.q()[2] - 0.04, robot.q()[2] + 0.02
    across = [lw.limit.via(s, frame="platform", position=(x, 0.0, high)) for s, x in ((0.3, -0.06), (0.7, 0.06))]
    limits = lw.limit.joints(effort=6.0, effort_rate=400.0)
    plan = lw.plan(robot, [-0.08, 0.0, low], [0.08, 0.0, low], subject_to=[limits, *across], solver="uno")
    assert plan.converged, plan.summary
    t = np.linspace(0.0, plan.duration, 1001)
    tau = lw.compile(robot).inverse_dynamics(plan.q(t), plan.qd(t), plan.qdd(t))
    assert np.abs(tau).max() <= 6.0 * OVER
    np.testing.assert_allclose(plan.q(0.3 * plan.duration), [-0.06, 0.0, high], atol=2e-4)
