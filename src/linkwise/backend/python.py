"""The slow interpreter: what each operation means, and so what every other back end must compute."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from linkwise.graph.iteration import Before
from linkwise.graph.op import OPS
from linkwise.graph.program import Program


def evaluate(program: Program, *inputs: Sequence[float]) -> list[list[float]]:
    """The program's outputs, each flat, for one flat list of numbers for each argument."""
    if program.before:
        given = {p.name: x for p, x in zip(program.arguments, inputs, strict=True)}
        given |= _iterated(program.before, given)
        inputs = tuple(given[p.name] for p in program.inputs)
    value: dict[int, float] = {}
    for leaves, numbers in zip(program.leaves, inputs, strict=True):
        for node, x in zip(leaves, numbers, strict=True):
            value[node.index] = float(x)

    def get(node) -> float:  # type: ignore[no-untyped-def]
        return node.value if node.op == "const" else value[node.index]

    for n in program.schedule:
        value[n.index] = OPS[n.op].evaluate(*[get(a) for a in n.args])
    return [[get(n) for n in group] for group in program.results]


def _iterated(before: Before, given: dict[str, Sequence[float]]) -> dict[str, Sequence[float]]:
    """What the loop before a program gives, by name."""
    carried: list[Sequence[float]] = [given[x] if isinstance(x, str) else x for x in before.start]
    shared = [given[p.name] for p in before.shared]
    for _ in range(before.most):
        *carried, [left] = evaluate(before.body, *carried, *shared)  # type: ignore[assignment]
        if left == 0.0 or left != left:
            return {name: carried[k] for k, name in before.gives}
    return {name: [nan] * len(carried[k]) for k, name in before.gives}
