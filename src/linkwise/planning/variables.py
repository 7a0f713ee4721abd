"""The variables of a planned motion, and what is minimised over them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from linkwise.planning.curve import Array, Basis, Curve, Index
from linkwise.planning.samples import First, Samples
from linkwise.planning.term_and_constraint import Sum
from linkwise.planning.terms import Time
from linkwise.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Variables:
    """All control points and the duration, each within bounds; those whose bounds agree are no variables.

    Args:
        basis: of the spline.
        joints: how many joints.
        lower: bounds of the control points, flat, then of the duration.
        upper: bounds.
    """

    basis: Basis
    joints: int
    lower: Array
    upper: Array

    @cached_property
    def free(self) -> Index:
        """Which of all are variables."""
        return np.flatnonzero(self.upper > self.lower)

    @cached_property
    def place(self) -> Index:
        """For each of all its place among the variables, -1 where it has none."""
        place = np.full(len(self.lower), -1)
        place[self.free] = np.arange(len(self.free))
        return place

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Of the variables."""
        return self.lower[self.free], self.upper[self.free]

    def gradient(self, every: Array) -> Array:
        """By the variables, from the derivatives by all numbers."""
        return every[self.free]

    def entries(self, rows: Index, columns: Index, m: int) -> tuple[Index, Index, Callable[[Array], Array]]:
        """Rows and columns of a sparse jacobian by the variables, and how its values follow from those by all numbers.

        Those stand at `rows` of m, and at `columns`.
        """
        kept = self.place[columns] >= 0
        return rows[kept], self.place[columns[kept]], lambda values: values[kept]

    def coupled(self, every: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which pairs of variables have second derivatives, from those of all numbers."""
        return every[np.ix_(self.free, self.free)]

    def curvature(self, every: Array, rows: Index, columns: Index) -> Array:
        """Second derivatives by pairs of variables, from those by all numbers."""
        return every[self.free[rows], self.free[columns]]

    @property
    def time_is_free(self) -> bool:
        return bool(self.upper[-1] > self.lower[-1])

    def edge(self, duration: float) -> str:
        """Whether a free duration stands at its bound: "longest" or "shortest", else nothing."""
        if not self.time_is_free:
            return ""
        return (
            "longest" if duration > 0.999 * self.upper[-1] else "shortest" if duration < 1.001 * self.lower[-1] else ""
        )

    def within(self, curve: Curve, radius: Array) -> Variables:
        """The same, with control points that stay within so much (joints,) of those of a motion."""
        points = np.append(curve.points.ravel(), 0.0)
        reach = np.append(np.tile(radius, self.basis.count), np.inf)
        lower, upper = np.maximum(self.lower, points - reach), np.minimum(self.upper, points + reach)
        fixed = self.lower == self.upper
        low, high = (np.where(fixed, self.lower, b) for b in (lower, upper))
        return replace(self, lower=np.minimum(low, high), upper=high)

    def near(self, duration: float, factor: float) -> Variables:
        """The same, with a duration within this factor of another."""
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[-1], upper[-1] = max(lower[-1], duration / factor), min(upper[-1], duration * factor)
        return replace(self, lower=lower, upper=upper)

    def full(self, x: Array) -> Array:
        """All numbers, from the variables."""
        every = self.lower.copy()
        every[self.free] = x
        return every

    def split(self, x: Array) -> tuple[Array, float]:
        """Control points (count, joints), and the duration."""
        every = self.full(x)
        return every[:-1].reshape(self.basis.count, self.joints), float(every[-1])

    def curve(self, x: Array) -> Curve:
        """The motion of the variables."""
        P, T = self.split(x)
        return Curve(self.basis, P, T)

    def of(self, curve: Curve) -> Array:
        """The variables of a motion, moved into their bounds."""
        every = np.append(curve.points.ravel(), curve.duration)
        return np.clip(every, self.lower, self.upper)[self.free]


@dataclass(frozen=True, eq=False)
class Spanned(Variables):
    """Variables of curves in a space of their own: control points are `origin + space @ y`, y (k, joints).

    A Fourier series is such a space of splines, and so are motions that begin and end alike. Bounds of control points
    say nothing here.

    Args:
        space: its directions (count, k), the same for every joint.
        origin: control points (count, joints).
        reach: bounds of y, flat, where there are any.
    """

    space: Array = field(default_factory=lambda: np.zeros((0, 0)))
    origin: Array = field(default_factory=lambda: np.zeros((0, 0)))
    reach: tuple[Array, Array] | None = None

    @cached_property
    def _map(self) -> Any:
        """All numbers by the variables, a sparse matrix."""
        from scipy.sparse import block_diag, csr_array, eye_array, kron

        time = csr_array(np.ones((1, 1)) if self.time_is_free else np.zeros((1, 0)))
        return csr_array(block_diag([kron(csr_array(self.space), eye_array(self.joints)), time]))

    @property
    def bounds(self) -> tuple[Array, Array]:
        free = np.full(self.space.shape[1] * self.joints, np.inf)
        low, high = self.reach or (-free, free)
        last = slice(-1, None) if self.time_is_free else slice(0, 0)
        return np.append(low, self.lower[last]), np.append(high, self.upper[last])

    def gradient(self, every: Array) -> Array:
        return np.asarray(self._map.T @ every)

    def entries(self, rows: Index, columns: Index, m: int) -> tuple[Index, Index, Callable[[Array], Array]]:
        from scipy.sparse import csr_array

        wide, n = self._map.shape

        def dense(values: Array) -> Array:
            return np.asarray((csr_array((values, (rows, columns)), shape=(m, wide)) @ self._map).toarray()).ravel()

        return np.repeat(np.arange(m), n), np.tile(np.arange(n), m), dense

    def coupled(self, every: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.ones((self._map.shape[1],) * 2, dtype=bool)

    def curvature(self, every: Array, rows: Index, columns: Index) -> Array:
        return np.asarray(self._map.T @ (self._map.T @ every).T)[columns, rows]

    def within(self, curve: Curve, radius: Array) -> Variables:
        """The same, with each direction of the space within so much (joints,) of a motion."""
        y = self.of(curve)[: self.space.shape[1] * self.joints]
        far = np.outer(1.0 / np.abs(self.space).max(axis=0), radius).ravel()
        return replace(self, reach=(y - far, y + far))

    def split(self, x: Array) -> tuple[Array, float]:
        y = x[: self.space.shape[1] * self.joints].reshape(-1, self.joints)
        return self.origin + self.space @ y, float(x[-1] if self.time_is_free else self.lower[-1])

    def of(self, curve: Curve) -> Array:
        y = np.linalg.lstsq(self.space, curve.points - self.origin, rcond=None)[0].ravel()
        time = [np.clip(curve.duration, self.lower[-1], self.upper[-1])] if self.time_is_free else []
        return np.clip(np.append(y, time), *self.bounds)


@dataclass(frozen=True, eq=False)
class Integral:
    """The integral of sum weights * rows over time, where squared rows count by their squares.

    Args:
        samples: the rows at points of an integration rule.
        rule: its weights, for a motion's time that is one.
        weights: of rows.
        squared: which rows are squared.
    """

    samples: Samples
    rule: Array
    weights: Array
    squared: NDArray[np.bool_]

    def value(self, values: Array, T: float) -> float:
        """From the rows at all points."""
        return float(self.each(values, T) @ self.weights)

    def each(self, values: Array, T: float) -> Array:
        """The integral of every row, without weights."""
        return T * (self.rule @ np.where(self.squared, values * values, values))

    def slopes(self, values: Array) -> Array:
        """The derivatives of the sum over points by each value, but for the factor T."""
        return self.rule[:, None] * self.weights * np.where(self.squared, 2.0 * values, 1.0)

    def add_curvature(self, P: Array, T: float, first: First, factor: float, exact: bool, into: Array) -> None:
        """Add a factor times the second derivatives to `into`, a matrix over all control points and T.

        Exact, or by Gauss and Newton: of squared rows the products of first derivatives alone.
        """
        slopes = factor * self.slopes(first.values)
        squares = 2.0 * self.rule[:, None] * np.where(self.squared, self.weights, 0.0)
        self.samples.outer(first, factor * T * squares, into)
        by_points, by_time = self.samples.gathered(first, slopes)
        into[-1, :-1] += by_points
        into[:-1, -1] += by_points
        into[-1, -1] += 2.0 * by_time
        bent = T * slopes if exact else np.where(self.squared, 0.0, T * slopes)
        if np.any(bent):
            self.samples.curvature(P, T, bent, into)


class Anchor(NamedTuple):
    """Half of weighted squares of control points' distances from others, all (count * joints)."""

    points: Array
    weights: Array

    def value(self, P: Array, T: float) -> float:
        return float(0.5 * np.sum(self.weights * (P.ravel() - self.points) ** 2))

    def add_gradient(self, P: Array, T: float, into: Array) -> None:
        into[:-1] += self.weights * (P.ravel() - self.points)

    def add_curvature(self, P: Array, T: float, factor: float, into: Array) -> None:
        into.flat[: -1 : len(into) + 1] += factor * self.weights


class Calm(NamedTuple):
    """T / 2 times the sum over joints of P . matrix P: what makes the calmest of motions that are as good.

    Of numbers that are no positions, as forces of contacts, nothing is asked.
    """

    matrix: Array
    positions: Array  # 1 for a position, else 0

    @classmethod
    def of(cls, basis: Basis, size: float, weight: float, positions: Array) -> Calm:
        """The integral over s = t/T of squares of q''(s), in parts of a size of motions."""
        s, rule = basis.gauss(max(1, basis.degree - 1))
        bends = basis.matrix(s, 2)
        return cls(2.0 * weight / size**2 * (bends.T * rule) @ bends, np.asarray(positions, dtype=float))

    def value(self, P: Array, T: float) -> float:
        return float(0.5 * T * np.sum(P * self._pull(P)))

    def add_gradient(self, P: Array, T: float, into: Array) -> None:
        into[:-1] += T * self._pull(P).ravel()
        into[-1] += self.value(P, 1.0)

    def add_curvature(self, P: Array, T: float, factor: float, into: Array) -> None:
        into[:-1, :-1] += np.kron(factor * T * self.matrix, np.diag(self.positions))
        cross = factor * self._pull(P).ravel()
        into[-1, :-1] += cross
        into[:-1, -1] += cross

    def _pull(self, P: Array) -> Array:
        return (self.matrix @ P) * self.positions


class Whole(Protocol):
    """What depends on the motion as a whole and is no integral over time."""

    @property
    def label(self) -> str: ...
    @property
    def samples(self) -> Samples: ...
    def prepare(self) -> None: ...
    def value(self, P: Array, T: float) -> float: ...
    def add_gradient(self, P: Array, T: float, factor: float, into: Array) -> None: ...
    def add_curvature(self, P: Array, T: float, factor: float, into: Array) -> None: ...


@dataclass(frozen=True, eq=False)
class Objective:
    """time * T + integrals + what control points are pulled to + what depends on the whole motion.

    Args:
        time: the weight of the duration.
        integrals: over time.
        pulls: to other control points, or to calm.
        damping: of solvers, added to the diagonal of second derivatives, which Gauss and Newton may leave singular.
        wholes: of the motion as a whole, with their factors.
    """

    time: float = 0.0
    integrals: tuple[Integral, ...] = ()
    pulls: tuple[Anchor | Calm, ...] = ()
    damping: float = 0.0
    wholes: tuple[tuple[float, Whole], ...] = ()

    @classmethod
    def of(cls, minimize: Sum, robot: Robot, sampled: Callable[..., Samples], rule: Array) -> Objective:
        """The sum of terms.

        Args:
            minimize: the terms.
            robot: what moves.
            sampled: gives the samples of rows at the points of the rule; those of another term than the integrals by a
                key of its own.
            rule: weights of an integration over the motion's time, which is one.
        """
        time = sum(factor for factor, term in minimize.terms if isinstance(term, Time))
        wholes = [(f, t, t.whole(robot, partial(sampled, key=t), rule)) for f, t in minimize.terms]
        kept = tuple((factor, whole) for factor, _, whole in wholes if whole is not None)
        integrals = [(f, t) for f, t, whole in wholes if whole is None and not isinstance(t, Time)]
        others = [(factor, *t.integrand(robot)) for factor, t in integrals]
        if not others:
            return cls(time, wholes=kept)
        weights = np.concatenate([factor * own for factor, _, own, _ in others])
        squared = np.concatenate([np.full(len(own), is_squared) for _, _, own, is_squared in others])
        return cls(time, (Integral(sampled([rows for _, rows, *_ in others]), rule, weights, squared),), wholes=kept)
