"""Rotations: `R_a_b` takes b-coordinates to a-coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from linkwise.scalar import Scalar, cos, sin
from linkwise.vector import EYE3, Mat3, Vec3, cross, hat, outer


def rot_x(angle: Scalar) -> Mat3:
    s, c = sin(angle), cos(angle)
    return Mat3.of([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rot_y(angle: Scalar) -> Mat3:
    s, c = sin(angle), cos(angle)
    return Mat3.of([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rot_z(angle: Scalar) -> Mat3:
    s, c = sin(angle), cos(angle)
    return Mat3.of([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Mat3:
    """Rz(yaw) Ry(pitch) Rx(roll), as URDF has it."""
    return rot_z(yaw) @ rot_y(pitch) @ rot_x(roll)


def rpy_of(R: Mat3) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation (numbers only), exact also where roll and yaw turn about one line."""
    yaw = math.atan2(R.y.x, R.x.x)
    s, c = math.sin(yaw), math.cos(yaw)
    # whatever yaw is, roll and pitch are those of what it leaves
    pitch = math.atan2(-R.z.x, c * R.x.x + s * R.y.x)
    roll = math.atan2(s * R.x.z - c * R.y.z, c * R.y.y - s * R.x.y)
    return roll, pitch, yaw


def axis_angle(axis: Vec3, angle: Scalar) -> Mat3:
    """Turn by `angle` about the unit vector `axis` (Rodrigues)."""
    s, c = sin(angle), cos(angle)
    return EYE3 * c + hat(axis) * s + outer(axis, axis) * (1.0 - c)


def from_quaternion(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> Mat3:
    """Rotation of the quaternion x, y, z, w, which is normalised here."""
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    sx, sy, sz = x * scale, y * scale, z * scale
    xx, yy, zz, xy, xz, yz = x * sx, y * sy, z * sz, x * sy, x * sz, y * sz
    wx, wy, wz = w * sx, w * sy, w * sz
    return Mat3.of(
        [
            [1.0 - (yy + zz), xy - wz, xz + wy],
            [xy + wz, 1.0 - (xx + zz), yz - wx],
            [xz - wy, yz + wx, 1.0 - (xx + yy)],
        ]
    )


def with_z_along(axis: Vec3) -> Mat3:
    """A rotation whose third column is the unit vector `axis` (numbers only); the coordinate axes give exact ones."""
    for k, plus in enumerate(_PERMUTATIONS):
        if not any(axis[j] for j in range(3) if j != k):
            return plus if axis[k] > 0 else plus @ Mat3.of([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])
    smallest = min(range(3), key=lambda k: abs(axis[k]))
    helper = EYE3[smallest]
    x = cross(helper, axis)
    x = x * (1.0 / math.sqrt(x.x**2 + x.y**2 + x.z**2))
    return Mat3(x, cross(axis, x), axis).T


_PERMUTATIONS = (
    Mat3.of([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    Mat3.of([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    EYE3,
)


@dataclass(frozen=True, slots=True)
class Turn:
    """The rotation `fixed @ Rz(angle)`, applied as two steps because that takes fewer operations than one matrix."""

    fixed: Mat3
    c: Scalar
    s: Scalar

    @property
    def T(self) -> TurnBack:
        return TurnBack(self)

    def __matmul__(self, v: Any) -> Any:
        if isinstance(v, Mat3):
            return self.matrix() @ v
        return self.fixed @ Vec3(self.c * v.x - self.s * v.y, self.s * v.x + self.c * v.y, v.z)

    def matrix(self) -> Mat3:
        return self.fixed @ Mat3.of([[self.c, -self.s, 0.0], [self.s, self.c, 0.0], [0.0, 0.0, 1.0]])


@dataclass(frozen=True, slots=True)
class TurnBack:
    """The transpose of a Turn."""

    turn: Turn

    @property
    def T(self) -> Turn:
        return self.turn

    def __matmul__(self, v: Any) -> Any:
        if isinstance(v, Mat3):
            return self.matrix() @ v
        u, c, s = self.turn.fixed.T @ v, self.turn.c, self.turn.s
        return Vec3(c * u.x + s * u.y, c * u.y - s * u.x, u.z)

    def matrix(self) -> Mat3:
        return self.turn.matrix().T
