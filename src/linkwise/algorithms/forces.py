"""Parts of the generalised forces: gravity, and all that does not depend on accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.inverse_dynamics import inverse_dynamics, tree_torques
from linkwise.scalar import Scalar

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(inputs="q", outputs={"g": ("nv",)}, uses="gravity", torques_only=True)
def gravity_forces(machine: AnyMachine, q: Sequence[Scalar], world: World) -> Outputs:
    """Generalised forces that hold the robot against gravity; springs and constant torques of friction are not counted.

    The gradient of the potential energy of the masses.
    """
    at = machine.at(q)
    rest = [0.0] * at.tree.nv
    (tau,) = inverse_dynamics.function(at.tree.without_forces(), at.q, rest, rest, world=World(gravity=world.gravity))
    return (at.project(tau),)


@algorithm(inputs="q qd", outputs={"h": ("nv",)}, uses="gravity external base_motion", torques_only=True)
def bias_forces(machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], world: World) -> Outputs:
    """Generalised forces at zero acceleration: tau = M qdd + h; friction, springs and external wrenches included.

    With loops, forces at the coordinates that lead.
    """
    at = machine.at(q)
    return (at.project(tree_torques(at, *at.led(qd, [0.0] * machine.nv), world)),)
