"""Joints that turn about an axis and slide along it at once, as a nut on a bolt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.robot.joint.kind import Kind
from linkwise.rotation import Turn, axis_angle
from linkwise.scalar import Scalar, cos, sin
from linkwise.spatial import Motion, Pose
from linkwise.vector import EZ, Vec3


class Screw(Kind):
    """A turn about the axis by which the body also slides along it, `pitch` metres for a radian."""

    name = "screw"
    in_urdf = False

    def __init__(self, pitch: Scalar = 0.0) -> None:
        self.pitch = pitch
        self.units = (self.rate((1.0,)),)  # type: ignore[misc]

    def of(self, pitch: Scalar) -> Kind:
        return Screw(pitch)

    @property
    def turns(self) -> bool:
        return False

    def moved(self, X: Pose, x: Sequence[Scalar]) -> tuple[Any, Vec3]:
        return Turn(X.R, cos(x[0]), sin(x[0])), X.p + X.R.column(2) * (x[0] * self.pitch)

    def pose(self, axis: Vec3, anchor: Vec3, x: Sequence[Scalar]) -> Pose:
        R = axis_angle(axis, x[0])
        return Pose(R, anchor - R @ anchor + axis * (x[0] * self.pitch))

    def rate(self, v: Sequence[Scalar]) -> Motion:
        return Motion(EZ * (v[0] * self.pitch), EZ * v[0])

    def components(self, motion: Motion) -> list[Scalar]:
        return [motion.angular.z]
