"""Where the numbers of each output lie in the buffer of a tile: blocks of structural zeros take no place there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwise.graph.node import Node
from linkwise.graph.program import Program


@dataclass(frozen=True)
class Layout:
    """The buffer of one output port.

    `places[k]` are the vectors that hold number k, more than one where the last block overlaps the one before it. A
    port with zeros to leave out has `runs`, pairs of ends in blocks of `lanes` numbers: zeros up to the first, numbers
    up to the second, and so on; its vector 0 is zero. `size` is how many vectors there are.
    """

    places: tuple[tuple[int, ...], ...]
    runs: tuple[tuple[int, int], ...]
    size: int


def layouts(program: Program, lanes: int) -> list[Layout]:
    """One layout for each output port."""
    return [_layout(nodes, lanes, program.repeated) for nodes in program.results]


def _layout(nodes: Sequence[Node], lanes: int, repeated: bool) -> Layout:
    width = len(nodes)
    starts = [*range(0, width - lanes + 1, lanes), *([width - lanes] if width % lanes else [])]
    zero = [all(n.op == "const" and n.value == 0.0 for n in nodes[k : k + lanes]) for k in starts]
    if repeated or width < lanes or not any(zero):
        return Layout(tuple((k,) for k in range(width)), (), width)
    places: list[list[int]] = [[] for _ in nodes]
    size = 1
    for start, empty in zip(starts, zero, strict=True):
        for k in range(start, start + lanes):
            if empty:
                places[k].append(0)
            else:
                places[k].append(size)
                size += 1
    runs: list[tuple[int, int]] = []
    block = 0
    while block < len(starts):
        ends = []
        for wanted in (True, False):
            while block < len(starts) and zero[block] is wanted:
                block += 1
            ends.append(block)
        runs.append((ends[0], ends[1]))
    return Layout(tuple(tuple(p) for p in places), tuple(runs), size)
