"""What an integrator of motions asks of a robot: rates of its coordinates, the forces, and where energy goes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from linkwise.algorithms.algorithm import Cheapest, Outputs, World, algorithm
from linkwise.algorithms.hybrid_dynamics import driven_places
from linkwise.algorithms.hybrid_dynamics import solve as solve_tree
from linkwise.algorithms.inertia_route import solve_by_inertia
from linkwise.algorithms.integration import q_dot
from linkwise.algorithms.inverse_dynamics import body_wrenches
from linkwise.algorithms.kinematics import link_velocities
from linkwise.robot.tree import Body, Tree
from linkwise.scalar import Scalar, is_number

POWERS = ("control", "drives", "environment", "friction")  # friction is what it takes away


@algorithm(
    inputs="q qd given",
    outputs={"q_dot": ("nq",), "qdd": ("nv",), "tau": ("nv",), "power": (len(POWERS),)},
    uses="gravity external base_motion",
    torques_only=True,
    driven=(),
    route=Cheapest("inertia", "articulated", deep="articulated"),
)
def motion_rates(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    given: Sequence[Scalar],
    world: World,
    driven: Sequence[str],
    route: str,
) -> Outputs:
    """Rates of positions, accelerations, forces, and the powers of `POWERS`, with some joints driven.

        d/dt (kinetic + potential energy) = control + drives + environment - friction

    Args:
        tree: the robot.
        q: positions (nq); quaternions of any length.
        qd: velocities (nv).
        given: for each coordinate its acceleration where its joint is driven, else its force (nv).
        world: gravity, base motion, and external wrenches.
        driven: names of the joints whose accelerations are given.
        route: "inertia" or "articulated", as in forward dynamics.
    """
    held = driven_places(tree, driven)
    if route == "articulated":
        qdd, tau, _, _ = solve_tree(tree, q, qd, given, held, world)
    else:
        qdd, tau = solve_by_inertia(tree, q, qd, given, held, world)
    (rate,) = q_dot.function(tree, q, qd)
    return rate, qdd, tau, powers(tree, q, qd, qdd, tau, held, world)


def powers(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    tau: Sequence[Scalar],
    held: Collection[int],
    world: World,
) -> tuple[Scalar, ...]:
    """The powers of `POWERS`, where forces `tau` act, the coordinates `held` are driven, and the base may be too."""
    work = [f * v for f, v in zip(tau, qd, strict=True)]
    return (
        sum((x for k, x in enumerate(work) if k not in held), 0.0),
        sum((x for k, x in enumerate(work) if k in held), _of_base(tree, q, qd, qdd, world)),
        _environment(tree, q, qd, world),
        sum((dissipation(b, qd) for b in tree.bodies[1:]), 0.0),
    )


def _of_base(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], world: World) -> Scalar:
    """Power of what moves the base; with loops too, since what joints exert on links cancels in the sum over links."""
    if all(is_number(x) and x == 0.0 for x in world.base_velocity):
        return 0.0
    return body_wrenches(tree, q, qd, qdd, world).wrench[0].power(world.base_velocity)


def _environment(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], world: World) -> Scalar:
    """Power of external wrenches and of laws along joints."""
    total: Scalar = 0.0
    v = link_velocities(tree, q, qd, world)
    for i, wrench in world.external.items():
        total = total + wrench.power(v[i])
    for b in tree.bodies[1:]:
        if b.law is not None:
            speed = qd[b.v] * b.ratio
            total = total + b.law(b.position(q), speed) * speed
    return total


def dissipation(b: Body, qd: Sequence[Scalar]) -> Scalar:
    """Power that friction and dampers of a joint take away."""
    if not b.is_single:
        return 0.0
    v = qd[b.v] * b.ratio
    torque = b.friction.torque(v) + b.motor_friction.torque(v * b.gear) * b.gear
    if b.spring is not None:
        torque = torque + v * b.spring.damping
    return torque * v + (b.elastic.dissipation(v, qd) if b.elastic else 0.0)
