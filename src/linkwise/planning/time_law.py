"""How a parameter moves in time when its squared speed is a quadratic on each interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TimeLaw:
    """x(t) with x_dot^2 = a + b (x - x_k) + c (x - x_k)^2 from x_k to x_{k+1}.

    Then x_ddot = b/2 + c (x - x_k) is linear, and the motion is known in closed form: with r = sqrt(c)

        x - x_k = sqrt(a) sinh(r t)/r + (b/2) (cosh(r t) - 1)/r^2,
        tanh(r t/2)/r = (x - x_k) / (sqrt(a) + x_dot),

    where circular functions stand for c < 0 and polynomials for c = 0.

    Args:
        x: ends of the intervals (n + 1).
        a, b, c: coefficients (n).
    """

    x: Array
    a: Array
    b: Array
    c: Array

    @cached_property
    def t(self) -> Array:
        """The times (n + 1) of the ends of the intervals."""
        h = np.diff(self.x)
        last = np.maximum(self.a + h * (self.b + h * self.c), 0.0)
        half = h / (np.sqrt(self.a) + np.sqrt(last))
        square = self.c * half * half
        root = np.sqrt(np.abs(square))
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(square > 0.0, np.arctanh(root), np.arctan(root)) / root
        times = 2.0 * half * np.where(np.abs(square) < 1e-8, 1.0 + square / 3.0, ratio)
        return np.concatenate([[0.0], np.cumsum(times)])

    @property
    def duration(self) -> float:
        """The time from the first x to the last."""
        return float(self.t[-1])

    def slowed(self, factor: float) -> TimeLaw:
        """The same motion, so many times slower."""
        k = factor**-2
        return TimeLaw(self.x, k * self.a, k * self.b, k * self.c)

    def at_places(self, x: Array) -> tuple[Array, Array, Array]:
        """x_dot, x_ddot and x_dddot at places x (rows,) within the law's ends."""
        k = np.clip(np.searchsorted(self.x, x, side="right") - 1, 0, len(self.a) - 1)
        along = x - self.x[k]
        speed = np.sqrt(np.maximum(self.a[k] + along * (self.b[k] + along * self.c[k]), 0.0))
        return speed, 0.5 * self.b[k] + self.c[k] * along, self.c[k] * speed

    def __call__(self, t: Any) -> tuple[Array, Array, Array, Array]:
        """x, x_dot, x_ddot and x_dddot at times (rows,), held at the ends before and after."""
        time = np.clip(np.asarray(t, dtype=float), 0.0, self.duration)
        k = np.clip(np.searchsorted(self.t, time, side="right") - 1, 0, len(self.a) - 1)
        tau, a, b, c = time - self.t[k], self.a[k], self.b[k], self.c[k]
        root = np.sqrt(np.abs(c)) * tau
        up, small = c > 0.0, root < 1e-4
        safe = np.where(small, 1.0, root)
        square = np.sign(c) * root * root
        with np.errstate(over="ignore"):
            sine = np.where(small, 1.0 + square / 6.0, np.where(up, np.sinh(safe), np.sin(safe)) / safe) * tau
            half = np.where(small, 1.0 + square / 24.0, np.where(up, np.sinh(safe / 2), np.sin(safe / 2)) * 2 / safe)
        bend = 0.5 * (half * tau) ** 2  # (cosh(r t) - 1) / r^2
        start = np.sqrt(a)
        along = start * sine + 0.5 * b * bend
        speed = start * (1.0 + c * bend) + 0.5 * b * sine
        return np.minimum(self.x[k] + along, self.x[k + 1]), speed, 0.5 * b + c * along, c * speed


class Solved(NamedTuple):
    """A time law, the times of the iterates on the way to it, and whether the last is the best there is."""

    law: TimeLaw
    history: tuple[float, ...]
    converged: bool
