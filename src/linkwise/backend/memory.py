"""Memory of large outputs, which is kept for the next ones when their arrays are gone.

Fresh memory comes in pages that the system clears one by one when they are first touched, which takes longer than most
kernels do. NumPy lets arrays have an allocator of their own: this one keeps what large arrays give back, up to a limit,
and hands it out again. Such an array is like any other: it owns its memory, can be resized, and its views keep it.

The allocator is native code, so that an array may die at any time, in any thread. What is kept is behind a lock that
nobody waits for: who finds it closed asks the system instead. So a fork can never leave a child waiting.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import sys
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.backend import gufunc, library
from linkwise.errors import InputError

LIMIT = 256 * 2**20  # bytes kept at most, unless told otherwise
LARGE = 32 * 1024  # bytes of an array from which on its memory is kept
SLOTS = 64  # pieces kept at most
HUGE = 2**21  # bytes of a huge page


class State(ctypes.Structure):
    """What is kept: pieces in the order in which they came, and their bytes together."""

    _fields_ = [
        ("lock", ctypes.c_int64),
        ("limit", ctypes.c_int64),
        ("held", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("slots", ctypes.c_int64 * (2 * SLOTS)),
    ]


class Handler(ctypes.Structure):
    """NumPy's `PyDataMem_Handler`, version 1."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("functions", ctypes.c_void_p * 4),  # new, zeros, resize, free
    ]


NAME = b"mem_handler"  # of the capsule, as NumPy wants it
SET_HANDLER = 304  # the entry of PyDataMem_SetHandler in NumPy's table of functions
FUNCTIONS = ("memory_new", "memory_zeros", "memory_resize", "memory_free")

_state = State(limit=LIMIT)


def constants(large: int) -> dict[str, int]:
    """What the code has to be told: sizes, and the system's numbers for private pages of no file and for huge ones."""
    pages = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
    sizes = {"LARGE": large, "LARGE_BLOCK": large + 64, "SLOTS": SLOTS, "SLOTS_LESS_1": SLOTS - 1}
    huge = {"HUGE": HUGE, "HUGE_LESS_1": HUGE - 1, "HUGE_PAGES": getattr(mmap, "MADV_HUGEPAGE", 14)}
    return {**sizes, **huge, "MAP": pages}


@cache
def _allocator() -> tuple[Any, Any, Any]:
    """NumPy's capsule for the allocator, what makes NumPy use one, and what gives memory back."""
    linux = sys.platform.startswith("linux")
    files = ["memory", "memory_linux" if linux else "memory_other"]
    *functions, release = library.load(files, constants(LARGE), {}, [*FUNCTIONS, "memory_release"])
    allocator = Handler(b"linkwise", 1, ctypes.addressof(_state), (ctypes.c_void_p * 4)(*functions))
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    found = (
        capsule(ctypes.addressof(allocator), NAME, None),
        ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(gufunc.table("_ARRAY_API")[SET_HANDLER]),
        ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(release),
    )
    library.keep((_state, allocator, NAME, found))
    return found


def handler() -> Any:
    """The capsule by which NumPy knows the allocator."""
    return _allocator()[0]


def _in_use() -> bool:
    return _allocator.cache_info().currsize > 0


def empty(shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """An array for results, of memory that is kept if it is large and kernels are reached directly."""
    if not _in_use() or np.dtype(dtype).itemsize * math.prod(shape) < LARGE:
        return np.empty(shape, dtype)
    capsule, use, _ = _allocator()
    before = use(capsule)
    try:
        return np.empty(shape, dtype)
    finally:
        use(before)


def held() -> int:
    """Bytes that are kept for the next large outputs; those of arrays in use are not counted."""
    return int(_state.held)


def limit(size: int | None = None) -> int:
    """How many bytes are kept at most, 256 MiB if nobody says otherwise; a `size` to keep no more than that from now.

    0 keeps nothing: every call then takes fresh memory from the system.
    """
    if size is not None:
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**62:  # type: ignore[redundant-expr]
            raise InputError(f"limit: expected a whole number of bytes, 0 or more, got {size!r}.")
        _state.limit = size
        _shrink(size)
    return int(_state.limit)


def release() -> int:
    """Give what is kept back to the system: so many bytes."""
    before = held()
    _shrink(0)
    return before - held()


def _shrink(size: int) -> None:
    if _in_use():
        _allocator()[2](ctypes.addressof(_state), size)
