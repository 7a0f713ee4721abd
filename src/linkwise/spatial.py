"""Poses, motions, wrenches and inertias: named bundles of 3-vectors, over any scalar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from linkwise.rotation import from_quaternion, rpy
from linkwise.scalar import Scalar
from linkwise.vector import EYE3, ZERO3, ZERO33, Mat3, Vec3, cross, dot, outer


@dataclass(frozen=True, slots=True)
class Pose:
    """Where frame b is in frame a: `R` takes b-coordinates to a-coordinates, `p` runs from a's origin to b's."""

    R: Mat3 = EYE3
    p: Vec3 = ZERO3

    @classmethod
    def of(cls, xyz: Sequence[Scalar] = (0.0, 0.0, 0.0), rpy: Sequence[Scalar] = (0.0, 0.0, 0.0)) -> Pose:
        """Pose at `xyz`, turned by Rz(yaw) Ry(pitch) Rx(roll)."""
        return cls(_rpy(*rpy), Vec3(*xyz))

    @classmethod
    def of_quaternion(cls, xyz: Sequence[Scalar], xyzw: Sequence[Scalar]) -> Pose:
        """Pose at `xyz`, turned by the quaternion x, y, z, w (normalised here)."""
        return cls(from_quaternion(*xyzw), Vec3(*xyz))

    @classmethod
    def of_matrix(cls, T: Sequence[Sequence[Scalar]]) -> Pose:
        """Pose of a 4 by 4 homogeneous matrix."""
        return cls(Mat3.of([row[:3] for row in T[:3]]), Vec3(*(row[3] for row in T[:3])))

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.p + self.R @ other.p)

    def inverse(self) -> Pose:
        return Pose(self.R.T, -(self.R.T @ self.p))

    def point(self, p_b: Vec3) -> Vec3:
        """The point with b-coordinates `p_b`, in a-coordinates."""
        return self.p + self.R @ p_b

    def matrix(self) -> list[list[Scalar]]:
        """The 4 by 4 homogeneous matrix, by rows."""
        rows: list[list[Scalar]] = [[*r, x] for r, x in zip(self.R, self.p, strict=True)]
        return [*rows, [0.0, 0.0, 0.0, 1.0]]


_rpy = rpy


@dataclass(frozen=True, slots=True)
class Motion:
    """A velocity or classical acceleration of a frame: of its origin, then angular; also a unit motion of a joint."""

    linear: Vec3 = ZERO3
    angular: Vec3 = ZERO3

    def __iter__(self) -> Any:
        return iter((*self.linear, *self.angular))

    def __add__(self, b: Motion) -> Motion:
        return Motion(self.linear + b.linear, self.angular + b.angular)


@dataclass(frozen=True, slots=True)
class Wrench:
    """A force and a moment about the frame's origin."""

    force: Vec3 = ZERO3
    moment: Vec3 = ZERO3

    def __iter__(self) -> Any:
        return iter((*self.force, *self.moment))

    def __add__(self, b: Wrench) -> Wrench:
        return Wrench(self.force + b.force, self.moment + b.moment)

    def __neg__(self) -> Wrench:
        return Wrench(-self.force, -self.moment)

    def seen_from(self, R_a_b: Any, p_a_b: Vec3) -> Wrench:
        """The same wrench, given in frame b, in a's axes about a's origin."""
        force = R_a_b @ self.force
        return Wrench(force, R_a_b @ self.moment + cross(p_a_b, force))

    def power(self, v: Motion) -> Scalar:
        """The wrench's power on a motion of the same frame."""
        return dot(self.force, v.linear) + dot(self.moment, v.angular)


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass, first moment and second moments of a body about its frame's origin, in its axes.

    `E` is the integral of x x^T dm, so that the inertia tensor is I_o = tr(E) 1 - E. With it the inertial force and
    moment of a body whose points x accelerate by `a + U x`, U = hat(omega_dot) + hat(omega)^2, are

        F = m a + U mc,        N = mc x a + vee(U E - E U^T),

    which takes fewer operations than I_o omega_dot + omega x I_o omega, because U is at hand.
    """

    m: Scalar = 0.0
    mc: Vec3 = ZERO3
    E: Mat3 = ZERO33

    @classmethod
    def of(cls, mass: Scalar, com: Vec3, I_c: Iterable[Scalar]) -> Inertia:
        """From mass, centre of mass, and xx, xy, xz, yy, yz, zz of the tensor about the centre of mass."""
        return cls(mass, com * mass, _second_moments(symmetric(*I_c)) + outer(com, com) * mass)

    @classmethod
    def of_parameters(cls, m: Scalar, x: Scalar, y: Scalar, z: Scalar, *I_o: Scalar) -> Inertia:
        """From m, the three first moments, and xx, xy, xz, yy, yz, zz of the tensor about the origin."""
        return cls(m, Vec3(x, y, z), _second_moments(symmetric(*I_o)))

    @property
    def I_o(self) -> Mat3:
        """The inertia tensor about the origin."""
        return EYE3 * (self.E.x.x + self.E.y.y + self.E.z.z) - self.E

    def parameters(self) -> tuple[Scalar, ...]:
        """m, mc (3), and xx, xy, xz, yy, yz, zz of the tensor about the origin."""
        I = self.I_o
        return (self.m, *self.mc, I.x.x, I.x.y, I.x.z, I.y.y, I.y.z, I.z.z)

    def __add__(self, b: Inertia) -> Inertia:
        return Inertia(self.m + b.m, self.mc + b.mc, self.E + b.E)

    def __sub__(self, b: Inertia) -> Inertia:
        return Inertia(self.m - b.m, self.mc - b.mc, self.E - b.E)

    def seen_from(self, R_a_b: Any, p_a_b: Vec3) -> Inertia:
        """The same body, given in frame b, in a's axes about a's origin."""
        mc = R_a_b @ self.mc
        R = R_a_b if isinstance(R_a_b, Mat3) else R_a_b.matrix()
        lever = p_a_b * self.m
        E = R @ self.E @ R.T + outer(p_a_b, mc) + outer(mc, p_a_b) + outer(p_a_b, lever)
        return Inertia(self.m, mc + lever, _symmetrised(E))

    def force(self, a: Vec3, U: Mat3) -> Wrench:
        """The wrench that gives the body's points x the accelerations a + U x."""
        G = U @ self.E
        turning = Vec3(G.z.y - G.y.z, G.x.z - G.z.x, G.y.x - G.x.y)
        return Wrench(a * self.m + U @ self.mc, turning + cross(self.mc, a))

    def momentum(self, v: Motion) -> Wrench:
        """Linear momentum, and angular momentum about the origin, at velocity `v`."""
        linear = v.linear * self.m + cross(v.angular, self.mc)
        return Wrench(linear, self.I_o @ v.angular + cross(self.mc, v.linear))


def symmetric(xx: Scalar, xy: Scalar, xz: Scalar, yy: Scalar, yz: Scalar, zz: Scalar) -> Mat3:
    return Mat3.of([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _second_moments(I: Mat3) -> Mat3:
    """E = tr(I)/2 1 - I."""
    xx, yy, zz = I.x.x, I.y.y, I.z.z
    half = (0.5 * (yy + zz - xx), 0.5 * (xx + zz - yy), 0.5 * (xx + yy - zz))
    return symmetric(half[0], -I.x.y, -I.x.z, half[1], -I.y.z, half[2])


def _symmetrised(E: Mat3) -> Mat3:
    """E, with its lower triangle taken from the upper one, so that a trace sees one expression for each pair."""
    return symmetric(E.x.x, E.x.y, E.x.z, E.y.y, E.y.z, E.z.z)
