"""A traced function: named input arrays, named output arrays, and the expressions between them."""

from __future__ import annotations

import gc
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from math import prod
from typing import Any

from linkwise.errors import LinkwiseError
from linkwise.graph.iteration import Before as Before
from linkwise.graph.iteration import check
from linkwise.graph.node import Graph, Node, TooLargeError, lift
from linkwise.graph.op import OPS
from linkwise.locks import ForkSafeLock

MOST = 5_000_000  # expressions of one program, each of which takes about 350 bytes while it is traced


@dataclass(frozen=True)
class Port:
    """An input or output array of a program; with `steps`, one for each step of a repeated program.

    Of a `thinned` output the array that is to be filled says how many are kept: after every k-th step, k being the
    number of steps over that.
    """

    name: str
    shape: tuple[int, ...]
    steps: bool = False
    thinned: bool = False

    @property
    def size(self) -> int:
        """How many numbers one step has."""
        return prod(self.shape)

    @property
    def rank(self) -> int:
        """How many axes of an array belong to the port, after those of the batch."""
        return len(self.shape) + self.steps

    @property
    def axes(self) -> list[str]:
        """The axes that belong to the port, by name or width."""
        return [*(["kept" if self.thinned else "steps"] if self.steps else []), *map(str, self.shape)]

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether the last axes of an array of this shape are the port's."""
        return len(shape) >= self.rank and shape[len(shape) - len(self.shape) :] == self.shape


@dataclass(frozen=True)
class Program:
    """Straight-line code. `inputs` and `outputs` are ports; `leaves[k]` and `results[k]` their nodes, flat.

    `schedule` lists the live nodes, arguments before uses, without inputs and constants. A program with ports that have
    steps is run once for each step; `carries` are pairs (output, input): what an output was in a step, the input is in
    the next. `before` is a loop that runs first, in each step anew, and gives some of the inputs; the others are
    the `arguments`. `dtype` says in which numbers all this is done, "float64" or "float32".
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    leaves: tuple[tuple[Node, ...], ...]
    results: tuple[tuple[Node, ...], ...]
    carries: tuple[tuple[int, int], ...] = ()
    before: Before | None = None
    dtype: str = "float64"

    def __post_init__(self) -> None:
        if self.before:
            check(self, self.before)

    @cached_property
    def arguments(self) -> tuple[Port, ...]:
        """The inputs that whoever calls the program gives."""
        return tuple(p for p in self.inputs if not self.before or p.name not in self.before.hidden)

    @property
    def whole(self) -> Program:
        """The program with all its expressions, where this one only stands for it."""
        return self

    def keep(self) -> None:
        """Note what a call has to know of the program, for processes to come, where its maker wants that."""

    @cached_property
    def repeated(self) -> bool:
        """Whether the program runs in steps."""
        return any(p.steps for p in (*self.inputs, *self.outputs))

    @cached_property
    def lengths(self) -> tuple[int, int]:
        """How many operations are scheduled, and how many in a turn of the loop before."""
        return len(self.schedule), len(self.before.body.schedule) if self.before else 0

    @cached_property
    def schedule(self) -> tuple[Node, ...]:
        results = [n for group in self.results for n in group]
        if not results:
            return ()
        nodes = results[0].graph.nodes[: 1 + max(n.index for n in results)]
        live = bytearray(len(nodes))
        for n in results:
            live[n.index] = 1
        for n in reversed(nodes):  # uses before arguments
            if live[n.index]:
                for a in n.args:
                    live[a.index] = 1
        return tuple(n for n in compress(nodes, live) if n.args)

    @cached_property
    def names(self) -> dict[int, str]:
        """The names that the algorithm gave to intermediate values, by node index."""
        return self.leaves[0][0].graph.names if self.leaves and self.leaves[0] else {}

    def count(self) -> Counter[str]:
        """How many operations one evaluation takes, by kind; sine and cosine of one angle count as one `sincos`.

        Of a loop that runs before, each turn takes its operations anew; one turn is counted.
        """
        total: Counter[str] = Counter()
        for op, k in Counter(n.op for n in self.schedule).items():
            total[OPS[op].counted] += k
        if total.pop("trig", 0):
            angles = {n.args[0].index for n in self.schedule if OPS[n.op].counted == "trig"}
            total["sincos"] = len(angles)
        return total + self.before.body.count() if self.before else total

    @cached_property
    def digest(self) -> str:
        """A hash of all that determines the numbers."""
        place: dict[int, Any] = {}
        for group in self.leaves:
            for n in group:
                place[n.index] = len(place)
        facts: list[Any] = [self.inputs, self.outputs, self.carries, self.dtype]
        for n in self.schedule:
            facts.append(n.op)
            for a in n.args:
                facts.append(a.value if a.op == "const" else place[a.index])  # a float, or an int for a place
            place[n.index] = len(place)
        facts.extend(n.value if n.op == "const" else place[n.index] for group in self.results for n in group)
        if self.before:
            facts.append((self.before.body.digest, self.before.start, self.before.gives, self.before.most))
        return hashlib.sha256(repr(facts).encode()).hexdigest()


def trace(
    name: str,
    function: Callable[..., Sequence[Any]],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    *,
    before: Before | None = None,
    dtype: str = "float64",
) -> Program:
    """The program of `function`, called once with a flat list of nodes for each input.

    It returns one flat sequence of values for each output, numbers where they do not depend on the inputs. What counts
    as round-off in it, `scalar.tolerance`, is that of the kind of numbers.
    """
    graph = Graph(MOST, dtype)
    leaves = []
    for port in inputs:
        leaves.append(tuple(graph.input(f"{port.name}{k + 1}" if port.shape else port.name) for k in range(port.size)))
    try:
        values = without_collector(lambda: function(*[list(group) for group in leaves]))
    except TooLargeError as error:
        raise TooLargeError(
            f"{name}: expected a program of at most {MOST:,} expressions, got more. Ask for less at once, or for a"
            " smaller robot: robot.lock(names) holds joints."
        ) from error
    return finish(name, graph, inputs, outputs, leaves, values, before=before)


_collector = ForkSafeLock()  # whose holder may let Python's garbage collector rest
_resting = False


def without_collector(function: Callable[[], Any]) -> Any:
    """What a function gives while the collector rests: nothing of a graph can be freed, and looking for it takes time.

    Of several threads one alone switches it off and on again; an interrupt in between at worst lets it run on.
    """
    global _resting
    mine, rests = _collector.acquire(blocking=False), False
    try:
        if mine and gc.isenabled():
            _resting = rests = True
            gc.disable()
        return function()
    finally:
        if rests:
            gc.enable()
            _resting = False
        if mine:
            _collector.release()


def _wake() -> None:
    """Switch the collector on in a child whose parent was at work: the thread that would do so is not there."""
    global _resting
    if _resting:
        _resting = False
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_wake)


def finish(
    name: str,
    graph: Graph,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    leaves: Sequence[tuple[Node, ...]],
    values: Sequence[Any],
    *,
    before: Before | None = None,
) -> Program:
    """The program of expressions already written on a graph, with sizes checked."""
    if len(values) != len(outputs):
        raise LinkwiseError(f"{name}: expected {len(outputs)} outputs, got {len(values)} from the traced function.")
    results = []
    for port, flat in zip(outputs, values, strict=True):
        if len(flat) != port.size:
            raise LinkwiseError(f"{name}: expected {port.size} numbers for {port.name}, got {len(flat)}.")
        results.append(tuple(lift(graph, x) for x in flat))
    return Program(name, tuple(inputs), tuple(outputs), tuple(leaves), tuple(results), (), before, graph.dtype)
