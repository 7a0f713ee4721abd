"""Robots with closed loops: they stay closed, and their active joints keep their limits."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.planning.curve import Basis
from linkwise.planning.guess import first_motion
from linkwise.planning.problem import Problem
from linkwise.planning.words import Sum
from support.command import linkwise
from support.programs import close, dense, differences, hessian, set_up

ENDS = {"left_motor": 0.0, "right_motor": 0.0}, {"left_motor": 0.5, "right_motor": 0.6}
LIMIT = 6.0


def fastest(solver="scipy", control_points=16, more=(), **options):
    limits = [lw.limit.joints(effort=LIMIT), *more]
    return lw.plan(
        lw.load("fivebar"), *ENDS, subject_to=limits, solver=solver, control_points=control_points, **options
    )


@pytest.fixture(scope="module")
def plan():
    return fastest()


def test_closed_and_within_limits(plan):
    """On a fine grid the curves themselves nearly close the loops, and the motion that is handed out does exactly."""
    assert plan.converged, plan.words
    closed = lw.compile(plan.robot).closed
    t = np.linspace(0.0, plan.duration, 1001)
    gap = closed.assembled.closure
    assert np.abs(gap(plan.curve(t)).gap).max() < 1e-4
    assert np.abs(gap(plan.q(t)).gap).max() < 1e-12
    assert np.abs(plan.curve(t) - plan.q(t)).max() < 3e-4
    leading = [closed.of(x) for x in (plan.q(t), plan.curve(t, 1), plan.curve(t, 2))]
    found = closed.inverse_dynamics(*leading, guess=plan.q(0.0), along=True)
    assert found.converged.all()
    assert np.abs(found.tau).max() <= LIMIT * (1.0 + 2e-3)
    assert np.abs(found.tau).max(axis=0).min() >= LIMIT * 0.99  # a fastest motion uses them
    np.testing.assert_allclose(plan.tau(t)[:, [0, 2]], found.tau, atol=1e-10)
    np.testing.assert_array_equal(plan.tau(t)[:, [1, 3]], 0.0)
    for rate, of in ((plan.qd, plan.q), (plan.qdd, plan.qd)):
        h = 1e-6
        inner = t[10:-10:40]
        np.testing.assert_allclose(rate(inner), (of(inner + h) - of(inner - h)) / (2.0 * h), rtol=1e-5, atol=2e-4)


def test_torques_move_it_so(plan):
    """Simulated as a closed chain with the planned torques it arrives where the plan does."""
    from scipy.integrate import solve_ivp

    closed = lw.compile(plan.robot).closed
    near = plan.q(0.0)

    def rates(t, x):
        q = closed.positions(x[:2], near).q
        tau = plan.tau(t)[[0, 2]]
        return np.concatenate([x[2:], closed.assembled.forward_dynamics(q, x[2:], tau)[0]])

    end = solve_ivp(rates, (0.0, plan.duration), np.zeros(4), method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(end, [0.5, 0.6, 0.0, 0.0], atol=1e-6)


def test_solvers_agree_and_points_help(plan):
    assert fastest("uno").duration == pytest.approx(plan.duration, abs=1e-6)
    finer = fastest(control_points=24)
    assert finer.converged
    assert finer.duration < plan.duration
    off, less = (np.abs(p.curve(p.times()) - p.q(p.times())).max() for p in (plan, finer))
    assert less < 0.5 * off


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
    ends = lw.planning.State(np.zeros(4)), lw.planning.State(fastest(iterations=1).q(1.0))
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
    assert slow.converged, slow.words
    assert slow.duration > plan.duration
    t = np.linspace(0.0, slow.duration, 4001)
    closed = lw.compile(slow.robot).closed
    leading = [closed.of(x) for x in (slow.q(t), slow.curve(t, 1), slow.curve(t, 2))]
    found = closed.joint_wrenches(*leading, guess=slow.q(0.0), along=True)
    over = 1.0 + 2e-3
    assert np.linalg.norm(found.cut[:, 0, :3], axis=1).max() <= 0.8 * tip * over
    assert np.linalg.norm(found.wrench[:, 1, :3], axis=1).max() <= elbow * over
    slope = np.diff(found.tau, axis=0) / np.diff(t)[:, None]
    assert np.abs(slope).max() <= 0.3 * rate * over
    assert np.abs(slow.tau_dot(t)).max() >= 0.29 * rate
    np.testing.assert_allclose(slow.wrenches(t), found.wrench, atol=1e-9)
    np.testing.assert_allclose(slow.cut_wrenches(t), found.cut, atol=1e-9)
    np.testing.assert_allclose(
        slow.tau_dot(t[1:-1])[:, [0, 2]], (found.tau[2:] - found.tau[:-2]) / (t[2] - t[0]), atol=2e-2 * rate
    )
    columns = slow.columns()
    assert {"tau_dot.left_motor", "qddd.left_elbow", "wrench.left_elbow.fx", "cut.tip.fx"} <= set(columns)
    np.testing.assert_array_equal(columns["cut.tip.fy"], slow.cut_wrenches(slow.times())[:, 0, 1])


def test_a_base_that_moves():
    """Torques, their rates and reactions are those of the closed chain on that base."""

    def shaken(t):
        s, c = np.sin(5.0 * t), np.cos(5.0 * t)
        return np.zeros(6), [20.0 * s, 0, 10.0 * c, 0, 0, 0], [100.0 * c, 0, -50.0 * s, 0, 0, 0]

    rows = [lw.base_motion(shaken), lw.limit.joints(effort_rate=500.0), lw.limit.reaction("tip", force=60.0)]
    found = lw.plan(lw.load("fivebar"), *ENDS, lw.cost.effort(), rows, duration=0.5, control_points=12)
    assert found.converged, found.words
    t = np.linspace(0.0, 0.5, 201)
    base = [np.array(x) for x in zip(*map(shaken, t), strict=True)]
    kernels = lw.compile(found.robot, base_motion=True).closed.assembled
    motion = [f(t) for f in (found.q, found.qd, found.qdd, found.qddd)]
    exact = kernels.joint_wrench_rates(*motion, *base)
    np.testing.assert_allclose(found.tau(t)[:, [0, 2]], exact.tau, atol=1e-8)
    np.testing.assert_allclose(found.tau_dot(t)[:, [0, 2]], exact.tau_dot, atol=1e-6)
    np.testing.assert_allclose(found.wrenches(t), exact.wrench, atol=1e-7)
    np.testing.assert_allclose(found.cut_wrenches(t), exact.cut, atol=1e-7)
    effort = np.trapezoid((exact.tau**2).sum(axis=1), t)
    assert effort == pytest.approx(found.objective, rel=1e-3)


def test_speeds_of_passive_joints(plan):
    top = float(np.abs(plan.qd(plan.times())[:, 1]).max())
    slow = fastest(more=[lw.limit.joints(velocity={"left_elbow": 0.5 * top})])
    assert slow.converged
    assert np.abs(slow.qd(slow.times())[:, 1]).max() <= 0.5 * top * 1.002
    assert slow.duration > plan.duration


@pytest.mark.parametrize(
    "name", ["fourbar", *(pytest.param(n, marks=pytest.mark.slow) for n in ("ankle", "palletiser"))]
)
def test_other_linkages(name):
    """Loops in space, several of them, and joints outside of them."""
    robot = lw.load(name)
    closed = lw.compile(robot).closed
    start = closed.of(closed.reference)
    sliding = [robot.joint(n).kind == "prismatic" for n in closed.independent]
    goal = start + np.where(sliding, 0.03, 0.3)
    limits = lw.limit.joints(acceleration=50.0, effort=200.0)
    found = lw.plan(robot, start, goal, subject_to=limits, control_points=14)
    assert found.converged, found.words
    t = found.times()
    assert np.abs(closed.assembled.closure(found.q(t)).gap).max() < 1e-12
    assert np.abs(found.qdd(t)).max() <= 50.0 * 1.003
    assert np.abs(found.tau(t)).max() <= 200.0 * 1.003
    np.testing.assert_allclose(closed.of(found.q(found.duration)), goal, atol=1e-12)


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
    assert found.converged, found.words
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
    """Ends are independent joints, or all of them if they close."""
    full = lw.plan(
        plan.robot, plan.q(0.0), plan.q(plan.duration), subject_to=lw.limit.joints(effort=LIMIT), control_points=16
    )
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
