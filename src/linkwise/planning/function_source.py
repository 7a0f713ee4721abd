"""What a function asks: its source text and the values that it takes along, so that another one is noticed."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from os import PathLike, fspath
from tokenize import TokenError
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from linkwise.planning.content_digest import codes, digest, variables
from linkwise.robot.robot import Robot

DEEP = 8  # levels of values within values
CHANGES = {"append", "extend", "insert", "remove", "pop", "clear", "add", "discard", "update", "setdefault", "popitem"}


def content(function: Callable[..., Any]) -> dict[str, str]:
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
        function = type(function).__call__.__get__(function)
    if inspect.ismethod(function):
        found |= _attributes(function.__self__, function.__func__)
    plain = inspect.unwrap(getattr(function, "__func__", function))
    found["function"] = getattr(plain, "__qualname__", repr(type(plain)))
    if isinstance(plain, FunctionType):
        changed: set[str] = set()
        _add(plain, found, changed)
        found = {key: text for key, text in found.items() if key.removeprefix("variable ") not in changed}
    return found


def _attributes(owner: Any, method: Any) -> dict[str, str]:
    """The object that a method belongs to: its kind, and its attributes but for those that the method changes."""
    _, tree = _source(method) if isinstance(method, FunctionType) else ("", None)
    changed = set(_changed(tree)) if tree else set()
    own = {} if hasattr(owner, "robot") or is_dataclass(owner) else getattr(owner, "__dict__", {})
    found = {f"attribute {key}": described(value) for key, value in own.items() if f".{key}" not in changed}
    return {"object": described(owner), **found}


def _add(function: FunctionType, found: dict[str, str], changed: set[str]) -> None:
    """Source, defaults and variables of a function and of those of its module that it calls; and what they change."""
    key = f"source of {function.__name__}"
    if key in found:
        return
    found[key], tree = _source(function)
    for k, value in enumerate((*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()), start=1):
        found[f"default {k} of {function.__name__}"] = described(value)
    changed.update(_changed(tree) if tree else ())
    for name, value in variables(function):
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
        every = codes(function.__code__)
        parts = [[c.co_names, [x for x in c.co_consts if not isinstance(x, CodeType)]] for c in every]
        return repr(parts), None
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a lambda within a longer expression
        return text, None
    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    if function.__name__ == "<lambda>" and lambdas:
        return "; ".join(map(ast.unparse, lambdas)), tree
    return ast.unparse(tree), tree


def _changed(tree: ast.AST) -> Iterator[str]:
    """Variables that code assigns, or whose items it changes, such as a list it appends to; attributes as ".name"."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        inner = getattr(node, "value", None)
        stored = isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load)
        called = isinstance(node, ast.Attribute) and node.attr in CHANGES
        if isinstance(inner, ast.Name) and (stored or called):
            yield inner.id
        if isinstance(node, ast.Attribute) and stored:
            yield f".{node.attr}"
        if isinstance(inner, ast.Attribute) and (stored or called):
            yield f".{inner.attr}"


def described(value: Any, depth: int = 0) -> str:
    """A value in words that are the same in every process; of things without such words, their type."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return repr(value)
    if isinstance(value, Robot):
        return f"robot {value.name!r} {digest(value)[:16]}"
    if isinstance(value, PathLike):
        return repr(fspath(value))
    if isinstance(value, np.ndarray):
        small = value.size <= 20 or value.dtype.hasobject
        text = described(value.tolist(), depth + 1) if small else digest(value)[:16]
        return f"array {value.shape} {value.dtype} {text}"
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
        return f"{kind}({', '.join(sorted(items))})"
    if is_dataclass(value):
        items = [f"{f.name}={described(getattr(value, f.name, None), depth + 1)}" for f in fields(value)]
        return f"{kind}({', '.join(items)})"
    robot = getattr(value, "__dict__", {}).get("robot")  # of what was compiled for one
    return f"{kind} of {described(robot, depth + 1)}" if robot is not None else kind
