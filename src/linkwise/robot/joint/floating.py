"""Joints that hold nothing: a body free in space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.errors import LinkwiseError
from linkwise.robot.joint import screw_steps
from linkwise.robot.joint.kind import LIGHT, Kind
from linkwise.rotation import from_quaternion
from linkwise.scalar import Scalar, sqrt
from linkwise.spatial import Inertia, Motion, Pose
from linkwise.vector import EYE3, Mat3, Vec3, cross, dot


class Floating(Kind):
    """Position, then quaternion x, y, z, w; linear, then angular velocity in the body's own axes."""

    name = "floating"
    nq, nv = 7, 6
    home = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    lengths = (True, True, True, False, False, False)
    units = tuple(Motion(*(Vec3(*(float(3 * half + k == i) for k in range(3))) for half in range(2))) for i in range(6))
    positions = ("x", "y", "z", "qx", "qy", "qz", "qw")
    velocities = ("vx", "vy", "vz", "wx", "wy", "wz")
    forces = ("fx", "fy", "fz", "mx", "my", "mz")
    quaternion = slice(3, 7)
    has_axis = False
    endless = True
    curved = True

    def frame(self, axis: Vec3, anchor: Vec3) -> Pose:
        return Pose()

    def moved(self, X: Pose, x: Sequence[Scalar]) -> tuple[Any, Vec3]:
        return X.R @ from_quaternion(*x[3:]), X.p + X.R @ Vec3(*x[:3])

    def pose(self, axis: Vec3, anchor: Vec3, x: Sequence[Scalar]) -> Pose:
        if not any(x[3:]):
            raise LinkwiseError("expected a quaternion that is not zero, got zeros.")
        return Pose.of_quaternion(x[:3], x[3:])

    def rate(self, v: Sequence[Scalar]) -> Motion:
        return Motion(Vec3(*v[:3]), Vec3(*v[3:]))

    def components(self, motion: Motion) -> list[Scalar]:
        return list(motion)

    def integrate(self, x: Sequence[Scalar], v: Sequence[Scalar], time: Scalar) -> list[Scalar]:
        """Along a screw, which the quaternion follows by exp(w / 2), w = omega time."""
        return screw_steps.moved(x, self.rate(v), time)

    def difference(self, x0: Sequence[Scalar], x1: Sequence[Scalar]) -> list[Scalar]:
        return screw_steps.between(x0, x1)

    def q_dot(self, x: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """R v, and half the product of the quaternion with omega, which keeps its length."""
        rate, a, a_w = self.rate(v), Vec3(*x[3:6]), x[6]
        half = rate.angular * 0.5
        p_dot = from_quaternion(*a, a_w) @ rate.linear
        return [*p_dot, *(half * a_w + cross(a, half)), -dot(a, half)]

    def tangent(self, x: Sequence[Scalar], x_dot: Sequence[Scalar]) -> list[Scalar]:
        a, a_w, b, b_w = Vec3(*x[3:6]), x[6], Vec3(*x_dot[3:6]), x_dot[6]
        linear = from_quaternion(*x[3:7]).T @ Vec3(*x_dot[:3])
        twice = 2.0 / (dot(a, a) + a_w * a_w)
        return [*linear, *((b * a_w - a * b_w - cross(a, b)) * twice)]

    def normalised(self, x: Sequence[Scalar]) -> list[Scalar]:
        quaternion = x[3:7]
        inverse = 1.0 / sqrt(sum((c * c for c in quaternion[1:]), quaternion[0] * quaternion[0]))
        return [*x[:3], *(c * inverse for c in quaternion)]

    def is_light(self, I: Inertia, armature: Scalar, loose: Scalar, mass: Scalar, size: Scalar) -> bool:
        if I.m <= LIGHT * mass:
            return True
        centre = I.mc * (1.0 / I.m)
        return turning_is_light(I.seen_from(EYE3, -centre).I_o, loose, size)


def turning_is_light(tensor: Mat3, loose: Scalar, size: Scalar) -> bool:
    """Whether a tensor, less what turns freely, has next to no inertia about some axis."""
    T = tensor - EYE3 * loose
    return bool(dot(T.x, cross(T.y, T.z)) <= LIGHT * size * size * size)
