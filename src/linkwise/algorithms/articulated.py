"""Inertia that a body seems to have when others hang on it by joints, and what recursions over such bodies know."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.algorithms.algorithm import World
from linkwise.robot.tree import Tree
from linkwise.rotation import in_steps, turned
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Motion, Wrench, symmetric
from linkwise.vector import EYE3, Mat3, Vec3, cross, hat, outer

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine


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

    def momentum(self, v: Motion) -> Wrench:
        """The product with a motion, by the name that it has for a rigid body."""
        return self @ v

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.A + other.A, self.B + other.B, self.D + other.D)

    def without(self, w: Wrench, scale: Scalar) -> ArticulatedInertia:
        """This matrix less w w^T times `scale`: what is left when a free axis yields."""
        f, m = w.force * scale, w.moment * scale
        return ArticulatedInertia(
            _upper(self.A - outer(f, w.force)), self.B - outer(f, w.moment), _upper(self.D - outer(m, w.moment))
        )

    def beside(self, s: Motion) -> ArticulatedInertia:
        """This matrix with zeros along the unit motion `s`, where an axis without inertia of its own has yielded."""
        f, m = s.others()
        return ArticulatedInertia(_masked(self.A, f, f), _masked(self.B, f, m), _masked(self.D, m, m))

    def seen_from(self, R_a_b: Any, p_a_b: Vec3) -> ArticulatedInertia:
        """The same, given in frame b, in a's axes about a's origin."""
        fixed, turn, lever = in_steps(R_a_b, p_a_b)
        return self._turned(turn)._shifted(lever)._turned(fixed)

    def _turned(self, R: Any) -> ArticulatedInertia:
        return ArticulatedInertia(_upper(turned(R, self.A)), turned(R, self.B), _upper(turned(R, self.D)))

    def _shifted(self, p: Vec3) -> ArticulatedInertia:
        """About the point -p instead of the origin: forces get the moments p x f, turning moves the origin.

        With P = hat(p): B - A P, and D + P B + (P B)^T - P A P, which is D + P (B - A P) + (P B)^T.
        """
        B = Mat3(*(row - cross(row_A, p) for row, row_A in zip(self.B, self.A, strict=True)))
        # the diagonal takes both products at once
        twice, after, before = _crossed(p, self.B + B), _crossed(p, B), _crossed(p, self.B)
        D = self.D + symmetric(
            twice.x.x, after.x.y + before.y.x, after.x.z + before.z.x, twice.y.y, after.y.z + before.z.y, twice.z.z
        )
        return ArticulatedInertia(self.A, B, D)


Seeming = Inertia | ArticulatedInertia  # of a body with what it carries: rigid as long as nothing of that yields


def articulated(I: Seeming) -> ArticulatedInertia:
    """The 6 by 6 matrix of an inertia."""
    return ArticulatedInertia.of(I) if isinstance(I, Inertia) else I


def together(a: Seeming, b: Seeming) -> Seeming:
    """Two inertias as one: rigid if both are."""
    return a + b if isinstance(a, Inertia) and isinstance(b, Inertia) else articulated(a) + articulated(b)


class Known(NamedTuple):
    """What a recursion over articulated bodies knows before it starts, in coordinates of the tree.

    Args:
        machine: the robot.
        at: the machine in its configuration.
        q, qd: positions and velocities.
        qdd: accelerations, where what is free and leads does not accelerate.
        poses: of each body in its parent.
        omega: angular velocities of bodies.
        bias: accelerations of each body, relative to its parent, that `qd` and `qdd` cause.
        given: for each leading coordinate its acceleration where it is driven, else its force.
        driven: places of the leading coordinates that are driven.
    """

    machine: AnyMachine
    at: Any
    q: Sequence[Scalar]
    qd: Sequence[Scalar]
    qdd: Sequence[Scalar]
    poses: list[tuple[Any, Vec3]]
    omega: list[Vec3]
    bias: list[Motion]
    given: list[Scalar]
    driven: set[int]

    @classmethod
    def of(
        cls,
        machine: AnyMachine,
        q: Sequence[Scalar],
        qd: Sequence[Scalar],
        given: Sequence[Scalar],
        driven: Collection[int],
        world: World,
    ) -> Known:
        """From what is given of the leading coordinates, each by its number."""
        at: Any = machine.at(q)
        tree = at.tree
        poses = [b.pose(at.q) for b in tree.bodies]
        rates = at.rates(qd)
        omega, bias = velocities(tree, rates, poses, world)
        qdd = at.accelerations(rates, [x if k in driven else 0.0 for k, x in enumerate(given)])
        bias = [Motion(), *(x + b.rate(qdd) for x, b in zip(bias[1:], tree.bodies[1:], strict=True))]
        full: list[Scalar] = [0.0] * tree.nv
        for k, v in enumerate(at.leads):
            full[v] = given[k]
        return cls(machine, at, at.q, rates, qdd, poses, omega, bias, full, {at.leads[k] for k in driven})

    @property
    def tree(self) -> Tree:
        """What the recursion walks along."""
        tree: Tree = self.at.tree
        return tree


def velocities(
    tree: Tree, qd: Sequence[Scalar], poses: Sequence[tuple[Any, Vec3]], world: World
) -> tuple[list[Vec3], list[Motion]]:
    """Angular velocities, and the accelerations that velocities alone cause: gamma of [Khalil] (34)."""
    omega, bias = [world.base_velocity.angular], [Motion()]
    for body, (R, p) in zip(tree.bodies[1:], poses[1:], strict=True):
        up, s = omega[body.parent], body.rate(qd)
        fixed, turn, lever = in_steps(R, p)
        between = fixed.T @ up
        omega_a = turn.T @ between
        w = omega_a + s.angular
        swing = turn.T @ cross(between, cross(between, lever)) + cross(omega_a + w, s.linear)
        omega.append(w)
        bias.append(Motion(swing, cross(omega_a, s.angular)))
    return omega, bias


def _masked(M: Mat3, rows: Vec3, columns: Vec3) -> Mat3:
    return Mat3.of([[x * (r * c) for x, c in zip(row, columns, strict=True)] for row, r in zip(M, rows, strict=True)])


def _upper(M: Mat3) -> Mat3:
    """A symmetric matrix with its lower triangle taken from the upper one."""
    return symmetric(M.x.x, M.x.y, M.x.z, M.y.y, M.y.z, M.z.z)


def _crossed(p: Vec3, M: Mat3) -> Mat3:
    """hat(p) M."""
    return Mat3(*(cross(p, c) for c in M.T)).T
