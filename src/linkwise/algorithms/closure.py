"""How a machine closes: positions of all its joints, how its drives move, and how they share a force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Outputs, algorithm
from linkwise.scalar import Scalar, less, number, tolerance

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine

# of the mechanism's size, or rad: loops that are open less than this are closed
CLOSED = 1e-9, 1e-5  # in float64 and in float32


@algorithm(inputs="q", outputs={"q_tree": ("nt",), "converged": (), "condition": ()})
def tree_positions(machine: AnyMachine, q: Sequence[Scalar]) -> Outputs:
    """Positions of all joints of the tree, whether (1 or 0) the loops are closed there, and how well they are held.

    The condition is that of the loop equations over the joints that follow, lengths measured by the mechanism's size: 1
    at best, large near configurations in which what leads does not determine the rest. Without loops nothing follows.
    """
    at = machine.at(q)
    gap = at.openness()
    return [number(x) for x in at.q], [less(gap, tolerance(gap, *CLOSED))], [at.condition()]


@algorithm(inputs="q qd qdd", outputs={"q_tree": ("nt",), "qd_tree": ("nr",), "qdd_tree": ("nr",)})
def tree_motion(machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> Outputs:
    """Positions, velocities and accelerations of all joints, those that follow too.

    Source: [Khalil] (4)-(7).
    """
    at = machine.at(q)
    return [number(x) for x in at.q], *at.led(qd, qdd)


@algorithm(inputs="q qd qdd qddd", outputs={"qddd_tree": ("nr",)})
def tree_jerks(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], qddd: Sequence[Scalar]
) -> Outputs:
    """Jerks of all joints, those that follow too."""
    return (machine.complete(q, qd, qdd, qddd)[4],)


@algorithm(inputs="q", outputs={"G": ("nr", "nv")})
def tree_jacobian(machine: AnyMachine, q: Sequence[Scalar]) -> Outputs:
    """G, with velocities of all joints = G qd; forces tau of all joints are G^T tau at what leads.

    Source: [Khalil] (5).
    """
    at = machine.at(q)
    n = range(at.tree.nv)
    columns = at.gathered([[1.0 if i == k else 0.0 for i in n] for k in n])
    return ([column[i] for i in n for column in columns],)


@algorithm(inputs="q", outputs={"J": ("nu", "nv")})
def drive_jacobian(machine: AnyMachine, q: Sequence[Scalar]) -> Outputs:
    """J with rates of the drives = J qd; forces at the leading coordinates are J^T tau.

    Source: [Khalil] (62), where it is the inverse of the platform's Jacobian.
    """
    return ([x for row in machine.at(q).drive_rows() for x in row],)


@algorithm(inputs="q force weights", outputs={"tau": ("nu",)})
def share(machine: AnyMachine, q: Sequence[Scalar], force: Sequence[Scalar], weights: Sequence[Scalar]) -> Outputs:
    """Torques of the drives that amount to a force at the leading coordinates.

    Of all that do, those with the least sum of weights * torque^2.

    Args:
        machine: the robot.
        q: positions (nq).
        force: at the leading coordinates (nv).
        weights: above zero, one for each drive (nu).
    """
    return (machine.at(q).share(force, weights),)
