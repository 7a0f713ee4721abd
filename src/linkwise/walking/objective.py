"""What a walk makes small: a sum of parts over control points, each with value, slope and curvature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array

from linkwise.planning.curve import Array
from linkwise.planning.samples import First, Samples
from linkwise.planning.solvable import beyond
from linkwise.planning.variables import Objective
from linkwise.planning.words import Term

if TYPE_CHECKING:
    from linkwise.walking.program import Grid, Rows


@dataclass(frozen=True)
class Effort(Term):
    """The integral of squared torques over their limits, (5.1) of the source."""

    weights: Any = 1.0


def effort(weights: Any = 1.0) -> Effort:
    """The effort of walking: the integral of squared torques, each over its joint's strength.

    `weights` is a number, one a coordinate, or by joint's name, zero for those not named.
    """
    return Effort(weights)


class State:
    """The instants of a grid at control points: what the kernel finds there, and its derivatives by control points."""

    def __init__(self, grid: Grid, x: Array) -> None:
        self.grid, self.x = grid, np.array(x, dtype=float)
        self.P = self.x.reshape(grid.basis.count, -1)
        self.found, self.by_points = grid.first(self.P)
        self._firsts: dict[Samples, First] = {}

    def first(self, samples: Samples) -> First:
        """Rows of planning at their instants, and their derivatives."""
        if samples not in self._firsts:
            self._firsts[samples] = samples.first(self.P, self.grid.duration)
        return self._firsts[samples]

    @cached_property
    def values(self) -> Array:
        """All values of the kernel at all instants, flat."""
        return np.concatenate([v.ravel() for v in self.found.values])

    @cached_property
    def slopes(self) -> Array:
        """All derivatives, flat."""
        return np.concatenate([b.ravel() for b in self.by_points])

    @cached_property
    def torque_slopes(self) -> Array:
        """Derivatives of torques by the control points of their spans (instants, joints, band * coordinates)."""
        grid = self.grid
        group, by_points, joints = grid.kernel.groups[0], self.by_points[0], grid.joints
        chosen = np.flatnonzero(group.entries[:, 0] < joints)
        row, joint = group.entries[chosen].T
        K, width, n = len(grid.s), grid.basis.degree + 1, grid.kernel.n
        dense = np.zeros((K, joints, width, n))
        dense[:, row, :, joint] = by_points[:, chosen].transpose(1, 0, 2)
        return dense.reshape(K, -1, width * n)


class Part(Protocol):
    """One part of an objective."""

    def value(self, at: State) -> float: ...
    def gradient(self, at: State) -> Array: ...
    def add_curvature(self, at: State, factor: float, H: Array) -> None:
        """Add a factor times second derivatives, by Gauss and Newton, to H."""


class Torques:
    """Weighted squares of the joints' torques at instants: the effort of the source, (5.1)."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights

    def _torques(self, at: State) -> Array:
        return at.found.values[0][:, : self.weights.shape[1]]

    def value(self, at: State) -> float:
        return float(np.sum(self.weights * self._torques(at) ** 2))

    def gradient(self, at: State) -> Array:
        total, grid = np.zeros(at.x.size), at.grid
        parts = np.matmul((2.0 * self.weights * self._torques(at))[:, None, :], at.torque_slopes)[:, 0]
        for k, part in zip(grid.start * grid.kernel.n, parts, strict=True):
            total[k : k + part.size] += part
        return total

    def add_curvature(self, at: State, factor: float, H: Array) -> None:
        grid = at.grid
        slopes = at.torque_slopes * np.sqrt(2.0 * factor * self.weights)[:, :, None]
        for k in np.unique(grid.start):
            G = slopes[grid.start == k].reshape(-1, slopes.shape[-1])
            span = slice(k * grid.kernel.n, k * grid.kernel.n + G.shape[1])
            H[span, span] += G.T @ G


class Posture:
    """Half of weighted squares of control points' distances from a reference."""

    def __init__(self, reference: Array, weights: Array) -> None:
        self.reference, self.weights = reference, weights

    def value(self, at: State) -> float:
        return float(0.5 * np.sum(self.weights * (at.x - self.reference) ** 2))

    def gradient(self, at: State) -> Array:
        return self.weights * (at.x - self.reference)

    def add_curvature(self, at: State, factor: float, H: Array) -> None:
        H.flat[:: len(H) + 1] += factor * self.weights


class Penalty:
    """Weighted squares of how far rows are beyond their bounds."""

    def __init__(self, rows: Rows, weights: Sequence[float]) -> None:
        self.rows, self.weights = rows, np.array(weights)

    def beyond(self, at: State) -> Array:
        """Positive above the upper bound, negative below the lower one."""
        g = self.rows.values(at)
        sign = np.where(g > self.rows.upper, 1.0, -1.0)
        return sign * beyond(g, self.rows.lower, self.rows.upper)

    def value(self, at: State) -> float:
        return float(np.sum(self.weights * self.beyond(at) ** 2))

    def gradient(self, at: State) -> Array:
        return np.asarray(self._matrix(at).T @ (2.0 * self.weights * self.beyond(at)))

    def add_curvature(self, at: State, factor: float, H: Array) -> None:
        active = np.flatnonzero(self.beyond(at))
        J = self._matrix(at)[active]
        H += (J.T @ diags_array(2.0 * factor * self.weights[active]) @ J).toarray()

    def _matrix(self, at: State) -> csr_array:
        shape = len(self.weights), at.x.size
        return csr_array((self.rows.slopes(at), (self.rows.at_rows, self.rows.at_columns)), shape=shape)


class Terms:
    """Terms of planning, integrated over the grid."""

    def __init__(self, objective: Objective, duration: float) -> None:
        self.objective, self.T = objective, duration
        assert objective.samples is not None
        self.samples = objective.samples

    def value(self, at: State) -> float:
        return self.objective.value(at.first(self.samples).values, self.T)

    def gradient(self, at: State) -> Array:
        first = at.first(self.samples)
        return self.samples.gathered(first, self.T * self.objective.slopes(first.values))[0]

    def add_curvature(self, at: State, factor: float, H: Array) -> None:
        whole = np.zeros((len(H) + 1,) * 2)
        self.objective.add_curvature(at.P, self.T, at.first(self.samples), factor, False, whole)
        H += whole[:-1, :-1]
