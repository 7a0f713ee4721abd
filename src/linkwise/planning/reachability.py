"""The fastest timing of a path under limits of speed, acceleration and effort, by reachability analysis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.planning.drives import too_weak
from linkwise.planning.path import Path
from linkwise.planning.path_rows import PathModel, PathRows
from linkwise.planning.time_law import Solved, TimeLaw

Array = NDArray[np.float64]

FLAT = 1e-12  # of the largest: a coefficient of x_ddot below this does not bound it
ROUNDS = 60  # of linearised friction
SETTLED = 1e-9  # relative change of squared speeds at which they end
NEAR = 1e-7  # of an interval: from its ends, on whose sides rows may differ
SLOWEST = 1e-6  # of the largest squared speed, where friction is linearised at rest


class _Strips:
    """Rows lower <= alpha u + beta z <= upper at each grid point, (points, rows), with u = x_ddot and z = x_dot^2.

    Where alpha is not zero they are low <= u + slope z <= high; the others bound z alone.
    """

    def __init__(self, x: Array, alpha: Array, beta: Array, lower: Array, upper: Array, fastest: Array) -> None:
        size = np.abs(alpha).max(axis=1, keepdims=True, initial=0.0)
        flat = np.abs(alpha) <= FLAT * np.where(size > 0.0, size, 1.0)
        self.most, self.least = _speed_bounds(beta, lower, upper, flat)
        self.most = np.minimum(self.most, fastest)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.slope = np.where(flat, 0.0, beta / alpha)
            ends = lower / alpha, upper / alpha
        self.low = np.where(flat, -np.inf, np.minimum(*ends))
        self.high = np.where(flat, np.inf, np.maximum(*ends))
        self._pairs()
        # u between (low - z) r and (high - z) r of the next point's interval, against the rows
        self.r = 0.5 / np.diff(x)[:, None]
        factor = self.r - self.slope
        factor[factor == 0.0] = 1e-300
        self._rising, self._next = factor > 0.0, self.r / factor
        self._from, self._to = self.low / factor, self.high / factor

    def _pairs(self) -> None:
        """What pairs of rows leave for z: from u <= high_i - slope_i z and u >= low_j - slope_j z."""
        rise = self.slope[:, :, None] - self.slope[:, None, :]
        room = self.high[:, :, None] - self.low[:, None, :]  # rise z <= room
        size = np.abs(self.slope).max(axis=1, initial=0.0)[:, None, None]
        level = np.abs(rise) <= 1e-14 * size
        with np.errstate(invalid="ignore", divide="ignore"):
            bound = room / rise
        most = np.where((rise > 0.0) & ~level, bound, np.inf).min(axis=(1, 2), initial=np.inf)
        least = np.where((rise < 0.0) & ~level, bound, -np.inf).max(axis=(1, 2), initial=-np.inf)
        self.most, self.least = np.minimum(self.most, most), np.maximum(self.least, least)
        self.least[(level & (room < 0.0)).any(axis=(1, 2))] = np.inf

    def controllable(self, k: int, low: float, high: float) -> tuple[float, float]:
        """The least and largest z at point k from which some u leads to [low, high] at the next."""
        rising = self._rising[k]
        a, b = high * self._next[k] - self._from[k], low * self._next[k] - self._to[k]
        least = np.where(rising, b, a).max(initial=self.least[k])
        return max(float(least), 0.0), float(np.where(rising, a, b).min(initial=self.most[k]))

    def fastest(self, k: int, z: float, high: float) -> float:
        """The largest z at the next point."""
        u = float((self.high[k] - self.slope[k] * z).min(initial=np.inf))
        return max(min(z + u / float(self.r[k, 0]), high), 0.0)


def fastest_law(model: PathModel, path: Path, intervals: int, tight: Array | None = None) -> Solved:
    """The time law that starts and ends at rest and is nowhere slower than limits ask.

    On a grid of x, z = x_dot^2 is linear between points and u = x_ddot = z'/2 constant. Going back from the end, the
    speeds from which the rest can be done are an interval at each point; going on from the start, the largest is taken.
    Rows hold at both ends of each interval, on its side of them. Friction that depends on speed is linearised in z
    about the speeds found, and the passes are run again until they do not change.

    Source: Pham and Pham, A new approach to time-optimal path parameterization based on reachability analysis, IEEE
    T-RO 34(3), 2018. We depart from it in that friction may depend on speed.

    Args:
        model: the robot and its limits.
        path: the path.
        intervals: about how many.
        tight: by which limits are divided in each interval, at least 1.
    """
    x = path.grid(intervals, ends_at_rest=True)
    inset = NEAR * np.diff(x)
    rows = model.at(path, np.concatenate([x[:-1] + inset, x[1:] - inset]))
    z = _passes(_strips(rows, x, None, tight), x, rows)
    if model.has_friction:
        z = _with_friction(rows, x, z, tight)
    h = np.diff(x)
    law = TimeLaw(x, np.stack([z[:-1], np.diff(z) / h, np.zeros_like(h)]))
    return Solved(law, (law.duration,), True)


def _with_friction(rows: PathRows, x: Array, z: Array, tight: Array | None) -> Array:
    """Squared speeds with friction linearised about themselves, from those without its dependence on speed.

    About speeds that friction does not allow, its tangent may allow none at all: then slower ones are taken.
    """
    for k in range(ROUNDS):
        try:
            last, z = z, _passes(_strips(rows, x, z, tight), x, rows)
        except InputError:
            if k == ROUNDS - 1:
                raise
            z = 0.25 * z
            continue
        if np.abs(z - last).max() <= SETTLED * z.max():
            break
    return z


def _passes(strips: _Strips, x: Array, rows: PathRows) -> Array:
    """Squared speeds at the grid points."""
    n = len(x) - 1
    low, high = np.zeros(n + 1), np.zeros(n + 1)
    for k in range(n - 1, -1, -1):
        low[k], high[k] = strips.controllable(k, low[k + 1], high[k + 1])
        if not low[k] <= high[k] * (1.0 + 1e-12) + 1e-300:
            raise _impossible(rows, x, k)
        high[k] = max(high[k], low[k])
    if low[0] > 0.0:
        raise _impossible(rows, x, 0)
    z = np.zeros(n + 1)
    for k in range(n):
        z[k + 1] = strips.fastest(k, z[k], high[k + 1])
    if not np.isfinite(z).all():
        raise InputError(
            "retime: nothing bounds the speed on parts of the path. Give velocity=..., acceleration=... or effort=...,"
            " or a robot whose joints have such limits."
        )
    return z


def _strips(rows: PathRows, x: Array, z: Array | None, tight: Array | None) -> _Strips:
    """All rows of each interval: at its start, and at its end with the same u."""
    b, q, c, g = rows.model.bounds, rows.joints, rows.c, rows.g
    if rows.model.has_friction:
        start = np.full(len(g), 1e-12)
        if z is not None:
            start = np.maximum(np.concatenate([z[:-1], z[1:]]), SLOWEST * z.max())
        speed = np.sqrt(start)
        friction = rows.friction(speed)
        bend = friction.by_speed / (2.0 * speed[:, None]) if z is not None else np.zeros_like(c)
        c, g = c + bend, g + friction.torque - bend * start[:, None]
    groups = [(rows.m, c, g, b.effort), (q[1], q[2], np.zeros_like(q[1]), b.acceleration)]
    n = len(x) - 1
    share = 1.0 / np.tile(np.ones(n) if tight is None else tight, 2)[:, None]
    parts = []
    for by_u, by_z, rest, limit in groups:
        some = np.isfinite(limit)
        room = limit[some] * share
        parts.append([by_u[:, some], by_z[:, some], -room - rest[:, some], room - rest[:, some]])
    alpha, beta, lower, upper = (np.hstack(p) for p in zip(*parts, strict=True))

    # at the end z is z + 2 h u
    alpha[n:] += 2.0 * np.diff(x)[:, None] * beta[n:]
    at_start, at_end = (tuple(a[part] for a in (alpha, beta, lower, upper)) for part in (slice(n), slice(n, None)))
    with np.errstate(divide="ignore"):
        fastest = np.square(share * b.velocity / np.abs(q[1])).min(axis=1)
    fastest[1:n] = np.minimum(fastest[1:n], fastest[n:-1])
    rows_of = [np.hstack(pair) for pair in zip(at_start, at_end, strict=True)]
    return _Strips(x, rows_of[0], rows_of[1], rows_of[2], rows_of[3], fastest[:n])


def _speed_bounds(beta: Array, lower: Array, upper: Array, flat: NDArray[np.bool_]) -> tuple[Array, Array]:
    """The largest and least z by rows that have no u."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ends = lower / beta, upper / beta
    used = flat & (beta != 0.0)
    most = np.where(used, np.maximum(*ends), np.inf).min(axis=1, initial=np.inf)
    least = np.where(used, np.minimum(*ends), 0.0).max(axis=1, initial=0.0)
    never = (flat & (beta == 0.0) & ((upper < 0.0) | (lower > 0.0))).any(axis=1)
    return most, np.where(never, np.inf, least)


def _impossible(rows: PathRows, x: Array, k: int) -> InputError:
    """Why no motion goes through point k."""
    x = np.concatenate([x[:-1], x[1:]])
    limit = rows.model.bounds.effort
    hold = np.abs(rows.g) / limit
    worst = np.unravel_index(int(np.argmax(hold)), hold.shape)
    if hold[worst] >= 1.0:
        name = rows.model.names["effort"][worst[1]]
        where = f"retime: at s = {x[worst[0]]:.4g}"
        return too_weak(where, name, float(rows.g[worst]), float(limit[worst[1]]), "path")
    return InputError(
        f"retime: near s = {x[k]:.4g} no speed keeps all limits at once. Relax the limits of effort or acceleration,"
        " or use another path."
    )
