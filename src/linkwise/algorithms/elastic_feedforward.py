"""Motors' motion and torques from the motion of the links: feed-forward of robots with elastic drives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.algorithms.algorithm import LOADS, Outputs, Shape, Signature, World, algorithm
from linkwise.algorithms.inverse_dynamics import body_wrenches, torques
from linkwise.check import whole
from linkwise.errors import InputError, LinkwiseError
from linkwise.jet import Jet, cut, part
from linkwise.mechanism.series import along_motion
from linkwise.robot.tree import Body, Elastic, Tree
from linkwise.scalar import Scalar, is_number, number

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine

COUPLINGS = ("exact", "rigid")
OUTPUTS: dict[str, Shape] = {"theta": ("ne",), "thetad": ("ne",), "thetadd": ("ne",), "tau": ("nm",)}
ORDERS = range(2, len(LOADS) - 2)


def _grown(order: Any) -> Signature:
    """Inputs for so many rates of the joints' torques, which take two more of the positions."""
    whole(order, "elastic_feedforward order", ORDERS[0], ORDERS[-1])
    return LOADS[: order + 3], OUTPUTS | ({"tau_dot": ("nm",)} if order % 2 else {})


@algorithm(
    inputs=" ".join(LOADS[:5]),
    outputs=OUTPUTS,
    uses="gravity external base_motion",
    torques_only=True,
    grown=_grown,
    order=2,
    coupling="exact",
)
def elastic_feedforward(
    machine: AnyMachine, *motion: Sequence[Scalar], world: World, order: int, coupling: str
) -> Outputs:
    """Motion of the motors behind springs, and torques of all drives, from the motion of the links.

    The motion q(t) needs torques T of the joints; a motor behind a spring then stands at theta = q + T / K, and its
    rates follow by exact differentiation of T along the motion, which takes four derivatives of q, and one more for the
    rates of the drives' torques. With loops T is what drives at the joints would have to give.

    Exact are the dynamics of links and rotors, with gravity, friction, passive springs and external wrenches (whose
    rates are inputs too). Neglected is the damping D of drives' springs in theta, which is off by D T' / K^2; what
    passes through the spring is T all the same. An elastic joint that carries motors of other elastic joints feels
    their acceleration: with coupling="exact" that is counted, and each such joint that a motor's motion passes through
    takes two further derivatives (order=4, 6). With coupling="rigid" four are enough for every robot: in T motors spin
    with their joints, which neglects the acceleration of stretch there, but not in the torques of rigid joints.

    Args:
        machine: a robot with elastic drives, none of them on a joint that mimics.
        motion: positions of what leads without motors, then velocities, accelerations, ..., `order` + 2 of them.
        world: gravity, base motion, and external wrenches with `order` rates.
        order: how many rates of T are taken: 2, 4 or 6; with one more the torques' rates are given too.
        coupling: "exact" or "rigid".

    Returns:
        theta, thetad, thetadd of the motors in the order of `robot.coordinates`; tau of the drives, as `robot.motors`;
        tau_dot where `order` is odd.

    Source: [Hua] (31) solved for the motors; the source's controller needs the same derivatives.
    """
    if coupling not in COUPLINGS:
        raise InputError(f"elastic_feedforward coupling: expected one of {COUPLINGS}, got {coupling!r}.")
    found = motors_of_motion(machine, motion, world, coupling, order % 2)
    return *found.theta, *found.tau


class Motors(NamedTuple):
    """theta, thetad, thetadd of motors behind springs, and torques of all drives with so many rates as asked for."""

    theta: list[list[Scalar]]
    tau: list[list[Scalar]]


def motors_of_motion(
    machine: AnyMachine, motion: Sequence[Sequence[Scalar]], world: World, coupling: str, tau_rates: int = 0
) -> Motors:
    """The motors' motion and the drives' torques from that of what leads, given with all derivatives that it takes."""
    drives, rates, free = machine.tree.elastic_bodies, len(motion) - 3, machine.unsprung()
    _refuse_shared(machine.tree, drives)
    torque: dict[int, Scalar] = {}
    theta: dict[int, Scalar] = {}

    def forces(rates: int) -> tuple[Any, list[Scalar], dict[int, Scalar]]:
        """Positions of the tree, its generalised forces, and those of drives at the joints by place, with rates."""
        given = [[*x, *[0.0] * (width - len(x))] for x, width in zip(motion, [free.nq, *[free.nv] * 9], strict=False)]
        lead = along_motion(free, given[: rates + 3], rates)
        at = free.at(lead[0])
        q, (qd, qdd) = list(at.q), map(list, at.led(*lead[1:3]))
        for b, e in drives:
            for j, x in enumerate((q, qd, qdd)):
                place, own = (e.q, b.q) if j == 0 else (e.v, b.v)
                known = [part(theta[e.v], k) for k in range(j, j + rates + 1)] if e.v in theta else None
                x[place] = Jet.of(known) if known else number(x[own])
        here = world.each(lambda x: cut(x, rates))
        tau = torques(free.tree, q, qd, qdd, body_wrenches(free.tree, q, qd, qdd, here))
        return q, tau, dict(zip(at.drive_places, at.drives(tau), strict=True))

    # from motors on which no other depends inwards; each level has two rates less
    levels = drive_levels(machine, motion[0]) if coupling == "exact" else [drives]
    if 2 * len(levels) + tau_rates > rates:
        raise _too_deep(rates, len(levels), tau_rates)
    for level in levels:
        q, _, load = forces(rates)
        for b, e in level:
            torque[e.v] = load[b.v]
            theta[e.v] = number(q[b.q]) + load[b.v] * (1.0 / e.stiffness)
        rates -= 2

    _, tau, load = forces(tau_rates)
    for _, e in drives:
        load[e.v] = tau[e.v] + cut(torque[e.v], tau_rates)
    every = [load[v] for v in machine.tree_drives]
    return Motors(
        [[part(theta[e.v], j) for _, e in drives] for j in range(3)],
        [[part(x, k) for x in every] for k in range(tau_rates + 1)],
    )


def drive_levels(machine: AnyMachine, q: Sequence[Scalar]) -> list[list[tuple[Body, Elastic]]]:
    """The elastic drives in groups, such that the loads of each depend on motors of earlier groups only.

    Loops pass on what any of their links feels.
    """
    tree, free = machine.tree, machine.unsprung()
    together = {i: unit.bodies for unit in free.at([*q, *[0.0] * (free.nq - len(q))]).units for i in unit.bodies}
    waits = {e.v: {v for k in together[i] for v in carried_motors(tree, k)} for i, e in _numbered(tree)}
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


def _too_deep(order: int, levels: int, tau_rates: int) -> LinkwiseError:
    need = 2 * levels + tau_rates
    other = f"order={need} with {need + 2} derivatives of the motion, or " if need in ORDERS else ""
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
