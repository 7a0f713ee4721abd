"""Clamped B-splines over s = t/T: bases, bands of derivatives, and curves in time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.check import whole
from linkwise.errors import InputError

Array = NDArray[np.float64]
Index = NDArray[np.intp]

MOST = 1000  # control points of a joint: a matrix of them has as many rows and columns


@dataclass(frozen=True)
class Basis:
    """The shape functions of a clamped B-spline on [0, 1].

    Args:
        degree: of the polynomials, at least 1.
        breaks: where they meet, rising from 0 to 1.
    """

    degree: int
    breaks: tuple[float, ...]

    @classmethod
    def uniform(cls, degree: Any, count: Any) -> Basis:
        """The basis of `count` control points whose breaks are evenly spread."""
        whole(degree, "degree", 1, 9)
        expected = f"a whole number above the degree {degree} and up to {MOST}, best 10 to 40"
        whole(count, "control_points", degree + 1, MOST, expected)
        return cls(degree, tuple(np.linspace(0.0, 1.0, count - degree + 1).tolist()))

    @property
    def count(self) -> int:
        """How many control points."""
        return len(self.breaks) - 1 + self.degree

    @cached_property
    def knots(self) -> Array:
        """The breaks, with the ends repeated."""
        return np.concatenate([np.zeros(self.degree), self.breaks, np.ones(self.degree)])

    @cached_property
    def abscissae(self) -> Array:
        """Where each control point stands: control points on a line in s give that line (Greville)."""
        k = self.knots
        return np.array([k[i + 1 : i + 1 + self.degree].mean() for i in range(self.count)])

    def lower(self, order: int) -> Basis:
        """The basis of a derivative of its curves."""
        return Basis(max(self.degree - order, 0), self.breaks)

    def matrix(self, s: Any, order: int = 0) -> Array:
        """d^order/ds^order of all shape functions at points s (n, count)."""
        if order > self.degree:
            return np.zeros((len(s), self.count))
        return np.asarray(self._spline(order)(np.asarray(s, dtype=float)), dtype=float)

    def _spline(self, order: int) -> Any:
        """SciPy's spline of all shape functions, or of their derivatives."""
        if order not in self._splines:
            from scipy.interpolate import BSpline

            lower = self._spline(order - 1) if order else None
            self._splines[order] = lower.derivative() if lower else BSpline(self.knots, np.eye(self.count), self.degree)
        return self._splines[order]

    @cached_property
    def _splines(self) -> dict[int, Any]:
        return {}

    def spans(self, s: Any) -> NDArray[np.intp]:
        """The first of the degree + 1 shape functions that are not zero, at each point."""
        at = np.searchsorted(np.asarray(self.breaks), np.asarray(s, dtype=float), side="right") - 1
        return np.clip(at, 0, len(self.breaks) - 2)

    def bands(self, s: Any, orders: int) -> tuple[NDArray[np.intp], Array, Array]:
        """First functions (n), their bands (n, orders, degree + 1), and the matrices they are cut from.

        The matrices (n * orders, count) are those of derivatives 0, 1, ... at the first point, then at the next.
        """
        full = np.stack([self.matrix(s, d) for d in range(orders)], axis=1)
        first = self.spans(s)
        columns = first[:, None] + np.arange(self.degree + 1)
        band = np.take_along_axis(full, columns[:, None, :], axis=2)
        return first, band, full.reshape(-1, self.count)

    def grid(self, each: int) -> Array:
        """Points with `each` steps in every span, the breaks among them."""
        b = np.asarray(self.breaks)
        parts = [np.linspace(a, c, each, endpoint=False) for a, c in pairwise(b)]
        return np.concatenate([*parts, [1.0]])

    def gauss(self, each: int) -> tuple[Array, Array]:
        """Points and weights of Gauss's rule with `each` points in every span, for integrals over [0, 1]."""
        x, w = np.polynomial.legendre.leggauss(each)
        b = np.asarray(self.breaks)
        half = 0.5 * np.diff(b)
        return (b[:-1, None] + half[:, None] * (x + 1.0)).ravel(), (half[:, None] * w).ravel()


@dataclass(frozen=True, eq=False)
class Curve:
    """A motion of all joints: control points (count, n) of a basis, run through in `duration` seconds."""

    basis: Basis
    points: Array
    duration: float

    def __call__(self, t: Any, order: int = 0) -> Array:
        """The position, or with `order` its derivative by time, at times t (...,), of shape (..., n).

        Before the start and after the end the curve stands at its ends.
        """
        try:
            times = np.asarray(t, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"t: expected times in seconds, got {t!r}.") from None
        share = times.reshape(-1) / self.duration
        s = np.clip(share, 0.0, 1.0)
        values = self.basis.matrix(s, order) @ self.points / self.duration**order
        if order:
            values[np.abs(share - s) > 1e-9] = 0.0
        return values.reshape(*times.shape, self.points.shape[1])

    def with_basis(self, basis: Basis) -> Curve:
        """The curve of another basis that is nearest to this one; the same where the basis is finer."""
        s = np.unique(np.concatenate([basis.abscissae, np.linspace(0.0, 1.0, 4 * basis.count)]))
        points, *_ = np.linalg.lstsq(basis.matrix(s), self.basis.matrix(s) @ self.points, rcond=None)
        return Curve(basis, np.asarray(points, dtype=float), self.duration)
