"""Ipopt, as CasADi's wheel brings it, through functions that call back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.program import Program
from linkwise.planning.solvers.blas import loading
from linkwise.planning.solvers.monitor import Answer, Monitor, Stop

FAR = 1e20  # Ipopt's infinity
ROUGH = 1e-3  # beyond a bound: from further away the multipliers of a neighbouring problem lead nowhere
FINE = ("Solve_Succeeded", "Solved_To_Acceptable_Level")
# rows of instants are dense in a few control points: minimum degree without a matching halves the time of MUMPS
LINEAR = {"mumps_permuting_scaling": 0, "mumps_pivot_order": 0}


def solve(
    program: Program, x: Array, monitor: Monitor, *, tolerance: float, iterations: int, warm: Array | None = None
) -> Answer:
    """Solve by Ipopt, with our second derivatives."""
    import casadi

    p, functions = program, _functions(program, monitor)
    options: dict[str, Any] = {
        "tol": max(tolerance, 1e-10), "max_iter": iterations, "print_level": 0, "sb": "yes", "mu_strategy": "adaptive",
        **LINEAR,
    }  # fmt: skip
    if monitor.left is not None:
        options["max_wall_time"] = max(monitor.left, 1e-3)
    start: dict[str, Any] = {"x0": x}
    if warm is not None and len(warm) == p.m and p.infeasibility(x) <= ROUGH:
        options |= {"warm_start_init_point": "yes", "mu_init": 1e-7, "mu_strategy": "monotone"}
        options |= {f"warm_start_{k}": 1e-6 for k in ("bound_push", "mult_bound_push", "slack_bound_push")}
        start["lam_g0"] = warm
    settings = {
        "grad_f": functions["grad_f"], "jac_g": functions["jac_g"], "hess_lag": functions["hess_lag"],
        "iteration_callback": functions["watch"], "no_nlp_grad": True, "print_time": False, "ipopt": options,
        "show_eval_warnings": False,
    }  # fmt: skip
    with loading():
        solver = casadi.nlpsol("plan", "ipopt", functions["nlp"], settings)
    bounds = {"lbx": p.lower, "ubx": p.upper, "lbg": p.row_lower, "ubg": p.row_upper}
    found = solver(**start, **{k: np.clip(v, -FAR, FAR) for k, v in bounds.items()})
    facts = solver.stats()
    at = np.clip(np.array(found["x"]).ravel(), p.lower, p.upper)
    words = str(facts["return_status"])
    if monitor.settled():
        words = FINE[0]
    if monitor.reason or words == "Maximum_WallTime_Exceeded":
        raise Stop(monitor.reason or "out of time")
    status = "converged" if words in FINE else "infeasible" if words.startswith("Infeasible") else "gave up"
    return Answer(at, status, int(facts["iter_count"]), words, np.array(found["lam_g"]).ravel())


def _functions(p: Program, monitor: Monitor) -> dict[str, Any]:
    """The functions that CasADi asks for; all are kept by the caller, for CasADi does not."""
    import casadi

    class Call(casadi.Callback):
        """A function of ours as one of CasADi's."""

        def __init__(self, name: str, inputs: dict[str, Any], outputs: dict[str, Any], run: Callable[..., Any]) -> None:
            super().__init__()
            self._in, self._out, self._run = list(inputs.items()), list(outputs.items()), run
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(self._in)

        def get_n_out(self) -> int:
            return len(self._out)

        def get_name_in(self, i: int) -> str:
            return self._in[i][0]

        def get_name_out(self, i: int) -> str:
            return self._out[i][0]

        def get_sparsity_in(self, i: int) -> Any:
            return self._in[i][1]

        def get_sparsity_out(self, i: int) -> Any:
            return self._out[i][1]

        def eval(self, given: Sequence[Any]) -> list[Any]:
            return self._run(*given)

    def dense(rows: int) -> Any:
        return casadi.Sparsity.dense(rows, 1)

    def flat(x: Any) -> Array:
        return np.array(x, dtype=float).ravel()

    jac, jac_order = _sparsity(casadi, p.m, p.n, p.jac_rows, p.jac_columns)
    hess, hess_order = _sparsity(casadi, p.n, p.n, p.hess_columns, p.hess_rows)  # CasADi keeps the upper triangle
    zeros = np.zeros(p.n)

    def values(x: Any, _: Any) -> list[Any]:
        at = flat(x)
        return [p.f(at), casadi.DM(p.g(at))]

    def slope(x: Any, _: Any) -> list[Any]:
        at = flat(x)
        try:
            found = monitor.gradient(at)
        except Stop:
            found = zeros
        return [p.f(at), casadi.DM(found)]

    def slopes(x: Any, _: Any) -> list[Any]:
        at = flat(x)
        return [casadi.DM(p.g(at)), casadi.DM(jac, np.ascontiguousarray(p.jacobian(at)[jac_order]))]

    def curvature(x: Any, _: Any, sigma: Any, weights: Any) -> list[Any]:
        found = p.hessian(flat(x), float(sigma), flat(weights))
        return [casadi.DM(hess, np.ascontiguousarray(found[hess_order]))]

    point, none = {"x": dense(p.n), "p": casadi.Sparsity(0, 0)}, casadi.Sparsity(0, 0)
    names = casadi.nlpsol_out()
    sizes = {"x": p.n, "f": 1, "g": p.m, "lam_x": p.n, "lam_g": p.m, "lam_p": 0}
    watched = {name: dense(sizes[name]) if sizes[name] else none for name in names}
    with contextlib.suppress(KeyError):
        watched["lam_p"] = none
    return {
        "nlp": Call("nlp", point, {"f": dense(1), "g": dense(p.m)}, values),
        "grad_f": Call("grad_f", point, {"f": dense(1), "grad_f_x": dense(p.n)}, slope),
        "jac_g": Call("jac_g", point, {"g": dense(p.m), "jac_g_x": jac}, slopes),
        "hess_lag": Call("hess_lag", {**point, "lam_f": dense(1), "lam_g": dense(p.m)},
                         {"triu_hess_gamma_x_x": hess}, curvature),
        "watch": Call("watch", watched, {"stop": dense(1)}, lambda *_: [int(monitor.ends)]),
    }  # fmt: skip


def _sparsity(casadi: Any, rows: int, columns: int, r: Any, c: Any) -> tuple[Any, Any]:
    """CasADi's pattern, and the order of its values among ours."""
    order = np.lexsort((r, c))
    return casadi.Sparsity.triplet(rows, columns, r.tolist(), c.tolist()), order
