"""Rows at an instant as compiled functions of the motion there: values, first and second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.backend.native import function
from linkwise.errors import InputError, LinkwiseError
from linkwise.graph.derivative import gradient, jacobian
from linkwise.graph.node import Graph, Node, lift
from linkwise.graph.program import Port, Program, finish
from linkwise.plan.curve import Array
from linkwise.plan.point import ORDERS, Point
from linkwise.plan.rows import Rows
from linkwise.robot.robot import Robot

BASE = 18  # velocity, acceleration and jerk of the base


class PointKernel:
    """All rows at an instant, as functions of `z` (orders, n), which has q, qd, ... as rows, and of `data`.

    Attributes:
        orders: how many derivatives of q the rows depend on, q itself counted.
        entries: pairs (row, joint) with a derivative that is not zero by structure.
    """

    def __init__(self, robot: Robot, rows: Sequence[Rows], moving_base: bool = False) -> None:
        self.n, self.rows = len(robot.names), tuple(rows)
        widths = [r.width for r in self.rows]
        self.moving_base = moving_base
        self.width = 1 + sum(widths) + (BASE if moving_base else 0)
        graph = Graph()
        z = [graph.input(f"z{k + 1}") for k in range(ORDERS * self.n)]
        data = [graph.input(f"data{k + 1}") for k in range(self.width)]
        motion = [z[d * self.n : (d + 1) * self.n] for d in range(ORDERS)]
        base = [data[-BASE:][k : k + 6] for k in (0, 6, 12)] if moving_base else []
        shared = Point(robot, motion, data[0], (), base)
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
        used = [k // n for row in self._jacobian for k, x in enumerate(row) if not _is_zero(x)]
        self.orders = 1 + max(used, default=0)
        pairs = []
        for r, row in enumerate(self._jacobian):
            joints = {k % n for k, x in enumerate(row) if not _is_zero(x)}
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
    def second(self) -> Callable[..., Any]:
        """(z, data, weights) -> gradient (orders * n) and second derivatives (lower triangle) of the weighted sum."""
        graph, wide = self._graph, self.orders * self.n
        weights = [graph.input(f"weight{k + 1}") for k in range(self.count)]
        total = sum((w * v for w, v in zip(weights, self._values, strict=True)), 0.0)
        slope = gradient(total, self._z[:wide])
        curvature = jacobian(slope, self._z[:wide], "forward")
        flat = [curvature[a][b] for a in range(wide) for b in range(a + 1)]
        ports = [Port("slope", (wide,)), Port("curvature", (len(flat),))]
        extra = (Port("weights", (self.count,)), tuple(weights))
        return self._function("plan_curvature", ports, [slope, flat], extra)

    def _function(
        self, name: str, ports: list[Port], results: list[list[Any]], extra: tuple[Port, tuple[Node, ...]] | None = None
    ) -> Callable[..., Any]:
        inputs, leaves = list(self._inputs), list(self._leaves)
        if extra:
            inputs.append(extra[0])
            leaves.append(extra[1])
        program: Program = finish(name, self._graph, inputs, ports, leaves, results)
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


def _is_zero(x: Any) -> bool:
    return (not isinstance(x, Node) and x == 0.0) or (isinstance(x, Node) and x.op == "const" and x.value == 0.0)
