"""Rates of robots with loops: multipliers hold the loops, and projections take off what integration opens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from linkwise.algorithms.algorithm import REQUIRED, Outputs, World, algorithm
from linkwise.algorithms.hybrid_dynamics import driven_places
from linkwise.algorithms.integration import integrate, q_dot
from linkwise.algorithms.multipliers import Mobility, nearest
from linkwise.errors import InputError
from linkwise.mechanism.assemble import configurations, coupled_places, size_of
from linkwise.mechanism.partition import Partition
from linkwise.mechanism.rank import independent_rows, rank_of
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.simulation.rates import POWERS, powers

RETURN = 10.0  # 1/s, at which a state that integration took off the closed configurations goes back to them
KEPT = 32


@algorithm(
    inputs="q qd given",
    outputs={"q_dot": ("nq",), "qdd": ("nv",), "tau": ("nv",), "power": (len(POWERS),)},
    uses="gravity external base_motion",
    torques_only=True,
    driven=(),
    part=REQUIRED,
)
def closed_rates(
    tree: Tree,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    given: Sequence[Scalar],
    world: World,
    driven: Sequence[str],
    part: Partition,
) -> Outputs:
    """Rates of positions, accelerations, forces and powers of a robot with loops, with some joints driven.

    They are those of the nearest closed state, by M qdd + h = tau + J^T lambda, and what brings the given state back to
    it. In closed states `qdd` is the acceleration.

    Args:
        tree: the robot with its loops cut.
        q: positions (nq), which close the loops but for errors of integration.
        qd: velocities (nv).
        given: for each coordinate its acceleration where its joint is driven, else its force (nv).
        world: gravity, base motion, and external wrenches.
        driven: names of the joints whose accelerations are given.
        part: the loops and their independent equations.
    """
    held = driven_places(tree, driven)
    closing = nearest(tree, q, part, held)
    (at,) = integrate.function(tree, q, closing, [1.0])
    mobility = Mobility(tree, at, part, held)
    braking = mobility.closing(qd)
    rate = [a + b for a, b in zip(qd, braking, strict=True)]
    found = mobility.accelerations(rate, given, world)
    (moving,), (back,) = q_dot.function(tree, at, rate), q_dot.function(tree, q, closing)
    return (
        [a + b * RETURN for a, b in zip(moving, back, strict=True)],
        [a + b * RETURN for a, b in zip(found.qdd, braking, strict=True)],
        found.tau,
        powers(tree, at, rate, found.qdd, found.tau, held, world),
    )


@algorithm(inputs="q qd", outputs={"q_closed": ("nq",), "qd_closed": ("nv",)}, driven=(), part=REQUIRED)
def closed_state(
    tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], driven: Sequence[str], part: Partition
) -> Outputs:
    """The nearest closed state, to first order in the gaps; velocities change by the least kinetic energy."""
    held = driven_places(tree, driven)
    (at,) = integrate.function(tree, q, nearest(tree, q, part, held), [1.0])
    change = Mobility(tree, at, part, held).closing(qd)
    return at, [a + b for a, b in zip(qd, change, strict=True)]


@lru_cache(maxsize=KEPT)
def loop_equations(robot: Robot, driven: tuple[str, ...]) -> Partition:
    """The loops with independent equations of the joints that are not driven; these stand as independent ones.

    Of a tree there are none.
    """
    slots, tree = robot.opened().slots, Tree.of(robot)
    held = [v for n in driven for v in range(slots[n].v, slots[n].v + slots[n].nv)]
    free = [v for v in range(tree.nv) if v not in held]
    found = max(configurations(robot), key=lambda c: rank_of(c.J[:, free]))
    rank = rank_of(found.J[:, free])
    if rank < found.rank:
        raise InputError(
            f"driven: the loops of robot {robot.name!r} tie {', '.join(map(repr, driven))} to each other, so that they"
            f" cannot all be prescribed: {found.rank} equations hold, and {rank} of them for the other joints. Drive"
            " fewer joints."
        )
    rows = independent_rows(found.J[:, free], rank)
    coupled, size = coupled_places(robot), size_of(tree, robot)
    return Partition(robot.loops, tuple(rows), tuple(held), size=size, couplings=coupled)
