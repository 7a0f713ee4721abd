"""Energies and momentum of the whole robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.kinematics import link_velocities, world_poses
from linkwise.scalar import Scalar, number
from linkwise.spatial import Wrench
from linkwise.vector import ZERO3, dot

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(inputs="q qd", outputs={"T": ()}, uses="base_motion")
def kinetic_energy(machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], world: World) -> Outputs:
    """Kinetic energy, J: of the moving bodies, of armatures (Ia qd^2 / 2), and of the rotors' spin on their links."""
    tree, q, qd = machine.complete(q, qd)
    energy: Scalar = 0.0
    v = link_velocities(tree, q, qd, world)
    for body, motion in zip(tree.bodies[1:], v[1:], strict=True):
        energy += 0.5 * body.inertia.momentum(motion).power(motion)
        if body.is_single:
            rate = qd[body.v] * body.ratio
            energy += 0.5 * body.armature * (rate * rate)
    for _, e in tree.elastic_bodies:
        energy += 0.5 * e.armature * (qd[e.v] * qd[e.v])
    for r in tree.rotors:
        spin = qd[r.v] * r.ratio
        energy += r.inertia * spin * (dot(r.axis, v[r.on].angular) + 0.5 * spin)
    return ([energy],)


@algorithm(inputs="q", outputs={"V": ()}, uses="gravity")
def potential_energy(machine: AnyMachine, q: Sequence[Scalar], world: World) -> Outputs:
    """Potential energy, J: of the moving masses in gravity, zero at the world's origin, and of all springs."""
    tree, q = machine.complete(q)
    energy: Scalar = 0.0
    for body, X in zip(tree.bodies[1:], world_poses(tree, q)[1:], strict=True):
        first_moment = X.p * body.inertia.m + X.R @ body.inertia.mc
        energy += -dot(world.gravity, first_moment)
        if body.spring is not None:
            stretch = number(body.position(q)) - body.spring.rest
            energy += 0.5 * body.spring.stiffness * (stretch * stretch)
        if body.elastic is not None:
            stretch = body.elastic.stretch(number(body.position(q)), q)
            energy += 0.5 * body.elastic.stiffness * (stretch * stretch)
    return ([energy],)


@algorithm(inputs="q qd", outputs={"momentum": (6,)})
def momentum(machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Outputs:
    """Linear momentum, and angular momentum about the world's origin, of the moving bodies, in world axes."""
    tree, q, qd = machine.complete(q, qd)
    total = Wrench(ZERO3, ZERO3)
    v = link_velocities(tree, q, qd, World())
    carried = [body.inertia.momentum(m) for body, m in zip(tree.bodies, v, strict=True)]
    for r in tree.rotors:
        carried[r.on] += Wrench(moment=r.axis * (qd[r.v] * r.ratio * r.inertia))
    for h, X in zip(carried[1:], world_poses(tree, q)[1:], strict=True):
        total += h.seen_from(X.R, X.p)
    return (list(total),)
