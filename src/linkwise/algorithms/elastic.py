"""Robots with elastic drives: torques of their motors, and the blocks of their equations of motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.forces import bias_forces, gravity_forces
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.errors import LinkwiseError
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(inputs="q qd qdd", outputs={"tau": ("nm",)}, uses="gravity external base_motion", torques_only=True)
def motor_torques(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World
) -> Outputs:
    """Torques of the drives, one for each joint, on the joint's side of the gear: `inverse_dynamics` at `robot.motors`.

    A rigid drive gives what the joint needs. A motor behind a spring gives what the spring takes at theta - q, and what
    its own inertia and friction take: K (theta - q) + D (thetad - qd) + ratio I (z . omega_dot + ratio thetadd).

    Source: [Hua] Algorithm 1, (27)-(29).
    """
    (tau,) = inverse_dynamics.function(machine, q, qd, qdd, world=world)
    return ([tau[k] for k in machine.drives],)


@algorithm(
    inputs="q qd",
    outputs={"M": ("nj", "nj"), "S": ("nj", "ne"), "B": ("ne", "ne"), "c": ("nj",), "c_motor": ("ne",), "g": ("nj",)},
    uses="gravity",
    torques_only=True,
)
def elastic_blocks(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], world: World) -> Outputs:
    """The parts of the equations of motion of a robot with elastic drives, without friction and springs.

        M qdd + S thetadd + c + g = forces on the joints,    S^T qdd + B thetadd + c_motor = forces on the motors

    M is of the joints with the rotors carried along, S couples them with motors by the spin of rotors, B is constant
    and diagonal; c and c_motor are the velocity terms. The forces are those of drives, springs and friction.

    Args:
        tree: a robot with at least one elastic drive.
        q: positions of joints and motors (nq).
        qd: their velocities (nv).
        world: gravity.

    Source: [Hua] (30), (31), where c is C qd + C1 thetad and c_motor is C2 qd.
    """
    tree = tree.only_tree("elastic_blocks")
    motors = sorted(tree.motor_coordinates)
    if not motors:
        raise LinkwiseError("elastic_blocks: expected a robot with elastic drives, got one without. Use mass_matrix.")
    n, joints = tree.nv, [k for k in range(tree.nv) if k not in tree.motor_coordinates]
    bare = replace(tree, bodies=tuple(b.without_forces() for b in tree.bodies))
    (M,) = mass_matrix.function(bare, q)
    (c,) = bias_forces.function(bare, q, qd, world=World())
    (g,) = gravity_forces.function(bare, q, world=world)

    def block(rows: Sequence[int], columns: Sequence[int]) -> list[Scalar]:
        return [M[i * n + j] for i in rows for j in columns]

    blocks = (block(joints, joints), block(joints, motors), block(motors, motors))
    return *blocks, [c[k] for k in joints], [c[k] for k in motors], [g[k] for k in joints]
