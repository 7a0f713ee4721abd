"""Derivatives of sampled motions by interpolating splines."""

from __future__ import annotations

import numpy as np

from linkwise.errors import InputError
from linkwise.robot.robot import Robot
from linkwise.trajectory.trajectory import Array

DEGREES = {5: "quintic", 3: "cubic"}
REST = 1e-6  # of a joint's largest speed: below, it rests, and Coulomb friction must not take the sign of rounding


def degree(rows: int, where: str) -> int:
    """The degree of the spline through so many samples: quintic from six on, cubic from four on."""
    for k in DEGREES:
        if rows > k:
            return k
    raise InputError(
        f"{where}: expected at least 4 rows to differentiate, got {rows}."
        " Add rows, or give velocities and accelerations (columns qd.* and qdd.*)."
    )


def derivatives(t: Array, y: Array, k: int) -> tuple[Array, Array]:
    """First and second derivative at the samples of the spline of degree k through them."""
    from scipy.interpolate import make_interp_spline

    spline = make_interp_spline(t, y, k=k, axis=0)
    return spline(t, nu=1), spline(t, nu=2)


def motion(robot: Robot, t: Array, q: Array, k: int) -> tuple[Array, Array]:
    """`qd` and `qdd` of positions; a floating joint's come in its own axes, as the robot's `qd` has them."""
    turned = q.copy()
    for slot in robot.slots.values():
        if slot.nq == 7:
            turned[:, slot.q + 3 : slot.q + 7] = _continuous(q[:, slot.q + 3 : slot.q + 7])
    dq, ddq = derivatives(t, turned, k)
    qd, qdd = np.empty((len(t), robot.nv)), np.empty((len(t), robot.nv))
    for slot in robot.slots.values():
        at, to = slice(slot.q, slot.q + slot.nq), slice(slot.v, slot.v + slot.nv)
        if slot.nq == 7:
            qd[:, to], qdd[:, to] = body_rates(turned[:, at], dq[:, at], ddq[:, at])
        else:
            qd[:, to], qdd[:, to] = dq[:, at], ddq[:, at]
    qd[np.abs(qd) < REST * np.abs(qd).max(axis=0)] = 0.0
    return qd, qdd


def _continuous(quaternion: Array) -> Array:
    """Unit quaternions with signs that do not jump: x and -x are the same rotation."""
    unit = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    turn = np.where(np.sum(unit[1:] * unit[:-1], axis=1) < 0.0, -1.0, 1.0)
    return unit * np.concatenate([[1.0], np.cumprod(turn)])[:, None]


def body_rates(x: Array, dx: Array, ddx: Array) -> tuple[Array, Array]:
    """Linear and angular velocity in body axes and their rates, from position and quaternion and their rates.

        omega = 2 vec(conj(e) de) / |e|^2,   v = R^T dp,   v_dot = R^T ddp - omega x v

    The quaternion between samples of a spline need not have length one, so its length is divided out.
    """
    e, de, dde = x[:, 3:], dx[:, 3:], ddx[:, 3:]
    square = np.sum(e * e, axis=1, keepdims=True)
    omega = 2.0 * _relative(e, de) / square
    omega_dot = 2.0 * _relative(e, dde) / square - omega * (2.0 * np.sum(e * de, axis=1, keepdims=True) / square)
    v, a = _turned_back(e, dx[:, :3]), _turned_back(e, ddx[:, :3])
    return np.hstack([v, omega]), np.hstack([a - np.cross(omega, v), omega_dot])


def _relative(e: Array, d: Array) -> Array:
    """The vector part of conj(e) d."""
    return e[:, 3:] * d[:, :3] - d[:, 3:] * e[:, :3] - np.cross(e[:, :3], d[:, :3])


def _turned_back(e: Array, p: Array) -> Array:
    """R(e)^T p."""
    u, w = -e[:, :3], e[:, 3:]
    square = np.sum(e * e, axis=1, keepdims=True)
    cross = np.cross(u, p)
    return p + 2.0 * (w * cross + np.cross(u, cross)) / square
