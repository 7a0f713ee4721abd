"""How planning goes: solvers that are stopped, problems without a solution, warm starts, results, mistakes."""

import json
import math
import re
import signal
import time

import numpy as np
import pytest

import linkwise as lw
from linkwise.planning.constraints import base_motion
from linkwise.planning.solvers.monitor import Monitor
from support.arms import arm, still

SOLVERS = ("scipy", "ipopt", "uno")
START, GOAL = [0.0, -2.0], [1.0, -1.0]


@pytest.fixture(scope="module")
def rr():
    return lw.load("rr")


def fastest(robot, **more):
    return lw.plan(robot, START, GOAL, subject_to=lw.limit.joints("effort"), **more)


@pytest.fixture
def slow(monkeypatch):
    """Every iteration takes time, and after `slow(k)` the k-th is interrupted by Ctrl-C."""
    gradient, count = Monitor.gradient, [0]

    def set_up(interrupt=None, pause=0.0):
        def patched(self, x):
            count[0] += 1
            time.sleep(pause)
            found = gradient(self, x)
            if interrupt and count[0] == interrupt:
                signal.raise_signal(signal.SIGINT)
            return found

        monkeypatch.setattr(Monitor, "gradient", patched)

    return set_up


@pytest.mark.parametrize("solver", SOLVERS)
def test_ctrl_c_returns_the_best_motion_so_far(rr, slow, solver):
    first = fastest(rr, solver=solver)
    slow(interrupt=4)
    plan = lw.plan(
        rr, START, GOAL, lw.cost.effort(), lw.limit.joints("effort"), duration=0.6, solver=solver, guess=first
    )
    assert plan.status == "interrupted"
    assert "so far" in plan.summary
    assert np.isfinite(plan.q(0.1)).all()
    np.testing.assert_allclose(plan.q(plan.duration), GOAL)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_time_limit_ends_it(rr, slow, solver):
    slow(pause=0.15)
    began = time.monotonic()
    plan = lw.plan(
        rr, START, GOAL, lw.cost.effort(), lw.limit.joints("effort"), duration=0.6, solver=solver, time_limit=0.4
    )
    assert plan.status == "out of time"
    assert time.monotonic() - began < 30.0
    assert np.isfinite(plan.tau(plan.times())).all()


def test_the_best_feasible_motion_is_kept(rr, slow):
    """From a slow motion, which keeps all limits, what comes back is never worse and keeps them too."""
    slow(interrupt=6)
    plan = fastest(rr, guess=3.0)
    assert plan.status == "interrupted"
    assert plan.duration <= 3.0
    assert plan.largest_violation.violation <= 0.05


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_cannot_be_is_said_with_name_and_time(rr, solver):
    plan = fastest(rr, duration=0.3, solver=solver)
    assert plan.status == "infeasible"
    assert not plan.converged
    assert plan.largest_violation.name.startswith("effort.joint")
    assert 0.0 <= plan.largest_violation.t <= 0.3
    assert plan.summary.startswith("infeasible: effort.joint")
    assert "beyond its limit" in plan.summary


@pytest.mark.parametrize("solver", ["ipopt", "uno"])
def test_a_warm_start_saves_iterations(rr, solver):
    cold = fastest(rr, solver=solver)
    warm = fastest(rr, solver=solver, guess=cold)
    assert warm.duration == pytest.approx(cold.duration, abs=1e-6)
    assert warm.facts["iterations"] < cold.facts["iterations"]


def test_points_are_added_where_the_motion_is_beyond_a_limit(rr):
    coarse = fastest(rr, points=1, refine=False, solver="uno")
    assert coarse.largest_violation.violation > 1e-3
    fine = fastest(rr, points=1, solver="uno")
    assert fine.facts["rounds"] > 1
    assert fine.largest_violation.violation <= 1e-3
    t = np.linspace(0.0, fine.duration, 5001)
    assert np.abs(fine.tau(t)).max() <= 10.0 * (1.0 + 2e-3)
    assert fine.duration > coarse.duration


def test_curves_and_channels(rr, tmp_path):
    plan = fastest(rr, solver="uno")
    t = plan.times(0.01)
    assert t[-1] == plan.duration
    h = 1e-6
    np.testing.assert_allclose((plan.q(0.1 + h) - plan.q(0.1 - h)) / (2 * h), plan.qd(0.1), rtol=1e-6)
    dyn = lw.compile(rr)
    np.testing.assert_allclose(plan.tau(t), dyn.inverse_dynamics(plan.q(t), plan.qd(t), plan.qdd(t)), atol=1e-12)
    np.testing.assert_allclose(plan["tau.joint2"], plan.tau(plan.times())[:, 1])
    assert plan["wrench.link2.fx"].shape == plan.times().shape
    with pytest.raises(lw.UnknownNameError, match=r"tau\.joint1"):
        plan["torque.joint1"]
    file = tmp_path / "plan.csv"
    plan.save(file, step=0.004)
    from linkwise.motion.reader import read

    motion = read(file, rr)
    np.testing.assert_allclose(motion.q[-1], GOAL, atol=1e-12)
    assert np.diff(motion.t).max() == pytest.approx(0.004)


def test_no_motion_is_said_to_be_better_than_the_one_that_is_returned(rr):
    plan = lw.plan(rr, START, GOAL, subject_to=lw.limit.reaction("joint2", force=0.1))
    assert plan.status == "infeasible"
    least = float(re.search(r"less than (\S+) % beyond", plan.summary)[1])
    assert least <= 100.0 * plan.largest_violation.violation * 1.005  # of three digits


def test_no_times_have_no_rows(rr):
    plan = fastest(rr, control_points=10)
    assert [x([]).shape for x in (plan.q, plan.qdd, plan.tau)] == [(0, 2)] * 3


def test_before_and_after_it_stands(rr):
    """At its ends, with the torques that hold it there."""
    plan = fastest(rr)
    t = np.array([-1.0, plan.duration + 1.0])
    np.testing.assert_array_equal(plan.q(t), [START, GOAL])
    for rate in (plan.qd, plan.qdd, plan.qddd):
        assert not rate(t).any()
    np.testing.assert_allclose(plan.tau(t), lw.compile(rr).gravity_forces(plan.q(t)), atol=1e-12)
    assert plan.qdd(plan.duration * (1.0 + 1e-15)).any()  # the end itself is a part of the motion


def test_files(rr, tmp_path):
    plan = fastest(rr, solver="uno")
    file = tmp_path / "plan.npz"
    plan.save(file)
    back = lw.planning.Plan.load(file)
    assert (back.duration, back.objective, back.status) == (plan.duration, plan.objective, plan.status)
    assert back.largest_violation == plan.largest_violation
    assert back.multipliers == plan.multipliers
    np.testing.assert_array_equal(back.q(0.2), plan.q(0.2))
    again = fastest(rr, solver="uno", guess=back)
    assert again.duration == pytest.approx(plan.duration, abs=1e-6)
    plan.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 10_000
    forms = r"\.csv, \.npz, \.parquet, \.yaml, \.yml or \.json"
    for wrong, message in ((tmp_path / "plan.txt", forms), (None, "a file name, got None")):
        with pytest.raises(lw.InputError, match=message):
            plan.save(wrong)
    with pytest.raises(lw.InputError, match="step: expected a number"):
        plan.save(tmp_path / "plan.csv", step="fine")
    with pytest.raises(lw.InputError, match="t: expected times"):
        plan.q("soon")
    (tmp_path / "bad.npz").write_bytes(b"no plan")
    with pytest.raises(lw.InputError, match=r"Plan\.save"):
        lw.planning.Plan.load(tmp_path / "bad.npz")
    with pytest.raises(lw.InputError, match="can be read"):
        lw.planning.Plan.load(tmp_path / "none.npz")
    with pytest.raises(lw.InputError, match="expected a path"):
        lw.planning.Plan.load(None)


CHANGES = {
    "duration": {"duration": -1.0}, "worst": {"worst": [0.1, "effort", None]}, "robot": {"robot": 5},
    "terms": {"terms": 3}, "status": {"status": 7}, "duals": {"duals": [[1]]},
}  # fmt: skip


@pytest.mark.parametrize("name", [*CHANGES, "half", "points", "breaks"])
def test_files_that_were_damaged(rr, tmp_path, name):
    file = tmp_path / "plan.npz"
    fastest(rr, control_points=8, refine=False).save(file)
    if name == "half":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    else:
        with np.load(file) as archive:
            parts = dict(archive)
        parts["meta"] = json.dumps({**json.loads(str(parts["meta"])), **CHANGES.get(name, {})})
        parts["points"] = parts["points"] * (np.nan if name == "points" else 1.0)
        parts["breaks"] = parts["breaks"][:: -1 if name == "breaks" else 1]
        np.savez(file, **parts)
    with pytest.raises(lw.LinkwiseError, match=r"plan\.npz: expected a plan as Plan\.save writes it"):
        lw.planning.Plan.load(file)


def _carried(robot, motion):
    return lw.plan(robot, START, GOAL, lw.cost.effort(), base_motion(motion), duration=1.0)


def _pushed(robot, external):
    return lw.plan(robot, START, GOAL, lw.cost.effort(), external=external)


MISTAKES = {
    "no robot": (lambda r: lw.plan("rr", START, GOAL), "expected a Robot"),
    "still": (lambda r: lw.plan(still()), "expected a robot that moves"),
    "base is no pose": (lambda r: lw.plan(r, START, GOAL, base_motion=lambda t: 3), "returns a Pose"),
    "external frame": (lambda r: _pushed(r, {"toll": np.zeros(6)}), "unknown frame or link 'toll'"),
    "external words": (lambda r: _pushed(r, {"link2": "up"}), "external 'link2': expected a Wrench"),
    "external list": (lambda r: _pushed(r, [1, 2]), "expected wrenches by frame"),
    "external nan": (lambda r: _pushed(r, {"link2": [np.nan] * 6}), "expected finite numbers"),
    "external function": (lambda r: _pushed(r, {"link2": lambda t: [np.interp(t, [0, 1], [0, 1])] * 6}), "be traced"),
    "free end": (lambda r: lw.plan(r, lw.planning.State(START, free=("elbow",)), GOAL), "in start free"),
    "short start": (lambda r: lw.plan(r, [0.0], GOAL), "expected 2 finite positions.*joint1, joint2"),
    "nan": (lambda r: lw.plan(r, [0.0, np.nan], GOAL), "finite"),
    "unknown joint": (lambda r: lw.plan(r, {"elbow": 1.0}, GOAL), "unknown joint"),
    "start a word": (lambda r: lw.plan(r, "home", GOAL), "start: expected positions"),
    "words as start": (lambda r: lw.plan(r, ["a", "b"], GOAL), "expected 2 finite positions"),
    "iterations": (lambda r: fastest(r, iterations=0), "iterations: expected a whole number"),
    "solver": (lambda r: fastest(r, solver="snopt"), "unknown solver 'snopt'.*'scipy'"),
    "term": (lambda r: lw.plan(r, START, GOAL, "time"), r"expected terms such as lw.cost.time\(\)"),
    "factor": (lambda r: lw.plan(r, START, GOAL, "2" * lw.cost.time()), "factor of a term"),
    "constraint": (lambda r: lw.plan(r, START, GOAL, subject_to=["effort"]), "expected constraints such as"),
    "kind": (lambda r: lw.limit.joints("torque"), "unknown kind of limits 'torque'.*'effort'"),
    "no time": (lambda r: lw.plan(lw.load("snake"), [0.0] * 10, [0.1] * 10), "nothing bounds the time"),
    "no limits": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.joints("velocity")), "has none. Give some"),
    "sign": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.joints(effort=-1.0)), "above zero"),
    "limit of a joint": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.joints(effort={"a": 1})),
                         "joint in limits"),
    "weights": (lambda r: lw.plan(r, START, GOAL, lw.cost.effort([1.0, 2.0, 3.0])), "2 numbers"),
    "reaction": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.reaction("elbow", force=1)),
                 "joint in reaction"),
    "part": (lambda r: lw.limit.reaction("joint1", forces=3.0), "part of a reaction 'forces'.*'force'"),
    "no bound": (lambda r: lw.limit.reaction("joint1"), "expected a bound"),
    "part of a cost": (lambda r: lw.cost.reaction("joint1", of="forces"), "part of a reaction 'forces'.*'force'"),
    "cost": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.cost.reaction("joint1")), "expected constraints such as"),
    "limit": (lambda r: lw.plan(r, START, GOAL, lw.limit.reaction("joint1", fx=1.0)), "expected terms such as"),
    "via": (lambda r: lw.limit.via(1.5, q={"joint1": 0.0}), "from 0 to 1"),
    "via what": (lambda r: lw.limit.via(0.5), "neither"),
    "via joint": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.via(0.5, q={"x": 0.0})), "joint in via q 'x'"),
    "frame": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.clearance("tool", 0.1, other=("link1", 1))),
              "frame"),
    "obstacle": (lambda r: lw.limit.clearance("link2", 0.1), "one of sphere=, half_space=, other="),
    "sphere": (lambda r: lw.limit.clearance("link2", 0.1, sphere=(0, 0, 0)), "expected a pair"),
    "path": (lambda r: lw.limit.tool_path("link2", line=(0, 1)), "two different points"),
    "tolerance": (lambda r: lw.limit.tool_path("link2", line=np.eye(3)[1:]), "expected tolerance="),
    "degree": (lambda r: fastest(r, degree=0), "degree: expected"),
    "count": (lambda r: fastest(r, control_points=3), "control_points: expected"),
    "too few": (lambda r: lw.plan(r, START, lw.planning.State(GOAL, qdd=0.0, qddd=0.0), control_points=5),
                "both ends fix"),
    "duration": (lambda r: fastest(r, duration=-1.0), "duration: expected a number above 0"),
    "durations": (lambda r: fastest(r, duration=(2.0, 1.0)), "shorter and a longer"),
    "guess": (lambda r: fastest(r, guess=np.zeros((4, 3))), "guess: expected positions"),
    "guess nan": (lambda r: fastest(r, guess=np.full((4, 2), np.nan)), "guess: expected finite positions"),
    "low degree": (lambda r: fastest(r, degree=1), "degree: expected at least 2"),
    "degree of rates": (lambda r: lw.plan(r, START, GOAL, lw.cost.effort_rate(), duration=1.0, degree=2), "at least 3"),
    "one word": (lambda r: lw.plan(r, START, GOAL, subject_to="effort"), "got 'effort'"),
    "via nan": (lambda r: lw.limit.via(0.5, q={"joint1": np.nan}), "via q 'joint1': expected a finite number"),
    "via word": (lambda r: lw.limit.via(0.5, q={"joint1": "up"}), "via q 'joint1': expected a finite number"),
    "level": (lambda r: lw.limit.clearance("link2", 0.1, half_space=((0, 0, 1), "low")), "half_space's level"),
    "path word": (lambda r: lw.limit.tool_path("link2", path="round"), "tool_path path: expected points"),
    "bounds": (lambda r: lw.limit.function(lambda p: p.q[0], upper="much"), "expected numbers lower= and upper="),
    "mirror": (lambda r: lw.limit.mirrored("joint1"), "mirrored: expected joints by their partners"),
    "base words": (lambda r: _carried(r, lambda t: 0), "base_motion at t = .* s: expected vectors"),
    "base nan": (lambda r: _carried(r, lambda t: (np.full(6, np.nan),) * 2), "expected finite numbers"),
    "wrench": (lambda r: lw.plan(r, START, GOAL, lw.cost.function(lambda p: p.wrench("x").force.x)),
               "unknown joint 'x'"),
    "outside": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.joints(position={"joint1": (-0.5, 0.5)})),
                "goal: joint 'joint1' is to be at 1, outside of its limits"),
    "function": (lambda r: lw.plan(r, START, GOAL, lw.cost.function(lambda p: math.sin(p.q[0]))),
                 "function: expected a function"),
    "values": (lambda r: lw.plan(r, START, GOAL, lw.cost.function(lambda p: p.q)), "function: expected an expression"),
    "many points": (lambda r: fastest(r, control_points=10**6), "control_points: .* up to 1000"),
    "several values": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.function(lambda p: p.q, upper=3.0)),
                       "function: expected an expression"),
    "no quantity": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.function(lambda p: p.speed, upper=3.0)),
                    "function: expected a function of a point"),
    "degrees": (lambda r: lw.plan(r, START, [90.0, 0.0], subject_to=lw.limit.joints(position={"joint1": (-3, 3)})),
                r"outside of its limits -3 to 3 \(rad or m\)"),
    "base": (lambda r: lw.plan(r, START, GOAL, subject_to=base_motion(lambda t: (np.zeros(6),) * 2)),
             "fixed duration"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_answered(rr, name):
    call, message = MISTAKES[name]
    with pytest.raises(lw.LinkwiseError, match=message):
        call(rr)


@pytest.mark.parametrize(("name", "base"), [("gough_stewart", "fixed"), ("arm7", "floating")])
def test_a_quaternion_of_zeros_is_refused(name, base):
    robot = lw.load(name, base=base)
    with pytest.raises(lw.InputError, match="goal: expected quaternions x, y, z, w that are not zero"):
        lw.plan(robot, robot.q(), np.zeros(robot.nq), duration=1.0)


def test_a_guess_that_is_much_too_long_does_not_bound_the_time(rr):
    """A free duration stays near its guess in a solve; a motion that stands at this bound is solved again below it."""
    assert abs(fastest(rr, guess=200.0).duration - fastest(rr).duration) < 1e-6


def test_a_robot_that_nothing_asks_to_move_is_said(rr):
    for goal in (START, None):
        plan = lw.plan(rr, START, goal)
        assert plan.converged
        assert plan.notes == ("the robot stands still: start and goal are the same, or one of them is free",)
    assert not fastest(rr).notes


def test_a_solver_that_is_not_installed(rr, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "unopy", None)
    with pytest.raises(lw.InputError, match=r'pip install "linkwise\[uno\]"'):
        fastest(rr, solver="uno")


def test_two_threads_take_turns(rr):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: fastest(rr, control_points=10, solver="uno").duration, range(4)))
    assert max(found) - min(found) < 1e-9


def test_a_joint_with_friction_and_gravity_moves(tmp_path):
    robot = arm(3)
    limits = lw.limit.joints(effort=60.0, velocity=2.0, effort_rate=600.0)
    plan = lw.plan(robot, robot.q(), [0.5, 0.4, -0.6], subject_to=limits, control_points=14)
    assert plan.converged, plan.summary
    t = plan.times()
    assert np.abs(plan.tau_dot(t)).max() <= 600.0 * 1.002
    assert np.abs(plan.qd(t)).max() <= 2.0 * 1.002


def test_a_duration_that_nothing_holds_is_said(rr):
    slow = lw.plan(rr, START, GOAL, lw.cost.effort(), (), solver="uno")
    assert "the longest that was allowed" in slow.summary
    quick = lw.plan(rr, START, GOAL, subject_to=(), duration=(0.1, 1.0), solver="uno")
    assert "the shortest that was allowed" in quick.summary
    assert "allowed" not in fastest(rr, solver="uno").summary


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_any_limit_there_are_no_rows(solver):
    plan = lw.plan(
        lw.load("rr"), [0, 0], [1, 1], duration=1.0, minimize=lw.cost.effort(), subject_to=[], solver=solver,
        progress=False,
    )  # fmt: skip
    assert plan.converged
    assert plan.facts["rows"] == 0
