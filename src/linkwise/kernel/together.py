"""Several kernels in one function, which computes what they have in common once: sines, velocities, poses."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

from linkwise.backend.call import caller
from linkwise.errors import InputError
from linkwise.graph.inline import inlined
from linkwise.graph.node import Graph
from linkwise.graph.program import Before, Port, Program, finish, without_collector
from linkwise.graph.show import free
from linkwise.kernel.kernel import Compiled


class Together(Compiled):
    """Several kernels as one: inputs of one name are one input, and every value that two of them need is found once.

    Outputs keep their names, where all that have one name are equal and no input has it; others have that of their
    kernel before it.

    Attributes:
        kernels: those that it is made of.
    """

    kernels: tuple[Compiled, ...]

    @classmethod
    def of(cls, *kernels: Compiled) -> Together:
        """The kernel of several, not yet compiled."""
        for k in kernels:
            if not isinstance(k, Compiled):
                raise InputError(f"together: expected kernels, such as dyn.mass_matrix, got {k!r}.")
            k._whole("one function")
        program = fused("together", [k.program for k in kernels])
        doc = f"{', '.join(k.program.name for k in kernels)}, in one function."
        kernel = cls(caller(program, doc, 1))
        kernel.kernels, kernel.robot, kernel.program, kernel.__doc__ = kernels, kernels[0].robot, program, doc
        return kernel

    def _title(self) -> str:
        return " and ".join(k._title() for k in self.kernels)

    def __reduce__(self) -> Any:
        return Together.of, self.kernels


def fused(name: str, programs: Sequence[Program]) -> Program:
    """One program that does the work of several."""
    wholes = [p.whole for p in programs]
    kinds = {p.dtype for p in wholes}
    if len(kinds) > 1 or any(p.repeated for p in wholes):
        got = " and ".join(sorted(kinds)) if len(kinds) > 1 else "one that runs in steps"
        raise InputError(f"{name}: expected functions of one state, all in the same numbers, got {got}.")
    inputs: dict[str, Port] = {}
    for port in (p for program in wholes for p in program.inputs):
        if inputs.setdefault(port.name, port) != port:
            shapes = f"{inputs[port.name].shape} and {port.shape}"
            raise InputError(f"{name}: expected one shape of the input {port.name} in all of them, got {shapes}.")
    before = _before(name, wholes)
    hidden = before.hidden if before else frozenset()
    ports = [p for p in inputs.values() if p.name not in hidden] + [inputs[n] for n in sorted(hidden)]
    graph = Graph(dtype=wholes[0].dtype)
    leaves = {p.name: tuple(graph.input(_label(p, k)) for k in range(p.size)) for p in ports}

    def run() -> list[list[list[Any]]]:
        return [inlined(replace(p, before=None), *(leaves[x.name] for x in p.inputs)) for p in wholes]

    found = list(zip(wholes, without_collector(run), strict=True))
    outputs, values = _outputs(found, inputs)
    return finish(name, graph, ports, outputs, [leaves[p.name] for p in ports], values, before=before)


def _label(port: Port, k: int) -> str:
    return f"{port.name}{k + 1}" if port.shape else port.name


def _before(name: str, programs: Sequence[Program]) -> Before | None:
    """The one loop that all have before them that have any."""
    loops = {_facts(p.before): p.before for p in programs if p.before}
    if len(loops) > 1:
        raise InputError(
            f"{name}: expected functions whose loops are closed alike, got {len(loops)} ways to close them."
        )
    return next(iter(loops.values()), None)


def _facts(before: Before) -> Any:
    return before.body.digest, before.start, before.gives, before.most


def _outputs(
    found: Sequence[tuple[Program, list[list[Any]]]], inputs: Container[str]
) -> tuple[list[Port], list[list[Any]]]:
    """Ports and values, of equal ones of one name the first."""
    every = [(p, port, x) for p, values in found for port, x in zip(p.outputs, values, strict=True)]
    first: dict[str, list[Any]] = {}
    own = {n for _, port, x in every if not _same(first.setdefault(n := port.name, x), x) or n in inputs}
    ports: dict[str, Port] = {}
    values = []
    for program, port, x in every:
        if port.name not in own and port.name in ports:
            continue
        name = free(f"{program.name}_{port.name}", ports) if port.name in own else port.name
        ports[name] = replace(port, name=name)
        values.append(x)
    return list(ports.values()), values


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two lists have the same expressions."""

    def key(x: Any) -> Any:
        return x.index if hasattr(x, "index") else x

    return len(a) == len(b) and all(key(x) == key(y) for x, y in zip(a, b, strict=True))
