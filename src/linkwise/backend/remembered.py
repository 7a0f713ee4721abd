"""Functions that are found in the cache without their programs being traced again.

What decides a program, a robot's structure and the text of the modules that write it, is known before it is traced; for
large programs tracing takes longer than loading the code. Beside the machine code the cache keeps notes: what the
caller has to know of the program.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache as once
from pathlib import Path
from typing import Any

from linkwise._version import __version__
from linkwise.backend import cache, llvm, native
from linkwise.graph.program import Port, Program

# modules that decide what is traced of any algorithm
FOUNDATION = ("scalar", "vector", "rotation", "spatial", "jet", "robot", "algorithms", "graph")

_known: dict[str, tuple[Callable[..., Any], Any]] = {}


def remembered(
    name: str, facts: str, make: Callable[[], tuple[Program, Any]], modules: tuple[str, ...] = ()
) -> tuple[Callable[..., Any], Any]:
    """The function of a program, and notes on it.

    Args:
        name: of the program.
        facts: all that decides it, beside the text of modules.
        make: traces it, and gives notes that JSON can hold.
        modules: of this package that take part in it, beside `FOUNDATION`, such as "gait.slopes".
    """
    if native.backend() == "numpy":
        program, notes = make()
        return native.function(program), notes
    parts = (__version__, cache.MAGIC, name, facts, _text(modules), llvm.identity())
    key = hashlib.sha256(repr(parts).encode()).hexdigest()
    with native.lock():
        if key not in _known:
            kept = cache.read(key)
            if kept is None:
                program, notes = make()
                head = {"notes": notes, "inputs": _ports(program.arguments), "outputs": _ports(program.outputs)}
                kept = [json.dumps(head).encode(), *llvm.compile_objects(program)]
                cache.write(key, kept)
            head = json.loads(kept[0])
            inputs, outputs = ([Port(n, tuple(shape)) for n, shape in head[side]] for side in ("inputs", "outputs"))
            _known[key] = native.loaded(kept[1:], name, "", inputs, outputs), head["notes"]
        return _known[key]


def _ports(ports: tuple[Port, ...]) -> list[tuple[str, tuple[int, ...]]]:
    return [(p.name, p.shape) for p in ports]


@once
def _text(modules: tuple[str, ...]) -> str:
    """A hash of the text of modules, so that an edit is not answered by the cache."""
    root, total = Path(__file__).parents[1], hashlib.sha256()
    for module in (*FOUNDATION, *modules):
        path = root / module.replace(".", "/")
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]:
            total.update(str(file.relative_to(root)).encode())
            total.update(file.read_bytes())
    return total.hexdigest()
