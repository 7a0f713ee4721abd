"""The walking problem as a nonlinear program that the planner's solvers take, over control points of B-splines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.rows import LinearRows
from linkwise.planning.samples import Samples
from linkwise.planning.solvable import Judged, Timed
from linkwise.walking.kernel import Found, Group, InstantKernel
from linkwise.walking.objective import Part, State
from linkwise.walking.rows import Row, places_of
from linkwise.walking.timetable import Moment, supports_of

Index = NDArray[np.intp]
PHASES = {"knee": "swing", "symmetry": "end"}  # of linear rows
DAMPING = 0.01  # added to the diagonal of second derivatives, which Gauss and Newton leave singular


class Grid:
    """A kernel at the instants of a spline, and what it says of its control points.

    Args:
        kernel: of a skeleton.
        basis: of the spline.
        duration: of the motion, s.
        moments: the instants.
    """

    def __init__(self, kernel: InstantKernel, basis: Basis, duration: float, moments: Sequence[Moment]) -> None:
        self.kernel, self.basis, self.duration = kernel, basis, duration
        self.moments = list(moments)
        self.s: Array = np.array([m.s for m in moments])
        self.supports = supports_of(moments)
        self.start, band, matrix = basis.bands(self.s, 3)
        powers = duration ** -np.arange(3.0)[:, None]
        self.band: Array = band * powers
        self.matrix: Array = matrix.reshape(len(self.s), 3, -1) * powers

    @property
    def joints(self) -> int:
        """How many joints have torques."""
        return len(self.kernel.groups[0].names) - 6

    def motion(self, P: Array) -> Array:
        """q, qd and qdd at the instants (instants, 3, joints)."""
        return np.asarray(self.matrix @ P)

    def first(self, P: Array) -> tuple[Found, list[Array]]:
        """What the kernel finds, and derivatives by control points: (instants, entries, band) for each group."""
        found = self.kernel(self.motion(P), self.supports)
        return found, [np.matmul(x, self.band[:, : x.shape[-1]]) for x in found.slopes]

    def columns(self, group: Group) -> Index:
        """The control points of those derivatives, flat (instants, entries, band)."""
        reach = self.start[:, None, None] + np.arange(self.basis.degree + 1)
        return reach * self.kernel.n + group.entries[:, 1][None, :, None]


class Label(NamedTuple):
    """Which constraint a row belongs to, of what it is, and when it holds."""

    kind: str
    name: str
    phase: str
    s: float


class Rows(Protocol):
    """Rows of a program: bounds, labels, where their derivatives are, and both as functions."""

    lower: Array
    upper: Array
    labels: list[Label]
    at_rows: Index
    at_columns: Index

    def values(self, at: State) -> Array: ...
    def slopes(self, at: State) -> Array: ...


class InstantRows:
    """Rows that are sums of a few quantities of an instant."""

    def __init__(self, grid: Grid, rows: Sequence[Row]) -> None:
        self.lower, self.upper = (np.array([getattr(r, k) for r in rows]) for k in ("lower", "upper"))
        self.labels = [Label(r.kind, r.name, grid.moments[r.at].phase, grid.moments[r.at].s) for r in rows]
        groups = grid.kernel.groups
        where = places_of(groups)
        K, width, n = len(grid.s), grid.basis.degree + 1, grid.basis.count * grid.kernel.n
        widths, counts = [len(g.names) for g in groups], [len(g.entries) for g in groups]
        values_at = np.cumsum([0, *(K * w for w in widths)])
        slopes_at = np.cumsum([0, *(K * c * width for c in counts)])
        of_row = [[np.flatnonzero(g.entries[:, 0] == r) for r in range(len(g.names))] for g in groups]
        columns = [grid.columns(g) for g in groups]
        none = np.zeros(0, dtype=int)
        row, source, factor = [], [], []
        jac_row, jac_column, jac_source, jac_factor = [none], [none], [none], [np.zeros(0)]
        for r, spec in enumerate(rows):
            for name, x in spec.terms:
                g, i = where[name]
                row.append(r)
                source.append(values_at[g] + spec.at * widths[g] + i)
                factor.append(x)
                entries = of_row[g][i]
                at = (slopes_at[g] + (spec.at * counts[g] + entries)[:, None] * width + np.arange(width)).ravel()
                jac_source.append(at)
                jac_column.append(columns[g][spec.at, entries].ravel())
                jac_row.append(np.full(at.size, r))
                jac_factor.append(np.full(at.size, x))
        self._values = csr_array((factor, (row, source)), shape=(len(rows), values_at[-1]))
        flat = np.concatenate(jac_row) * n + np.concatenate(jac_column)
        unique, place = np.unique(flat, return_inverse=True)
        data = (np.concatenate(jac_factor), (place, np.concatenate(jac_source)))
        self._slopes = csr_array(data, shape=(len(unique), slopes_at[-1]))
        self.at_rows: Index = unique // n
        self.at_columns: Index = unique % n

    def values(self, at: State) -> Array:
        return np.asarray(self._values @ at.values)

    def slopes(self, at: State) -> Array:
        return np.asarray(self._slopes @ at.slopes)


class PlannedRows:
    """Rows of constraints of planning, at instants."""

    def __init__(self, samples: Samples, moments: Sequence[Moment]) -> None:
        self.samples, groups = samples, samples.kernel.rows
        self._scale = np.concatenate([g.scale for g in groups])
        count = len(self._scale)
        self.lower, self.upper = (
            np.tile(np.concatenate([getattr(g, k) for g in groups]) / self._scale, len(moments))
            for k in ("lower", "upper")
        )
        names = [(g.label, g.names[k]) for g in groups for k in range(len(g.names))]
        self.labels = [Label(*name, m.phase, m.s) for m in moments for name in names]
        index = np.arange(len(moments))[:, None] * count + samples.kernel.entries[:, 0]
        self.at_rows: Index = np.broadcast_to(index[:, :, None], samples.columns.shape).ravel()
        self.at_columns: Index = samples.columns.ravel()

    def values(self, at: State) -> Array:
        return (at.first(self.samples).values / self._scale).ravel()

    def slopes(self, at: State) -> Array:
        by_points = at.first(self.samples).by_points
        return (by_points / self._scale[self.samples.kernel.entries[:, 0]][:, None]).ravel()


class ConstantRows:
    """Linear rows of control points."""

    def __init__(self, rows: Sequence[LinearRows]) -> None:
        matrix = np.vstack([x.matrix for x in rows])
        self.lower, self.upper = (np.concatenate([getattr(x, k) for x in rows]) for k in ("lower", "upper"))
        self.labels = [Label(x.label, name, PHASES.get(x.label, ""), x.at) for x in rows for name in x.names]
        self._matrix = matrix
        self.at_rows, self.at_columns = np.nonzero(matrix)
        self._constant = matrix[self.at_rows, self.at_columns]

    def values(self, at: State) -> Array:
        return np.asarray(self._matrix @ at.x)

    def slopes(self, at: State) -> Array:
        return self._constant


class WalkProgram(Judged):
    """Rows, objective and derivatives over control points (count * joints, point after point).

    Args:
        grid: of instants.
        rows: groups of them.
        lower: bounds of control points (count, joints).
        upper: bounds.
        parts: of the objective.
    """

    def __init__(self, grid: Grid, rows: Sequence[Rows], lower: Array, upper: Array, parts: Sequence[Part]) -> None:
        self.grid, self.groups, self.parts = grid, list(rows), list(parts)
        self.lower, self.upper = lower.ravel(), upper.ravel()
        self.n = self.lower.size
        self.seconds = 0.0
        self._last: State | None = None
        self.labels = [label for g in rows for label in g.labels]
        self.m = len(self.labels)
        self.row_lower, self.row_upper = (np.concatenate([getattr(g, k) for g in rows]) for k in ("lower", "upper"))
        firsts = np.cumsum([0, *(len(g.labels) for g in rows)])
        self.jac_rows: Index = np.concatenate([first + g.at_rows for first, g in zip(firsts[:-1], rows, strict=True)])
        self.jac_columns: Index = np.concatenate([g.at_columns for g in rows])
        span = np.arange(grid.basis.count).repeat(grid.kernel.n)
        near = np.abs(span[:, None] - span) <= grid.basis.degree
        self.hess_rows, self.hess_columns = np.nonzero(np.tril(near))

    def prepare(self, second: bool) -> None:
        """Compile what a solver will call, by calling it."""
        x = np.clip(np.zeros(self.n), self.lower, self.upper)
        self.f(x)
        if second:
            self.hessian(x, 1.0, np.zeros(self.m))

    def f(self, x: Array) -> float:
        with Timed(self):
            at = self._at(x)
            return sum(part.value(at) for part in self.parts)

    def gradient(self, x: Array) -> Array:
        with Timed(self):
            at = self._at(x)
            return np.sum([np.zeros(self.n), *(part.gradient(at) for part in self.parts)], axis=0)

    def g(self, x: Array) -> Array:
        with Timed(self):
            at = self._at(x)
            return np.concatenate([g.values(at) for g in self.groups])

    def jacobian(self, x: Array) -> Array:
        """The values at `jac_rows`, `jac_columns`."""
        with Timed(self):
            at = self._at(x)
            return np.concatenate([g.slopes(at) for g in self.groups])

    def hessian(self, x: Array, sigma: float, multipliers: Array) -> Array:
        """Second derivatives of sigma f by Gauss and Newton, and a little on the diagonal; nothing of rows."""
        with Timed(self):
            H = np.diag(np.full(self.n, DAMPING))
            if sigma:
                at = self._at(x)
                for part in self.parts:
                    part.add_curvature(at, sigma, H)
            return H[self.hess_rows, self.hess_columns]

    def curve(self, x: Array) -> Curve:
        """The motion of the variables."""
        return Curve(self.grid.basis, x.reshape(self.grid.basis.count, -1).copy(), self.grid.duration)

    def _at(self, x: Array) -> State:
        if self._last is None or not np.array_equal(self._last.x, x):
            self._last = State(self.grid, x)
        return self._last
