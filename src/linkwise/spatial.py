"""Poses, motions, wrenches and inertias: named bundles of 3-vectors, over any scalar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from linkwise.rotation import from_quaternion, in_steps, rpy, turned
from linkwise.scalar import Scalar, is_number
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

    def __mul__(self, x: Scalar) -> Motion:
        return Motion(self.linear * x, self.angular * x)

    @property
    def is_coordinate(self) -> bool:
        """Whether this is 1 along one coordinate and 0 along all others."""
        return sorted(abs(x) if is_number(x) else 2.0 for x in self) == [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]

    def others(self) -> tuple[Vec3, Vec3]:
        """The complement of a unit motion: zeros where it is 1, ones elsewhere."""
        u, w = self.linear, self.angular
        return Vec3(1.0 - u.x, 1.0 - u.y, 1.0 - u.z), Vec3(1.0 - w.x, 1.0 - w.y, 1.0 - w.z)

    def pushed(self, x: Scalar) -> Wrench:
        """The wrench along a unit motion whose part there is x."""
        return Wrench(self.linear * x, self.angular * x)

    def carried_to(self, R_a_b: Any, p_a_b: Vec3) -> Motion:
        """The motion of frame a at b's origin, in b's axes, as if both were one body; squares of omega are not in."""
        fixed, turn, lever = in_steps(R_a_b, p_a_b)
        linear, angular = fixed.T @ self.linear, fixed.T @ self.angular
        return Motion(turn.T @ (linear + cross(angular, lever)), turn.T @ angular)


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

    def __mul__(self, x: Scalar) -> Wrench:
        return Wrench(self.force * x, self.moment * x)

    def seen_from(self, R_a_b: Any, p_a_b: Vec3) -> Wrench:
        """The same wrench, given in frame b, in a's axes about a's origin."""
        fixed, turn, lever = in_steps(R_a_b, p_a_b)
        force = turn @ self.force
        return Wrench(fixed @ force, fixed @ (turn @ self.moment + cross(lever, force)))

    def beside(self, s: Motion) -> Wrench:
        """The wrench without its part along the unit motion `s`."""
        (x, y, z), (u, v, w) = s.others()
        f, m = self.force, self.moment
        return Wrench(Vec3(f.x * x, f.y * y, f.z * z), Vec3(m.x * u, m.y * v, m.z * w))

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
        fixed, turn, p = in_steps(R_a_b, p_a_b)
        mc, pm = turn @ self.mc, p * self.m
        E = turned(turn, self.E) + outer(p, mc) + outer(mc, p) + outer(p, pm)
        return Inertia(self.m, fixed @ (mc + pm), _symmetrised(turned(fixed, _symmetrised(E))))

    def force(self, a: Vec3, U: Mat3) -> Wrench:
        """The wrench that gives the body's points x the accelerations a + U x."""
        return Wrench(a * self.m + U @ self.mc, _turning(U, self.E) + cross(self.mc, a))

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


def _turning(U: Mat3, E: Mat3) -> Vec3:
    """vee(U E - E U^T), in which differences of the diagonal of U meet the products of inertia."""
    return Vec3(
        (U.z.z - U.y.y) * E.y.z + (U.z.y * E.y.y - U.y.z * E.z.z) + (U.z.x * E.x.y - U.y.x * E.x.z),
        (U.x.x - U.z.z) * E.x.z + (U.x.z * E.z.z - U.z.x * E.x.x) + (U.x.y * E.y.z - U.z.y * E.x.y),
        (U.y.y - U.x.x) * E.x.y + (U.y.x * E.x.x - U.x.y * E.y.y) + (U.y.z * E.x.z - U.x.z * E.y.z),
    )


def _symmetrised(E: Mat3) -> Mat3:
    """E, with its lower triangle taken from the upper one, so that a trace sees one expression for each pair."""
    return symmetric(E.x.x, E.x.y, E.x.z, E.y.y, E.y.z, E.z.z)
