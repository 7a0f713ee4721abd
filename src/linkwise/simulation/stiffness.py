"""How stiff a robot is, and what solvers for stiff systems ask: the Jacobian of its rates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwise.algorithms.mass_matrix import mass_matrix
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.tracing import Port, caller, finish, forward
from linkwise.robot.drive import Friction
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.simulation.motions import Array

if TYPE_CHECKING:
    from linkwise.simulation.system import System

STIFF = 1000.0  # rad/s or 1/s: where springs swing or creep faster, a method that turns implicit at need is quicker


class Law(NamedTuple):
    """A torque -stiffness d^T q - damping d^T qd along a direction d (nv) of the coordinates; `dry` only near rest."""

    description: str
    joint: str
    direction: Array
    stiffness: float
    damping: float
    dry: float = 0.0


def fastest_rate(robot: Robot, q: Array) -> float:
    """The fastest that springs, dampers and viscous friction make the robot swing or creep about `q`, 1/s."""
    n = robot.nv
    K, D = np.zeros((n, n)), np.zeros((n, n))
    for law in _laws(robot):
        square = np.outer(law.direction, law.direction)
        K += law.stiffness * square
        D += law.damping * square
    if not (K.any() or D.any()):
        return 0.0
    try:
        swing, creep = (np.abs(np.linalg.eigvals(np.linalg.solve(_mass(robot, q), X))).max() for X in (K, D))
    except np.linalg.LinAlgError:
        return 0.0  # a robot that cannot be simulated is refused elsewhere
    return float(max(np.sqrt(swing), creep))


def joint_laws(robot: Robot, q: Array, joint: str) -> list[tuple[float, str]]:
    """What acts on a joint, or on its motor, each with the rate that it alone makes, 1/s."""
    rates: list[tuple[float, str]] = []
    try:
        M = _mass(robot, q)
        for law in _laws(robot):
            if law.joint not in (joint, joint.removesuffix(".motor")):
                continue
            mobility = float(law.direction @ np.linalg.solve(M, law.direction))
            swing, creep = np.sqrt(abs(law.stiffness * mobility)), (law.damping + law.dry) * mobility
            rates.append((max(swing, creep), law.description))
    except np.linalg.LinAlgError:
        return []
    return rates


def _mass(robot: Robot, q: Array) -> Array:
    return np.reshape(mass_matrix.plain(robot, q.tolist()), (robot.nv, robot.nv))


def _laws(robot: Robot) -> Iterator[Law]:
    for body in Tree.of(robot).bodies[1:]:
        if not body.is_single:
            continue
        along = np.zeros(robot.nv)
        along[body.v] = body.ratio
        if body.spring is not None:
            spring = body.spring
            description = f"its spring (stiffness {spring.stiffness:g}, damping {spring.damping:g})"
            yield Law(description, body.name, along, spring.stiffness, spring.damping)
        yield _resisting(body.friction, 1.0, "friction", body.name, along)
        yield _resisting(body.motor_friction, body.gear, "friction of its drive", body.name, along)
        if body.elastic is not None:
            elastic, between, motor = body.elastic, -along, np.zeros(robot.nv)
            between[elastic.v] = motor[elastic.v] = 1.0
            description = f"the spring of its drive (stiffness {elastic.stiffness:g}, damping {elastic.damping:g})"
            yield Law(description, body.name, between, float(elastic.stiffness), float(elastic.damping))
            yield _resisting(elastic.friction, elastic.gear, "friction of its motor", body.name, motor)


def _resisting(friction: Friction, gear: float, what: str, joint: str, along: Array) -> Law:
    """Viscous friction, and the slope of dry friction at rest."""
    dry = max(friction.coulomb, friction.static) / friction.width * gear * gear
    description = f"the {what} (viscous {friction.viscous:g}" + (f", dry {friction.coulomb:g})" if dry else ")")
    return Law(description, joint, along, 0.0, float(friction.viscous * gear * gear), float(dry))


class Slopes:
    """The Jacobian of a system's rates with respect to its state, compiled; its inputs must not depend on the state."""

    def __init__(self, system: System, kernel: Kernel) -> None:
        self._system = system
        program = kernel.program
        rates = [
            x for port, flat in zip(program.outputs, program.results, strict=True) if port.name != "tau" for x in flat
        ]
        state = [x for group in program.leaves[:2] for x in group]
        rows = forward(rates, state)
        name = "rates_jacobian"
        outputs = [Port("J", (len(rates), len(state)))]
        flat = [x for row in rows for x in row]
        graph = program.leaves[0][0].graph
        derived = finish(name, graph, program.inputs, outputs, program.leaves, [flat])
        self._call = caller(derived, "The Jacobian of a robot's rates.", 1)

    def __call__(self, t: float, y: Array) -> Array:
        """d rate / d y at a time and state."""
        system = self._system
        nq, nv = system.robot.nq, system.robot.nv
        J = self._call(*system.arguments(t, y))
        rows = np.concatenate([system.free_q, nq + system.free_v, np.arange(nq + nv, len(J))])
        columns = np.concatenate([system.free_q, nq + system.free_v])
        full = np.zeros((len(y), len(y)))
        full[:, : len(columns)] = J[np.ix_(rows, columns)]
        return full
