"""Elementary functions of any scalar: a float, a complex number, anything with methods of these names, or SymPy's.

CasADi's expressions and mpmath's numbers and intervals are scalars too. An algorithm written with these runs on
numbers, on traced expressions and on symbols alike.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

Scalar = Any  # a float, a complex number, or an expression with arithmetic and the methods below

NUMBERS = (int, float)


def sin(x: Scalar) -> Scalar:
    return math.sin(x) if isinstance(x, NUMBERS) else _other(x, "sin", cmath.sin)


def cos(x: Scalar) -> Scalar:
    return math.cos(x) if isinstance(x, NUMBERS) else _other(x, "cos", cmath.cos)


def sqrt(x: Scalar) -> Scalar:
    return math.sqrt(x) if isinstance(x, NUMBERS) else _other(x, "sqrt", cmath.sqrt)


def exp(x: Scalar) -> Scalar:
    return math.exp(x) if isinstance(x, NUMBERS) else _other(x, "exp", cmath.exp)


def tanh(x: Scalar) -> Scalar:
    return math.tanh(x) if isinstance(x, NUMBERS) else _other(x, "tanh", cmath.tanh)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y) from the x axis, in (-pi, pi]; complex points continue it analytically."""
    if isinstance(y, NUMBERS) and isinstance(x, NUMBERS):
        return math.atan2(y, x)
    if isinstance(y, (*NUMBERS, complex)) and isinstance(x, (*NUMBERS, complex)):
        return _complex_angle(complex(y), complex(x))
    return _call(x, "atan2_of", y) if isinstance(y, NUMBERS) or _has_parts(x) else _call(y, "atan2", x)


def _complex_angle(y: complex, x: complex) -> complex:
    """The angle of the real parts, and what the imaginary ones add, seen from its direction: no step is too small."""
    angle, r = math.atan2(y.real, x.real), math.hypot(x.real, y.real)
    if r == 0.0:
        return complex(angle)
    c, s = x.real / r, y.real / r
    return angle + cmath.atan(complex(0.0, c * y.imag - s * x.imag) / complex(r, c * x.imag + s * y.imag))


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1; the sign of zero is zero."""
    if isinstance(x, complex):
        x = x.real
    return float(x > 0) - float(x < 0) if isinstance(x, NUMBERS) else _call(x, "sign")


def absolute(x: Scalar) -> Scalar:
    """|x|, continued analytically for a complex x so that a complex step passes through."""
    if isinstance(x, complex):
        return -x if x.real < 0 else x
    return abs(x)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller of the two, NaN where one of them is NaN."""
    return _extreme(a, b, "minimum", lambda x, y: x < y)


def maximum(a: Scalar, b: Scalar) -> Scalar:
    """The larger of the two, NaN where one of them is NaN."""
    return _extreme(a, b, "maximum", lambda x, y: x > y)


def clip(x: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    """x within bounds."""
    return minimum(maximum(x, lower), upper)


def less(a: Scalar, b: Scalar) -> Scalar:
    """1 where a < b, else 0."""
    if isinstance(a, complex):
        a = a.real
    if isinstance(b, complex):
        b = b.real
    if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
        return float(a < b)
    return _call(b, "greater", a) if isinstance(a, NUMBERS) or _has_parts(b) else _call(a, "less", b)


def where(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """a where the condition is not zero, else b."""
    if isinstance(condition, NUMBERS):
        return a if condition else b
    for x in (a, b):
        if _has_parts(x):  # each of which is chosen
            return x.choose(condition, a, b)
    return _call(condition, "where", a, b)


def tolerance(x: Scalar, of_float64: float, of_float32: float) -> float:
    """What counts as round-off in a result that comes from x, by the kind of numbers that x is."""
    return of_float32 if getattr(x, "dtype", "float64") == "float32" else of_float64


def is_number(x: Scalar) -> bool:
    """True for a plain real number, whose value may steer how a model is laid out."""
    return isinstance(x, NUMBERS)


def number(x: Scalar) -> Scalar:
    """The number of a position that may be known otherwise, as an angle by its cosine and sine."""
    return x.number() if hasattr(x, "number") else x


def note(index: object, **values: Any) -> None:
    """Name intermediate results for listings; does nothing on plain numbers.

    `note(3, omega=w)` names the components of the vector `w` omega3x, omega3y, omega3z.
    """
    for name, value in values.items():
        for suffix, x in value.labelled() if hasattr(value, "labelled") else (("", value),):
            if hasattr(x, "named"):
                x.named(f"{name}{index}{suffix}")


def _extreme(a: Scalar, b: Scalar, method: str, first: Callable[[float, float], bool]) -> Scalar:
    """a where it comes first or is NaN, else b; of complex numbers the real parts are compared."""
    if isinstance(a, (*NUMBERS, complex)) and isinstance(b, (*NUMBERS, complex)):
        return a if first(a.real, b.real) or a != a else b
    one, other = (b, a) if isinstance(a, NUMBERS) or _has_parts(b) else (a, b)
    return _call(one, method, other)


def _has_parts(x: Scalar) -> bool:
    """Whether a value is made of others: a jet, or a vector. NumPy's numbers have their own method `choose`."""
    return hasattr(x, "choose") and not isinstance(x, NUMBERS)


def _other(x: Scalar, method: str, of_complex: Any) -> Scalar:
    return of_complex(x) if isinstance(x, complex) else _call(x, method)


def _call(x: Scalar, method: str, *others: Scalar) -> Scalar:
    """A method of a scalar; where it has none, the function of its library."""
    found = getattr(x, method, None)
    if callable(found):  # a number of mpmath has another `exp`
        return found(*others)
    from linkwise.expressions import function_of

    return function_of(x, method)(x, *others)
