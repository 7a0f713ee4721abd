"""Native code that belongs to no kernel: loaded when it is first asked for, and never unloaded."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from linkwise.backend import cache, llvm


def load(
    files: Sequence[str], constants: Mapping[str, int], symbols: Mapping[str, int], names: Sequence[str]
) -> list[int]:
    """The addresses of functions that files beside this one have in LLVM's language, with constants put in.

    They may call those of `symbols`. They come from the cache or are compiled, and stay to the very end: objects that
    live longer than any module may come back to them.
    """
    from importlib import resources
    from string import Template

    folder = resources.files("linkwise.backend")
    text = "\n".join(folder.joinpath(f"{name}.ll").read_text(encoding="utf-8") for name in files)
    text = Template(text).substitute(constants)
    key = hashlib.sha256(repr((cache.MAGIC, text, llvm.identity())).encode()).hexdigest()
    objects = cache.read(key)
    if objects is None:
        objects = llvm.compile_text(text)
        cache.write(key, objects)
    engine, addresses = llvm.load_named(objects, symbols, names)
    keep(engine)
    return addresses


def keep(thing: Any) -> None:
    """Never let go of an object."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def addresses(found: ctypes.CDLL, names: Sequence[str]) -> dict[str, int]:
    """The addresses of functions of a library."""
    return {name: ctypes.cast(getattr(found, name), ctypes.c_void_p).value or 0 for name in names}


def python(*names: str) -> dict[str, int]:
    """The addresses of functions of the interpreter, and where it is one program with the system's, of these."""
    return addresses(ctypes.pythonapi, names)
