"""One thread for the BLAS: matrices are small here, and more threads make them many times slower."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def one_thread() -> Any:
    """A context in which the libraries of NumPy and SciPy keep to one thread."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    return threadpool_limits(1)


@contextmanager
def loading() -> Iterator[None]:
    """A context in which libraries that bring a BLAS of their own are loaded: they read their threads at that time."""
    missing = [name for name in VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(missing, "1"))
    try:
        yield
    finally:
        for name in missing:
            os.environ.pop(name, None)
