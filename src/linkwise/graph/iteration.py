"""A loop that runs before a program, and finds some of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkwise.errors import LinkwiseError

if TYPE_CHECKING:
    from linkwise.graph.program import Port, Program


@dataclass(frozen=True)
class Before:
    """A program that is run again and again before another one, each row until it says that it is done.

    Newton's method in a kernel: what it finds, inputs of the other program take, which are then no arguments.

    Args:
        body: one turn. Its inputs are first the carried ports, then some with the names and shapes of inputs of the
            other program, whose values they take. Its outputs are what the carried ports are after the turn, in their
            order, then one number, which is not zero while the row must go on; where it is NaN the row is done.
        start: for each carried port where it begins: its numbers, or the name of an input of the other program.
        gives: pairs (k, name): the last value of carried port k is that input of the other program.
        most: turns after which a row that is not done gives up, and what it gives is NaN.
        step: makes a program of what the loop gives and the shared inputs, whose outputs are what the loop gives after
            one more step of Newton's method. There its derivatives by what it gives vanish, and those by the shared
            inputs are those of what the loop gives.
    """

    body: Program
    start: tuple[tuple[float, ...] | str, ...]
    gives: tuple[tuple[int, str], ...]
    most: int
    step: Callable[[], Program] | None = None

    @property
    def carried(self) -> tuple[Port, ...]:
        """The ports whose values pass from turn to turn."""
        return self.body.inputs[: len(self.start)]

    @property
    def shared(self) -> tuple[Port, ...]:
        """The ports that have the values of inputs of the other program."""
        return self.body.inputs[len(self.start) :]

    @property
    def hidden(self) -> frozenset[str]:
        """Names of the other program's inputs that the loop gives."""
        return frozenset(name for _, name in self.gives)


def check(program: Program, before: Before) -> None:
    """Refuse a loop that does not fit the program it runs before."""
    body, inputs = before.body, {p.name: p for p in program.inputs}
    arguments = {p.name: p for p in program.arguments}

    def refuse(expected: str, got: object) -> None:
        raise LinkwiseError(f"{program.name}: the loop before it: expected {expected}, got {got}.")

    if body.before or body.repeated:
        refuse("a straight program as its body", f"{body.name}, which has steps or a loop of its own")
    if body.dtype != program.dtype:
        refuse(f"a body in {program.dtype}", body.dtype)
    if before.most < 1:
        refuse("at least one turn", before.most)
    outputs = [p.shape for p in body.outputs]
    if outputs != [*(p.shape for p in before.carried), ()] or len(before.carried) != len(before.start):
        refuse(
            f"an output for each of the {len(before.start)} carried inputs, of its shape, and one number",
            ", ".join(f"{p.name} {p.shape}" for p in body.outputs) or "none",
        )
    for port in before.shared:
        if port.name not in arguments or arguments[port.name].shape != port.shape:
            refuse(f"shared inputs to be among {_list(arguments.values())}", f"{port.name} {port.shape}")
    for port, start in zip(before.carried, before.start, strict=True):
        given = {name for k, name in before.gives if before.carried[k : k + 1] == (port,)}
        if port.name in inputs.keys() - given:
            refuse(f"another name for the carried input {port.name}", "that of an input which it does not give")
        if isinstance(start, str):
            if start not in arguments or arguments[start].shape != port.shape:
                refuse(f"a start of {port.name} {port.shape} that is among {_list(arguments.values())}", start)
        elif len(start) != port.size:
            refuse(f"{port.size} numbers where {port.name} starts", len(start))
    names = [name for _, name in before.gives]
    for k, name in before.gives:
        if not 0 <= k < len(before.carried):
            refuse(f"what it gives as {name} to be one of {len(before.carried)} carried inputs", f"number {k}")
        if name not in inputs or names.count(name) > 1 or inputs[name].steps:
            refuse(f"each input it gives once, without steps, among {_list(program.inputs)}", name)
        if inputs[name].shape != before.carried[k].shape:
            refuse(f"{name} of shape {inputs[name].shape}", before.carried[k].shape)
    if any(program.inputs[target].name in before.hidden for _, target in program.carries):
        refuse("inputs that it gives not to be those that steps pass on", _list(program.inputs))


def _list(ports: Iterable[Port]) -> str:
    return ", ".join(f"{p.name} {p.shape}" for p in ports) or "none"
