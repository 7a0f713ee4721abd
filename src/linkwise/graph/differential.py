"""Programs differentiated as a whole: what changes of the inputs do to the outputs, and what outputs ask of the inputs.

Derivatives are by the numbers of each input, and again programs, so that they can be differentiated again. What a loop
before the program finds changes with the inputs too: as one step of Newton's method says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from linkwise.errors import InputError
from linkwise.graph.derivative import along, pulled_back
from linkwise.graph.derivative import jacobian as entries
from linkwise.graph.inline import inlined
from linkwise.graph.program import Port, Program, trace
from linkwise.graph.show import free

CHANGE, WEIGHT = "{}_change", "{}_weight"


def forward(program: Program, wrt: Sequence[str]) -> Program:
    """The changes of all outputs, from the inputs and from changes of some: directional derivatives.

    Further inputs are named like q_change, in the order of `wrt`; outputs like tau_change.
    """
    given = {p.name: p for p in program.arguments}
    more = _further(program, [replace(given[name], name=CHANGE.format(name)) for name in wrt])

    def run(leaves: _Leaves, changes: Sequence[list[Any]]) -> list[list[Any]]:
        known = dict(zip(wrt, changes, strict=True))
        hidden, after, shared = leaves.step()
        seeds = [x for port in shared for x in known.get(port, [0.0] * len(leaves.named[port]))]
        found = along(after, [x for port in shared for x in leaves.named[port]], seeds)
        nodes = [*(x for name in wrt for x in leaves.named[name]), *hidden]
        rates = [*(x for group in changes for x in group), *found]
        return [along(group, nodes, rates) for group in leaves.values]

    outputs = [replace(p, name=CHANGE.format(p.name)) for p in program.outputs]
    return _made(program, f"{program.name}_forward", more, outputs, run)


def backward(program: Program, wrt: Sequence[str]) -> Program:
    """The gradients by some inputs of a weighted sum of all outputs, from the inputs and the weights.

    Further inputs are named like tau_weight, one for each output; outputs like q_weight, in the order of `wrt`. An
    input of `wrt` on which nothing depends is none: of a program that is linear in it.
    """
    given = {p.name: p for p in program.arguments}
    more = _further(program, [replace(p, name=WEIGHT.format(p.name)) for p in program.outputs])

    def run(leaves: _Leaves, weights: Sequence[list[Any]]) -> list[list[Any]]:
        hidden, after, shared = leaves.step()
        nodes = [x for port in leaves.named if port in {*wrt, *shared} for x in leaves.named[port]]
        values, bars = [x for g in leaves.values for x in g], [x for g in weights for x in g]
        found = pulled_back(values, bars, [*nodes, *hidden])
        through = pulled_back(after, found[len(nodes) :], nodes)
        by_node = {n.index: a + b for n, a, b in zip(nodes, found, through, strict=False)}
        return [[by_node[x.index] for x in leaves.named[name]] for name in wrt]

    outputs = [replace(given[name], name=WEIGHT.format(name)) for name in wrt]
    return _without_unused(_made(program, f"{program.name}_backward", more, outputs, run), set(wrt))


def jacobian(program: Program, wrt: Sequence[str]) -> Program:
    """All derivatives of the outputs by some inputs, named like dtau_dq: axes of the output, then of the input."""
    given = {p.name: p for p in program.arguments}

    def run(leaves: _Leaves, _: Sequence[list[Any]]) -> list[list[Any]]:
        hidden, after, shared = leaves.step()
        nodes = [x for port in leaves.named if port in {*wrt, *shared} for x in leaves.named[port]]
        place = {n.index: k for k, n in enumerate(nodes)}
        follow = entries(after, nodes, "forward")
        found = []
        for group in leaves.values:
            rows = entries(group, [*nodes, *hidden])
            whole = [
                [
                    sum((x * f[k] for x, f in zip(row[len(nodes) :], follow, strict=True)), row[k])
                    for k in place.values()
                ]
                for row in rows
            ]
            for name in wrt:
                at = [place[x.index] for x in leaves.named[name]]
                found.append([row[k] for row in whole for k in at])
        return found

    outputs = [Port(f"d{p.name}_d{name}", (*p.shape, *given[name].shape)) for p in program.outputs for name in wrt]
    return _made(program, f"{program.name}_jacobian", [], outputs, run)


class _Leaves:
    """A program written out on the graph of its derivative: the nodes of its inputs by name, and of its outputs."""

    def __init__(self, program: Program, inputs: Sequence[list[Any]]) -> None:
        self.program = program
        self.named = {p.name: x for p, x in zip(program.inputs, inputs, strict=True)}
        self.values = inlined(replace(program, before=None), *inputs)

    def step(self) -> tuple[list[Any], list[Any], list[str]]:
        """What the loop before found, the same after another step, and the inputs on which that depends."""
        before = self.program.before
        if before is None:
            return [], [], []
        if before.step is None:
            raise InputError(f"{self.program.name}: the derivatives of the loop inside are not known.")
        step = before.step()
        hidden = self.named[step.inputs[0].name]
        shared = [p.name for p in step.inputs[1:]]
        (after,) = inlined(step, hidden, *(self.named[name] for name in shared))
        return hidden, after, shared


def _further(program: Program, ports: Sequence[Port]) -> list[Port]:
    """Ports of further inputs, under names that no other input has."""
    taken = {p.name for p in program.inputs}
    return [replace(p, name=free(p.name, taken)) for p in ports]


def _made(
    program: Program,
    name: str,
    more: Sequence[Port],
    outputs: Sequence[Port],
    run: Callable[[_Leaves, Sequence[list[Any]]], list[list[Any]]],
) -> Program:
    """The program of what `run` makes of the inputs and some more."""
    if program.repeated:
        raise InputError(
            f"derivatives of {program.name}: expected a function of one state, got one that runs in steps."
        )
    program = program.whole
    count = len(program.inputs)

    def function(*inputs: list[Any]) -> list[list[Any]]:
        return run(_Leaves(program, inputs[:count]), inputs[count:])

    return trace(name, function, [*program.inputs, *more], outputs, before=program.before, dtype=program.dtype)


def _without_unused(program: Program, names: set[str]) -> Program:
    """The program without those of the named inputs on which nothing depends."""
    used = {a.index for n in program.schedule for a in n.args} | {n.index for g in program.results for n in g}
    if program.before:
        names = names - {p.name for p in program.before.shared}
    both = zip(program.inputs, program.leaves, strict=True)
    kept = [(p, g) for p, g in both if p.name not in names or any(n.index in used for n in g)]
    return replace(program, inputs=tuple(p for p, _ in kept), leaves=tuple(g for _, g in kept))
