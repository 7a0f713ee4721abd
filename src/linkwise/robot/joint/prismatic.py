"""Joints that slide along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.robot.joint.kind import LIGHT, Kind
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Motion, Pose
from linkwise.vector import EZ, ZERO3, Vec3


class Prismatic(Kind):
    """A slide along the axis."""

    name = "prismatic"
    lengths = (True,)
    units = (Motion(linear=EZ),)

    def moved(self, X: Pose, x: Sequence[Scalar]) -> tuple[Any, Vec3]:
        return X.R, X.p + X.R.column(2) * x[0]

    def pose(self, axis: Vec3, anchor: Vec3, x: Sequence[Scalar]) -> Pose:
        return Pose(p=axis * x[0])

    def rate(self, v: Sequence[Scalar]) -> Motion:
        return Motion(linear=EZ * v[0])

    def movable(self, I: Inertia) -> Inertia:
        """All second moments, which a slide does not turn."""
        return Inertia(0.0, ZERO3, I.E)

    def is_light(self, I: Inertia, armature: Scalar, loose: Scalar, mass: Scalar, size: Scalar) -> bool:
        return bool(I.m + armature <= LIGHT * mass)
