"""Inverse dynamics of robots with passive elastic joints, in Khalil's three passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.articulated import ArticulatedInertia
from linkwise.algorithms.hybrid_dynamics import gyroscopic
from linkwise.algorithms.inertia_route import inverse_along
from linkwise.algorithms.inverse_dynamics import accelerations
from linkwise.algorithms.mass_matrix import composites
from linkwise.errors import LinkwiseError, UnknownNameError
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Wrench


@algorithm(
    inputs="q qd qdd",
    outputs={"qdd": ("nv",), "tau": ("nv",)},
    uses="gravity external base_motion",
    elastic=None,
)
def elastic_inverse(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    world: World,
    elastic: Sequence[str] | None,
) -> Outputs:
    """Accelerations of elastic joints, and torques of rigid ones, from the accelerations of rigid ones.

    An elastic joint has a spring and no motor: its torque is zero beside -stiffness (q - rest) - damping qd, and its
    acceleration is what follows. The same results as `hybrid_dynamics` gives with the rigid joints driven; kept because
    readers of the source come for it.

    Args:
        tree: joints of one degree of freedom, without motors on links, elastic drives and mimicry.
        q: positions (nq).
        qd: velocities (nv).
        qdd: accelerations of rigid joints (nv); entries of elastic ones are not used.
        world: gravity, base motion, and external wrenches.
        elastic: names of the elastic joints; None for all that have a spring.

    Returns:
        qdd (nv), all accelerations; tau (nv), zero for elastic joints.

    Source: [Khalil] (68)-(82), with jT_i in place of its transpose in (79)-(81), with the armature of an elastic joint
    in H (72), and with (81) for both kinds of joints.
    """
    tree = tree.only_tree("elastic_inverse")
    soft = _soft(tree, elastic)
    bodies, n = tree.bodies, tree.nv

    # outwards: gamma and beta of each link, from its velocities
    still = accelerations(tree, q, qd, [0.0] * n, World(base_velocity=world.base_velocity))
    gamma = [Motion()]
    for i, body in enumerate(bodies[1:], start=1):
        before = Motion(still.v_dot[body.parent], still.omega_dot[body.parent]).carried_to(*still.poses[i])
        here = Motion(still.v_dot[i], still.omega_dot[i])
        gamma.append(Motion(here.linear - before.linear, here.angular - before.angular))
    beta = [-gyroscopic(b, w) for b, w in zip(bodies, still.omega, strict=True)]
    for i, load in world.external.items():
        beta[i] = beta[i] + load

    # inwards: what each link and all beyond it do to the link before, (72)-(78)
    J = [ArticulatedInertia.of(b.inertia) for b in bodies]
    composite = composites(tree, still.poses) if any(b.light for b in bodies) else []
    links: list[_Link] = [_Link(J[0], Wrench(), Wrench(), 0.0, 0.0)] * len(bodies)
    for i in range(len(bodies) - 1, 0, -1):
        body = bodies[i]
        a = body.axes[0][1] if body.is_single else Motion()
        spring = -body.resistance(q, qd, [0.0] * n)
        Ja = J[i] @ a
        if i in soft:
            inverse = inverse_along(body, a, Ja.power(a) + body.own_inertia, composite, i)  # (72)
            net = spring + beta[i].power(a)
            K = J[i].without(Ja, inverse)  # (73)
            alpha = K @ gamma[i] + Ja * (net * inverse) + -beta[i]  # (74)
            links[i] = _Link(K, alpha, Ja, inverse, net)
        else:
            K, alpha = J[i], J[i] @ gamma[i] + -beta[i]  # (75)
            if body.is_single:
                alpha = alpha + Ja * qdd[body.v]  # (76)
            links[i] = _Link(K, alpha, Ja, 0.0, spring)
        J[body.parent] = J[body.parent] + K.seen_from(*still.poses[i])  # (77)
        beta[body.parent] = beta[body.parent] + -alpha.seen_from(*still.poses[i])  # (78)

    # outwards: accelerations of links, accelerations of elastic joints and torques of rigid ones, (79)-(82)
    found, tau = list(qdd), [0.0] * n
    v_dot = [world.felt_acceleration]
    for i, body in enumerate(bodies[1:], start=1):
        X, link = v_dot[body.parent].carried_to(*still.poses[i]), links[i]
        if body.is_single:
            a = body.axes[0][1]
            if i in soft:
                found[body.v] = (link.net - link.Ja.power(X + gamma[i])) * link.inverse  # (79)
            else:
                f = link.K @ X + link.alpha  # (80)
                tau[body.v] = f.power(a) + body.own_inertia * qdd[body.v] - link.net  # (82)
            X = X + a * found[body.v]
        v_dot.append(X + gamma[i])  # (81)
    return found, tau


class _Link(NamedTuple):
    """K and alpha of f = K jT_i Vdot_i + alpha, J* a, 1 / H, and the force along the joint that is known."""

    K: ArticulatedInertia
    alpha: Wrench
    Ja: Wrench
    inverse: Scalar
    net: Scalar


def _soft(tree: Tree, elastic: Sequence[str] | None) -> set[int]:
    """The bodies on elastic joints."""
    numbers = {b.name: i for i, b in enumerate(tree.bodies) if b.is_single}
    for name in elastic or ():
        if name not in numbers:
            raise UnknownNameError("joint in elastic", name, numbers)
    places = [b.v for b in tree.bodies if b.is_single]
    if tree.rotors or tree.elastic_bodies or len(set(places)) < len(places):
        raise LinkwiseError("elastic_inverse: expected a tree without motors on links, elastic drives and joints that"
                            " mimic. Use hybrid_dynamics.")  # fmt: skip
    if any(b.kind.nv > 1 for b in tree.bodies):
        raise LinkwiseError("elastic_inverse: expected joints of one degree of freedom, got one of several."
                            " Use hybrid_dynamics.")  # fmt: skip
    if elastic is None:
        return {i for i, b in enumerate(tree.bodies) if b.spring is not None}
    return {numbers[name] for name in elastic}
