"""Large batches split over cores: rows are independent, and native loops release the interpreter's lock."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.backend.arrays import targets
from linkwise.graph.program import Program
from linkwise.locks import ForkSafeLock

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

SMALLEST = 256  # rows of a thread at least, where the user has said how many there are to be
SHARE = 4_000_000  # operations of a thread at least, where they are as many as pay: many times what its waking costs
TURNS = 4  # of Newton's method, about
PIECES = 4  # for each thread, of rows enough for all lanes; more of them wait for the interpreter's lock
LANES = 64
PLAIN = (np.ndarray, np.memmap, type(None))  # arrays that a ufunc takes as they are

_pools: dict[int, ThreadPoolExecutor] = {}
_lock = ForkSafeLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not live on in a child


def most_rows(program: Program, threads: int | str) -> int:
    """Rows of the longest batch that is not split; of a repeated program, rows times steps."""
    if threads != "auto":
        return 2 * SMALLEST - 1
    once, turn = program.lengths
    return 2 * (SHARE // max(1, once + TURNS * turn) + 1) - 1


def split(program: Program, function: Callable[..., Any], threads: int | str) -> Callable[..., Any]:
    """The function with large batches cut along their longest axis, and the pieces shared among threads.

    Whoever is free takes the next piece, the caller among them: a core that is busy with something else takes fewer.
    """
    least = (most_rows(program, threads) + 1) // 2

    def call(*inputs: Any, out: Any = None) -> Any:
        if any(_special(x) for x in (*inputs, *(out if isinstance(out, tuple) else (out,)))):
            return function(*inputs) if out is None else function(*inputs, out=out)
        arrays = [np.asarray(x) for x in inputs]
        ranks = [p.rank for p in program.arguments]
        if any(a.ndim < r for a, r in zip(arrays, ranks, strict=True)):
            return function(*arrays, out=out)
        batch = np.broadcast_shapes(*(a.shape[: a.ndim - r] for a, r in zip(arrays, ranks, strict=True)))
        steps = next((a.shape[a.ndim - p.rank] for a, p in zip(arrays, program.arguments, strict=True) if p.steps), 0)
        axis = int(np.argmax(batch)) if batch else 0
        size = math.prod(batch) * (steps if threads == "auto" and program.repeated else 1)
        workers = min(size // least, max(batch, default=1))
        if workers > 1:
            workers = min(workers, cores() if threads == "auto" else int(threads))
        if workers < 2:
            return function(*arrays) if out is None else function(*arrays, out=out)
        whole = [np.broadcast_to(a, (*batch, *a.shape[a.ndim - r :])) for a, r in zip(arrays, ranks, strict=True)]
        results = targets(program, batch, out, steps)
        if out is not None:  # one piece must not write what another still reads
            whole = [a.copy() if any(np.may_share_memory(a, r) for r in results) else a for a in whole]
        width = -(-batch[axis] // (workers * PIECES))
        width = -(-width // LANES) * LANES if width > LANES else -(-batch[axis] // workers)
        pieces = iter(range(0, batch[axis], width))

        def work() -> None:
            for start in pieces:
                rows = (*[slice(None)] * axis, slice(start, start + width))
                function(*(a[rows] for a in whole), out=tuple(r[rows] for r in results))

        jobs = []
        for _ in range(workers - 1):
            try:
                jobs.append(_pool(workers - 1).submit(work))
            except RuntimeError:  # no thread is to be had
                break
        try:
            work()
        finally:
            _ = [*pieces]  # after an interrupt, nothing more begins
            errors = [job.exception() for job in jobs if not job.cancel()]  # those that have not begun need not
        for error in errors:
            if error is not None:
                raise error
        found = results[0] if len(results) == 1 else tuple(results)
        for known in (whole, results):  # to a job that nobody waits for
            known.clear()
        return found

    return call


def cores() -> int:
    """How many cores this process may use that nothing else uses at the moment, where the system says so."""
    try:
        allowed = len(os.sched_getaffinity(0))
        with open("/proc/loadavg", "rb", buffering=0) as file:
            running = int(file.read().split()[3].split(b"/")[0])  # this thread among them
    except (AttributeError, OSError, ValueError, IndexError):
        return os.cpu_count() or 1
    return max(1, min(allowed, (os.cpu_count() or 1) + 1 - running))


def _special(x: Any) -> bool:
    """Whether an array has its own way with ufuncs, as one with masks or units has, which pieces of it would lose."""
    return type(x) not in PLAIN and hasattr(x, "__array_ufunc__") and not isinstance(x, np.generic)


def _pool(threads: int) -> ThreadPoolExecutor:
    with _lock:
        if threads not in _pools:
            from concurrent.futures import ThreadPoolExecutor  # for large batches alone

            _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="linkwise")
        return _pools[threads]
