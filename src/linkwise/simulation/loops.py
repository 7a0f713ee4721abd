"""Simulation of robots with loops: multipliers hold the loops, and projections take off what integration opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from linkwise.algorithms.algorithm import REQUIRED, Outputs, World, algorithm
from linkwise.algorithms.hybrid_dynamics import driven_places
from linkwise.algorithms.integration import integrate, q_dot
from linkwise.algorithms.multipliers import Mobility, nearest
from linkwise.closed.kernels import ClosedKernel
from linkwise.closed.solver import newton
from linkwise.errors import InputError, ModelError
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options
from linkwise.mechanism.assemble import Assembler, assembled, configurations, size_of
from linkwise.mechanism.partition import Partition
from linkwise.mechanism.rank import independent_rows, rank_of
from linkwise.mechanism.structure import structure_of
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.simulation.motions import Array
from linkwise.simulation.rates import POWERS, powers
from linkwise.simulation.system import System

RETURN = 10.0  # 1/s, at which a state that integration took off the closed configurations goes back to them
OPEN, MOVING = 1e-9, 1e-9  # of positions and of velocities at the start: what counts as closed
KEPT = 32


@algorithm(
    inputs="q qd given",
    outputs={"q_dot": ("nq",), "qdd": ("nv",), "tau": ("nv",), "power": (len(POWERS),)},
    uses="gravity external",
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
        tree: the robot.
        q: positions (nq), which close the loops but for errors of integration.
        qd: velocities (nv).
        given: for each coordinate its acceleration where its joint is driven, else its force (nv).
        world: gravity, and external wrenches.
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
        powers(tree, at, rate, found.tau, held, world),
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


class LoopedSystem(System):
    """The equations of motion of a robot with loops; the states that it hands out are closed."""

    def __init__(self, robot: Robot, kernel: Kernel, *others: Any) -> None:
        super().__init__(robot, kernel, *others)
        static = {k: kernel.static[k] for k in ("driven", "part")}
        self._closed = Kernel.of(robot, closed_state, Options(), static)

    def state(self, t: float, y: Array) -> tuple[Array, Array]:
        """All positions and velocities, closed."""
        q, qd = super().state(t, y)
        q, qd = self._closed(*self._closed(q, qd))  # twice: errors of interpolants are larger than those of steps
        return q, qd

    def row(self, t: float, y: Array) -> tuple[Any, ...]:
        """What is kept of a moment, with a closed state."""
        _, _, _, work, *inputs = super().row(t, y)
        return t, *self.state(t, y), work, *inputs


@lru_cache(maxsize=KEPT)
def loop_equations(robot: Robot, driven: tuple[str, ...]) -> Partition:
    """The loops with independent equations of the joints that are not driven; these stand as independent ones."""
    held = [v for n in driven for v in range(robot.slots[n].v, robot.slots[n].v + robot.slots[n].nv)]
    free = [v for v in range(robot.nv) if v not in held]
    found = max(configurations(robot), key=lambda c: rank_of(c.J[:, free]))
    rank = rank_of(found.J[:, free])
    if rank < found.rank:
        raise InputError(
            f"driven: the loops of robot {robot.name!r} tie {', '.join(map(repr, driven))} to each other, so that they"
            f" cannot all be prescribed: {found.rank} equations hold, and {rank} of them for the other joints. Drive"
            " fewer joints."
        )
    rows = independent_rows(found.J[:, free], rank)
    return Partition(robot.loops, tuple(rows), tuple(held), size=size_of(Tree.of(robot), robot))


def closed_start(
    robot: Robot, q: Array, qd: Array, given: tuple[Any, Any], driven: tuple[str, ...]
) -> tuple[Array, Array, tuple[str, ...]]:
    """A closed state from what was asked, and what had to be changed.

    Joints that were named in a mapping, or else the independent ones, keep what they were given.

    Args:
        robot: with loops.
        q: positions as asked.
        qd: velocities as asked.
        given: what the caller gave for both, a mapping perhaps.
        driven: names of joints whose motion is prescribed.
    """
    notes = []
    kept = _kept(robot, given[0], driven)
    start = q.copy()
    if isinstance(given[0], Mapping):  # joints that were not named are near where they close
        named = set(given[0]) | set(driven)
        start = assembled(robot).q.copy()
        for s in (robot.slots[n] for n in named):
            start[s.q : s.q + s.nq] = q[s.q : s.q + s.nq]
    assembler = Assembler(robot)
    if np.abs(assembler.gap(q)).max() > OPEN:
        closed = next((x for x in (_closed(robot, start, k) for k in kept) if x is not None), None)
        if closed is None:
            raise InputError(
                f"q0: the loops of robot {robot.name!r} do not close there, nor near it with"
                f" {', '.join(map(repr, kept[0])) or 'any joint'} held. Take positions from"
                " lw.compile(robot).closed.positions(...)."
            )
        notes.append(f"q0 was moved by up to {np.abs(closed - q).max():.3g} (rad or m) to close the loops")
        q = closed
    J = assembler.jacobian_si(q)
    if np.abs(J @ qd).max() > MOVING * max(1.0, float(np.abs(qd).max())):
        changed = next(
            (x for x in (_tied(robot, J, qd, k) for k in _kept(robot, given[1], driven)) if x is not None), None
        )
        if changed is None:
            raise InputError(
                f"qd0: the loops of robot {robot.name!r} do not stay closed with these velocities, whatever the joints"
                " that were not named do. Take velocities from lw.compile(robot).closed.motion(...)."
            )
        notes.append(
            f"qd0 was changed by up to {np.abs(changed - qd).max():.3g} (rad/s or m/s) to keep the loops closed"
        )
        qd = changed
    return q, qd, tuple(notes)


def _kept(robot: Robot, given: Any, driven: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Joints that are to keep what they were given: a first choice, and further ones where that does not close."""
    choices: list[tuple[str, ...]] = []
    if isinstance(given, Mapping):
        choices.append(tuple(dict.fromkeys([*driven, *given])))
    with suppress(ModelError):  # where no joint is active: none need be to simulate
        choices.append(tuple(dict.fromkeys([*driven, *structure_of(robot).independent])))
    return [*choices, driven] if not isinstance(given, Mapping) or not given else choices[:1]


def _closed(robot: Robot, q: Array, kept: tuple[str, ...]) -> Array | None:
    """Closed positions near q, some joints held; None where there are none."""
    try:
        part = loop_equations(robot, kept)
    except InputError:
        return None
    kernel = ClosedKernel.ask(robot, Options(), part, "nearby")
    found, ok = newton(kernel, q[None])
    return found[0] if ok[0] else None


def _tied(robot: Robot, J: Array, qd: Array, kept: tuple[str, ...]) -> Array | None:
    """Velocities that keep the loops closed, some joints held; None where there are none."""
    held = [v for n in kept for v in range(robot.slots[n].v, robot.slots[n].v + robot.slots[n].nv)]
    free = [v for v in range(robot.nv) if v not in held]
    changed = qd.copy()
    changed[free] -= np.linalg.lstsq(J[:, free], J @ qd, rcond=1e-10)[0]
    return changed if np.abs(J @ changed).max() <= MOVING * max(1.0, float(np.abs(changed).max())) else None
