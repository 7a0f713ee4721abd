"""The two-link arms of Barman's chapter IV against their true optima."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.planning import solvers
from linkwise.planning.curve import Basis, Curve
from linkwise.planning.ends import State
from linkwise.planning.problem import Problem
from linkwise.planning.term_and_constraint import Sum

SOLVERS = ("scipy", "ipopt", "uno")
OPTIMUM = 0.3918545395  # bang-bang, from its end conditions solved to 1e-14
# T of the RR arm with so many control points and 401 constraint points, found by another program
OF_COUNT = {8: 0.40544, 10: 0.39935, 12: 0.39569, 15: 0.39523, 20: 0.39304, 30: 0.39232}
OF_WEIGHT = {0.01: 0.64626, 0.005: 0.56606, 0.001: 0.52208}
LEAST_TIME = 0.51920  # of the PR arm; its plans of 30 control points have local minima close above it


def rr(count, solver="uno", **more):
    return lw.plan(
        lw.load("rr"),
        [0.0, -2.0],
        [1.0, -1.0],
        subject_to=lw.limit.joints("effort"),
        control_points=count,
        solver=solver,
        **more,
    )


def pr(u, solver="uno", count=30):
    return lw.plan(
        lw.load("pr"), [0.1, 0.6], [np.pi / 4, -np.pi / 4], (1.0 - u) * lw.cost.time() + u * lw.cost.effort(),
        lw.limit.joints("effort"), control_points=count, degree=3, solver=solver,
    )  # fmt: skip


def test_minimum_time_of_the_rr_arm_by_all_solvers():
    plans = {solver: rr(40, solver) for solver in SOLVERS}
    for plan in plans.values():
        assert plan.converged, plan.summary
        assert OPTIMUM < plan.duration <= 0.3922
        assert plan.largest_violation.violation <= 0.01
        assert np.abs(plan.tau(np.linspace(0.0, plan.duration, 4001))).max() <= 10.0 * 1.01
    times = [p.duration for p in plans.values()]
    assert max(times) - min(times) <= 1e-4


def test_minimum_time_falls_with_control_points_as_it_did_elsewhere():
    basis = {count: Basis.uniform(3, count) for count in OF_COUNT}
    for count, duration in OF_COUNT.items():
        problem = Problem(
            lw.load("rr"),
            State([0.0, -2.0]),
            State([1.0, -1.0]),
            Sum.of(lw.cost.time()),
            (lw.limit.joints("effort"),),
            basis[count],
        )
        variables = problem.variables(0.6)
        program = problem.program(variables, np.linspace(0.0, 1.0, 401))
        line = np.interp(np.arange(count), [1, count - 2], [0.0, 1.0])
        start = variables.of(Curve(basis[count], np.stack([line, line - 2.0], axis=1), 0.6))
        answer = solvers.solve(
            "uno", program, start, solvers.Monitor(1e-6, shown=False), tolerance=1e-8, iterations=200
        )
        assert answer.status == "converged"
        assert answer.x[-1] == pytest.approx(duration, abs=1e-5), count


def test_the_torques_switch_where_the_optimum_does():
    plan = rr(60)
    t = np.linspace(0.0, plan.duration, 20001)
    tau = plan.tau(t)
    crossings = [t[1:][np.diff(np.sign(tau[:, k])) != 0] for k in (0, 1)]
    np.testing.assert_allclose(crossings[0], [0.1959273], atol=2e-3)
    np.testing.assert_allclose(crossings[1], [0.0457093, 0.2353004], atol=2e-3)


@pytest.mark.parametrize("u", OF_WEIGHT)
def test_time_and_effort_of_the_pr_arm(u):
    found = pr(u)
    assert found.converged
    assert found.duration == pytest.approx(OF_WEIGHT[u], abs=5e-5)


def test_minimum_time_of_the_pr_arm():
    """Round-off decides to which of many local minima a solver comes: targets 1e-12 apart gave 0.51920 to 0.51928."""
    found = pr(0.0)
    assert found.converged
    assert LEAST_TIME <= found.duration <= 1.0003 * LEAST_TIME


def test_time_and_effort_of_the_pr_arm_by_all_solvers():
    plans = [pr(0.01, solver, 20) for solver in SOLVERS]
    for plan in plans:
        assert plan.objective == pytest.approx(0.85306, abs=1e-5)
        assert plan.duration == pytest.approx(0.64626, abs=2e-5)
        effort = plan.terms["effort.joint1"] + plan.terms["effort.joint2"]
        assert 0.99 * plan.terms["time"] + 0.01 * effort == pytest.approx(plan.objective, rel=1e-12)


@pytest.fixture
def time_alone(monkeypatch):
    """A problem of time in which calm counts for nothing, since it would share in the multipliers."""
    monkeypatch.setattr("linkwise.planning.problem.CALM", 0.0)


@pytest.mark.usefixtures("time_alone")
def test_multipliers_are_what_a_larger_limit_changes():
    plan = rr(20, "uno", refine=False)
    for solver in ("scipy", "ipopt"):
        other = rr(20, solver, refine=False).multipliers
        for name, value in plan.multipliers.items():
            assert other[name] == pytest.approx(value, rel=1e-4)
    for joint in ("joint1", "joint2"):
        ends = []
        for step in (-1e-2, 1e-2):
            limit = {"joint1": 10.0, "joint2": 10.0}
            limit[joint] += step
            ends.append(lw.plan(lw.load("rr"), [0.0, -2.0], [1.0, -1.0], subject_to=lw.limit.joints(effort=limit),
                                solver="uno", refine=False).duration)  # fmt: skip
        assert (ends[1] - ends[0]) / 2e-2 == pytest.approx(plan.multipliers[f"effort.{joint}"], rel=1e-3)


@pytest.mark.usefixtures("time_alone")
def test_multipliers_of_norms_and_distances():
    """Where the square of what was given is bounded too; a distance to keep costs time. Equations have none."""
    robot, step = lw.load("rr"), 1e-3

    def solved(force, radius):
        apart = lw.limit.clearance("link2", radius, sphere=((0.62, 0.02, 0.0), 0.05))
        rows = [
            lw.limit.joints("effort"),
            lw.limit.reaction("joint2", force=force),
            apart,
            lw.limit.via(0.5, q={"joint1": 0.45}),
        ]
        start = lw.planning.State([0.0, -2.0], qd=[0.3, 0.0])
        more = {"control_points": 12, "refine": False, "solver": "ipopt"}
        return lw.plan(robot, start, [1.0, -1.0], subject_to=rows, **more)

    plan = solved(16.0, 0.06)
    force = (solved(16.0 + step, 0.06).duration - solved(16.0 - step, 0.06).duration) / (2.0 * step)
    radius = (solved(16.0, 0.06 + step).duration - solved(16.0, 0.06 - step).duration) / (2.0 * step)
    assert plan.multipliers["reaction.joint2.force"] == pytest.approx(force, rel=1e-3)
    assert plan.multipliers["clearance.link2.sphere"] == pytest.approx(radius, rel=1e-3)
    assert force < 0.0 < radius
    assert {name.split(".")[0] for name in plan.multipliers} == {"effort", "reaction", "clearance"}


@pytest.mark.slow
def test_free_knots_save_time():
    """Spans that find their lengths come nearer to the optimum, by all solvers that have multipliers."""
    even = rr(10).duration
    for solver in ("uno", "scipy"):
        plan = rr(10, solver, knots="free")
        assert plan.converged
        assert OPTIMUM < plan.duration < even - 3e-3
        assert plan.largest_violation.violation <= 1e-3
        breaks = np.array(plan.curve.basis.breaks)
        assert (np.diff(breaks) > 0.0).all()
        assert np.ptp(np.diff(breaks)) > 0.01
    with pytest.raises(lw.UnknownNameError, match="'free'"):
        rr(10, knots="odd")
