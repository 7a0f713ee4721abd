"""Parts of the generalised forces: gravity, and all that does not depend on accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar


@algorithm(inputs="q", outputs={"g": ("nv",)}, uses="gravity", torques_only=True)
def gravity_forces(tree: Tree, q: Sequence[Scalar], world: World) -> Outputs:
    """Generalised forces that hold the robot against gravity; springs are not counted.

    The gradient of the potential energy of the masses.
    """
    rest = [0.0] * tree.nv
    springless = replace(tree, bodies=tuple(b.without_springs() for b in tree.bodies))
    return inverse_dynamics.function(springless, q, rest, rest, world=World(gravity=world.gravity))


@algorithm(inputs="q qd", outputs={"h": ("nv",)}, uses="gravity external base_motion", torques_only=True)
def bias_forces(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], world: World) -> Outputs:
    """Generalised forces at zero acceleration: tau = M qdd + h; friction, springs and external wrenches included."""
    return inverse_dynamics.function(tree, q, qd, [0.0] * tree.nv, world=world)
