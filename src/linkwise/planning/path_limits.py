"""Limits of a motion along a path as distances from them, for a method that stays within."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.planning.drives import too_weak
from linkwise.planning.path_rows import PathRows

Array = NDArray[np.float64]
STEP = 1e-6  # relative, of speeds, for second derivatives of friction


class PathLimits:
    """All limits at the points as distances, positive where they are kept, (rows, points).

    Attributes:
        room: by which all limits are widened, in parts of them; 1 leaves them as they are.
        timed: whether they depend on the time, the last row of a state.
    """

    def __init__(self, rows: PathRows, tight: Array) -> None:
        self.rows, self.tight, b, q = rows, tight, rows.model.bounds, rows.joints
        with np.errstate(divide="ignore"):
            fastest = np.square(b.velocity / np.abs(q[1])).min(axis=1)
        self.slowness = tight**2 / fastest if np.isfinite(b.velocity).any() else None
        self.effort, self.rate = np.isfinite(b.effort), np.isfinite(b.effort_rate)
        none = np.zeros_like(q[1])
        self.qdd = _shares((q[2], q[1], none, none), b.acceleration, tight)
        self.qddd = _shares((q[3], 3.0 * q[2], q[1], none), b.jerk, tight)
        self.plain, self.room = rows.model.plain, 1.0
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
                found.append(self.room * room + sign * value)
                if slopes:
                    both = sign * by
                    both[0] += self.room * by_room
                    if len(by) < width:
                        both = np.concatenate([both, np.zeros((width - len(by), *by.shape[1:]))])
                    J.append(np.swapaxes(both, 0, 1))

        if self.slowness is not None:
            found.append((self.room - y * self.slowness)[None])
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
            more: Sequence[Any] = [x[..., self.effort, :] for x in bend[0]] if bend else (0.0, 0.0)
            add(_value(self.tau, z) + more[0], self.tau[:3] + more[1])
        if self.tau_dot is not None:
            more = [x[..., self.rate, :] for x in bend[1]] if bend else (0.0, 0.0)
            add(_value(self.tau_dot, z) + more[0], self.tau_dot[:3] + more[1], 1.0 / w, -0.5 / (w * y))
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
        needs, most = float(hold[k, joint] * limit[joint]), float(limit[joint])
        return too_weak("retime: moving slowly,", name, needs, most, "path", friction=True)

    def _impossible_at_rest(self) -> InputError:
        """The same where torques are not plain: what it takes to stand still at the points."""
        model, limit = self.rows.model, self.rows.model.bounds.effort
        count = len(self.rows.numbers)
        tau = model.torques.values(self.rows.numbers, np.zeros((count, model.order)), np.zeros(count))
        hold = np.abs(tau[:, : model.torques.width]) / limit
        k, joint = np.unravel_index(int(np.argmax(hold)), hold.shape)
        moves = " at the start, and more or less later," if self.timed else ""
        if hold[k, joint] >= 1.0:
            where, name = f"retime: at rest{moves}", model.names["effort"][joint]
            return too_weak(where, name, float(tau[k, joint]), float(limit[joint]), "path")
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
