"""Forward dynamics by Nasser's inbound and outbound sweeps over systems of six equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.articulated import ArticulatedInertia
from linkwise.algorithms.inertia_route import inverse_along
from linkwise.algorithms.mass_matrix import composites
from linkwise.errors import LinkwiseError
from linkwise.robot.tree import Body, Tree
from linkwise.rotation import Turn
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Wrench
from linkwise.vector import EYE3, EZ, ZERO3, Vec3, cross

Z = {"revolute": Motion(angular=EZ), "prismatic": Motion(linear=EZ), "fixed": Motion()}


@algorithm(inputs="q qd tau", outputs={"qdd": ("nv",)}, uses="gravity external base_motion")
def inbound_outbound(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World
) -> Outputs:
    """Accelerations that the forces `tau` cause, with reactions as unknowns eliminated link by link.

    Inbound every link's equation F = A* a + B*, with a the acceleration of its joint's point, takes in those of the
    links it carries; outbound the base's acceleration gives each link's in turn. Every vector of link i is in the frame
    of its joint on the parent's side, whose z is the joint's axis.

    Source: [Nasser] (2.1.1)-(2.3.4). We depart by + w x z theta' in the lower block of (2.1.13.2), by
    gamma = 1 - (1 + Ja) Z Z^T, which the source leaves undefined and which makes gamma G A* the symmetric
    A* - A*Z Z^T A*/(Z^T A* Z + Ja), and by gravity as an acceleration of the base.
    """
    _refuse_what_he_does_not_have(tree)
    bodies = tree.bodies
    links = [_link(body, q, qd) for body in bodies]
    omega = _angular_velocities(tree, links, world)
    own = [ArticulatedInertia.of(b.inertia.seen_from(x.R, EZ * x.d)) for b, x in zip(bodies, links, strict=True)]
    A, B = own, [_bias(tree, i, links, omega, q, qd, tau, world) for i in range(len(bodies))]

    composite = composites(tree, [b.pose(q) for b in bodies]) if any(b.light for b in bodies) else []

    # inbound
    H: list[Scalar] = [0.0] * len(bodies)
    for i in range(len(bodies) - 1, 0, -1):
        body, x = bodies[i], links[i]
        up = body.parent
        reduced, force = A[i], B[i]
        if body.is_single:
            AZ = A[i] @ x.Z
            H[i] = inverse_along(body, x.Z, AZ.power(x.Z) + body.armature, composite, i)
            reduced = A[i].without(AZ, H[i])  # gamma G A*
            force = B[i] + _times(AZ, -(B[i].power(x.Z) * H[i]))  # gamma G B*
        off, R = _branch(tree, i, links)
        seen = reduced.seen_from(R, off)
        A[up] = A[up] + seen
        B[up] = B[up] + force.seen_from(R, off) + seen @ _at_branch(links[up], omega, tree, up, off)

    # outbound
    qdd: list[Scalar] = [0.0] * tree.nv
    a = [world.felt_acceleration]
    for i, body in enumerate(bodies[1:], start=1):
        up, (off, R) = body.parent, _branch(tree, i, links)
        at = _shifted(_moved(a[up], qdd, bodies[up], links[up]) + _at_branch(links[up], omega, tree, up, off), off)
        here = Motion(R.T @ at.linear, R.T @ at.angular)
        a.append(here)
        if body.is_single:
            F = A[i] @ here + B[i]
            qdd[body.v] = -(F.power(links[i].Z) * H[i])
    return (qdd,)


class _Link(NamedTuple):
    """How a link stands on its joint: turned by R, slid along z by d; the joint's direction Z, and its rate."""

    R: Any
    d: Scalar
    Z: Motion
    rate: Scalar


def _link(body: Body, q: Sequence[Scalar], qd: Sequence[Scalar]) -> _Link:
    if body.kind == "revolute":
        R, _ = body.pose(q)
        return _Link(Turn(EYE3, R.c, R.s), 0.0, Z["revolute"], qd[body.v])
    if body.kind == "prismatic":
        return _Link(EYE3, body.position(q), Z["prismatic"], qd[body.v])
    return _Link(EYE3, 0.0, Z["fixed"], 0.0)


def _branch(tree: Tree, i: int, links: list[_Link]) -> tuple[Vec3, Any]:
    """Where joint i is on its parent, in the frame of the parent's joint: the point P* and the rotation."""
    body = tree.bodies[i]
    up = links[body.parent]
    return up.R @ body.placement.p + EZ * up.d, _product(up.R, body.placement.R)


def _angular_velocities(tree: Tree, links: list[_Link], world: World) -> list[tuple[Vec3, Vec3]]:
    """For each link the angular velocities of its parent and of itself, in the frame of its joint."""
    found = [(world.base_velocity.angular, world.base_velocity.angular)]
    for i, body in enumerate(tree.bodies[1:], start=1):
        _, R = _branch(tree, i, links)
        before = R.T @ found[body.parent][1]
        found.append((before, before + links[i].Z.angular * links[i].rate))
    return found


def _bias(
    tree: Tree,
    i: int,
    links: list[_Link],
    omega: list[tuple[Vec3, Vec3]],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    world: World,
) -> Wrench:
    """B_i: velocity terms, less the control and external forces on the link, plus the reaction of its successors."""
    body, x, (before, w) = tree.bodies[i], links[i], omega[i]
    inertia = body.inertia.seen_from(x.R, EZ * x.d)
    k = cross(before, EZ) * x.rate
    turning, sliding = (k, ZERO3) if body.kind == "revolute" else (ZERO3, k * 2.0)
    force = cross(w, cross(w, inertia.mc)) + cross(turning, inertia.mc) + sliding * inertia.m
    moment = cross(w, inertia.I_o @ w) + inertia.I_o @ turning + cross(inertia.mc, sliding)
    total = Wrench(force, moment)
    if i in world.external:
        total += -(world.external[i].seen_from(x.R, EZ * x.d))
    if body.is_single:
        total += -_control(body, x, q, qd, tau)
    for c, successor in enumerate(tree.bodies):
        if c and successor.parent == i and successor.is_single:
            off, R = _branch(tree, c, links)
            total += _control(successor, links[c], q, qd, tau).seen_from(R, off)
    return total


def _control(body: Body, x: _Link, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]) -> Wrench:
    """The wrench that joint i's drive, friction and spring exert on its link."""
    net = tau[body.v] - body.resistance(q, qd, [0.0] * len(qd))
    return Wrench(x.Z.linear * net, x.Z.angular * net)


def _at_branch(x: _Link, omega: list[tuple[Vec3, Vec3]], tree: Tree, i: int, off: Vec3) -> Motion:
    """sigma*: the acceleration that velocities alone give the branch point, seen from the joint's point."""
    before, w = omega[i]
    k = cross(before, EZ) * x.rate
    if tree.bodies[i].kind == "revolute":
        return Motion(cross(w, cross(w, off)), k)
    return Motion(cross(w, cross(w, off)) + k * 2.0, ZERO3)


def _moved(a: Motion, qdd: Sequence[Scalar], body: Body, x: _Link) -> Motion:
    """The link's acceleration: its joint's point's, and the joint's own."""
    if not body.is_single:
        return a
    return Motion(a.linear + x.Z.linear * qdd[body.v], a.angular + x.Z.angular * qdd[body.v])


def _shifted(a: Motion, off: Vec3) -> Motion:
    """P^T: an acceleration taken from the joint's point to the branch point."""
    return Motion(a.linear + cross(a.angular, off), a.angular)


def _product(R: Any, fixed: Any) -> Any:
    return (R.matrix() if isinstance(R, Turn) else R) @ fixed


def _times(w: Wrench, x: Scalar) -> Wrench:
    return Wrench(w.force * x, w.moment * x)


def _refuse_what_he_does_not_have(tree: Tree) -> None:
    for body in tree.bodies:
        if body.kind == "floating" or body.ratio != 1.0 or body.offset != 0.0:
            raise LinkwiseError(f"joint {body.name!r}: Nasser's scheme has rotational and translational joints only,"
                                " without mimicry. Use forward_dynamics.")  # fmt: skip
    if tree.rotors:
        raise LinkwiseError("Nasser's scheme has actuator inertia at joints only, not motors on links.")
