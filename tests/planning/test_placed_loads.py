"""Loads that depend on where the robot is, and a base that moves, in plans and retimed paths and in their views."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.scalar import sin
from linkwise.view.motion import Motion
from support.every_machine import elastic

LIMITS = lw.limit.joints("velocity", "effort", effort_rate=3000.0)


def hose(pose, velocity):
    """A spring to a wall, and what resists motion: in world axes, then the frame's."""
    pull = lw.Vec3(-150.0 * (pose.p.x - 0.3), -80.0 * pose.p.y, 0.0)
    return lw.Wrench(pose.R.T @ pull + velocity.linear * -15.0, velocity.angular * -1.0)


def gust(t, pose, velocity):
    """Wind that grows with height and changes in time."""
    return lw.Wrench(pose.R.T @ lw.Vec3(30.0 * pose.p.z * sin(6.0 * t), 0.0, 0.0))


@pytest.fixture(scope="module")
def robot():
    return lw.load("arm7").without_friction().lock({"joint3": 0.2, "joint5": 0.0, "joint6": 0.5, "joint7": 0.0})


@pytest.fixture(scope="module")
def ends(robot):
    return np.array([0.0, 0.3, 0.5]), np.array([0.9, 0.7, 0.2])


def planned(robot, ends, **around):
    plan = lw.plan(
        robot, *ends, lw.cost.time() + 1e-6 * lw.cost.effort(), LIMITS, control_points=10, solver="uno", **around
    )
    assert plan.converged, plan.summary
    return plan


def landing(robot, plan, ends, **around):
    """How far from the goal the plan's own torques bring the robot."""
    result = lw.simulate(
        robot,
        ends[0],
        None,
        [0.0, plan.duration],
        control=lambda t, q, qd: plan.tau(t),
        limits=None,
        rtol=1e-10,
        **around,
    )
    return max(np.abs(result.q[-1] - ends[1]).max(), np.abs(result.qd[-1]).max())


def test_a_plan_under_a_law_of_place_lands_where_the_law_acts(robot, ends):
    plan = planned(robot, ends, external={"tool": hose})
    assert landing(robot, plan, ends, forces={"tool": hose}) < 1e-5
    assert landing(robot, plan, ends) > 1e-2  # and not without it


def test_a_law_of_time_and_place_and_rates_of_torques(robot, ends, tmp_path):
    plan = planned(robot, ends, external={"tool": gust})
    dyn = lw.compile(robot)

    def wind(t, q, qd):
        X = dyn.pose(q, "tool")
        return [*(X[:3, :3].T @ [30.0 * X[2, 3] * np.sin(6.0 * t), 0.0, 0.0]), 0.0, 0.0, 0.0]

    assert landing(robot, plan, ends, external={"tool": wind}) < 1e-5
    t, h = np.linspace(0.02, 0.98, 41) * plan.duration, 1e-6
    rate = (plan.tau(t + h) - plan.tau(t - h)) / (2.0 * h)
    inside = np.abs(plan.tau_dot(t + h) - plan.tau_dot(t - h)).max(axis=1) < 1.0  # no knot in between
    assert inside.sum() > 30
    assert np.abs(rate - plan.tau_dot(t))[inside].max() < 1e-2
    plan.save(tmp_path / "plan.npz")
    assert np.array_equal(lw.planning.Plan.load(tmp_path / "plan.npz").tau(t), plan.tau(t))


def test_retimed_paths_know_such_loads(robot, ends):
    path = [ends[0], 0.5 * (ends[0] + ends[1]) + [0.0, 0.1, 0.0], ends[1]]
    loaded = lw.retime(robot, path, effort_rate=3000.0, external={"tool": hose}, intervals=60)
    bare = lw.retime(robot, path, effort_rate=3000.0, intervals=60)
    assert any("where the robot is and how fast it moves" in note for note in loaded.notes)
    # torques are those of inverse dynamics with the law in the kernel
    law = lw.compile(robot, lw.inverse_dynamics, forces={"tool": hose})
    assert np.abs(law(loaded.q, loaded.qd, loaded.qdd) - loaded.tau).max() < 1e-8
    assert loaded.duration != bare.duration
    assert max(use.share for use in loaded.uses.values()) <= 1.001


def test_springs_of_drives_and_loops_know_them_too(robot, ends):
    soft = elastic(robot, {"joint2"})
    plan = lw.plan(soft, *ends, duration=1.0, minimize=lw.cost.effort(), subject_to=(), external={"tool": hose})
    assert np.isfinite(plan.tau(0.4)).all()
    rigid = lw.compile(soft.rigid(), lw.inverse_dynamics, forces={"tool": hose})(
        plan.q(0.4), plan.qd(0.4), plan.qdd(0.4)
    )
    assert np.abs(rigid - plan.tau(0.4)).max() < 30.0  # near it, but for the motion of the spring
    loop = lw.load("fivebar")
    tip = loop.frames[0].name if loop.frames else loop.links[-1].name
    q = loop.q()
    swung = lw.plan(loop, q, q + 0.2, duration=0.5, minimize=lw.cost.effort(), subject_to=(), external={tip: hose})
    t = np.linspace(0.0, 0.5, 9)
    law = lw.compile(loop, lw.inverse_dynamics, forces={tip: hose})
    assert np.abs(law(swung.q(t), swung.qd(t), swung.qdd(t)) - swung.tau(t)).max() < 1e-8


def test_laws_that_cannot_be_are_refused(robot, ends):
    with pytest.raises(lw.InputError, match="external 'tool': expected a Wrench or six numbers"):
        lw.plan(robot, *ends, external={"tool": lambda pose, velocity: 3.0})
    with pytest.raises(lw.InputError, match="constant, got a function"):
        lw.scaler(robot, external={"tool": hose})


def deck(t):
    return lw.Pose.of((0.0, 0.0, 0.3 * sin(2.0 * t)), rpy=(0.1 * sin(1.5 * t), 0.0, 0.0))


def test_results_keep_the_motion_of_the_base_for_their_views(robot, ends, tmp_path):
    poses = lw.motion.base_motion.BaseMotion(deck).poses
    simulated = lw.simulate(robot, None, None, 0.2, base_motion=deck)
    retimed = lw.retime(robot, list(ends), base_motion=deck, intervals=40)
    plan = lw.plan(robot, *ends, duration=1.0, minimize=lw.cost.effort(), subject_to=(), base_motion=deck)
    rolled = lw.compile_rollout(robot, base_motion=deck)(robot.q(), robot.v(), None, 0.01, steps=10, t=0.5)
    for result in (simulated, retimed, plan):
        shown = Motion.of(robot, result)
        assert np.abs(shown.base - poses(shown.t)).max() < 1e-9
    page = rolled.view(tmp_path / "rolled.html")
    assert page.is_file()
    for suffix in (".npz", ".csv"):
        simulated.save(tmp_path / f"run{suffix}")
        assert np.abs(Motion.of(robot, tmp_path / f"run{suffix}").base - simulated.base).max() < 1e-12
    assert np.abs(lw.simulation.Simulation.load(tmp_path / "run.npz").base - simulated.base).max() < 1e-12
    assert lw.motion.read(tmp_path / "run.csv", robot).q.shape == simulated.q.shape
