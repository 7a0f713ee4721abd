"""SciPy's SLSQP: sequential quadratic programs, dense, with no other dependency."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.program import Program
from linkwise.planning.solvers.monitor import Answer, Monitor

# it stops where the objective falls by less than a tolerance, which on flat objectives is long before the end; so that
# is made finer, and round-off may then keep it from stopping at all
FINER = 1e-4
SETTLED = 15  # iterations without change
KEPT = 1e-6  # violation of rows


def solve(
    program: Program, x: Array, monitor: Monitor, *, tolerance: float, iterations: int, warm: Array | None = None
) -> Answer:
    """Solve by SLSQP; it takes no multipliers to start from."""
    from scipy.optimize import Bounds, minimize

    p = program
    equal = np.flatnonzero(p.row_upper - p.row_lower <= 1e-12)
    free = p.row_upper - p.row_lower > 1e-12
    low, high = np.flatnonzero(free & np.isfinite(p.row_lower)), np.flatnonzero(free & np.isfinite(p.row_upper))

    def jacobian(at: Array) -> Array:
        J = np.zeros((p.m, p.n))
        np.add.at(J, (p.jac_rows, p.jac_columns), p.jacobian(at))
        return J

    def above(at: Array) -> Array:
        g = p.g(at)
        return np.concatenate([g[low] - p.row_lower[low], p.row_upper[high] - g[high]])

    def above_slopes(at: Array) -> Array:
        J = jacobian(at)
        return np.concatenate([J[low], -J[high]])

    rows: list[dict[str, Any]] = []
    if len(equal):
        rows.append({"type": "eq", "fun": lambda at: p.g(at)[equal] - p.row_lower[equal],
                     "jac": lambda at: jacobian(at)[equal]})  # fmt: skip
    if len(low) + len(high):
        rows.append({"type": "ineq", "fun": above, "jac": above_slopes})
    start = np.clip(x, p.lower, p.upper)
    size = max(1.0, float(np.abs(p.gradient(start)).max(initial=0.0)))  # SLSQP begins with a curvature of one
    recent: list[float] = []

    def slope(at: Array) -> Array:
        found = monitor.gradient(at)
        f, error = monitor.history[-1]
        recent.append(f if error <= KEPT else np.nan)
        if len(recent) > SETTLED and np.ptp(recent[-SETTLED:]) <= tolerance * max(1.0, abs(f)):
            raise _SettledError
        return found / size

    try:
        found = minimize(
            lambda at: p.f(at) / size,
            start,
            jac=slope,
            bounds=Bounds(p.lower, p.upper),
            constraints=rows,
            method="SLSQP",
            options={"maxiter": iterations, "ftol": FINER * tolerance},
        )
        at, mode, words = found.x, int(found.status), str(found.message)
    except _SettledError:
        at, mode, words = monitor.last, 0, "The objective has settled"
    at = np.clip(at, p.lower, p.upper)
    kept = p.infeasibility(at) <= KEPT
    # mode 8, no descent along the search direction, is where round-off ends a solution that is as good as it gets
    status = "converged" if mode in (0, 8) and kept else "stopped" if mode == 9 else "infeasible"
    return Answer(at, status, len(recent), words, _multipliers(program, at))


class _SettledError(Exception):
    """Raised where nothing has changed for long."""


def _multipliers(p: Program, x: Array, near: float = 1e-6) -> Array:
    """Multipliers of the rows that hold at x: those that best balance the gradient, with the right signs."""
    from scipy.optimize import nnls

    g, total = p.g(x), np.zeros(p.m)
    upper, lower = np.flatnonzero(p.row_upper - g < near), np.flatnonzero(g - p.row_lower < near)
    J = np.zeros((p.m, p.n))
    np.add.at(J, (p.jac_rows, p.jac_columns), p.jacobian(x))
    high, low = np.flatnonzero(p.upper - x < near), np.flatnonzero(x - p.lower < near)
    unit = np.eye(p.n)
    columns = np.concatenate([J[upper], -J[lower], unit[high], -unit[low]]).T
    if not columns.shape[1]:
        return total
    try:
        weights, _ = nnls(columns, -p.gradient(x), maxiter=20 * columns.shape[1])
    except RuntimeError:  # too many ways to balance it
        return total
    np.add.at(total, upper, weights[: len(upper)])
    np.add.at(total, lower, -weights[len(upper) : len(upper) + len(lower)])
    return total
