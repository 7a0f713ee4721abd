"""Elementary functions of SymPy's expressions, by the names that `scalar` asks for."""

from __future__ import annotations

from typing import Any

from linkwise.files import required


def function_of(x: Any, name: str) -> Any:
    """The function of that name for a SymPy expression x, which has no method for it."""
    if not type(x).__module__.startswith("sympy."):
        raise AttributeError(f"{type(x).__name__!r} object has no attribute {name!r}")
    return _OWN[name] if name in _OWN else getattr(required("sympy", name), name)


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


_OWN: dict[str, Any] = {
    "sqrt": _root,
    "atan2_of": lambda x, y: required("sympy", "atan2").atan2(y, x),
    "minimum": lambda a, b: required("sympy", "minimum").Min(a, b),
    "maximum": lambda a, b: required("sympy", "maximum").Max(a, b),
    "less": _less,
    "greater": lambda a, b: _less(b, a),
    "where": _chosen,
}
