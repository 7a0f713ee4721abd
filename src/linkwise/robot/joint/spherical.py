"""Joints that turn about a point: balls in sockets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.robot.joint import screw_steps
from linkwise.robot.joint.floating import Floating, turning_is_light
from linkwise.robot.joint.kind import Kind
from linkwise.rotation import from_quaternion
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Motion, Pose
from linkwise.vector import EYE3, Vec3

FREE = Floating()


class Spherical(Kind):
    """A quaternion x, y, z, w; angular velocity in the body's own axes."""

    name = "spherical"
    nq, nv = 4, 3
    home = FREE.home[3:]
    lengths = FREE.lengths[3:]
    units = FREE.units[3:]
    positions, velocities, forces = FREE.positions[3:], FREE.velocities[3:], FREE.forces[3:]
    quaternion = slice(0, 4)
    has_axis = False
    endless = True
    curved = True
    in_urdf = False

    def frame(self, axis: Vec3, anchor: Vec3) -> Pose:
        return Pose(EYE3, anchor)

    def moved(self, X: Pose, x: Sequence[Scalar]) -> tuple[Any, Vec3]:
        return X.R @ from_quaternion(*x), X.p

    def pose(self, axis: Vec3, anchor: Vec3, x: Sequence[Scalar]) -> Pose:
        R = FREE.pose(axis, anchor, _free(x)).R
        return Pose(R, anchor - R @ anchor)

    def rate(self, v: Sequence[Scalar]) -> Motion:
        return Motion(angular=Vec3(*v))

    def components(self, motion: Motion) -> list[Scalar]:
        return list(motion.angular)

    def integrate(self, x: Sequence[Scalar], v: Sequence[Scalar], time: Scalar) -> list[Scalar]:
        return screw_steps.moved(_free(x), self.rate(v), time)[3:]

    def difference(self, x0: Sequence[Scalar], x1: Sequence[Scalar]) -> list[Scalar]:
        return screw_steps.between(_free(x0), _free(x1))[3:]

    def q_dot(self, x: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return FREE.q_dot(_free(x), (0.0, 0.0, 0.0, *v))[3:]

    def tangent(self, x: Sequence[Scalar], x_dot: Sequence[Scalar]) -> list[Scalar]:
        return FREE.tangent(_free(x), (0.0, 0.0, 0.0, *x_dot))[3:]

    def normalised(self, x: Sequence[Scalar]) -> list[Scalar]:
        return FREE.normalised(_free(x))[3:]

    def is_light(self, I: Inertia, armature: Scalar, loose: Scalar, mass: Scalar, size: Scalar) -> bool:
        return turning_is_light(I.I_o, loose, size)


def _free(x: Sequence[Scalar]) -> list[Scalar]:
    """The position of a floating joint that is turned alike."""
    return [0.0, 0.0, 0.0, *x]
