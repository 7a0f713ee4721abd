"""Programs found in the cache without being traced again.

What decides a program, such as a robot's numbers, an algorithm and the source of Linkwise, is known before it is
traced, and tracing takes longer than loading the code. So beside machine code the cache keeps notes on programs: what a
call has to know of them. Source files are known by their sizes and times: reading them would take as long as tracing.
"""

from __future__ import annotations

import hashlib
import os
import sys
from ast import literal_eval
from collections.abc import Callable, Sequence
from functools import cache as once
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from linkwise._version import __version__
from linkwise.backend import cache, native
from linkwise.graph.program import Port, Program
from linkwise.lazy import BEGAN

ROOT = Path(__file__).parents[1]
NOTED = ("name", "dtype", "digest", "lengths", "repeated")  # what a call has to know, beside the ports
MARGIN = 100_000_000  # nanoseconds by which the clock of a file system may lag behind


class Recalled(Program):
    """A program of which a call needs no more than the notes; the rest is traced when it is asked for.

    Args:
        key: of the notes in the cache.
        make: traces the program, and gives further notes of plain numbers, texts, lists and the like.
    """

    notes: Any

    def __init__(self, key: str, make: Callable[[], tuple[Program, Any]]) -> None:
        found = cache.read(key)
        self.__dict__.update(_key=key, _make=make, _kept=found is not None)
        known = literal_eval(found[0].decode()) if found else self._known()
        for side in ("arguments", "outputs"):
            known[side] = tuple(Port(name, tuple(shape), steps) for name, shape, steps in known[side])
        self.__dict__.update(known)

    @cached_property
    def _traced(self) -> tuple[Program, Any]:
        return self._make()  # type: ignore[attr-defined]

    @property
    def whole(self) -> Program:
        return self._traced[0]

    inputs = property(lambda self: self.whole.inputs)
    leaves = property(lambda self: self.whole.leaves)
    results = property(lambda self: self.whole.results)
    carries = property(lambda self: self.whole.carries)
    before = property(lambda self: self.whole.before)

    def keep(self) -> None:
        """Put the notes into the cache, unless they came from there and are right."""
        if not self._kept or ("_traced" in self.__dict__ and self.whole.digest != self.digest):  # type: ignore[attr-defined]
            cache.write(self._key, [repr(self._known()).encode()])  # type: ignore[attr-defined]
            self.__dict__["_kept"] = True

    def _known(self) -> dict[str, Any]:
        program, notes = self._traced
        ports = {"arguments": _listed(program.arguments), "outputs": _listed(program.outputs)}
        return {name: getattr(program, name) for name in NOTED} | {"notes": notes, **ports}


def recalled(facts: str | None, make: Callable[[], tuple[Program, Any]]) -> tuple[Program, Any]:
    """A program and further notes on it, from the cache where they are there.

    Args:
        facts: all that decides them, beside the source of Linkwise; None if that has no text.
        make: traces the program.
    """
    source = None if facts is None or cache.directory() is None else _source()
    if source is None:
        return make()
    parts = (__version__, cache.MAGIC, sys.version, np.__version__, source, facts)
    program = Recalled(hashlib.sha256(repr(parts).encode()).hexdigest(), make)
    return program, program.notes


_known: dict[str, tuple[Callable[..., Any], Any]] = {}


def remembered(facts: str, make: Callable[[], tuple[Program, Any]]) -> tuple[Callable[..., Any], Any]:
    """The function of a program, and notes on it; this process makes it once."""
    with native.lock():
        if facts not in _known:
            program, notes = recalled(facts, make)
            _known[facts] = native.function(program), notes
        return _known[facts]


def _listed(ports: Sequence[Port]) -> list[tuple[str, tuple[int, ...], bool]]:
    return [(p.name, p.shape, p.steps) for p in ports]


@once
def _source() -> str | None:
    """Names, sizes and times of all source files, which an edit changes; None if one is younger than what is loaded."""
    found, folders = [], [str(ROOT)]
    try:
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.name.endswith(".py"):
                        info = entry.stat()
                        found.append((entry.path, info.st_size, info.st_mtime_ns, info.st_ctime_ns))
                    elif "." not in entry.name and not entry.name.startswith("__") and entry.is_dir():
                        folders.append(entry.path)
    except OSError:  # Linkwise is not in files of its own
        return None
    youngest = max(max(times) for _, _, *times in found)
    return repr(sorted(found)) if youngest + MARGIN < BEGAN else None
