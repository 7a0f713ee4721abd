"""The slow interpreter: what each operation means, and so what every other back end must compute."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.graph.op import OPS
from linkwise.graph.program import Program


def evaluate(program: Program, *inputs: Sequence[float]) -> list[list[float]]:
    """The program's outputs, each flat, for one flat list of numbers for each input."""
    value: dict[int, float] = {}
    for leaves, given in zip(program.leaves, inputs, strict=True):
        for node, x in zip(leaves, given, strict=True):
            value[node.index] = float(x)

    def get(node) -> float:  # type: ignore[no-untyped-def]
        return node.value if node.op == "const" else value[node.index]

    for n in program.schedule:
        value[n.index] = OPS[n.op].evaluate(*[get(a) for a in n.args])
    return [[get(n) for n in group] for group in program.results]
