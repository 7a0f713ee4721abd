"""Large batches split over cores, below Python: rows are independent, and one call of a loop becomes several.

A loop that NumPy calls gets a second one before it (`threads.ll`), with the same manners, which shares the rows of a
batch among threads of its own. They know nothing of Python, take no signals, and sleep when there is nothing to do. A
row's result never depends on who computed it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from functools import cache
from typing import Any

from linkwise.backend import library, llvm
from linkwise.graph.program import Program

SMALLEST = 256  # rows of a thread at least, where the user has said how many there are to be
OPERATIONS = 4_000_000  # of a thread at least, where they are as many as pay: many times what its waking costs
PARTS = 8  # of such a share, which a piece has at least: the last ones decide how long others wait in the end
TURNS = 4  # of Newton's method, about
MOST = 256  # threads, whatever is asked

POOLS = 4  # calls that have threads at a time; further ones go alone
PATIENCE = 100  # looks for work, each of half a microsecond about, before a thread sleeps
OPEN = 1 << 32  # a gate that is open, beside how many are inside
INSIDE = OPEN - 1
COARSE_CLOCK = 6  # of Linux
WHILE_FREE, WHILE_BUSY = 4_000_000, 50_000_000  # nanoseconds before it is asked again how many cores are free

# what is known of a kernel, in words of 64 bits; steps are the axis with their number, 0 where they do not count
LOOP, PORTS, AXES, LANES, STEPS, THREADS, SHARE, PIECE = range(8)

PYTHON = ("PyGILState_Ensure", "PyErr_NoMemory", "PyGILState_Release")
POSIX = (
    "fegetenv", "fesetenv", "getpid", "pthread_cond_init", "pthread_cond_signal", "pthread_cond_wait",
    "pthread_create", "pthread_detach", "pthread_mutex_init", "pthread_mutex_lock", "pthread_mutex_unlock",
    "pthread_sigmask", "sched_yield", "sigfillset",
)  # fmt: skip
LINUX = ("clock_gettime", "close", "open", "read", "sched_getaffinity")
WINDOWS = (
    "AcquireSRWLockExclusive", "CloseHandle", "CreateThread", "GetCurrentProcessId", "ReleaseSRWLockExclusive",
    "SleepConditionVariableSRW", "SwitchToThread", "WakeConditionVariable",
)  # fmt: skip


def _load(*names: str) -> list[int]:
    """The addresses of functions of the code beside this file."""
    linux, windows = sys.platform.startswith("linux"), sys.platform == "win32"
    files = ["threads", "threads_windows" if windows else "threads_posix", "cores_linux" if linux else "cores_other"]
    symbols = library.python(*PYTHON, *(() if windows else POSIX), *(LINUX if linux else ()))
    if windows:
        symbols |= library.addresses(ctypes.CDLL("kernel32"), WINDOWS)
        symbols |= library.addresses(ctypes.CDLL("ucrtbase"), ("fegetenv", "fesetenv"))
    constants = {k: v for k, v in globals().items() if k.isupper() and isinstance(v, int)}
    constants |= {"CORES": os.cpu_count() or 1, "SIG_SETMASK": int(getattr(signal, "SIG_SETMASK", 0))}
    return library.load(files, constants, symbols, names)


@cache
def _shared() -> int:
    """The address of the loop before a loop."""
    return _load("shared")[0]


def shared(program: Program, loop: int, threads: int | str) -> tuple[int, Any]:
    """The address of a loop that shares its rows among threads before another one, and its data, which are to be kept.

    Raises whatever foreign libraries raise where there is no such thing.
    """
    ports = (*program.arguments, *program.outputs)
    axes = list(dict.fromkeys(axis for port in ports for axis in port.axes))
    once, turn = program.lengths
    share = OPERATIONS // max(1, once + TURNS * turn) + 1
    auto = threads == "auto"
    words = [0] * 8
    words[LOOP], words[PORTS], words[AXES] = loop, len(ports), 1 + len(axes)
    words[LANES] = llvm.target(program.dtype).lanes
    words[STEPS] = 1 + axes.index("steps") if auto and "steps" in axes else 0
    words[THREADS] = 0 if auto else min(int(threads), MOST)
    words[SHARE] = share if auto else SMALLEST
    words[PIECE] = share // PARTS
    return _shared(), (ctypes.c_int64 * len(words))(*words)
