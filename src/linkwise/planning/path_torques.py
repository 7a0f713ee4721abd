"""Torques along a path where they are more than a quadratic in the speed: elastic drives, and functions of time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.kernel.tracing import Graph, Port, finish, function, jacobian, lift
from linkwise.motion.environment import Environment
from linkwise.planning.chain_rule import composed, in_time
from linkwise.planning.chart import Chart
from linkwise.planning.point import Point
from linkwise.robot.robot import Robot
from linkwise.scalar import sqrt

Array = NDArray[np.float64]
KEPT = 32


class PathTorques:
    """Torques of the drives, and their rates if asked for, as functions of a place of a path and of the speed there.

    The place is `p` (order + 1, n), the numbers on the path and their derivatives by x; the speed is `z` (order), which
    has y = x_dot^2, y'/2, y''/2, ...; and t is the time when the robot is there.

    Attributes:
        timed: whether anything depends on the time.
        width: how many torques there are.
    """

    def __init__(self, robot: Robot, chart: Chart, environment: Environment, order: int, rates: bool) -> None:
        graph, n = Graph(), chart.n
        p = [graph.input(f"p{k + 1}") for k in range((order + 1) * n)]
        z = [graph.input(f"z{k + 1}") for k in range(order)]
        t = graph.input("t")
        along = in_time(sqrt(z[0]), z[1:])
        numbers = [composed(p[j::n], along) for j in range(n)]
        motion = [list(x) for x in zip(*numbers, strict=True)]
        motion += [[0.0] * n for _ in range(5 - len(motion))]
        point = Point(robot, motion, 0.0, (), chart, environment, t)
        values = [lift(graph, x) for x in [*point.tau, *(point.tau_dot if rates else ())]]
        self.width, self._count, self._order, self.timed = len(point.tau), len(values), order, not environment.steady
        self._graph, self._leaves, self._results = graph, [tuple(p), tuple(z), (t,)], values
        self._ports = [Port("p", (order + 1, n)), Port("z", (order,)), Port("t", ())]

    @cached_property
    def values(self) -> Callable[..., Any]:
        """(p, z, t) -> torques, then their rates."""
        return self._function("path_torques", [Port("tau", (self._count,))], [self._results])

    @cached_property
    def first(self) -> Callable[..., Any]:
        """(p, z, t) -> the same, and their derivatives by z and t (count, order + 1)."""
        rows = jacobian(self._results, [*self._leaves[1], *self._leaves[2]])
        ports = [Port("tau", (self._count,)), Port("slopes", (self._count, self._order + 1))]
        return self._function("path_torque_slopes", ports, [self._results, [x for row in rows for x in row]])

    def _function(self, name: str, ports: list[Port], results: list[list[Any]]) -> Callable[..., Any]:
        return function(finish(name, self._graph, self._ports, ports, self._leaves, results))


@lru_cache(maxsize=KEPT)
def path_torques(robot: Robot, chart: Chart, environment: Environment, order: int, rates: bool) -> PathTorques:
    """The torques of a robot along paths."""
    return PathTorques(robot, chart, environment, order, rates)
