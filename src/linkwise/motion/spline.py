"""Derivatives of sampled motions by interpolating splines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.errors import InputError
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot

DEGREES = {5: "quintic", 3: "cubic"}
REST = 1e-6  # of a joint's largest speed: below, it rests, and Coulomb friction must not take the sign of rounding


def degree(rows: int, where: str, rates: str = "columns qd.* and qdd.*") -> int:
    """The degree of the spline through so many samples: quintic from six on, cubic from four on.

    Args:
        rows: how many samples there are.
        where: they come from, for messages.
        rates: what a file could have instead, for messages.
    """
    for k in DEGREES:
        if rows > k:
            return k
    raise InputError(
        f"{where}: expected at least 4 rows to differentiate, got {rows}."
        f" Add rows, or give velocities and accelerations ({rates})."
    )


def name(k: int) -> str:
    """What a spline of degree k is called."""
    return f"{DEGREES[k]} spline" if k in DEGREES else f"spline of degree {k}"


def derivatives(t: Array, y: Array, k: int, count: int = 2) -> list[Array]:
    """The first so many derivatives at the samples of the spline of degree k through them."""
    from scipy.interpolate import make_interp_spline

    spline = make_interp_spline(t, y, k=k, axis=0)
    return [spline(t, nu=nu) for nu in range(1, count + 1)]


def motion(robot: Robot, t: Array, q: Array, k: int, count: int = 2) -> list[Array]:
    """`qd`, `qdd` and perhaps `qddd` of positions; a floating joint's come in its own axes, as in the robot's `qd`."""
    turned = unbroken(robot, q)
    found = velocities(robot, turned, derivatives(t, turned, k, count))
    return [rested(found[0]), *found[1:]]


def unbroken(robot: Robot, q: Array) -> Array:
    """Positions (rows, nq) whose quaternions do not jump."""
    turned = q.copy()
    for slot in robot.slots.values():
        if (turn := slot.quaternion) is not None:
            turned[:, turn] = continuous(q[:, turn])
    return turned


def velocities(robot: Robot, q: Array, rates: Sequence[Array]) -> list[Array]:
    """`qd`, `qdd` and perhaps `qddd` (rows, nv) of two or three rates of the numbers in q (rows, nq)."""
    found = [np.empty((len(q), robot.nv)) for _ in rates]
    for slot in robot.slots.values():
        if not slot.nv:
            continue
        at, to = slice(slot.q, slot.q + slot.nq), slice(slot.v, slot.v + slot.nv)
        own = [x[:, at] for x in rates]
        if slot.kind.curved:  # of position and quaternion, the position of a ball at rest
            still = np.zeros((len(q), 7 - slot.nq))
            whole = body_rates(*(np.hstack([still, x]) for x in (q[:, at], *own)))
            own = [x[:, 7 - slot.nq :] for x in whole]
        for array, values in zip(found, own, strict=True):
            array[:, to] = values
    return found


def rested(qd: Array) -> Array:
    """Velocities, changed in place, without those that are rounding beside the largest of their column."""
    qd[np.abs(qd) < REST * np.abs(qd).max(axis=0)] = 0.0
    return qd


def continuous(quaternion: Array) -> Array:
    """Unit quaternions with signs that do not jump: x and -x are the same rotation."""
    unit = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    turn = np.where(np.sum(unit[1:] * unit[:-1], axis=1) < 0.0, -1.0, 1.0)
    return unit * np.concatenate([[1.0], np.cumprod(turn)])[:, None]


def body_rates(x: Array, *rates: Array) -> list[Array]:
    """Linear and angular velocity in body axes and their rates, from two or three rates of position and quaternion.

        omega = 2 vec(conj(e) de) / |e|^2,   v = R^T dp,   v_dot = R^T ddp - omega x v

    The quaternion between samples of a spline need not have length one, so its length is divided out.
    """
    e, de, dde = x[:, 3:], rates[0][:, 3:], rates[1][:, 3:]
    square, half = _dot(e, e), _dot(e, de)  # |e|^2, and half its rate
    omega = 2.0 * _relative(e, de) / square
    omega_dot = (2.0 * _relative(e, dde) - omega * (2.0 * half)) / square
    p_dot, *others = (_turned_back(e, r[:, :3]) for r in rates)
    v_dot = others[0] - np.cross(omega, p_dot)
    found = [np.hstack([p_dot, omega]), np.hstack([v_dot, omega_dot])]
    if len(rates) > 2:
        ddde, bend = rates[2][:, 3:], 2.0 * (_dot(de, de) + _dot(e, dde))
        omega_ddot = (
            2.0 * (_relative(de, dde) + _relative(e, ddde)) - omega_dot * (4.0 * half) - omega * bend
        ) / square
        v_ddot = others[1] - np.cross(omega, others[0] + v_dot) - np.cross(omega_dot, p_dot)
        found.append(np.hstack([v_ddot, omega_ddot]))
    return found


def _dot(a: Array, b: Array) -> Array:
    return np.sum(a * b, axis=1, keepdims=True)


def _relative(e: Array, d: Array) -> Array:
    """The vector part of conj(e) d."""
    return e[:, 3:] * d[:, :3] - d[:, 3:] * e[:, :3] - np.cross(e[:, :3], d[:, :3])


def _turned_back(e: Array, p: Array) -> Array:
    """R(e)^T p."""
    u, w = -e[:, :3], e[:, 3:]
    cross = np.cross(u, p)
    return p + 2.0 * (w * cross + np.cross(u, cross)) / _dot(e, e)
