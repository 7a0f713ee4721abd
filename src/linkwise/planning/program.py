"""A nonlinear program that any solver can take: functions, bounds, sparse derivatives, and a name for every row.

    minimise f(x)   with   lower <= x <= upper,   row_lower <= g(x) <= row_upper

x are the control points that are free, and the duration where it is. Rows are divided by their scales, so that a
violation is relative to the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from time import perf_counter
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from linkwise.planning.curve import Array, Index
from linkwise.planning.layout import Layout
from linkwise.planning.rows import LinearRows, RowName, beyond
from linkwise.planning.samples import First, Samples
from linkwise.planning.variables import Objective, Variables

F = TypeVar("F", bound=Callable[..., Any])


class Dual(NamedTuple):
    """The multiplier of a row: positive at its upper bound, in the row's own scale."""

    name: str
    s: float
    value: float


def _timed(function: F) -> F:
    """A function of a program that adds the time spent in it to `seconds`."""

    @wraps(function)
    def timed(self: Any, *args: Any) -> Any:
        began = perf_counter()
        try:
            return function(self, *args)
        finally:
            self.seconds += perf_counter() - began

    return cast(F, timed)


class Program:
    """The program of samples of rows, linear rows, and an objective. Derivatives are by the variables.

    Rows that have a price are no rows of the program: the squares of their violations are part of the objective. Those
    that have no bounds at an instant are none either.

    Attributes:
        n, m: how many variables and rows.
        lower, upper, row_lower, row_upper: their bounds.
        scale: by which rows were divided.
        seconds: spent in functions.
    """

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
        self.lower, self.upper = variables.bounds
        self.n = len(self.lower)
        self.seconds = 0.0
        self._last: dict[Any, Any] = {}
        self._x: Array | None = None
        self._laid = laid = Layout(self.samples, self.linear, len(variables.lower) - 1)
        self.row_lower, self.row_upper, self.scale = (x[laid.hard] for x in (laid.lower, laid.upper, laid.scale))
        self.m = len(laid.hard)

    def prepare(self, second: bool) -> None:
        """Compile what a solver will call, with second derivatives where it uses them."""
        bent = [i.samples for i in self.objective.integrals if self.exact or not i.squared.all()]
        for s in [*self.samples, *(i.samples for i in self.objective.integrals)]:
            _ = s.kernel.values, s.kernel.first
            if second and (s in bent or (self.exact and s in self.samples)):
                _ = s.kernel.second
        for _, whole in self.objective.wholes:
            whole.prepare()

    # ---- structure

    @cached_property
    def _structure(self) -> tuple[Index, Index, Callable[[Array], Array]]:
        """Rows and columns of the jacobian, and how its values follow from all derivatives."""
        rows, columns, at = self._laid.derivatives(self._laid.hard)
        own, variables, chosen = self.variables.entries(rows, columns, self.m)
        return own, variables, lambda slopes: chosen(slopes[at])

    jac_rows: Index = property(lambda self: self._structure[0])  # type: ignore[assignment]
    jac_columns: Index = property(lambda self: self._structure[1])  # type: ignore[assignment]

    @cached_property
    def _pattern(self) -> tuple[Index, Index]:
        """The lower triangle of the hessian: control points of one span, and the duration with all.

        What depends on the whole motion couples all of them.
        """
        b, n = self.variables.basis, self.variables.joints
        span = np.arange(b.count).repeat(n)
        near = np.abs(span[:, None] - span[None, :]) <= b.degree
        whole = np.ones((len(span) + 1, len(span) + 1), dtype=bool)
        whole[:-1, :-1] = near | bool(self.objective.wholes)
        r, c = np.nonzero(np.tril(self.variables.coupled(whole)))
        return r, c

    hess_rows: Index = property(lambda self: self._pattern[0])  # type: ignore[assignment]
    hess_columns: Index = property(lambda self: self._pattern[1])  # type: ignore[assignment]

    @cached_property
    def names(self) -> list[RowName]:
        """The names of the rows."""
        return [self._laid.names[k] for k in self._laid.hard]

    @property
    def soft_names(self) -> list[RowName]:
        """The names of rows with a price."""
        return [self._laid.names[k] for k in self._laid.soft]

    @property
    def powers(self) -> Array:
        """2 for rows whose quantity is the square of what the user bounded, else 1."""
        return self._laid.powers[self._laid.hard]

    def duals(self, multipliers: Array) -> tuple[Dual, ...]:
        """The multipliers that are not zero, with their names."""
        titles, hard = self._laid.titles, self._laid.hard.tolist()
        at = np.flatnonzero(np.abs(multipliers) > 1e-12).tolist()
        return tuple(Dual(*titles[hard[k]], float(multipliers[k])) for k in at)

    def multipliers(self, duals: Sequence[Dual]) -> Array:
        """The multipliers of these rows, zero for all others."""
        if not duals:
            return np.zeros(self.m)
        known = {(name, round(s, 12)): value for name, s, value in duals}
        titles = self._laid.titles
        places = {s: round(s, 12) for s in {s for _, s in titles}}
        of = (titles[k] for k in self._laid.hard.tolist())
        return np.array([known.get((title, places[s]), 0.0) for title, s in of])

    # ---- functions

    @_timed
    def f(self, x: Array) -> float:
        (P, T), o = self._split(x), self.objective
        total = o.time * T + sum(i.value(self._values(x, i.samples), T) for i in o.integrals)
        total += sum(pull.value(P, T) for pull in o.pulls) + sum(w * whole.value(P, T) for w, whole in o.wholes)
        if len(self._laid.soft):
            total += float(np.sum(self._laid.prices[self._laid.soft] * self._broken(x) ** 2))
        return total

    def asked(self, x: Array) -> float:
        """The objective without what control points are pulled to."""
        P, T = self._split(x)
        return self.f(x) - sum(pull.value(P, T) for pull in self.objective.pulls)

    @_timed
    def terms(self, x: Array) -> Array:
        """The integral of every row of the objective."""
        T = self._split(x)[1]
        found = [i.each(self._values(x, i.samples), T) for i in self.objective.integrals]
        return np.concatenate([*found, np.zeros(0)])

    @_timed
    def gradient(self, x: Array) -> Array:
        (P, T), o = self._split(x), self.objective
        total = np.zeros(len(self.variables.lower))
        total[-1] = o.time
        for i in o.integrals:
            first = self._first(x, i.samples)
            by_points, by_time = i.samples.gathered(first, T * i.slopes(first.values))
            total[:-1] += by_points
            total[-1] += by_time + i.value(first.values, 1.0)
        for pull in o.pulls:
            pull.add_gradient(P, T, total)
        for factor, whole in o.wholes:
            whole.add_gradient(P, T, factor, total)
        if len(self._laid.soft):
            total += self._broken_slopes(x).T @ (2.0 * self._laid.prices[self._laid.soft] * self._broken(x))
        return self.variables.gradient(total)

    @_timed
    def g(self, x: Array) -> Array:
        return self._every(x)[self._laid.hard]

    @_timed
    def jacobian(self, x: Array) -> Array:
        """The values at `jac_rows`, `jac_columns`."""
        return self._structure[2](self._slopes(x))

    @_timed
    def hessian(self, x: Array, sigma: float, multipliers: Array) -> Array:
        """The values at `hess_rows`, `hess_columns` of the second derivatives of sigma f + multipliers . g.

        Exact, or where the duration is fixed by Gauss and Newton: of squared terms the products of first derivatives
        alone, and nothing of rows. What depends on the whole motion has its own way.
        """
        P, T = self._split(x)
        H = np.zeros((len(self.variables.lower),) * 2)
        H.flat[:: len(H) + 1] = self.objective.damping
        if sigma != 0.0:
            self._add_curvature(x, sigma, H)
        if self.exact:
            at, every = 0, np.zeros(len(self._laid.lower))
            every[self._laid.hard] = multipliers / self.scale
            for s in self.samples:
                weights = every[at : at + s.count].reshape(len(s.s), -1)
                if np.any(weights):
                    s.curvature(P, T, weights, H)
                at += s.count
        return self.variables.curvature(H, self.hess_rows, self.hess_columns)

    def _add_curvature(self, x: Array, sigma: float, H: Array) -> None:
        """Add second derivatives of the objective; of broken rows by Gauss and Newton."""
        (P, T), o = self._split(x), self.objective
        for i in o.integrals:
            i.add_curvature(P, T, self._first(x, i.samples), sigma, self.exact, H)
        for pull in o.pulls:
            pull.add_curvature(P, T, sigma, H)
        for factor, whole in o.wholes:
            whole.add_curvature(P, T, sigma * factor, H)
        if len(self._laid.soft):
            active = np.flatnonzero(self._broken(x))
            J = self._broken_slopes(x)[active]
            H += (J.T * (2.0 * sigma * self._laid.prices[self._laid.soft[active]]) @ J).toarray()

    # ---- judgement

    def violations(self, x: Array) -> Array:
        """How far each row is beyond its bounds, in its own scale."""
        return beyond(self.g(x), self.row_lower, self.row_upper)

    def infeasibility(self, x: Array) -> float:
        """The largest of `violations`."""
        return float(self.violations(x).max(initial=0.0))

    def not_kept(self, x: Array, above: float) -> list[tuple[RowName, float, bool]]:
        """Rows further than so much beyond their bounds: how far, and whether they have a price."""
        over = beyond(self._every(x), self._laid.lower, self._laid.upper)
        at = [
            (k, soft)
            for rows, soft in ((self._laid.hard, False), (self._laid.soft, True))
            for k in rows[over[rows] > above]
        ]
        return [(self._laid.names[k], float(over[k]), soft) for k, soft in at]

    # ---- what is kept of the last point

    def _split(self, x: Array) -> tuple[Array, float]:
        if self._x is None or not np.array_equal(self._x, x):
            self._x, self._last = np.array(x, dtype=float), {}
        if "split" not in self._last:
            self._last["split"] = self.variables.split(self._x)
        return self._last["split"]

    def _every(self, x: Array) -> Array:
        """All rows, over their scales."""
        flat = self._split(x)[0].ravel()
        if "every" not in self._last:
            parts = [self._values(x, s).ravel() for s in self.samples]
            parts += [group.matrix @ flat for group in self.linear]
            self._last["every"] = np.concatenate([*parts, np.zeros(0)]) / self._laid.scale
        return self._last["every"]

    def _slopes(self, x: Array) -> Array:
        """All derivatives of all rows."""
        self._split(x)
        if "slopes" not in self._last:
            parts = []
            for s in self.samples:
                first = self._first(x, s)
                by_points = first.by_points / s.scale[s.kernel.entries[:, 0]][:, None]
                parts += [by_points.ravel(), (first.by_time / s.scale).ravel()]
            self._last["slopes"] = np.concatenate([*parts, self._laid.entries[2]])
        return self._last["slopes"]

    def _broken(self, x: Array) -> Array:
        """How far rows with a price are above their bounds, or below: negative then."""
        values = self._every(x)[self._laid.soft]
        return values - np.clip(values, self._laid.lower[self._laid.soft], self._laid.upper[self._laid.soft])

    def _broken_slopes(self, x: Array) -> Any:
        """Their derivatives by all numbers, a sparse matrix."""
        from scipy.sparse import csr_array

        rows, columns, at = self._laid.derivatives(self._laid.soft)
        shape = len(self._laid.soft), len(self.variables.lower)
        return csr_array((self._slopes(x)[at], (rows, columns)), shape=shape)

    def _values(self, x: Array, s: Samples) -> Array:
        P, T = self._split(x)
        if ("first", s) in self._last:
            return self._last["first", s].values
        if ("values", s) not in self._last:
            self._last["values", s] = s.values(P, T)
        return self._last["values", s]

    def _first(self, x: Array, s: Samples) -> First:
        P, T = self._split(x)
        if ("first", s) not in self._last:
            self._last["first", s] = s.first(P, T, self.variables.time_is_free)
        return self._last["first", s]
