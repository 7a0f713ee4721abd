"""The walking problem: its rows, its regions for the zero-moment point, and its derivatives by control points."""

import numpy as np
import pytest

from linkwise.errors import LinkwiseError
from linkwise.walking import KINDS, Bounds, Person
from linkwise.walking.problem import Problem

BASE = {"contact": 135, "slip": 135, "ground": 65, "zmp": 90, "vertical": 21, "torque": 672,
        "arm_leg": 42, "self": 42, "symmetry": 76, "knee": 1}  # fmt: skip


def test_rows_of_the_base_case():
    problem = Problem(Person())
    assert problem.counted == BASE
    assert tuple(BASE) == KINDS
    program = problem.to_solve()
    assert (program.n, program.m) == (228, 1279)
    smooth = Problem(Person(), control_points=8, smooth=True).to_solve()
    assert (smooth.n, smooth.m) == (304, 1317)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_left_out(kind):
    problem = Problem(Person(), without=(kind,))
    assert problem.counted == {**BASE, kind: 0}


def test_regions_of_the_zero_moment_point():
    """They hold their corners, and their facets are unit vectors."""
    problem = Problem(Person())
    for m in map(problem.timetable.at, problem.timetable.even(201).tolist()):
        inside = m.corners @ m.facets[:, :2].T + m.facets[:, 2]
        assert inside.max() < 1e-9
        assert np.allclose(np.hypot(*m.facets[:, :2].T), 1.0)


@pytest.mark.parametrize("effort", [False, True])
def test_derivatives_by_control_points(effort):
    problem = Problem(Person(65.0, 1.7, "female").with_backpack(8.0), control_points=8, smooth=True)
    p = problem.to_solve(effort)
    rng = np.random.default_rng(1)
    x = problem.reference.ravel() + rng.normal(size=p.n) * 0.05
    J = np.zeros((p.m, p.n))
    np.add.at(J, (p.jac_rows, p.jac_columns), p.jacobian(x))
    for _ in range(3):
        d, h = rng.normal(size=p.n), 1e-5
        ends = [p.g(x + k * h * d) for k in (-2, -1, 1, 2)]
        exact = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
        assert (np.abs(J @ d - exact) / (1.0 + np.abs(exact))).max() < 1e-6
        values = [p.f(x + k * h * d) for k in (-2, -1, 1, 2)]
        slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
        assert p.gradient(x) @ d == pytest.approx(slope, rel=1e-7, abs=1e-9)


def test_second_derivatives_are_those_of_gauss_and_newton():
    problem = Problem(Person())
    p = problem.to_solve()
    rng = np.random.default_rng(2)
    x = problem.reference.ravel() + rng.normal(size=p.n) * 0.02
    H = np.zeros((p.n, p.n))
    H[p.hess_rows, p.hess_columns] = p.hessian(x, 2.0, np.zeros(p.m))
    H = H + np.tril(H, -1).T
    assert np.linalg.eigvalsh(H)[0] > 0.0
    torque = [k for k, row in enumerate(p.names) if row.label == "torque"]
    J = np.zeros((p.m, p.n))
    np.add.at(J, (p.jac_rows, p.jac_columns), p.jacobian(x))
    rule = np.full(21, 0.5 / 20)
    rule[[0, -1]] *= 0.5
    G = J[torque] * np.sqrt(2.0 * np.repeat(rule, 32))[:, None]
    (anchor,) = problem.objective.pulls
    expected = 2.0 * (G.T @ G + np.diag(anchor.weights)) + 0.01 * np.eye(p.n)
    np.testing.assert_allclose(H, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"without": ("zpm",)}, "'zmp'"),
        ({"double": 0.7}, "double < heel_off"),
        ({"control_points": 5}, "of at least 6"),
    ],
)
def test_wrong_problems_are_refused(wrong, words):
    with pytest.raises(LinkwiseError, match=words):
        Problem(Person(), **wrong)


def test_a_clearance_is_asked_of_the_swinging_foot_alone():
    problem = Problem(Person(), bounds=Bounds(clearance=0.01))
    program = problem.to_solve()
    rows = zip(program.names, program.row_lower, strict=True)
    ground = [(row.name, low) for row, low in rows if row.label == "ground"]
    assert {name for name, low in ground if low > 0.0} == {"heel_l.y", "ball_l.y", "tip_l.y"}
    assert max(low for _, low in ground) == 0.01
