"""Ipopt, as CasADi's wheel brings it, through functions that call back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.program import Program
from linkwise.planning.solvers.blas import loading
from linkwise.planning.solvers.monitor import Answer, Monitor, Stop

FAR = 1e20  # Ipopt's infinity
ROOM = 1e-6, 1e-2  # the least and the most that a start with multipliers is moved away from bounds
FINE = ("Solve_Succeeded", "Solved_To_Acceptable_Level")
# rows of instants are dense in a few control points: minimum degree without a matching halves the time of MUMPS
LINEAR = {"mumps_permuting_scaling": 0, "mumps_pivot_order": 0}


def solve(
    program: Program, x: Array, monitor: Monitor, *, tolerance: float, iterations: int, warm: Array | None = None
) -> Answer:
    """Solve by Ipopt, with our second derivatives."""
    import casadi

    p, raised = program, list[BaseException]()
    functions = _functions(p, monitor, raised)
    options: dict[str, Any] = {
        "tol": max(tolerance, 1e-10), "max_iter": iterations, "print_level": 0, "sb": "yes", "mu_strategy": "adaptive",
        **LINEAR,
    }  # fmt: skip
    if monitor.left is not None:
        options["max_wall_time"] = max(monitor.left, 1e-3)
    start: dict[str, Any] = {"x0": x}
    if warm is not None and len(warm) == p.m:
        # as far within bounds as the start is beyond some: with less room an interior point is jammed between them
        room = float(np.clip(p.infeasibility(x), *ROOM))
        options |= {"warm_start_init_point": "yes"}
        if room == ROOM[0]:  # nothing is to be moved: stay by the bounds
            options |= {"mu_strategy": "monotone", "mu_init": 0.1 * room}
        pushes = {"bound_push": room, "slack_bound_push": room, "mult_bound_push": ROOM[0]}
        options |= {f"warm_start_{k}": x for k, x in pushes.items()}
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
    if raised:
        raise raised[0]
    facts = solver.stats()
    at = np.clip(np.array(found["x"]).ravel(), p.lower, p.upper)
    words = str(facts["return_status"])
    if monitor.settled():
        words = FINE[0]
    if monitor.reason or words == "Maximum_WallTime_Exceeded":
        raise Stop(monitor.reason or "out of time")
    status = "converged" if words in FINE else "infeasible" if words.startswith("Infeasible") else "gave up"
    return Answer(at, status, int(facts["iter_count"]), words, np.array(found["lam_g"]).ravel())


def _functions(p: Program, monitor: Monitor, raised: list[BaseException]) -> dict[str, Any]:
    """The functions that CasADi asks for; all are kept by the caller, for CasADi does not."""
    import casadi

    class Call(casadi.Callback):
        """Functions of ours as one of CasADi's: what it gives, each with its pattern, and all with the same inputs."""

        def __init__(self, name: str, inputs: dict[str, Any], **outputs: tuple[Any, Callable[..., Any]]) -> None:
            super().__init__()
            self._in, self._out = list(inputs.items()), list(outputs.items())
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
            return self._out[i][1][0]

        def has_eval_buffer(self) -> bool:
            return True

        def eval_buffer(self, given: Sequence[Any], into: Sequence[Any]) -> int:
            """Write into CasADi's own memory what it asks for; what is raised waits until Ipopt is done."""
            inputs = [None if x is None else np.frombuffer(x) for x in given]
            try:
                for place, (_, (_, run)) in zip(into, self._out, strict=True):
                    if place is not None:
                        np.frombuffer(place)[:] = run(*inputs)
            except BaseException as error:
                raised.append(error)
                return 1
            return 0

    def dense(rows: int) -> Any:
        return casadi.Sparsity.dense(rows, 1)

    def slope(x: Array, _: None) -> Any:
        try:
            return monitor.gradient(x)
        except Stop:
            return 0.0  # a stationary point, as far as Ipopt can see

    jac, jac_order = _sparsity(casadi, p.m, p.n, p.jac_rows, p.jac_columns)
    hess, hess_order = _sparsity(casadi, p.n, p.n, p.hess_columns, p.hess_rows)  # CasADi keeps the upper triangle
    f, g = (dense(1), lambda x, _: p.f(x)), (dense(p.m), lambda x, _: p.g(x))
    slopes = jac, lambda x, _: p.jacobian(x)[jac_order]
    curvature = hess, lambda x, _, sigma, weights: p.hessian(x, float(sigma[0]), weights)[hess_order]
    point = {"x": dense(p.n), "p": dense(0)}
    sizes = {"x": p.n, "f": 1, "g": p.m, "lam_x": p.n, "lam_g": p.m, "lam_p": 0}
    watched = {name: dense(sizes[name]) for name in casadi.nlpsol_out()}
    return {
        "nlp": Call("nlp", point, f=f, g=g),
        "grad_f": Call("grad_f", point, f=f, grad_f_x=(dense(p.n), slope)),
        "jac_g": Call("jac_g", point, g=g, jac_g_x=slopes),
        "hess_lag": Call("hess_lag", point | {"lam_f": dense(1), "lam_g": dense(p.m)}, triu_hess_gamma_x_x=curvature),
        "watch": Call("watch", watched, stop=(dense(1), lambda *_: bool(raised) or monitor.ends)),
    }


def _sparsity(casadi: Any, rows: int, columns: int, r: Any, c: Any) -> tuple[Any, Any]:
    """CasADi's pattern, and the order of its values among ours."""
    order = np.lexsort((r, c))
    return casadi.Sparsity.triplet(rows, columns, r.tolist(), c.tolist()), order
