"""The robot as one body: its centre of mass, and its momentum about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.algorithms.algorithm import Outputs, algorithm
from linkwise.algorithms.energy import momentum
from linkwise.algorithms.kinematics import world_poses
from linkwise.errors import LinkwiseError
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar, is_number
from linkwise.spatial import Inertia, Pose, Wrench
from linkwise.vector import ZERO3, Vec3, cross

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


@algorithm(inputs="q", outputs={"com": (3,)})
def centre_of_mass(machine: AnyMachine, q: Sequence[Scalar]) -> Outputs:
    """The centre of mass of the moving links, in the world."""
    tree, q = machine.complete(q)
    return (list(_centre(tree, world_poses(tree, q))),)


@algorithm(inputs="q", outputs={"J": (3, "nv")})
def com_jacobian(machine: AnyMachine, q: Sequence[Scalar]) -> Outputs:
    """J with J qd the velocity of the centre of mass, in the world."""
    at = machine.at(q)
    tree, q = at.tree, at.q
    share = 1.0 / _mass(tree)
    columns = _momentum_columns(tree, q, world_poses(tree, q))
    rows = at.gathered([list(c.force) for c in columns])
    return ([c[r] * share for r in range(3) for c in rows],)


@algorithm(inputs="q qd", outputs={"momentum": (6,)})
def centroidal_momentum(machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Outputs:
    """Linear momentum, and angular momentum about the centre of mass, of the moving links, in world axes.

    Its rate is gravity on the total mass and whatever acts from outside: external wrenches, and the ground through the
    joints that hang on it.
    """
    (h,) = momentum.function(machine, q, qd)
    tree, q = machine.complete(q)
    linear, angular = Vec3(*h[:3]), Vec3(*h[3:])
    return ([*linear, *(angular - cross(_centre(tree, world_poses(tree, q)), linear))],)


@algorithm(inputs="q", outputs={"A": (6, "nv")})
def centroidal_matrix(machine: AnyMachine, q: Sequence[Scalar]) -> Outputs:
    """A with A qd the centroidal momentum: linear, then angular about the centre of mass, in world axes.

    Column k is the momentum of the bodies beyond joint k, which a unit velocity of it moves as one composite body;
    the spin of motors' rotors on their links is added.
    """
    at = machine.at(q)
    tree, q = at.tree, at.q
    X_world = world_poses(tree, q)
    com = _centre(tree, X_world)
    about = [Wrench(c.force, c.moment - cross(com, c.force)) for c in _momentum_columns(tree, q, X_world)]
    rows = at.gathered([list(w) for w in about])
    return ([row[r] for r in range(6) for row in rows],)


def _momentum_columns(tree: Tree, q: Sequence[Scalar], X_world: Sequence[Pose]) -> list[Wrench]:
    """For each coordinate the momentum about the world's origin that its unit velocity gives."""
    bodies = tree.bodies
    composite: list[Inertia] = [b.inertia for b in bodies]
    columns = [Wrench(ZERO3, ZERO3)] * tree.nv
    for i in range(len(bodies) - 1, 0, -1):
        body, X = bodies[i], X_world[i]
        for k, unit in body.axes:
            columns[k] += composite[i].momentum(unit).seen_from(X.R, X.p)
        if body.parent:
            composite[body.parent] += composite[i].seen_from(*body.pose(q))
    for r in tree.rotors:
        if r.on:
            columns[r.v] += Wrench(ZERO3, X_world[r.on].R @ r.axis * (r.ratio * r.inertia))
    return columns


def _centre(tree: Tree, X_world: Sequence[Pose]) -> Vec3:
    moments = [X.p * b.inertia.m + X.R @ b.inertia.mc for b, X in zip(tree.bodies[1:], X_world[1:], strict=True)]
    return sum(moments, ZERO3) * (1.0 / _mass(tree))


def _mass(tree: Tree) -> Scalar:
    total: Scalar = sum(b.inertia.m for b in tree.bodies[1:])
    if is_number(total) and total <= 0.0:
        raise LinkwiseError("the moving links have no mass, so there is no centre of mass. Give one of them a mass.")
    return total
