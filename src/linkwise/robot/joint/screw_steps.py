"""Steps of poses along screws: the exponential of SE(3) and its inverse, smooth everywhere, over any scalar."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from linkwise.rotation import from_quaternion
from linkwise.scalar import Scalar, cos, less, sin, sqrt, where
from linkwise.spatial import Motion
from linkwise.vector import Vec3, cross, dot

SMALL = 0.25  # squares of angles below this go by series, which closed forms would lose digits on

# power series in the square of the turn's angle
COS_HALF = tuple((-0.25) ** k / factorial(2 * k) for k in range(8))
SIN_HALF = tuple(0.5 * (-0.25) ** k / factorial(2 * k + 1) for k in range(8))  # sin(angle / 2) / angle
SLIP = tuple((-1.0) ** k / factorial(2 * k + 3) for k in range(8))  # (angle - sin(angle)) / angle^3
UNSLIP = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600)

# atan(x) / x in x^2, for |x| up to tan(pi / 16)
ARC = tuple((-1.0) ** k / (2 * k + 1) for k in range(12))


def moved(x: Sequence[Scalar], v: Motion, time: Scalar) -> list[Scalar]:
    """Position and quaternion after a screw: the exponential of SE(3)."""
    u, w = v.linear * time, v.angular * time
    c, s, slip = _half_turn(dot(w, w))
    swing = cross(w, u)
    p = Vec3(*x[:3]) + from_quaternion(*x[3:]) @ (u + swing * (2.0 * s * s) + cross(w, swing) * slip)

    a, a_w, b = Vec3(*x[3:6]), x[6], w * s
    e, e_w = a * c + b * a_w + cross(a, b), a_w * c - dot(a, b)
    scale = 1.0 / sqrt(dot(e, e) + e_w * e_w)
    return [*p, *(e * scale), e_w * scale]


def _half_turn(square: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """cos(a/2), sin(a/2)/a and (a - sin a)/a^3 from a^2, smooth at zero."""
    small = less(square, SMALL)
    safe = where(small, 1.0, square)
    a = sqrt(safe)
    c = where(small, _series(COS_HALF, square), cos(0.5 * a))
    s = where(small, _series(SIN_HALF, square), sin(0.5 * a) / a)
    return c, s, where(small, _series(SLIP, square), (1.0 - 2.0 * s * c) / safe)


def between(x0: Sequence[Scalar], x1: Sequence[Scalar]) -> list[Scalar]:
    """The screw that leads from one pose to another: the logarithm of SE(3)."""
    a, a_w, b, b_w = Vec3(*x0[3:6]), x0[6], Vec3(*x1[3:6]), x1[6]
    e, e_w = b * a_w - a * b_w - cross(a, b), a_w * b_w + dot(a, b)
    # the quaternion and its negative turn alike: the one with w >= 0 turns less
    scale = where(less(e_w, 0.0), -1.0, 1.0) / sqrt(dot(e, e) + e_w * e_w)
    e, e_w = e * scale, e_w * scale

    # sines to the turn's vector: tan(a/4), then halved to tan(a/16), whose arc a short series gives; smooth everywhere
    ratio, square = 1.0 / (1.0 + e_w), dot(e, e)
    for _ in range(2):
        ratio = ratio / (1.0 + sqrt(1.0 + square * (ratio * ratio)))
    ratio = 16.0 * ratio * _series(ARC, square * (ratio * ratio))
    w = e * ratio

    d = from_quaternion(*x0[3:]).T @ (Vec3(*x1[:3]) - Vec3(*x0[:3]))
    square = dot(w, w)
    small = less(square, SMALL)
    unslip = where(small, _series(UNSLIP, square), (1.0 - 0.5 * ratio * e_w) / where(small, 1.0, square))
    swing = cross(w, d)
    return [*(d - swing * 0.5 + cross(w, swing) * unslip), *w]


def _series(coefficients: Sequence[float], x: Scalar) -> Scalar:
    total: Scalar = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total
