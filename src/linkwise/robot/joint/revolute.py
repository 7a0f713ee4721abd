"""Joints that turn about an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.robot.joint.kind import LIGHT, Kind
from linkwise.rotation import Turn, axis_angle
from linkwise.scalar import Scalar, cos, sin
from linkwise.spatial import Inertia, Motion, Pose, symmetric
from linkwise.vector import EZ, Vec3


class Revolute(Kind):
    """A turn about the axis."""

    name = "revolute"
    units = (Motion(angular=EZ),)

    def moved(self, X: Pose, x: Sequence[Scalar]) -> tuple[Any, Vec3]:
        return Turn(X.R, cos(x[0]), sin(x[0])), X.p

    def pose(self, axis: Vec3, anchor: Vec3, x: Sequence[Scalar]) -> Pose:
        R = axis_angle(axis, x[0])
        return Pose(R, anchor - R @ anchor)

    def rate(self, v: Sequence[Scalar]) -> Motion:
        return Motion(angular=EZ * v[0])

    def movable(self, I: Inertia) -> Inertia:
        """Mass, first moment along z and second moment along z, which look the same from the parent at any angle."""
        return Inertia(I.m, Vec3(0.0, 0.0, I.mc.z), symmetric(0.0, 0.0, 0.0, 0.0, 0.0, I.E.z.z))

    def is_light(self, I: Inertia, armature: Scalar, loose: Scalar, mass: Scalar, size: Scalar) -> bool:
        return bool(I.E.x.x + I.E.y.y + armature - loose <= LIGHT * size)


class Continuous(Revolute):
    """A turn about the axis without end."""

    name = "continuous"
    endless = True
