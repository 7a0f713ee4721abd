"""Interned expressions: equal expressions are one node, and trivial arithmetic is folded as it is written."""

from __future__ import annotations

from math import inf
from typing import Any

from linkwise.errors import LinkwiseError
from linkwise.graph import simplify
from linkwise.graph.op import OPS


class TooLargeError(LinkwiseError):
    """A graph that has outgrown its limit."""


class Graph:
    """Expressions under construction. Nodes are numbered in the order they were made, arguments first."""

    __slots__ = ("_constants", "_table", "dtype", "limit", "names", "nodes")

    def __init__(self, limit: float = inf, dtype: str = "float64") -> None:
        self.limit, self.dtype = limit, dtype
        self.nodes: list[Node] = []
        self.names: dict[int, str] = {}
        self._table: dict[tuple[Any, ...], Node] = {}
        self._constants: dict[float, Node] = {}

    def constant(self, value: float) -> Node:
        """The node of a number; zero has no sign."""
        value += 0.0
        node = self._constants.get(value)
        if node is None:
            node = self._constants[value] = self._new("const", (), value)
        return node

    def input(self, name: str) -> Node:
        """A new input; its text is its name."""
        return self._new("input", (), name)

    def apply(self, op: str, *args: Node) -> Node:
        """The node of that operation, made if there is none yet; no rule is applied."""
        key = (op, *[a.index for a in args])
        node = self._table.get(key)
        if node is None:
            node = self._table[key] = self._new(op, args, None)
        return node

    def apply2(self, op: str, a: Node, b: Node) -> Node:
        """As `apply`, for the two arguments that most operations have."""
        key = (op, a.index, b.index)
        node = self._table.get(key)
        if node is None:
            nodes = self.nodes
            index = len(nodes)
            if index >= self.limit:
                raise TooLargeError(f"more than {self.limit} expressions")
            node = self._table[key] = Node(self, index, op, (a, b), None)
            nodes.append(node)
        return node

    def _new(self, op: str, args: tuple[Node, ...], value: Any) -> Node:
        nodes = self.nodes
        index = len(nodes)
        if index >= self.limit:
            raise TooLargeError(f"more than {self.limit} expressions")
        node = Node(self, index, op, args, value)
        nodes.append(node)
        return node


class Node:
    """A value known when the kernel runs. Arithmetic returns a node, or a float where the result is known now."""

    __slots__ = ("args", "graph", "index", "op", "value")

    def __init__(self, graph: Graph, index: int, op: str, args: tuple[Node, ...], value: Any) -> None:
        self.graph, self.index, self.op, self.args, self.value = graph, index, op, args, value

    @property
    def dtype(self) -> str:
        """The kind of numbers that it stands for."""
        return self.graph.dtype

    def __add__(self, other: Any) -> Any:
        if type(other) is float and other == 0.0:
            return self
        try:
            return simplify.add(self.graph, self, other)
        except AttributeError:
            return _foreign(other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        try:
            return simplify.sub(self.graph, self, other)
        except AttributeError:
            return _foreign(other)

    def __rsub__(self, other: Any) -> Any:
        return simplify.sub(self.graph, other, self)

    def __mul__(self, other: Any) -> Any:
        if type(other) is float and other == 0.0:  # of every second product of matrices with known zeros
            return 0.0
        try:
            return simplify.mul(self.graph, self, other)
        except AttributeError:
            return _foreign(other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        try:
            return simplify.div(self.graph, self, other)
        except AttributeError:
            return _foreign(other)

    def __rtruediv__(self, other: Any) -> Any:
        return simplify.div(self.graph, other, self)

    def __neg__(self) -> Any:
        return simplify.neg(self.graph, self)

    def __pow__(self, power: int) -> Any:
        if not isinstance(power, int):
            raise TypeError("only whole powers can be traced; use sqrt and exp for others")
        result: Any = 1.0
        for _ in range(abs(power)):
            result = result * self
        return result if power >= 0 else 1.0 / result

    def __abs__(self) -> Any:
        return self.graph.apply("abs", self)

    def sqrt(self) -> Any:
        return self.graph.apply("sqrt", self)

    def sin(self) -> Any:
        return self.graph.apply("sin", self)

    def cos(self) -> Any:
        return self.graph.apply("cos", self)

    def exp(self) -> Any:
        return self.graph.apply("exp", self)

    def tanh(self) -> Any:
        return self.graph.apply("tanh", self)

    def atan2(self, x: Any) -> Any:
        return self.graph.apply("atan2", self, lift(self.graph, x))

    def atan2_of(self, y: Any) -> Any:
        return self.graph.apply("atan2", lift(self.graph, y), self)

    def sign(self) -> Any:
        return self.graph.apply("sign", self)

    def minimum(self, other: Any) -> Any:
        return self.graph.apply("min", self, lift(self.graph, other))

    def maximum(self, other: Any) -> Any:
        return self.graph.apply("max", self, lift(self.graph, other))

    def less(self, other: Any) -> Any:
        return self.graph.apply("less", self, lift(self.graph, other))

    def greater(self, other: Any) -> Any:
        return self.graph.apply("less", lift(self.graph, other), self)

    def where(self, a: Any, b: Any) -> Any:
        if a is b:
            return a
        return self.graph.apply("where", self, lift(self.graph, a), lift(self.graph, b))

    def named(self, name: str) -> None:
        """Give this value a name for listings; the first name stays."""
        if self.op not in ("const", "input"):
            self.graph.names.setdefault(self.index, name)

    def __bool__(self) -> bool:
        raise TypeError("a traced value has no truth of its own while tracing: use scalar.where and scalar.less")

    __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: self.__bool__()

    def __float__(self) -> float:
        raise TypeError("a traced value has no number while tracing: use the functions of linkwise.scalar")

    def __repr__(self) -> str:
        if self.op in ("const", "input"):
            return str(self.value)
        return OPS[self.op].text.format(*(f"t{a.index}" if a.args else repr(a) for a in self.args))


def _foreign(other: Any) -> Any:
    """How arithmetic leaves the answer to the other operand: one that holds expressions, such as a series of them."""
    if isinstance(other, (Node, int, float)):
        raise
    return NotImplemented


def is_zero(x: Any) -> bool:
    """Whether a node or a number is zero whatever the inputs are: a structural zero."""
    return bool(x.value == 0.0) if isinstance(x, Node) else bool(x == 0.0)


def lift(graph: Graph, x: Any) -> Node:
    """The node of x, made for a number."""
    return x if isinstance(x, Node) else graph.constant(float(x))
