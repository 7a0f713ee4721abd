"""A library in Rust: a crate without dependencies, without the standard library where no square root is needed."""

from __future__ import annotations

from collections.abc import Iterable

from linkwise.backend import rust
from linkwise.backend.source import indented
from linkwise.kernel.export.c import TOLERANCE
from linkwise.kernel.export.parts import MARK, Package, Part, Rows


def crate(package: Package) -> dict[str, str]:
    """The files of a crate."""
    sources = [rust.Rust(p.program, p.name, own=True) for p in package.parts]
    pairs = list(zip(sources, package.parts, strict=True))
    ops = {op for s in sources for op in s.ops}
    core = "" if "sqrt" in ops else "#![no_std]\n"
    functions = "\n".join(f"{_comment(s, p)}\n{rust.definition(s)}" for s, p in pairs)
    name = package.name.lower()
    return {
        "Cargo.toml": f'# {name}, {MARK}\n[package]\nname = "{name}"\nversion = "1.0.0"\nedition = "2021"\n\n'
        "[profile.dev]\nopt-level = 1\n",
        "src/lib.rs": f"//! Functions of {name}, {MARK}.\n{core}#![forbid(unsafe_code)]\n{rust.LINTS}\n"
        f"{rust.own_functions(ops, package.dtype)}\n{functions}",
        "tests/numbers.rs": _test(name, pairs, package.dtype),
        "examples/control_loop.rs": _loop(name, *pairs[-1]),
    }


def _comment(s: rust.Rust, part: Part) -> str:
    return s.comment(part.kernel._title()).replace("/*", "/**", 1)


def _rows(s: rust.Rust, rows: Rows) -> str:
    lines = [f"    [{', '.join(s.number(float(x)) for x in row)}]" for row in rows]
    return f"[[{s.real}; {rows.shape[1]}]; {len(rows)}] = [\n" + ",\n".join(lines) + ",\n]"


def _test(name: str, pairs: Iterable[tuple[rust.Rust, Part]], dtype: str) -> str:
    """A test that compares the functions with numbers of the kernels."""
    tables, tests = [], []
    for s, p in pairs:
        inputs, outputs = s.arguments
        for names, values in zip(s.arguments, p.numbers, strict=True):
            tables += [f"const {p.name}_{n}: {_rows(s, x)};\n" for n, x in zip(names, values, strict=True)]
        lines = [f"let mut found_{n} = [0.0; {x.shape[1]}];" for n, x in zip(outputs, p.numbers[1], strict=True)]
        given = [f"&{p.name}_{n}[row]" for n in inputs] + [f"&mut found_{n}" for n in outputs]
        lines.append(f"{name}::{s.function}({', '.join(given)});")
        for n, x in zip(outputs, p.numbers[1], strict=True):
            scale = max(1e-30, float(abs(x).max(initial=0.0)))
            lines.append(f'worst = worst.max(differs("{n}", &found_{n}, &{p.name}_{n}[row], {scale!r}));')
        body = [
            "let mut worst: f64 = 0.0;",
            f"for row in 0..{len(p.numbers[0][0])} {{",
            *(f"    {x}" for x in lines),
            "}",
            f'println!("{s.function}: worst difference {{worst:e}} of the largest number");',
        ]
        tests.append(f"#[test]\nfn {p.name}() {{\n{indented(body)}\n}}\n")
    real = rust.REALS[dtype]
    differs = f"""fn differs(what: &str, found: &[{real}], expected: &[{real}], scale: f64) -> f64 {{
    let mut worst: f64 = 0.0;
    for (a, b) in found.iter().zip(expected) {{
        let off = (f64::from(*a) - f64::from(*b)).abs() / scale;
        assert!(off <= {TOLERANCE[dtype]} || (a.is_nan() && b.is_nan()), "{{what}}: {{a}} instead of {{b}}");
        worst = worst.max(off);
    }}
    worst
}}
"""
    lints = "#![allow(non_snake_case, non_upper_case_globals, clippy::all)]\n"
    return f"//! A test of {name} with numbers, {MARK}.\n{lints}\n{''.join(tables)}\n{differs}\n{chr(10).join(tests)}"


def _loop(name: str, s: rust.Rust, part: Part) -> str:
    """A control loop around a function."""
    inputs, outputs = s.arguments
    given = [
        f"let {n}: [{s.real}; {x.shape[1]}] = [{', '.join(s.number(float(v)) for v in x[0])}];"
        for n, x in zip(inputs, part.numbers[0], strict=True)
    ]
    made = [
        f"let mut {n}: [{s.real}; {x.shape[1]}] = [0.0; {x.shape[1]}];"
        for n, x in zip(outputs, part.numbers[1], strict=True)
    ]
    call = f"{name}::{s.function}({', '.join([*(f'&{n}' for n in inputs), *(f'&mut {n}' for n in outputs)])});"
    lines = [
        "// replace these numbers by your encoders and references",
        *given,
        *made,
        "let begin = std::time::Instant::now();",
        "let periods = 3000; // of one millisecond each, on a real machine with a timer",
        "for _ in 0..periods {",
        f"    {call}",
        "}",
        f'println!("{outputs[0]}[0] = {{}}", {outputs[0]}[0]);',
        'println!("{:.3} microseconds a period", 1e6 * begin.elapsed().as_secs_f64() / f64::from(periods));',
    ]
    return (
        f"//! A control loop, {MARK}.\n#![allow(non_snake_case, clippy::all)]\n\nfn main() {{\n{indented(lines)}\n}}\n"
    )
