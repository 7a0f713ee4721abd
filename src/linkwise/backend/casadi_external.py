"""Compiled code behind CasADi's C interface: a small library of C hands its arguments to the loop of the kernel.

Derivatives are those of the program, compiled too: CasADi finds them under the names that it gives its own.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from linkwise.backend import casadi_function, native
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
    """

    name: str
    inputs: list[Port]
    program: Program


def function(program: Program, name: str, second: bool, options: dict[str, Any]) -> Any:
    """A `casadi.Function` that calls compiled code, and knows its derivatives."""
    ca = casadi_function.casadi()
    if program.dtype not in TYPES:
        raise InputError(f"casadi: CasADi's numbers are float64, got a kernel in {program.dtype}. Compile it without dtype.")
    if not native.is_native(program):
        raise InputError("casadi: expected compiled code, which this machine does not make. Use casadi().")
    program = program.whole
    entries = _with_derivatives(Entry(name, list(program.arguments), program), second)
    code = HEAD + "\n".join(_code(entry) for entry in entries)
    with tempfile.TemporaryDirectory(prefix="linkwise") as folder:
        source, library = Path(folder, "door.c"), Path(folder, f"{name}.so")
        source.write_text(code)
        _compile(source, library)
        return ca.external(name, str(library), options)


def _with_derivatives(entry: Entry, second: bool) -> list[Entry]:
    """A function, its Jacobian, and its products with a direction and with weights, which are Lagrangian gradients."""
    name, inputs, program = entry
    names = [p.name for p in inputs]
    nominal = [*inputs, *(Port(f"out_{p.name}", p.shape) for p in program.outputs)]
    ahead, back = forward(program, names), backward(program, names)
    changes = ahead.arguments[len(inputs) :]
    weights = [p for p in back.arguments if p.name not in names]
    found = [
        entry,
        Entry(f"jac_{name}", nominal, jacobian(program, names)),
        Entry(f"fwd1_{name}", [*nominal, *changes], ahead),
        Entry(f"adj1_{name}", [*nominal, *weights], back),
    ]
    if second:
        every = [*nominal, *weights]
        whole = jacobian(back, [p.name for p in back.arguments])
        blocks = {p.name: (p, g) for p, g in zip(whole.outputs, whole.results, strict=True)}
        zero = whole.results[0][0].graph.constant(0.0)
        outputs, results = [], []
        for out in back.outputs:
            for p in every:
                port = Port(f"d{out.name}_d{p.name}", (out.size, p.size))
                outputs.append(port)
                results.append(blocks[port.name][1] if port.name in blocks else (zero,) * port.size)
        from dataclasses import replace

        third = replace(whole, outputs=tuple(outputs), results=tuple(results))
        found.append(Entry(f"jac_adj1_{name}", [*every, *(Port(f"out_{p.name}", p.shape) for p in back.outputs)], third))
    return found


def _code(entry: Entry) -> str:
    """The functions that CasADi looks for, of one entry."""
    name, inputs, program = entry
    flat = casadi_function.by_columns(program)
    loaded = native.loaded(flat)
    _held.append(loaded)
    place = {p.name: k for k, p in enumerate(inputs)}
    read = [place[p.name] for p in flat.arguments]
    sizes = [p.size for p in (*flat.arguments, *flat.outputs)]
    outputs = flat.outputs
    offsets = [sum(p.size for p in outputs[:k]) for k in range(len(outputs))]
    zeros = max([1, *(p.size for p in flat.arguments)])
    given = [f"arg[{k}] ? arg[{k}] : zeros" for k in read]
    taken = [f"res[{k}] ? res[{k}] : w + {at}" for k, at in enumerate(offsets)]
    patterns = [casadi_function.sparsity(p, g)[1] for p, g in zip(program.outputs, program.results, strict=True)]
    sides = {
        "in": [casadi_function.dense(p) for p in inputs],
        "out": patterns,
    }
    named = {"in": [p.name for p in inputs], "out": [p.name for p in program.outputs]}
    lines = [
        f"static const casadi_int {name}_dims[] = {_list([1, *sizes])};",
        f"static const casadi_int {name}_steps[] = {_list([0] * len(sizes) + [8] * len(sizes))};",
        f"int {name}(const double **arg, double **res, casadi_int *iw, double *w, int mem) {{",
        f"    static const double zeros[{zeros}] = {{0.0}};",
        f"    const void *ports[] = {{{', '.join(given + taken)}}};",
        "    (void)iw; (void)mem; (void)w; (void)zeros;",
        f"    ((loop_t)(size_t){loaded.loop}ULL)(ports, {name}_dims, {name}_steps, NULL);",
        "    return 0;",
        "}",
        f"int {name}_work(casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw, casadi_int *sz_w) {{",
        f"    if (sz_arg) *sz_arg = {len(inputs)};",
        f"    if (sz_res) *sz_res = {len(outputs)};",
        f"    if (sz_iw) *sz_iw = 0;\n    if (sz_w) *sz_w = {sum(p.size for p in outputs)};",
        "    return 0;",
        "}",
    ]
    for side, found in sides.items():
        tables = [f"static const casadi_int {name}_{side}{k}[] = {_list(_compressed(s))};" for k, s in enumerate(found)]
        cases = [f"case {k}: return {name}_{side}{k};" for k in range(len(found))]
        texts = [f'case {k}: return "{x}";' for k, x in enumerate(named[side])]
        lines += [
            *tables,
            f"casadi_int {name}_n_{side}(void) {{ return {len(found)}; }}",
            f"const casadi_int *{name}_sparsity_{side}(casadi_int i) {{ switch (i) {{ {' '.join(cases)} default: return NULL; }} }}",
            f"const char *{name}_name_{side}(casadi_int i) {{ switch (i) {{ {' '.join(texts)} default: return NULL; }} }}",
        ]
    return "\n".join(lines) + "\n"


def _compressed(pattern: Any) -> list[int]:
    """A pattern as CasADi reads it: rows, columns, where each column begins, the row of each entry."""
    return [pattern.size1(), pattern.size2(), *pattern.colind(), *pattern.row()]


def _list(numbers: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, numbers)) + "}"


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
