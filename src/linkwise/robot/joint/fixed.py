"""Joints that do not move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.robot.joint.kind import Kind
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Motion, Pose
from linkwise.vector import Vec3


class Fixed(Kind):
    """A weld."""

    name = "fixed"
    nq = nv = 0
    home = ()
    lengths = ()
    units = ()
    positions = velocities = forces = ()
    has_axis = False

    def frame(self, axis: Vec3, anchor: Vec3) -> Pose:
        return Pose()

    def moved(self, X: Pose, x: Sequence[Scalar]) -> tuple[Any, Vec3]:
        return X.R, X.p

    def pose(self, axis: Vec3, anchor: Vec3, x: Sequence[Scalar]) -> Pose:
        return Pose()

    def rate(self, v: Sequence[Scalar]) -> Motion:
        return Motion()

    def movable(self, I: Inertia) -> Inertia:
        return I
