"""Compiled code behind CasADi's C interface: a small library of C hands its arguments to the loop of the kernel.

Derivatives are those of the program, compiled too: CasADi finds them under the names that it gives its own.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from linkwise.backend import native
from linkwise.backend.casadi_function import Pattern, by_columns, casadi, sparsity, with_own_names
from linkwise.errors import InputError
from linkwise.graph.differential import backward, forward, jacobian
from linkwise.graph.program import Port, Program

COMPILERS = ("cc", "gcc", "clang")
TYPES = {"float64": "double"}
HEAD = """/* The door to compiled functions of Linkwise in this process, for casadi.external. */
#include <stddef.h>
typedef long long int casadi_int;
typedef void (*loop_t)(const void **, const casadi_int *, const casadi_int *, void *);
"""
_held: list[Any] = []  # what the libraries point to; CasADi does not say when it lets go of them


class Entry(NamedTuple):
    """A function of the library.

    Args:
        name: under which CasADi looks for it.
        inputs: ports in CasADi's order; those that the program does not have are not read.
        program: what computes the outputs, with the ports that are read among its inputs.
        patterns: what is stored of each output.
    """

    name: str
    inputs: list[Port]
    program: Program
    patterns: list[Pattern]

    @classmethod
    def of(cls, name: str, inputs: Sequence[Port], program: Program) -> Entry:
        """A function that stores what is not always zero."""
        return cls(
            name, list(inputs), program, [sparsity(*x) for x in zip(program.outputs, program.results, strict=True)]
        )


def function(program: Program, name: str, second: bool, options: dict[str, Any]) -> Any:
    """A `casadi.Function` that calls compiled code, and knows its derivatives."""
    ca = casadi()
    if program.dtype not in TYPES:
        raise InputError(
            f"casadi: CasADi's numbers are float64, got a kernel in {program.dtype}. Compile it without dtype."
        )
    if not native.is_native(program):
        raise InputError("casadi: expected compiled code, which this machine does not make. Use casadi().")
    program = with_own_names(program.whole)
    entries = _with_derivatives(Entry.of(name, program.arguments, program), second)
    code = HEAD + "\n".join(_code(entry) for entry in entries)
    # Windows does not remove a library that is loaded
    with tempfile.TemporaryDirectory(prefix="linkwise", ignore_cleanup_errors=True) as folder:
        source, library = Path(folder, "door.c"), Path(folder, f"{name}.so")
        source.write_text(code, encoding="utf-8")
        _compile(source, library)
        return ca.external(name, str(library), options)


def _with_derivatives(entry: Entry, second: bool) -> list[Entry]:
    """A function, its Jacobian, and its products with a direction and with weights, which are Lagrangian gradients."""
    name, inputs, program, patterns = entry
    names = [p.name for p in inputs]
    nominal = [*inputs, *(replace(p, name=f"out_{p.name}") for p in program.outputs)]
    ahead, back = forward(program, names), backward(program, names)
    changes = [p for p in ahead.arguments if p.name not in names]
    weights = [p for p in back.arguments if p.name not in names]
    adjoint = Entry(f"adj1_{name}", [*nominal, *weights], back, [sparsity(p) for p in inputs])
    found = [
        entry,
        Entry.of(f"jac_{name}", nominal, jacobian(program, names)),
        Entry(f"fwd1_{name}", [*nominal, *changes], ahead, patterns),
        adjoint,
    ]
    return [*found, _jacobian(adjoint)] if second else found


def _jacobian(entry: Entry) -> Entry:
    """The Jacobian of a function, by all its inputs, those that are not read too."""
    program = entry.program
    known = jacobian(program, [p.name for p in program.arguments])
    by_name = dict(zip((p.name for p in known.outputs), known.results, strict=True))
    zero = known.leaves[0][0].graph.constant(0.0)
    ports = [Port(f"d{o.name}_d{p.name}", (o.size, p.size)) for o in program.outputs for p in entry.inputs]
    results = [by_name.get(p.name, (zero,) * p.size) for p in ports]
    nominal = [*entry.inputs, *(replace(p, name=f"out_{p.name}") for p in program.outputs)]
    return Entry.of(f"jac_{entry.name}", nominal, replace(known, outputs=tuple(ports), results=tuple(results)))


def _code(entry: Entry) -> str:
    """The functions that CasADi looks for, of one entry."""
    name, inputs, program, patterns = entry
    flat = by_columns(program, patterns)
    sizes = [len(x.places) for x in patterns]
    place = {p.name: k for k, p in enumerate(inputs)}
    given = [f"arg[{place[p.name]}] ? arg[{place[p.name]}] : zeros" for p in flat.arguments]
    taken = [f"res[{k}] ? res[{k}] : w + {sum(sizes[:k])}" for k, size in enumerate(sizes) if size]
    lines = [
        f"int {name}(const double **arg, double **res, casadi_int *iw, double *w, int mem) {{",
        "    (void)arg; (void)res; (void)iw; (void)w; (void)mem;",
        *(_called(flat, [*given, *taken]) if taken else ()),
        "    return 0;",
        "}",
        f"int {name}_work(casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw, casadi_int *sz_w) {{",
        f"    *sz_arg = {len(inputs)}; *sz_res = {len(sizes)}; *sz_iw = 0; *sz_w = {sum(sizes)};",
        "    return 0;",
        "}",
    ]
    sides = {
        "in": [(p.name, sparsity(p)) for p in inputs],
        "out": [(p.name, x) for p, x in zip(program.outputs, patterns, strict=True)],
    }
    for side, found in sides.items():
        stored = [f"case {k}: {{ {_table('s', _compressed(x.sparsity))} return s; }}" for k, (_, x) in enumerate(found)]
        called = [f'case {k}: return "{title}";' for k, (title, _) in enumerate(found)]
        lines += [
            f"casadi_int {name}_n_{side}(void) {{ return {len(found)}; }}",
            f"const casadi_int *{name}_sparsity_{side}(casadi_int i) {{ switch (i) {{",
            *stored,
            "default: return NULL; } }",
            f"const char *{name}_name_{side}(casadi_int i) {{ switch (i) {{",
            *called,
            "default: return NULL; } }",
        ]
    return "\n".join(lines) + "\n"


def _called(flat: Program, ports: Sequence[str]) -> list[str]:
    """The lines that call the loop of a compiled program, for one row."""
    loaded = native.loaded(flat)
    _held.append(loaded)
    count, most = len(ports), max(1, *(p.size for p in flat.arguments))
    return [
        f"    static const double zeros[{most}] = {{0.0}};",
        f"    {_table('dims', [1])} {_table('steps', [0] * count + [8] * count)}",
        f"    const void *ports[] = {{{', '.join(ports)}}};",
        "    (void)zeros;",
        f"    ((loop_t)(size_t){loaded.loop}ULL)(ports, dims, steps, NULL);",
    ]


def _table(name: str, numbers: Sequence[int]) -> str:
    return f"static const casadi_int {name}[] = {{{', '.join(map(str, numbers))}}};"


def _compressed(pattern: Any) -> list[int]:
    """A pattern as CasADi reads it: rows, columns, where each column begins, the row of each entry."""
    return [pattern.size1(), pattern.size2(), *pattern.colind(), *pattern.row()]


def _compile(source: Path, library: Path) -> None:
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        raise InputError(
            f"casadi: expected a C compiler ({', '.join(COMPILERS)}) for casadi(compiled=True), found none."
            " Install one, or use casadi(), which needs none."
        )
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"casadi: {' '.join(command)} failed: {done.stderr[:500]}")
