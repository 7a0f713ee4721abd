"""Forward dynamics by Nasser's inbound and outbound sweeps over systems of six equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.articulated import ArticulatedInertia
from linkwise.algorithms.inertia_route import inverse_along
from linkwise.algorithms.inverse_dynamics import rate_of_change
from linkwise.algorithms.mass_matrix import composites
from linkwise.errors import LinkwiseError
from linkwise.robot.tree import Body, Tree
from linkwise.rotation import Turn
from linkwise.scalar import Scalar, is_number
from linkwise.spatial import Motion
from linkwise.vector import EYE3, EZ, ZERO3, Vec3, cross


@algorithm(inputs="q qd tau", outputs={"qdd": ("nv",)}, uses="gravity external base_motion", torques_only=True)
def inbound_outbound(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World
) -> Outputs:
    """Accelerations that the forces `tau` cause, with reactions as unknowns eliminated link by link.

    Inbound every link's equation F = A* a + B*, with a the acceleration of its joint's point, takes in those of the
    links it carries; outbound the base's acceleration gives each link's in turn. Every vector of link i is in the frame
    of its joint on the parent's side, whose z is the joint's axis.

    Source: [Nasser] (2.1.1)-(2.3.4). We depart by + w x z theta' in the lower block of (2.1.13.2), by
    gamma = 1 - (1 + Ja) Z Z^T, which the source leaves undefined and which makes gamma G A* the symmetric
    A* - A*Z Z^T A*/(Z^T A* Z + Ja), whose row and column along Z vanish without Ja, by adding the control forces of
    successors on their way inbound, and by gravity as an acceleration of the base.
    """
    tree = tree.only_tree("inbound_outbound")
    _refuse_what_he_does_not_have(tree)
    bodies = tree.bodies
    links = [_link(body, q, qd) for body in bodies]
    turning = _velocities(tree, links, world)
    inertias = [b.inertia.seen_from(x.R, EZ * x.d) for b, x in zip(bodies, links, strict=True)]
    A = [ArticulatedInertia.of(I) for I in inertias]
    B = [I.force(t.linear, rate_of_change(t.angular, t.w)) for I, t in zip(inertias, turning, strict=True)]
    for i, load in world.external.items():
        B[i] = B[i] + -load.seen_from(links[i].R, EZ * links[i].d)
    composite = composites(tree, [b.pose(q) for b in bodies]) if any(b.light for b in bodies) else []

    # inbound
    H: list[Scalar] = [0.0] * len(bodies)
    for i in range(len(bodies) - 1, 0, -1):
        body, Z, up = bodies[i], links[i].Z, links[bodies[i].parent]
        reduced, force = A[i], B[i]
        if body.is_single:
            control = Z.pushed(tau[body.v] - body.resistance(q, qd, [0.0] * tree.nv))
            B[i] = B[i] + -control
            AZ = A[i] @ Z
            H[i] = inverse_along(body, Z, AZ.power(Z) + body.armature, composite, i)
            reduced = A[i].without(AZ, H[i])  # gamma G A*
            force = B[i] + AZ * -(B[i].power(Z) * H[i])  # gamma G B*
            if is_number(body.armature) and body.armature == 0.0:
                reduced, force = reduced.beside(Z), force.beside(Z)
            force = force + control  # which the successor's drive takes from this link
        seen = reduced.seen_from(body.placement.R, body.placement.p).seen_from(up.R, EZ * up.d)
        pushed = force.seen_from(body.placement.R, body.placement.p).seen_from(up.R, EZ * up.d)
        A[body.parent] = A[body.parent] + seen
        B[body.parent] = B[body.parent] + pushed + seen @ _at_branch(up, turning[body.parent], body)

    # outbound
    qdd: list[Scalar] = [0.0] * tree.nv
    a = [world.felt_acceleration]
    for i, body in enumerate(bodies[1:], start=1):
        up, below = links[body.parent], bodies[body.parent]
        moved = a[body.parent] + _at_branch(up, turning[body.parent], body)
        if below.is_single:
            moved = moved + up.Z * qdd[below.v]
        a.append(moved.carried_to(up.R, EZ * up.d).carried_to(body.placement.R, body.placement.p))
        if body.is_single:
            F = A[i] @ a[i] + B[i]
            qdd[body.v] = -(F.power(links[i].Z) * H[i])
    return (qdd,)


class _Link(NamedTuple):
    """How a link stands on its joint: turned by R, slid along z by d; the joint's direction Z, and its rate."""

    R: Any
    d: Scalar
    Z: Motion
    rate: Scalar


def _link(body: Body, q: Sequence[Scalar], qd: Sequence[Scalar]) -> _Link:
    if body.kind.turns:
        R, _ = body.pose(q)
        return _Link(Turn(EYE3, R.c, R.s), 0.0, body.kind.units[0], qd[body.v])
    if body.kind.slides:
        return _Link(EYE3, body.position(q), body.kind.units[0], qd[body.v])
    return _Link(EYE3, 0.0, Motion(), 0.0)


class _Turning(NamedTuple):
    """A link's angular velocity, and what velocities add to its acceleration at its joint: (2.1.13.2), (2.2.7)."""

    w: Vec3
    angular: Vec3
    linear: Vec3


def _velocities(tree: Tree, links: list[_Link], world: World) -> list[_Turning]:
    """How each link turns, in the frame of its joint."""
    found = [_Turning(world.base_velocity.angular, ZERO3, ZERO3)]
    for body, x in zip(tree.bodies[1:], links[1:], strict=True):
        before = body.placement.R.T @ (links[body.parent].R.T @ found[body.parent].w)
        k = cross(before, EZ) * x.rate
        both = (k, ZERO3) if body.kind.turns else (ZERO3, k * 2.0)
        found.append(_Turning(before + x.Z.angular * x.rate, *both))
    return found


def _at_branch(x: _Link, t: _Turning, successor: Body) -> Motion:
    """sigma*: the acceleration that velocities alone give the successor's place, seen from the joint's point."""
    off = x.R @ successor.placement.p + EZ * x.d
    return Motion(rate_of_change(ZERO3, t.w) @ off + t.linear, t.angular)


def _refuse_what_he_does_not_have(tree: Tree) -> None:
    for body in tree.bodies:
        if not (body.kind.turns or body.kind.slides or not body.kind.nv) or body.ratio != 1.0 or body.offset != 0.0:
            raise LinkwiseError(f"joint {body.name!r}: Nasser's scheme has rotational and translational joints only,"
                                " without mimicry. Use forward_dynamics.")  # fmt: skip
        if body.elastic is not None:
            raise LinkwiseError(f"joint {body.name!r}: Nasser's scheme has rigid drives only. Use forward_dynamics, or"
                                " robot.rigid().")  # fmt: skip
    if tree.rotors:
        raise LinkwiseError("Nasser's scheme has actuator inertia at joints only, not motors on links.")
