"""Programs as functions of CasADi: written again on its symbols, or the compiled code behind its C interface.

CasADi knows columns and matrices alone, and stores them column after column without structural zeros: an input or
output of more axes has all but the last one as its rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from linkwise.errors import InputError
from linkwise.files import required
from linkwise.graph.inline import WRITTEN, inlined
from linkwise.graph.node import Node, is_zero
from linkwise.graph.program import Port, Program
from linkwise.graph.show import free

# operations that CasADi writes otherwise than Python
METHODS = {
    "sqrt": "sqrt", "sin": "sin", "cos": "cos", "exp": "exp", "tanh": "tanh", "atan2": "atan2", "sign": "sign",
    "abs": "fabs", "min": "fmin", "max": "fmax", "less": "lt", "where": "if_else",
}  # fmt: skip


# words that are no names of functions, in CasADi and in C
TAKEN = {
    "null", "jac", "hess", "main", "auto", "break", "case", "char", "const", "continue", "default", "do", "double",
    "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict",
    "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while",
}  # fmt: skip


def casadi() -> Any:
    """The package."""
    return required("casadi", "casadi")


def checked_name(name: Any) -> str:
    """A name that CasADi and C can have for a function."""
    good = isinstance(name, str) and re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*_?", name)
    if not good or name in TAKEN:
        raise InputError(
            "casadi: expected a name of letters, digits and single underscores that begins with a letter and is no word"
            f" of C or CasADi, got {name!r}."
        )
    return str(name)


def function(program: Program, name: str, options: dict[str, Any]) -> Any:
    """A `casadi.Function` of scalar expressions, with exact sparsity; CasADi differentiates it and writes it in C."""
    ca = casadi()
    if program.before:
        raise InputError(
            f"casadi: {program.name} closes loops by Newton's method, which expressions cannot hold."
            " Use casadi(compiled=True), which calls the compiled function and has its derivatives."
        )
    if program.repeated:
        raise InputError(f"casadi: expected a function of one state, got {program.name}, which runs in steps.")
    program = with_own_names(program.whole)
    table = {**WRITTEN, **{op: getattr(ca, method) for op, method in METHODS.items()}}
    inputs = [ca.SX.sym(p.name, *_matrix(p)) for p in program.inputs]
    entries = [
        [x[i, j] for i, j in (divmod(k, _matrix(p)[1]) for k in range(p.size))]
        for p, x in zip(program.inputs, inputs, strict=True)
    ]
    values = inlined(program, *entries, table=table)
    outputs = []
    for port, nodes, flat in zip(program.outputs, program.results, values, strict=True):
        at, pattern = sparsity(port, nodes)
        outputs.append(ca.SX(pattern, ca.vertcat(*(flat[k] for k in at))) if at else ca.SX(*_matrix(port)))
    names = [p.name for p in program.inputs], [p.name for p in program.outputs]
    return ca.Function(name, inputs, outputs, *names, options)


def with_own_names(program: Program) -> Program:
    """The program whose outputs have no name of an input, which CasADi forbids: the output qdd becomes qdd_."""
    taken = {p.name for p in program.inputs}
    return replace(program, outputs=tuple(replace(p, name=free(p.name, taken)) for p in program.outputs))


class Pattern(NamedTuple):
    """Which numbers of an output CasADi stores: their places, row after row, in its order, and its own pattern."""

    places: list[int]
    sparsity: Any


def sparsity(port: Port, nodes: Sequence[Node] | None = None) -> Pattern:
    """The pattern of a port: all numbers, or those of its nodes that are not always zero."""
    rows, columns = _matrix(port)
    at = [i * columns + j for j in range(columns) for i in range(rows)]
    at = [k for k in at if nodes is None or not is_zero(nodes[k])]
    places = [divmod(k, columns) for k in at]
    return Pattern(at, casadi().Sparsity.triplet(rows, columns, [i for i, _ in places], [j for _, j in places]))


def by_columns(program: Program, patterns: Sequence[Pattern]) -> Program:
    """The program whose inputs and outputs are flat, as CasADi stores them; without outputs of which nothing is."""
    before = program.before
    if before and any(len(p.shape) > 1 for p in before.shared):
        raise InputError(f"casadi: {program.name} has a matrix among the inputs of Newton's method.")
    leaves = [[g[k] for k in sparsity(p).places] for p, g in zip(program.inputs, program.leaves, strict=True)]
    shared = {p.name for p in before.body.inputs} | before.hidden if before else set()
    kept = [
        (Port(p.name, (len(at.places),)), tuple(g[k] for k in at.places))
        for p, g, at in zip(program.outputs, program.results, patterns, strict=True)
        if at.places
    ]
    return replace(
        program,
        inputs=tuple(p if p.name in shared else replace(p, shape=(p.size,)) for p in program.inputs),
        leaves=tuple(map(tuple, leaves)),
        outputs=tuple(p for p, _ in kept),
        results=tuple(g for _, g in kept),
    )


def _matrix(port: Port) -> tuple[int, int]:
    """Rows and columns of an input or output."""
    if len(port.shape) < 2:
        return port.size, 1
    return prod(port.shape[:-1]), port.shape[-1]
