"""Vectors and matrices of three, over any scalar."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from linkwise.scalar import Scalar


class Vec3(NamedTuple):
    """A vector of three scalars."""

    x: Scalar
    y: Scalar
    z: Scalar

    def __add__(self, b: Vec3) -> Vec3:  # type: ignore[override]
        return Vec3(self.x + b.x, self.y + b.y, self.z + b.z)

    def __sub__(self, b: Vec3) -> Vec3:
        return Vec3(self.x - b.x, self.y - b.y, self.z - b.z)

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, s: Scalar) -> Vec3:
        return Vec3(self.x * s, self.y * s, self.z * s)

    def __rmul__(self, s: Scalar) -> Vec3:
        return self * s

    def labelled(self) -> Iterable[tuple[str, Scalar]]:
        """The components with their names."""
        return zip("xyz", self, strict=True)


ZERO3 = Vec3(0.0, 0.0, 0.0)
EX, EY, EZ = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)


def cross(a: Vec3, b: Vec3) -> Vec3:
    """The cross product a x b."""
    return Vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


def dot(a: Vec3, b: Vec3) -> Scalar:
    """The scalar product a . b."""
    return a.x * b.x + a.y * b.y + a.z * b.z


class Mat3(NamedTuple):
    """A 3 by 3 matrix of scalars, by rows."""

    x: Vec3
    y: Vec3
    z: Vec3

    @classmethod
    def of(cls, rows: Iterable[Iterable[Scalar]]) -> Mat3:
        """The matrix with these three rows of three."""
        return cls(*(Vec3(*r) for r in rows))

    @property
    def T(self) -> Mat3:
        """The transpose."""
        a, b, c = self
        return Mat3(Vec3(a.x, b.x, c.x), Vec3(a.y, b.y, c.y), Vec3(a.z, b.z, c.z))

    def column(self, j: int) -> Vec3:
        """Column j, from 0."""
        return Vec3(self.x[j], self.y[j], self.z[j])

    def __matmul__(self, other: Any) -> Any:
        a, b, c = self
        if isinstance(other, Vec3):
            x, y, z = other
            return Vec3(a.x * x + a.y * y + a.z * z, b.x * x + b.y * y + b.z * z, c.x * x + c.y * y + c.z * z)
        x, y, z = other.T
        return Mat3(
            Vec3(dot(a, x), dot(a, y), dot(a, z)),
            Vec3(dot(b, x), dot(b, y), dot(b, z)),
            Vec3(dot(c, x), dot(c, y), dot(c, z)),
        )

    def __add__(self, b: Mat3) -> Mat3:  # type: ignore[override]
        return Mat3(self.x + b.x, self.y + b.y, self.z + b.z)

    def __sub__(self, b: Mat3) -> Mat3:
        return Mat3(self.x - b.x, self.y - b.y, self.z - b.z)

    def __mul__(self, s: Scalar) -> Mat3:
        return Mat3(self.x * s, self.y * s, self.z * s)

    def __rmul__(self, s: Scalar) -> Mat3:
        return self * s

    def labelled(self) -> Iterable[tuple[str, Scalar]]:
        """The entries with their names, 11 to 33."""
        return [(f"{i + 1}{j + 1}", self[i][j]) for i in range(3) for j in range(3)]


EYE3 = Mat3.of([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
ZERO33 = Mat3(ZERO3, ZERO3, ZERO3)


def hat(a: Vec3) -> Mat3:
    """The matrix of a x: hat(a) @ b = a x b."""
    return Mat3.of([[0.0, -a.z, a.y], [a.z, 0.0, -a.x], [-a.y, a.x, 0.0]])


def outer(a: Vec3, b: Vec3) -> Mat3:
    """The matrix a b^T."""
    return Mat3(b * a.x, b * a.y, b * a.z)
