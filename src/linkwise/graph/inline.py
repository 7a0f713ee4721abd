"""A program written out again on other values: those of another graph, or numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from linkwise import scalar
from linkwise.errors import LinkwiseError
from linkwise.graph.program import Program

# each operation as users and algorithms write it, on any scalar
WRITTEN: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "sqrt": scalar.sqrt,
    "sin": scalar.sin,
    "cos": scalar.cos,
    "exp": scalar.exp,
    "tanh": scalar.tanh,
    "atan2": scalar.atan2,
    "sign": scalar.sign,
    "abs": scalar.absolute,
    "min": scalar.minimum,
    "max": scalar.maximum,
    "less": scalar.less,
    "where": scalar.where,
}


def inlined(
    program: Program,
    *inputs: Sequence[Any],
    number: Callable[[float], Any] = lambda x: x,
    table: Mapping[str, Callable[..., Any]] = WRITTEN,
) -> list[list[Any]]:
    """The outputs of a straight program, each flat, for one flat sequence of scalars for each input.

    `number` makes the scalar of a constant, where a float will not do; the table has what each operation is there.
    """
    if program.before or program.repeated:
        raise LinkwiseError(f"{program.name}: a program with a loop inside cannot be written into another one.")
    value: dict[int, Any] = {}
    for leaves, given in zip(program.leaves, inputs, strict=True):
        value.update({n.index: x for n, x in zip(leaves, given, strict=True)})

    def get(n: Any) -> Any:
        return number(n.value) if n.op == "const" else value[n.index]

    for n in program.schedule:
        value[n.index] = table[n.op](*map(get, n.args))
    return [[get(n) for n in group] for group in program.results]
