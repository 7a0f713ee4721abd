"""Rows at many instants of a spline: values, and derivatives by its control points and its duration.

At an instant z_d = B_d P / T^d, so that by the chain rule

    dr/dP = sum_d r_z B_d / T^d        dr/dT = -sum_d r_z d z_d / T + r_t s

where rows depend on the time t = s T too; and one differentiation more for second derivatives.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwise.planning.curve import Array, Basis, Index
from linkwise.planning.kernels import PointKernel
from linkwise.planning.rows import RowName, beyond


class First(NamedTuple):
    """Rows (n, count) and their derivatives at the instants: by control points (n, entries, band), by T (n, count)."""

    values: Array
    by_points: Array
    by_time: Array


class Samples:
    """A kernel at instants `s` of a spline."""

    def __init__(self, kernel: PointKernel, basis: Basis, s: Any) -> None:
        self.kernel, self.basis = kernel, basis
        self.s: Array = np.asarray(s, dtype=float)
        self.start, self.band, self._matrix = basis.bands(self.s, kernel.orders)
        self.orders = np.arange(kernel.orders, dtype=float)
        self.count = kernel.count * len(self.s)
        parts = [self.s[:, None], *(np.asarray(g.data(self.s), dtype=float) for g in kernel.rows if g.data)]
        around = kernel.around.numbers
        self.data = np.hstack([*parts, *([around(self.s)] if around else [])])
        self._row, self._joint = kernel.entries.T

    # ---- bounds

    def _of_rows(self, name: str) -> Array:
        """A number of the groups of rows, for every row."""
        every = [np.broadcast_to(getattr(g, name), len(g.names)) for g in self.kernel.rows]
        return np.concatenate([*every, np.zeros(0)])

    @cached_property
    def scale(self) -> Array:
        """The numbers by which rows are divided (count)."""
        return self._of_rows("scale")

    @cached_property
    def powers(self) -> Array:
        """2 for rows whose quantity is the square of what the user bounded, else 1 (count)."""
        return self._of_rows("power")

    @cached_property
    def prices(self) -> Array:
        """The prices of squared violations (count); infinite for rows that must be kept."""
        return self._of_rows("price")

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Lower and upper bounds of rows over their scales (n, count)."""
        pairs = zip(*(g.limits(self.s) for g in self.kernel.rows), strict=True)
        lower, upper = (np.hstack(x) / self.scale for x in pairs)
        return lower, upper

    def beyond(self, values: Array) -> Array:
        """How far rows (n, count) are beyond their bounds, over their scales."""
        return beyond(values / self.scale, *self.limits)

    def name(self, i: int, k: int) -> RowName:
        """The name of a row at an instant."""
        return RowName(*self._names[k], float(self.s[i]))

    @property
    def titles(self) -> list[tuple[float, list[str]]]:
        """For each instant its fraction of time, and the titles of its rows."""
        every = [RowName(*name, 0.0).title for name in self._names]
        return [(s, every) for s in self.s.tolist()]

    @cached_property
    def _names(self) -> list[tuple[str, str]]:
        return [(g.label, name) for g in self.kernel.rows for name in g.names]

    # ---- values and derivatives

    @cached_property
    def _filled(self) -> Index:
        """The rows that have entries; `_begins` tells where those of each begin."""
        return np.unique(self._row)

    @cached_property
    def _begins(self) -> Index:
        return np.searchsorted(self._row, self._filled)

    @cached_property
    def columns(self) -> Index:
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

    def first(self, P: Array, T: float, by_time: bool = True) -> First:
        """Rows and their first derivatives; those by T are zero where they are not asked for."""
        inputs = self._inputs(P, T)
        z = inputs[0]
        values, slopes, *late = self.kernel.first(*inputs)
        found = First(values, np.matmul(slopes, self.band * self._powers(T)[:, None]), np.zeros_like(values))
        if by_time:
            drift = -(z * self.orders[:, None] / T)[:, :, self._joint].transpose(0, 2, 1)
            drifts = np.einsum("ied,ied->ie", slopes, drift)
            found.by_time[:, self._filled] = np.add.reduceat(drifts, self._begins, axis=1)
            for by_t in late:
                found.by_time[:] += by_t * self.s[:, None]
        return found

    def gathered(self, first: First, weights: Array) -> tuple[Array, float]:
        """The gradient of sum weights * rows by all control points (count * n) and by T."""
        flat = (first.by_points * weights[:, self._row, None]).ravel()
        size = self.basis.count * self.kernel.n
        total = np.bincount(self.columns.ravel(), flat, minlength=size)
        return total.astype(float), float(np.sum(first.by_time * weights))

    def weighted(self, P: Array, T: float, weights: Array) -> tuple[Array, float]:
        """The gradient of sum weights * rows, as `gathered` has it, by one sweep backwards at each instant."""
        inputs = self._inputs(P, T)
        slope = self.kernel.weighted(*inputs, weights)
        wide = self.kernel.n * self.kernel.orders
        by_points = self._onto_points(slope[:, :wide].reshape(len(slope), -1, self.kernel.n), T)
        return by_points.ravel(), float(np.sum(slope * self._drift(inputs[0], T)))

    def changes(self, P: Array, T: float) -> Array:
        """Derivatives of rows by the motion at their instant, order after order, by time too if timed (n, z, count)."""
        return self.kernel.changes(*self._inputs(P, T))

    def of_changes(self, changes: Array, P: Array, T: float) -> Array:
        """Sums over instants of what has been made of `changes` (n, z, ...), by control points and T (numbers, ...)."""
        n, D, shape = self.kernel.n, self.kernel.orders, changes.shape[2:]
        flat = changes.reshape(len(changes), changes.shape[1], -1)
        by_time = np.einsum("iz,izk->k", self._drift(self.motion(P, T), T), flat)
        by_motion = flat[:, : D * n].reshape(len(flat), D, -1)
        by_points = self._onto_points(by_motion, T).reshape(self.basis.count * n, -1)
        return np.concatenate([by_points, by_time[None]]).reshape(-1, *shape)

    def _onto_points(self, slopes: Array, T: float) -> Array:
        """The sum over instants and orders of slopes (n, orders, ...) by control points (count, ...)."""
        scaled = slopes * self._powers(T)[:, None]
        return self._matrix.T @ scaled.reshape(len(self._matrix), -1)

    def _drift(self, z: Array, T: float) -> Array:
        """How the motion at the instants, and the time if it matters, change with T (n, z)."""
        drift = (-z * self.orders[:, None] / T).reshape(len(z), -1)
        return np.hstack([drift, self.s[:, None]]) if self.kernel.timed else drift

    def curvature(self, P: Array, T: float, weights: Array, into: Array) -> None:
        """Add the second derivatives of sum weights * rows to `into`, a matrix over all variables, T the last."""
        inputs, n, D = self._inputs(P, T), self.kernel.n, self.kernel.orders
        z, wide = inputs[0], n * D
        slope, H = self.kernel.second(*inputs, weights)
        drift = self._drift(z, T)
        g, powers = slope[:, :wide].reshape(-1, D, n), self._powers(T)
        bend = np.einsum("iab,ib->ia", H, drift)
        twice = float(np.sum(bend * drift) + np.sum(g * z * (self.orders * (self.orders + 1.0))[:, None]) / T**2)
        B = self.band * powers[:, None]
        by_both = np.einsum("idk,idj->ikj", B, bend[:, :wide].reshape(-1, D, n) - g * self.orders[:, None] / T)
        self._add(into, B, H[:, :wide, :wide], by_both, twice)

    def outer(self, first: First, weights: Array, into: Array) -> None:
        """Add sum weights * (row's gradient)(row's gradient)^T to `into`."""
        n, width = self.kernel.n, self.basis.degree + 1
        counted: Any = weights.any(axis=0)
        chosen, place = np.flatnonzero(counted[self._row]), np.cumsum(counted) - 1
        G = np.zeros((len(self.s), np.count_nonzero(counted), width, n))
        G[:, place[self._row[chosen]], :, self._joint[chosen]] = first.by_points[:, chosen].transpose(1, 0, 2)
        weights, by_time = weights[:, counted], first.by_time[:, counted]
        right = np.concatenate([G.reshape(*by_time.shape, width * n), by_time[:, :, None]], axis=2)
        right *= np.sqrt(np.abs(weights))[:, :, None]
        left = right if weights.min(initial=0.0) >= 0.0 else right * np.sign(weights)[:, :, None]
        spans, begins, order = self._spans
        if order is not None:
            left, right = left[order], right[order]
        for k, *ends in zip(spans, begins, [*begins[1:], len(self.s)], strict=True):
            A, B = (x[slice(*ends)].reshape(-1, width * n + 1) for x in (left, right))
            M, at = A.T @ B, slice(k * n, (k + width) * n)
            into[at, at] += M[:-1, :-1]
            into[at, -1] += M[:-1, -1]
            into[-1, at] += M[-1, :-1]
            into[-1, -1] += M[-1, -1]

    def _add(self, into: Array, B: Array, H: Array, by_both: Array, twice: float) -> None:
        """Add B^T H B of all instants to the whole; neighbours in one span share their variables, and one product."""
        n, D, width = self.kernel.n, self.kernel.orders, self.basis.degree + 1
        wide = width * n
        spans, begins, order = self._spans
        edges = by_both.reshape(len(self.s), wide)
        if order is not None:
            B, H, edges = B[order], H[order], edges[order]
        pairs = np.einsum("idk,iem->kmide", B, B).reshape(width * width, -1, D * D)
        inner = H.reshape(-1, D, n, D, n).transpose(0, 1, 3, 2, 4)
        for k, edge, *ends in zip(
            spans, np.add.reduceat(edges, begins), begins, [*begins[1:], len(self.s)], strict=True
        ):
            own = slice(*ends)
            block = pairs[:, own].reshape(width * width, -1) @ inner[own].reshape(-1, n * n)  # (k m, j l)
            at = slice(k * n, k * n + wide)
            into[at, at] += block.reshape(width, width, n, n).transpose(0, 2, 1, 3).reshape(wide, wide)
            into[-1, at] += edge
            into[at, -1] += edge
        into[-1, -1] += twice

    @cached_property
    def _spans(self) -> tuple[list[int], Index, Index | None]:
        """The spans that have instants, where those of each begin, and the order in which they stand together."""
        order = None if np.all(np.diff(self.start) >= 0) else np.argsort(self.start, kind="stable")
        spans, begins = np.unique(self.start if order is None else self.start[order], return_index=True)
        return spans.tolist(), begins, order
