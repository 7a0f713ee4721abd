"""Derivatives of expressions: sparse forward and reverse, in the same graph, so that they can be taken again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from linkwise.graph.node import Node
from linkwise.scalar import less, where

# partial derivatives of each operation with respect to its arguments, given the node and its arguments
PARTIALS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "add": lambda n, a, b: (1.0, 1.0),
    "sub": lambda n, a, b: (1.0, -1.0),
    "mul": lambda n, a, b: (b, a),
    "div": lambda n, a, b: (n.graph.constant(1.0) / b if b == 0.0 else 1.0 / b, -n / b),
    "neg": lambda n, a: (-1.0,),
    "sqrt": lambda n, a: (0.5 / n,),
    "sin": lambda n, a: (a.cos(),),
    "cos": lambda n, a: (-a.sin(),),
    "exp": lambda n, a: (n,),
    "tanh": lambda n, a: (1.0 - n * n,),
    "atan2": lambda n, y, x: (x / (x * x + y * y), -y / (x * x + y * y)),
    "sign": lambda n, a: (0.0,),
    "abs": lambda n, a: (a.sign(),),
    "min": lambda n, a, b: _chosen(less(a, b)),
    "max": lambda n, a, b: _chosen(less(b, a)),
    "less": lambda n, a, b: (0.0, 0.0),
    "where": lambda n, c, a, b: (0.0, c.where(1.0, 0.0), c.where(0.0, 1.0)),
}


def jacobian(outputs: Sequence[Any], wrt: Sequence[Node], mode: str = "auto") -> list[list[Any]]:
    """Rows of d outputs / d wrt, numbers where they are constant.

    `mode` is "forward" (one sweep that carries all directions), "reverse" (one sweep for each output), or "auto",
    which takes reverse where there are fewer outputs than inputs.
    """
    if mode == "auto":
        mode = "reverse" if len(outputs) <= len(wrt) else "forward"
    return {"forward": forward, "reverse": reverse}[mode](outputs, wrt)


def forward(outputs: Sequence[Any], wrt: Sequence[Node]) -> list[list[Any]]:
    """Derivatives carried along with the values; each node keeps only the directions it depends on."""
    tangents: dict[int, dict[int, Any]] = {w.index: {k: 1.0} for k, w in enumerate(wrt)}
    for n in _live(outputs):
        if n.index in tangents or not n.args:
            continue
        total: dict[int, Any] = {}
        if any(tangents.get(a.index) for a in n.args):
            for a, partial in zip(n.args, PARTIALS[n.op](n, *_values(n.args)), strict=True):
                for k, t in tangents.get(a.index, {}).items():
                    total[k] = total[k] + partial * t if k in total else partial * t
        tangents[n.index] = total
    rows = [tangents.get(o.index, {}) if isinstance(o, Node) else {} for o in outputs]
    return [[row.get(k, 0.0) for k in range(len(wrt))] for row in rows]


def reverse(outputs: Sequence[Any], wrt: Sequence[Node]) -> list[list[Any]]:
    """Adjoints carried backwards from each output in turn; shared expressions are found again by interning."""
    reach = _dependent(outputs, wrt)
    return [gradient(o, wrt, reach) for o in outputs]


def gradient(output: Any, wrt: Sequence[Node], reach: set[int] | None = None) -> list[Any]:
    """d output / d wrt by one reverse sweep."""
    return pulled_back([output], [1.0], wrt, reach)


def pulled_back(
    outputs: Sequence[Any], weights: Sequence[Any], wrt: Sequence[Node], reach: set[int] | None = None
) -> list[Any]:
    """The derivatives of a sum of outputs, each times its weight, by one reverse sweep; weights count as constant."""
    reach = _dependent(outputs, wrt) if reach is None else reach
    adjoint: dict[int, Any] = {}
    for output, weight in zip(outputs, weights, strict=True):
        if isinstance(output, Node):
            adjoint[output.index] = adjoint[output.index] + weight if output.index in adjoint else weight
    stop = {w.index for w in wrt}
    for n in reversed(_live(outputs, stop)):
        bar = adjoint.get(n.index)
        if bar is None or n.index in stop or not n.args:
            continue
        for a, partial in zip(n.args, PARTIALS[n.op](n, *_values(n.args)), strict=True):
            if a.index in reach:
                part = bar * partial
                adjoint[a.index] = adjoint[a.index] + part if a.index in adjoint else part
    return [adjoint.get(w.index, 0.0) for w in wrt]


def along(outputs: Sequence[Any], wrt: Sequence[Node], directions: Sequence[Any]) -> list[Any]:
    """The derivative of the outputs when each of `wrt` changes at the rate given: a time derivative, a tangent."""
    tangent: dict[int, Any] = {w.index: d for w, d in zip(wrt, directions, strict=True)}
    for n in _live(outputs):
        if n.index in tangent or not n.args:
            continue
        total: Any = 0.0
        if any(a.index in tangent for a in n.args):
            for a, partial in zip(n.args, PARTIALS[n.op](n, *_values(n.args)), strict=True):
                if a.index in tangent:
                    total = total + partial * tangent[a.index]
        tangent[n.index] = total
    return [tangent.get(o.index, 0.0) if isinstance(o, Node) else 0.0 for o in outputs]


def _chosen(condition: Any) -> tuple[Any, Any]:
    """The partial derivatives of a choice between two values."""
    return where(condition, 1.0, 0.0), where(condition, 0.0, 1.0)


def _values(args: tuple[Node, ...]) -> list[Any]:
    """Arguments with constants as numbers, so that the rules of simplify see them."""
    return [a.value if a.op == "const" else a for a in args]


def _live(outputs: Sequence[Any], stop: Collection[int] = ()) -> list[Node]:
    """What outputs are made of, in order; not what the nodes are made of at which to stop."""
    seen: dict[int, Node] = {}
    stack = [o for o in outputs if isinstance(o, Node)]
    while stack:
        n = stack.pop()
        if n.index not in seen:
            seen[n.index] = n
            stack.extend(() if n.index in stop else n.args)
    return [seen[k] for k in sorted(seen)]


def _dependent(outputs: Sequence[Any], wrt: Sequence[Node]) -> set[int]:
    """Nodes on some way from `wrt` to the outputs."""
    depends = {w.index for w in wrt}
    for n in _live(outputs):
        if any(a.index in depends for a in n.args):
            depends.add(n.index)
    return depends
