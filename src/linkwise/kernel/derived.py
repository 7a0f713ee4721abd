"""Algorithms evaluated on a graph, and differentiated there where they are derivatives of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from linkwise.algorithms.algorithm import INPUTS, REQUIRED, Algorithm, Cheapest, Derivation
from linkwise.errors import InputError
from linkwise.graph.derivative import along, gradient, jacobian

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine

Named = Mapping[str, Sequence[Any]]  # the nodes of each input
STATE = ("q", "qd", "qdd")


def evaluate(
    algorithm: Algorithm,
    machine: AnyMachine,
    named: Named,
    surroundings: Mapping[str, Any],
    arguments: Mapping[str, Any],
) -> Sequence[Sequence[Any]]:
    """The outputs of an algorithm, flat, on nodes of a graph."""
    derives = algorithm.derives
    if derives is None or not (derives.asked or arguments.get("route", "graph") == "graph"):
        inputs = [named[name] for name in algorithm.signature(arguments)[0]]
        return algorithm.function(machine, *inputs, **surroundings, **arguments)
    base = derives.base
    own = arguments if derives.asked else {k: _chosen(v, arguments.get(k)) for k, v in base.static.items()}
    outputs = base.signature(own)[1]
    values = dict(zip(outputs, evaluate(base, machine, named, surroundings, own), strict=True))
    return _KINDS[derives.kind](machine, named, values, derives)


def _chosen(default: Any, given: Any) -> Any:
    """A static argument of what is differentiated: its own, or where it has none that of the derivative."""
    return given if default is REQUIRED else default[0] if isinstance(default, Cheapest) else default


def _jacobians(machine: AnyMachine, named: Named, values: Named, derives: Derivation) -> list[list[Any]]:
    """The derivatives of outputs by inputs, with those of one output taken together."""
    found: dict[tuple[str, str], list[Any]] = {}
    for output in dict.fromkeys(output for output, _ in derives.pairs):
        wanted = [x for o, x in derives.pairs if o == output]
        for x in wanted:
            if x not in named:
                raise InputError(
                    f"derivative by {x}: {derives.base.name} is compiled without that input."
                    f" Add the option of lw.compile that makes it one; its inputs are {', '.join(named)}."
                )
        leaves = [leaf for x in wanted for leaf in _leaves_of(machine, named, x)]
        rows = jacobian(values[output], leaves, "reverse" if derives.kind == "rows" else "auto")
        at = 0
        for x in wanted:
            width = len(_leaves_of(machine, named, x))
            parts = [row[at : at + width] for row in rows]
            if INPUTS.get(x) == INPUTS["q"]:
                parts = [along_tangents(machine, named[x], part) for part in parts]
            found[output, x] = [entry for part in parts for entry in part]
            at += width
    return [found[pair] for pair in derives.pairs]


def _hessian(machine: AnyMachine, named: Named, values: Named, derives: Derivation) -> list[list[Any]]:
    """Second derivatives of a weighted sum by q, qd and qdd."""
    slope = _slope(machine, named, _weighted(named, values, derives))
    rows = [_all_tangents(machine, named, row) for row in jacobian(slope, _leaves(machine, named), "forward")]
    return [[_symmetric(machine, rows, i, j) for i in range(len(rows)) for j in range(len(rows))]]


def _hessian_vector(machine: AnyMachine, named: Named, values: Named, derives: Derivation) -> list[list[Any]]:
    """Second derivatives of a weighted sum, times a direction."""
    slope = _slope(machine, named, _weighted(named, values, derives))
    n, direction = machine.nv, named["direction"]
    rate = machine.leaf_rates(named["q"], direction[:n])
    change = along(slope, _leaves(machine, named), [*rate, *direction[n:]])
    if not _is_curved(machine):
        return [change]
    other = _slope(machine, named, sum(d * g for d, g in zip(direction, slope, strict=True)))
    return [[(a + b) * 0.5 for a, b in zip(change, other, strict=True)]]


def _linearization(machine: AnyMachine, named: Named, values: Named, derives: Derivation) -> Sequence[Sequence[Any]]:
    """The system matrices of the derivatives of accelerations."""
    from linkwise.algorithms.linearization import system  # for one algorithm alone

    return system(machine, named["qd"], *_jacobians(machine, named, values, derives))


_KINDS = {
    "jacobian": _jacobians,
    "rows": _jacobians,
    "hessian": _hessian,
    "hessian_vector": _hessian_vector,
    "linearization": _linearization,
}


def _weighted(named: Named, values: Named, derives: Derivation) -> Any:
    ((output, weights),) = derives.pairs
    return sum((w * x for w, x in zip(named[weights], values[output], strict=True)), 0.0)


def _leaves(machine: AnyMachine, named: Named) -> list[Any]:
    return [leaf for x in STATE for leaf in _leaves_of(machine, named, x)]


def _leaves_of(machine: AnyMachine, named: Named, x: str) -> list[Any]:
    """What an input's change is seen by: its own numbers, and with positions all that Newton's method found."""
    return [*named[x], *(machine.unknowns if x == "q" else ())]


def _slope(machine: AnyMachine, named: Named, value: Any) -> list[Any]:
    """The gradient of a number by q (tangent), qd and qdd."""
    return _all_tangents(machine, named, gradient(value, _leaves(machine, named)))


def _all_tangents(machine: AnyMachine, named: Named, row: list[Any]) -> list[Any]:
    nq = len(_leaves_of(machine, named, "q"))
    return [*along_tangents(machine, named["q"], row[:nq]), *row[nq:]]


def along_tangents(machine: AnyMachine, q: Sequence[Any], row: Sequence[Any]) -> list[Any]:
    """Derivatives along tangent vectors of what leads, from those by the numbers in q and by what follows."""
    found = []
    for k in range(machine.nv):
        rates = machine.leaf_rates(q, [1.0 if j == k else 0.0 for j in range(machine.nv)])
        found.append(sum((rate * x for rate, x in zip(rates, row, strict=False)), 0.0))
    return found


def _symmetric(machine: AnyMachine, rows: list[list[Any]], i: int, j: int) -> Any:
    """One entry of a Hessian: that of the value at q moved along a tangent vector, which is symmetric."""
    if _is_curved(machine):
        return (rows[i][j] + rows[j][i]) * 0.5
    return rows[max(i, j)][min(i, j)]


def _is_curved(machine: AnyMachine) -> bool:
    return any(kind.curved for kind, _, _ in machine.coordinates)
