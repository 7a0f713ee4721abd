"""Loop equations over all coordinates of a tree, for those who hold loops by multipliers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwise.mechanism.loops import CLOSURES, Cut, cuts
from linkwise.mechanism.partition import Partition
from linkwise.robot.loop import Loop
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar


def gap(tree: Tree, q: Sequence[Scalar], loops: Sequence[Loop]) -> tuple[list[Scalar], list[Scalar]]:
    """What all loop equations are off by (m, and sines of angles), and their Jacobian, row after row."""
    every = cuts(tree, q, loops)
    rows = [row for cut in every for row in cut.jacobian()]
    return [x for cut in every for x in cut.gap()], [x for row in rows for x in row]


class Equations(NamedTuple):
    """The independent loop equations in one configuration, lengths measured by the mechanism's size."""

    cuts: list[Cut]
    part: Partition
    J: list[list[Scalar]]

    @classmethod
    def at(cls, tree: Tree, q: Sequence[Scalar], part: Partition) -> Equations:
        """The equations in the configuration q."""
        every = cuts(tree, q, part.loops, part.normals)
        rows = [row for cut in every for row in cut.jacobian()]
        return cls(every, part, [[x * part.weights[r] for x in rows[r]] for r in part.rows])

    def gap(self) -> list[Scalar]:
        """What they are off by."""
        return self._chosen([x for cut in self.cuts for x in cut.gap()])

    def drift(self, qd: Sequence[Scalar]) -> list[Scalar]:
        """J_dot qd."""
        return self._chosen([x for cut in self.cuts for x in cut.drift(qd)])

    def wrenches(self, multipliers: Sequence[Scalar]) -> list[Scalar]:
        """Force and moment that a exerts on b through each cut joint, in the axes of its frame a, flat.

        Equations that were left out as dependent carry nothing.
        """
        full: list[Scalar] = [0.0] * len(self.part.weights)
        for r, x in zip(self.part.rows, multipliers, strict=True):
            full[r] = x * self.part.weights[r]
        found: list[Scalar] = []
        for cut in self.cuts:
            n = len(CLOSURES[cut.loop.kind].names)
            found += list(cut.wrench(full[:n]))
            full = full[n:]
        return found

    def _chosen(self, values: list[Scalar]) -> list[Scalar]:
        return [values[r] * self.part.weights[r] for r in self.part.rows]
