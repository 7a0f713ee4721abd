"""Equations of motion near a state, as a linear system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Cheapest, Derivation, Outputs, World, algorithm
from linkwise.algorithms.derivatives import forward_dynamics_derivatives
from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.scalar import Scalar
from linkwise.spatial import Motion
from linkwise.vector import cross

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(
    inputs="q qd tau",
    outputs={"A": ("ns", "ns"), "B": ("ns", "nu")},
    uses="gravity external base_motion",
    torques_only=True,
    derives=Derivation(forward_dynamics, (("qdd", "q"), ("qdd", "qd"), ("qdd", "tau")), kind="linearization"),
    route=Cheapest("recursion", "graph", ranked=0),
)
def linearization(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World, route: str
) -> Outputs:
    """A and B of dx/dt = A x + B u, for small changes x = [dq; dqd] of a motion and u of its generalised forces.

        A = [-ad(qd), 1; dqdd_dq, dqdd_dqd],        B = [0; M^-1]

    dq is a tangent vector (nv), as `difference` gives it. ad is zero but for floating joints, whose axes turn while dq
    is measured in them: there the rate of dq is dqd - [omega x dp + v x dphi; omega x dphi].

    Args:
        machine: the robot.
        q: positions (nq).
        qd: velocities (nv), not only zero.
        tau: generalised forces (nu).
        world: gravity, base motion, and external wrenches, which stay fixed in the axes of their frames.
        route: as of `forward_dynamics_derivatives`.

    Returns:
        A (2 nv, 2 nv) and B (2 nv, nu).
    """
    tree = machine.only_tree("route 'recursion'")
    flat = forward_dynamics_derivatives.function(tree, q, qd, tau, world=world, route=route)
    return system(tree, qd, *flat)


def system(
    machine: AnyMachine, qd: Sequence[Scalar], by_q: Sequence[Scalar], by_qd: Sequence[Scalar], by_tau: Sequence[Scalar]
) -> Outputs:
    """A and B, flat, from the derivatives of accelerations."""
    n = machine.nv
    above: list[list[Scalar]] = [[0.0] * n + [1.0 if j == i else 0.0 for j in range(n)] for i in range(n)]
    for kind, _, to in machine.coordinates:
        if kind.curved:
            v = kind.rate(qd[to])
            for k, unit in enumerate(kind.units):
                linear = cross(v.angular, unit.linear) + cross(v.linear, unit.angular)
                for r, x in enumerate(kind.components(Motion(linear, cross(v.angular, unit.angular)))):
                    above[to.start + r][to.start + k] = -x
    below = [[*by_q[n * i : n * i + n], *by_qd[n * i : n * i + n]] for i in range(n)]
    return [x for row in (*above, *below) for x in row], [0.0] * len(by_tau) + list(by_tau)
