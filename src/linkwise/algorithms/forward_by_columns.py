"""Forward dynamics by inverse dynamics alone: Hua, Poursina and Sanfilippo's A and zeta."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.inertia_route import light_coordinates, no_inertia_along
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.walker_orin import unit_accelerations
from linkwise.mechanism import linear
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar


@algorithm(
    inputs="q qd tau",
    outputs={"qdd": ("nv",), "zeta": ("nv",)},
    uses="gravity external base_motion",
    torques_only=True,
)
def forward_by_columns(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World
) -> Outputs:
    """Accelerations of [q; theta] that the forces `tau` cause, and the forces zeta without them: A xdd = tau - zeta.

    zeta is inverse dynamics without accelerations, column j of A that of a unit acceleration at rest. The same result
    as `forward_dynamics` gives with fewer operations; kept because readers of the source come for it.

    Args:
        tree: the robot, with rigid and elastic drives.
        q: positions of joints and motors (nq).
        qd: their velocities (nv).
        tau: generalised forces (nv); those of drives are at `robot.motors`, see `robot.tau`.
        world: gravity, base motion, and external wrenches.

    Returns:
        qdd (nv), accelerations of joints and motors; zeta (nv), the forces of velocities, gravity, friction, springs,
        base motion and external wrenches.

    Source: [Hua] Algorithm 2, (32)-(36). We depart by leaving the base at rest in the columns of A, and by the springs'
    forces, which are in zeta for joints as for motors, so that the right-hand side has none.
    """
    tree = tree.only_tree("forward_by_columns")
    n = tree.nv
    (zeta,) = inverse_dynamics.function(tree, q, qd, [0.0] * n, world=world)  # (32), (33)
    (flat,) = unit_accelerations.function(tree, q)  # (34), (35)
    A = [flat[n * k : n * k + n] for k in range(n)]
    factors = linear.factorise(A, lambda k: no_inertia_along(tree, k), light_coordinates(tree))
    return linear.solve(factors, [t - z for t, z in zip(tau, zeta, strict=True)]), zeta  # (36)
