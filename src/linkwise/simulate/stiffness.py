"""How stiff a robot is, and what solvers for stiff systems ask: the Jacobian of its rates."""

from __future__ import annotations

import numpy as np

from linkwise.algorithms import mass_matrix
from linkwise.backend.call import caller
from linkwise.graph.derivative import forward
from linkwise.graph.program import Port, finish
from linkwise.kernel import Kernel
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.simulate.motions import Array
from linkwise.simulate.system import System

STIFF = 1000.0  # rad/s or 1/s: where springs swing or creep faster, a method that turns implicit at need is quicker


def fastest_rate(robot: Robot, q: Array) -> float:
    """The fastest that springs and dampers of joints and drives make the robot swing or creep about `q`, 1/s."""
    n, tree = robot.nv, Tree.of(robot)
    K, D = np.zeros((n, n)), np.zeros((n, n))
    for b in tree.bodies:
        if b.spring is not None:
            K[b.v, b.v] += b.spring.stiffness * b.ratio**2
            D[b.v, b.v] += b.spring.damping * b.ratio**2
        if b.elastic is not None:
            between = np.zeros(n)
            between[b.elastic.v], between[b.v] = 1.0, -b.ratio
            K += b.elastic.stiffness * np.outer(between, between)
            D += b.elastic.damping * np.outer(between, between)
    if not (K.any() or D.any()):
        return 0.0
    M = np.reshape(mass_matrix(robot, q.tolist()), (n, n))
    try:
        swing, creep = (np.abs(np.linalg.eigvals(np.linalg.solve(M, X))).max() for X in (K, D))
    except np.linalg.LinAlgError:
        return 0.0  # a robot that cannot be simulated is refused elsewhere
    return float(max(np.sqrt(swing), creep))


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
