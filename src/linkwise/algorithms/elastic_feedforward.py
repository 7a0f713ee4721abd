"""Motors' motion and torques from the motion of the links: feed-forward of robots with elastic drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from linkwise.algorithms.algorithm import LOADS, Outputs, Shape, Signature, World, algorithm
from linkwise.algorithms.differentiate import along_motion
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.errors import InputError, LinkwiseError
from linkwise.jet import Jet, part, without_last
from linkwise.robot.tree import Body, Elastic, Tree
from linkwise.scalar import Scalar, is_number

COUPLINGS = ("exact", "rigid")
OUTPUTS: dict[str, Shape] = {"theta": ("ne",), "thetad": ("ne",), "thetadd": ("ne",), "tau": ("nm",)}


def _grown(order: Any) -> Signature:
    """Inputs for so many rates of the joints' torques, which take two more of the positions."""
    orders = tuple(range(2, len(LOADS) - 2, 2))
    if order not in orders or isinstance(order, bool):
        raise InputError(f"elastic_feedforward order: expected one of {orders}, got {order!r}.")
    return LOADS[: order + 3], OUTPUTS


@algorithm(
    inputs=" ".join(LOADS[:5]),
    outputs=OUTPUTS,
    uses="gravity external",
    torques_only=True,
    grown=_grown,
    order=2,
    coupling="exact",
)
def elastic_feedforward(tree: Tree, *motion: Sequence[Scalar], world: World, order: int, coupling: str) -> Outputs:
    """Motion of the motors behind springs, and torques of all drives, from the motion of the links.

    The motion q(t) needs torques T of the joints; a motor behind a spring then stands at theta = q + T / K, and its
    rates follow by exact differentiation of T along the motion, which takes four derivatives of q.

    Exact are the dynamics of links and rotors, with gravity, friction, passive springs and external wrenches (whose
    rates are inputs too). Neglected is the damping D of drives' springs in theta, which is off by D T' / K^2; what
    passes through the spring is T all the same. An elastic joint that carries motors of other elastic joints feels
    their acceleration: with coupling="exact" that is counted, and each such joint that a motor's motion passes through
    takes two further derivatives (order=4, 6). With coupling="rigid" four are enough for every robot: in T motors spin
    with their joints, which neglects the acceleration of stretch there, but not in the torques of rigid joints.

    Args:
        tree: a robot with elastic drives, none of them on a joint that mimics.
        motion: positions of the joints alone, without motors, then velocities, accelerations, ..., `order` + 2 of them.
        world: gravity, and external wrenches with `order` rates.
        order: how many rates of T are taken: 2, 4 or 6.
        coupling: "exact" or "rigid".

    Returns:
        theta, thetad, thetadd of the motors in the order of `robot.coordinates`; tau of the drives, as `robot.motors`.

    Source: [Hua] (31) solved for the motors; the source's controller needs the same derivatives.
    """
    tree = tree.only_tree("elastic_feedforward")
    if coupling not in COUPLINGS:
        raise InputError(f"elastic_feedforward coupling: expected one of {COUPLINGS}, got {coupling!r}.")
    return motors_of_motion(tree, motion, world, coupling)


def motors_of_motion(tree: Tree, motion: Sequence[Sequence[Scalar]], world: World, coupling: str) -> Outputs:
    """The motors' motion and the drives' torques from that of the joints, given with an even number of derivatives."""
    drives, rates = tree.elastic_bodies, len(motion) - 3
    _refuse_shared(tree, drives)
    full = [[*x, *[0.0] * len(drives)] for x in motion]
    free = replace(tree, bodies=tuple(_unsprung(b) for b in tree.bodies))
    torque: dict[int, Scalar] = {}
    theta: dict[int, Scalar] = {}

    # from motors on which no other depends inwards; each level has two rates less
    levels = _levels(tree) if coupling == "exact" else [drives]
    if coupling == "exact" and 2 * len(levels) > rates:
        raise _too_deep(rates, len(levels))
    here = world
    for level in levels:
        state = [list(x) for x in along_motion(free, full[: rates + 3], rates)]
        for b, e in drives:
            for j, x in enumerate(state):
                known = [part(theta[e.v], k) for k in range(j, j + rates + 1)] if e.v in theta else None
                place, own = (e.q, b.q) if j == 0 else (e.v, b.v)
                x[place] = Jet.of(known) if known else x[own]
        (load,) = inverse_dynamics.function(free, *state, world=here)
        for b, e in level:
            torque[e.v] = load[b.v]
            theta[e.v] = state[0][b.q] + load[b.v] * (1.0 / e.stiffness)
        rates -= 2
        here = here.each(lambda x: without_last(without_last(x)))

    now = [[part(x) for x in full[j]] for j in range(3)]
    for _, e in drives:
        for j in range(3):
            now[j][e.v if j else e.q] = part(theta[e.v], j)
    (tau,) = inverse_dynamics.function(free, *now, world=world.each(part))
    for _, e in drives:
        tau[e.v] += part(torque[e.v])
    motors = [[part(theta[e.v], j) for _, e in drives] for j in range(3)]
    return *motors, [tau[k] for k in tree.drives]


def _levels(tree: Tree) -> list[list[tuple[Body, Elastic]]]:
    """The elastic drives in groups, such that the loads of each depend on motors of earlier groups only."""
    waits = {e.v: carried_motors(tree, i) for i, e in _numbered(tree)}
    levels: list[list[tuple[Body, Elastic]]] = []
    done: set[int] = set()
    while len(done) < len(waits):
        level = [(b, e) for b, e in tree.elastic_bodies if e.v not in done and waits[e.v] <= done]
        if not level:
            stuck = [b.name for b, e in tree.elastic_bodies if e.v not in done]
            raise LinkwiseError(
                f"elastic_feedforward: the motors of joints {', '.join(map(repr, stuck))} are carried by links that"
                ' they move, so that no number of derivatives gives their motion. Use coupling="rigid".'
            )
        levels.append(level)
        done |= {e.v for _, e in level}
    return levels


def _numbered(tree: Tree) -> list[tuple[int, Elastic]]:
    return [(i, b.elastic) for i, b in enumerate(tree.bodies) if b.elastic is not None]


def carried_motors(tree: Tree, i: int) -> set[int]:
    """The motors with coordinates of their own whose spin the joint of body i feels; one that slides feels none."""
    if tree.bodies[i].kind.slides:
        return set()
    turning = [
        r for r in tree.rotors if r.v in tree.motor_coordinates and not (is_number(r.inertia) and r.inertia == 0)
    ]
    return {r.v for r in turning if i in tree.ancestors(r.on)}


def _unsprung(b: Body) -> Body:
    """The body with nothing between motor and joint, whose torque is to be found."""
    return replace(b, elastic=b.elastic and replace(b.elastic, stiffness=0.0, damping=0.0))


def _too_deep(order: int, levels: int) -> LinkwiseError:
    need = 2 * levels
    other = f"order={need} with {need + 2} derivatives of the motion, or " if need + 2 < len(LOADS) else ""
    return LinkwiseError(
        f"elastic_feedforward: expected that order={order} is enough, got a robot that needs order={need}, because"
        f' elastic joints carry motors of elastic joints {levels - 1} deep. Use {other}coupling="rigid", which neglects'
        " the acceleration of stretch in loads."
    )


def _refuse_shared(tree: Tree, drives: Sequence[tuple[Body, Elastic]]) -> None:
    """Refuse where the motion does not tell the torques of single drives."""
    if not drives:
        raise LinkwiseError("elastic_feedforward: expected a robot with elastic drives, got one without. Use"
                            " inverse_dynamics.")  # fmt: skip
    for b, e in drives:
        if tree.drives.index(e.v) >= tree.nv - len(drives):  # after those of the joints that lead
            raise LinkwiseError(f"elastic_feedforward: joint {b.name!r} mimics another, so that the motion does not"
                                " tell how their drives share the load. Make its drive rigid.")  # fmt: skip
