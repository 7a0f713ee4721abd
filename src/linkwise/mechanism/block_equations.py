"""The loop equations in one configuration, block after block: what is known before a block gives what follows in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from linkwise.mechanism import square
from linkwise.mechanism.block_solver import Adjugate, Scaled, Solver
from linkwise.mechanism.loops import Cut, cuts
from linkwise.mechanism.partition import Block, Partition
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar, less, sqrt, where

Vector = list[Scalar]


class BlockEquations:
    """The loop equations of a tree over the coordinates that follow.

    Args:
        tree: what loops close.
        q: positions of all its joints.
        part: what leads, what follows, and the blocks.
        closed: whether the loops are closed at `q`; not while Newton's method is at work.
    """

    def __init__(self, tree: Tree, q: Sequence[Scalar], part: Partition, closed: bool = True) -> None:
        self.tree, self.q, self.part = tree, q, part
        self.cuts: list[Cut] = cuts(tree, q, part.loops, part.normals)
        if closed:
            self.cuts = [cut.closed(part.passive) for cut in self.cuts]

    def determinant(self) -> Scalar:
        """The determinant of the loop equations over the coordinates that follow; its sign tells the assembly mode."""
        total: Scalar = 1.0
        for _, solver in self.systems:
            total = total * solver.determinant()
        return total

    def gap(self, block: Block) -> Vector:
        """What the equations of a block are off by."""
        return self.chosen(block, Cut.gap)

    def openness(self) -> Scalar:
        """How far loops are open: over all equations, lengths by the mechanism's size, and the side of each axis."""
        own = cuts(self.tree, self.q, self.part.loops, self.part.normals)
        every = [x for cut in own for x in cut.gap()]
        values = [x * w for x, w in zip(every, self.part.weights, strict=True)]
        values += [cut.closure.flipped(cut.R) for cut in own]
        return sqrt(sum((x * x for x in values), 0.0))

    def condition(self) -> Scalar:
        """The condition number of the loop equations over what follows: of the blocks the worst, by sums of squares."""
        worst: Scalar = 1.0
        for block, solver in self.systems:
            m = len(block.passive)
            weights = [self.part.weights[r] for r in block.rows]
            size = dict(zip(range(self.tree.nv), self._sizes, strict=True))
            A = [[x * w for x in row] for row, w in zip(self._matrix(block), weights, strict=True)]
            A = [[x * size[v] for x, v in zip(row, block.passive, strict=True)] for row in A]
            inverse = [solver.solve([1.0 / w if i == k else 0.0 for i in range(m)]) for k, w in enumerate(weights)]
            inverse = [[x / size[v] for x, v in zip(column, block.passive, strict=True)] for column in inverse]
            sums = [sum((x * x for row in matrix for x in row), 0.0) for matrix in (A, inverse)]
            here = sqrt(sums[0] * sums[1]) * (1.0 / m)
            worst = where(less(here, worst), worst, here)
        return worst

    @cached_property
    def _sizes(self) -> list[float]:
        """The units in which rates of the tree are measured: the mechanism's size for lengths, 1 for angles."""
        found = [1.0] * self.tree.nv
        for kind, _, to in self.tree.coordinates:
            found[to] = [self.part.size if length else 1.0 for length in kind.lengths]
        return found

    @cached_property
    def loops(self) -> dict[Block, list[int]]:
        """The loops whose equations are in each block."""
        loop_of = {r: k for k, span in enumerate(self.part.spans) for r in span}
        return {block: sorted({loop_of[r] for r in block.rows}) for block in self.part.blocks}

    @cached_property
    def held(self) -> dict[Block, list[int]]:
        """The coordinates that the loops of each block hold, those known before it among them."""
        bodies = self.tree.bodies
        return {
            block: [v for k in loops for i in (*self.cuts[k].path_a, *self.cuts[k].path_b) for v, _ in bodies[i].axes]
            for block, loops in self.loops.items()
        }

    def chosen(self, block: Block, values: Callable[[Cut], Sequence[Scalar]]) -> Vector:
        """For the equations of a block, their values of those that each cut has for all of its own."""
        every = ((self.part.spans[k], values(self.cuts[k])) for k in self.loops[block])
        by_row = {r: x for span, group in every for r, x in zip(span, group, strict=True)}
        return [by_row[r] for r in block.rows]

    @cached_property
    def systems(self) -> list[tuple[Block, Solver]]:
        """The blocks in their order, each with its equations to be solved."""
        return [(block, self._system(block)) for block in self.part.blocks]

    def _matrix(self, block: Block) -> list[Vector]:
        """The equations of a block over the coordinates that they give."""
        place = {v: j for j, v in enumerate(block.passive)}
        A: list[list[Scalar]] = [[0.0] * len(place) for _ in block.rows]
        for k in self.loops[block]:
            at = {r: i for i, r in enumerate(block.rows) if r in self.part.spans[k]}
            for column in self.cuts[k].columns(place.__contains__):
                for r, x in zip(self.part.spans[k], self.cuts[k].changes(column), strict=True):
                    if r in at:
                        A[at[r]][place[column.v]] = A[at[r]][place[column.v]] + x
        return A

    def _system(self, block: Block) -> Solver:
        """The equations of a block over the coordinates that they give, to be solved."""
        A = self._matrix(block)
        if len(A) <= 3:
            return Adjugate.of(A)
        weights = [self.part.weights[r] for r in block.rows]
        scaled = [[x * w for x in row] for row, w in zip(A, weights, strict=True)]
        return Scaled(square.factorise(scaled, "loop equations of the passive joints"), weights)
