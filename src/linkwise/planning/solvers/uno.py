"""Uno with its preset filtersqp: robust from bad starts, and truly warm from good ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.program import Program
from linkwise.planning.solvers.monitor import Answer, Monitor, Stop

FINE = ("FEASIBLE_KKT", "FEASIBLE_SMALL_STEP")  # the second where round-off leaves no better step


def solve(
    program: Program, x: Array, monitor: Monitor, *, tolerance: float, iterations: int, warm: Array | None = None
) -> Answer:
    """Solve by Uno, with our second derivatives."""
    import unopy

    p, raised = program, []

    def into(function: Callable[..., Any]) -> Callable[..., None]:
        """A function of arrays as Uno calls it; what it raises waits until Uno is done, which could not bear it."""

        def call(*inputs: Any) -> None:
            *given, out = inputs
            try:
                monitor.listen()
                out[:] = function(*(np.array(x) if np.ndim(x) else x for x in given))
            except Stop:
                out[:] = np.zeros(len(out))  # a stationary point, as far as Uno can see
            except BaseException as error:
                raised.append(error)
                out[:] = np.zeros(len(out))

        return call

    gradient, rows, slopes, curvature = (into(f) for f in (monitor.gradient, p.g, p.jacobian, p.hessian))

    model = unopy.Model(unopy.PROBLEM_NONLINEAR, p.n, p.lower.tolist(), p.upper.tolist(), unopy.ZERO_BASED_INDEXING)
    model.set_objective(unopy.MINIMIZE, lambda at: p.f(np.array(at)), gradient)
    if p.m:
        model.set_constraints(
            p.m, rows, p.row_lower.tolist(), p.row_upper.tolist(), len(p.jac_rows), p.jac_rows.tolist(),
            p.jac_columns.tolist(), slopes,
        )  # fmt: skip
    model.set_lagrangian_sign_convention(unopy.MULTIPLIER_POSITIVE)
    model.set_lagrangian_hessian(
        len(p.hess_rows), unopy.LOWER_TRIANGLE, p.hess_rows.tolist(), p.hess_columns.tolist(), curvature
    )
    model.set_initial_primal_iterate(np.clip(x, p.lower, p.upper).tolist())
    if warm is not None and len(warm) == p.m:
        model.set_initial_dual_iterate(warm.tolist())
    solver = unopy.UnoSolver()
    solver.set_preset("filtersqp")
    options = {"logger": "SILENT", "primal_tolerance": tolerance, "dual_tolerance": tolerance}
    for key, value in {**options, "max_iterations": iterations}.items():
        solver.set_option(key, value)
    if monitor.left is not None:
        solver.set_option("time_limit", monitor.left)
    found = solver.optimize(model)
    if raised:
        raise raised[0]
    if monitor.settled() and not monitor.reason:
        raise Stop("settled")
    words = f"{_last(found.solution_status)}, {_last(found.optimization_status)}"
    if words.endswith("USER_INTERRUPTION"):  # Uno hears Ctrl-C itself
        monitor.reason = "interrupted"
    if monitor.reason or monitor.out_of_time:
        raise Stop(monitor.reason or "out of time")
    at = np.clip(np.array(found.primal_solution), p.lower, p.upper)
    status = "infeasible" if "INFEASIBLE" in words else "converged" if words.startswith(FINE) else "gave up"
    duals = np.array(found.constraint_dual_solution) if p.m else np.zeros(0)
    return Answer(at, status, int(found.number_iterations), words, duals)


def _last(word: Any) -> str:
    return str(word).rsplit(".", maxsplit=1)[-1]
