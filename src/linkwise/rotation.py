"""Rotations: `R_a_b` takes b-coordinates to a-coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from linkwise.scalar import Scalar, cos, is_number, sin
from linkwise.vector import EYE3, Mat3, Vec3, cross, hat, outer

ROUND_OFF = 1e-15  # of products of exact turns, where 0 or 1 is meant


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


class Steps(NamedTuple):
    """A pose as `fixed @ turn` with the shift between the two: turn, move by `lever`, turn by `fixed`."""

    fixed: Mat3
    turn: Any
    lever: Vec3


def in_steps(R: Any, p: Vec3) -> Steps:
    """The pose R, p in steps, the shift where it has the fewest components: x and z alone in Khalil's frames."""
    fixed, turn = (R.fixed, Turn(EYE3, R.c, R.s)) if isinstance(R, Turn) else (R, EYE3)
    if isinstance(fixed, Mat3) and _known(*fixed, p):
        lever = _lever(fixed, p)
        if sum(x != 0.0 for x in lever) < sum(x != 0.0 for x in p):
            return Steps(fixed, turn, lever)
    return Steps(EYE3, R, p)


def turned(R: Any, M: Mat3) -> Mat3:
    """R M R^T: the matrix M of frame b in a's axes, plane by plane where the turns are known, which is cheapest."""
    if isinstance(R, Turn):
        return turned(R.fixed, _turned_in_plane(M, 2, R.c, R.s))
    if not isinstance(R, Mat3):
        R = R.matrix()
    if not _known(*R) or _known(*M):
        return R @ M @ R.T
    for axis, c, s in _planes(R):
        if c == 0.0 or s == 0.0:
            P = _plane(axis, c, s)
            M = P @ M @ P.T
        else:
            M = _turned_in_plane(M, axis, c, s)
    return M


def _turned_in_plane(M: Mat3, axis: int, c: Scalar, s: Scalar) -> Mat3:
    """P M P^T for a turn P about a coordinate axis.

    In the plane, with e = s (M_ii - M_jj) + c (M_ij + M_ji), the diagonal changes by s e and the rest is c e less its
    transpose; a symmetric M stays so. That takes 4 multiplications, where two products take 16.
    """
    i, j, k = (axis + 1) % 3, (axis + 2) % 3, axis
    e = s * (M[i][i] - M[j][j]) + c * (M[i][j] + M[j][i])
    swap, mixed = s * e, c * e
    N = [list(row) for row in M]
    N[i][i], N[i][j] = M[i][i] - swap, mixed - M[j][i]
    N[j][i], N[j][j] = mixed - M[i][j], M[j][j] + swap
    N[i][k], N[j][k] = c * M[i][k] - s * M[j][k], s * M[i][k] + c * M[j][k]
    N[k][i], N[k][j] = c * M[k][i] - s * M[k][j], s * M[k][i] + c * M[k][j]
    return Mat3.of(N)


@lru_cache(maxsize=4096)
def _planes(R: Mat3) -> tuple[tuple[int, float, float], ...]:
    """Axis, cosine and sine of turns about z, x and z that make up R, the first to be applied first."""
    tilt = math.hypot(R.z.x, R.z.y)
    first = (R.z.y / tilt, R.z.x / tilt) if tilt > ROUND_OFF else (1.0, 0.0)
    c, s = first
    # whatever the first turn is, the last one is of what it leaves, so that no digits are lost at small tilts
    last = (c * R.x.x - s * R.x.y, c * R.y.x - s * R.y.y)
    return tuple((axis, *_snapped(*turn)) for axis, turn in ((2, first), (0, (R.z.z, tilt)), (2, last)))


def _plane(axis: int, c: float, s: float) -> Mat3:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    rows = [list(r) for r in EYE3]
    rows[i][i] = rows[j][j] = c
    rows[i][j], rows[j][i] = -s, s
    return Mat3.of(rows)


@lru_cache(maxsize=4096)
def _lever(R: Mat3, p: Vec3) -> Vec3:
    """R^T p, without round-off."""
    size = math.hypot(*p)
    return Vec3(*(0.0 if abs(x) < 4.0 * ROUND_OFF * size else x for x in R.T @ p))


def _snapped(c: float, s: float) -> tuple[float, float]:
    """Cosine and sine, exact where they are those of a right angle but for round-off."""
    return (float(round(c)), float(round(s))) if min(abs(c), abs(s)) < ROUND_OFF else (c, s)


def _known(*vectors: Vec3) -> bool:
    return all(is_number(x) for v in vectors for x in v)
