"""Steps along and between configurations: one-degree joints add, floating joints move on the manifold of poses."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from linkwise.algorithms.algorithm import Outputs, algorithm
from linkwise.robot.tree import Tree
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


@algorithm(inputs="q qd dt", outputs={"q_next": ("nq",)})
def integrate(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar], dt: Sequence[Scalar]) -> Outputs:
    """The configuration after moving from `q` with the constant velocity `qd` for the time `dt`.

    A joint of one degree of freedom adds qd dt. A floating joint follows a screw: with w = omega dt, of length a,

        p + R (1 + (1 - cos a)/a^2 hat(w) + (a - sin a)/a^3 hat(w)^2) v dt,    quaternion * exp(w / 2).

    The quaternion comes out normalised, with the sign that is continuous in `dt`.

    Args:
        tree: the robot.
        q: positions (nq); a quaternion x, y, z, w of any length.
        qd: velocities (nv), a floating joint's in its own axes.
        dt: one time, s.
    """
    (time,) = dt
    moved = list(q)
    for body in tree.bodies[1:]:
        if body.kind == "floating":
            moved[body.q : body.q + 7] = _moved(q[body.q : body.q + 7], body.rate(qd), time)
    for at, to in tree.singles:
        moved[at] = q[at] + qd[to] * time
    return (moved,)


@algorithm(inputs="q0 q1", outputs={"v": ("nv",)})
def difference(tree: Tree, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> Outputs:
    """The constant velocity that leads from `q0` to `q1` in unit time: integrate(q0, v, 1) = q1.

    A floating joint turns by at most half a turn, whatever the signs of the quaternions; at exactly half a turn the
    two ways are equal and one is taken. Turns of one-degree joints are counted, not wrapped.

    Args:
        tree: the robot.
        q0: positions at the start (nq).
        q1: positions at the end (nq).
    """
    v: list[Scalar] = [0.0] * tree.nv
    for body in tree.bodies[1:]:
        if body.kind == "floating":
            v[body.v : body.v + 6] = _between(q0[body.q : body.q + 7], q1[body.q : body.q + 7])
    for at, to in tree.singles:
        v[to] = q1[at] - q0[at]
    return (v,)


@algorithm(inputs="q qd", outputs={"q_dot": ("nq",)})
def q_dot(tree: Tree, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Outputs:
    """The rates of the numbers in `q`, for solvers that know nothing of manifolds.

    `qd` itself for joints of one degree of freedom; R v and half the product of the quaternion with omega for a
    floating joint, whose quaternion keeps its length.
    """
    rate: list[Scalar] = [0.0] * tree.nq
    for body in tree.bodies[1:]:
        if body.kind == "floating":
            v, a, a_w = body.rate(qd), Vec3(*q[body.q + 3 : body.q + 6]), q[body.q + 6]
            half = v.angular * 0.5
            p_dot = from_quaternion(*a, a_w) @ v.linear
            rate[body.q : body.q + 7] = [*p_dot, *(half * a_w + cross(a, half)), -dot(a, half)]
    for at, to in tree.singles:
        rate[at] = qd[to]
    return (rate,)


def tangent(tree: Tree, q: Sequence[Scalar], rate: Sequence[Scalar]) -> list[Scalar]:
    """The velocity (nv) at which the numbers in `q` change at these rates: what `q_dot` does, undone.

    A quaternion may have any length, and change it.
    """
    v: list[Scalar] = [0.0] * tree.nv
    for body in tree.bodies[1:]:
        if body.kind == "floating":
            x, x_dot = q[body.q + 3 : body.q + 7], rate[body.q : body.q + 7]
            a, a_w, b, b_w = Vec3(*x[:3]), x[3], Vec3(*x_dot[3:6]), x_dot[6]
            linear = from_quaternion(*x).T @ Vec3(*x_dot[:3])
            twice = 2.0 / (dot(a, a) + a_w * a_w)
            v[body.v : body.v + 6] = [*linear, *((b * a_w - a * b_w - cross(a, b)) * twice)]
    for at, to in tree.singles:
        v[to] = rate[at]
    return v


def _moved(x: Sequence[Scalar], v: Motion, time: Scalar) -> list[Scalar]:
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


def _between(x0: Sequence[Scalar], x1: Sequence[Scalar]) -> list[Scalar]:
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
