"""Operations as LLVM's vector instructions: one line each where there is such an instruction, else a few of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from linkwise.backend import exponential
from linkwise.backend.target import Target
from linkwise.graph.op import FARTHEST

FAST = "contract reassoc nsz"  # never nnan or ninf: a NaN stays in its row

# one line for each operation: the instruction, with {t} the type, {f} the flags, and the arguments
INSTRUCTIONS = {
    "add": "fadd {f} {t} {0}, {1}",
    "sub": "fsub {f} {t} {0}, {1}",
    "mul": "fmul {f} {t} {0}, {1}",
    "div": "fdiv {f} {t} {0}, {1}",
    "neg": "fneg {t} {0}",
    "sqrt": "call {t} @llvm.sqrt.{s}({t} {0})",
    "abs": "call {t} @llvm.fabs.{s}({t} {0})",
}
DECLARED = ("sqrt", "fabs", "sin", "cos")


class Numbers(NamedTuple):
    """What sine, cosine and the angle of a point are made of, for one kind of reals; highest powers come first.

    Args:
        sin, cos: polynomials of Cephes, in r^2 for |r| < pi/4, after r and after 1 - r^2/2.
        half_pi: in parts.
        rounder: adding it leaves the nearest whole number in the low bits.
        atan: (atan(w)/w - 1)/w^2 as a polynomial in w^2 for |w| < tan(pi/8); the error is a small part of a rounding.
        quarter_pi: in parts, of which the first has so few bits that its multiples up to 4 are exact.
        large: numbers whose sum may overflow, and whose reciprocals have few bits left when multiplied.
        lift: what such reciprocals are multiplied by.
    """

    sin: tuple[float, ...]
    cos: tuple[float, ...]
    half_pi: tuple[float, ...]
    rounder: float
    atan: tuple[float, ...]
    quarter_pi: tuple[float, float]
    large: float
    lift: float


TAN_EIGHTH_PI = 0.41421356237309503
NUMBERS = {
    "float64": Numbers(
        (1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6, -1.98412698295895385996e-4,
         8.33333333332211858878e-3, -1.66666666666666307295e-1),
        (-1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7, 2.48015872888517045348e-5,
         -1.38888888888730564116e-3, 4.16666666666665929218e-2),
        (1.5707963267948965580e00, 6.1232339957367658860e-17, -1.4973849048591698e-33),
        6755399441055744.0,
        (-0.019175404711104935, 0.03923044778479309, -0.050854078345894844, 0.05858140904866328, -0.06664510525508936,
         0.07692183125376892, -0.0909090457530649, 0.11111111015187018, -0.14285714284665682, 0.19999999999995516,
         -0.3333333333333333),
        (0.7853981633974456, 2.6951514290790595e-15),
        2.0**1000,
        2.0**100,
    ),
    "float32": Numbers(
        (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1),
        (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2),
        (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
        12582912.0,
        (-0.06077760362020041, 0.10593640353550393, -0.14243511152445756, 0.19998470413862854, -0.33333315171971595),
        (0.785398006439209, 1.5695823663008923e-07),
        2.0**100,
        2.0**27,
    ),
}  # fmt: skip


class Writer:
    """Lines of one function, with fresh names for values."""

    def __init__(self, target: Target) -> None:
        self.lines: list[str] = []
        self.target = target
        self.type, self.suffix = target.vector, f"v{target.lanes}{target.real.suffix}"
        self.real, self.whole, self.width = target.real.name, target.real.integer, 8 * target.real.bytes
        self.integers, self.bits = f"<{target.lanes} x {self.whole}>", f"<{target.lanes} x i1>"
        self.splat, self.numbers = target.splat, NUMBERS[target.real.dtype]
        self.count = 0

    def put(self, text: str) -> str:
        """Append an instruction and return the name of its value."""
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"{name} = {text}")
        return name

    def at(self, base: str, k: int) -> str:
        return self.put(f"getelementptr inbounds {self.type}, ptr {base}, i64 {k}") if k else base

    def load(self, base: str, k: int) -> str:
        return self.put(f"load {self.type}, ptr {self.at(base, k)}, align {self.target.bytes}")

    def store(self, value: str, base: str, k: int) -> None:
        self.lines.append(f"store {self.type} {value}, ptr {self.at(base, k)}, align {self.target.bytes}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once."""
        t = self.type
        return self.put(f"call {t} @llvm.fma.{self.suffix}({t} {a}, {t} {b}, {t} {c})")

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once where the machine does that by itself."""
        if self.target.fma:
            return self.fma(a, b, c)
        return self.put(f"fadd {self.type} {self.put(f'fmul {self.type} {a}, {b}')}, {c}")


def operation(w: Writer, op: str, args: list[str], angles: dict[Any, tuple[str, str]], angle: Any) -> str:
    """The value of one operation; sine and cosine of one angle are found together."""
    if op in ("sin", "cos"):
        if angle not in angles:
            angles[angle] = _sincos(w, args[0])
        return angles[angle][op == "cos"]
    rule = INSTRUCTIONS.get(op)
    return w.put(rule.format(*args, t=w.type, s=w.suffix, f=FAST)) if rule else COMPOSITE[op](w, *args)


# ---- operations of several instructions


def _sign(w: Writer, x: str) -> str:
    t = w.type
    above = w.put(f"fcmp ogt {t} {x}, zeroinitializer")
    below = w.put(f"fcmp olt {t} {x}, zeroinitializer")
    flat = w.put(f"fcmp oeq {t} {x}, zeroinitializer")
    a = w.put(f"select {w.bits} {flat}, {t} zeroinitializer, {t} {x}")  # a NaN stays one
    b = w.put(f"select {w.bits} {below}, {t} {w.splat(-1.0)}, {t} {a}")
    return w.put(f"select {w.bits} {above}, {t} {w.splat(1.0)}, {t} {b}")


def _extreme(w: Writer, a: str, b: str, test: str) -> str:
    t = w.type
    first = w.put(f"fcmp {test} {t} {a}, {b}")
    unknown = w.put(f"fcmp uno {t} {a}, {a}")  # b is taken where it is NaN, and a here
    return w.put(f"select {w.bits} {w.put(f'or {w.bits} {first}, {unknown}')}, {t} {a}, {t} {b}")


def _less(w: Writer, a: str, b: str) -> str:
    c = w.put(f"fcmp olt {w.type} {a}, {b}")
    return w.put(f"select {w.bits} {c}, {w.type} {w.splat(1.0)}, {w.type} zeroinitializer")


def _where(w: Writer, c: str, a: str, b: str) -> str:
    test = w.put(f"fcmp une {w.type} {c}, zeroinitializer")
    return w.put(f"select {w.bits} {test}, {w.type} {a}, {w.type} {b}")


def _atan2(w: Writer, y: str, x: str) -> str:
    """The angle of (x, y) as C has it: the smaller part over the larger one, about the nearest multiple of pi/4."""
    t, i, bits, numbers = w.type, w.integers, w.bits, w.numbers

    def choose(condition: str, a: str, b: str) -> str:
        return w.put(f"select {bits} {condition}, {t} {a}, {t} {b}")

    across, along = (w.put(f"call {t} @llvm.fabs.{w.suffix}({t} {a})") for a in (y, x))
    steep = w.put(f"fcmp ogt {t} {across}, {along}")
    small, big = choose(steep, along, across), choose(steep, across, along)
    unit = choose(w.put(f"fcmp ogt {t} {big}, {w.splat(numbers.large)}"), w.splat(0.5), w.splat(1.0))
    unit = choose(w.put(f"fcmp olt {t} {big}, {w.splat(1.0 / numbers.large)}"), w.splat(numbers.lift), unit)
    small, big = (w.put(f"fmul {t} {a}, {unit}") for a in (small, big))
    some = w.put(f"fcmp ogt {t} {big}, zeroinitializer")
    near = w.put(f"fcmp oge {t} {small}, {w.put(f'fmul {t} {big}, {w.splat(TAN_EIGHTH_PI)}')}")
    diagonal = w.put(f"and {bits} {near}, {some}")
    # tan(a - pi/4) = (tan a - 1)/(tan a + 1); two infinities are equal parts, two zeros have the angle zero
    equal = w.put(f"fcmp oeq {t} {small}, {big}")
    difference = choose(equal, "zeroinitializer", w.put(f"fsub {t} {small}, {big}"))
    top = choose(diagonal, difference, small)
    bottom = choose(diagonal, w.put(f"fadd {t} {small}, {big}"), choose(some, big, w.splat(1.0)))
    tangent = w.put(f"fdiv {t} {top}, {bottom}")
    z = w.put(f"fmul {t} {tangent}, {tangent}")
    p = w.splat(numbers.atan[0])
    for c in numbers.atan[1:]:
        p = w.multiply_add(z, p, w.splat(c))
    angle = w.multiply_add(w.put(f"fmul {t} {tangent}, {z}"), p, tangent)
    # from the octant to the half plane: about pi/2 where the point is steep, about pi where it is on the left
    quarters = choose(diagonal, w.splat(1.0), "zeroinitializer")
    left = w.put(f"icmp slt {i} {w.put(f'bitcast {t} {x} to {i}')}, zeroinitializer")
    for mirrored, turn in ((steep, 2.0), (left, 4.0)):
        angle = choose(mirrored, w.put(f"fneg {t} {angle}"), angle)
        quarters = choose(mirrored, w.put(f"fsub {t} {w.splat(turn)}, {quarters}"), quarters)
    for part in reversed(numbers.quarter_pi):
        angle = w.multiply_add(quarters, w.splat(part), angle)
    sign = w.put(f"and {i} {w.put(f'bitcast {t} {y} to {i}')}, splat ({w.whole} {-(2 ** (w.width - 1))})")
    signed = w.put(f"xor {i} {w.put(f'bitcast {t} {angle} to {i}')}, {sign}")
    unknown = w.put(f"fcmp uno {t} {y}, {x}")
    return choose(unknown, w.splat(float("nan")), w.put(f"bitcast {i} {signed} to {t}"))


COMPOSITE: dict[str, Callable[..., str]] = {
    "atan2": _atan2,
    "exp": exponential.exp,
    "tanh": exponential.tanh,
    "sign": _sign,
    "min": partial(_extreme, test="olt"),
    "max": partial(_extreme, test="ogt"),
    "less": _less,
    "where": _where,
}


def _sincos(w: Writer, x: str) -> tuple[str, str]:
    """Sine and cosine by Cody-Waite reduction with fused operations; libm's, number by number, where there are none."""
    t, i, numbers = w.type, w.integers, w.numbers
    size = w.put(f"call {t} @llvm.fabs.{w.suffix}({t} {x})")
    near = w.put(f"fcmp olt {t} {size}, {w.splat(FARTHEST[w.target.real.dtype])}")
    if not w.target.fma:
        x = w.put(f"select {w.bits} {near}, {t} {x}, {t} {w.splat(float('nan'))}")
        return tuple(w.put(f"call {t} @llvm.{f}.{w.suffix}({t} {x})") for f in ("sin", "cos"))  # type: ignore[return-value]
    turns = w.fma(x, w.splat(0.6366197723675813431), w.splat(numbers.rounder))
    n = w.put(f"fsub {t} {turns}, {w.splat(numbers.rounder)}")
    minus = w.put(f"fneg {t} {n}")
    r = x
    for part in numbers.half_pi:  # the first difference is exact, the last part matters next to multiples of pi/2
        r = w.fma(minus, w.splat(part), r)
    r = w.put(f"select {w.bits} {near}, {t} {r}, {t} {w.splat(float('nan'))}")
    z = w.put(f"fmul {t} {r}, {r}")
    s, c = w.splat(numbers.sin[0]), w.splat(numbers.cos[0])
    for of_sine, of_cosine in zip(numbers.sin[1:], numbers.cos[1:], strict=True):
        s, c = w.fma(z, s, w.splat(of_sine)), w.fma(z, c, w.splat(of_cosine))
    sine = w.fma(w.put(f"fmul {t} {z}, {r}"), s, r)
    cosine = w.fma(w.put(f"fmul {t} {z}, {z}"), c, w.fma(z, w.splat(-0.5), w.splat(1.0)))
    # odd quarter turns swap the two; the second bit gives the sign
    quarters = w.put(f"bitcast {t} {turns} to {i}")
    low = w.put(f"shl {i} {quarters}, splat ({w.whole} {w.width - 1})")
    odd = w.put(f"icmp slt {i} {low}, zeroinitializer")
    shifted = w.put(f"add {i} {quarters}, splat ({w.whole} 1)")
    results = []
    for quarter, a, b in ((quarters, cosine, sine), (shifted, sine, cosine)):
        swapped = w.put(f"select {w.bits} {odd}, {t} {a}, {t} {b}")
        second = w.put(f"and {i} {quarter}, splat ({w.whole} 2)")
        flip = w.put(f"shl {i} {second}, splat ({w.whole} {w.width - 2})")
        whole = w.put(f"bitcast {t} {swapped} to {i}")
        signed = w.put(f"xor {i} {whole}, {flip}")
        results.append(w.put(f"bitcast {i} {signed} to {t}"))
    return results[0], results[1]


def header(target: Target) -> str:
    """Declarations of what the instructions call."""
    t, s = target.vector, f"v{target.lanes}{target.real.suffix}"
    unary = [f"declare {t} @llvm.{f}.{s}({t})" for f in DECLARED]
    return "\n".join([*unary, f"declare {t} @llvm.fma.{s}({t}, {t}, {t})"])
