"""Rows at many instants of a spline: values, and derivatives by its control points and its duration.

At an instant z_d = B_d P / T^d, so that by the chain rule

    dr/dP = sum_d r_z B_d / T^d        dr/dT = -sum_d r_z d z_d / T + r_t s

where rows depend on the time t = s T too; and one differentiation more for second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.planning.curve import Array, Basis
from linkwise.planning.kernels import PointKernel


class First(NamedTuple):
    """Rows (n, count) and their derivatives at the instants: by control points (n, entries, band), by T (n, count)."""

    values: Array
    by_points: Array
    by_time: Array


class Samples:
    """A kernel at instants `s` of a spline; `around` gives the numbers of its surroundings there."""

    def __init__(
        self, kernel: PointKernel, basis: Basis, s: Any, around: Callable[[Array], Array] | None = None
    ) -> None:
        self.kernel, self.basis = kernel, basis
        self.s: Array = np.asarray(s, dtype=float)
        self.start, self.band, self._matrix = basis.bands(self.s, kernel.orders)
        self.orders = np.arange(kernel.orders, dtype=float)
        self.count = kernel.count * len(self.s)
        parts = [self.s[:, None], *(np.asarray(g.data(self.s), dtype=float) for g in kernel.rows if g.data)]
        self.data = np.hstack([*parts, *([around(self.s)] if around else [])])
        rows, self._joint = kernel.entries.T
        self._of_row = np.zeros((len(rows), kernel.count))
        self._of_row[np.arange(len(rows)), rows] = 1.0
        self._of_joint = np.eye(kernel.n)[self._joint]

    @cached_property
    def columns(self) -> NDArray[np.intp]:
        """The control-point variables of `First.by_points` (n, entries, band)."""
        reach = self.start[:, None, None] + np.arange(self.basis.degree + 1)
        return reach * self.kernel.n + self._joint[None, :, None]

    def motion(self, P: Array, T: float) -> Array:
        """q and its derivatives at the instants (n, orders, joints)."""
        z = (self._matrix @ P).reshape(len(self.s), -1, self.kernel.n)
        z *= self._powers(T)[:, None]
        return z

    def _powers(self, T: float) -> Array:
        return T**-self.orders

    def values(self, P: Array, T: float) -> Array:
        """Rows (n, count)."""
        return self.kernel.values(*self._inputs(P, T))

    def _inputs(self, P: Array, T: float) -> tuple[Array, ...]:
        """What the kernel takes."""
        return self.motion(P, T), self.data, *self.kernel.time(self.s * T)

    def first(self, P: Array, T: float) -> First:
        """Rows and their first derivatives."""
        inputs = self._inputs(P, T)
        z = inputs[0]
        values, slopes, *late = self.kernel.first(*inputs)
        scaled = slopes * self._powers(T)
        drift = -(z * self.orders[:, None] / T)[:, :, self._joint].transpose(0, 2, 1)
        by_time = np.einsum("ied,ied->ie", slopes, drift) @ self._of_row
        for by_t in late:
            by_time += by_t * self.s[:, None]
        return First(values, np.matmul(scaled, self.band), by_time)

    def gathered(self, first: First, weights: Array) -> tuple[Array, float]:
        """The gradient of sum weights * rows by all control points (count * n) and by T."""
        per_entry = weights @ self._of_row.T
        flat = (first.by_points * per_entry[:, :, None]).ravel()
        size = self.basis.count * self.kernel.n
        total = np.bincount(self.columns.ravel(), flat, minlength=size)
        return total.astype(float), float(np.sum(first.by_time * weights))

    def curvature(self, P: Array, T: float, weights: Array, into: Array) -> None:
        """Add the second derivatives of sum weights * rows to `into`, a matrix over all variables, T the last."""
        inputs, n, D = self._inputs(P, T), self.kernel.n, self.kernel.orders
        z, wide = inputs[0], n * D
        slope, H = self.kernel.second(*inputs, weights)
        drift = (-z * self.orders[:, None] / T).reshape(len(z), -1)
        if self.kernel.timed:
            drift = np.hstack([drift, self.s[:, None]])
        g, powers = slope[:, :wide].reshape(-1, D, n), self._powers(T)
        bend = np.einsum("iab,ib->ia", H, drift)
        twice = float(np.sum(bend * drift) + np.sum(g * z * (self.orders * (self.orders + 1.0))[:, None]) / T**2)
        B = self.band * powers[:, None]
        by_both = np.einsum("idk,idj->ikj", B, bend[:, :wide].reshape(-1, D, n) - g * self.orders[:, None] / T)
        self._add(into, self._sandwich(B, H[:, :wide, :wide]), by_both, twice)

    def outer(self, first: First, weights: Array, into: Array) -> None:
        """Add sum weights * (row's gradient)(row's gradient)^T to `into`."""
        n, width = self.kernel.n, self.basis.degree + 1
        rows, joints = self.kernel.entries.T
        G = np.zeros((len(self.s), self.kernel.count, width, n))
        G[:, rows, :, joints] = first.by_points.transpose(1, 0, 2)
        flat = G.reshape(len(self.s), self.kernel.count, width * n)
        heavy = flat * weights[:, :, None]
        both = np.einsum("irk,ir->ik", heavy, first.by_time).reshape(len(self.s), width, n)
        self._add(into, np.matmul(heavy.transpose(0, 2, 1), flat), both, float(np.sum(weights * first.by_time**2)))

    def _sandwich(self, B: Array, H: Array) -> Array:
        """B^T H B at each instant, over (band * joints) variables."""
        n, D, width = self.kernel.n, self.kernel.orders, self.basis.degree + 1
        count = len(H)
        left = np.matmul(B.transpose(0, 2, 1), H.reshape(count, D, n * D * n))  # (i, k, j e l)
        turned = left.reshape(count, width * n, D, n).transpose(0, 1, 3, 2)  # (i, kj, l, e)
        both = np.matmul(turned.reshape(count, width * n * n, D), B)  # (i, kjl, m)
        return both.reshape(count, width * n, n, width).transpose(0, 1, 3, 2).reshape(count, width * n, width * n)

    def _add(self, into: Array, blocks: Array, by_both: Array, twice: float) -> None:
        """Add blocks of instants to the whole; neighbours in one span share their variables."""
        n, wide = self.kernel.n, (self.basis.degree + 1) * self.kernel.n
        spans, begins, order = self._spans
        edges = by_both.reshape(len(self.s), wide)
        if order is not None:
            blocks, edges = blocks[order], edges[order]
        for k, block, edge in zip(spans, np.add.reduceat(blocks, begins), np.add.reduceat(edges, begins), strict=True):
            at = slice(k * n, k * n + wide)
            into[at, at] += block
            into[-1, at] += edge
            into[at, -1] += edge
        into[-1, -1] += twice

    @cached_property
    def _spans(self) -> tuple[list[int], NDArray[np.intp], NDArray[np.intp] | None]:
        """The spans that have instants, where those of each begin, and the order in which they stand together."""
        order = None if np.all(np.diff(self.start) >= 0) else np.argsort(self.start, kind="stable")
        spans, begins = np.unique(self.start if order is None else self.start[order], return_index=True)
        return spans.tolist(), begins, order
