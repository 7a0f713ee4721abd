"""Walking with terms and constraints of planning, and with rows that may be broken."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import LinkwiseError
from linkwise.planning.kernels import PointKernel
from linkwise.planning.rows import Rows
from linkwise.planning.samples import Samples
from linkwise.planning.term_and_constraint import Sum
from linkwise.walking.problem import Problem
from linkwise.walking.reactions import JOINTS, LoadKernel

EFFORT = lw.walking.effort()


def near(problem, seed=0, size=0.05):
    """Control points about upright."""
    return problem.reference.ravel() + np.random.default_rng(seed).normal(size=problem.reference.size) * size


def differences(function, x, d, h=1e-5):
    ends = [np.asarray(function(x + k * h * d)) for k in (-2, -1, 1, 2)]
    return (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)


@pytest.mark.parametrize(
    "given",
    [
        {"soft": {"arm_leg": 3.0, "knee": 2.0, "contact": 50.0}},
        {"minimize": EFFORT + 1e-6 * lw.cost.reaction("knee_r")},
        {"minimize": lw.cost.jerk(weights={"knee_l": 1e-4})},
        {"minimize": 1e-4 * lw.cost.power(joints="hip_flex_r") + 0.5 * lw.walking.effort({"knee_r": 2.0})},
        {"minimize": 1e-6 * lw.cost.effort_rate(joints="ank_flex_r")},
        {"constraints": (lw.limit.reaction("ank_flex_r", force=900, mz=50), lw.limit.joints(velocity=8.0))},
        {"constraints": (lw.limit.via(0.3, position=(0.1, 0.6, 0.3), frame="hand_r"),)},
    ],
    ids=lambda given: next(iter(given)),
)
def test_derivatives(given):
    if "minimize" in given:
        given = {"minimize": Sum.of(given["minimize"])}
    problem = Problem(lw.walking.Person(), **given)
    p, rng = problem.to_solve(), np.random.default_rng(1)
    x = near(problem)
    J = np.zeros((p.m, p.n))
    np.add.at(J, (p.jac_rows, p.jac_columns), p.jacobian(x))
    for _ in range(2):
        d = rng.normal(size=p.n)
        slope = differences(p.f, x, d)
        assert p.gradient(x) @ d == pytest.approx(float(slope), rel=1e-6, abs=1e-8 * abs(p.f(x)))
        exact = differences(p.g, x, d)
        assert (np.abs(J @ d - exact) / (1.0 + np.abs(exact))).max() < 1e-6


def sampled(problem, names, function, s):
    kernel = PointKernel(problem.robot, [Rows("x", tuple(names), function)], problem.surroundings)
    return Samples(kernel, problem.basis, s)


def test_points_have_the_forces_of_strides():
    """Torques and reactions of terms are those that walks are looked at for."""
    problem = Problem(lw.walking.Person(60.0, 1.7, "female"), control_points=8)
    x = near(problem)
    P, T = x.reshape(problem.basis.count, -1), problem.duration
    loads = LoadKernel(problem.robot)(problem.held[0].motion(P, T), problem.timetable.supports(problem.grid))
    torques = sampled(problem, problem.robot.names, lambda p: p.tau, problem.grid)
    np.testing.assert_allclose(torques.values(P, T), loads.tau, atol=1e-9 * np.abs(loads.tau).max())
    names = list(JOINTS.values())
    sixes = sampled(problem, range(36), lambda p: [c for n in names for c in p.wrench(n)], problem.grid)
    expected = loads.joints.reshape(len(problem.grid), 36)
    np.testing.assert_allclose(sixes.values(P, T), expected, atol=1e-9 * np.abs(expected).max())


def test_torque_rates_within_a_phase():
    """Jets through the ground's shares give the rate of torques, both feet on the ground and one."""
    problem = Problem(lw.walking.Person(), control_points=8)
    P, T, h = near(problem).reshape(problem.basis.count, -1), problem.duration, 1e-5
    names = problem.robot.names
    places = [s + k * h for s in (0.1, 0.45, 0.87) for k in (-1, 0, 1)]
    found = sampled(problem, (*names, *names), lambda p: [*p.tau, *p.tau_dot], places).values(P, T)
    before, here, after = (found[k::3] for k in range(3))
    n = len(names)
    expected = (after - before)[:, :n] / (2 * h * T)
    np.testing.assert_allclose(here[:, n:], expected, atol=1e-6 * np.abs(expected).max())


def test_second_derivatives_by_directions():
    """Of a term that is no square, whose program has too many variables for a whole matrix."""
    problem = Problem(lw.walking.Person(), minimize=Sum.of(1e-3 * lw.cost.energy(width=20.0)), posture=0.0)
    p, rng = problem.to_solve(), np.random.default_rng(3)
    x, d = near(problem, size=0.01), rng.normal(size=p.n)
    H = np.zeros((p.n, p.n))
    H[p.hess_rows, p.hess_columns] = p.hessian(x, 1.0, np.zeros(p.m))
    H = H + np.tril(H, -1).T - 0.01 * np.eye(p.n)
    exact = differences(p.gradient, x, d)
    np.testing.assert_allclose(H @ d, exact, atol=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"minimize": lw.cost.time()}, "speed and step decide"),
        ({"minimize": 3}, "expected terms"),
        ({"minimize": lw.walking.effort({"nee_r": 1.0})}, "knee_r"),
        ({"subject_to": lw.limit.reaction("tail", force=1.0)}, "tail"),
        ({"subject_to": "limits"}, "expected constraints"),
        ({"soft": {"zpm": 1.0}}, "'zmp'"),
        ({"soft": {"zmp": -1.0}}, "above 0"),
        ({"soft": "zmp"}, "expected weights by kind"),
    ],
)
def test_wrong_words_are_refused(wrong, words):
    with pytest.raises(LinkwiseError, match=words):
        lw.walking.walk(solver="scipy", time_limit=0.01, progress=False, **wrong)


@pytest.mark.slow
def test_a_knee_can_be_spared():
    """A bound of its reaction holds, and makes walking harder."""
    plain = lw.walking.walk(solver="ipopt", progress=False)
    spared = lw.walking.walk(solver="ipopt", subject_to=lw.limit.reaction("knee_r", force=720.0), progress=False)
    assert plain.converged
    assert spared.converged
    assert spared.effort > plain.effort
    force = [np.linalg.norm(w.stride(21).joint_force("knee_r")[:21], axis=1).max() * 73 * 9.81 for w in (plain, spared)]
    assert force[0] > 750.0
    assert force[1] < 720.1


@pytest.mark.slow
def test_rows_that_may_be_broken():
    """A heavy weight keeps them nearly, a light one does not."""
    bent = {}
    for weight in (1e-4, 1e3):
        walk = lw.walking.walk(solver="ipopt", soft={"knee": weight}, knee=(1.1, 1.2), progress=False)
        assert walk.converged
        bent[weight] = walk.curve(0.6 * walk.problem.duration)[walk.problem.robot.names.index("knee_l")]
    assert bent[1e3] > 1.095
    assert bent[1e-4] < 1.05
