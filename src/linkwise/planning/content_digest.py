"""What a value is, as one short text: equal for equal content, in every process, whatever the value's `repr` shows."""

from __future__ import annotations

import functools
import hashlib
import math
import struct
from collections.abc import Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from os import PathLike, fspath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from linkwise.errors import InputError

CODE = (FunctionType, MethodType, BuiltinFunctionType, functools.partial, ModuleType)
FORMAT = "2"  # of digests: another one where they are made in another way


def digest(value: Any, what: str = "value") -> str:
    """The SHA-256 of a value's content, at full precision.

    Arrays are known by kind, shape and numbers; mappings and sets whatever their order; data classes, robots and other
    objects by what they are made of; functions by their code and what it refers to; a file's path by its text. 0.0 and
    -0.0 differ, as 1, 1.0 and an array of 1.0 do; NaN is NaN.

    Args:
        value: anything that pickle could send, and functions.
        what: to call it in an error.
    """
    try:
        return _Content().of(value).hex()
    except (_Unknown, RecursionError) as error:
        inner = error.args[0] if isinstance(error, _Unknown) else "values nested too deep"
        raise InputError(
            f"{what}: expected what can be known by its content, such as numbers, texts, arrays, robots, and lists,"
            f" mappings and data classes of such, got {_shown(value)} with {inner}. Give key=, a function of the value"
            " that returns what it is to be known by."
        ) from error


class _Unknown(Exception):
    """Something without content that could be read."""


class _Content:
    """Hashes of parts within parts."""

    def __init__(self) -> None:
        self._open: dict[int, int] = {}  # what is being read, so that a cycle ends

    def of(self, value: Any) -> bytes:
        if id(value) in self._open:
            return _hash(b"again", str(self._open[id(value)]).encode())
        self._open[id(value)] = len(self._open)
        try:
            return _hash(*self._parts(value))
        finally:
            del self._open[id(value)]

    def _parts(self, value: Any) -> Iterator[bytes]:
        """What a hash is made of: a word for the kind, and contents."""
        kind = type(value)
        yield f"{kind.__module__}.{kind.__qualname__}".encode()
        if value is None or value is Ellipsis or value is NotImplemented:
            return
        if kind in (bool, int):
            yield str(value).encode()
        elif kind is float:
            yield _bits(value)
        elif kind is complex:
            yield from (_bits(value.real), _bits(value.imag))
        elif kind is str:
            yield value.encode(errors="surrogatepass")
        elif kind in (bytes, bytearray):
            yield bytes(value)
        elif isinstance(value, np.ma.MaskedArray):
            yield from (self.of(np.ma.getmaskarray(value)), self.of(value.filled()), self.of(value.fill_value))
        elif isinstance(value, (np.ndarray, np.generic)):
            yield from self._array(np.asarray(value))
        elif isinstance(value, Enum):
            yield value.name.encode()
        elif isinstance(value, PathLike):
            yield self.of(fspath(value))
        elif kind in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
            yield from map(self.of, value)
        elif isinstance(value, Mapping):
            yield from sorted(self.of(k) + self.of(v) for k, v in value.items())
        elif isinstance(value, Set):
            yield from sorted(map(self.of, value))
        elif kind in CODE or isinstance(value, type):
            yield from self._code(value)
        else:
            yield from self._object(value)

    def _array(self, array: Any) -> Iterator[bytes]:
        """Kind, shape and numbers; padding bytes do not count."""
        yield f"{array.shape} {array.dtype.newbyteorder('<').str}".encode()
        if array.dtype.names:
            yield from (self.of((name, array[name])) for name in array.dtype.names)
        elif array.dtype.kind in "OT":
            yield from map(self.of, array.reshape(-1).tolist())
        elif array.dtype.char in "gG":  # long numbers have bytes that mean nothing
            yield repr([np.format_float_scientific(x) for y in (array.real, array.imag) for x in y.flat]).encode()
        else:
            plain = array.astype(array.dtype.newbyteorder("<"))
            if plain.dtype.kind in "fc":
                plain[np.isnan(plain)] = np.nan
            yield plain.tobytes()

    def _code(self, value: Any) -> Iterator[bytes]:
        """A function's code, the values it takes along, and what it refers to in its module; other routines by name."""
        if isinstance(value, functools.partial):
            yield from map(self.of, (value.func, value.args, value.keywords))
        elif isinstance(value, MethodType):
            yield from map(self.of, (value.__self__, value.__func__))
        elif isinstance(value, FunctionType) and not _is_ours(value):
            yield from self._instructions(value.__code__)
            yield self.of([value.__defaults__, value.__kwdefaults__])
            for name, inner in variables(value):
                yield name.encode() + self.of(inner)
        elif isinstance(value, ModuleType):
            yield value.__name__.encode()
        else:
            owner = getattr(value, "__self__", None)
            if owner is not None and not isinstance(owner, ModuleType):  # a method of something built in
                yield self.of(owner)
            yield f"{value.__module__}.{value.__qualname__}".encode()

    def _instructions(self, code: CodeType) -> Iterator[bytes]:
        yield from (code.co_code, repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
        for x in code.co_consts:
            yield from self._instructions(x) if isinstance(x, CodeType) else [self.of(x)]

    def _object(self, value: Any) -> Iterator[bytes]:
        """Fields of data classes, of which caches are none; of others what pickle would send."""
        try:
            reduced = value.__reduce_ex__(4)
        except Exception as error:  # whatever a class raises that does not want to be sent
            raise _Unknown(f"{_shown(value)} inside") from error
        if isinstance(reduced, str):
            yield f"{getattr(value, '__module__', '')}.{reduced}".encode()
            return
        if is_dataclass(value):
            yield from (self.of((f.name, getattr(value, f.name, None))) for f in fields(value))
            return
        function, arguments, *state = reduced
        yield from (self.of(function), self.of(arguments))
        for part in state:
            yield self.of(list(part) if isinstance(part, Iterator) else part)


def variables(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What the code of a function takes from outside, by name."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not yet set
            continue
    for name in {name: None for code in codes(function.__code__) for name in code.co_names}:
        if name in function.__globals__:
            yield name, function.__globals__[name]


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of what is defined in it."""
    yield code
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield from codes(x)


def _is_ours(function: FunctionType) -> bool:
    """Whether a function is one of a module of Linkwise's, which is known by its name."""
    return str(function.__module__).partition(".")[0] == "linkwise" and "<" not in function.__qualname__


def _bits(x: float) -> bytes:
    return struct.pack("<d", math.nan if math.isnan(x) else x)


def _hash(*parts: bytes) -> bytes:
    """A hash of parts, each with its length, so that none runs into the next."""
    total = hashlib.sha256(FORMAT.encode())
    for part in parts:
        total.update(len(part).to_bytes(8, "little") + part)
    return total.digest()


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # of a class whose `repr` fails
        text = ""
    return text if 0 < len(text) < 200 else f"a {type(value).__name__}"
