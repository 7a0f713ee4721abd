"""Source code of a program: what all languages have in common. A language is a table of operations and a few words."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from linkwise.backend import own_math
from linkwise.errors import InputError
from linkwise.graph.iteration import Before
from linkwise.graph.node import Node
from linkwise.graph.program import Port, Program
from linkwise.graph.show import free, names, operations


class Statement(NamedTuple):
    """A line of code, the value that it defines, if any, and the values that it reads."""

    text: str
    defines: str = ""
    reads: tuple[str, ...] = ()


class Call(NamedTuple):
    """A call of the function of a turn, which reads and writes what is carried, reads what is shared, writes `left`."""

    function: str
    carried: list[str]
    shared: list[str]
    left: str


class _Own(NamedTuple):
    """Names that belong to a loop: the function of a turn, what is carried, what says whether to go on, a counter."""

    function: str
    arrays: list[str]
    left: str
    turn: str


class Source(ABC):
    """A program as a function of flat arrays: inputs, then outputs, whose numbers stand row after row.

    With its `own` functions it needs none of a library: see `own_math`.
    """

    language: ClassVar[str]
    method: ClassVar[str]  # what a user called
    expressions: ClassVar[Mapping[str, str]]  # one for each operation
    reserved: ClassVar[frozenset[str]]  # names that a function, an argument or a value must not have
    counter: ClassVar[str]  # how a whole number that changes is declared
    nan: str

    def __init__(self, program: Program, name: str | None = None, own: bool = False) -> None:
        self.program, self.own = program, own
        self.words: dict[str, str] = {}  # that the table's texts name
        self.function = self._checked(program.name if name is None else name)

    # ---- what a language says

    @abstractmethod
    def number(self, value: float) -> str:
        """A number of the program's kind."""

    def operation(self, op: str, arguments: Sequence[str]) -> str:
        """One operation of the table."""
        table = own_math.EXPRESSIONS if self.own and op in own_math.EXPRESSIONS else self.expressions
        return table[op].format(*arguments, **self.words)

    @abstractmethod
    def value(self, name: str, text: str) -> str:
        """The statement that names a value for good."""

    @abstractmethod
    def array(self, name: str, numbers: Sequence[str]) -> str:
        """The statement that makes an array whose numbers may change."""

    @abstractmethod
    def signature(self) -> str:
        """The head of the function."""

    def read(self, array: str, k: int) -> str:
        """A number of an array."""
        return f"{array}[{k}]"

    def pair(self, name: str, angle: str) -> str:
        """The statement that names sine and cosine of an angle together, where there are functions of its own."""
        raise NotImplementedError

    def repeated(self, call: Call, counter: str, most: int, going: str) -> list[str]:
        """A loop of at most so many turns, as long as it is going."""
        given = ", ".join([*call.carried, *call.shared, *call.carried, call.left])
        return [
            f"for ({self.counter} {counter} = 0; {counter} < {most} && {going}; ++{counter}) {{",
            f"    {call.function}({given});",
            "}",
        ]

    def conditional(self, condition: str, lines: Sequence[str]) -> list[str]:
        """Statements for the case that a condition holds."""
        return [f"if ({condition}) {{", *(f"    {line}" for line in lines), "}"]

    def unused(self, name: str) -> list[str]:
        """Statements that keep a compiler from complaining about an argument."""
        return []

    def body(self, statements: Sequence[Statement], taken: Sequence[str]) -> list[str]:
        """The lines of a function that does all this; names that are taken are no longer free."""
        return [s.text for s in statements]

    # ---- what all languages share

    @property
    def ops(self) -> set[str]:
        """The operations in use, those of a loop before the program too."""
        before = self.program.before
        return {n.op for n in (*self.program.schedule, *(before.body.schedule if before else ()))}

    @cached_property
    def arguments(self) -> tuple[list[str], list[str]]:
        """Names of inputs and outputs: the ports' own, lengthened where the language or another port has them."""
        chosen: list[str] = []
        for port in (*self.program.arguments, *self.program.outputs):
            chosen.append(free(port.name, [*chosen, *self.reserved]))
        return chosen[: len(self.program.arguments)], chosen[len(self.program.arguments) :]

    @cached_property
    def turn(self) -> Source | None:
        """The function of one turn of the loop before the program."""
        return type(self)(self.program.before.body, self._own.function, self.own) if self.program.before else None

    def lines(self) -> list[str]:
        """What the function does, its loop first."""
        before = self.program.before
        if not before:
            return self._straight()
        own = self._own
        arrays = {name: own.arrays[k] for k, name in before.gives}
        return [*self._loop(before, own), *self._straight(arrays, [own.function, own.left, own.turn])]

    def _straight(self, arrays: Mapping[str, str] = MappingProxyType({}), others: Sequence[str] = ()) -> list[str]:
        """What a function does with its arguments and with arrays of its own, by input; others are names it has."""
        program, (arguments, outputs) = self.program, self.arguments
        chosen = {**dict(zip((p.name for p in program.arguments), arguments, strict=True)), **arrays}
        inputs = [chosen[p.name] for p in program.inputs]
        taken = self.reserved.union(arguments, outputs, arrays.values(), others)
        given = {index: f"v_{n}" if n in taken else n for index, n in names(program).items()}
        place = {n.index: self.read(p, k) for p, g in zip(inputs, program.leaves, strict=True) for k, n in enumerate(g)}

        def text(n: Node) -> str:
            if n.op == "const":
                return f"({self.number(n.value)})" if n.value < 0 else self.number(n.value)
            return place.get(n.index) or given[n.index]

        statements: list[Statement] = []
        pairs: dict[int, str] = {}  # sine with cosine, by angle
        for n in program.schedule:
            arguments = [text(a) for a in n.args]
            reads = tuple(given[a.index] for a in n.args if a.args)
            if self.own and n.op in ("sin", "cos"):
                at = n.args[0].index
                if at not in pairs:
                    pairs[at] = free(f"turn{len(pairs) + 1}", {*taken, *given.values()})
                    statements.append(Statement(self.pair(pairs[at], arguments[0]), pairs[at], reads))
                arguments, reads = [pairs[at]], (pairs[at],)
            name = given[n.index]
            statements.append(Statement(self.value(name, self.operation(n.op, arguments)), name, reads))
        results = [n for g in program.results for n in g]
        # all inputs are read before an output is written, so that an output may be one of the inputs
        direct = sorted({place[n.index] for n in results if n.index in place})
        copies = {r: free(f"copied{k}", {*taken, *given.values()}) for k, r in enumerate(direct)}
        statements += [Statement(self.value(name, r), name) for r, name in copies.items()]
        for p, g in zip(outputs, program.results, strict=True):
            for k, n in enumerate(g):
                what = copies.get(text(n), text(n))
                statements.append(Statement(f"{p}[{k}] = {what};", "", (what,) if n.op != "const" else ()))
        read = {a.index for n in program.schedule for a in n.args} | {n.index for n in results}
        idle = [p for p, g in zip(inputs, program.leaves, strict=True) if not any(n.index in read for n in g)]
        idle += [p for p, g in zip(outputs, program.results, strict=True) if not g]
        unused = [line for p in idle for line in self.unused(p)]
        return [*unused, *self.body(statements, [*taken, *given.values(), *copies.values(), *pairs.values()])]

    @cached_property
    def _own(self) -> _Own:
        before = self.program.before
        assert before is not None
        wanted = [f"{self.function}_turn", *(p.name for p in before.carried), before.body.outputs[-1].name, "turn"]
        chosen: list[str] = []
        taken = [*self.reserved, self.function, *itertools.chain(*self.arguments)]
        for name in wanted:
            chosen.append(free(name, [*taken, *chosen]))
        return _Own(chosen[0], chosen[1:-2], chosen[-2], chosen[-1])

    def _loop(self, before: Before, own: _Own) -> list[str]:
        """The loop: what is carried is both read and written by the function of a turn."""
        chosen = dict(zip((p.name for p in self.program.arguments), self.arguments[0], strict=True))
        lines = []
        for port, start, name in zip(before.carried, before.start, own.arrays, strict=True):
            if isinstance(start, str):
                begin = [self.read(chosen[start], k) for k in range(port.size)]
            else:
                begin = [self.number(x) for x in start]
            lines.append(self.array(name, begin or [self.number(0.0)]))
        going = f"{self.operation('abs', [f'{own.left}[0]'])} > {self.number(0.0)}"
        call = Call(own.function, own.arrays, [chosen[p.name] for p in before.shared], own.left)
        lines.append(self.array(own.left, [self.number(1.0)]))
        lines += self.repeated(call, own.turn, before.most, going)
        lost = [(own.arrays[k], i) for k in sorted({k for k, _ in before.gives}) for i in range(before.carried[k].size)]
        if lost:
            lines += self.conditional(going, [f"{name}[{i}] = {self.nan};" for name, i in lost])
        return lines

    def _checked(self, name: Any) -> str:
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise InputError(f"{self.method} name: expected a name of letters, digits and _, got {name!r}.")
        if name in self.reserved:
            raise InputError(
                f"{self.method} name: expected a name that {self.language} does not use itself, got {name!r}."
            )
        return str(name)

    def comment(self, title: str) -> str:
        """What the function is, its arguments, and what it costs."""

        def line(name: str, port: Port, what: str) -> str:
            dimensions = " by ".join(map(str, port.shape)) or "1"
            return f" *   {name}: {what}, {dimensions} numbers, row after row"

        program, (inputs, outputs) = self.program, self.arguments
        ports = [line(n, p, "input") for n, p in zip(inputs, program.arguments, strict=True)]
        ports += [line(n, p, "output") for n, p in zip(outputs, program.outputs, strict=True)]
        for ends in ("*/", "/*", "</", "<!"):  # of a comment, or of a script within a page
            title = title.replace(ends, " ".join(ends))
        lines = [f" * {title}, generated by Linkwise.", " *", *ports, f" * Operations: {operations(program)}."]
        if program.before:
            lines += [f" * Newton's method, at most {program.before.most} turns; NaN where it has not arrived by then."]
        return "\n".join(["/*", *lines, " */"])


def indented(lines: Sequence[str]) -> str:
    """The lines of a block, each further in."""
    return "\n".join(f"    {line}" for line in lines)
