"""Inertia that a body seems to have when others hang on it by joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Motion, Wrench, symmetric
from linkwise.vector import EYE3, Mat3, Vec3, cross, hat, outer


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """A symmetric 6 by 6 matrix in blocks of three: wrench = [[A, B], [B^T, D]] motion, about the body's origin."""

    A: Mat3
    B: Mat3
    D: Mat3

    @classmethod
    def of(cls, body: Inertia) -> ArticulatedInertia:
        """The inertia of a rigid body: [[m 1, -hat(mc)], [hat(mc), I_o]]."""
        return cls(EYE3 * body.m, hat(-body.mc), body.I_o)

    def __matmul__(self, v: Motion) -> Wrench:
        return Wrench(self.A @ v.linear + self.B @ v.angular, self.B.T @ v.linear + self.D @ v.angular)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.A + other.A, self.B + other.B, self.D + other.D)

    def without(self, w: Wrench, scale: Scalar) -> ArticulatedInertia:
        """This matrix less w w^T times `scale`: what is left when a free axis yields."""
        f, m = w.force * scale, w.moment * scale
        return ArticulatedInertia(
            _upper(self.A - outer(f, w.force)), self.B - outer(f, w.moment), _upper(self.D - outer(m, w.moment))
        )

    def seen_from(self, R_a_b: Any, p_a_b: Vec3) -> ArticulatedInertia:
        """The same, given in frame b, in a's axes about a's origin."""
        R = R_a_b if isinstance(R_a_b, Mat3) else R_a_b.matrix()
        A = _upper(R @ self.A @ R.T)
        B = R @ self.B @ R.T
        D = _upper(R @ self.D @ R.T)
        # shift by p: rows of A turn into moments p x f, columns into velocities of the origin
        PA = _crossed(p_a_b, A)
        B_a = B - _columns_crossed(A, p_a_b)
        PB = _crossed(p_a_b, B)
        D_a = D + PB + PB.T - _columns_crossed(PA, p_a_b)
        return ArticulatedInertia(A, B_a, _upper(D_a))


def _upper(M: Mat3) -> Mat3:
    """A symmetric matrix with its lower triangle taken from the upper one."""
    return symmetric(M.x.x, M.x.y, M.x.z, M.y.y, M.y.z, M.z.z)


def _crossed(p: Vec3, M: Mat3) -> Mat3:
    """hat(p) M."""
    return Mat3(*(cross(p, c) for c in M.T)).T


def _columns_crossed(M: Mat3, p: Vec3) -> Mat3:
    """M hat(p)."""
    return Mat3(*(cross(r, p) for r in M))
