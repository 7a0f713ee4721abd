"""Plans by the shortest call: the robot's own limits, any solver, the calmest motion, and honest words."""

import dataclasses

import numpy as np
import pytest

import linkwise as lw
from linkwise.planning import solvers
from linkwise.planning.attempts import STARTS
from linkwise.planning.joint_limits import with_own_limits
from linkwise.planning.problem_file import read_problem
from linkwise.planning.relaxed import Relaxed
from linkwise.planning.setup import problem_of
from linkwise.planning.solvers.monitor import Answer

START, GOAL = [0.0, -2.0], [1.0, -1.0]
SOLVERS = ("uno", "ipopt", "scipy")
SEGMENTS = {
    "ankle": ("shank", 0.43, 7.0, 300.0), "knee": ("thigh", 0.43, 15.0, 400.0), "hip": ("trunk", 0.5, 38.0, 500.0),
    "shoulder": ("upper_arm", 0.3, 4.0, 150.0), "elbow": ("forearm", 0.27, 3.0, 120.0),
}  # fmt: skip


@pytest.fixture(scope="module")
def rr():
    return lw.load("rr")


@pytest.fixture(scope="module")
def arm7():
    """With a limit of every kind that plans know of rigid drives, but jerk and power."""
    robot = lw.load("arm7").without_friction()
    joints = [robot.joint(n) for n in robot.names]
    return robot.replace(
        *(dataclasses.replace(j, limits=dataclasses.replace(j.limits, effort_rate=10.0 * j.limits.effort))
          for j in joints)
    )  # fmt: skip


def lifter(box: float) -> lw.Robot:
    """A person in the sagittal plane: a foot on the floor, shank, thigh, trunk and arm, with a box at the hand."""
    links, joints, parent, at = [lw.Link("foot")], [], "foot", 0.1
    for name, (link, length, mass, effort) in SEGMENTS.items():
        across = mass * length**2 / 12.0
        links.append(lw.Link(link, mass, (0.0, 0.0, 0.5 * length), (across, across, 0.05 * across)))
        limits = lw.Limits(-2.8, 2.8, velocity=6.0, effort=effort, effort_rate=10.0 * effort)
        origin = lw.Pose.of((0.0, 0.0, at))
        joints.append(lw.Joint(name, parent, link, origin=origin, axis=lw.Vec3(0.0, 1.0, 0.0), limits=limits))
        parent, at = link, length
    return lw.Robot(links, joints, name="lifter").with_payload(box, (0.0, 0.0, 0.3), at="forearm")


def test_the_robots_own_limits_hold(rr, arm7):
    plan = lw.plan(rr, START, GOAL)
    assert plan.duration == lw.plan(rr, START, GOAL, subject_to=lw.limit.joints()).duration
    assert np.abs(plan.tau(plan.times())).max() <= 10.0 * (1.0 + 1e-4)
    assert plan.largest_violation.violation <= 1e-8
    assert lw.limit.joints().kinds_of(arm7) == ("position", "velocity", "effort", "effort_rate")
    own = lw.limit.joints()
    assert with_own_limits(None) == (own,)
    assert with_own_limits(()) == ()
    via, given = lw.limit.via(0.5, q={"joint1": 0.6}), lw.limit.joints(effort=5.0)
    assert with_own_limits(via) == (own, via)
    assert with_own_limits([via, given]) == (via, given)


def test_a_file_without_limits_has_the_robots_own(tmp_path):
    text = "start = [0.0, -2.0]\ngoal = [1.0, -1.0]\n"
    asked = {"": None, "limits = true": [lw.limit.joints()], "limits = false": [lw.limit.joints(position={})]}
    for line, expected in asked.items():
        (tmp_path / "problem.toml").write_text(text + line)
        assert read_problem(tmp_path / "problem.toml")["subject_to"] == expected
    (tmp_path / "problem.toml").write_text(text + "[limits]\n")
    with pytest.raises(lw.InputError, match="true for all"):
        read_problem(tmp_path / "problem.toml")


def test_the_best_solver_that_is_there_is_taken(monkeypatch):
    assert solvers.chosen(None) == SOLVERS
    assert solvers.chosen("scipy") == ("scipy",)
    monkeypatch.setattr(solvers, "find_spec", lambda name: None if name == "unopy" else True)
    assert solvers.chosen(None) == ("ipopt", "scipy")


def test_another_solver_is_tried_where_one_gives_up(rr, monkeypatch):
    def lost(program, x, monitor, **_):
        return Answer(x, "gave up", 1, "lost")

    known = solvers.find
    monkeypatch.setattr(solvers, "find", lambda name: lost if name in ("uno", "ipopt") else known(name))
    plan = lw.plan(rr, START, GOAL)
    assert plan.converged
    assert plan.facts["solver"] == "scipy"
    assert plan.facts["tried"][:2] == ["uno (lost)", "ipopt (lost)"]
    monkeypatch.setattr(solvers, "find", lambda _: lost)
    plan = lw.plan(rr, START, GOAL, iterations=50)
    assert plan.status == "gave up"
    assert "tried uno (lost), then ipopt (lost), then scipy (lost)" in plan.summary
    assert "try a guess" in plan.summary


def test_a_solver_that_crawls_is_relieved(rr, monkeypatch):
    """Uno has few steps in a round; then the next solver takes this round, and Uno is asked again in the next."""
    pytest.importorskip("unopy")
    pytest.importorskip("casadi")
    asked, known = [], solvers.solve

    def solve(name, *args, iterations, **options):
        asked.append((name, iterations))
        return known(name, *args, iterations=iterations, **options)

    monkeypatch.setitem(solvers.CRAWLS, "uno", 2)
    monkeypatch.setattr(solvers, "solve", solve)
    how = {"subject_to": lw.limit.joints("effort"), "progress": False}
    plan = lw.plan(rr, START, GOAL, **how)
    assert plan.converged
    assert asked[:3] == [("uno", 2), ("ipopt", 500), ("uno", 2)]
    alone = lw.plan(rr, START, GOAL, solver="ipopt", **how)
    assert plan.duration == pytest.approx(alone.duration, rel=1e-3)  # to which limits hold between points


def test_every_solver_is_good_alone(arm7):
    """With all limits of seven joints: the same time within what calm and rounding leave."""
    rng = np.random.default_rng(3)
    start, goal = rng.uniform(-1.2, 1.2, (2, 7))
    plans = {solver: lw.plan(arm7, start, goal, control_points=12, solver=solver) for solver in SOLVERS}
    for plan in plans.values():
        assert plan.converged, plan.summary
        assert plan.largest_violation.violation <= 1e-8
    times = [plan.duration for plan in plans.values()]
    assert max(times) <= 1.001 * min(times)


def test_ipopt_is_not_jammed_by_points_that_are_added(arm7):
    lower, upper = np.array([[arm7.joint(n).limits.lower, arm7.joint(n).limits.upper] for n in arm7.names]).T
    rng = np.random.default_rng(3)
    for start, goal in rng.uniform(0.8 * lower, 0.8 * upper, (3, 2, arm7.nq)):
        plan = lw.plan(arm7, start, goal, solver="ipopt")
        assert plan.converged
        assert plan.facts["starts"] == 1
        assert plan.facts["iterations"] < 150  # in each round some twenty


@pytest.mark.parametrize("joint", ["joint1", "joint5"])
def test_scipy_is_not_jammed_by_dry_friction_of_joints_at_rest(joint):
    """Their torques jump where rest is passed by a rounding, far inside of limits."""
    robot = lw.load("arm7")
    plan, smooth = (lw.plan(r, {}, {joint: 1.0}, solver="scipy") for r in (robot, robot.without_friction()))
    assert plan.converged
    assert plan.facts["starts"] == 1
    assert plan.duration == pytest.approx(smooth.duration, rel=1e-5)  # speeds decide, not torques


def test_a_plan_that_gave_up_names_friction_that_jumps(arm7):
    options = {"solver": "scipy", "iterations": 1}
    stopped = lw.plan(lw.load("arm7"), {}, {"joint1": 1.0}, **options)
    assert stopped.status == "gave up"
    assert "friction of the law 'tanh'" in stopped.summary
    assert "friction" not in lw.plan(arm7, {}, {"joint1": 1.0}, **options).summary


def test_a_limit_more_never_makes_a_plan_faster_and_joints_rest(arm7):
    start, goal = np.zeros(7), np.array([0.9, 0.0, 0.6, 0.0, 0.0, 0.0, -0.7])
    start[3] = goal[3] = 0.8
    kinds, last = ["position"], 0.0
    for kind in ("velocity", "effort", "effort_rate"):
        kinds.append(kind)
        plan = lw.plan(arm7, start, goal, subject_to=lw.limit.joints(*kinds))
        assert plan.converged, plan.summary
        assert plan.curve.basis.degree == 4
        assert plan.duration >= 0.998 * last
        last = plan.duration
        if kind == "velocity":
            assert np.ptp(plan.q(plan.times())[:, [1, 3, 4, 5]], axis=0).max() < 1e-6


IMPOSSIBLE = {
    "load": (lambda r: lw.plan(r.with_payload(40.0, at="tool"), [0, 1.5, 0, 0, 0, 0, 0], np.zeros(7)),
             "at the start the joint 'joint2' needs .* limited to 250. Take a stronger drive or another start"),
    "push": (lambda r: lw.plan(r, [0, 1.5, 0, 0, 0, 0, 0], np.zeros(7), external={"tool": (600.0, 0, 0, 0, 0, 0)}),
             "at the start the joint 'joint2' needs"),
    "goal": (lambda r: lw.plan(r, np.zeros(7), [0, 2.5, 0, 0, 0, 0, 0]), "goal: joint 'joint2' is to be at 2.5"),
    "speed": (lambda r: lw.plan(r, lw.planning.State(np.zeros(7), qd={"joint1": 3.0}), np.ones(7)),
              "start: velocity.joint1 is 71.9 % beyond its limit"),
    "duration": (lambda r: lw.plan(r, np.zeros(7), np.ones(7), duration=0.3),
                 "expected at least 0.5731 s, in which joint 'joint1' goes its way of 1"),
    "reach": (lambda r: lw.plan(r, np.zeros(7), subject_to=lw.limit.via(1.0, frame="tool", position=(2.0, 0, 0))),
              "via at 1: tool.* is out of reach"),
    "obstacle": (lambda r: lw.plan(r, np.zeros(7), np.ones(7), subject_to=lw.limit.clearance(
        "tool", 0.1, sphere=(lw.compile(r).pose(np.zeros(7), "tool")[:3, 3], 0.1))), "start: clearance.tool.sphere is"),
    "free": (lambda r: lw.plan(r, np.zeros(7), np.ones(7), subject_to=()), "nothing bounds the time"),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_is_impossible_is_said_before_any_solve(arm7, name, monkeypatch):
    monkeypatch.setattr(solvers, "solve", None)
    call, words = IMPOSSIBLE[name]
    with pytest.raises(lw.InputError, match=words):
        call(arm7)


def test_a_state_that_is_passed_need_not_be_held():
    """An arm that is too weak to hold its load may let it fall."""
    link = lw.Link("arm", 1.0, (0.5, 0.0, 0.0), (0.01, 0.05, 0.05))
    turn = lw.Joint("turn", "base", "arm", axis=lw.Vec3(0.0, 1.0, 0.0), limits=lw.Limits(effort=3.0, velocity=10.0))
    weak = lw.Robot([lw.Link("base"), link], [turn])
    with pytest.raises(lw.InputError, match=r"needs 4\.905 against gravity"):
        lw.plan(weak, [0.0], [1.2])
    plan = lw.plan(weak, lw.planning.State([0.0]), [1.2], control_points=12)
    assert plan.converged, plan.summary


def test_infeasible_is_said_with_a_certificate(rr):
    plan = lw.plan(rr, START, GOAL, duration=0.3)
    assert plan.status == "infeasible"
    assert plan.facts["starts"] >= STARTS
    assert plan.facts["least_violation"] > 0.1
    assert f"from {plan.facts['starts']} starts no motion was found that is less than" in plan.summary


def test_a_solver_that_is_stopped_gives_up_in_words(rr):
    plan = lw.plan(rr, START, GOAL, solver="uno", iterations=1)
    assert plan.status == "gave up"
    assert "tried uno (" in plan.summary


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_lift_of_least_effort(solver):
    """Terms of 24,000 with second derivatives by Gauss and Newton, on which Ipopt's own test was never met."""
    down = {"ankle": 0.5, "knee": -1.9, "hip": 2.2, "shoulder": 1.9, "elbow": -0.1}
    up = {"ankle": 0.0, "knee": 0.0, "hip": 0.0, "shoulder": 2.0, "elbow": -0.5}
    plan = lw.plan(lifter(10.0), down, up, lw.cost.effort(), duration=1.0, control_points=14, solver=solver)
    assert plan.converged, plan.summary
    assert plan.objective == pytest.approx(24619.229, rel=1e-6)
    assert plan.facts["iterations"] < 500


def test_the_program_of_least_violation_has_exact_derivatives(rr):
    problem = problem_of(rr, START, GOAL, None, None, None, 8, None, 2)
    variables = problem.variables(0.5)
    x = np.random.default_rng(0).normal(size=len(variables.free)) * 0.3
    x[-1] = 0.5
    program = problem.program(variables, problem.grid)
    relaxed, at, h = Relaxed(program, x), np.append(x + 0.01, 0.7), 1e-6
    steps = h * np.eye(relaxed.n)
    J = np.zeros((relaxed.m, relaxed.n))
    np.add.at(J, (relaxed.jac_rows, relaxed.jac_columns), relaxed.jacobian(at))
    near = np.array([(relaxed.g(at + d) - relaxed.g(at - d)) / (2.0 * h) for d in steps]).T
    np.testing.assert_allclose(J, near, atol=1e-6 * np.abs(J).max())
    slope = [(relaxed.f(at + d) - relaxed.f(at - d)) / (2.0 * h) for d in steps]
    np.testing.assert_allclose(relaxed.gradient(at), slope, atol=1e-8)
    assert relaxed.infeasibility(np.append(x, program.infeasibility(x))) <= 1e-12


def test_former_names_warn(rr):
    plan = lw.plan(rr, START, GOAL)
    with pytest.warns(DeprecationWarning, match="plan.summary"):
        assert plan.words == plan.summary
    with pytest.warns(DeprecationWarning, match="plan.largest_violation"):
        assert plan.worst == plan.largest_violation
