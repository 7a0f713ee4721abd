"""The fastest timing of a path when effort rates or jerks are limited too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.planning.path import Path
from linkwise.planning.path_rows import PathModel, PathRows
from linkwise.planning.time_law import Solved, TimeLaw

Array = NDArray[np.float64]

PLACES = (1e-7, 0.5, 1.0 - 1e-7)  # of an interval, where limits hold: on both sides of the knots, where x_dddot jumps
WEIGHTS = np.array([1.0, 4.0, 1.0]) / 6.0  # of Simpson's rule there
ITERATIONS = 300
GAP = 1e-6  # relative to the time, between the motion found and the best
CENTRED, LESS = 0.05, 0.2  # when the barrier is lowered, in shares of the gap, and to what
KEEP = 0.05  # what a step leaves of each distance to a limit
STEP = 1e-6  # relative, of speeds, for second derivatives of friction


def fastest_smooth_law(model: PathModel, path: Path, intervals: int, tight: Array | None = None) -> Solved:
    """The time law of an eased path under all limits, effort rate and jerk among them: a local optimum.

    The squared speed y = x_dot^2 along the path is a quadratic spline, so that with u = x_ddot = y'/2 and j = y''/2

        tau = m u + c y + g + friction,
        tau_dot / x_dot = m j + (m' + 2 c) u + c' y + g' + d friction/dx,

    and limits of rates are linear in y but for their right hand side rate / sqrt(y), a convex function. Together with
    the time, convex too, a primal-dual interior-point method is run from a slow motion; every iterate keeps all limits
    at the points where they are asked for. Linearising the right hand side is safe, since a convex function lies above
    its tangents. Systems of equations have five diagonals.

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
        self.model, self.x = model, x
        h = self.h = np.diff(x)
        points = (x[:-1, None] + h[:, None] * PLACES).reshape(-1)
        self.rows = model.at(path, points)
        self.basis = _basis(x)  # (intervals, places, orders, 3): y, u and j by the three coefficients there
        self.limits = _Limits(self.rows, np.ones(len(points)) if tight is None else np.repeat(tight, len(PLACES)))

    def state(self, a: Array) -> Array:
        """y, u and j at all points, (3, points)."""
        local = np.stack([a[:-2], a[1:-1], a[2:]], axis=1)
        return np.einsum("kpoc,kc->okp", self.basis, local).reshape(3, -1)

    def time(self, y: Array) -> float:
        return float((self.h[:, None] * WEIGHTS / np.sqrt(y).reshape(-1, 3)).sum())

    def start(self) -> Array:
        """A constant speed of the eased parameter that is slow enough."""
        ones = np.ones(len(self.h) + 2)
        level = 1e6
        for _ in range(140):
            if (self.limits.margins(self.state(ones * level)) > 0.0).all():
                return ones * (0.5 * level)
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
            slope, H = self._newton(z[0], J, mu / r, dual / r)
            da = _solve_banded(H, -slope)
            promised = -float(slope @ da)
            dz = self.state(da)
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
        local = self._pieces(a)
        return Solved(TimeLaw(self.x, *local), tuple(history), converged)

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

    def _newton(self, y: Array, J: Array, first: Array, second: Array) -> tuple[Array, Array]:
        """The gradient of time and barrier by the coefficients, and the diagonals of the matrix of Newton's method."""
        weight = (self.h[:, None] * WEIGHTS).reshape(-1)
        gradient = -np.einsum("rp,rop->op", first, J)
        gradient[0] -= 0.5 * weight * y**-1.5
        blocks = np.empty((len(y), 3, 3))
        for i in range(3):
            weighted = second * J[:, i]
            for k in range(i + 1):
                blocks[:, i, k] = blocks[:, k, i] = np.einsum("rp,rp->p", weighted, J[:, k])
        blocks[:, 0, 0] += 0.75 * weight * y**-2.5
        n = len(self.h)
        local = np.einsum("kpoc,okp->kc", self.basis, gradient.reshape(3, n, 3))
        matrix = np.einsum("kpac,kpab,kpbd->kcd", self.basis, blocks.reshape(n, 3, 3, 3), self.basis, optimize=True)
        slope, H = np.zeros(n + 2), np.zeros((3, n + 2))
        for c in range(3):
            slope[c : c + n] += local[:, c]
            for d in range(c, 3):
                H[2 - (d - c), d : d + n] += matrix[:, c, d]
        return slope, H

    def _pieces(self, a: Array) -> tuple[Array, Array, Array]:
        """The coefficients of y on each interval."""
        local = np.stack([a[:-2], a[1:-1], a[2:]], axis=1)
        y, u, j = np.einsum("koc,kc->ok", self._at_start, local)
        return np.maximum(y, 0.0), 2.0 * u, j

    @property
    def _at_start(self) -> Array:
        return _basis(self.x, (0.0,))[:, 0]


class _Limits:
    """All limits at the points as distances, positive where they are kept, (rows, points)."""

    def __init__(self, rows: PathRows, tight: Array) -> None:
        self.rows, self.tight, b, q = rows, tight, rows.model.bounds, rows.joints
        with np.errstate(divide="ignore"):
            fastest = np.square(b.velocity / np.abs(q[1])).min(axis=1)
        self.slowness = tight**2 / fastest if np.isfinite(b.velocity).any() else None
        self.effort, self.rate = np.isfinite(b.effort), np.isfinite(b.effort_rate)
        none, no_torque = np.zeros_like(q[1]), np.zeros_like(rows.m)
        self.qdd = _shares((q[2], q[1], none, none), b.acceleration, tight)
        self.qddd = _shares((q[3], 3.0 * q[2], q[1], none), b.jerk, tight)
        self.tau = _shares((rows.c, rows.m, no_torque, rows.g), b.effort, tight)
        self.tau_dot = _shares((rows.dc, rows.dm + 2.0 * rows.c, rows.m, rows.dg), b.effort_rate, tight)

    def margins(self, z: Array) -> Array:
        """The distances alone."""
        return self._rows(z, slopes=False)[0]

    def linear(self, z: Array) -> tuple[Array, Array]:
        """The distances, and their derivatives by y, u and j, (rows, 3, points)."""
        r, J = self._rows(z, slopes=True)
        return r, J

    def _rows(self, z: Array, slopes: bool) -> tuple[Array, Array]:
        y, u, _ = z
        w = np.sqrt(y)
        found, J = [], []

        def add(value: Array, by: Array, room: Array | float = 1.0, by_room: Array | float = 0.0) -> None:
            """Rows room - value and room + value; `by` (3, joints, points)."""
            for sign in (-1.0, 1.0):
                found.append(room + sign * value)
                if slopes:
                    both = sign * by
                    both[0] += by_room
                    J.append(np.swapaxes(both, 0, 1))

        if self.slowness is not None:
            found.append((1.0 - y * self.slowness)[None])
            J.append(np.stack([-self.slowness, 0.0 * y, 0.0 * y])[None])
        if self.qdd is not None:
            add(_value(self.qdd, z), self.qdd[:3])
        if self.qddd is not None:
            add(_value(self.qddd, z), self.qddd[:3], 1.0 / w, -0.5 / (w * y))
        bend = self._friction(w, u, slopes) if self.rows.model.has_friction else None
        if self.tau is not None:
            extra, by = (x[..., self.effort, :] for x in bend[0]) if bend else (0.0, 0.0)
            add(_value(self.tau, z) + extra, self.tau[:3] + by)
        if self.tau_dot is not None:
            extra, by = (x[..., self.rate, :] for x in bend[1]) if bend else (0.0, 0.0)
            add(_value(self.tau_dot, z) + extra, self.tau_dot[:3] + by, 1.0 / w, -0.5 / (w * y))
        return np.vstack(found), np.concatenate(J) if slopes else np.zeros(0)

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


def _shares(parts: tuple[Array, ...], limit: Array, tight: Array) -> Array | None:
    """Coefficients of y, u, j and 1 over the limit, (4, joints, points), of the joints that have one."""
    some = np.isfinite(limit)
    return np.stack([p[:, some].T * (tight / limit[some, None]) for p in parts]) if some.any() else None


def _value(rows: Array, z: Array) -> Array:
    return rows[0] * z[0] + rows[1] * z[1] + rows[2] * z[2] + rows[3]


def _basis(x: Array, places: tuple[float, ...] = PLACES) -> Array:
    """y, u = y'/2 and j = y''/2 at places of each interval, by the three coefficients of a quadratic spline there.

    A clamped uniform or non-uniform knot vector on x; (intervals, places, 3, 3).
    """
    from scipy.interpolate import BSpline

    n = len(x) - 1
    knots = np.concatenate([[x[0]] * 2, x, [x[-1]] * 2])
    h = np.diff(x)[:, None]
    at = (x[:-1, None] + h * np.array(places)).reshape(-1)
    full = BSpline(knots, np.eye(n + 2), 2)
    orders = np.stack([full(at, nu) * (1.0, 0.5, 0.5)[nu] for nu in range(3)], axis=1).reshape(n, len(places), 3, n + 2)
    columns = np.arange(n)[:, None] + np.arange(3)
    return np.take_along_axis(orders, columns[:, None, None, :], axis=3)


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
