"""Robots with closed loops: they stay closed, and their joints and drives keep their limits."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion.base_motion import BaseMotion
from linkwise.planning.curve import Basis
from linkwise.planning.guess import first_motion
from linkwise.planning.problem import Problem
from linkwise.planning.term_and_constraint import Sum
from linkwise.scalar import cos, sin
from support.command import linkwise
from support.programs import close, dense, differences, hessian, set_up

ENDS = {"left_motor": 0.0, "right_motor": 0.0}, {"left_motor": 0.5, "right_motor": 0.6}
LIMIT = 6.0


def fastest(solver="scipy", control_points=16, more=(), **options):
    limits = [lw.limit.joints(effort=LIMIT), *more]
    return lw.plan(
        lw.load("fivebar"), *ENDS, subject_to=limits, solver=solver, control_points=control_points, **options
    )


def open_by(robot, positions):
    """How far the cut joints of planar loops are open, m, from positions of all joints."""
    tree = lw.compile(robot.opened())
    gaps = []
    for loop in robot.loops:
        a, b = (
            tree.pose(positions, link)[..., :3, 3] + tree.pose(positions, link)[..., :3, :3] @ np.array(origin.p)
            for link, origin in ((loop.a, loop.origin_a), (loop.b, loop.origin_b))
        )
        gaps.append(np.abs(a - b).max())
    return max(gaps)


@pytest.fixture(scope="module")
def plan():
    return fastest()


def test_closed_and_within_limits(plan):
    """On a fine grid, by functions that planning does not use."""
    assert plan.converged, plan.summary
    dyn = lw.compile(plan.robot)
    t = np.linspace(0.0, plan.duration, 1001)
    assert plan.q(t).shape == (1001, plan.robot.nq)
    tau = dyn.inverse_dynamics(plan.q(t), plan.qd(t), plan.qdd(t))
    assert np.abs(tau).max() <= LIMIT * (1.0 + 2e-3)
    assert np.abs(tau).max(axis=0).min() >= LIMIT * 0.99  # a fastest motion uses them
    np.testing.assert_allclose(plan.tau(t), tau, atol=1e-10)
    assert open_by(plan.robot, plan.positions(t)) < 1e-12
    np.testing.assert_array_equal(plan.positions(t)[:, [0, 2]], plan.q(t))
    for rate, of in ((plan.qd, plan.q), (plan.qdd, plan.qd)):
        h = 1e-6
        inner = t[10:-10:40]
        np.testing.assert_allclose(rate(inner), (of(inner + h) - of(inner - h)) / (2.0 * h), rtol=1e-5, atol=2e-4)


def test_torques_move_it_so(plan):
    """Simulated as a closed chain with the planned torques it arrives where the plan does."""
    from scipy.integrate import solve_ivp

    dyn = lw.compile(plan.robot)

    def rates(t, x):
        return np.concatenate([x[2:], dyn.forward_dynamics(x[:2], x[2:], plan.tau(t))])

    end = solve_ivp(rates, (0.0, plan.duration), np.zeros(4), method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(end, [0.5, 0.6, 0.0, 0.0], atol=1e-6)


def test_solvers_agree_and_points_help(plan):
    """The fastest motion has optima 1e-5 s apart, so that solvers begin at the same one; the least effort has one."""
    assert fastest("uno", guess=plan).duration == pytest.approx(plan.duration, abs=1e-6)
    least = [
        lw.plan(plan.robot, *ENDS, lw.cost.effort(), duration=0.3, control_points=16, solver=s).objective
        for s in ("scipy", "uno")
    ]
    assert least[0] == pytest.approx(least[1], rel=1e-6)
    finer = fastest(control_points=24)
    assert finer.converged
    assert finer.duration < plan.duration


WORDS = {
    "limits": [lw.limit.joints(effort=LIMIT, velocity=9.0)],
    "rates": [lw.limit.joints(effort_rate=90.0, jerk=900.0)],
    "reactions": [
        lw.limit.reaction("left_elbow", force=40.0, my=2.0),
        lw.limit.reaction("tip", force=30.0, fx=(-20.0, 9.0)),
    ],
}


@pytest.mark.parametrize("name", WORDS)
def test_derivatives(name):
    """First ones against complex steps through the definition, second ones against differences of them."""
    ends = lw.planning.State(np.zeros(2)), lw.planning.State([0.5, 0.6])
    basis = Basis.uniform(4 if name == "rates" else 3, 7)
    made = Problem(lw.load("fivebar"), *ends, Sum.of(0.1 * lw.cost.effort()), tuple(WORDS[name]), basis, points=1)
    program, defined, _ = set_up(made)
    x = program.variables.of(first_motion(made, 0.2)) + 0.02 * np.random.default_rng(1).normal(size=program.n)
    close(program.g(x), defined.g(x), 1e-12)
    defined.check_slopes(dense(program, x), defined.g, x)
    defined.check_slopes(program.gradient(x), defined.f, x)
    weights = np.random.default_rng(3).normal(size=program.m)
    for sigma, w in ((1.0, 0.0 * weights), (0.0, weights)):
        D = differences(lambda at, a=sigma, b=w: a * program.gradient(at) + b @ dense(program, at), x, 1e-5)
        close(hessian(program, x, sigma, w), D)


def test_rates_and_reactions(plan):
    """Bounded, they are kept on a fine grid, by functions that planning does not use; the motion takes longer."""
    t = plan.times()
    rate, tip = np.abs(plan.tau_dot(t)).max(), np.linalg.norm(plan.cut_wrenches(t)[:, 0, :3], axis=1).max()
    elbow = np.linalg.norm(plan.wrenches(t)[:, 1, :3], axis=1).max()
    more = [
        lw.limit.joints(effort_rate=0.3 * rate),
        lw.limit.reaction("tip", force=0.8 * tip),
        lw.limit.reaction("left_elbow", force=elbow),
    ]
    slow = fastest(more=more)
    assert slow.converged, slow.summary
    assert slow.duration > plan.duration
    t = np.linspace(0.0, slow.duration, 4001)
    found = lw.compile(slow.robot).joint_wrenches(slow.q(t), slow.qd(t), slow.qdd(t))
    over = 1.0 + 2e-3
    assert np.linalg.norm(found.cut[:, 0, :3], axis=1).max() <= 0.8 * tip * over
    assert np.linalg.norm(found.wrench[:, 1, :3], axis=1).max() <= elbow * over
    slope = np.diff(found.tau, axis=0) / np.diff(t)[:, None]
    assert np.abs(slope).max() <= 0.3 * rate * over
    assert np.abs(slow.tau_dot(t)).max() >= 0.29 * rate
    np.testing.assert_allclose(slow.wrenches(t), found.wrench, atol=1e-9)
    np.testing.assert_allclose(slow.cut_wrenches(t), found.cut, atol=1e-9)
    np.testing.assert_allclose(
        slow.tau_dot(t[1:-1]), (found.tau[2:] - found.tau[:-2]) / (t[2] - t[0]), atol=2e-2 * rate
    )
    columns = slow.columns()
    assert {"tau_dot.left_motor", "qddd.left_motor", "wrench.left_bar.fx", "cut.tip.fx"} <= set(columns)
    np.testing.assert_array_equal(columns["cut.tip.fy"], slow.cut_wrenches(slow.times())[:, 0, 1])


def test_a_base_that_moves():
    """Torques, their rates and reactions are those of the closed chain on that base."""

    def shaken(t):
        return lw.Pose.of((-0.8 * sin(5.0 * t), 0.0, -0.4 * cos(5.0 * t)), rpy=(0.0, 0.3 * t, 0.0))

    rows = [lw.limit.joints(effort_rate=500.0), lw.limit.reaction("tip", force=60.0)]
    found = lw.plan(
        lw.load("fivebar"), *ENDS, lw.cost.effort(), rows, duration=0.5, control_points=12, base_motion=shaken
    )
    assert found.converged, found.summary
    t = np.linspace(0.0, 0.5, 201)
    base = BaseMotion(shaken).inputs(t, found.robot.gravity, 3)
    dyn = lw.compile(found.robot, base_motion=True, gravity="input")
    motion = [f(t) for f in (found.q, found.qd, found.qdd, found.qddd)]
    exact = dyn.joint_wrench_rates(*motion, *base)
    np.testing.assert_allclose(found.tau(t), exact.tau, atol=1e-8)
    np.testing.assert_allclose(found.tau_dot(t), exact.tau_dot, atol=1e-6)
    np.testing.assert_allclose(found.wrenches(t), exact.wrench, atol=1e-7)
    np.testing.assert_allclose(found.cut_wrenches(t), exact.cut, atol=1e-7)
    effort = np.trapezoid((exact.tau**2).sum(axis=1), t)
    assert effort == pytest.approx(found.objective, rel=1e-3)


def test_speeds_of_passive_joints(plan):
    def speed(p):
        t = np.linspace(0.0, p.duration, 4001)
        return float(np.abs(np.diff(p.positions(t)[:, 1]) / np.diff(t)).max())

    top = speed(plan)
    slow = fastest(more=[lw.limit.joints(velocity={"left_elbow": 0.5 * top})])
    assert slow.converged
    assert 0.5 * top * 0.99 <= speed(slow) <= 0.5 * top * 1.002
    assert slow.duration > plan.duration


@pytest.mark.parametrize(
    "name", ["fourbar", *(pytest.param(n, marks=pytest.mark.slow) for n in ("ankle", "palletiser"))]
)
def test_other_linkages(name):
    """Loops in space, several of them, and joints outside of them."""
    robot = lw.load(name)
    start = robot.q()
    sliding = [robot.joint(n).kind == "prismatic" for n in robot.coordinates]
    goal = start + np.where(sliding, 0.03, 0.3)
    limits = lw.limit.joints(acceleration=50.0, effort=200.0)
    found = lw.plan(robot, start, goal, subject_to=limits, control_points=14)
    assert found.converged, found.summary
    t = found.times()
    dyn = lw.compile(robot)
    assert open_by(robot, found.positions(t)) < 1e-11
    assert np.abs(found.qdd(t)).max() <= 50.0 * 1.003
    fine = np.linspace(0.0, found.duration, 4001)
    joints = found.positions(fine)
    bends = np.diff(joints, 2, axis=0) / (fine[1] - fine[0]) ** 2
    assert np.abs(bends).max() <= 50.0 * 1.003  # of what follows too
    tau = dyn.inverse_dynamics(found.q(t), found.qd(t), found.qdd(t))
    assert np.abs(tau).max() <= 200.0 * 1.003
    np.testing.assert_allclose(found.tau(t), tau, atol=1e-8)
    np.testing.assert_allclose(found.q(found.duration), goal, atol=1e-12)


def test_a_goal_of_the_tool():
    """From a start alone to where a frame is to be."""
    target = (0.05, 0.0, 0.38)
    found = lw.plan(
        lw.load("fivebar"),
        [0.0, 0.0],
        None,
        lw.cost.effort(),
        lw.limit.via(1.0, frame="tool", position=target),
        duration=0.5,
    )
    assert found.converged, found.summary
    tip = lw.compile(found.robot).pose(found.q(0.5), "tool")[:3, 3]
    np.testing.assert_allclose(tip, target, atol=1.01e-4)  # what `via` allows


def test_the_command(tmp_path):
    problem, table = tmp_path / "fast.toml", tmp_path / "fast.csv"
    problem.write_text("start = [0.0, 0.0]\ngoal = [0.5, 0.6]\n[limits]\neffort = 6.0\n")
    result = linkwise("plan", "fivebar", problem, "-o", table)
    assert result.exit_code == 0, result.output
    assert "left_motor" in result.output
    assert "tau.left_motor" in table.read_text().splitlines()[0]


def test_ends(plan, tmp_path):
    """Ends are what leads, or all joints if they close."""
    limits = lw.limit.joints(effort=LIMIT)
    ends = plan.positions(0.0), plan.positions(plan.duration)
    full = lw.plan(plan.robot, *ends, subject_to=limits, control_points=16)
    assert full.duration == pytest.approx(plan.duration, rel=1e-6)
    plan.save(tmp_path / "p.npz")
    plan.save(tmp_path / "p.csv")
    again = lw.planning.Plan.load(tmp_path / "p.npz")
    np.testing.assert_array_equal(again.q(0.05), plan.q(0.05))
    plan.plot(tmp_path / "p.png")


@pytest.mark.parametrize(
    ("start", "goal", "more", "words"),
    [
        ([0.0, 0.1, 0.0, 0.0], [0.5, 0.6], (), "start: expected positions that close the loops"),
        ([0.0, 0.0, 0.0], [0.5, 0.6], (), r"start: expected 2 finite positions \(left_motor, right_motor\)"),
        ({"left_motor": 0.0}, [0.5, 0.6], (), "none for 'right_motor'"),
        ([0.0, 0.0], [-1.57, 1.57], (), "goal: the loops cannot be closed"),
        (lw.planning.State([0.0, 0.0], qd=1.0), [0.5, 0.6], (), "start velocity: expected rest"),
        ([0.0, 0.0], [0.5, 0.6], [lw.limit.reaction("top", force=9.0)], "joint in reaction 'top'.*'tip'"),
    ],
)
def test_mistakes(start, goal, more, words):
    with pytest.raises(lw.LinkwiseError, match=words):
        lw.plan(lw.load("fivebar"), start, goal, subject_to=[lw.limit.joints(effort=LIMIT), *more])


POINTS = [[0.0, 0.0], [0.2, 0.3], [0.5, 0.6]]


@pytest.mark.parametrize("smooth", [False, True])
def test_retimed(smooth):
    """Limits of drives and of joints that follow are kept and used, by functions that retiming does not use."""
    robot = lw.load("fivebar")
    more = {"effort_rate": 300.0} if smooth else {}
    fast = lw.retime(robot, POINTS, effort=LIMIT, **more)
    slow = lw.retime(robot, POINTS, effort=LIMIT, velocity={"left_elbow": 3.0}, **more)
    for found in (fast, slow):
        tau = lw.compile(robot).inverse_dynamics(found.q, found.qd, found.qdd)
        np.testing.assert_allclose(found.tau, tau, atol=1e-10)
        assert LIMIT * 0.99 <= np.abs(tau).max() <= LIMIT * 1.002
        np.testing.assert_allclose(found.q[[0, -1]], [POINTS[0], POINTS[-1]], atol=1e-9)
        assert open_by(robot, found.positions()) < 1e-12
    assert slow.duration > fast.duration
    speed = np.abs(np.diff(slow.positions()[:, 1]) / np.diff(slow.t)).max()
    assert 3.0 * 0.98 <= speed <= 3.0 * 1.002
    assert slow.uses["velocity"].joint == "left_elbow"
    assert {"q.left_motor", "tau.right_motor"} <= set(slow.columns())


def test_retimed_like_a_plan_along_its_path(plan):
    """The fastest timing along the path of a fastest motion is about as fast as that motion."""
    t = np.linspace(0.0, plan.duration, 40)
    found = lw.retime(plan.robot, plan.q(t), effort=LIMIT)
    assert found.duration == pytest.approx(plan.duration, rel=0.02)


@pytest.mark.parametrize("name", ["fourbar", "ankle"])
def test_paths_of_other_linkages(name):
    """By names, by what leads, and by all joints; closed forms or not."""
    robot = lw.load(name)
    ends = robot.q(), robot.q() + 0.2
    whole = lw.compile(robot).positions(np.array(ends)).q
    named = [dict(zip(robot.coordinates, q.tolist(), strict=True)) for q in ends]
    times = [lw.retime(robot, path, effort=50.0, velocity=4.0).duration for path in (ends, whole, named)]
    np.testing.assert_allclose(times, times[0], rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "mask"), [("fivebar", (1, 0, 1, 0, 0, 0)), ("palletiser", (1,) * 6), ("ankle", (1,) * 6)]
)
def test_poses_are_reached(name, mask):
    robot = lw.load(name)
    dyn, frame = lw.compile(robot), "foot" if name == "ankle" else "tool"
    q = robot.q() + 0.2 * np.random.default_rng(3).uniform(-1.0, 1.0, (8, robot.nv))
    T = dyn.pose(q, frame)
    found = lw.inverse_kinematics(robot, frame, T, mask=mask)
    assert found.converged.all()
    off = dyn.pose(found.q, frame) - T
    assert np.abs(off[:, :3, 3] * mask[:3]).max() < 1e-7
    if all(mask):
        assert np.abs(off).max() < 1e-7
    assert dyn.positions(found.q).converged.all()


def test_poses_within_the_limits_of_what_follows():
    """A limit of a joint that follows turns a pose into one that is not reached; held joints stay."""
    robot = lw.load("fivebar")
    dyn, q = lw.compile(robot), np.array([0.3, 0.4])
    T, elbow = dyn.pose(q, "tool"), dyn.positions(q).q[1]
    joint = robot.joint("left_elbow")
    limits = replace(joint.limits, lower=elbow + 0.05, upper=elbow + 3.0)
    tight = robot.replace(replace(joint, limits=limits))
    mask = (1, 0, 1, 0, 0, 0)
    assert lw.inverse_kinematics(robot, "tool", T, mask=mask).converged
    assert not lw.inverse_kinematics(tight, "tool", T, mask=mask, restarts=5).converged
    held = lw.inverse_kinematics(robot, "tool", T, {"left_motor": 0.1}, mask=mask, joints="right_motor", restarts=5)
    assert held.q[0] == 0.1
    assert not held.converged


def test_the_assembly_mode_is_chosen_by_what_follows():
    """With followers given near another way to close the loops, the plan keeps to that one."""
    robot = lw.load("fivebar")
    at = {"left_motor": 0.3, "right_motor": 0.3}
    own = lw.compile(robot).positions(robot.q(at)).q
    a, b = (own[k] for k in (1, 3))
    near = lw.compile(robot).positions(robot.q(at), guess=[0.3, -a - 1.5, 0.3, -b + 1.5])
    if not near.converged or np.abs(near.q - own).max() < 1e-3:
        near = lw.compile(robot).positions(robot.q(at), guess=[0.3, a + 1.5, 0.3, b - 1.5])
    assert near.converged
    assert np.abs(near.q - own).max() > 1e-3
    named = {**at, "left_elbow": near.q[1], "right_elbow": near.q[3]}
    for start in (near.q, named):
        found = lw.plan(robot, start, {"left_motor": 0.4, "right_motor": 0.4}, lw.cost.effort(), duration=0.5)
        assert found.converged, found.summary
        np.testing.assert_allclose(found.positions(0.0), near.q, atol=1e-9)
        assert np.abs(np.diff(found.positions(found.times()), axis=0)).max() < 0.1  # no jump to the other mode


def test_positions_of_what_follows_are_limited(plan):
    """A range that the motion does not leave changes nothing; one that it would leave is used up, or refused."""
    elbow = plan.positions(plan.times())[:, 1]
    wide = fastest(more=[lw.limit.joints(position={"left_elbow": (float(elbow.min()) - 0.1, 1.0)})])
    assert wide.duration == pytest.approx(plan.duration, rel=1e-6)
    bent = lw.cost.function(lambda p: p.positions[1] + 1.0, squared=True)
    narrow = lw.limit.joints(position={"left_elbow": (-0.3, 1.0)})
    found = lw.plan(plan.robot, [0.0, 0.0], None, bent + 1e-3 * lw.cost.effort(), narrow, duration=0.5)
    assert found.converged, found.summary
    assert -0.3002 <= found.positions(np.linspace(0.0, 0.5, 1001))[:, 1].min() <= -0.299
    with pytest.raises(lw.InputError, match=r"goal: joint 'left_elbow' would be at -0\.41.*of its limits -0\.3"):
        fastest(more=[narrow])


def test_around_positions_that_cannot_be_taken(plan):
    """On the straight way from start to goal the loops cannot be closed; the plan goes around that."""
    robot, ends = plan.robot, np.array([[-1.4, 0.3], [-0.3, 1.4]])
    dyn = lw.compile(robot)
    straight = ends[0] + np.linspace(0.0, 1.0, 41)[:, None] * (ends[1] - ends[0])
    assert not dyn.positions(straight).converged.all()
    found = lw.plan(robot, *ends, lw.cost.effort(), duration=1.0)
    assert found.converged, found.summary
    assert dyn.positions(found.q(np.linspace(0.0, 1.0, 1001))).converged.all()
    with pytest.raises(lw.InputError, match="retime path: the loops cannot be closed at s = "):
        lw.retime(robot, ends, effort=LIMIT)
