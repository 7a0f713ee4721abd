"""The motion of a base under a planned one, kept with the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.planning.curve import Array

ROWS = 2001  # at which the motion is kept


@dataclass(frozen=True, eq=False)
class Carrier:
    """Velocity, acceleration and jerk of a base, side by side (rows, 18), at even fractions of a motion's time."""

    rows: Array

    @classmethod
    def of(cls, base: Callable[[Array], Array]) -> Carrier:
        """What a function of fractions (n,) -> (n, 18) gives."""
        return cls(np.asarray(base(np.linspace(0.0, 1.0, ROWS)), dtype=float))

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicSpline

        return CubicSpline(np.linspace(0.0, 1.0, len(self.rows)), self.rows)

    def __call__(self, s: Any) -> list[Array]:
        """Velocity, acceleration and jerk (..., 6) at fractions s; those of the ends before and after them."""
        found = self._spline(np.clip(s, 0.0, 1.0))
        return [found[..., k : k + 6] for k in (0, 6, 12)]
