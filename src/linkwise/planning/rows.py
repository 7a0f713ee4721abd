"""Quantities of a motion with a name for each: what constraints bound and objectives add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.point import Point
from linkwise.scalar import Scalar


@dataclass(frozen=True, eq=False)
class Rows:
    """Quantities at an instant, and their bounds.

    Args:
        label: what they are, such as "effort".
        names: of each, such as the joints.
        function: the expressions at a `Point`, as many as names.
        lower: bounds, in the quantity's unit.
        upper: bounds.
        scale: by which violations are measured; solvers see the quantity divided by it.
        at: fractions of the motion's time at which they hold; None for all of it.
        power: 2 where the quantity is the square of what the user bounded.
        data: what `Point.data` is at fractions s (n,) -> (n, width).
        width: of the data.
        bounds: where bounds change along the motion, both at fractions s (n,) -> (n, rows) each.
        price: of the square of a violation, where rows may be broken.
    """

    label: str
    names: tuple[str, ...]
    function: Callable[[Point], Sequence[Scalar]]
    lower: Array = field(default_factory=lambda: np.zeros(0))
    upper: Array = field(default_factory=lambda: np.zeros(0))
    scale: Array = field(default_factory=lambda: np.zeros(0))
    at: tuple[float, ...] | None = None
    power: int = 1
    data: Callable[[Array], Array] | None = None
    width: int = 0
    bounds: Callable[[Array], tuple[Array, Array]] | None = None
    price: float = np.inf

    def limits(self, s: Array) -> tuple[Array, Array]:
        """Lower and upper bounds at fractions of the motion's time (n, rows); rows without any do not count there."""
        if self.bounds is not None:
            return self.bounds(s)
        lower, upper = (np.broadcast_to(x, (len(s), len(self.names))) for x in (self.lower, self.upper))
        return lower, upper

    def unbounded(self) -> Rows:
        """The same quantities, of which nothing is asked."""
        return replace(self, bounds=None, lower=np.array(-np.inf), upper=np.array(np.inf))


@dataclass(frozen=True, eq=False)
class LinearRows:
    """Rows A P of the control points (count * n, point after point), their bounds, and the price of breaking them."""

    label: str
    names: tuple[str, ...]
    matrix: Array
    lower: Array
    upper: Array
    at: float = 0.0
    price: float = np.inf


class RowName(NamedTuple):
    """Which constraint, of what, and at which fraction of the motion's time."""

    label: str
    name: str
    s: float

    @property
    def title(self) -> str:
        return f"{self.label}.{self.name}" if self.name else self.label


def symmetric(label: str, names: Sequence[str], function: Any, bound: Any, **more: Any) -> Rows:
    """Rows with bounds of both signs, measured by them."""
    limit = np.asarray(bound, dtype=float)
    return Rows(label, tuple(names), function, -limit, limit, np.where(limit > 0.0, limit, 1.0), **more)


def beyond(g: Array, lower: Array, upper: Array) -> Array:
    """How far values are outside of bounds; infinite where they are no numbers."""
    over = np.maximum(np.maximum(lower - g, g - upper), 0.0)
    return np.where(np.isnan(over), np.inf, over)
