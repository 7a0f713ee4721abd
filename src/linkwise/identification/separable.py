"""Least squares in which most parameters are linear: these are eliminated, and the few others found by Gauss-Newton.

Variable projection: for any values of the nonlinear parameters the best linear ones follow, so that the squared
residuals are minimised over the few nonlinear ones alone, by Gauss and Newton's method with Levenberg's damping.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.errors import InputError, LinkwiseError

Array = NDArray[Any]
Slopes = Callable[[Array, int], tuple[Array, Array]]

STEP = 1e-30  # of complex steps
ROUND_OFF = 1e-12  # of eigenvalues: smaller ones are of columns that depend on others
RISE, FALL = 5.0, 0.2  # of the damping after a step that failed, and one that did not


@dataclass(frozen=True)
class Separated:
    """Least squares over linear and nonlinear parameters.

    Args:
        linear: estimates of those that the model is linear in: of `linear` columns, then of `columns(phi)`.
        nonlinear: estimates phi of the others.
        residuals: (rows,) target less model, as measured, without weights.
        jacobian: (rows, linear + nonlinear) derivatives of the model less the target.
        weights: (rows,) of squared residuals.
        cost: half the sum of weighted squares.
        iterations: steps that were tried.
        status: "solved", or in words why not.
        at_bounds: places of nonlinear parameters that ended on a bound.
    """

    linear: Array
    nonlinear: Array
    residuals: Array
    jacobian: Array
    weights: Array
    cost: float
    iterations: int
    status: str
    at_bounds: tuple[int, ...] = ()

    def covariance(self) -> Array:
        """Of linear, then nonlinear parameters, for residuals that are white: s^2 (J^T W J)^-1.

        A parameter on its bound, or one that the data do not determine, has NaN.
        """
        width = self.jacobian.shape[1]
        J = self.jacobian * np.sqrt(self.weights)[:, None]
        n = len(self.linear)
        free = np.array([k for k in range(width) if k - n not in self.at_bounds and np.any(J[:, k])], dtype=int)
        size = np.linalg.norm(J[:, free], axis=0)
        inverse, certain = _inverse((J[:, free] / size).T @ (J[:, free] / size))
        freedom = max(int(np.count_nonzero(self.weights)) - len(free), 1)
        found = np.full((width, width), np.nan)
        own = 2.0 * self.cost / freedom * inverse / np.outer(size, size)
        own[~certain, :] = own[:, ~certain] = np.nan
        found[np.ix_(free, free)] = own
        return found


def separable_least_squares(
    columns: Callable[[Array], Array],
    target: ArrayLike | Callable[[Array], Array],
    start: ArrayLike,
    *,
    linear: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    slopes: Slopes | None = None,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
    most: int = 100,
    tolerance: float = 1e-10,
) -> Separated:
    """Minimise sum of weights (target - linear x - columns(phi) y)^2 over x, y and phi.

    Args:
        columns: function of phi that returns (rows, k); it is differentiated by complex steps unless `slopes` is given.
        target: (rows,) of measured torques; a function of phi where these depend on it, as with a delay.
        start: phi to begin at; the minimum that is found may be a local one.
        linear: (rows, n) of columns that do not depend on phi.
        weights: (rows,) of squared residuals, such as the inverse variance of each; 0 leaves a row out.
        slopes: function of phi and a place k in it that returns derivatives by phi[k]: of columns (rows, n) and of the
            target (rows,).
        lower: bounds of phi.
        upper: likewise.
        most: steps to try.
        tolerance: relative to the cost: a smaller gain ends it.

    Source: G. H. Golub and V. Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems
    whose variables separate, SIAM J. Numer. Anal. 10(2), 1973. The damping is Levenberg and Marquardt's.
    """
    phi = _vector(start, "start")
    low, high = (np.broadcast_to(np.asarray(x, dtype=float), phi.shape) for x in (lower, upper))
    if not np.all(low < high):
        raise InputError("separable_least_squares: expected lower bounds below upper ones.")
    phi = np.clip(phi, low, high)
    problem = _Problem(phi, columns, target, linear, weights, slopes)
    now = problem.at(phi)
    damping, status, tries = 1e-3, "solved", 0
    while len(phi):
        J = problem.reduced(now)
        gradient, square = J.T @ now.r, J.T @ J
        held = ((phi <= low) & (gradient > 0.0)) | ((phi >= high) & (gradient < 0.0))
        then, tries, damping = _better(problem, now, (gradient, square, held), (low, high), damping, tries, most)
        if then is None:
            status = "solved" if tries < most else f"stopped after {most} steps"
            break
        gain, now, phi = now.cost - then.cost, then, then.phi
        if gain <= tolerance * now.cost:
            break
    at_bounds = tuple(int(k) for k in np.flatnonzero((phi <= low) | (phi >= high)))
    A, r = problem.plain(now)
    return Separated(now.x, phi, r, A, problem.w**2, now.cost, tries, status, at_bounds)


class _Point(NamedTuple):
    """What is known at one phi: weighted columns, target, the best linear parameters, and the residual."""

    phi: Array
    B: Array
    b: Array
    x: Array
    inverse: Array
    r: Array
    cost: float


class _Problem:
    """The weighted rows."""

    def __init__(self, phi: Array, columns: Any, target: Any, linear: Any, weights: Any, slopes: Slopes | None) -> None:
        self.columns, self.slopes = columns, slopes
        constant = None if callable(target) else _vector(target, "target")
        self.target = target if constant is None else lambda phi: constant
        self.rows = len(np.asarray(self.target(phi)))
        w = np.ones(self.rows) if weights is None else _vector(weights, "weights")
        if np.any(w < 0.0):
            raise InputError("separable_least_squares weights: expected numbers of at least 0, got a negative one.")
        self.w = np.sqrt(self._checked(w, "weights"))
        self.linear = self._checked(np.zeros((self.rows, 0)) if linear is None else linear, "linear")
        self.A0 = self.w[:, None] * self.linear
        self.G0 = self.A0.T @ self.A0

    def _checked(self, x: Any, what: str) -> Array:
        found = np.asarray(x, dtype=float)
        if len(found) != self.rows or not np.all(np.isfinite(found)):
            raise InputError(
                f"separable_least_squares {what}: expected {self.rows} rows of finite numbers, got shape {found.shape}."
                " Give rows that cannot be used the weight 0 and any finite numbers."
            )
        return found

    def at(self, phi: Array) -> _Point:
        """The best linear parameters, and what is left, at one phi."""
        b, columns = self._checked(self.target(phi), "target"), self._checked(self.columns(phi), "columns")
        B, b = self.w[:, None] * columns, self.w * b
        cross = self.A0.T @ B
        gram = np.block([[self.G0, cross], [cross.T, B.T @ B]])
        size = np.sqrt(np.maximum(np.diag(gram), 1e-300))
        inverse = _inverse(gram / np.outer(size, size))[0] / np.outer(size, size)
        x = inverse @ np.concatenate([self.A0.T @ b, B.T @ b])
        r = b - self._times(B, x)
        x = x + inverse @ np.concatenate([self.A0.T @ r, B.T @ r])  # one step of refinement
        r = b - self._times(B, x)
        return _Point(phi, B, b, x, inverse, r, 0.5 * float(r @ r))

    def _times(self, B: Array, x: Array) -> Array:
        n = self.A0.shape[1]
        return self.A0 @ x[:n] + B @ x[n:]

    def _derivative(self, phi: Array, k: int) -> tuple[Array, Array]:
        """Of columns (rows, n) and of the target (rows,) by phi[k], without weights."""
        if self.slopes is not None:
            return self.slopes(phi, k)
        moved = phi.astype(complex)
        moved[k] += STEP * 1j
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                columns, target = np.asarray(self.columns(moved)), np.asarray(self.target(moved))
            if not (np.iscomplexobj(columns) or np.iscomplexobj(target)):
                raise TypeError("real numbers for complex ones")
        except (TypeError, np.exceptions.ComplexWarning) as error:
            raise LinkwiseError(
                f"separable_least_squares: expected functions that take complex numbers, or slopes=, got: {error}."
            ) from error
        return columns.imag / STEP, target.imag / STEP

    def reduced(self, p: _Point) -> Array:
        """Derivatives (rows, p) of the residual whose linear parameters are the best ones."""
        n, J = self.A0.shape[1], np.zeros((len(p.b), len(p.phi)))
        for k in range(len(p.phi)):
            dB, db = self._derivative(p.phi, k)
            own = self.w[:, None] * dB
            c = self.w * db - own @ p.x[n:]
            seen = np.concatenate([self.A0.T @ c, p.B.T @ c])
            seen[n:] += own.T @ p.r
            J[:, k] = c - self._times(p.B, p.inverse @ seen)
        return J

    def plain(self, p: _Point) -> tuple[Array, Array]:
        """Derivatives of the model less the target by all parameters, and the residual, without weights."""
        n, A0, B = self.A0.shape[1], self.linear, np.asarray(self.columns(p.phi), dtype=float)
        b = np.asarray(self.target(p.phi), dtype=float)
        slopes = (self._derivative(p.phi, k) for k in range(len(p.phi)))
        by_phi = [dB @ p.x[n:] - db for dB, db in slopes]
        J = np.concatenate([A0, B, np.array(by_phi).reshape(-1, len(b)).T], axis=1)
        return J, b - A0 @ p.x[:n] - B @ p.x[n:]


def _better(
    problem: _Problem, now: _Point, normal: tuple[Array, Array, Array], bounds: tuple[Array, Array], damping: float,
    tries: int, most: int,
) -> tuple[_Point | None, int, float]:  # fmt: skip
    """The next point, with more damping until the cost falls; None where no step lowers it."""
    gradient, square, held = normal
    free = np.flatnonzero(~held)
    scale = np.maximum(np.diag(square), 1e-12 * max(float(np.diag(square).max()), 1e-300))
    while np.any(gradient[free]) and tries < most and damping < 1e12:
        tries += 1
        step = np.zeros(len(gradient))
        step[free] = -np.linalg.solve((square + damping * np.diag(scale))[np.ix_(free, free)], gradient[free])
        phi = np.clip(now.phi + step, *bounds)
        if np.array_equal(phi, now.phi):
            break
        then = problem.at(phi)
        if then.cost < now.cost:
            return then, tries, max(damping * FALL, 1e-9)
        damping *= RISE
    return None, tries, damping


def _inverse(gram: Array) -> tuple[Array, Array]:
    """The inverse of a symmetric matrix of unit columns on what they determine, and which of them it determines."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > ROUND_OFF * max(float(values[-1]), 0.0) if len(values) else np.zeros(0, dtype=bool)
    V = vectors[:, kept]
    lost = np.linalg.norm(vectors[:, ~kept], axis=1) if len(values) else np.zeros(0)
    return (V / values[kept]) @ V.T, lost < 1e-6


def _vector(x: ArrayLike, what: str) -> Array:
    try:
        found = np.array(x, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"separable_least_squares {what}: expected numbers, got {x!r}.") from error
    if found.ndim != 1 or not np.all(np.isfinite(found)):
        raise InputError(f"separable_least_squares {what}: expected a vector of finite numbers, got {found!r}.")
    return found
