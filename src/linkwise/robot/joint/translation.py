"""Joints that slide in all directions and never turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.robot.joint.floating import Floating
from linkwise.robot.joint.kind import LIGHT, Kind
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Motion, Pose
from linkwise.vector import ZERO3, Vec3


class Translation(Kind):
    """x, y, z, and their rates, in the axes of the frame at rest."""

    name = "translation"
    nq = nv = 3
    home = (0.0, 0.0, 0.0)
    lengths = (True, True, True)
    units = Floating.units[:3]
    positions, velocities, forces = Floating.positions[:3], Floating.velocities[:3], Floating.forces[:3]
    has_axis = False
    endless = True
    in_urdf = False

    def frame(self, axis: Vec3, anchor: Vec3) -> Pose:
        return Pose()

    def moved(self, X: Pose, x: Sequence[Scalar]) -> tuple[Any, Vec3]:
        return X.R, X.p + X.R @ Vec3(*x)

    def pose(self, axis: Vec3, anchor: Vec3, x: Sequence[Scalar]) -> Pose:
        return Pose(p=Vec3(*x))

    def rate(self, v: Sequence[Scalar]) -> Motion:
        return Motion(linear=Vec3(*v))

    def movable(self, I: Inertia) -> Inertia:
        """All second moments, which a slide does not turn."""
        return Inertia(0.0, ZERO3, I.E)

    def is_light(self, I: Inertia, armature: Scalar, loose: Scalar, mass: Scalar, size: Scalar) -> bool:
        return bool(I.m <= LIGHT * mass)
