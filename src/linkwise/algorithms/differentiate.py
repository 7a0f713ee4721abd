"""Rates of any algorithm along a motion, by running it on scalars that carry their rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linkwise.algorithms.integration import q_dot
from linkwise.jet import Jet, part
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar


def time_derivative(
    function: Callable[..., Any], values: Sequence[Sequence[Scalar]], rates: Sequence[Sequence[Scalar]]
) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """The outputs of a function and their rates, when its arguments change at the rates given.

    Args:
        function: of lists of scalars, as many as `values` has; returns sequences of scalars, one for each output.
        values: its arguments.
        rates: of each number in them; of `q` those that `q_dot` gives.
    """
    given = [[Jet(pair) for pair in zip(x, x_dot, strict=True)] for x, x_dot in zip(values, rates, strict=True)]
    outputs = function(*given)
    return derivatives(outputs, 0), derivatives(outputs, 1)


def along_motion(tree: Tree, motion: Sequence[Sequence[Scalar]], order: int) -> list[list[Scalar]]:
    """q, qd, qdd, ... with `order` rates each, of a motion given by q, its velocity, and so many derivatives of it.

    The rates of a floating joint's position and quaternion follow from its velocity.
    """
    q = list(motion[0])
    for k in range(order):
        qd = _with_rates(motion[1:], k)
        (rate,) = q_dot.function(tree, q, qd)
        found = zip(motion[0], *(([part(x, j) for x in rate]) for j in range(k + 1)), strict=True)
        q = [Jet.of(derivatives) for derivatives in found]
    return [q, *(_with_rates(motion[j:], order) for j in range(1, len(motion) - order))]


def _with_rates(derivatives: Sequence[Sequence[Scalar]], order: int) -> list[Scalar]:
    """The first of some vectors, with the others as its rates."""
    return [Jet.of(x) for x in zip(*derivatives[: order + 1], strict=True)]


def derivatives(outputs: Sequence[Sequence[Scalar]], k: int) -> list[list[Scalar]]:
    """The k-th derivative of every output."""
    return [[part(x, k) for x in flat] for flat in outputs]
