"""Forward dynamics: by the inertia matrix, or by articulated bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Cheapest, Outputs, World, algorithm
from linkwise.algorithms.hybrid_dynamics import solve
from linkwise.algorithms.inertia_route import accelerations_by_inertia
from linkwise.scalar import Scalar

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(
    inputs="q qd tau",
    outputs={"qdd": ("nv",)},
    uses="gravity external base_motion",
    torques_only=True,
    route=Cheapest("inertia", "articulated", deep="articulated"),
)
def forward_dynamics(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World, route: str
) -> Outputs:
    """Accelerations that the generalised forces `tau` cause: M qdd = tau - bias.

    A link that moves without any inertia is refused by name. Where links without inertia of their own lose what others
    lend them in some states only, as a gimbal of massless rings does when two axes fall together, accelerations that M
    does not determine are NaN. So they are where masses or tensors are `parameters` of compile and their values leave a
    free link without inertia.

    Args:
        machine: the robot.
        q: positions (nq).
        qd: velocities (nv).
        tau: generalised forces (nu), N m or N, in the order of `robot.drives`.
        world: gravity, base motion, and external wrenches.
        route: "inertia" (mass matrix and an unrolled factorisation, cheaper for short chains), "articulated" (one
            recursion, linear in the number of joints and, where loops that share joints are small, in that of loops),
            or the cheaper of the two by counted operations.

    Source: [Khalil] section 3.3.1 (by the inverse of A) and 3.3.2, (32)-(46); for loops [Jain], see `embedding`.
    """
    if route == "articulated":
        return (solve(machine, q, qd, machine.at(q).force_of(tau), (), world).qdd,)
    return (accelerations_by_inertia(machine, q, qd, tau, world),)
