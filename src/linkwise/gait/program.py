"""The walking problem as a nonlinear program that the planner's solvers take.

minimise  integral of sum (tau / limit)^2 dt + posture     over control points of cubic B-splines
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.gait.kernel import Found, Group, InstantKernel
from linkwise.gait.rows import Row, places_of
from linkwise.gait.timetable import Moment, supports_of
from linkwise.plan.curve import Array, Basis, Curve
from linkwise.plan.program import beyond
from linkwise.plan.rows import LinearRows

Index = NDArray[np.intp]
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
        self.s: Array = np.array([m.s for m in moments])
        self.supports = supports_of(moments)
        self.start, band, matrix = basis.bands(self.s, 3)
        powers = duration ** -np.arange(3.0)[:, None]
        self.band: Array = band * powers
        self.matrix: Array = matrix.reshape(len(self.s), 3, -1) * powers

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


class WalkProgram:
    """Rows, objective and derivatives over control points (count * joints, point after point).

    Args:
        grid: of instants.
        rows: at instants.
        linear: rows of control points.
        lower: bounds of control points (count, joints).
        upper: bounds.
        reference: control points that postures are measured from (count, joints).
        posture: weights of joints in the posture term (joints).
        effort: weights of torques squared at instants (instants, joints with limits); zeros for feasibility alone.
    """

    def __init__(
        self,
        grid: Grid,
        rows: Sequence[Row],
        linear: Sequence[LinearRows],
        lower: Array,
        upper: Array,
        reference: Array,
        posture: Array,
        effort: Array,
    ) -> None:
        self.grid, self.rows, self.linear = grid, list(rows), list(linear)
        self.lower, self.upper, self.reference = lower.ravel(), upper.ravel(), reference.ravel()
        self.posture = np.tile(posture, grid.basis.count)
        self.effort = effort
        self.n = self.lower.size
        self.seconds = 0.0
        self.evaluations = 0
        self._x: Array | None = None
        self._kept: dict[str, Any] = {}
        self._lay_out()
        self.hess_rows, self.hess_columns = np.nonzero(np.tril(np.ones((self.n, self.n), dtype=bool)))

    # ---- structure

    def _lay_out(self) -> None:
        from scipy.sparse import csr_array

        grid, groups = self.grid, self.grid.kernel.groups
        where = places_of(groups)
        K, width = len(grid.s), grid.basis.degree + 1
        widths = [len(g.names) for g in groups]
        counts = [len(g.entries) for g in groups]
        values_at = np.cumsum([0, *(K * w for w in widths)])
        slopes_at = np.cumsum([0, *(K * c * width for c in counts)])
        of_row = [[np.flatnonzero(g.entries[:, 0] == r) for r in range(len(g.names))] for g in groups]
        columns = [grid.columns(g) for g in groups]
        row, source, factor = [], [], []
        jac_row, jac_column, jac_source, jac_factor = [], [], [], []
        for r, spec in enumerate(self.rows):
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
        matrix = np.vstack([x.matrix for x in self.linear]) if self.linear else np.zeros((0, self.n))
        first = len(self.rows)
        self.m = first + len(matrix)
        self._linear = matrix
        self._values = csr_array((factor, (row, source)), shape=(first, values_at[-1]))
        flat = np.concatenate(jac_row) * self.n + np.concatenate(jac_column)
        unique, place = np.unique(flat, return_inverse=True)
        data = (np.concatenate(jac_factor), (place, np.concatenate(jac_source)))
        self._slopes = csr_array(data, shape=(len(unique), slopes_at[-1]))
        at_row, at_column = np.nonzero(matrix)
        self._constant = matrix[at_row, at_column]
        self.jac_rows: Index = np.concatenate([unique // self.n, first + at_row])
        self.jac_columns: Index = np.concatenate([unique % self.n, at_column])
        self.row_lower = np.concatenate([[x.lower for x in self.rows], *(x.lower for x in self.linear)])
        self.row_upper = np.concatenate([[x.upper for x in self.rows], *(x.upper for x in self.linear)])
        self.scale = np.ones(self.m)

    def prepare(self, second: bool) -> None:
        """Compile what a solver will call: the kernel is compiled when it is made."""

    # ---- functions

    def f(self, x: Array) -> float:
        return self._timed(lambda: self._effort_value(x) + self._posture_value(x))

    def effort_of(self, x: Array) -> float:
        """The integral of squared normalised torques."""
        return self._timed(lambda: self._effort_value(x))

    def gradient(self, x: Array) -> Array:
        return self._timed(lambda: self._gradient(x))

    def g(self, x: Array) -> Array:
        return self._timed(lambda: self._g(x))

    def jacobian(self, x: Array) -> Array:
        """The values at `jac_rows`, `jac_columns`."""
        return self._timed(lambda: self._jacobian(x))

    def hessian(self, x: Array, sigma: float, multipliers: Array) -> Array:
        """Second derivatives of sigma f by Gauss and Newton, and a little on the diagonal; nothing of rows."""
        return self._timed(lambda: self._hessian(x, sigma))

    def violations(self, x: Array) -> Array:
        """How far each row is beyond its bounds."""
        return beyond(self.g(x), self.row_lower, self.row_upper)

    def infeasibility(self, x: Array) -> float:
        """The largest of `violations`."""
        return float(self.violations(x).max(initial=0.0))

    def curve(self, x: Array) -> Curve:
        """The motion of the variables."""
        return Curve(self.grid.basis, x.reshape(self.grid.basis.count, -1).copy(), self.grid.duration)

    # ---- parts

    def _at(self, x: Array) -> dict[str, Any]:
        if self._x is None or not np.array_equal(self._x, x):
            self._x = np.array(x, dtype=float)
            found, by_points = self.grid.first(self._x.reshape(self.grid.basis.count, -1))
            self._kept = {"found": found, "by_points": by_points}
            self.evaluations += 1
        return self._kept

    def _torques(self, x: Array) -> Array:
        """Those of joints at instants, N m."""
        return np.asarray(self._at(x)["found"].values[0][:, : self.effort.shape[1]])

    def _effort_value(self, x: Array) -> float:
        tau = self._torques(x)
        return float(np.sum(self.effort * tau * tau))

    def _posture_value(self, x: Array) -> float:
        apart = x - self.reference
        return float(0.5 * np.sum(self.posture * apart * apart))

    def _residual_slopes(self, x: Array) -> Array:
        """Derivatives of torques by control points (instants, joints, band * coordinates)."""
        kept = self._at(x)
        if "residuals" not in kept:
            group, by_points = self.grid.kernel.groups[0], kept["by_points"][0]
            chosen = np.flatnonzero(group.entries[:, 0] < self.effort.shape[1])
            row, joint = group.entries[chosen].T
            K, width, n = len(self.grid.s), self.grid.basis.degree + 1, self.grid.kernel.n
            dense = np.zeros((K, self.effort.shape[1], width, n))
            dense[:, row, :, joint] = by_points[:, chosen].transpose(1, 0, 2)
            kept["residuals"] = dense.reshape(K, -1, width * n)
        return np.asarray(kept["residuals"])

    def _gradient(self, x: Array) -> Array:
        total = self.posture * (x - self.reference)
        if np.any(self.effort):
            slopes = self._residual_slopes(x)
            parts = np.matmul((2.0 * self.effort * self._torques(x))[:, None, :], slopes)[:, 0]
            for k, part in zip(self.grid.start * self.grid.kernel.n, parts, strict=True):
                total[k : k + part.size] += part
        return total

    def _g(self, x: Array) -> Array:
        values = np.concatenate([v.ravel() for v in self._at(x)["found"].values])
        return np.concatenate([self._values @ values, self._linear @ x])

    def _jacobian(self, x: Array) -> Array:
        slopes = np.concatenate([b.ravel() for b in self._at(x)["by_points"]])
        return np.concatenate([self._slopes @ slopes, self._constant])

    def _hessian(self, x: Array, sigma: float) -> Array:
        H = np.diag(sigma * self.posture + DAMPING)
        if np.any(self.effort) and sigma:
            slopes = self._residual_slopes(x) * np.sqrt(2.0 * sigma * self.effort)[:, :, None]
            for k in np.unique(self.grid.start):
                G = slopes[self.grid.start == k].reshape(-1, slopes.shape[-1])
                at = slice(k * self.grid.kernel.n, k * self.grid.kernel.n + G.shape[1])
                H[at, at] += G.T @ G
        return H[self.hess_rows, self.hess_columns]

    def _timed(self, run: Any) -> Any:
        began = time.perf_counter()
        try:
            return run()
        finally:
            self.seconds += time.perf_counter() - began
