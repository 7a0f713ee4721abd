"""Quantities of a motion with a name for each: what constraints bound and objectives add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

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

    def title(self, k: int) -> str:
        """The name of one of them."""
        return f"{self.label}.{self.names[k]}" if self.names[k] else self.label


@dataclass(frozen=True, eq=False)
class LinearRows:
    """Rows A P of the control points (count * n, point after point), and their bounds."""

    label: str
    names: tuple[str, ...]
    matrix: Array
    lower: Array
    upper: Array
    at: float = 0.0

    def title(self, k: int) -> str:
        """The name of one of them."""
        return f"{self.label}.{self.names[k]}"


def symmetric(label: str, names: Sequence[str], function: Any, bound: Any, **more: Any) -> Rows:
    """Rows with bounds of both signs, measured by them."""
    limit = np.asarray(bound, dtype=float)
    return Rows(label, tuple(names), function, -limit, limit, np.where(limit > 0.0, limit, 1.0), **more)
