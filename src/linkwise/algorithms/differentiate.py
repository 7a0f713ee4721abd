"""Rates of any algorithm along a motion, by running it on scalars that carry their rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linkwise.jet import Jet, part
from linkwise.mechanism.series import along_motion as along_motion
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


def derivatives(outputs: Sequence[Sequence[Scalar]], k: int) -> list[list[Scalar]]:
    """The k-th derivative of every output."""
    return [[part(x, k) for x in flat] for flat in outputs]
