"""Rust of a program: one function of references to arrays, no dependency but the standard library, or none at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import c_float

import numpy as np

from linkwise.backend import own_math
from linkwise.backend.source import Call, Source, indented
from linkwise.graph.program import Program

EXPRESSIONS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "sqrt": "{0}.sqrt()",
    "sin": "{0}.sin()",
    "cos": "{0}.cos()",
    "exp": "{0}.exp()",
    "tanh": "{0}.tanh()",
    "atan2": "{0}.atan2({1})",
    "sign": "if {0} > 0.0 {{ 1.0 }} else if {0} < 0.0 {{ -1.0 }} else {{ 0.0 * {0} }}",
    "abs": "{0}.abs()",
    "min": "if {0} < {1} || {0} != {0} {{ {0} }} else {{ {1} }}",
    "max": "if {0} > {1} || {0} != {0} {{ {0} }} else {{ {1} }}",
    "less": "if {0} < {1} {{ 1.0 }} else {{ 0.0 }}",
    "where": "if {0} != 0.0 {{ {1} }} else {{ {2} }}",
}

# names that a function, an argument or a value must not have
WORDS = """
    Self abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if
    impl in let loop macro match mod move mut override priv pub ref return self static struct super trait true try type
    typeof union unsafe unsized use virtual where while yield
    bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize main std core
"""
RESERVED = frozenset([*WORDS.split(), *own_math.NAMES])
REALS = {"float64": "f64", "float32": "f32"}


def number_text(value: float, dtype: str) -> str:
    """A number of a kind."""
    real = REALS[dtype]
    if value != value:
        return f"{real}::NAN"
    short = str(np.float32(c_float(value).value)) if real == "f32" else repr(value)
    return (
        f"{real}::{short.replace('-inf', 'NEG_INFINITY').replace('inf', 'INFINITY')}"
        if "inf" in short
        else (f"{short}_{real}")
    )


class Rust(Source):
    """A program in Rust."""

    language, method = "Rust", "rust_source"
    expressions, reserved = EXPRESSIONS, RESERVED
    counter = ""

    def __init__(self, program: Program, name: str | None = None, own: bool = False) -> None:
        super().__init__(program, name, own)
        self.real = REALS[program.dtype]
        self.nan, self.words = f"{self.real}::NAN", {"f": f"_{self.real}"}

    def number(self, value: float) -> str:
        return number_text(value, self.program.dtype)

    def value(self, name: str, text: str) -> str:
        return f"let {name}: {self.real} = {text};"

    def pair(self, name: str, angle: str) -> str:
        return f"let {name} = {own_math.PAIR.format(angle)};"

    def array(self, name: str, numbers: Sequence[str]) -> str:
        return f"let mut {name}: [{self.real}; {len(numbers)}] = [{', '.join(numbers)}];"

    def signature(self) -> str:
        inputs, outputs = self.arguments
        given = [f"{n}: &[{self.real}; {p.size}]" for n, p in zip(inputs, self.program.arguments, strict=True)]
        made = [f"{n}: &mut [{self.real}; {p.size}]" for n, p in zip(outputs, self.program.outputs, strict=True)]
        return f"fn {self.function}({', '.join([*given, *made])})"

    def repeated(self, call: Call, counter: str, most: int, going: str) -> list[str]:
        before = ", ".join([*(f"&{x}.clone()" for x in call.carried), *call.shared])
        after = ", ".join(f"&mut {x}" for x in (*call.carried, call.left))
        return [
            f"for _ in 0..{most} {{",
            f"    if !({going}) {{",
            "        break;",
            "    }",
            f"    {call.function}({before}, {after});",
            "}",
        ]

    def conditional(self, condition: str, lines: Sequence[str]) -> list[str]:
        return [f"if {condition} {{", *(f"    {line}" for line in lines), "}"]

    def unused(self, name: str) -> list[str]:
        return [f"let _ = {name};"]


LINTS = "#![allow(non_snake_case, clippy::all)]\n"


def source(program: Program, name: str | None, title: str) -> str:
    """The Rust source of a program: a module with one public function."""
    rust = Rust(program, name)
    return f"{rust.comment(title)}\n{LINTS}\n{definition(rust)}"


def definition(rust: Rust) -> str:
    """The public function of a program, after that of a turn of its loop."""
    turn = f"{rust.turn.signature()} {{\n{indented(rust.turn.lines())}\n}}\n\n" if rust.turn else ""
    return f"{turn}pub {rust.signature()} {{\n{indented(rust.lines())}\n}}\n"


def own_functions(ops: Iterable[str], dtype: str) -> str:
    """Functions without a library that programs with these operations need."""
    t, (bits, bias, mantissa) = REALS[dtype], {"float64": ("i64", 1023, 52), "float32": ("i32", 127, 23)}[dtype]
    found = own_math.functions(ops, dtype, lambda x: number_text(x, dtype))
    names, parts = {f.name for f in found}, []
    if own_math.SELECTS.intersection(ops):
        parts.append(
            f"/* a where c holds, else b */\nfn own_select(c: bool, a: {t}, b: {t}) -> {t} {{\n"
            f"    let mask = (c as u{bits[1:]}).wrapping_neg();\n"
            f"    {t}::from_bits((a.to_bits() & mask) | (b.to_bits() & !mask))\n}}\n"
        )
    if names & {"own_exp", "own_tanh"}:
        parts.append(
            f"/* 2^n of a whole number, by the bits of its exponent */\nfn own_power(n: {t}) -> {t} {{\n"
            f"    {t}::from_bits(((n as {bits} + {bias}) << {mantissa}) as u{bits[1:]})\n}}\n"
        )
    if "own_sincos" in names:
        parts.append(f"struct OwnPair {{\n    s: {t},\n    c: {t},\n}}\n")
    for f in found:
        several = len(f.result) > 1
        lines = [f"let {name}: {t} = {text};" for name, text in f.lines]
        last = f"OwnPair {{ s: {f.result[0]}, c: {f.result[1]} }}" if several else f.result[0]
        given = ", ".join(f"{a}: {t}" for a in f.arguments)
        parts.append(f"fn {f.name}({given}) -> {'OwnPair' if several else t} {{\n{indented(lines)}\n    {last}\n}}\n")
    return "\n".join(parts)
