"""Forward dynamics: by the inertia matrix, or by articulated bodies."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.algorithms import linear
from linkwise.algorithms.algorithm import Cheapest, Outputs, World, algorithm
from linkwise.algorithms.forces import bias_forces
from linkwise.algorithms.hybrid_dynamics import no_inertia
from linkwise.algorithms.hybrid_dynamics import solve as solve_tree
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.errors import LinkwiseError
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar


@algorithm(
    inputs="q qd tau",
    outputs={"qdd": ("nv",)},
    uses="gravity external base_motion",
    torques_only=True,
    route=Cheapest("inertia", "articulated"),
)
def forward_dynamics(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World, route: str
) -> Outputs:
    """Accelerations that the generalised forces `tau` cause: M qdd = tau - bias.

    Args:
        tree: the robot.
        q: positions (nq).
        qd: velocities (nv).
        tau: generalised forces (nv), N m or N.
        world: gravity, base motion, and external wrenches.
        route: "inertia" (mass matrix and an unrolled factorisation, cheaper for short chains), "articulated" (one
            recursion, linear in the number of joints), or the cheaper of the two by counted operations.

    Source: [Khalil] section 3.3.1 (by the inverse of A) and 3.3.2, (32)-(46).
    """
    if route == "articulated":
        return (solve_tree(tree, q, qd, tau, (), world).qdd,)
    (flat,) = mass_matrix.function(tree, q)
    (h,) = bias_forces.function(tree, q, qd, world=world)
    n = tree.nv
    factors = linear.factorise([flat[k : k + n] for k in range(0, n * n, n)], lambda k: no_inertia_along(tree, k))
    return (linear.solve(factors, [a - b for a, b in zip(tau, h, strict=True)]),)


def no_inertia_along(tree: Tree, k: int) -> LinkwiseError:
    """Which link it is whose coordinate k has no inertia."""
    body = next(b for b in tree.bodies if any(place == k for place, _ in b.axes))
    return no_inertia(body)
