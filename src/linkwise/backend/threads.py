"""Large batches split over cores: rows are independent, and native loops release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.backend.arrays import targets
from linkwise.graph.program import Program
from linkwise.locks import ForkSafeLock

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

SMALLEST = 256  # rows below which a second thread costs more than it saves
PLAIN = (np.ndarray, np.memmap, type(None))  # arrays that a ufunc takes as they are

_pools: dict[int, ThreadPoolExecutor] = {}
_lock = ForkSafeLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # threads do not live on in a child


def split(program: Program, function: Callable[..., Any], threads: int) -> Callable[..., Any]:
    """The function with its batches cut into `threads` pieces along the longest batch axis."""

    def call(*inputs: Any, out: Any = None) -> Any:
        if any(_special(x) for x in (*inputs, *(out if isinstance(out, tuple) else (out,)))):
            return function(*inputs) if out is None else function(*inputs, out=out)
        arrays = [np.asarray(x) for x in inputs]
        ranks = [p.rank for p in program.arguments]
        if any(a.ndim < r for a, r in zip(arrays, ranks, strict=True)):
            return function(*arrays, out=out)
        batch = np.broadcast_shapes(*(a.shape[: a.ndim - r] for a, r in zip(arrays, ranks, strict=True)))
        pieces = min(threads, int(np.prod(batch)) // SMALLEST)
        if pieces < 2:
            return function(*arrays) if out is None else function(*arrays, out=out)
        axis = int(np.argmax(batch))
        whole = [np.broadcast_to(a, (*batch, *a.shape[a.ndim - r :])) for a, r in zip(arrays, ranks, strict=True)]
        steps = next((a.shape[a.ndim - p.rank] for a, p in zip(arrays, program.arguments, strict=True) if p.steps), 0)
        results = targets(program, batch, out, steps)
        if out is not None:  # one piece must not write what another still reads
            whole = [a.copy() if any(np.may_share_memory(a, r) for r in results) else a for a in whole]
        edges = np.linspace(0, batch[axis], pieces + 1).astype(int)

        def work(start: int, stop: int) -> None:
            rows = (*[slice(None)] * axis, slice(start, stop))
            function(*(a[rows] for a in whole), out=tuple(r[rows] for r in results))

        jobs = []
        for start, stop in pairwise(edges.tolist()):
            try:
                jobs.append(_pool(threads).submit(work, start, stop))
            except RuntimeError:  # no thread is to be had
                work(start, stop)
        for job in jobs:
            job.result()
        return results[0] if len(results) == 1 else tuple(results)

    return call


def _special(x: Any) -> bool:
    """Whether an array has its own way with ufuncs, as one with masks or units has, which pieces of it would lose."""
    return type(x) not in PLAIN and hasattr(x, "__array_ufunc__") and not isinstance(x, np.generic)


def _pool(threads: int) -> ThreadPoolExecutor:
    with _lock:
        if threads not in _pools:
            from concurrent.futures import ThreadPoolExecutor  # for large batches alone

            _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="linkwise")
        return _pools[threads]
