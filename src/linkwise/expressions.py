"""Elementary functions of other libraries' scalars, by the names that `scalar` asks for.

Expressions of SymPy and of CasADi, numbers of mpmath with many digits, and its intervals. What a scalar has as a method
of its own is never asked for here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwise.errors import InputError
from linkwise.files import required


def function_of(x: Any, name: str) -> Any:
    """The function of that name for a scalar x of another library, which has no method for it."""
    package = type(x).__module__.partition(".")[0]
    if package in FAMILIES:
        return FAMILIES[package](x, name)
    if package in ("jax", "jaxlib"):
        raise InputError(
            f"{name} of a {type(x).__name__} of JAX: expected numbers, or scalars of SymPy, CasADi or mpmath."
            " Compile the algorithm, and call kernel.jax()."
        )
    raise AttributeError(f"{type(x).__name__!r} object has no attribute {name!r}")


def entries(given: Any) -> list[Any]:
    """The scalars of a sequence, or of a column of CasADi, which cannot be iterated over."""
    if type(given).__module__.partition(".")[0] == "casadi" and hasattr(given, "numel"):
        return [given[k] for k in range(given.numel())]
    return list(given)


# ---- SymPy


def _sympy(x: Any, name: str) -> Any:
    return _SYMPY[name] if name in _SYMPY else getattr(required("sympy", name), name)


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition is not zero, else b; a comparison of `less` is asked itself.

    Where one of them is NaN, which is how kernels mark rows without an answer, the formula is the other.
    """
    sympy = required("sympy", "where")
    if a != a or a is sympy.nan or b != b or b is sympy.nan:
        return b if a != a or a is sympy.nan else a
    pieces: Any = condition.args if isinstance(condition, sympy.Piecewise) else ()
    if len(pieces) == 2 and [x for x, _ in pieces] == [1, 0]:
        return sympy.Piecewise((a, pieces[0][1]), (b, True))
    return sympy.Piecewise((a, sympy.Ne(condition, 0)), (b, True))


def _root(x: Any) -> Any:
    """The square root; that of one or else minus one, which is how kernels mark what has an answer, is one."""
    sympy = required("sympy", "sqrt")
    marks = isinstance(x, sympy.Piecewise) and [value for value, _ in x.args] == [1, -1]
    return sympy.Integer(1) if marks else sympy.sqrt(x)


def _less(a: Any, b: Any) -> Any:
    sympy = required("sympy", "less")
    return sympy.Piecewise((1, sympy.Lt(a, b)), (0, True))


_SYMPY: dict[str, Any] = {
    "sqrt": _root,
    "atan2_of": lambda x, y: required("sympy", "atan2").atan2(y, x),
    "minimum": lambda a, b: required("sympy", "minimum").Min(a, b),
    "maximum": lambda a, b: required("sympy", "maximum").Max(a, b),
    "less": _less,
    "greater": lambda a, b: _less(b, a),
    "where": _chosen,
}


# ---- CasADi: most functions are methods of its own


def _casadi(x: Any, name: str) -> Any:
    casadi = required("casadi", name)
    own: dict[str, Any] = {
        "atan2_of": lambda x, y: casadi.atan2(y, x),
        "minimum": casadi.fmin,
        "maximum": casadi.fmax,
        "less": casadi.lt,
        "greater": casadi.gt,
        "where": lambda c, a, b: casadi.if_else(c != 0, a, b),
    }
    return own[name] if name in own else getattr(casadi, name)


# ---- mpmath: numbers with many digits, and intervals, which say of a comparison that it may go either way


def _mpmath(x: Any, name: str) -> Any:
    context = getattr(x, "context", None) or x.ctx
    own = {**_COMPARED, "atan2_of": lambda x, y: context.atan2(y, x)}
    if hasattr(x, "delta"):  # of intervals
        own |= _INTERVALS
    return own[name] if name in own else getattr(context, name)


_COMPARED: dict[str, Any] = {
    "minimum": lambda a, b: a if a < b or a != a else b,
    "maximum": lambda a, b: a if a > b or a != a else b,
    "less": lambda a, b: float(a < b),
    "greater": lambda a, b: float(a > b),
    "where": lambda c, a, b: a if c != 0 else b,
}


def _ends(x: Any) -> tuple[Any, Any]:
    return (x.a, x.b) if hasattr(x, "delta") else (x, x)


def _each_end(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The interval of a function that grows with both its arguments."""
    return lambda a, b: _hull(a, b, *(function(x, y) for x, y in zip(_ends(a), _ends(b), strict=True)))


def _hull(like: Any, other: Any, low: Any, high: Any) -> Any:
    interval = like if hasattr(like, "delta") else other
    return interval.ctx.mpf([_ends(low)[0], _ends(high)[1]])


def _interval_less(a: Any, b: Any) -> Any:
    """1 where all of a is below all of b, 0 where none of it is below any, else anything between."""
    (a_low, a_high), (b_low, b_high) = _ends(a), _ends(b)
    return 1.0 if a_high < b_low else 0.0 if a_low >= b_high else _hull(a, b, 0.0, 1.0)


def _interval_where(c: Any, a: Any, b: Any) -> Any:
    """Both, where the condition may be zero and may be not."""
    low, high = _ends(c)
    if low > 0 or high < 0:
        return a
    if low == high:
        return b
    (a_low, a_high), (b_low, b_high) = _ends(a), _ends(b)
    return _hull(c, c, min(a_low, b_low), max(a_high, b_high))


def _interval_tanh(x: Any) -> Any:
    """2/(1 + exp(-2 x)) - 1, at both ends."""
    low, high = (2 / (1 + x.ctx.exp(-2 * end)) - 1 for end in _ends(x))
    return _hull(x, x, low, high)


_INTERVALS: dict[str, Any] = {
    "minimum": _each_end(lambda x, y: x if x < y else y),
    "maximum": _each_end(lambda x, y: x if x > y else y),
    "less": _interval_less,
    "greater": lambda a, b: _interval_less(b, a),
    "where": _interval_where,
    "tanh": _interval_tanh,
    "sign": lambda x: _hull(x, x, *(float(end > 0) - float(end < 0) for end in _ends(x))),
}

FAMILIES: dict[str, Callable[[Any, str], Any]] = {"sympy": _sympy, "casadi": _casadi, "mpmath": _mpmath}
