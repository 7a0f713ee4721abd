"""What a function asks: its source text and the values that it takes along, so that another one is noticed."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from os import PathLike, fspath
from tokenize import TokenError
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from linkwise.parallel.files import text_of
from linkwise.parallel.robot import ParallelRobot
from linkwise.robot.robot import Robot
from linkwise.robot.toml_writer import to_toml

DEEP = 8  # levels of values within values
CHANGES = {"append", "extend", "insert", "remove", "pop", "clear", "add", "discard", "update", "setdefault", "popitem"}


def asked(function: Callable[..., Any]) -> dict[str, str]:
    """What a function asks, by what it is: its name, source texts, and the values of arguments and variables.

    Known are the source of the function and of those of its module that it calls, arguments of a partial, defaults,
    and variables from outside with numbers, texts, arrays, robots, and lists, mappings and data classes of such.
    Variables that the function itself changes are left out, and so is what other modules do.
    """
    found: dict[str, str] = {}
    while isinstance(function, functools.partial):
        given = {str(k): v for k, v in enumerate(function.args, start=1)} | function.keywords
        found |= {f"argument {key}": described(value) for key, value in given.items()}
        function = function.func
    if not inspect.isroutine(function):  # an object that can be called
        found["object"] = described(function)
        function = type(function).__call__
    elif inspect.ismethod(function):
        found["object"] = described(function.__self__)
    plain = inspect.unwrap(getattr(function, "__func__", function))
    found["function"] = getattr(plain, "__qualname__", repr(type(plain)))
    if isinstance(plain, FunctionType):
        changed: set[str] = set()
        _add(plain, found, changed)
        found = {key: text for key, text in found.items() if key.removeprefix("variable ") not in changed}
    return found


def _add(function: FunctionType, found: dict[str, str], changed: set[str]) -> None:
    """Source, defaults and variables of a function and of those of its module that it calls; and what they change."""
    key = f"source of {function.__name__}"
    if key in found:
        return
    found[key], tree = _source(function)
    for k, value in enumerate((*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()), start=1):
        found[f"default {k} of {function.__name__}"] = described(value)
    changed.update(_changed(tree) if tree else ())
    for name, value in _variables(function):
        if isinstance(value, FunctionType):
            if value.__module__ == function.__module__:
                _add(value, found, changed)
        elif not inspect.ismodule(value) and not inspect.isclass(value):
            found[f"variable {name}"] = described(value)


def _source(function: FunctionType) -> tuple[str, ast.AST | None]:
    """The text of a function without comments and layout; where there is none, the constants and names in its code."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError, SyntaxError, TokenError):
        codes = list(_codes(function.__code__))
        parts = [[c.co_names, [x for x in c.co_consts if not isinstance(x, CodeType)]] for c in codes]
        return repr(parts), None
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a lambda within a longer expression
        return text, None
    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    if function.__name__ == "<lambda>" and lambdas:
        return "; ".join(map(ast.unparse, lambdas)), tree
    return ast.unparse(tree), tree


def _variables(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What the code takes from outside, by name."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not yet set
            continue
    names = {name: None for code in _codes(function.__code__) for name in code.co_names}
    for name in names:
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of what is defined in it."""
    yield code
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield from _codes(x)


def _changed(tree: ast.AST) -> Iterator[str]:
    """Variables that code assigns, or whose items it changes, such as a list to which it appends."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        inner = getattr(node, "value", None)
        stored = isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load)
        called = isinstance(node, ast.Attribute) and node.attr in CHANGES
        if isinstance(inner, ast.Name) and (stored or called):
            yield inner.id


def described(value: Any, depth: int = 0) -> str:
    """A value in words that are the same in every process; of things without such words, their type."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return repr(value)
    if isinstance(value, (Robot, ParallelRobot)):
        text = to_toml(value) if isinstance(value, Robot) else text_of(value)
        return f"robot {value.name!r} {_hash(text.encode(errors='surrogatepass'))}"
    if isinstance(value, PathLike):
        return repr(fspath(value))
    if isinstance(value, np.ndarray):
        small = value.size <= 20 or value.dtype.hasobject
        return repr(value.tolist()) if small else f"array {value.shape} {value.dtype} {_hash(value.tobytes())}"
    kind = type(value).__qualname__
    if depth > DEEP:
        return kind
    if isinstance(value, FunctionType):
        return _source(value)[0]
    if isinstance(value, (list, tuple)):
        return f"{kind}({', '.join(described(x, depth + 1) for x in value)})"
    if isinstance(value, (set, frozenset)):
        return f"{kind}({', '.join(sorted(described(x, depth + 1) for x in value))})"
    if isinstance(value, Mapping):
        items = [f"{described(k, depth + 1)}: {described(v, depth + 1)}" for k, v in value.items()]
        return f"{kind}({', '.join(items)})"
    if is_dataclass(value):
        items = [f"{f.name}={described(getattr(value, f.name, None), depth + 1)}" for f in fields(value)]
        return f"{kind}({', '.join(items)})"
    robot = getattr(value, "__dict__", {}).get("robot")  # of what was compiled for one
    return f"{kind} of {described(robot, depth + 1)}" if robot is not None else kind


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
