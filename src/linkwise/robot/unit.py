"""Which bodies of a tree move as one unit: those of loops that share coordinates, else each body alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Unit(NamedTuple):
    """Bodies whose coordinates hang together, and the one body that carries them all.

    Units make a tree again: the carrier of a unit belongs to one other unit, which comes before it, or is the base.

    Args:
        carrier: the body that all of them hang on, directly or by each other.
        bodies: parents first.
        looped: whether loops tie them.
    """

    carrier: int
    bodies: tuple[int, ...]
    looped: bool


def units(parents: Sequence[int], loops: Iterable[Iterable[int]] = ()) -> list[Unit]:
    """The units of a tree, each after that which carries it.

    Two loops that share a body share all bodies from the deeper of their two carriers to it, so that what they tie
    together hangs on one body, the carrier that is nearer to the base.

    Args:
        parents: of each body; body 0 is the base.
        loops: the bodies on both sides of each loop, from the last one that carries both ends on, itself left out.
    """
    groups: list[set[int]] = []
    for loop in map(set, loops):
        touched = [g for g in groups if g & loop]
        groups = [g for g in groups if not g & loop]
        groups.append(loop.union(*touched))
    tied = set().union(*groups)
    alone = [Unit(parent, (i,), False) for i, parent in enumerate(parents) if i and i not in tied]
    bound = [Unit(parents[min(g)], tuple(sorted(g)), True) for g in groups if g]
    return sorted([*alone, *bound], key=lambda unit: unit.bodies)
