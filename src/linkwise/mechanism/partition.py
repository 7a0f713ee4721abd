"""Which coordinates of a tree lead, which follow, and by which equations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from linkwise.mechanism.loops import CLOSURES
from linkwise.robot.coupling import Coupling
from linkwise.robot.loop import Loop
from linkwise.vector import Vec3


class Block(NamedTuple):
    """Coordinates that follow together, from as many equations; all that these hold besides is known before.

    Args:
        rows: places among all loop equations.
        passive: places in `qd`.
    """

    rows: tuple[int, ...]
    passive: tuple[int, ...]


class Follow(NamedTuple):
    """A coordinate that follows another by a function: places in positions and velocities of both."""

    q: int
    v: int
    of_q: int
    of_v: int
    coupling: Coupling


@dataclass(frozen=True)
class Partition:
    """Which coordinates of a tree lead, which follow, and by which equations; all are places in `qd`.

    Args:
        loops: the cut joints.
        rows: of their equations, those that are independent.
        independent: coordinates that lead.
        passive: coordinates that follow, as many as `rows`.
        active: coordinates with a force of their own; those that do not lead are redundant, or drive a platform.
        size: a length of the mechanism, m, that makes lengths comparable with angles.
        order: the coordinates that follow in blocks, each from what is known before; empty for one block of all.
        normals: for each loop the direction across which its equations are dependent, if it is planar, in the axes of
            the link that carries both ends; empty for none.
        couplings: coordinates that follow others by functions, before all loops.
    """

    loops: tuple[Loop, ...]
    rows: tuple[int, ...]
    independent: tuple[int, ...] = ()
    passive: tuple[int, ...] = ()
    active: tuple[int, ...] = ()
    size: float = 1.0
    order: tuple[Block, ...] = ()
    normals: tuple[Vec3 | None, ...] = ()
    couplings: tuple[Follow, ...] = ()

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """`order`, or all at once."""
        coupled = {c.v for c in self.couplings}
        left = tuple(v for v in self.passive if v not in coupled)
        return self.order or ((Block(self.rows, left),) if left else ())

    @cached_property
    def spans(self) -> tuple[range, ...]:
        """For each loop the places of its equations among all."""
        found, at = [], 0
        for loop in self.loops:
            n = len(CLOSURES[loop.kind].names)
            found.append(range(at, at + n))
            at += n
        return tuple(found)

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """The factor of each equation, so that lengths are measured by the mechanism's size."""
        found: list[float] = []
        for loop in self.loops:
            n = CLOSURES[loop.kind].lengths
            found += [1.0 / self.size] * n + [1.0] * (len(CLOSURES[loop.kind].names) - n)
        return tuple(found)
