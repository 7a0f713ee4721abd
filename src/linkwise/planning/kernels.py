"""Rows at an instant as compiled functions of the motion there: values, first and second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError, LinkwiseError
from linkwise.kernel.tracing import (
    Graph,
    Node,
    Port,
    Program,
    along,
    finish,
    function,
    gradient,
    is_zero,
    jacobian,
    lift,
    remembered,
)
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
        numbers: gives them at fractions s (n,) -> (n, width); None if there are none.
    """

    width: int
    point: Callable[[Robot, Sequence[Sequence[Node]], Node, Sequence[Node], Node], Point]
    chart: Chart | None = None
    numbers: Callable[[Array], Array] | None = None


def surroundings(environment: Environment, chart: Chart | None = None) -> Surroundings:
    """The surroundings of a robot in a plan, which are functions of time."""

    def point(robot: Robot, motion: Sequence[Sequence[Node]], s: Node, _: Sequence[Node], t: Node) -> Point:
        return Point(robot, motion, s, (), chart, environment, t)

    return Surroundings(0, point, chart)


AT_REST = surroundings(Environment())


class Traced(NamedTuple):
    """Rows at an instant as expressions, and their first derivatives."""

    graph: Graph
    z: list[Node]
    data: list[Node]
    t: Node
    values: list[Node]
    jacobian: list[list[Any]]
    by_t: list[Any]


class PointKernel:
    """All rows at an instant, as functions of `z` (orders, n), which has q, qd, ... as rows, of `data`, and of time.

    Args:
        robot: what moves.
        rows: groups of them.
        around: what an instant is told besides the motion.
        facts: all that decides the functions, where that has a text: they are kept then, and nothing is traced again.

    Attributes:
        orders: how many derivatives of q the rows depend on, q itself counted.
        timed: whether rows depend on the time t; then it is a further argument, else there is none.
        entries: pairs (row, number on a spline) with a derivative that is not zero by structure, row after row.
    """

    def __init__(self, robot: Robot, rows: Sequence[Rows], around: Surroundings = AT_REST, facts: str = "") -> None:
        self.robot, self.rows, self.around, self._facts = robot, tuple(rows), around, facts
        self.n = (around.chart or chart_of(robot)).n
        self.count = sum(len(r.names) for r in self.rows)
        self.width = 1 + sum(r.width for r in self.rows) + around.width
        notes = self._remembered[1] if facts else self._notes()
        self.orders: int = notes[0]
        self.timed: bool = notes[1]
        self.entries: NDArray[np.intp] = np.array(notes[2], dtype=int).reshape(-1, 2)

    @cached_property
    def _remembered(self) -> tuple[Callable[..., Any], Any]:
        """The function of first derivatives, and what is to be known of it."""

        def make() -> tuple[Program, Any]:
            notes = self._notes()
            self.orders, self.timed, self.entries = notes[0], notes[1], np.array(notes[2], dtype=int)
            return self._first_program(), notes

        return remembered(self._facts, make)

    @cached_property
    def _traced(self) -> Traced:
        graph, orders = Graph(), drives_of(self.robot).orders
        z = [graph.input(f"z{k + 1}") for k in range(orders * self.n)]
        data = [graph.input(f"data{k + 1}") for k in range(self.width)]
        t = graph.input("t")
        motion = [z[d * self.n : (d + 1) * self.n] for d in range(orders)]
        widths = [r.width for r in self.rows]
        point = self.around.point(self.robot, motion, data[0], data[1 + sum(widths) :], t)
        values: list[Any] = []
        for group, end in zip(self.rows, accumulate(widths), strict=True):
            point.data = data[1 + end - group.width : 1 + end]
            values += values_of(group, point)
        found = [lift(graph, v) for v in values]
        whole = _slopes(found, [*z, t], point.known_slopes()) if found else []
        return Traced(graph, z, data, t, found, [row[:-1] for row in whole], [row[-1] for row in whole])

    def _notes(self) -> tuple[int, bool, list[tuple[int, int]]]:
        """Which derivatives of q matter, whether the time does, and the structure of the first derivatives."""
        used = [[k for k, x in enumerate(row) if not is_zero(x)] for row in self._traced.jacobian]
        orders = 1 + max((k // self.n for row in used for k in row), default=0)
        pairs = [(r, j) for r, row in enumerate(used) for j in sorted({k % self.n for k in row})]
        return orders, not all(map(is_zero, self._traced.by_t)), pairs

    @property
    def _leaves(self) -> list[tuple[Node, ...]]:
        found = self._traced
        time = [(found.t,)] if self.timed else []
        return [tuple(found.z[: self.orders * self.n]), tuple(found.data), *time]

    @property
    def _inputs(self) -> list[Port]:
        time = [Port("t", ())] if self.timed else []
        return [Port("z", (self.orders, self.n)), Port("data", (self.width,)), *time]

    def time(self, t: Any) -> tuple[Any, ...]:
        """The further argument t, where rows depend on it."""
        return (t,) if self.timed else ()

    @cached_property
    def values(self) -> Callable[..., Array]:
        """(z, data, *time) -> rows (count)."""
        if self._facts:  # another function would take longer to compile than it could save
            return lambda *inputs: self.first(*inputs)[0]
        return function(self._program("plan_rows", [Port("rows", (self.count,))], [self._traced.values]))

    @cached_property
    def first(self) -> Callable[..., Any]:
        """(z, data, *time) -> rows (count), derivatives (entries, orders), and by time (count) where they have some."""
        return self._remembered[0] if self._facts else function(self._first_program())

    def _first_program(self) -> Program:
        found = self._traced
        flat = [found.jacobian[r][d * self.n + j] for r, j in self.entries for d in range(self.orders)]
        ports = [Port("rows", (self.count,)), Port("slopes", (len(self.entries), self.orders))]
        by_time = [Port("by_time", (self.count,))] if self.timed else []
        results = [found.values, flat, *([found.by_t] if self.timed else [])]
        return self._program("plan_rows_and_slopes", [*ports, *by_time], results)

    @cached_property
    def weighted(self) -> Callable[..., Array]:
        """(z, data, *time, weights) -> the gradient of the weighted sum of rows (orders * n), by time too where timed.

        One sweep backwards: much less than the derivatives of all rows where there are many.
        """
        weights = self._further("weight", self.count)
        ports = [Port("slope", (len(self._variables),))]
        slope = gradient(self._sum(weights), self._variables)
        return function(self._program("plan_weighted", ports, [slope], [(Port("weights", (self.count,)), weights)]))

    @cached_property
    def changes(self) -> Callable[..., Array]:
        """(z, data, *time) -> derivatives of rows in all directions of z, and of time where timed (directions, count).

        A function of one direction is compiled and called for all, as `second` does.
        """
        wide = len(self._variables)
        direction = self._further("direction", wide)
        ports = [Port("change", (self.count,))]
        moved = along(self._traced.values, self._variables, direction)
        change = function(self._program("plan_change", ports, [moved], [(Port("direction", (wide,)), direction)]))
        units = np.eye(wide)

        def changes(z: Array, data: Array, *time: Array) -> Array:
            return change(z[..., None, :, :], data[..., None, :], *(t[..., None] for t in time), units)

        return changes

    @property
    def _variables(self) -> list[Node]:
        """What rows are differentiated by: the motion, and the time where it matters."""
        return [*self._traced.z[: self.orders * self.n], *([self._traced.t] if self.timed else [])]

    def _further(self, name: str, count: int) -> tuple[Node, ...]:
        return tuple(self._traced.graph.input(f"{name}{k + 1}") for k in range(count))

    def _sum(self, weights: Sequence[Node]) -> Any:
        return sum((w * v for w, v in zip(weights, self._traced.values, strict=True)), 0.0)

    @cached_property
    def second(self) -> Callable[..., tuple[Array, Array]]:
        """(z, data, *time, weights) -> gradient (orders * n) and second derivatives (square) of the weighted sum.

        Where rows depend on time, it is one variable more, the last.

        A function of one direction is compiled and called for all: the whole matrix would be a program many times as
        large, and hardly faster.
        """
        z = self._variables
        wide = len(z)
        weights, direction = self._further("weight", self.count), self._further("direction", wide)
        slope = gradient(self._sum(weights), z)
        extra = [(Port("weights", (self.count,)), weights), (Port("direction", (wide,)), direction)]
        ports = [Port("slope", (wide,)), Port("change", (wide,))]
        change = function(self._program("plan_bend", ports, [slope, along(slope, z, direction)], extra))
        units = np.eye(wide)

        def second(z: Array, data: Array, *rest: Array) -> tuple[Array, Array]:
            *time, weights = rest
            late = [t[..., None] for t in time]
            slope, H = change(z[..., None, :, :], data[..., None, :], *late, weights[..., None, :], units)
            return slope[..., 0, :], H

        return second

    def _program(
        self,
        name: str,
        ports: list[Port],
        results: list[list[Any]],
        extra: Sequence[tuple[Port, tuple[Node, ...]]] = (),
    ) -> Program:
        inputs, leaves = [*self._inputs, *(port for port, _ in extra)], [*self._leaves, *(nodes for _, nodes in extra)]
        return finish(name, self._traced.graph, inputs, ports, leaves, results)


def _slopes(values: Sequence[Node], wrt: Sequence[Node], known: Mapping[Node, Sequence[Any]]) -> list[list[Any]]:
    """Derivatives of values; those of some quantities on the way are known."""
    inner = list(known)
    found = []
    for row in jacobian(values, [*wrt, *inner]):
        total = row[: len(wrt)]
        for x, node in zip(row[len(wrt) :], inner, strict=True):
            if not is_zero(x):
                for k, slope in enumerate(known[node]):
                    if not is_zero(slope):
                        total[k] = total[k] + x * slope
        found.append(total)
    return found


def values_of(group: Rows, point: Point) -> list[Any]:
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
