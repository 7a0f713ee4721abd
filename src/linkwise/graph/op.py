"""The closed list of operations: name, arity, what it does to numbers, how it is counted and written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple


class Op(NamedTuple):
    """One operation. `evaluate` is its definition; `text` writes it with its arguments' texts, as Python does."""

    name: str
    arity: int
    evaluate: Callable[..., float]
    text: str
    counted: str = "other"


def _div(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    return math.nan if a == 0.0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _guarded(function: Callable[[float], float]) -> Callable[[float], float]:
    """The function as IEEE arithmetic has it: NaN or infinity in place of Python's exceptions."""

    def evaluate(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return evaluate


# rad: from here on an angle modulo a turn has few digits left, and sine and cosine are NaN
FARTHEST = {"float64": 1e15, "float32": 2e6}


def _trigonometric(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: function(x) if abs(x) < FARTHEST["float64"] else math.nan


def _least(a: float, b: float) -> float:
    return a if a < b or a != a else b


def _greatest(a: float, b: float) -> float:
    return a if a > b or a != a else b


def _sign(x: float) -> float:
    return x if x != x else float((x > 0) - (x < 0))


OPS: dict[str, Op] = {
    op.name: op
    for op in (
        Op("add", 2, lambda a, b: a + b, "{0} + {1}", "add"),
        Op("sub", 2, lambda a, b: a - b, "{0} - {1}", "add"),
        Op("mul", 2, lambda a, b: a * b, "{0}*{1}", "mul"),
        Op("div", 2, _div, "{0}/{1}", "div"),
        Op("neg", 1, lambda a: -a, "-{0}", "neg"),
        Op("sqrt", 1, _guarded(math.sqrt), "sqrt({0})"),
        Op("sin", 1, _trigonometric(math.sin), "sin({0})", "trig"),
        Op("cos", 1, _trigonometric(math.cos), "cos({0})", "trig"),
        Op("exp", 1, _guarded(math.exp), "exp({0})"),
        Op("tanh", 1, _guarded(math.tanh), "tanh({0})"),
        Op("atan2", 2, math.atan2, "atan2({0}, {1})"),
        Op("sign", 1, _sign, "sign({0})"),
        Op("abs", 1, abs, "abs({0})"),
        Op("min", 2, _least, "min({0}, {1})"),
        Op("max", 2, _greatest, "max({0}, {1})"),
        Op("less", 2, lambda a, b: float(a < b), "less({0}, {1})"),
        Op("where", 3, lambda c, a, b: a if c != 0.0 else b, "where({0}, {1}, {2})"),
    )
}
