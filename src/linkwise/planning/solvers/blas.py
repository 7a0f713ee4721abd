"""One thread for the BLAS: matrices are small here, and more threads make them many times slower."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any

VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def one_thread() -> Any:
    """A context in which the libraries of NumPy and SciPy keep to one thread."""
    try:
        return _libraries(len(sys.modules)).limit(limits=1)
    except ImportError:
        return nullcontext()


@lru_cache(maxsize=1)
def _libraries(_: int) -> Any:
    """The libraries that are loaded, sought again where there are more modules of Python than before."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


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
