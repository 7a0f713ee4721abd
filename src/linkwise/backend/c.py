"""C99 of a program: one function of pointers, no dependency but <math.h>, whose sine takes any angle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import c_float
from typing import NamedTuple

import numpy as np

from linkwise.backend import own_math
from linkwise.backend.source import Source, indented
from linkwise.graph.program import Program

# functions of <math.h> and numbers have {f} where C says that they are of the kind float
EXPRESSIONS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "sqrt": "sqrt{f}({0})",
    "sin": "sin{f}({0})",
    "cos": "cos{f}({0})",
    "exp": "exp{f}({0})",
    "tanh": "tanh{f}({0})",
    "atan2": "atan2{f}({0}, {1})",
    "sign": "({0} > 0.0{f} ? 1.0{f} : {0} < 0.0{f} ? -1.0{f} : 0.0{f} * {0})",
    "abs": "fabs{f}({0})",
    "min": "({0} < {1} || {0} != {0} ? {0} : {1})",
    "max": "({0} > {1} || {0} != {0} ? {0} : {1})",
    "less": "({0} < {1} ? 1.0{f} : 0.0{f})",
    "where": "({0} != 0.0{f} ? {1} : {2})",
}

# names that a function, an argument or a value must not have
WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    and asm bool catch class delete explicit export false friend mutable namespace new not operator or private protected
    public template this throw true try typename using virtual wchar_t xor main
"""
MATH = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax
    fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf
    nan nearbyint nextafter nexttoward pow remainder remquo rint round scalb scalbln scalbn signgam significand sin sinh
    sqrt tan tanh tgamma trunc y0 y1 yn
"""
RESERVED = frozenset([*(WORDS + MATH).split(), *(f"{name}f" for name in MATH.split()), *own_math.NAMES])


class _Kind(NamedTuple):
    """Numbers of a program in C: the type, and the suffix of functions and constants."""

    type: str
    f: str


KINDS = {"float64": _Kind("double", ""), "float32": _Kind("float", "f")}


def number_text(value: float, kind: _Kind) -> str:
    """A number of a kind."""
    if value != value:
        return "NAN"
    short = str(np.float32(c_float(value).value)) if kind.f else repr(value)
    return short.replace("inf", "INFINITY") if short in ("inf", "-inf") else short + kind.f


class C(Source):
    """A program in C99."""

    language, method = "C", "c_source"
    expressions, reserved = EXPRESSIONS, RESERVED
    counter, nan = "int", "NAN"

    def __init__(self, program: Program, name: str | None = None, own: bool = False) -> None:
        super().__init__(program, name, own)
        self.kind = KINDS[program.dtype]
        self.words = {"f": self.kind.f}

    def number(self, value: float) -> str:
        return number_text(value, self.kind)

    def value(self, name: str, text: str) -> str:
        return f"const {self.kind.type} {name} = {text};"

    def pair(self, name: str, angle: str) -> str:
        return f"const OwnPair {name} = {own_math.PAIR.format(angle)};"

    def array(self, name: str, numbers: Sequence[str]) -> str:
        return f"{self.kind.type} {name}[{len(numbers)}] = {{{', '.join(numbers)}}};"

    def signature(self) -> str:
        inputs, outputs = self.arguments
        arguments = [f"const {self.kind.type} *{p}" for p in inputs] + [f"{self.kind.type} *{p}" for p in outputs]
        return f"void {self.function}({', '.join(arguments)})"

    def unused(self, name: str) -> list[str]:
        return [f"(void){name};"]


def source(program: Program, name: str | None, title: str) -> str:
    """The C99 source of a program."""
    c = C(program, name)
    return f"{c.comment(title)}\n#include <math.h>\n\n{c.signature()};\n\n{definition(c)}"


def definition(c: C) -> str:
    """The function of a program, after that of a turn of its loop."""
    turn = f"static {c.turn.signature()} {{\n{indented(c.turn.lines())}\n}}\n\n" if c.turn else ""
    return f"{turn}{c.signature()} {{\n{indented(c.lines())}\n}}\n"


# where reals are kept in more digits than they have, or arithmetic is not as written, a number cannot be rounded so
STRICT = """#include <float.h>
#include <math.h>
#include <stdint.h>

#if defined(__FAST_MATH__)
#error "-ffast-math changes the results: compile without it"
#endif
#if FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
#error "numbers are kept in more digits than they have: on x86 compile with -msse2 -mfpmath=sse"
#endif
"""


def own_functions(ops: Iterable[str], dtype: str) -> str:
    """Functions without a library that programs with these operations need, to be included."""
    kind, whole = (
        KINDS[dtype],
        {"float64": ("int64_t", "uint64_t", 1023, 52), "float32": ("int32_t", "uint32_t", 127, 23)},
    )
    t, (signed, bits, bias, mantissa) = kind.type, whole[dtype]
    found = own_math.functions(ops, dtype, lambda x: f"{number_text(x, kind)}")
    parts = [STRICT]
    names = {f.name for f in found}
    if own_math.SELECTS.intersection(ops):
        parts.append(
            f"/* a where c is 1, b where it is 0 */\nstatic inline {t} own_select(int c, {t} a, {t} b) {{\n"
            f"    const {bits} mask = ({bits})0 - ({bits})c;\n"
            f"    const union {{ {t} value; {bits} bits; }} first = {{a}}, second = {{b}};\n"
            f"    const union {{ {bits} bits; {t} value; }} made = {{(first.bits & mask) | (second.bits & ~mask)}};\n"
            "    return made.value;\n}\n"
        )
    if names & {"own_exp", "own_tanh"}:
        parts.append(
            f"/* 2^n of a whole number, by the bits of its exponent */\nstatic inline {t} own_power({t} n) {{\n"
            f"    const union {{ {bits} bits; {t} value; }} made = {{({bits})(({signed})n + {bias}) << {mantissa}}};\n"
            "    return made.value;\n}\n"
        )
    if "own_sincos" in names:
        parts.append(f"typedef struct {{\n    {t} s;\n    {t} c;\n}} OwnPair;\n")
    for f in found:
        several = len(f.result) > 1
        lines = [f"const {t} {name} = {text};" for name, text in f.lines]
        last = (
            f"const OwnPair found = {{{', '.join(f.result)}}};\n    return found"
            if several
            else f"return {f.result[0]}"
        )
        head = f"static inline {'OwnPair' if several else t} {f.name}({', '.join(f'{t} {a}' for a in f.arguments)})"
        parts.append(f"{head} {{\n{indented(lines)}\n    {last};\n}}\n")
    return "\n".join(parts)


def header(program: Program, name: str | None, title: str) -> str:
    """The header that declares the function of `source`."""
    c = C(program, name)
    guard = f"{c.function.upper()}_H"
    return (
        f'{c.comment(title)}\n#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
        f"{c.signature()};\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    )
