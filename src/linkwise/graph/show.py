"""Programs as text that people read."""

from __future__ import annotations

import textwrap

from linkwise.graph.node import Node
from linkwise.graph.op import OPS
from linkwise.graph.program import Program

TRIG = {"sin": "S", "cos": "C"}


def names(program: Program) -> dict[int, str]:
    """A readable, unique name for every input and intermediate value, by node index.

    Inputs are numbered from one; sine and cosine of input q3 are S3 and C3; values that the algorithm named keep their
    names; the rest are t1, t2, ...
    """
    given: dict[int, str] = {}
    taken: set[str] = set()
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


def assignments(program: Program) -> list[tuple[str, str]]:
    """Name and expression of every intermediate value; a value used once, and not named, is written into its use."""
    given = names(program)
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
    total = program.count()
    operations = ", ".join(f"{n} {kind}" for kind, n in sorted(total.items()))
    head = [title, "", f"operations: {operations or 'none'}"]
    for port, what in [*((p, "input ") for p in program.inputs), *((p, "output") for p in program.outputs)]:
        head.append(f"{what}: {port.name} {port.shape}")
    given = names(program)
    body = [f"{name} = {text}" for name, text in assignments(program)]
    for port, group in zip(program.outputs, program.results, strict=True):
        for k, n in enumerate(group):
            label = f"{port.name}{k + 1}" if port.shape else port.name
            body.append(f"{label} = {n.value!r}" if n.op == "const" else f"{label} = {given[n.index]}")
    return textwrap.indent("\n".join(head), "# ", lambda line: True) + "\n\n" + "\n".join(body) + "\n"
