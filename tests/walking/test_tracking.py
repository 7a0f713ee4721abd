"""Walks that follow curves."""

from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import LinkwiseError
from linkwise.planning.term_and_constraint import Sum
from linkwise.walking.problem import Problem


def test_the_term_is_the_mean_of_squares_over_widths():
    percent = np.linspace(0.0, 100.0, 201)
    curve = 0.3 + 0.2 * np.sin(2 * np.pi * percent / 100.0)
    term = lw.walking.tracking({"knee_r": curve, "ank_flex_l": -curve}, width={"knee_r": 0.1})
    problem = Problem(lw.walking.Person(), minimize=Sum.of(2.0 * term), posture=0.0)
    program = problem.to_solve()
    x = problem.reference.ravel() + np.random.default_rng(0).normal(size=program.n) * 0.05
    q = problem.held[0].motion(x.reshape(problem.basis.count, -1), problem.duration)[:, 0]
    names = problem.robot.names
    s = problem.grid
    wanted = 0.3 + 0.2 * np.sin(np.pi * s)  # a step is half of the stride
    off = ((q[:, names.index("knee_r")] - wanted) / 0.1) ** 2
    off = off + ((q[:, names.index("ank_flex_l")] + wanted) / np.deg2rad(5.0)) ** 2
    assert program.f(x) == pytest.approx(2.0 * problem.duration * float(problem.quadrature[1] @ off) / 2, rel=1e-4)


def test_a_stride_has_all_of_the_curve():
    person = lw.walking.Person(limits={"ankle_l": 90.0})
    curve = np.linspace(0.0, 1.0, 11)
    problem = Problem(person, steps=2, minimize=Sum.of(lw.walking.tracking({"knee_r": curve}, width=1.0)), posture=0.0)
    x = np.zeros(problem.basis.count * problem.robot.nv)
    assert problem.to_solve().f(x) == pytest.approx(problem.duration / 3.0, rel=1e-3)


@pytest.mark.parametrize(
    ("curves", "width", "words"),
    [
        ([1.0, 2.0], 0.1, "by coordinate"),
        ({}, 0.1, "by coordinate"),
        ({"knee_r": [20.0, 40.0, 60.0]}, 0.1, "radians"),
        ({"knee_r": [0.1, np.nan, 0.3]}, 0.1, "finite"),
        ({"knee_r": "curve"}, 0.1, "angles over a stride"),
        ({"knee_r": [0.1, 0.2, 0.3]}, 0.0, "above 0"),
        ({"knee_r": [0.1, 0.2, 0.3]}, {"knee_l": 1.0}, "knee_l"),
    ],
)
def test_wrong_curves_are_refused(curves, width, words):
    with pytest.raises(LinkwiseError, match=words):
        lw.walking.tracking(curves, width)


def test_nothing_says_that_tracking_measures_forces():
    """Angles are followed, ground reactions are not: torques are tens of N m off."""
    root = Path(__file__).parents[2]
    folders = (root / "docs", root / "src", root / "examples", root / "papers")
    files = [root / "README.md", *(f for x in folders for k in ("*.md", "*.py", "*.html") for f in x.rglob(k))]
    assert len(files) > 100
    wrong = [str(f) for f in files if "whose angles are known" in " ".join(f.read_text(encoding="utf-8").split())]
    assert wrong == []


def test_unknown_joints_are_answered():
    term = lw.walking.tracking({"nee_r": [0.1, 0.2, 0.3]})
    with pytest.raises(LinkwiseError, match="knee_r"):
        lw.walking.walk(minimize=term, solver="scipy", iterations=1, progress=False)


@pytest.mark.slow
def test_a_walk_like_peoples():
    """A little of it brings the angles into the published bands, for a few per cent of effort."""
    plain = lw.walking.walk(solver="ipopt", smooth=True, progress=False)
    objective = lw.walking.effort() + 0.02 * lw.walking.tracking()
    like = lw.walking.walk(solver="ipopt", smooth=True, minimize=objective, progress=False)
    assert plain.converged
    assert like.converged
    assert plain.effort < like.effort < 1.1 * plain.effort
    for name in ("hip_angle", "knee_angle", "ankle_angle"):
        assert like.compared()[name].inside > max(0.65, plain.compared()[name].inside)
