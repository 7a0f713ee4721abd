"""The fastest timing of a path where reachability does not tell: limits of rates, elastic drives, functions of time."""

from __future__ import annotations

from collections.abc import Iterator
from math import factorial

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.planning.path import Path
from linkwise.planning.path_rows import PathModel, PathRows
from linkwise.planning.time_law import Solved, TimeLaw

Array = NDArray[np.float64]

PLACES = (1e-7, 0.5, 1.0 - 1e-7)  # of an interval, where limits hold: on both sides of the knots, where x_dddot jumps
WEIGHTS = np.array([1.0, 4.0, 1.0]) / 6.0  # of Simpson's rule there
UP_TO = np.array([[0.0, 0.0, 0.0], [5.0, 8.0, -1.0], [4.0, 16.0, 4.0]]) / 24.0  # the same up to each of them
ITERATIONS = 300
GAP = 1e-6  # relative to the time, between the motion found and the best
CENTRED, LESS = 0.05, 0.2  # when the barrier is lowered, in shares of the gap, and to what
KEEP = 0.05  # what a step leaves of each distance to a limit
STEP = 1e-6  # relative, of speeds, for second derivatives of friction


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
    return _Program(model, path, path.grid(intervals), tight).solve()


class _Program:
    def __init__(self, model: PathModel, path: Path, x: Array, tight: Array | None) -> None:
        self.model, self.x, self.order = model, x, model.order
        h = self.h = np.diff(x)
        points = (x[:-1, None] + h[:, None] * PLACES).reshape(-1)
        self.rows = model.at(path, points)
        self.basis = _basis(x, self.order)  # (intervals, places, orders, coefficients): y, u, j, ... there
        self.limits = _Limits(self.rows, np.ones(len(points)) if tight is None else np.repeat(tight, len(PLACES)))
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
        slow = slowness.reshape(len(self.h), len(PLACES), -1)
        within = self.h[:, None, None] * np.einsum("pq,kqr->kpr", UP_TO, slow)
        whole = np.cumsum(within[:, -1:], axis=0)
        return (within + np.concatenate([np.zeros_like(whole[:1]), whole[:-1]])).reshape(slowness.shape)

    def _dense(self, local: Array) -> Array:
        """Numbers (points, coefficients of the interval) as (points, all coefficients)."""
        n, m = len(self.h), self.order
        found = np.zeros((n, len(PLACES), n + m - 1))
        columns = np.arange(n)[:, None] + np.arange(m)
        rows = np.arange(n)[:, None, None], np.arange(len(PLACES))[:, None], columns[:, None, :]
        found[rows] = local.reshape(n, len(PLACES), m)
        return found.reshape(n * len(PLACES), -1)

    def _time_slopes(self, y: Array) -> Array:
        """Derivatives of the time at all points by the coefficients, (points, coefficients)."""
        by_y = self.basis[:, :, 0].reshape(len(y), -1)
        return self._passed(self._dense(-0.5 * y[:, None] ** -1.5 * by_y))

    def time(self, y: Array) -> float:
        return float((self.h[:, None] * WEIGHTS / np.sqrt(y).reshape(-1, 3)).sum())

    def start(self) -> Array:
        """A constant speed of the eased parameter that is slow enough."""
        ones = np.ones(len(self.h) + self.order - 1)
        level = 1e6
        for _ in range(140):
            if (self.limits.margins(self.state(ones * level)) > 0.0).all():
                slower = ones * (0.5 * level)
                return slower if (self.limits.margins(self.state(slower)) > 0.0).all() else ones * level
            level *= 0.5
        raise self.limits.impossible()

    def solve(self) -> Solved:
        a = self.start()
        z = self.state(a)
        r, J = self.limits.linear(z)
        time = self.time(z[0])
        mu = 0.1 * time / r.size
        dual = mu / r
        history, converged = [time], False
        for _ in range(ITERATIONS):
            late = self._time_slopes(z[0]) if self.timed else None
            slope, H = self._newton(z[0], J, mu / r, dual / r, late)
            da = _solve_banded(H, -slope) if late is None else _solve_dense(H, -slope)
            promised = -float(slope @ da)
            dz = self._linear(da) if late is None else np.vstack([self._linear(da), late @ da])
            dr = np.einsum("rop,op->rp", J, dz)
            d_dual = mu / r - dual - dual / r * dr
            shrink = d_dual < 0.0
            reach = float(np.min(-(1.0 - KEEP) * dual[shrink] / d_dual[shrink], initial=1.0))
            most = float(np.min(np.where(dr < 0.0, -(1.0 - KEEP) * r / dr, 1.0), initial=1.0))
            moved = self._search(a, da, z, r, mu, -promised, most)
            if moved is None:
                break
            length, a = moved
            z = self.state(a)
            r, J = self.limits.linear(z)
            dual = np.clip(dual + reach * d_dual, 1e-3 * mu / r, 1e3 * mu / r)
            time = self.time(z[0])
            history.append(time)
            if promised < CENTRED * mu * r.size and length > 0.3:
                if mu * r.size < GAP * time:
                    converged = True
                    break
                mu = max(LESS * mu, 0.3 * GAP * time / r.size)
        return Solved(TimeLaw(self.x, self._pieces(a)), tuple(history), converged)

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

    def _newton(
        self, y: Array, J: Array, first: Array, second: Array, late: Array | None
    ) -> tuple[Array, Array]:
        """The gradient of time and barrier by the coefficients, and the matrix of Newton's method.

        The matrix is given by its diagonals; where limits depend on time, whose derivatives are `late`, as a whole.
        """
        weight, m, n = (self.h[:, None] * WEIGHTS).reshape(-1), self.order, len(self.h)
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
        found = np.einsum("koc,kc->ok", _basis(self.x, m, (0.0,))[:, 0], local)
        powers = [1.0, *(2.0 / factorial(k) for k in range(1, m))]
        found = np.vstack([found * np.array(powers)[:, None], np.zeros((max(3 - m, 0), n))])
        found[0] = np.maximum(found[0], 0.0)
        return found


class _Limits:
    """All limits at the points as distances, positive where they are kept, (rows, points)."""

    def __init__(self, rows: PathRows, tight: Array) -> None:
        self.rows, self.tight, b, q = rows, tight, rows.model.bounds, rows.joints
        with np.errstate(divide="ignore"):
            fastest = np.square(b.velocity / np.abs(q[1])).min(axis=1)
        self.slowness = tight**2 / fastest if np.isfinite(b.velocity).any() else None
        self.effort, self.rate = np.isfinite(b.effort), np.isfinite(b.effort_rate)
        none = np.zeros_like(q[1])
        self.qdd = _shares((q[2], q[1], none, none), b.acceleration, tight)
        self.qddd = _shares((q[3], 3.0 * q[2], q[1], none), b.jerk, tight)
        self.plain = rows.model.plain
        self.timed = not self.plain and rows.model.torques.timed
        if self.plain:
            no_torque = np.zeros_like(rows.m)
            self.tau = _shares((rows.c, rows.m, no_torque, rows.g), b.effort, tight)
            self.tau_dot = _shares((rows.dc, rows.dm + 2.0 * rows.c, rows.m, rows.dg), b.effort_rate, tight)

    def margins(self, z: Array) -> Array:
        """The distances alone."""
        return self._rows(z, slopes=False)[0]

    def linear(self, z: Array) -> tuple[Array, Array]:
        """The distances, and their derivatives by y, u, j, ... and time, (rows, orders, points)."""
        r, J = self._rows(z, slopes=True)
        return r, J

    def _rows(self, z: Array, slopes: bool) -> tuple[Array, Array]:
        y, u, width = z[0], z[1], len(z)
        w = np.sqrt(y)
        found, J = [], []

        def add(value: Array, by: Array, room: Array | float = 1.0, by_room: Array | float = 0.0) -> None:
            """Rows room - value and room + value; `by` (orders, joints, points), zero beyond those given."""
            by = by[:width]
            for sign in (-1.0, 1.0):
                found.append(room + sign * value)
                if slopes:
                    both = np.zeros((width, *by.shape[1:]))
                    both[: len(by)] = sign * by
                    both[0] += by_room
                    J.append(np.swapaxes(both, 0, 1))

        if self.slowness is not None:
            found.append((1.0 - y * self.slowness)[None])
            J.append(np.stack([-self.slowness, *[0.0 * y] * (width - 1)])[None])
        if self.qdd is not None:
            add(_value(self.qdd, z), self.qdd[:3])
        if self.qddd is not None:
            add(_value(self.qddd, z), self.qddd[:3], 1.0 / w, -0.5 / (w * y))
        if not self.plain:
            for value, by in self._torques(z, slopes):
                add(value, by)
            return np.vstack(found), np.concatenate(J) if slopes else np.zeros(0)
        bend = self._friction(w, u, slopes) if self.rows.model.has_friction else None
        if self.tau is not None:
            extra, by = (x[..., self.effort, :] for x in bend[0]) if bend else (0.0, 0.0)
            add(_value(self.tau, z) + extra, self.tau[:3] + by)
        if self.tau_dot is not None:
            extra, by = (x[..., self.rate, :] for x in bend[1]) if bend else (0.0, 0.0)
            add(_value(self.tau_dot, z) + extra, self.tau_dot[:3] + by, 1.0 / w, -0.5 / (w * y))
        return np.vstack(found), np.concatenate(J) if slopes else np.zeros(0)

    def _torques(self, z: Array, slopes: bool) -> Iterator[tuple[Array, Array]]:
        """Effort, then effort rate, over the limits (drives, points), with derivatives (orders, drives, points)."""
        model, b = self.rows.model, self.rows.model.bounds
        kernel, m, n = model.torques, model.order, model.torques.width
        at = self.rows.numbers, z[:m].T, z[m] if self.timed else np.zeros(z.shape[1])
        tau, by = kernel.first(*at) if slopes else (kernel.values(*at), np.zeros((0, 0, 0)))
        by = np.moveaxis(by, -1, 0)[: len(z)]
        for some, limit, k in ((self.effort, b.effort, 0), (self.rate, b.effort_rate, n)):
            if some.any():
                share = self.tight[:, None] / limit[some]
                place = k + np.flatnonzero(some)
                yield (tau[:, place] * share).T, np.swapaxes(by[..., place] * share, 1, 2) if slopes else by

    def _friction(self, w: Array, u: Array, slopes: bool) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Friction's share of effort and of effort rate over speed, over the limits, each with its derivatives."""
        b = self.rows.model.bounds
        f = [x.T for x in self.rows.friction(w)]
        value, rate = f[0], f[2] + f[1] * (u / w)
        by_tau, by_rate = np.zeros((3, *value.shape)), np.zeros((3, *value.shape))
        if slopes:
            near = [x.T for x in self.rows.friction(w * (1.0 + STEP))]
            speed_bend, place_bend = ((near[k] - f[k]) / (STEP * w) for k in (1, 2))
            by_tau[0] = f[1] / (2.0 * w)
            by_rate[0] = (place_bend + speed_bend * (u / w) - f[1] * (u / w**2)) / (2.0 * w)
            by_rate[1] = f[1] / w
        effort, effort_rate = b.effort[:, None] / self.tight, b.effort_rate[:, None] / self.tight
        return (value / effort, by_tau / effort), (rate / effort_rate, by_rate / effort_rate)

    def impossible(self) -> InputError:
        """Why not even a slow motion keeps the limits."""
        rows, limit = self.rows, self.rows.model.bounds.effort
        if not self.plain:
            return self._impossible_at_rest()
        hold = np.abs(rows.g + rows.friction(np.full(len(rows.g), 1e-9)).torque) / limit
        joint = int(np.argmax(hold.max(axis=0)))
        name, k = rows.model.names["effort"][joint], int(np.argmax(hold[:, joint]))
        if not hold[k, joint] >= 1.0:
            return InputError(
                "retime: no motion keeps all limits, however slow. Does the path have finite derivatives everywhere?"
            )
        return InputError(
            f"retime: moving slowly, the joint {name!r} needs {hold[k, joint] * limit[joint]:.4g} against gravity,"
            f" springs and friction, but its effort is limited to {limit[joint]:.4g}. Take a stronger drive or another"
            " path."
        )


    def _impossible_at_rest(self) -> InputError:
        """The same where torques are not plain: what it takes to stand still at the points."""
        model, limit = self.rows.model, self.rows.model.bounds.effort
        count = len(self.rows.numbers)
        tau = model.torques.values(self.rows.numbers, np.zeros((count, model.order)), np.zeros(count))
        hold = np.abs(tau[:, : model.torques.width]) / limit
        k, joint = np.unravel_index(int(np.argmax(hold)), hold.shape)
        moves = " at the start, and more or less later," if self.timed else ""
        if hold[k, joint] >= 1.0:
            return InputError(
                f"retime: at rest the drive {model.names['effort'][joint]!r} needs {abs(tau[k, joint]):.4g}{moves} but"
                f" its effort is limited to {limit[joint]:.4g}. Take a stronger drive or another path."
            )
        timed = " at every time of what moves the base or pushes the robot" if self.timed else ""
        return InputError(
            f"retime: no motion of constant speed keeps all limits{timed}, however slow or fast. Relax the limits, or"
            " use lw.plan."
        )


def _shares(parts: tuple[Array, ...], limit: Array, tight: Array) -> Array | None:
    """Coefficients of y, u, j and 1 over the limit, (4, joints, points), of the joints that have one."""
    some = np.isfinite(limit)
    return np.stack([p[:, some].T * (tight / limit[some, None]) for p in parts]) if some.any() else None


def _value(rows: Array, z: Array) -> Array:
    total = rows[0] * z[0] + rows[1] * z[1] + rows[3]
    return total if len(z) < 3 else total + rows[2] * z[2]


def _basis(x: Array, order: int, places: tuple[float, ...] = PLACES) -> Array:
    """y, u = y'/2, j = y''/2, ... at places of each interval, by the coefficients of a spline of degree order - 1.

    A clamped uniform or non-uniform knot vector on x; (intervals, places, order, order).
    """
    from scipy.interpolate import BSpline

    n, degree = len(x) - 1, order - 1
    knots = np.concatenate([[x[0]] * degree, x, [x[-1]] * degree])
    h = np.diff(x)[:, None]
    at = (x[:-1, None] + h * np.array(places)).reshape(-1)
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
