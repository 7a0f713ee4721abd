"""The fastest timing of a path where reachability does not tell: limits of rates, elastic drives, functions of time."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cached_property
from math import factorial

import numpy as np
from numpy.typing import NDArray

from linkwise.planning.path import Path
from linkwise.planning.path_limits import PathLimits
from linkwise.planning.path_rows import PathModel
from linkwise.planning.solvers.blas import one_thread
from linkwise.planning.time_law import Solved, TimeLaw

Array = NDArray[np.float64]

NEAR = 1e-7  # of an interval: how far from its ends limits are asked for, on both sides of knots, where rows may jump
MOST = 7  # places of an interval where they are
ITERATIONS = 300
ENTERING, INNER = 40, 5  # rounds in which wide limits are narrowed, and steps of each
GAP = 1e-6  # relative to the time, between the motion found and the best
CENTRED, LESS = 0.05, 0.2  # when the barrier is lowered, in shares of the gap, and to what
KEEP = 0.05  # what a step leaves of each distance to a limit


def fastest_smooth_law(model: PathModel, path: Path, intervals: int, tight: Array | None = None) -> Solved:
    """The time law of an eased path under all limits, effort rate and jerk among them: a local optimum.

    The squared speed y = x_dot^2 along the path is a spline, whose degree is one below the order of the highest
    derivative that limits bound: quadratic for rates of torques, so that with u = x_ddot = y'/2 and j = y''/2

        tau = m u + c y + g + friction,
        tau_dot / x_dot = m j + (m' + 2 c) u + c' y + g' + d friction/dx,

    and limits of rates are linear in y but for their right hand side rate / sqrt(y), a convex function. Together with
    the time, convex too, a primal-dual interior-point method is run from a slow motion; every iterate keeps all limits
    at the points where they are asked for. Linearising the right hand side is safe, since a convex function lies above
    its tangents. Systems of equations have five diagonals.

    Torques of elastic drives are polynomials in y and further derivatives, and where a base moves, or loads change, all
    depends on the time too, at a place x the integral of 1 / sqrt(y) up to it: then rows are linearised as they are,
    and every step of time and barrier is still a descent.

    Source: Debrouwere et al., Time-optimal path following for robots with convex-concave constraints using sequential
    convex programming, IEEE T-RO 29(6), 2013, for the convex-concave form. We depart from it in the parameter, see
    `Path.eased`, in friction, and in that there is one interior-point method and no sequence of programs.

    Args:
        model: the robot and its limits.
        path: the eased path.
        intervals: about how many.
        tight: by which limits are divided in each interval, at least 1.
    """
    program = _Program(model, path, path.grid(intervals), tight)
    with one_thread() if program.timed else nullcontext():
        return program.solve()


class _Program:
    def __init__(self, model: PathModel, path: Path, x: Array, tight: Array | None) -> None:
        self.model, self.x, self.order = model, x, model.order
        h = self.h = np.diff(x)
        places = np.linspace(0.0, 1.0, min(max(3, 2 * self.order - 3), MOST))
        self.up_to, self.places = _quadrature(places), np.clip(places, NEAR, 1.0 - NEAR)
        points = (x[:-1, None] + h[:, None] * self.places).reshape(-1)
        self.rows = model.at(path, points)
        self.basis = _basis(x, self.order, self.places)  # (intervals, places, orders, coefficients): y, u, j, ... there
        self.limits = PathLimits(self.rows, np.ones(len(points)) if tight is None else np.repeat(tight, len(places)))
        self.timed = self.limits.timed

    def state(self, a: Array) -> Array:
        """y, u, j, ... at all points, (order, points), and the time where limits depend on it."""
        z = self._linear(a)
        if not self.timed:
            return z
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.vstack([z, self._passed(1.0 / np.sqrt(z[0]))])

    def _linear(self, a: Array) -> Array:
        n, m = len(self.h), self.order
        local = np.stack([a[k : n + k] for k in range(m)], axis=1)
        return np.einsum("kpoc,kc->okp", self.basis, local).reshape(m, -1)

    def _passed(self, slowness: Array) -> Array:
        """The time up to each point, from 1 / x_dot at all of them; or derivatives of it, (points, ...)."""
        slow = slowness.reshape(len(self.h), len(self.places), -1)
        within = self.h[:, None, None] * np.matmul(self.up_to, slow)
        whole = np.cumsum(within[:, -1:], axis=0)
        return (within + np.concatenate([np.zeros_like(whole[:1]), whole[:-1]])).reshape(slowness.shape)

    def _dense(self, local: Array) -> Array:
        """Numbers (points, coefficients of the interval) as (points, all coefficients)."""
        n, m = len(self.h), self.order
        found = np.zeros((n, len(self.places), n + m - 1))
        columns = np.arange(n)[:, None] + np.arange(m)
        rows = np.arange(n)[:, None, None], np.arange(len(self.places))[:, None], columns[:, None, :]
        found[rows] = local.reshape(n, len(self.places), m)
        return found.reshape(n * len(self.places), -1)

    def _time_slopes(self, y: Array) -> Array:
        """Derivatives of the time at all points by the coefficients, (points, coefficients)."""
        by_y = self.basis[:, :, 0].reshape(len(y), -1)
        return self._passed(self._dense(-0.5 * y[:, None] ** -1.5 * by_y))

    def time(self, y: Array) -> float:
        return float((self._weights / np.sqrt(y)).sum())

    @cached_property
    def _weights(self) -> Array:
        return (self.h[:, None] * self.up_to[-1]).reshape(-1)

    def start(self) -> Array:
        """A constant speed of the eased parameter that is slow enough; where time counts, neither too slow."""
        ones, best = np.ones(len(self.h) + self.order - 1), (-np.inf, 1.0)
        level = 1e6
        for _ in range(140):
            least = self._least(ones * level)
            if least > 0.0:
                slower = ones * (0.5 * level)
                return slower if self._least(slower) > 0.0 else ones * level
            best = max(best, (least, level))
            level *= 0.5
        if not self.timed or not np.isfinite(best[0]):
            raise self.limits.impossible()
        return self._entered(ones * best[1])

    def _least(self, a: Array) -> float:
        """The smallest distance to a limit, -inf where there is no motion."""
        least = float(self.limits.margins(self.state(a)).min())
        return least if np.isfinite(least) else -np.inf

    def _entered(self, a: Array) -> Array:
        """Speeds within the limits, from others beyond: limits are wide at first, and narrowed step by step."""
        for _ in range(ENTERING):
            beyond = self.limits.room - self._least(a)
            if beyond < 1.0:
                self.limits.room = 1.0
                return a
            self.limits.room = 1.0 + 1.1 * (beyond - 1.0) + 0.02
            at = _Iterate(self, a)
            mu = 10.0 * at.time / at.r.size
            at.dual = mu / at.r
            for _ in range(INNER):
                moved = self._step(at, mu)
                if moved is None:
                    break
                at = moved[0]
            a = at.a
        self.limits.room = 1.0
        raise self.limits.impossible()

    def solve(self) -> Solved:
        at = _Iterate(self, self.start())
        mu = 0.1 * at.time / at.r.size
        at.dual = mu / at.r
        history, converged = [at.time], False
        for _ in range(ITERATIONS):
            moved = self._step(at, mu)
            if moved is None:
                break
            at, length, promised = moved
            history.append(at.time)
            if promised < CENTRED * mu * at.r.size and length > 0.3:
                if mu * at.r.size < GAP * at.time:
                    converged = True
                    break
                mu = max(LESS * mu, 0.3 * GAP * at.time / at.r.size)
        return Solved(TimeLaw(self.x, self._pieces(at.a)), tuple(history), converged)

    def _step(self, at: _Iterate, mu: float) -> tuple[_Iterate, float, float] | None:
        """A step of Newton's method, its length and what it promised; none where nothing is gained."""
        r, J, dual = at.r, at.J, at.dual
        late = self._time_slopes(at.z[0]) if self.timed else None
        slope, H = self._newton(at.z[0], J, mu / r, dual / r, late)
        da = _solve_banded(H, -slope) if late is None else _solve_dense(H, -slope)
        promised = -float(slope @ da)
        dz = self._linear(da) if late is None else np.vstack([self._linear(da), late @ da])
        dr = np.einsum("rop,op->rp", J, dz)
        d_dual = mu / r - dual - dual / r * dr
        shrink = d_dual < 0.0
        reach = float(np.min(-(1.0 - KEEP) * dual[shrink] / d_dual[shrink], initial=1.0))
        most = float(np.min(np.where(dr < 0.0, -(1.0 - KEEP) * r / dr, 1.0), initial=1.0))
        moved = self._search(at.a, da, at.z, r, mu, -promised, most)
        if moved is None:
            return None
        length, a = moved
        new = _Iterate(self, a)
        new.dual = np.clip(dual + reach * d_dual, 1e-3 * mu / new.r, 1e3 * mu / new.r)
        return new, length, promised

    def _search(
        self, a: Array, da: Array, z: Array, r: Array, mu: float, slope: float, length: float
    ) -> tuple[float, Array] | None:
        """The first of halved steps that stays within the limits and lessens time and barrier."""
        before = self.time(z[0]) - mu * float(np.log(r).sum())
        for _ in range(40):
            new = a + length * da
            y = self.state(new)
            if (y[0] > 0.0).all():
                margins = self.limits.margins(y)
                if (margins > 0.5 * KEEP * r).all():
                    after = self.time(y[0]) - mu * float(np.log(margins).sum())
                    if after <= before + 1e-4 * length * slope + 1e-13 * abs(before):
                        return length, new
            length *= 0.5
        return None

    def _newton(self, y: Array, J: Array, first: Array, second: Array, late: Array | None) -> tuple[Array, Array]:
        """The gradient of time and barrier by the coefficients, and the matrix of Newton's method.

        The matrix is given by its diagonals; where limits depend on time, whose derivatives are `late`, as a whole.
        """
        weight, m, n = self._weights, self.order, len(self.h)
        gradient = -np.einsum("rp,rop->op", first, J)
        gradient[0] -= 0.5 * weight * y**-1.5
        orders = len(gradient)
        blocks = np.empty((len(y), orders, orders))
        for i in range(orders):
            weighted = second * J[:, i]
            for k in range(i + 1):
                blocks[:, i, k] = blocks[:, k, i] = np.einsum("rp,rp->p", weighted, J[:, k])
        blocks[:, 0, 0] += 0.75 * weight * y**-2.5
        local = np.einsum("kpoc,okp->kc", self.basis, gradient[:m].reshape(m, n, -1))
        own = blocks[:, :m, :m].reshape(n, -1, m, m)
        matrix = np.einsum("kpac,kpab,kpbd->kcd", self.basis, own, self.basis, optimize=True)
        slope, H = np.zeros(n + m - 1), np.zeros((m, n + m - 1))
        for c in range(m):
            slope[c : c + n] += local[:, c]
            for d in range(c, m):
                H[m - 1 - (d - c), d : d + n] += matrix[:, c, d]
        if late is None:
            return slope, H
        whole = np.zeros((n + m - 1, n + m - 1))
        for k in range(m):
            at = np.arange(n + m - 1 - k)
            whole[at, at + k] = whole[at + k, at] = H[m - 1 - k, k:]
        both = np.einsum("kpa,kpac->kpc", blocks[:, :m, m].reshape(n, -1, m), self.basis)
        cross = self._dense(both.reshape(len(y), m)).T @ late
        return slope + gradient[m] @ late, whole + cross + cross.T + (late.T * blocks[:, m, m]) @ late

    def _pieces(self, a: Array) -> Array:
        """The coefficients of y on each interval, three at least."""
        n, m = len(self.h), self.order
        local = np.stack([a[k : n + k] for k in range(m)], axis=1)
        found = np.einsum("koc,kc->ok", _basis(self.x, m, np.zeros(1))[:, 0], local)
        powers = [1.0, *(2.0 / factorial(k) for k in range(1, m))]
        found = np.vstack([found * np.array(powers)[:, None], np.zeros((max(3 - m, 0), n))])
        found[0] = np.maximum(found[0], 0.0)
        return found


class _Iterate:
    """Coefficients of the squared speed, the state at all points, distances to limits and their derivatives."""

    def __init__(self, program: _Program, a: Array) -> None:
        self.a, self.z = a, program.state(a)
        self.r, self.J = program.limits.linear(self.z)
        self.time = program.time(self.z[0])
        self.dual = np.zeros_like(self.r)


def _quadrature(places: Array) -> Array:
    """The integral up to each place of the polynomial through values at all of them: for three Simpson's rule."""
    powers = np.arange(len(places))
    return np.asarray((places[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(places[:, None] ** powers))


def _basis(x: Array, order: int, places: Array) -> Array:
    """y, u = y'/2, j = y''/2, ... at places of each interval, by the coefficients of a spline of degree order - 1.

    A clamped uniform or non-uniform knot vector on x; (intervals, places, order, order).
    """
    from scipy.interpolate import BSpline

    n, degree = len(x) - 1, order - 1
    knots = np.concatenate([[x[0]] * degree, x, [x[-1]] * degree])
    h = np.diff(x)[:, None]
    at = (x[:-1, None] + h * places).reshape(-1)
    full = BSpline(knots, np.eye(n + degree), degree)
    halves = [full(at, nu) * (0.5 if nu else 1.0) for nu in range(order)]
    orders = np.stack(halves, axis=1).reshape(n, len(places), order, n + degree)
    columns = np.arange(n)[:, None] + np.arange(order)
    return np.take_along_axis(orders, columns[:, None, None, :], axis=3)


def _solve_dense(H: Array, b: Array) -> Array:
    """H x = b for a positive definite H."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    scale = 1.0 / np.sqrt(np.diag(H))
    even = H * scale * scale[:, None]
    for shift in (0.0, 1e-12, 1e-9, 1e-6):
        try:
            even[np.diag_indices_from(even)] = 1.0 + shift
            return np.asarray(scale * cho_solve(cho_factor(even, check_finite=False), scale * b, check_finite=False))
        except LinAlgError:
            continue
    return b / np.diag(H)


def _solve_banded(H: Array, b: Array) -> Array:
    """H x = b for a positive definite H, by its diagonals."""
    from scipy.linalg import LinAlgError, solveh_banded

    for shift in (0.0, 1e-12, 1e-9, 1e-6):
        try:
            shifted = H.copy()
            shifted[-1] *= 1.0 + shift
            return np.asarray(solveh_banded(shifted, b, check_finite=False))
        except LinAlgError:
            continue
    return b / H[-1]
