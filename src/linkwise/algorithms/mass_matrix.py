"""The joint-space inertia matrix, by composite bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwise.algorithms.algorithm import Derivation, Outputs, algorithm
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Wrench
from linkwise.vector import Vec3

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(
    inputs="q",
    outputs={"M": ("nv", "nv")},
    torques_only=True,
    columns=Derivation(inverse_dynamics, (("tau", "qdd"),)),
)
def mass_matrix(machine: AnyMachine, q: Sequence[Scalar]) -> Outputs:
    """M with kinetic energy = qd^T M qd / 2, rotor inertia included.

    Column k is the force that a unit acceleration of coordinate k needs at rest and without gravity: the bodies beyond
    the joint move as one composite body, whose inertial wrench is then carried inwards.

    Source: Walker and Orin's composite-body method, as [Khalil] section 3.3 recalls it; armature and rotors as in
    `inverse_dynamics`. With loops it is G^T M G of the coordinates that lead, [Khalil] (58).
    """
    at = machine.at(q)
    return ([x for row in at.form(tree_matrix(at.tree, at.q)) for x in row],)


def tree_matrix(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The inertia matrix of a tree, by rows."""
    bodies = tree.bodies
    poses = [b.pose(q) for b in bodies]
    composite = composites(tree, poses)
    M: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for i in range(len(bodies) - 1, 0, -1):
        for column, unit in bodies[i].axes:
            wrench, k = composite[i].momentum(unit), i
            while k:
                for row, x in bodies[k].project(wrench):
                    M[row][column] += x
                    if k != i:
                        M[column][row] += x
                wrench, k = wrench.seen_from(*poses[k]), bodies[k].parent
        if bodies[i].is_single:
            M[bodies[i].v][bodies[i].v] += bodies[i].own_inertia
    for _, e in tree.elastic_bodies:
        M[e.v][e.v] += e.armature
    _add_rotors(tree, q, M)
    return M


def composites(tree: Tree, poses: Sequence[tuple[Any, Vec3]]) -> list[Inertia]:
    """The inertia of each body together with all it carries, as if that were one piece."""
    found = [b.inertia for b in tree.bodies]
    for i in range(len(found) - 1, 0, -1):
        found[tree.bodies[i].parent] += found[i].seen_from(*poses[i])
    return found


def _add_rotors(tree: Tree, q: Sequence[Scalar], M: list[list[Scalar]]) -> None:
    """Add what the spin of each rotor relative to its link contributes: gear^2 I on its own joint, and coupling."""
    for r in tree.rotors:
        own = r.v
        M[own][own] += r.inertia * (r.ratio * r.ratio)
        spin = Wrench(moment=r.axis * (r.inertia * r.ratio))
        k = r.on
        while k:
            body = tree.bodies[k]
            for row, x in body.project(spin):
                M[row][own] += x
                M[own][row] += x
            spin, k = spin.seen_from(*body.pose(q)), body.parent
