"""Sine with cosine, exp, tanh and the angle of a point without any library: straight lines that C and Rust both read.

A function is a list of named values in the notation that both languages share. Nothing branches: `own_select` takes the
bits of one of two values that are both known by a mask, which compilers leave without a jump, and sine and cosine come
from the quarter turns n by the sum of angles, in which sin(n pi/2) and cos(n pi/2) are -1, 0 or 1, so that nothing is
rounded. The polynomials are those of native code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from linkwise.backend import exponential, operations

# in place of those of a library; sine and cosine are two fields of one value, which a program computes once
EXPRESSIONS = {
    "sin": "{0}.s",
    "cos": "{0}.c",
    "exp": "own_exp({0})",
    "tanh": "own_tanh({0})",
    "atan2": "own_atan2({0}, {1})",
    "sign": "own_select({0} > 0.0{f}, 1.0{f}, own_select({0} < 0.0{f}, -1.0{f}, 0.0{f} * {0}))",
    "min": "own_select(({0} < {1}) | ({0} != {0}), {0}, {1})",
    "max": "own_select(({0} > {1}) | ({0} != {0}), {0}, {1})",
    "less": "own_select({0} < {1}, 1.0{f}, 0.0{f})",
    "where": "own_select({0} != 0.0{f}, {1}, {2})",
}
PAIR = "own_sincos({0})"
NAMES = ("OwnPair", "own_sincos", "own_exp", "own_tanh", "own_atan2", "own_select", "own_power")
USED = {"sin": "sincos", "cos": "sincos", "exp": "exp", "tanh": "tanh", "atan2": "atan2"}  # the function of each
SELECTS = {"exp", "tanh", "atan2", "sign", "min", "max", "less", "where"}  # operations that choose

# pi/2 in parts with so few bits that n times each is exact without a fused operation, for angles up to `far`;
# `beyond` times a larger angle is infinite, and that times zero is not a number
HALF_PI = {
    "float64": (1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987428e-23),
    "float32": (1.5703125, 0.0004837512969970703, 7.549533620476723e-08, 2.5633440682570896e-12),
}
FARTHEST = {"float64": 1e5, "float32": 1e4}  # rad
LARGEST = {"float64": 1.7976931348623157e308, "float32": 3.4028234663852886e38}


class Function(NamedTuple):
    """A function of numbers: its arguments, its values in order, and the value or the two that it gives."""

    name: str
    arguments: tuple[str, ...]
    lines: list[tuple[str, str]]
    result: tuple[str, ...]


def functions(ops: Iterable[str], dtype: str, number: Callable[[float], str]) -> list[Function]:
    """The functions that operations need, in this kind of numbers, which `number` writes."""
    wanted = {USED[op] for op in ops if op in USED}
    return [make(dtype, number) for name, make in MADE.items() if name in wanted]


def _polynomial(x: str, coefficients: Sequence[float], number: Callable[[float], str]) -> str:
    text = number(coefficients[0])
    for c in coefficients[1:]:
        text = f"({text}) * {x} + ({number(c)})"
    return text


def _rounded(text: str, rounder: str) -> str:
    """The nearest whole number, of two the even one."""
    return f"(({text}) + {rounder}) - {rounder}"


def _sincos(dtype: str, number: Callable[[float], str]) -> Function:
    numbers, rounder = operations.NUMBERS[dtype], number(operations.NUMBERS[dtype].rounder)
    rest = "x"
    for part in HALF_PI[dtype]:
        rest = f"({rest} - n * {number(part)})"
    half, two, one = number(0.5), number(2.0), number(1.0)
    return Function(
        "own_sincos",
        ("x",),
        [
            ("n", _rounded(f"x * {number(0.6366197723675813431)}", rounder)),
            ("far", f"(x * {number(LARGEST[dtype] / FARTHEST[dtype])}) * {number(0.0)}"),
            ("r", f"{rest} + far"),
            ("z", "r * r"),
            ("s", f"r + (z * r) * ({_polynomial('z', numbers.sin, number)})"),
            ("c", f"({one} - {half} * z) + (z * z) * ({_polynomial('z', numbers.cos, number)})"),
            ("along", _rounded(f"n * {half}", rounder)),
            ("sine", f"n - {two} * along"),
            ("next", f"n + {one}"),
            ("across", _rounded(f"next * {half}", rounder)),
            ("cosine", f"next - {two} * across"),
        ],
        ("s * cosine + c * sine", "c * cosine - s * sine"),
    )


def _reduced(x: str, dtype: str, number: Callable[[float], str]) -> list[tuple[str, str]]:
    """n and rest = exp(r) - 1, with x = n log(2) + r; of what is not a number n is zero."""
    numbers, rounder = exponential.NUMBERS[dtype], number(operations.NUMBERS[dtype].rounder)
    first, last = map(number, numbers.log2)
    return [
        ("whole", _rounded(f"{x} * {number(exponential.LOG2_E)}", rounder)),
        ("r", f"({x} - whole * {first}) - whole * {last}"),
        ("rest", f"(r * r) * ({_polynomial('r', numbers.series, number)}) + r"),
        ("n", f"own_select(whole == whole, whole, {number(0.0)})"),
    ]


def _exp(dtype: str, number: Callable[[float], str]) -> Function:
    far, rounder = number(exponential.NUMBERS[dtype].far), number(operations.NUMBERS[dtype].rounder)
    return Function(
        "own_exp",
        ("x",),
        [
            ("above", f"own_select(x < -{far}, -{far}, x)"),
            ("near", f"own_select(above > {far}, {far}, above)"),
            *_reduced("near", dtype, number),
            ("half", _rounded(f"n * {number(0.5)}", rounder)),  # in two parts, so that all sizes are rounded once
        ],
        (f"((rest + {number(1.0)}) * own_power(half)) * own_power(n - half)",),
    )


def _tanh(dtype: str, number: Callable[[float], str]) -> Function:
    flat, zero, one = number(exponential.NUMBERS[dtype].flat), number(0.0), number(1.0)
    return Function(
        "own_tanh",
        ("x",),
        [
            ("size", f"own_select(x < {zero}, -x, x)"),
            ("flat", f"own_select(size > {flat}, {flat}, size)"),
            ("twice", "flat + flat"),
            *_reduced("twice", dtype, number),
            ("power", "own_power(n)"),
            ("grown", f"power * rest + (power - {one})"),
            ("value", f"grown / (grown + {number(2.0)})"),
        ],
        (f"own_select(x < {zero}, -value, value)",),
    )


def _atan2(dtype: str, number: Callable[[float], str]) -> Function:
    """The angle of (x, y): the smaller part over the larger one, about the nearest multiple of pi/4."""
    numbers, zero, one = operations.NUMBERS[dtype], number(0.0), number(1.0)
    first, last = map(number, numbers.quarter_pi)
    return Function(
        "own_atan2",
        ("y", "x"),
        [
            ("left", f"own_select(x + {one} / x < {zero}, {one}, {zero})"),  # also of minus zero
            ("below", f"own_select(y + {one} / y < {zero}, {number(-1.0)}, {one})"),
            ("across", f"own_select(y < {zero}, -y, y)"),
            ("along", f"own_select(x < {zero}, -x, x)"),
            ("steep", f"own_select(across > along, {one}, {zero})"),
            ("lower", "own_select(across > along, along, across)"),
            ("higher", "own_select(across > along, across, along)"),
            ("shrunk", f"own_select(higher > {number(numbers.large)}, {number(0.5)}, {one})"),
            ("unit", f"own_select(higher < {number(1.0 / numbers.large)}, {number(numbers.lift)}, shrunk)"),
            ("small", "lower * unit"),
            ("big", "higher * unit"),
            ("close", f"own_select(small >= big * {number(operations.TAN_EIGHTH_PI)}, {one}, {zero})"),
            ("diagonal", f"own_select(big > {zero}, close, {zero})"),
            ("less", f"own_select(small == big, {zero}, small - big)"),
            ("top", f"own_select(diagonal > {zero}, less, small)"),
            ("some", f"own_select(big > {zero}, big, {one})"),
            ("bottom", f"own_select(diagonal > {zero}, small + big, some)"),
            ("tangent", "top / bottom"),
            ("z", "tangent * tangent"),
            ("octant", f"tangent + (tangent * z) * ({_polynomial('z', numbers.atan, number)})"),
            ("turned", f"own_select(steep > {zero}, -octant, octant)"),
            ("quarters", f"own_select(steep > {zero}, {number(2.0)} - diagonal, diagonal)"),
            ("angle", f"own_select(left > {zero}, -turned, turned)"),
            ("eighths", f"own_select(left > {zero}, {number(4.0)} - quarters, quarters)"),
            ("value", f"below * (eighths * {first} + (eighths * {last} + angle))"),
        ],
        ("own_select(x == x, value, x)",),
    )


MADE: dict[str, Callable[[str, Callable[[float], str]], Function]] = {
    "sincos": _sincos,
    "exp": _exp,
    "tanh": _tanh,
    "atan2": _atan2,
}
