"""Equations of loops and couplings over all coordinates of a tree, for those who hold them by multipliers."""

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
    """The independent equations in one configuration, lengths measured by the mechanism's size.

    A coordinate that follows another by a function has the equation q_k - f(q_j) = 0, after those of loops.
    """

    q: Sequence[Scalar]
    cuts: list[Cut]
    part: Partition
    J: list[list[Scalar]]

    @classmethod
    def at(cls, tree: Tree, q: Sequence[Scalar], part: Partition) -> Equations:
        """The equations in the configuration q."""
        every = cuts(tree, q, part.loops, part.normals)
        rows = [row for cut in every for row in cut.jacobian()]
        for c in part.couplings:
            rows.append([0.0] * tree.nv)
            rows[-1][c.v], rows[-1][c.of_v] = 1.0, -c.coupling.value(q[c.of_q], 1)
        return cls(q, every, part, [[x * w for x in rows[r]] for r, w in _weighted(part)])

    def gap(self) -> list[Scalar]:
        """What they are off by."""
        coupled = [self.q[c.q] - c.coupling.value(self.q[c.of_q]) for c in self.part.couplings]
        return self._chosen([*(x for cut in self.cuts for x in cut.gap()), *coupled])

    def drift(self, qd: Sequence[Scalar]) -> list[Scalar]:
        """J_dot qd."""
        coupled = [-c.coupling.value(self.q[c.of_q], 2) * (qd[c.of_v] * qd[c.of_v]) for c in self.part.couplings]
        return self._chosen([*(x for cut in self.cuts for x in cut.drift(qd)), *coupled])

    def wrenches(self, multipliers: Sequence[Scalar]) -> list[Scalar]:
        """Force and moment that a exerts on b through each cut joint, in the axes of its frame a, flat.

        Equations that were left out as dependent carry nothing.
        """
        full: list[Scalar] = [0.0] * (len(self.part.weights) + len(self.part.couplings))
        for (r, w), x in zip(_weighted(self.part), multipliers, strict=True):
            full[r] = x * w
        found: list[Scalar] = []
        for cut in self.cuts:
            n = len(CLOSURES[cut.loop.kind].names)
            found += list(cut.wrench(full[:n]))
            full = full[n:]
        return found

    def _chosen(self, values: list[Scalar]) -> list[Scalar]:
        return [values[r] * w for r, w in _weighted(self.part)]


def _weighted(part: Partition) -> list[tuple[int, float]]:
    """The places of the independent equations, and by what each is multiplied; those of couplings come as they are."""
    weights = (*part.weights, *[1.0] * len(part.couplings))
    return [(r, weights[r]) for r in part.rows]
