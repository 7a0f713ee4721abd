"""Operations as LLVM's vector instructions: one line each where there is such an instruction, else a few of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwise.backend.target import Target, splat
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
    "exp": "call {t} @llvm.exp.{s}({t} {0})",
    "tanh": "call {t} @llvm.tanh.{s}({t} {0})",
    "abs": "call {t} @llvm.fabs.{s}({t} {0})",
}
DECLARED = ("sqrt", "exp", "tanh", "fabs", "sin", "cos")


class Writer:
    """Lines of one function, with fresh names for values."""

    def __init__(self, target: Target) -> None:
        self.lines: list[str] = []
        self.target = target
        self.type, self.suffix = f"<{target.lanes} x double>", f"v{target.lanes}f64"
        self.integers, self.bits = f"<{target.lanes} x i64>", f"<{target.lanes} x i1>"
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
        return self.put(f"load {self.type}, ptr {self.at(base, k)}, align {8 * self.target.lanes}")

    def store(self, value: str, base: str, k: int) -> None:
        self.lines.append(f"store {self.type} {value}, ptr {self.at(base, k)}, align {8 * self.target.lanes}")

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
    b = w.put(f"select {w.bits} {below}, {t} {splat(-1.0)}, {t} {a}")
    return w.put(f"select {w.bits} {above}, {t} {splat(1.0)}, {t} {b}")


def _less(w: Writer, a: str, b: str) -> str:
    c = w.put(f"fcmp olt {w.type} {a}, {b}")
    return w.put(f"select {w.bits} {c}, {w.type} {splat(1.0)}, {w.type} zeroinitializer")


def _where(w: Writer, c: str, a: str, b: str) -> str:
    test = w.put(f"fcmp une {w.type} {c}, zeroinitializer")
    return w.put(f"select {w.bits} {test}, {w.type} {a}, {w.type} {b}")


# (atan(w)/w - 1)/w^2 as a polynomial in w^2 for |w| < tan(pi/8), highest power first; the error is 7e-18 of the angle
ATAN = (-0.019175404711104935, 0.03923044778479309, -0.050854078345894844, 0.05858140904866328, -0.06664510525508936,
        0.07692183125376892, -0.0909090457530649, 0.11111111015187018, -0.14285714284665682, 0.19999999999995516,
        -0.3333333333333333)  # fmt: skip
QUARTER_PI = (0.7853981633974456, 2.6951514290790595e-15)  # the first part, of few bits, times 3 is exact
TAN_EIGHTH_PI = 0.41421356237309503
LARGE = 2.0**1000  # numbers whose sum may overflow, and whose reciprocals have few bits left when multiplied


def _atan2(w: Writer, y: str, x: str) -> str:
    """The angle of (x, y) as C has it: the smaller part over the larger one, about the nearest multiple of pi/4."""
    t, i, bits = w.type, w.integers, w.bits

    def choose(condition: str, a: str, b: str) -> str:
        return w.put(f"select {bits} {condition}, {t} {a}, {t} {b}")

    across, along = (w.put(f"call {t} @llvm.fabs.{w.suffix}({t} {a})") for a in (y, x))
    steep = w.put(f"fcmp ogt {t} {across}, {along}")
    small, big = choose(steep, along, across), choose(steep, across, along)
    unit = choose(w.put(f"fcmp ogt {t} {big}, {splat(LARGE)}"), splat(0.5), splat(1.0))
    unit = choose(w.put(f"fcmp olt {t} {big}, {splat(1.0 / LARGE)}"), splat(2.0**100), unit)
    small, big = (w.put(f"fmul {t} {a}, {unit}") for a in (small, big))
    some = w.put(f"fcmp ogt {t} {big}, zeroinitializer")
    near = w.put(f"fcmp oge {t} {small}, {w.put(f'fmul {t} {big}, {splat(TAN_EIGHTH_PI)}')}")
    diagonal = w.put(f"and {bits} {near}, {some}")
    # tan(a - pi/4) = (tan a - 1)/(tan a + 1); two infinities are equal parts, two zeros have the angle zero
    equal = w.put(f"fcmp oeq {t} {small}, {big}")
    difference = choose(equal, "zeroinitializer", w.put(f"fsub {t} {small}, {big}"))
    top = choose(diagonal, difference, small)
    bottom = choose(diagonal, w.put(f"fadd {t} {small}, {big}"), choose(some, big, splat(1.0)))
    tangent = w.put(f"fdiv {t} {top}, {bottom}")
    z = w.put(f"fmul {t} {tangent}, {tangent}")
    p = splat(ATAN[0])
    for c in ATAN[1:]:
        p = w.multiply_add(z, p, splat(c))
    angle = w.multiply_add(w.put(f"fmul {t} {tangent}, {z}"), p, tangent)
    # from the octant to the half plane: about pi/2 where the point is steep, about pi where it is on the left
    quarters = choose(diagonal, splat(1.0), "zeroinitializer")
    left = w.put(f"icmp slt {i} {w.put(f'bitcast {t} {x} to {i}')}, zeroinitializer")
    for mirrored, turn in ((steep, 2.0), (left, 4.0)):
        angle = choose(mirrored, w.put(f"fneg {t} {angle}"), angle)
        quarters = choose(mirrored, w.put(f"fsub {t} {splat(turn)}, {quarters}"), quarters)
    angle = w.multiply_add(quarters, splat(QUARTER_PI[1]), angle)
    angle = w.multiply_add(quarters, splat(QUARTER_PI[0]), angle)
    sign = w.put(f"and {i} {w.put(f'bitcast {t} {y} to {i}')}, splat (i64 {-(2**63)})")
    signed = w.put(f"xor {i} {w.put(f'bitcast {t} {angle} to {i}')}, {sign}")
    unknown = w.put(f"fcmp uno {t} {y}, {x}")
    return choose(unknown, splat(float("nan")), w.put(f"bitcast {i} {signed} to {t}"))


COMPOSITE: dict[str, Callable[..., str]] = {"atan2": _atan2, "sign": _sign, "less": _less, "where": _where}

# Cephes polynomials for sin and cos on [-pi/4, pi/4], highest power first, and pi/2 in three parts
SIN = (1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6, -1.98412698295895385996e-4,
       8.33333333332211858878e-3, -1.66666666666666307295e-1)  # fmt: skip
COS = (-1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7, 2.48015872888517045348e-5,
       -1.38888888888730564116e-3, 4.16666666666665929218e-2)  # fmt: skip
HALF_PI = (1.5707963267948965580e00, 6.1232339957367658860e-17, -1.4973849048591698e-33)
ROUNDER = 6755399441055744.0  # adding it leaves the nearest whole number in the low bits


def _sincos(w: Writer, x: str) -> tuple[str, str]:
    """Sine and cosine by Cody-Waite reduction with fused operations; libm's, number by number, where there are none."""
    t, i = w.type, w.integers
    size = w.put(f"call {t} @llvm.fabs.{w.suffix}({t} {x})")
    near = w.put(f"fcmp olt {t} {size}, {splat(FARTHEST)}")
    if not w.target.fma:
        x = w.put(f"select {w.bits} {near}, {t} {x}, {t} {splat(float('nan'))}")
        return tuple(w.put(f"call {t} @llvm.{f}.{w.suffix}({t} {x})") for f in ("sin", "cos"))  # type: ignore[return-value]
    turns = w.fma(x, splat(0.6366197723675813431), splat(ROUNDER))
    n = w.put(f"fsub {t} {turns}, {splat(ROUNDER)}")
    minus = w.put(f"fneg {t} {n}")
    r = x
    for part in HALF_PI:  # the first difference is exact, the last part matters next to multiples of pi/2
        r = w.fma(minus, splat(part), r)
    r = w.put(f"select {w.bits} {near}, {t} {r}, {t} {splat(float('nan'))}")
    z = w.put(f"fmul {t} {r}, {r}")
    s, c = splat(SIN[0]), splat(COS[0])
    for k in range(1, 6):
        s, c = w.fma(z, s, splat(SIN[k])), w.fma(z, c, splat(COS[k]))
    sine = w.fma(w.put(f"fmul {t} {z}, {r}"), s, r)
    cosine = w.fma(w.put(f"fmul {t} {z}, {z}"), c, w.fma(z, splat(-0.5), splat(1.0)))
    # odd quarter turns swap the two; the second bit gives the sign
    quarters = w.put(f"bitcast {t} {turns} to {i}")
    low = w.put(f"shl {i} {quarters}, splat (i64 63)")
    odd = w.put(f"icmp slt {i} {low}, zeroinitializer")
    shifted = w.put(f"add {i} {quarters}, splat (i64 1)")
    results = []
    for quarter, a, b in ((quarters, cosine, sine), (shifted, sine, cosine)):
        swapped = w.put(f"select {w.bits} {odd}, {t} {a}, {t} {b}")
        second = w.put(f"and {i} {quarter}, splat (i64 2)")
        flip = w.put(f"shl {i} {second}, splat (i64 62)")
        whole = w.put(f"bitcast {t} {swapped} to {i}")
        signed = w.put(f"xor {i} {whole}, {flip}")
        results.append(w.put(f"bitcast {i} {signed} to {t}"))
    return results[0], results[1]


def header(target: Target) -> str:
    """Declarations of what the instructions call."""
    t, s = f"<{target.lanes} x double>", f"v{target.lanes}f64"
    unary = [f"declare {t} @llvm.{f}.{s}({t})" for f in DECLARED]
    return "\n".join([*unary, f"declare {t} @llvm.fma.{s}({t}, {t}, {t})"])
