"""Each word in a whole problem: what was asked for holds in the motion, by functions that planning does not use."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion.base_motion import BaseMotion
from linkwise.scalar import sin
from support import pinocchio_bridge as bridge

START, GOAL = [0.0, -2.0], [1.0, -1.0]


@pytest.fixture(scope="module")
def rr():
    return lw.load("rr")


@pytest.fixture(scope="module")
def dyn(rr):
    return lw.compile(rr)


def planned(rr, *constraints, minimize=None, solver="uno", start=START, goal=GOAL, **more):
    plan = lw.plan(rr, start, goal, minimize, [lw.limit.joints("effort"), *constraints], solver=solver, **more)
    assert plan.converged, plan.summary
    return plan, np.linspace(0.0, plan.duration, 2001)


def test_joint_limits_of_all_kinds(rr):
    limits = lw.limit.joints(velocity=6.0, acceleration={"joint1": 80.0}, jerk=9000.0, effort_rate=400.0, power=30.0,
                       position={"joint2": (-2.2, 0.0)})  # fmt: skip
    plan, t = planned(rr, limits, control_points=25)
    over = 1.0 + 2e-3
    assert np.abs(plan.qd(t)).max() <= 6.0 * over
    assert np.abs(plan.qdd(t)[:, 0]).max() <= 80.0 * over
    assert np.abs(plan.qddd(t)).max() <= 9000.0 * over
    assert np.abs(plan.tau_dot(t)).max() <= 400.0 * over
    assert np.abs(plan.tau(t) * plan.qd(t)).max() <= 30.0 * over
    assert plan.q(t)[:, 1].min() >= -2.2 - 1e-9
    free, _ = planned(rr)
    assert plan.duration > free.duration


def test_a_torque_speed_curve(rr):
    points = ((0.0, 5.0), (5.0, 5.0), (20.0, 1.0))
    geared = rr.replace(*(lw.Joint(j.name, j.parent, j.child, j.kind, j.origin, j.axis, limits=j.limits,
                                   drive=lw.Drive(gear=2.0, curve=points)) for j in rr.joints if j.nv))  # fmt: skip
    plan, t = planned(geared)
    speed, torque = np.abs(plan.qd(t)) * 2.0, np.abs(plan.tau(t)) / 2.0
    assert speed.max() <= 20.0 * 1.002
    allowed = np.interp(speed, *np.transpose(points))
    assert (torque <= allowed + 0.002 * 6.34).all()
    assert (torque > allowed - 0.01).any(axis=1).mean() > 0.5  # and it is used


def test_reactions(rr, dyn):
    free, t = planned(rr)
    most = np.linalg.norm(dyn.joint_wrenches(free.q(t), free.qd(t), free.qdd(t)).wrench[:, 1, :3], axis=1).max()
    plan, t = planned(rr, lw.limit.reaction("joint2", force=0.7 * most, my=1.5, fx=(-20.0, 12.0)))
    wrench = dyn.joint_wrenches(plan.q(t), plan.qd(t), plan.qdd(t)).wrench[:, 1]
    assert np.linalg.norm(wrench[:, :3], axis=1).max() <= 0.7 * most * 1.002
    assert wrench[:, 0].max() <= 12.0 * 1.003
    assert np.abs(wrench[:, 4]).max() <= 1.5 * 1.002
    assert plan.duration > free.duration
    least = lw.plan(rr, START, GOAL, lw.cost.reaction("joint2"), duration=0.6, solver="uno")
    rest = lw.plan(rr, START, GOAL, lw.cost.effort(), duration=0.6, solver="uno")

    def total(p):
        t = np.linspace(0.0, 0.6, 4001)
        f = dyn.joint_wrenches(p.q(t), p.qd(t), p.qdd(t)).wrench[:, 1, :3]
        return np.trapezoid((f * f).sum(axis=1), t)

    assert total(least) < total(rest)
    assert total(least) == pytest.approx(least.objective, rel=1e-3)


@pytest.mark.parametrize("solver", ["scipy", "ipopt", "uno"])
def test_via_points_and_tool_poses(rr, dyn, solver):
    near = lw.limit.via(0.25, frame="link2", position=(0.25, -0.3, 0.0), tolerance=0.02)
    plan, _ = planned(rr, lw.limit.via(0.5, q={"joint1": 0.2}), near, solver=solver, control_points=15)
    assert plan.q(0.5 * plan.duration)[0] == pytest.approx(0.2, abs=1e-6)
    there = dyn.pose(plan.q(0.25 * plan.duration), "link2")[:3, 3]
    assert np.abs(there - [0.25, -0.3, 0.0]).max() <= 0.02 * 1.001
    pose = dyn.pose(np.array([0.9, -0.7]), "link2")
    plan, _ = planned(
        rr, lw.limit.via(1.0, frame="link2", pose=pose), goal=lw.planning.State(), solver=solver, control_points=12
    )
    np.testing.assert_allclose(dyn.pose(plan.q(plan.duration), "link2"), pose, atol=1.5e-4)
    np.testing.assert_allclose(plan.qd(plan.duration), 0.0, atol=1e-6)


def test_tool_paths_and_obstacles(rr, dyn):
    ends = [dyn.pose(np.array(q), "link2")[:3, 3] for q in (START, GOAL)]
    plan, t = planned(rr, lw.limit.tool_path("link2", line=ends, tolerance=1e-3))
    off = dyn.pose(plan.q(t), "link2")[:, :3, 3] - ends[0]
    along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    assert np.linalg.norm(off - np.outer(off @ along, along), axis=1).max() <= np.sqrt(2.0) * 1e-3 * 1.01
    middle = (ends[0] + ends[1]) / 2 + [0.0, 0.03, 0.0]
    plan, t = planned(rr, lw.limit.clearance("link2", 0.02, sphere=(middle, 0.05)),
                      lw.limit.clearance("link2", half_space=((0.0, 1.0, 0.0), -0.4)))  # fmt: skip
    p = dyn.pose(plan.q(t), "link2")[:, :3, 3]
    assert np.linalg.norm(p - middle, axis=1).min() >= 0.07 * (1.0 - 2e-3)
    assert p[:, 1].min() >= -0.4 - 1e-3
    follow = lw.cost.tool_path("link2", path=lambda s: (1.0 - s) * ends[0] + s * ends[1])
    near = lw.plan(rr, START, GOAL, 1e3 * follow, duration=0.8, solver="uno")
    t = np.linspace(0.0, 0.8, 401)
    error = dyn.pose(near.q(t), "link2")[:, :3, 3] - ((1.0 - t[:, None] / 0.8) * ends[0] + t[:, None] / 0.8 * ends[1])
    assert np.abs(error).max() < 0.03


def test_energy_and_power(rr):
    """A term is the integral it says it is, by another rule."""
    plan, _ = planned(
        rr, minimize=lw.cost.time() + lw.cost.energy(loss=0.02, regeneration=0.4, width=5.0) + 1e-3 * lw.cost.power()
    )
    t = np.linspace(0.0, plan.duration, 20001)
    tau, qd = plan.tau(t), plan.qd(t)
    x = tau * qd + 0.02 * tau**2
    taken = 0.7 * x + 0.3 * np.sqrt(x * x + 25.0)
    for k, name in enumerate(rr.names):
        assert plan.terms[f"energy.{name}"] == pytest.approx(np.trapezoid(taken[:, k], t), rel=1e-4)
        assert plan.terms[f"power.{name}"] == pytest.approx(np.trapezoid((tau * qd)[:, k] ** 2, t), rel=1e-4)


def test_minimum_jerk_is_the_quintic():
    """Without limits the smoothest motion between rests is the polynomial 10 s^3 - 15 s^4 + 6 s^5."""
    rr = lw.load("rr")
    rest = lw.planning.State(START, qdd=0.0), lw.planning.State(GOAL, qdd=0.0)
    plan = lw.plan(rr, *rest, lw.cost.jerk(), duration=0.8, degree=5, solver="uno", control_points=12)
    s = np.linspace(0.0, 1.0, 101)[:, None]
    shape = 10 * s**3 - 15 * s**4 + 6 * s**5
    np.testing.assert_allclose(plan.q(0.8 * s[:, 0]), np.array(START) + shape * (np.array(GOAL) - START), atol=1e-6)
    assert plan.terms["jerk.joint1"] == pytest.approx(720.0 / 0.8**5, rel=1e-6)


def test_cycles_and_mirrors(rr):
    around = [
        lw.limit.cyclic(),
        lw.limit.via(0.0, q={"joint1": 0.0}),
        lw.limit.via(0.5, q={"joint1": 1.0, "joint2": 1.0}),
    ]
    plan = lw.plan(rr, minimize=lw.cost.effort(), subject_to=around, duration=1.0, solver="uno")
    assert plan.converged
    for order in range(3):
        np.testing.assert_allclose(plan.curve(0.0, order), plan.curve(1.0, order), atol=1e-6)
    mirror = [lw.limit.mirrored({"joint1": "joint2"}, order=1), lw.limit.via(0.0, q={"joint1": 0.5, "joint2": -0.3})]
    plan = lw.plan(rr, minimize=lw.cost.effort(), subject_to=mirror, duration=1.0, solver="uno")
    for order in range(2):
        np.testing.assert_allclose(plan.curve(0.0, order), plan.curve(1.0, order)[::-1], atol=1e-6)


def test_functions_of_users(rr, dyn):
    """The kinetic energy of a user's own function is bounded, and another one is minimised."""
    bound = lw.limit.function(lambda p: p.qd[0] * p.qd[0] + p.qd[1] * p.qd[1], upper=50.0, label="speed")
    plan, t = planned(rr, bound)
    assert (plan.qd(t) ** 2).sum(axis=1).max() <= 50.0 * 1.002
    assert "speed" in plan.multipliers
    low = lw.cost.function(lambda p: p.pose("link2").p.x, squared=True, label="x")
    plan, _ = planned(rr, minimize=low, duration=0.8)
    t = np.linspace(0.0, 0.8, 4001)
    x = dyn.pose(plan.q(t), "link2")[:, 0, 3]
    assert plan.terms["x"] == pytest.approx(np.trapezoid(x * x, t), rel=1e-4)


def acrobot():
    links = [lw.Link("base"), *(lw.Link(n, 1.0, (0.0, 0.0, -0.5), (0.083, 0.083, 0.0)) for n in ("upper", "lower"))]
    joints = [lw.Joint("shoulder", "base", "upper", axis=(0.0, 1.0, 0.0)),
              lw.Joint("elbow", "upper", "lower", origin=(0.0, 0.0, -1.0), axis=(0.0, 1.0, 0.0))]  # fmt: skip
    return lw.Robot(links, joints, name="acrobot")


@pytest.mark.slow
def test_an_acrobot_swings_up(tmp_path):
    """Its shoulder has no drive, and Pinocchio too finds that the motion needs none."""
    robot = acrobot()
    plan = lw.plan(robot, [0.0, 0.0], [np.pi, 0.0], lw.cost.effort(joints="elbow"),
                   [lw.limit.passive("shoulder", tolerance=0.05), lw.limit.joints(effort={"elbow": 20.0})],
                   duration=(2.0, 6.0), control_points=60, solver="uno", degree=4)  # fmt: skip
    assert plan.converged, plan.summary
    t = plan.times()
    assert np.abs(plan.tau(t)[:, 0]).max() <= 0.051
    assert np.abs(plan.tau(t)[:, 1]).max() <= 20.0
    lw.save(robot, tmp_path / "acrobot.urdf")
    theirs = bridge.model(tmp_path / "acrobot.urdf")
    assert np.abs(bridge.rnea(robot, theirs, plan.q(t), plan.qd(t), plan.qdd(t))[:, 0]).max() <= 0.051


def shaken(t):
    return lw.Pose.of((-0.12 * sin(5.0 * t), 0.0, 0.0), rpy=(0.4 * t, 0.5 * sin(3.0 * t), t))


def test_a_base_that_moves(rr, tmp_path):
    """On a base that shakes and turns, torques are those of inverse dynamics on it; gravity turns in its axes."""
    more = [lw.limit.joints(effort_rate=120.0)]
    plan, t = planned(rr, *more, minimize=lw.cost.effort(), duration=0.8, base_motion=shaken)
    *base, gravity = BaseMotion(shaken).inputs(t, rr.gravity)
    motion = plan.q(t), plan.qd(t), plan.qdd(t)
    around = {"base_motion": True, "gravity": "input"}
    tau = lw.compile(rr, lw.inverse_dynamics, **around)(*motion, *base, gravity)
    total = np.trapezoid((tau * tau).sum(axis=1), t)
    assert total == pytest.approx(plan.objective, rel=1e-3)
    # what the plan hands out is on that base too, also from a file
    plan.save(tmp_path / "shaken.npz")
    for one in (plan, lw.planning.Plan.load(tmp_path / "shaken.npz")):
        np.testing.assert_allclose(one.tau(t), tau, atol=1e-8)
        wrench = lw.compile(rr, lw.joint_wrenches, **around)(*motion, *base, gravity).wrench
        np.testing.assert_allclose(one.wrenches(t), wrench, atol=1e-8)
        assert one.tau(0.1).shape == (2,)
    still, _ = planned(rr, minimize=lw.cost.effort(), duration=0.8)
    assert abs(still.objective - plan.objective) > 1e-3


def test_torque_rates_on_a_base_that_turns(rr):
    """tau_dot is the derivative of the plan's own tau, for a free duration too, and both are within their limits."""
    limits = lw.limit.joints(effort=12.0, effort_rate=200.0)
    plan = lw.plan(rr, START, GOAL, subject_to=limits, base_motion=shaken, solver="uno")
    assert plan.converged, plan.summary
    breaks = np.array(plan.curve.basis.breaks) * plan.duration
    t, h = breaks[:-1] + 0.4 * np.diff(breaks), 1e-5
    slope = (8.0 * (plan.tau(t + h) - plan.tau(t - h)) - (plan.tau(t + 2 * h) - plan.tau(t - 2 * h))) / (12.0 * h)
    np.testing.assert_allclose(plan.tau_dot(t), slope, atol=1e-6 * 200.0)
    fine = np.linspace(0.0, plan.duration, 2001)
    assert np.abs(plan.tau_dot(fine)).max() <= 200.0 * 1.002
    assert np.abs(plan.tau(fine)).max() <= 12.0 * 1.002


def test_frames_are_in_the_world_of_a_base_that_moves(rr):
    """A point that the tool passes stands in the world, under a base that carries the arm along."""
    arm = rr.add(lw.Frame("tool", "link2", lw.Pose.of((0.3, 0.0, 0.0))))
    wanted = lw.compile(arm).pose([0.4, -1.2], "tool")[:3, 3] + np.array([0.1, 0.0, 0.0])
    where = lw.limit.via(0.5, frame="tool", position=wanted)
    plan, _ = planned(arm, where, base_motion=lambda t: lw.Pose.of((0.2 * t, 0.0, 0.0)), duration=1.0)
    tool = lw.compile(arm).pose(plan.q(0.5), "tool")[:3, 3]
    np.testing.assert_allclose(tool, wanted - np.array([0.1, 0.0, 0.0]), atol=2e-4)


def test_the_base_as_the_last_release_took_it(rr):
    """Velocity and acceleration by time become a pose: the same torques, with gravity that turns."""

    def told(t):
        v, a, _ = BaseMotion(slow).inputs(t, rr.gravity)
        return v, a

    def slow(t):
        return lw.Pose.of((0.05 * sin(4.0 * t), 0.0, 0.0), rpy=(0.0, 0.0, 0.6 * t))

    asked = {"minimize": lw.cost.effort(), "duration": 0.8}
    with pytest.warns(DeprecationWarning, match=r"lw.base_motion is now lw.plan"):
        old = lw.base_motion
    ours, t = planned(rr, base_motion=slow, **asked)
    theirs, _ = planned(rr, old(told), **asked)
    np.testing.assert_allclose(theirs.tau(t), ours.tau(t), atol=1e-5)


def test_external_loads(rr, tmp_path):
    """A load that is constant in the tool's axes, and one that changes in time, are in torques, rates and reactions."""
    loads = {
        "link2": [3.0, -2.0, 0.0, 0.0, 0.0, 0.3],
        "link1": lambda t: lw.Wrench(lw.Vec3(0.0, 4.0 * sin(9.0 * t), 0.0)),
    }
    rows = [lw.limit.joints(effort_rate=150.0), lw.limit.reaction("joint2", force=30.0)]
    plan, t = planned(rr, *rows, external=loads)
    f = np.zeros((len(t), 2, 6))
    f[:, 0], f[:, 1, 1] = loads["link2"], 4.0 * np.sin(9.0 * t)
    found = lw.compile(rr, lw.joint_wrenches, external=tuple(loads))(plan.q(t), plan.qd(t), plan.qdd(t), f)
    np.testing.assert_allclose(plan.tau(t), found.tau, atol=1e-8)
    np.testing.assert_allclose(plan.wrenches(t), found.wrench, atol=1e-8)
    assert np.abs(found.tau).max() <= 10.0 * 1.002
    assert np.linalg.norm(found.wrench[:, 1, :3], axis=1).max() <= 30.0 * 1.002
    slope = np.diff(found.tau, axis=0) / np.diff(t)[:, None]
    assert np.abs(slope).max() <= 150.0 * 1.002
    np.testing.assert_allclose(slope, plan.tau_dot(t[:-1] + 0.5 * np.diff(t)), atol=0.3)
    plan.save(tmp_path / "loaded.npz")
    np.testing.assert_allclose(lw.planning.Plan.load(tmp_path / "loaded.npz").tau(t), found.tau, atol=1e-8)
    assert plan.notes == ()


@pytest.mark.slow
def test_a_seven_axis_arm_always_finds_its_way():
    """Minimum time under effort and effort-rate limits from a straight line, for 20 random pairs."""
    robot = lw.load("arm7")
    limits = [robot.joint(n).limits for n in robot.names]
    low, high = np.array([x.lower for x in limits]), np.array([x.upper for x in limits])
    rng, failed = np.random.default_rng(20), []
    rates = {n: 8.0 * x.effort for n, x in zip(robot.names, limits, strict=True)}
    for k in range(20):
        start, goal = rng.uniform(0.8 * low, 0.8 * high, (2, robot.nv))
        asked = lw.limit.joints("position", "velocity", "effort", effort_rate=rates)
        plan = lw.plan(robot, start, goal, subject_to=asked, control_points=14, progress=False)
        if not plan.converged or plan.largest_violation.violation > 1e-3:
            failed.append((k, plan.summary))
    assert not failed


def test_numbers_of_hundreds_of_digits_are_refused():
    robot = lw.load("rr")
    with pytest.raises(lw.InputError, match="duration: expected a number"):
        lw.plan(robot, [0.0, 0.0], [0.1, 0.1], duration=10**400)
    with pytest.raises(lw.InputError, match="factor of a term: expected a finite number"):
        10**400 * lw.cost.time()
