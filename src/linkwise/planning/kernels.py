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
from linkwise.planning.chart import Chart, chart_of
from linkwise.planning.curve import Array
from linkwise.planning.point import ORDERS, Point
from linkwise.planning.rows import Rows
from linkwise.robot.robot import Robot

WIDE = 64  # variables of an instant above which second derivatives are taken direction by direction


class Surroundings(NamedTuple):
    """What an instant is told besides the motion.

    Args:
        width: how many numbers.
        point: the instant, from robot, motion, fraction of time and those numbers.
        chart: what the numbers on splines are; those of `chart_of` if not given.
    """

    width: int
    point: Callable[[Robot, Sequence[Sequence[Node]], Node, Sequence[Node]], Point]
    chart: Chart | None = None


def at_rest(chart: Chart | None = None) -> Surroundings:
    """A base that stands still."""
    return Surroundings(0, lambda robot, motion, s, _: Point(robot, motion, s, chart=chart), chart)


def moving_base(chart: Chart | None = None) -> Surroundings:
    """A base of which velocity, acceleration and jerk are told."""

    def point(robot: Robot, motion: Sequence[Sequence[Node]], s: Node, x: Sequence[Node]) -> Point:
        return Point(robot, motion, s, (), [x[:6], x[6:12], x[12:]], chart)

    return Surroundings(18, point, chart)


AT_REST = at_rest()


class PointKernel:
    """All rows at an instant, as functions of `z` (orders, n), which has q, qd, ... as rows, and of `data`.

    Attributes:
        orders: how many derivatives of q the rows depend on, q itself counted.
        entries: pairs (row, number on a spline) with a derivative that is not zero by structure.
    """

    def __init__(self, robot: Robot, rows: Sequence[Rows], around: Surroundings = AT_REST) -> None:
        self.n, self.rows = (around.chart or chart_of(robot)).n, tuple(rows)
        widths = [r.width for r in self.rows]
        self.width = 1 + sum(widths) + around.width
        graph = Graph()
        z = [graph.input(f"z{k + 1}") for k in range(ORDERS * self.n)]
        data = [graph.input(f"data{k + 1}") for k in range(self.width)]
        motion = [z[d * self.n : (d + 1) * self.n] for d in range(ORDERS)]
        shared = around.point(robot, motion, data[0], data[1 + sum(widths) :])
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
        self._jacobian = jacobian(self._values, self._z) if self._values else []
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
        return [tuple(self._z[: self.orders * self.n]), tuple(self._data)]

    @cached_property
    def _inputs(self) -> list[Port]:
        return [Port("z", (self.orders, self.n)), Port("data", (self.width,))]

    @cached_property
    def values(self) -> Callable[..., Array]:
        """(z, data) -> rows (count)."""
        return self._function("plan_rows", [Port("rows", (self.count,))], [self._values])

    @cached_property
    def first(self) -> Callable[..., Any]:
        """(z, data) -> rows (count), and derivatives (entries, orders)."""
        flat = [self._jacobian[r][d * self.n + j] for r, j in self.entries for d in range(self.orders)]
        ports = [Port("rows", (self.count,)), Port("slopes", (len(self.entries), self.orders))]
        return self._function("plan_rows_and_slopes", ports, [self._values, flat])

    @cached_property
    def second(self) -> Callable[[Array, Array, Array], tuple[Array, Array]]:
        """(z, data, weights) -> gradient (orders * n) and second derivatives (orders * n square) of the weighted sum.

        Where there are many variables a function of one direction is compiled and called for all, for the whole matrix
        would be a program too large.
        """
        graph, wide = self._graph, self.orders * self.n
        weights = [graph.input(f"weight{k + 1}") for k in range(self.count)]
        total = sum((w * v for w, v in zip(weights, self._values, strict=True)), 0.0)
        z = self._z[:wide]
        slope = gradient(total, z)
        extra = [(Port("weights", (self.count,)), tuple(weights))]
        if wide > WIDE:
            direction = [graph.input(f"direction{k + 1}") for k in range(wide)]
            extra.append((Port("direction", (wide,)), tuple(direction)))
            ports = [Port("slope", (wide,)), Port("change", (wide,))]
            change = self._function("plan_bend", ports, [slope, along(slope, z, direction)], extra)
            every = np.eye(wide)

            def by_directions(z: Array, data: Array, weights: Array) -> tuple[Array, Array]:
                slope, H = change(z[..., None, :, :], data[..., None, :], weights[..., None, :], every)
                return slope[..., 0, :], H

            return by_directions
        curvature = jacobian(slope, z, "forward")
        a, b = np.tril_indices(wide)
        flat = [curvature[i][j] for i, j in zip(a.tolist(), b.tolist(), strict=True)]
        ports = [Port("slope", (wide,)), Port("curvature", (len(flat),))]
        triangle = self._function("plan_curvature", ports, [slope, flat], extra)

        def whole(z: Array, data: Array, weights: Array) -> tuple[Array, Array]:
            slope, lower = triangle(z, data, weights)
            H = np.zeros((*lower.shape[:-1], wide, wide))
            H[..., a, b] = H[..., b, a] = lower
            return slope, H

        return whole

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
