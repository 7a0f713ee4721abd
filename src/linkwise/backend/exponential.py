"""Exponential and hyperbolic tangent of vectors, from one polynomial between the powers of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from linkwise.backend.operations import Writer

LOG2_E = 1.4426950408889634


class Numbers(NamedTuple):
    """What the two are made of, for one kind of reals.

    Args:
        series: (exp(r) - 1 - r)/r^2 as a polynomial for |r| < log(2)/2, highest power first; its error is a hundredth
            of a rounding.
        log2: in parts, of which the first has so few bits that its multiples by exponents are exact.
        mantissa, bias: of the format.
        far: beyond it exp is zero or infinite.
        flat: beyond it tanh is one.
    """

    series: tuple[float, ...]
    log2: tuple[float, float]
    mantissa: int
    bias: int
    far: float
    flat: float


NUMBERS = {
    "float64": Numbers(
        (2.0914686968086876e-09, 2.5105217004720745e-08, 2.75572736431103e-07, 2.7557255400206422e-06,
         2.4801587325547743e-05, 0.00019841269874820627, 0.0013888888888883748, 0.008333333333326136,
         0.04166666666666667, 0.1666666666666667, 0.5),
        (6.93147180369123816490e-01, 1.90821492927058770002e-10),
        52, 1023, 800.0, 22.0,
    ),
    "float32": Numbers(
        (0.00019890990824673654, 0.0013933649996309251, 0.0083333109254809, 0.041666464925285904,
         0.16666666681623232, 0.500000001346581),
        (6.9313812256e-01, 9.0580006145e-06),
        23, 127, 120.0, 10.0,
    ),
}  # fmt: skip


def exp(w: Writer, x: str) -> str:
    """2^n exp(r), with 2^n in two parts, so that results of all sizes are rounded once."""
    t, i, numbers = w.type, w.integers, NUMBERS[w.target.real.dtype]
    for test, end in (("olt", -numbers.far), ("ogt", numbers.far)):  # a NaN stays one
        x = w.put(f"select {w.bits} {w.put(f'fcmp {test} {t} {x}, {w.splat(end)}')}, {t} {w.splat(end)}, {t} {x}")
    n, rest = _reduced(w, x, numbers)
    offset = 8 * numbers.bias  # so that a shift without sign halves n
    raised = w.put(f"add {i} {n}, splat ({w.whole} {offset})")
    half = w.put(f"lshr {i} {raised}, splat ({w.whole} 1)")
    first = w.put(f"sub {i} {half}, splat ({w.whole} {offset // 2})")
    second = w.put(f"sub {i} {n}, {first}")
    value = w.put(f"fadd {t} {rest}, {w.splat(1.0)}")
    for part in (first, second):
        value = w.put(f"fmul {t} {value}, {_power(w, part, numbers)}")
    return value


def tanh(w: Writer, x: str) -> str:
    """e/(e + 2) with e = exp(2 |x|) - 1, which keeps its digits where x is small."""
    t, i, numbers = w.type, w.integers, NUMBERS[w.target.real.dtype]
    size = w.put(f"call {t} @llvm.fabs.{w.suffix}({t} {x})")
    flat = w.put(f"fcmp ogt {t} {size}, {w.splat(numbers.flat)}")
    size = w.put(f"select {w.bits} {flat}, {t} {w.splat(numbers.flat)}, {t} {size}")
    n, rest = _reduced(w, w.put(f"fadd {t} {size}, {size}"), numbers)
    power = _power(w, n, numbers)
    grown = w.multiply_add(power, rest, w.put(f"fsub {t} {power}, {w.splat(1.0)}"))
    value = w.put(f"fdiv {t} {grown}, {w.put(f'fadd {t} {grown}, {w.splat(2.0)}')}")
    sign = w.put(f"and {i} {w.put(f'bitcast {t} {x} to {i}')}, splat ({w.whole} {-(2 ** (w.width - 1))})")
    signed = w.put(f"or {i} {w.put(f'bitcast {t} {value} to {i}')}, {sign}")
    return w.put(f"bitcast {i} {signed} to {t}")


def _reduced(w: Writer, x: str, numbers: Numbers) -> tuple[str, str]:
    """n and exp(r) - 1, with x = n log(2) + r."""
    t, i = w.type, w.integers
    rounder = w.splat(w.numbers.rounder)
    shifted = w.multiply_add(x, w.splat(LOG2_E), rounder)
    whole = w.put(f"fsub {t} {shifted}, {rounder}")
    n = w.put(f"sub {i} {w.put(f'bitcast {t} {shifted} to {i}')}, {w.put(f'bitcast {t} {rounder} to {i}')}")
    minus, r = w.put(f"fneg {t} {whole}"), x
    for part in numbers.log2:
        r = w.multiply_add(minus, w.splat(part), r)
    p = w.splat(numbers.series[0])
    for c in numbers.series[1:]:
        p = w.multiply_add(r, p, w.splat(c))
    return n, w.multiply_add(w.put(f"fmul {t} {r}, {r}"), p, r)


def _power(w: Writer, n: str, numbers: Numbers) -> str:
    """2^n of whole numbers, within the exponents of the format."""
    i = w.integers
    biased = w.put(f"add {i} {n}, splat ({w.whole} {numbers.bias})")
    return w.put(f"bitcast {i} {w.put(f'shl {i} {biased}, splat ({w.whole} {numbers.mantissa})')} to {w.type}")
