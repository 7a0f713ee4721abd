"""The compiled functions that a simulation is made of, and the energies that they tell."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms.energy import kinetic_energy, potential_energy
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options
from linkwise.motion.base_motion import BaseMotion
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.simulation.closed_rates import closed_rates, closed_state, loop_equations
from linkwise.simulation.motions import Array
from linkwise.simulation.rates import motion_rates
from linkwise.spatial import Motion
from linkwise.vector import Vec3

KEPT = 32  # sets of kernels


class Kernels(NamedTuple):
    """The functions that a simulation is made of.

    Args:
        robot: the tree that is integrated.
        rates: of positions and velocities, forces, and powers.
        closed: (q, qd) -> the nearest closed state; None where there is nothing to close.
        kinetic: energy.
        potential: energy.
    """

    robot: Robot
    rates: Kernel
    closed: Kernel | None
    kinetic: Kernel
    potential: Kernel

    def stored(self, t: Array, q: Array, qd: Array, base: BaseMotion | None) -> tuple[Array, Array]:
        """Kinetic and potential energy over time; on a base that moves those of the root link are among them."""
        if base is None:
            return self.kinetic(q, qd), self.potential(q)
        tree = Tree.of(self.robot)
        root, mass = tree.bodies[0].inertia, sum(b.inertia.m for b in tree.bodies)
        v, a, gravity = base.inputs(t, tree.gravity)
        motion = Motion(Vec3(*v.T[:3]), Vec3(*v.T[3:]))
        lifted = base.poses(t)[:, 9:] @ np.array(tree.gravity) * -mass
        kinetic = self.kinetic(q, qd, v, a) + 0.5 * root.momentum(motion).power(motion)
        return kinetic, self.potential(q, gravity) - gravity @ np.array(root.mc) + lifted


def kernels_of(robot: Robot, options: Options, driven: tuple[str, ...]) -> Kernels:
    """The kernels of a simulation, kept for the next one of the same robot under the same forces.

    Laws that are functions are traced again each time, because what they refer to may have changed.
    """
    laws = [law for _, group in (*options.forces, *options.joint_forces) for law in group]
    frozen = all(_is_frozen(law) for law in laws)
    return (_traced if frozen else _traced.__wrapped__)(robot, options, driven)


def _is_frozen(law: Any) -> bool:
    return is_dataclass(law) and bool(getattr(type(law), "__dataclass_params__").frozen)  # noqa: B009


@lru_cache(maxsize=KEPT)
def _traced(robot: Robot, options: Options, driven: tuple[str, ...]) -> Kernels:
    tree, equations, closed = robot.opened(), loop_equations(robot, driven), None
    if equations.rows:
        held = {"driven": driven, "part": equations}
        rates, closed = Kernel.of(tree, closed_rates, options, held), Kernel.of(tree, closed_state, Options(), held)
    else:
        rates = Kernel.of(tree, motion_rates, options, {"driven": driven})
    base = Options(base_motion=options.base_motion, gravity=options.gravity)
    return Kernels(tree, rates, closed, *(Kernel.of(tree, a, base, {}) for a in (kinetic_energy, potential_energy)))
