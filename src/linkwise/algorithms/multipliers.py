"""Closed chains in the coordinates of their tree: loops act by multipliers, M qdd + h = tau + J^T lambda."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from linkwise.algorithms.algorithm import REQUIRED, Outputs, World, algorithm
from linkwise.algorithms.forces import bias_forces
from linkwise.algorithms.inertia_route import light_coordinates, no_inertia_along
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.errors import LinkwiseError
from linkwise.mechanism import linear
from linkwise.mechanism.equations import Equations
from linkwise.mechanism.matrices import dot
from linkwise.mechanism.partition import Partition
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar


class Constrained(NamedTuple):
    """Accelerations and forces of the tree, and what its loops exert."""

    qdd: list[Scalar]
    tau: list[Scalar]
    wrenches: list[Scalar]


class Mobility:
    """How the free coordinates of a tree give way to forces and to loops, in one configuration.

    Where links have next to no inertia, as legs without mass, M is made definite by a multiple of J^T J, which changes
    no motion that keeps the loops closed; only the multipliers have to be put right.

    Args:
        tree: the robot.
        q: positions (nq) that close the loops.
        part: its loops and independent equations; independent coordinates do not matter here.
        held: coordinates whose accelerations are given.
    """

    def __init__(self, tree: Tree, q: Sequence[Scalar], part: Partition, held: Collection[int] = ()) -> None:
        n = tree.nv
        self.tree, self.q = tree, q
        self.held, self.free = sorted(held), [k for k in range(n) if k not in held]
        (flat,) = mass_matrix.function(tree, q)
        self.M = [flat[k : k + n] for k in range(0, n * n, n)]
        doubtful = [at for at, k in enumerate(self.free) if k in light_coordinates(tree)]
        self.equations = Equations.at(tree, q, part)
        self.J = [[row[k] for k in self.free] for row in self.equations.J]
        moving = [[self.M[i][j] for j in self.free] for i in self.free]
        self.added = _inertia_of_loops(tree, part) if doubtful else 0.0
        if doubtful:
            across = [[self.added * sum((r[i] * r[j] for r in self.J), 0.0) for j in range(i + 1)]
                      for i in range(len(moving))]  # fmt: skip
            moving = [[x + across[max(i, j)][min(i, j)] for j, x in enumerate(row)] for i, row in enumerate(moving)]
        self.factors = linear.factorise(moving, lambda k: no_inertia_along(tree, self.free[k]), doubtful)
        halves, (_, D) = [linear.half_solve(self.factors, row) for row in self.J], self.factors
        size = range(len(halves))
        S: list[list[Scalar]] = [[0.0 for _ in size] for _ in size]
        for i in size:
            for j in range(i + 1):
                S[i][j] = S[j][i] = sum((a * d * b for a, d, b in zip(halves[i], D, halves[j], strict=True)), 0.0)
        self.give = linear.factorise(S, _no_give)

    def closing(self, rate: Sequence[Scalar]) -> list[Scalar]:
        """The change of a velocity, smallest in kinetic energy, after which it keeps the loops closed."""
        off = [dot(row, rate) for row in self.equations.J]
        push = linear.solve(self.give, [-x for x in off])
        change: list[Scalar] = [0.0] * self.tree.nv
        for k, x in zip(self.free, linear.solve(self.factors, self._pushed(push)), strict=True):
            change[k] = x
        return change

    def accelerations(self, qd: Sequence[Scalar], given: Sequence[Scalar], world: World) -> Constrained:
        """Accelerations and forces, with `given[k]` the acceleration of a held coordinate, else the force on it."""
        (h,) = bias_forces.function(self.tree, self.q, qd, world=world)
        M, J = self.M, self.equations.J
        rest = [given[k] - h[k] - sum((M[k][j] * given[j] for j in self.held), 0.0) for k in self.free]
        loose = linear.solve(self.factors, rest)
        drift = self.equations.drift(qd)
        off = [
            x + sum((row[j] * given[j] for j in self.held), 0.0) + dot(free, loose)
            for x, row, free in zip(drift, J, self.J, strict=True)
        ]
        push = linear.solve(self.give, [-x for x in off])
        found = linear.solve(self.factors, [a + b for a, b in zip(rest, self._pushed(push), strict=True)])
        if self.added:
            push = [x - self.added * dot(row, found) for x, row in zip(push, self.J, strict=True)]
        qdd, tau = list(given), list(given)
        for k, x in zip(self.free, found, strict=True):
            qdd[k] = x
        for k in self.held:
            loops = sum((row[k] * x for row, x in zip(J, push, strict=True)), 0.0)
            tau[k] = h[k] + dot(M[k], qdd) - loops
        return Constrained(qdd, tau, self.equations.wrenches(push))

    def _pushed(self, push: Sequence[Scalar]) -> list[Scalar]:
        """Generalised forces on the free coordinates, J^T push."""
        return [sum((row[k] * x for row, x in zip(self.J, push, strict=True)), 0.0) for k in range(len(self.free))]


@algorithm(inputs="q qd tau", outputs={"qdd": ("nv",)}, uses="gravity external", part=REQUIRED)
def multiplier_dynamics(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World, part: Partition
) -> Outputs:
    """Accelerations of all joints while the loops stay closed, by M qdd + h = tau + J^T lambda.

    Args:
        tree: the robot with its loops cut.
        q: positions (nq) that close the loops.
        qd: velocities (nv) that keep them closed.
        tau: generalised forces (nv).
        world: gravity, and external wrenches.
        part: the loops and their independent equations.
    """
    return (Mobility(tree, q, part).accelerations(qd, tau, world).qdd,)


def nearest(tree: Tree, q: Sequence[Scalar], part: Partition, held: Collection[int] = ()) -> list[Scalar]:
    """The shortest change of the free coordinates that closes the loops, to first order: -J^T (J J^T)^-1 gap."""
    equations = Equations.at(tree, q, part)
    free = [k for k in range(tree.nv) if k not in held]
    J = [[row[k] for k in free] for row in equations.J]
    S = [[dot(a, b) for b in J] for a in J]
    push = linear.solve(linear.factorise(S, _no_give), [-x for x in equations.gap()])
    change: list[Scalar] = [0.0] * tree.nv
    for at, k in enumerate(free):
        change[k] = sum((row[at] * x for row, x in zip(J, push, strict=True)), 0.0)
    return change


def _inertia_of_loops(tree: Tree, part: Partition) -> Scalar:
    """An inertia of the size of the mechanism's, kg m^2, for equations whose lengths are measured by its size."""
    return sum((b.inertia.m for b in tree.bodies[1:]), 0.0) * (part.size * part.size)


def _no_give(k: int) -> LinkwiseError:
    return LinkwiseError(f"loops: nothing that may move changes independent equation {k}, which cannot be kept then.")
