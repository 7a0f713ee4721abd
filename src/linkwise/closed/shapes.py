"""Arguments as arrays, and batches of any shape as rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.closed.results import Array, Positions
from linkwise.errors import InputError


def floats(value: Any, what: str) -> Array:
    """An array of real numbers."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError
        return array.astype(float, copy=False)
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected an array of real numbers, got {value!r}.") from None


def batch(target: Array, start: Array, numbers: list[Array]) -> tuple[int, ...]:
    """The axes that targets, guesses and parameters have together, each less its last one."""
    shapes = [x.shape[:-1] for x in (target, start, *numbers)]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise InputError(
            f"positions: the leading axes of q_active {shapes[0]} and guess {shapes[1]} do not broadcast."
        ) from None


def rows(x: Array, batch: tuple[int, ...]) -> Array:
    """A copy with the batch as one axis."""
    return np.array(np.broadcast_to(x, (*batch, x.shape[-1]))).reshape(-1, x.shape[-1])


def shaped(flat: Positions, batch: tuple[int, ...]) -> Positions:
    """Positions with the axes of the batch again; a single row is one number, not an array of one."""

    def shape(x: Any) -> Any:
        return x.reshape((*batch, *x.shape[1:]))[()]

    return Positions(*map(shape, flat))
