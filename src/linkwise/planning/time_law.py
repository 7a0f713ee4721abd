"""How a parameter moves in time when its squared speed is a polynomial on each interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)
STEPS = 6  # of Newton's method, from a time to its place
LEAST = 1e-300  # of a squared speed


@dataclass(frozen=True, eq=False)
class TimeLaw:
    """x(t) with x_dot^2 = y = y_0 + y_1 (x - x_k) + y_2 (x - x_k)^2 + ... from x_k to x_{k+1}.

    For quadratics x_ddot = y_1/2 + y_2 (x - x_k) is linear, and the motion is known in closed form: with r = sqrt(y_2)

        x - x_k = sqrt(y_0) sinh(r t)/r + (y_1/2) (cosh(r t) - 1)/r^2,
        tanh(r t/2)/r = (x - x_k) / (sqrt(y_0) + x_dot),

    where circular functions stand for y_2 < 0 and polynomials for y_2 = 0. Polynomials of higher degree are integrated
    by Gauss's rule.

    Args:
        x: ends of the intervals (n + 1).
        y: coefficients (degree + 1, n), at least three.
    """

    x: Array
    y: Array

    @cached_property
    def t(self) -> Array:
        """The times (n + 1) of the ends of the intervals."""
        h = np.diff(self.x)
        return np.concatenate([[0.0], np.cumsum(self._elapsed(np.arange(len(h)), h))])

    @property
    def duration(self) -> float:
        """The time from the first x to the last."""
        return float(self.t[-1])

    def slowed(self, factor: float) -> TimeLaw:
        """The same motion, so many times slower."""
        return TimeLaw(self.x, factor**-2 * self.y)

    def at_places(self, x: Array) -> Array:
        """x_dot^2 = y, y'/2, y''/2, ... at places x (rows,) within the law's ends, as many as y has coefficients."""
        k = np.clip(np.searchsorted(self.x, x, side="right") - 1, 0, self.y.shape[1] - 1)
        return self._state(k, x - self.x[k])

    def times(self, x: Array) -> Array:
        """When the parameter is at places x (rows,)."""
        k = np.clip(np.searchsorted(self.x, x, side="right") - 1, 0, self.y.shape[1] - 1)
        return self.t[k] + self._elapsed(k, x - self.x[k])

    def __call__(self, t: Any) -> tuple[Array, Array]:
        """x at times (rows,), held at the ends before and after, and y, y'/2, y''/2, ... there."""
        time = np.clip(np.asarray(t, dtype=float), 0.0, self.duration)
        k = np.clip(np.searchsorted(self.t, time, side="right") - 1, 0, self.y.shape[1] - 1)
        if len(self.y) > 3:
            along = self._sought(k, time - self.t[k])
            return self.x[k] + along, self._state(k, along)
        along, state = self._closed(k, time - self.t[k])
        return np.minimum(self.x[k] + along, self.x[k + 1]), state

    def _values(self, k: Any, along: Array) -> Array:
        """y at a distance from the start of interval k."""
        total = self.y[-1, k]
        for row in self.y[-2::-1]:
            total = total * along + row[k]
        return np.maximum(total, 0.0)

    def _state(self, k: Any, along: Array) -> Array:
        found = [self._values(k, along)]
        for order in range(1, len(self.y)):
            terms = [factorial(i) / factorial(i - order) * self.y[i, k] for i in range(order, len(self.y))]
            total = terms[-1]
            for term in terms[-2::-1]:
                total = total * along + term
            found.append(0.5 * total)
        return np.stack(found)

    def _elapsed(self, k: Any, along: Array) -> Array:
        """The time from the start of interval k on."""
        if len(self.y) > 3:
            at = along[:, None] * (0.5 + 0.5 * NODES)
            return 0.5 * along * (WEIGHTS / np.sqrt(np.maximum(self._values(k[:, None], at), LEAST))).sum(axis=1)
        last = self._values(k, along)
        with np.errstate(invalid="ignore", divide="ignore"):
            half = np.where(along > 0.0, along / (np.sqrt(self.y[0, k]) + np.sqrt(last)), 0.0)
        square = self.y[2, k] * half * half
        root = np.sqrt(np.abs(square))
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(square > 0.0, np.arctanh(root), np.arctan(root)) / root
        return 2.0 * half * np.where(np.abs(square) < 1e-8, 1.0 + square / 3.0, ratio)

    def _sought(self, k: Any, tau: Array) -> Array:
        """The distance from the start of interval k after a time, by Newton's method."""
        h = (self.x[k + 1] - self.x[k]) * np.ones_like(tau)
        along = h * tau / (self.t[k + 1] - self.t[k])
        for _ in range(STEPS):
            speed = np.sqrt(np.maximum(self._values(k, along), LEAST))
            along = np.clip(along + (tau - self._elapsed(k, along)) * speed, 0.0, h)
        return along

    def _closed(self, k: Any, tau: Array) -> tuple[Array, Array]:
        """The same for quadratics in closed form, and y, y'/2 and y''/2."""
        a, b, c = self.y[:, k]
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
        return along, np.stack([speed * speed, 0.5 * b + c * along, c])


class Solved(NamedTuple):
    """A time law, the times of the iterates on the way to it, and whether the last is the best there is."""

    law: TimeLaw
    history: tuple[float, ...]
    converged: bool
