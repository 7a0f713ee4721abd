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
    port with zeros to leave out has `runs`, pairs of ends in blocks of numbers: zeros up to the first, numbers
    up to the second, and so on; its vector 0 is zero. `size` is how many vectors there are.
    """

    places: tuple[tuple[int, ...], ...]
    runs: tuple[tuple[int, int], ...]
    size: int


def layouts(program: Program, block: int) -> list[Layout]:
    """One layout for each output port, whose numbers are moved in blocks of so many."""
    return [_layout(nodes, block, program.repeated) for nodes in program.results]


def _layout(nodes: Sequence[Node], block: int, repeated: bool) -> Layout:
    width = len(nodes)
    starts = [*range(0, width - block + 1, block), *([width - block] if width % block else [])]
    zero = [all(n.op == "const" and n.value == 0.0 for n in nodes[k : k + block]) for k in starts]
    if repeated or width < block or not any(zero):
        return Layout(tuple((k,) for k in range(width)), (), width)
    places: list[list[int]] = [[] for _ in nodes]
    size = 1
    for start, empty in zip(starts, zero, strict=True):
        for k in range(start, start + block):
            if empty:
                places[k].append(0)
            else:
                places[k].append(size)
                size += 1
    runs: list[tuple[int, int]] = []
    at = 0
    while at < len(starts):
        ends = []
        for wanted in (True, False):
            while at < len(starts) and zero[at] is wanted:
                at += 1
            ends.append(at)
        runs.append((ends[0], ends[1]))
    return Layout(tuple(tuple(p) for p in places), tuple(runs), size)
