"""A program made into something that runs: a native ufunc where LLVM is there, else the NumPy interpreter."""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from linkwise._version import __version__
from linkwise.backend import arrays, cache, gufunc, llvm
from linkwise.backend.threads import shared as sharing
from linkwise.errors import InputError, LinkwiseError
from linkwise.graph.program import Port, Program, trace, without_collector
from linkwise.locks import ForkSafeLock

BACKENDS = ("llvm", "numpy")

IDLE = 128  # loaded programs from which on those that nobody holds are unloaded
LOOK = 128  # programs to load between two looks at how many maps of memory the process has
MAPS = 65_530  # that Linux lets a process have, unless told otherwise; a program takes three and more
FULL = 0.9  # of them, beyond which no more is loaded: LLVM ends the process that can get none

_functions: dict[Any, Loaded] = {}
_lock = ForkSafeLock()
_sweep_at = IDLE
_look_in = LOOK


def lock() -> ForkSafeLock:
    """What is held while a program is compiled or loaded."""
    return _lock


class Loaded(NamedTuple):
    """A native ufunc, the address of its loop, what that is told, and whether it may find no memory.

    One that shares rows among threads holds the ufunc `beneath`, whose loop it calls.
    """

    function: Any
    loop: int
    data: int
    hungry: bool
    beneath: Any = None


def function(program: Program, doc: str = "", threads: int | str = 1, directly: bool = False) -> Callable[..., Any]:
    """The program as a function of arrays; equal programs share one. Code that nobody holds is unloaded in time.

    Batches are split over `threads`, if it is native. One that is, and is called again, can be reached `directly`.
    """
    if not directly and not is_native(program):
        return arrays.function(program)
    with _lock:
        found = _native(program, doc)
        program.keep()
        if threads != 1:
            found = _shared(program, doc, found, threads)
        if not directly:
            return found.function
        from linkwise.backend import direct  # whoever calls once needs nothing of it

        return direct.function(program, found.function, found.loop, found.data)


def loaded(program: Program) -> Loaded:
    """The program's code, for whoever calls its loop; it stays where it is as long as this is held."""
    with _lock:
        return Loaded(*_native(program, ""))  # a tuple of its own: references to the ufunc say who holds it


def entry(program: Program, doc: str, name: str) -> tuple[int, Any]:
    """The address of the program's bare function "row" or "rows", and what to hold as long as it is to stay loaded."""
    if not is_native(program):
        empty = [p.name for p in (*program.arguments, *program.outputs) if not p.size]
        reason = f"{empty[0]} without numbers" if empty else f"the back end {backend()!r}, which has none"
        raise InputError(f"address of {program.name}: expected a function in native code, got {reason}.")
    if program.repeated:
        raise InputError(f"address of {program.name}: expected a function of one state, got one that runs in steps.")
    with _lock:
        found = _native(program, doc)
        program.keep()
        return llvm.entry(found.loop, name), found.function


def is_native(program: Program) -> bool:
    """Whether a program becomes native code, as things are now."""
    return all(p.size for p in (*program.arguments, *program.outputs)) and backend() != "numpy"


def _native(program: Program, doc: str, levels: tuple[int, int] = llvm.LEVELS) -> Loaded:
    """The program as a native ufunc, from this process, from the cache on disk, or compiled now."""
    facts = (__version__, cache.MAGIC, program.digest, program.name, llvm.identity())
    key = hashlib.sha256(repr(facts).encode()).hexdigest()
    with _lock:
        if key not in _functions:
            objects = cache.read(key)
            if objects is None:
                if program.whole.digest != program.digest:  # noted by another Linkwise
                    return _native(program.whole, doc, levels)
                objects = without_collector(lambda: llvm.compile_objects(program.whole, levels))
                cache.write(key, objects)
            _make_room()
            loop, hungry = llvm.load_objects(objects), b"PyErr_NoMemory" in objects[0]
            _functions[key] = Loaded(_ufunc(program, doc, loop, hungry), loop, 0, hungry)
        return _functions[key]


def _shared(program: Program, doc: str, alone: Loaded, threads: int | str) -> Loaded:
    """A ufunc that shares its rows among threads; where they are not to be had, the one without. The lock is held."""
    key = (alone.loop, threads)
    if key not in _functions:
        try:
            loop, known = sharing(program, alone.loop, threads)
        except Warning:  # of the cache, where warnings are errors
            raise
        except Exception:  # any failure of a foreign library means: one thread
            return alone
        function = _ufunc(program, doc, loop, alone.hungry, known)
        _functions[key] = Loaded(function, loop, ctypes.addressof(known), alone.hungry, alone.function)
    return _functions[key]


def _ufunc(program: Program, doc: str, loop: int, hungry: bool, known: Any = None) -> Any:
    ufunc: Any = gufunc.make(loop, program.name, doc, program.arguments, program.outputs, program.dtype, known)
    if program.dtype != "float64":  # NumPy itself takes only what fits
        ufunc = gufunc.casting(ufunc, program.dtype)
    return gufunc.watched(ufunc) if hungry else ufunc


def _make_room() -> None:
    """Unload what nobody holds, where much is loaded; the lock is held, so that nobody can get hold of it meanwhile."""
    global _sweep_at, _look_in
    _look_in -= 1
    crowded = _look_in <= 0 and _maps() > FULL / 2
    if len(_functions) >= _sweep_at or crowded:
        idle = [
            key for key in _functions if sys.getrefcount(_functions[key][0]) == 2
        ]  # the table's, and the count's own
        gone = [_functions.pop(key) for key in idle]
        llvm.unload_objects([x.loop for x in gone if x.beneath is None])
        gufunc.forget(x.data or x.loop for x in gone)
        _sweep_at = max(IDLE, 2 * len(_functions))
    if crowded and _maps() > FULL:
        raise LinkwiseError(
            f"native code: expected room for one more function beside the {len(_functions):,} in use, but this process"
            " has almost all maps of memory that the system allows. Let go of functions that you no longer need, or"
            " spread the work over processes."
        )
    if _look_in <= 0:
        _look_in = LOOK


def _maps() -> float:
    """How many maps of memory this process has, as a part of what the system allows; 0 where it does not say."""
    try:
        count = Path("/proc/self/maps").read_bytes().count(b"\n")
    except OSError:
        return 0.0
    try:
        return count / int(Path("/proc/sys/vm/max_map_count").read_bytes())
    except (OSError, ValueError):
        return count / MAPS


def backend() -> str:
    """The back end in use: "llvm", or "numpy" where LLVM is missing, does not work, or `LINKWISE_BACKEND` says so."""
    wanted = os.environ.get("LINKWISE_BACKEND", "llvm")
    if wanted not in BACKENDS:
        raise InputError(f"LINKWISE_BACKEND: expected one of {BACKENDS}, got {wanted!r}.")
    if wanted == "llvm" and not _works():
        return "numpy"
    return wanted


_checked: bool | None = None


def _works() -> bool:
    """Whether native ufuncs can be made and give the right answer here; tried once."""
    global _checked
    if _checked is None:
        try:
            _self_test()
            _checked = True
        except Warning:  # of the cache, where warnings are errors
            raise
        except Exception as error:  # any failure of a foreign library means: use the interpreter
            _checked = False
            warnings.warn(
                f"native code is not available ({error}); the NumPy interpreter is used, which is slower.",
                RuntimeWarning,
                stacklevel=4,
            )
    return _checked


def _self_test() -> None:
    program = trace("self_test", lambda x: ([x[0] + 2.0 * x[1]],), [Port("x", (2,))], [Port("y", (1,))])
    if not (_native(program, "", (0, 0)).function([[1.0, 2.0]] * 5) == 5.0).all():
        raise RuntimeError("a trial kernel gave a wrong answer")
