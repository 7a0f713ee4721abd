"""Solvers behind one door: a `Program` in, an `Answer` out.

One solve runs at a time in a process, whatever threads ask for: solvers keep state of their own. Use processes for
several. The BLAS has one thread meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from linkwise.errors import InputError, UnknownNameError
from linkwise.locks import ForkSafeLock
from linkwise.planning.curve import Array
from linkwise.planning.program import Program
from linkwise.planning.solvers.blas import loading, one_thread
from linkwise.planning.solvers.monitor import Answer as Answer
from linkwise.planning.solvers.monitor import Monitor as Monitor
from linkwise.planning.solvers.monitor import Stop as Stop

# each solver, the best first: its module, and the package that it needs with the extra that brings it
SOLVERS = {"uno": ("uno", "unopy", "uno"), "ipopt": ("ipopt", "casadi", "ipopt"), "scipy": ("interior", "scipy", "")}

# iterations in which a solver that has to find out which rows are at their bounds has done so, or will crawl
CRAWLS = {"uno": 15}
TRIES = 3  # from the best motion so far, where a solver fails although there is one
MOST = 1_000_000_000  # iterations: more than anyone waits for, and within the integers of every solver

NEARLY = 15, 1e-7  # iterations and changes of the objective where a solver that gives up has settled
SETTLED = "the objective has settled"

_lock = ForkSafeLock()


def find(name: Any) -> Callable[..., Answer]:
    """The function of a solver, if its package is installed."""
    if name not in SOLVERS:
        raise UnknownNameError("solver", name, SOLVERS)
    module, package, extra = SOLVERS[name]
    try:
        with loading():
            import_module(package)
    except ImportError as error:
        raise InputError(
            f"solver {name!r}: expected the package {package!r} to be installed, got none."
            f" Install it with: pip install \"linkwise[{extra}]\", or use solver='scipy'."
        ) from error
    return import_module(f"linkwise.planning.solvers.{module}").solve


def chosen(name: str | None) -> tuple[str, ...]:
    """The solver that was asked for, or without any all that are installed, the best first."""
    if name is None:
        return tuple(known for known, (_, package, _) in SOLVERS.items() if find_spec(package))
    find(name)
    return (name,)


def _run(
    run: Callable[..., Answer],
    program: Program,
    x: Array,
    monitor: Monitor,
    tolerance: float,
    iterations: int,
    warm: Array | None,
) -> Answer:
    """What a solver answers; one that gives up where the objective has settled has converged as far as can be."""
    try:
        answer = run(program, x, monitor, tolerance=tolerance, iterations=iterations, warm=warm)
    except Stop:
        if monitor.reason or not monitor.settled():
            raise
        return Answer(np.asarray(monitor.last), "converged", monitor.iterations, SETTLED)
    if answer.status == "gave up" and monitor.last is not None and monitor.settled(*NEARLY):
        return replace(answer, x=monitor.last, status="converged", message=SETTLED)
    return answer


def solve(
    name: str,
    program: Program,
    x: Array,
    monitor: Monitor,
    *,
    tolerance: float,
    iterations: int,
    warm: Array | None = None,
) -> Answer:
    """Solve a program from `x`; stopped early, it answers with the best that was feasible.

    Args:
        name: of the solver.
        program: what to solve.
        x: where to start.
        monitor: who watches, shows progress, and stops.
        tolerance: of optimality and of rows.
        iterations: at most so many.
        warm: multipliers of rows from a neighbouring problem.
    """
    run = find(name)
    if not program.n:  # ends and duration say all
        kept = program.infeasibility(x) <= max(tolerance, 1e-8)
        return Answer(x, "converged" if kept else "gave up", 0, "nothing is free", np.zeros(program.m))
    answer: Answer | None = None
    with _lock, one_thread(), monitor.listening():
        monitor.watch(program)
        try:
            program.prepare(second=True)
            for _ in range(TRIES):
                answer = _run(run, program, x, monitor, tolerance, min(iterations, MOST), warm)
                if answer.status != "infeasible" or monitor.best is None:
                    break
                x, warm = monitor.best, None  # it went astray: there are motions that keep all limits
        except (Stop, KeyboardInterrupt) as stop:
            monitor.reason = monitor.reason or (str(stop) if isinstance(stop, Stop) else "interrupted")
            answer = None
    if monitor.reason or answer is None:
        best = monitor.best if monitor.best is not None else monitor.last if monitor.last is not None else x
        return Answer(best, monitor.reason or "gave up", monitor.iterations, "")
    if answer.status == "infeasible" and monitor.best is not None:
        return Answer(monitor.best, "gave up", answer.iterations, answer.message)
    return answer
