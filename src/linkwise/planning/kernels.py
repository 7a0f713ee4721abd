"""Rows at an instant as compiled functions of the motion there: values, first and second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError, LinkwiseError
from linkwise.kernel.tracing import Graph, Node, Port, along, finish, function, gradient, is_zero, jacobian, lift
from linkwise.motion.environment import Environment
from linkwise.planning.chart import Chart, chart_of
from linkwise.planning.curve import Array
from linkwise.planning.drives import drives_of
from linkwise.planning.point import Point
from linkwise.planning.rows import Rows
from linkwise.robot.robot import Robot


class Surroundings(NamedTuple):
    """What an instant is told besides the motion.

    Args:
        width: how many numbers.
        point: the instant, from robot, motion, fraction of time, those numbers, and the time.
        chart: what the numbers on splines are; those of `chart_of` if not given.
    """

    width: int
    point: Callable[[Robot, Sequence[Sequence[Node]], Node, Sequence[Node], Node], Point]
    chart: Chart | None = None


def surroundings(environment: Environment, chart: Chart | None = None) -> Surroundings:
    """Those of a robot that planning knows: functions of time."""

    def point(robot: Robot, motion: Sequence[Sequence[Node]], s: Node, _: Sequence[Node], t: Node) -> Point:
        return Point(robot, motion, s, (), chart, environment, t)

    return Surroundings(0, point, chart)


AT_REST = surroundings(Environment())


class PointKernel:
    """All rows at an instant, as functions of `z` (orders, n), which has q, qd, ... as rows, of `data`, and of time.

    Attributes:
        orders: how many derivatives of q the rows depend on, q itself counted.
        timed: whether rows depend on the time t; then it is a further argument, else there is none.
        entries: pairs (row, number on a spline) with a derivative that is not zero by structure.
    """

    def __init__(self, robot: Robot, rows: Sequence[Rows], around: Surroundings = AT_REST) -> None:
        self.n, self.rows = (around.chart or chart_of(robot)).n, tuple(rows)
        widths = [r.width for r in self.rows]
        self.width = 1 + sum(widths) + around.width
        graph = Graph()
        orders = drives_of(robot).orders
        z = [graph.input(f"z{k + 1}") for k in range(orders * self.n)]
        data = [graph.input(f"data{k + 1}") for k in range(self.width)]
        self._t = graph.input("t")
        motion = [z[d * self.n : (d + 1) * self.n] for d in range(orders)]
        shared = around.point(robot, motion, data[0], data[1 + sum(widths) :], self._t)
        values: list[Any] = []
        for group, end in zip(self.rows, accumulate(widths), strict=True):
            shared.data = data[1 + end - group.width : 1 + end]
            values += _values(group, shared)
        self._graph, self._z, self._data = graph, z, data
        self._values = [lift(graph, v) for v in values]
        self.count = len(values)
        self._find_entries()

    def _find_entries(self) -> None:
        """The structure of the first derivatives, and which derivatives of q matter."""
        whole = jacobian(self._values, [*self._z, self._t]) if self._values else []
        self._jacobian, self._by_t = [row[:-1] for row in whole], [row[-1] for row in whole]
        self.timed = not all(map(is_zero, self._by_t))
        n = self.n
        used = [k // n for row in self._jacobian for k, x in enumerate(row) if not is_zero(x)]
        self.orders = 1 + max(used, default=0)
        pairs = []
        for r, row in enumerate(self._jacobian):
            joints = {k % n for k, x in enumerate(row) if not is_zero(x)}
            pairs += [(r, j) for j in sorted(joints)]
        self.entries: NDArray[np.intp] = np.array(pairs, dtype=int).reshape(-1, 2)

    @cached_property
    def _leaves(self) -> list[tuple[Node, ...]]:
        return [tuple(self._z[: self.orders * self.n]), tuple(self._data), *([(self._t,)] if self.timed else [])]

    @cached_property
    def _inputs(self) -> list[Port]:
        time = [Port("t", ())] if self.timed else []
        return [Port("z", (self.orders, self.n)), Port("data", (self.width,)), *time]

    def time(self, t: Any) -> tuple[Any, ...]:
        """The further argument t, where rows depend on it."""
        return (t,) if self.timed else ()

    @cached_property
    def values(self) -> Callable[..., Array]:
        """(z, data, *time) -> rows (count)."""
        return self._function("plan_rows", [Port("rows", (self.count,))], [self._values])

    @cached_property
    def first(self) -> Callable[..., Any]:
        """(z, data, *time) -> rows (count), derivatives (entries, orders), and by time (count) where they have some."""
        flat = [self._jacobian[r][d * self.n + j] for r, j in self.entries for d in range(self.orders)]
        ports = [Port("rows", (self.count,)), Port("slopes", (len(self.entries), self.orders))]
        if not self.timed:
            return self._function("plan_rows_and_slopes", ports, [self._values, flat])
        ports.append(Port("by_time", (self.count,)))
        return self._function("plan_rows_and_slopes", ports, [self._values, flat, self._by_t])

    @cached_property
    def second(self) -> Callable[..., tuple[Array, Array]]:
        """(z, data, *time, weights) -> gradient (orders * n) and second derivatives (square) of the weighted sum.

        Where rows depend on time, it is one variable more, the last.

        A function of one direction is compiled and called for all: the whole matrix would be a program many times as
        large, and hardly faster.
        """
        z = [*self._z[: self.orders * self.n], *([self._t] if self.timed else [])]
        graph, wide = self._graph, len(z)
        weights = [graph.input(f"weight{k + 1}") for k in range(self.count)]
        direction = [graph.input(f"direction{k + 1}") for k in range(wide)]
        slope = gradient(sum((w * v for w, v in zip(weights, self._values, strict=True)), 0.0), z)
        extra = [(Port("weights", (self.count,)), tuple(weights)), (Port("direction", (wide,)), tuple(direction))]
        ports = [Port("slope", (wide,)), Port("change", (wide,))]
        change = self._function("plan_bend", ports, [slope, along(slope, z, direction)], extra)
        every = np.eye(wide)

        def second(z: Array, data: Array, *rest: Array) -> tuple[Array, Array]:
            *time, weights = rest
            late = [t[..., None] for t in time]
            slope, H = change(z[..., None, :, :], data[..., None, :], *late, weights[..., None, :], every)
            return slope[..., 0, :], H

        return second

    def _function(
        self,
        name: str,
        ports: list[Port],
        results: list[list[Any]],
        extra: Sequence[tuple[Port, tuple[Node, ...]]] = (),
    ) -> Callable[..., Any]:
        inputs, leaves = [*self._inputs, *(port for port, _ in extra)], [*self._leaves, *(nodes for _, nodes in extra)]
        program = finish(name, self._graph, inputs, ports, leaves, results)
        return function(program)


def _values(group: Rows, point: Point) -> list[Any]:
    """The expressions of a group, as many as it has names."""
    try:
        found = group.function(point)
    except LinkwiseError:
        raise
    except (TypeError, ValueError, AttributeError, IndexError, KeyError) as error:
        raise InputError(
            f"{group.label}: expected a function of a point written with operators and linkwise.scalar,"
            f" got {type(error).__name__}: {error}."
        ) from error
    flat = list(found) if isinstance(found, (list, tuple)) else [found]
    if not all(isinstance(v, (Node, int, float)) for v in flat):
        raise InputError(f"{group.label}: expected an expression from the function of a point, got {flat[0]!r}.")
    if len(flat) != len(group.names):
        raise InputError(f"{group.label}: expected {len(group.names)} values, got {len(flat)}.")
    return flat
