"""Random expressions, and their values in floats, fractions and high precision.

An expression is a tuple: ("x", k) for an input, ("c", number), or an operation of `linkwise.graph.op` with expressions.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
from hypothesis import strategies as st

from linkwise import scalar
from linkwise.graph.op import OPS
from linkwise.graph.program import Port, Program, trace

INPUTS = 3
RATIONAL = ("add", "sub", "mul", "div", "neg", "sign", "abs", "min", "max", "less", "where")
SMOOTH = ("add", "sub", "mul", "div", "neg", "sin", "cos", "exp", "tanh", "sqrt", "atan2")
ANY = tuple(OPS)

# numbers that fold without rounding, and whose reciprocals are exact
CONSTANTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 4.0, -0.25)


class Reject(Exception):
    """The expression has no value that could be compared at this point: a pole, a kink, or too large a number."""


def expressions(ops: Sequence[str], most: int = 12) -> st.SearchStrategy[Any]:
    """Expressions of these operations; every operation has an input among its arguments."""
    leaf = st.tuples(st.just("x"), st.integers(0, INPUTS - 1))
    constant = st.tuples(st.just("c"), st.sampled_from(CONSTANTS))

    def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        def of(op: str) -> st.SearchStrategy[Any]:
            if OPS[op].arity == 1:
                return st.tuples(st.just(op), inner)
            both = st.tuples(st.just(op), inner, *[inner | constant] * (OPS[op].arity - 1))
            return both if OPS[op].arity == 3 else both | both.map(lambda e: (e[0], e[2], e[1]))

        return st.sampled_from(ops).flatmap(of)

    return st.recursive(leaf, larger, max_leaves=most)


def build(e: Any, x: Sequence[Any]) -> Any:
    """The expression written with the operators that users and algorithms write: every rule is applied."""
    if e[0] == "x":
        return x[e[1]]
    if e[0] == "c":
        return e[1]
    a = [build(arg, x) for arg in e[1:]]
    if all(isinstance(v, (int, float)) for v in a):
        return OPS[e[0]].evaluate(*map(float, a))
    return WRITTEN[e[0]](*a)


WRITTEN: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "sqrt": scalar.sqrt,
    "sin": scalar.sin,
    "cos": scalar.cos,
    "exp": scalar.exp,
    "tanh": scalar.tanh,
    "atan2": scalar.atan2,
    "sign": scalar.sign,
    "abs": abs,
    "min": scalar.minimum,
    "max": scalar.maximum,
    "less": scalar.less,
    "where": scalar.where,
}


def program(*roots: Any, inputs: int = INPUTS) -> Program:
    """The program of some expressions, one number each, of one input array."""
    return trace(
        "random",
        lambda x: ([build(e, x) for e in roots],),
        [Port("x", (inputs,))],
        [Port("y", (len(roots),))],
    )


def value(e: Any, x: Sequence[Any], table: dict[str, Callable[..., Any]], number: Callable[[float], Any]) -> Any:
    """The expression's value as it stands, no rule applied, by the operations of a table."""
    if e[0] == "x":
        return x[e[1]]
    if e[0] == "c":
        return number(e[1])
    return table[e[0]](*[value(arg, x, table, number) for arg in e[1:]])


def run(
    p: Program, x: Sequence[Any], table: dict[str, Callable[..., Any]], number: Callable[[float], Any]
) -> list[Any]:
    """The first output of a program, interpreted with the operations of a table."""
    known = {n.index: v for n, v in zip(p.leaves[0], x, strict=True)}

    def get(n: Any) -> Any:
        return number(n.value) if n.op == "const" else known[n.index]

    for n in p.schedule:
        known[n.index] = table[n.op](*map(get, n.args))
    return [get(n) for n in p.results[0]]


# ---- tables of operations


def _divide(a: Any, b: Any) -> Any:
    if b == 0:
        raise Reject
    return a / b


FRACTIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divide,
    "neg": lambda a: -a,
    "sign": lambda a: Fraction((a > 0) - (a < 0)),
    "abs": abs,
    "min": min,
    "max": max,
    "less": lambda a, b: Fraction(a < b),
    "where": lambda c, a, b: a if c != 0 else b,
}

MP: dict[str, Callable[..., Any]] = {
    **FRACTIONS,
    "sign": mpmath.sign,
    "less": lambda a, b: mpmath.mpf(a < b),
    "sqrt": mpmath.sqrt,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "exp": mpmath.exp,
    "tanh": mpmath.tanh,
    "atan2": mpmath.atan2,
}


def _tame(op: str) -> Callable[..., Any]:
    """The operation in high precision, refusing points where a derivative is large or missing."""

    def evaluate(*a: Any) -> Any:
        gap = a[0] - a[-1]
        near = {
            "sign": a[0], "abs": a[0], "sqrt": a[0], "div": a[-1], "min": gap, "max": gap, "less": gap, "where": a[0]
        }.get(op, 1)  # fmt: skip
        if abs(near) < 1e-2 and not (op in ("less", "where") and near == 0):  # exactly zero: rejected a step away
            raise Reject
        if op == "atan2" and (max(map(abs, a)) < 1e-2 or (abs(a[0]) < 1e-2 and a[1] < 1e-2)):  # the origin, the cut
            raise Reject
        if (op == "sqrt" and a[0] < 0) or (op == "exp" and a[0] > 5):
            raise Reject
        result = MP[op](*a)
        if abs(result) > 1e3:
            raise Reject
        return result

    return evaluate


TAME = {op: _tame(op) for op in OPS}


def _bounded(op: str) -> Callable[..., Any]:
    """Value and first-order bound on the error of a float evaluation, in units of the relative error of one step."""

    def evaluate(*a: tuple[Any, Any]) -> tuple[Any, Any]:
        v = [x for x, _ in a]
        e = [x for _, x in a]
        y = TAME[op](*v)
        if op in ("add", "sub"):
            return y, e[0] + e[1] + abs(v[0]) + abs(v[1])
        if op == "mul":
            return y, abs(v[0]) * e[1] + abs(v[1]) * e[0] + abs(y)
        if op == "div":
            return y, (e[0] + abs(y) * e[1]) / abs(v[1]) + abs(y)
        if op == "atan2":
            return y, (abs(v[1]) * e[0] + abs(v[0]) * e[1]) / (v[0] ** 2 + v[1] ** 2) + abs(y)
        slope = {"sqrt": lambda: 1 / (2 * y), "exp": lambda: y}.get(op, lambda: 1)()
        return y, slope * e[0] + abs(y)

    return evaluate


BOUNDED = {op: _bounded(op) for op in SMOOTH}


def close(a: Any, b: Any, relative: float) -> bool:
    """Equal to a relative error, absolute below one."""
    return bool(abs(a - b) <= relative * max(1.0, abs(b)))


def same(a: float, b: float) -> bool:
    """Equal as numbers, NaN to NaN."""
    return a == b or (math.isnan(a) and math.isnan(b))
