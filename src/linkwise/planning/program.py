"""A nonlinear program that any solver can take: functions, bounds, sparse derivatives, and a name for every row.

    minimise f(x)   with   lower <= x <= upper,   row_lower <= g(x) <= row_upper

x are the control points that are free, and the duration where it is. Rows are divided by their scales, so that a
violation is relative to the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.rows import LinearRows
from linkwise.planning.samples import First, Samples
from linkwise.planning.solvable import Judged, Timed
from linkwise.planning.variables import Index, Objective, Variables


class RowName(NamedTuple):
    """Which constraint, and at which fraction of the motion's time."""

    name: str
    s: float


class Dual(NamedTuple):
    """The multiplier of a row: positive at its upper bound, in the row's own scale."""

    name: str
    s: float
    value: float


class Program(Judged):
    """The program of samples of rows, linear rows, and an objective. Derivatives are by the variables."""

    def __init__(
        self,
        variables: Variables,
        objective: Objective,
        samples: Sequence[Samples],
        linear: Sequence[LinearRows] = (),
        exact: bool | None = None,
    ) -> None:
        self.variables, self.objective, self.samples, self.linear = variables, objective, list(samples), list(linear)
        self.exact = variables.time_is_free if exact is None else exact
        self.n = len(variables.free)
        self.lower, self.upper = variables.lower[variables.free], variables.upper[variables.free]
        self.seconds = 0.0  # spent in here
        self._last: dict[Any, Any] = {}
        self._x: Array | None = None
        self._lay_out_rows()

    def prepare(self, second: bool) -> None:
        """Compile what a solver will call, with second derivatives where it uses them."""
        o = self.objective.samples
        for s in [*self.samples, *([o] if o else [])]:
            _ = s.kernel.values, s.kernel.first
            if second and (self.exact or (s is o and not self.objective.squared.all())):
                _ = s.kernel.second

    # ---- structure

    def _lay_out_rows(self) -> None:
        """Bounds and scales of all rows, point after point."""
        bounds: dict[str, list[Array]] = {"lower": [], "upper": [], "scale": []}
        for s in self.samples:
            low, high, size = (np.concatenate([getattr(g, k) for g in s.kernel.rows]) for k in bounds)
            for name, values in zip(bounds, (low / size, high / size, size), strict=True):
                bounds[name].append(np.tile(values, len(s.s)))
        for group in self.linear:
            for name, values in zip(bounds, (group.lower, group.upper, np.ones(len(group.lower))), strict=True):
                bounds[name].append(values)
        none = np.zeros(0)
        self.row_lower, self.row_upper, self.scale = (np.concatenate([*x, none]) for x in bounds.values())
        self.m = len(self.scale)

    @property
    def powers(self) -> Array:
        """2 for rows whose quantity is the square of what the user bounded, else 1."""
        parts = [np.tile([g.power for g in s.kernel.rows for _ in g.names], len(s.s)) for s in self.samples]
        return np.concatenate([*parts, np.ones(sum(len(group.lower) for group in self.linear))])

    @cached_property
    def _structure(self) -> tuple[Index, Index, Index, Array]:
        """Rows and columns of the jacobian, which of all its values are by variables, and those that are constant."""
        place, last = self.variables.place, len(self.variables.lower) - 1
        rows, columns, constant = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)], [np.zeros(0)]
        at = 0
        for s in self.samples:
            count, points = s.kernel.count, len(s.s)
            index = at + np.arange(points)[:, None] * count + s.kernel.entries[:, 0]
            rows += [np.broadcast_to(index[:, :, None], s.columns.shape).ravel(), at + np.arange(points * count)]
            columns += [s.columns.ravel(), np.full(points * count, last)]
            at += points * count
        for group in self.linear:
            r, c = np.nonzero(group.matrix)
            rows.append(at + r)
            columns.append(c)
            constant.append(group.matrix[r, c])
            at += len(group.lower)
        every_row, every_column = np.concatenate(rows), np.concatenate(columns)
        kept = np.flatnonzero(place[every_column] >= 0)
        return every_row[kept], place[every_column[kept]], kept, np.concatenate(constant)

    @property
    def jac_rows(self) -> Index:
        return self._structure[0]

    @property
    def jac_columns(self) -> Index:
        return self._structure[1]

    @cached_property
    def _pattern(self) -> tuple[Index, Index]:
        """The lower triangle of the hessian: control points of one span, and the duration with all."""
        b, n = self.variables.basis, self.variables.joints
        span = np.arange(b.count).repeat(n)
        near = np.abs(span[:, None] - span[None, :]) <= b.degree
        whole = np.ones((len(span) + 1, len(span) + 1), dtype=bool)
        whole[:-1, :-1] = near
        free = self.variables.free
        r, c = np.nonzero(np.tril(whole[np.ix_(free, free)]))
        return r, c

    @property
    def hess_rows(self) -> Index:
        return self._pattern[0]

    @property
    def hess_columns(self) -> Index:
        return self._pattern[1]

    @cached_property
    def names(self) -> list[RowName]:
        """Of all rows."""
        found = []
        for s in self.samples:
            titles = [g.title(k) for g in s.kernel.rows for k in range(len(g.names))]
            found += [RowName(title, at) for at in s.s.tolist() for title in titles]
        return found + [RowName(group.title(k), group.at) for group in self.linear for k in range(len(group.lower))]

    def duals(self, multipliers: Array) -> tuple[Dual, ...]:
        """The multipliers that are not zero, with their names."""
        at = np.flatnonzero(np.abs(multipliers) > 1e-12).tolist()
        return tuple(Dual(*self.names[k], float(multipliers[k])) for k in at)

    def multipliers(self, duals: Sequence[Dual]) -> Array:
        """The multipliers of these rows, zero for all others."""
        known = {(name, round(s, 12)): value for name, s, value in duals}
        return np.array([known.get((name, round(s, 12)), 0.0) for name, s in self.names])

    # ---- functions

    def f(self, x: Array) -> float:
        with self._timed():
            (_, T), o = self._split(x), self.objective
            return o.value(self._values(x, -1), T) if o.samples else o.time * T

    def terms(self, x: Array) -> Array:
        """The integral of every row of the objective."""
        with self._timed():
            return (
                self.objective.each(self._values(x, -1), self._split(x)[1]) if self.objective.samples else np.zeros(0)
            )

    def gradient(self, x: Array) -> Array:
        with self._timed():
            (_, T), o = self._split(x), self.objective
            total = np.zeros(len(self.variables.lower))
            total[-1] = o.time
            if o.samples:
                first = self._first(x, -1)
                by_points, by_time = o.samples.gathered(first, T * o.slopes(first.values))
                total[:-1] += by_points
                total[-1] += by_time + o.value(first.values, 1.0) - o.time
            return total[self.variables.free]

    def g(self, x: Array) -> Array:
        with self._timed():
            parts = [self._values(x, k).ravel() for k in range(len(self.samples))]
            flat = self._split(x)[0].ravel()
            parts += [group.matrix @ flat for group in self.linear]
            return np.concatenate([*parts, np.zeros(0)]) / self.scale

    def jacobian(self, x: Array) -> Array:
        """The values at `jac_rows`, `jac_columns`."""
        with self._timed():
            parts = []
            for k, s in enumerate(self.samples):
                first = self._first(x, k)
                size = np.concatenate([g.scale for g in s.kernel.rows])
                by_points = first.by_points / size[s.kernel.entries[:, 0]][:, None]
                parts += [by_points.ravel(), (first.by_time / size).ravel()]
            _, _, kept, constant = self._structure
            return np.concatenate([*parts, constant])[kept]

    def hessian(self, x: Array, sigma: float, multipliers: Array) -> Array:
        """The values at `hess_rows`, `hess_columns` of the second derivatives of sigma f + multipliers . g.

        Exact, or where the duration is fixed by Gauss and Newton: of squared terms the products of first derivatives
        alone, and nothing of rows.
        """
        with self._timed():
            P, T = self._split(x)
            H = np.zeros((len(self.variables.lower),) * 2)
            if self.objective.samples is not None and sigma != 0.0:
                self.objective.add_curvature(P, T, self._first(x, -1), sigma, self.exact, H)
            if self.exact:
                at = 0
                for s in self.samples:
                    weights = (multipliers[at : at + s.count] / self.scale[at : at + s.count]).reshape(len(s.s), -1)
                    if np.any(weights):
                        s.curvature(P, T, weights, H)
                    at += s.count
            free = self.variables.free
            return H[free[self.hess_rows], free[self.hess_columns]]

    # ---- what is kept of the last point

    def _split(self, x: Array) -> tuple[Array, float]:
        if self._x is None or not np.array_equal(self._x, x):
            self._x, self._last = np.array(x, dtype=float), {}
        if "split" not in self._last:
            self._last["split"] = self.variables.split(self._x)
        return self._last["split"]

    def _of(self, k: int) -> Samples:
        if k >= 0:
            return self.samples[k]
        assert self.objective.samples is not None
        return self.objective.samples

    def _values(self, x: Array, k: int) -> Array:
        P, T = self._split(x)
        if ("first", k) in self._last:
            return self._last["first", k].values
        if ("values", k) not in self._last:
            self._last["values", k] = self._of(k).values(P, T)
        return self._last["values", k]

    def _first(self, x: Array, k: int) -> First:
        P, T = self._split(x)
        if ("first", k) not in self._last:
            self._last["first", k] = self._of(k).first(P, T)
        return self._last["first", k]

    def _timed(self) -> Timed:
        return Timed(self)
