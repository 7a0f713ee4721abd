"""The motion of a base as the last release took it, velocity and acceleration by time, made into a pose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.planning.curve import Array
from linkwise.planning.term_and_constraint import Constraint
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar
from linkwise.spatial import Pose

DEGREES = (16, 32, 64, 128)  # of polynomials in time that are tried
CLOSE = 1e-7  # by which acceleration and angular velocity may be off, relative


def base_of(constraints: Sequence[Constraint], robot: Robot, duration: float | None, given: Any) -> Any:
    """The motion of the base: as it was given, or the one among the constraints as a pose."""
    found = [b for c in constraints if (b := c.base(robot)) is not None]
    if len(found) + (given is not None) > 1:
        raise InputError("base_motion: expected one motion of the base, got several.")
    if not found:
        return given
    if duration is None:
        raise InputError("base_motion: expected a fixed duration=..., got a free one. Give plan(base_motion=...) a"
                         " function of time that returns the base's Pose.")  # fmt: skip
    return pose_of(found[0], duration)


def pose_of(motion: Callable[[Array], Array], duration: float) -> Callable[[Scalar], Pose]:
    """The pose with the angular velocity and linear acceleration (rows of 18) of a function, at rest at the origin.

    Position and quaternion are Chebyshev polynomials in time, found by integration at their nodes.
    """
    from numpy.polynomial import chebyshev
    from scipy.integrate import solve_ivp

    def rates(t: float, y: Array) -> Array:
        row, (x, y_, z, w) = motion(np.array([t]))[0], y[6:]
        a, (p, q, r) = row[6:9], row[3:6]
        spin = 0.5 * np.array([w * p + y_ * r - z * q, w * q + z * p - x * r, w * r + x * q - y_ * p,
                               -x * p - y_ * q - z * r])  # fmt: skip
        return np.concatenate([y[3:6], _matrix(y[6:]) @ a, spin])

    rest = np.array([0.0] * 9 + [1.0])
    for degree in DEGREES:
        nodes = 0.5 * duration * (1.0 - np.cos(np.pi * np.arange(degree + 1) / degree))
        found = solve_ivp(rates, (0.0, duration), rest, "DOP853", nodes, rtol=1e-12, atol=1e-13)
        fit = chebyshev.chebfit(2.0 * nodes / duration - 1.0, found.y.T[:, [0, 1, 2, 6, 7, 8, 9]], degree)
        if _error(motion, fit, duration) < CLOSE:
            break
    else:
        raise InputError("base_motion: expected a smooth motion, got one that no polynomial follows. Give"
                         " plan(base_motion=...) a function of time that returns the base's Pose.")  # fmt: skip
    columns = fit.T.tolist()

    def pose(t: Scalar) -> Pose:
        values = [_sum(c, t * (2.0 / duration) - 1.0) for c in columns]
        return Pose.of_quaternion(values[:3], values[3:])

    return pose


def _sum(c: Sequence[float], x: Scalar) -> Scalar:
    """The sum of Chebyshev polynomials at x, by Clenshaw's rule."""
    a: Scalar = 0.0
    b: Scalar = 0.0
    for k in range(len(c) - 1, 0, -1):
        a, b = x * 2.0 * a - b + c[k], a
    return x * a - b + c[0]


def _error(motion: Callable[[Array], Array], fit: Array, duration: float) -> float:
    """How far acceleration and angular velocity of the polynomials are off, relative to their size."""
    from numpy.polynomial import chebyshev

    t = np.linspace(0.0, duration, 101)
    x, scale, rows = 2.0 * t / duration - 1.0, 2.0 / duration, motion(t)
    q, q_dot = (chebyshev.chebval(x, chebyshev.chebder(fit[:, 3:], k)).T * scale**k for k in (0, 1))
    a = chebyshev.chebval(x, chebyshev.chebder(fit[:, :3], 2)).T * scale**2
    v, w = q[:, :3], q[:, 3:]
    omega = 2.0 * (w * q_dot[:, :3] - q_dot[:, 3:] * v - np.cross(v, q_dot[:, :3]))
    wanted = np.einsum("tij,tj->ti", np.array([_matrix(x) for x in q]), rows[:, 6:9])
    off = max(np.abs(a - wanted).max() / max(1.0, np.abs(wanted).max()), np.abs(omega - rows[:, 3:6]).max())
    return float(off)


def _matrix(q: Array) -> Array:
    """The rotation of a quaternion."""
    return np.array(Pose.of_quaternion((0.0, 0.0, 0.0), q.tolist()).R)
