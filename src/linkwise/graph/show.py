"""Programs as text that people read."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Container, Iterable

from linkwise.graph.iteration import Before
from linkwise.graph.node import Node
from linkwise.graph.op import OPS
from linkwise.graph.program import Port, Program

TRIG = {"sin": "S", "cos": "C"}


def names(program: Program, others: Iterable[str] = ()) -> dict[int, str]:
    """A readable, unique name for every input and intermediate value, by node index.

    Inputs are numbered from one; sine and cosine of input q3 are S3 and C3; values that the algorithm named keep their
    names; the rest are t1, t2, ... None is among the others.
    """
    given: dict[int, str] = {}
    taken: set[str] = set(others)
    for group in program.leaves:
        for n in group:
            given[n.index] = n.value
            taken.add(n.value)
    count = 0
    for n in program.schedule:
        name = program.names.get(n.index)
        if n.op in TRIG and n.args[0].op == "input":
            name = TRIG[n.op] + n.args[0].value.removeprefix("q")
        if name is None or name in taken:
            name = f"t{(count := count + 1)}"
            while name in taken:
                name = f"t{(count := count + 1)}"
        given[n.index] = name
        taken.add(name)
    return given


def assignments(program: Program, others: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Name and expression of every intermediate value; a value used once, and not named, is written into its use."""
    given = names(program, others)
    uses: dict[int, int] = {}
    for n in program.schedule:
        for a in n.args:
            uses[a.index] = uses.get(a.index, 0) + 1
    for group in program.results:
        for n in group:
            uses[n.index] = uses.get(n.index, 0) + 2
    inline: dict[int, tuple[str, int]] = {}

    def text(n: Node, least: int) -> str:
        """The argument's text, in parentheses if it binds less than it must."""
        if n.op == "const":
            return f"({n.value!r})" if n.value < 0 and least else repr(n.value)
        written, binding = inline.get(n.index, (given.get(n.index, ""), 3))
        return written if binding >= least else f"({written})"

    lines = []
    for n in program.schedule:
        least = NEEDED.get(n.op, (0,) * len(n.args))
        written = OPS[n.op].text.format(*(text(a, k) for a, k in zip(n.args, least, strict=True)))
        if uses[n.index] == 1 and n.index not in program.names and n.op not in TRIG and len(written) < 60:
            inline[n.index] = (written, BINDING.get(n.op, 3))
        else:
            lines.append((given[n.index], written))
    return lines


# how tightly an operation's text binds, and how tightly its arguments must
BINDING = {"add": 1, "sub": 1, "mul": 2, "div": 2, "neg": 1}
NEEDED = {"add": (0, 1), "sub": (0, 2), "mul": (2, 2), "div": (2, 3), "neg": (2,)}


def listing(program: Program, title: str) -> str:
    """The program as a symbolic listing: a head with inputs, outputs and operations, then one assignment a line."""
    head = [title, "", f"operations: {operations(program)}"]
    for port, what in [*((p, "input ") for p in program.arguments), *((p, "output") for p in program.outputs)]:
        head.append(f"{what}: {port.name} {port.shape}")
    given = names(program)
    body = _loop(program, program.before) if program.before else []
    body += [f"{name} = {text}" for name, text in assignments(program)]
    body += [f"{label} = {text}" for label, text in _results(program, given)]
    return textwrap.indent("\n".join(head), "# ", lambda line: True) + "\n\n" + "\n".join(body) + "\n"


def operations(program: Program) -> str:
    """How many operations of each kind there are, in words; those of a loop before the program apart."""

    def text(count: Counter[str]) -> str:
        return ", ".join(f"{n} {kind}" for kind, n in sorted(count.items())) or "none"

    if not program.before:
        return text(program.count())
    turn = program.before.body.count()
    return f"{text(program.count() - turn)} and, in each turn, {text(turn)}"


def _labels(port: Port) -> list[str]:
    return [f"{port.name}{k + 1}" for k in range(port.size)] if port.shape else [port.name]


def _results(program: Program, given: dict[int, str]) -> list[tuple[str, str]]:
    """Name and text of every result."""
    return [
        (label, repr(n.value) if n.op == "const" else given[n.index])
        for port, group in zip(program.outputs, program.results, strict=True)
        for label, n in zip(_labels(port), group, strict=True)
    ]


def _loop(program: Program, before: Before) -> list[str]:
    """The loop before a program, as Python has it, and what it gives."""
    body = before.body
    left = free(body.outputs[-1].name, {label for p in (*program.inputs, *body.inputs) for label in _labels(p)})
    others = {"turn", left, *(label for p in program.inputs for label in _labels(p))}
    given = names(body, others)
    carried = [label for p in before.carried for label in _labels(p)]
    *after, (_, going) = _results(body, given)
    updates = [(label, text) for label, (_, text) in zip(carried, after, strict=True) if text != label]
    old = {text: free(f"{text}_old", {*given.values(), *others}) for _, text in updates if text in carried}
    turn = [f"{name} = {text}" for name, text in assignments(body, others)]
    turn += [f"{left} = {going}", *(f"{name} = {label}" for label, name in old.items())]
    turn += [f"{label} = {old.get(text, text)}" for label, text in updates]
    turn += [f"if not abs({left}) > 0.0:", "    break"]
    starts = []
    for port, start in zip(before.carried, before.start, strict=True):
        values = _labels(Port(start, port.shape)) if isinstance(start, str) else [repr(float(x)) for x in start]
        starts += [f"{label} = {x}" for label, x in zip(_labels(port), values, strict=True)]
    lines = [*starts, f"for turn in range({before.most}):", *(f"    {line}" for line in turn)]
    found = [(_labels(Port(name, before.carried[k].shape)), _labels(before.carried[k])) for k, name in before.gives]
    lost = list(dict.fromkeys(label for _, labels in found for label in labels))
    lines += ["else:", *(f"    {label} = nan" for label in lost)] if lost else []
    return [*lines, *(f"{a} = {b}" for pair in found for a, b in zip(*pair, strict=True) if a != b), ""]


def free(name: str, taken: Container[str]) -> str:
    """The name, lengthened until it is not taken."""
    while name in taken:
        name += "_"
    return name
