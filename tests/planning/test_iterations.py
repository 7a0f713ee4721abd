"""Numbers of iterations beyond what solvers count with."""

import pytest

import linkwise as lw


@pytest.mark.parametrize("solver", ["scipy", "uno"])
@pytest.mark.parametrize("iterations", [2**31, 10**30])
def test_more_iterations_than_a_solver_can_count(solver, iterations):
    """SciPy stopped at once without a word, or with a SystemError; Uno raised a TypeError."""
    if solver == "uno":
        pytest.importorskip("unopy")
    options = {
        "minimize": lw.cost.time(),
        "subject_to": [lw.limit.joints("effort")],
        "solver": solver,
        "progress": False,
    }
    plan = lw.plan(lw.load("rr"), [0.0, -2.0], [1.0, -1.0], iterations=iterations, **options)
    assert plan.status == "converged"
