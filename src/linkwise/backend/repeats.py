"""Long programs that say the same again and again: each distinct piece is compiled once, and told where to look.

A chain of a thousand joints is a thousand times the same few hundred operations, with other numbers and other
places. The schedule is cut where its *content* says so, not after so many operations, so that equal stretches are cut
alike wherever they stand. Pieces that differ only in constants and places have one form, one function, whose tables
hold the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.graph.node import Node

LONG = 140_000  # operations from which repetitions are looked for: code with them takes three times as long
WORTH = 3  # times as short the distinct pieces have to be together
QUICK = 10_000  # operations of distinct pieces that compile in about a second
NEAR = 48  # operations back to an argument that count as part of the content
WINDOW = 4  # operations that decide together whether a piece ends after them
LONGEST = 1000  # operations of a piece
SHORTEST = (200, 100, 60, 40, 30, 20)  # long pieces pass less through memory, short ones repeat more
TRIALS = 12  # rules tried for each length, each of which takes one in so many windows for an end


def pieces(schedule: Sequence[Node]) -> list[Sequence[Node]]:
    """The schedule cut so that as few distinct pieces as possible remain; none where that does not pay."""
    if len(schedule) < LONG:
        return []
    keys = _operation_keys(schedule)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(keys, 99) * _powers(len(keys)))])
    best: list[int] = []
    least = len(schedule) // WORTH
    for shortest, trial in product(SHORTEST, range(TRIALS)):
        ends = _ends(keys, shortest, trial)
        distinct = _distinct(sums, ends)
        if distinct < least:
            best, least = ends, distinct
        if best and least <= QUICK:
            break
    return [schedule[a:b] for a, b in pairwise((0, *best))]


def _operation_keys(schedule: Sequence[Node]) -> NDArray[np.uint64]:
    """For each operation a number that says what it is and how near its arguments are, numbers and places left out."""
    at: dict[int, int] = {}
    known: dict[tuple[Any, ...], int] = {}
    keys = np.empty(len(schedule), np.uint64)
    for k, n in enumerate(schedule):
        key = [n.op]
        for a in n.args:
            back = k - at[a.index] if a.args else 0
            key.append(back if 0 < back < NEAR else a.op if not a.args else "far")  # type: ignore[arg-type]
        at[n.index] = k
        keys[k] = known.setdefault(tuple(key), len(known) + 1)
    return keys


def _ends(keys: NDArray[np.uint64], shortest: int, trial: int) -> list[int]:
    """Where pieces end by one rule: after windows whose hash leaves a chosen remainder."""
    rarity = np.uint64(shortest // 3)
    window = np.zeros_like(keys)
    for k in range(WINDOW):
        window[WINDOW - 1 :] += _mixed(keys, 7 * trial + k)[k : len(keys) - WINDOW + 1 + k]
    ends, last = [], 0
    for k in [*np.flatnonzero((window >> np.uint64(32)) % rarity == 0) + 1, len(keys)]:
        while k - last > LONGEST:
            last += LONGEST
            ends.append(last)
        if k - last >= shortest or k == len(keys):
            last = int(k)
            ends.append(last)
    return ends


def _distinct(sums: NDArray[np.uint64], ends: list[int]) -> int:
    """How many operations the distinct pieces have together, known by differences of these sums over their keys."""
    sizes: dict[tuple[int, int], int] = {}
    inverse = pow(int(BASE), -1, 2**64)
    for a, b in pairwise((0, *ends)):
        whole = (int(sums[b]) - int(sums[a])) * pow(inverse, a, 2**64) % 2**64
        sizes[b - a, whole] = b - a
    return sum(sizes.values())


BASE = np.uint64(0x9E3779B97F4A7C15)


def _powers(count: int) -> NDArray[np.uint64]:
    factors = np.full(count, BASE)
    factors[0] = 1
    return np.multiply.accumulate(factors)


def _mixed(keys: NDArray[np.uint64], salt: int) -> NDArray[np.uint64]:
    """Words scattered over all 64 bits."""
    x = keys + np.uint64(salt * 0xD1B54A32D192ED03 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))


class Chunk(NamedTuple):
    """A piece of the schedule and the scratch places it reads and writes."""

    nodes: Sequence[Node]
    loads: dict[int, int]
    stores: dict[int, int]


class Form(NamedTuple):
    """What a chunk does, constants and places left out.

    For each operation its name, its arguments, whether it is kept for other chunks, and how many results it is. An
    argument is a number, the operation of this chunk that gives it; ("const", 0); or ("input", k) or ("scratch", k),
    the k-th value that comes from outside.
    """

    operations: tuple[tuple[str, tuple[Any, ...], bool, int], ...]


def form(
    chunk: Chunk, inputs: Mapping[int, int], results: Mapping[int, list[int]]
) -> tuple[Form, list[int], list[float]]:
    """The form of a chunk, with its table of places and its constants, in the order in which they are asked for."""
    own: dict[int, int] = {}
    outside: dict[int, tuple[str, int]] = {}
    table: list[int] = []
    constants: list[float] = []
    operations = []
    for k, n in enumerate(chunk.nodes):
        arguments: list[Any] = []
        for a in n.args:
            if a.op == "const":
                constants.append(a.value)
                arguments.append(("const", 0))
            elif a.index in own:
                arguments.append(own[a.index])
            else:
                if a.index not in outside:
                    outside[a.index] = ("scratch" if a.args else "input", len(outside))
                    table.append(chunk.loads[a.index] if a.args else inputs[a.index])
                arguments.append(outside[a.index])
        own[n.index] = k
        kept, copies = n.index in chunk.stores, results.get(n.index, [])
        table += [*([chunk.stores[n.index]] if kept else []), *copies]
        operations.append((n.op, tuple(arguments), kept, len(copies)))
    return Form(tuple(operations)), table, constants
