"""Joints whose pose is given by functions of one coordinate: a knee that rolls and slides, a cam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from linkwise.robot.joint.curve import IDENTITY, Course
from linkwise.robot.joint.kind import Kind
from linkwise.robot.joint.prismatic import Prismatic
from linkwise.robot.joint.revolute import Revolute
from linkwise.rotation import Turn, with_z_along
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose
from linkwise.vector import EX, EY, EZ, Vec3

TURN, SLIDE = Revolute(), Prismatic()
SIMPLE: dict[str, tuple[Kind, Vec3]] = {
    "x": (SLIDE, EX), "y": (SLIDE, EY), "z": (SLIDE, EZ),
    "turn_x": (TURN, EX), "turn_y": (TURN, EY), "turn_z": (TURN, EZ),
}  # fmt: skip


class Coupled(Kind):
    """Slides and turns about the axes of the joint's frame, each a function of the one coordinate.

    The mechanism has a joint for each of them, which follows; so unit motions, which are not constant here, are asked
    of those.
    """

    name: ClassVar[str] = "coupled"
    units = ()
    endless: ClassVar[bool] = False
    in_urdf: ClassVar[bool] = False

    def __init__(self, course: Course | None = None) -> None:
        self.course = course or Course(turn_z=IDENTITY)

    def along(self, course: Course | None) -> Kind:
        return self if course is None else Coupled(course)

    @property
    def follows(self) -> tuple[tuple[str, Kind, Vec3], ...]:
        return tuple((name, *SIMPLE[name]) for name in self.course.curves)

    def moved(self, X: Pose, x: Sequence[Scalar]) -> tuple[Any, Vec3]:
        for name, curve in self.course.curves.items():
            kind, axis = SIMPLE[name]
            own = Pose(with_z_along(axis))
            R, p = kind.moved(X @ own, (curve.value(x[0]),))
            X = Pose(R.matrix() if isinstance(R, Turn) else R, p) @ own.inverse()
        return X.R, X.p

    def pose(self, axis: Vec3, anchor: Vec3, x: Sequence[Scalar]) -> Pose:
        F, X = self.frame(axis, anchor), Pose()
        for name, curve in self.course.curves.items():
            kind, own = SIMPLE[name]
            X = X @ kind.pose(F.R @ own, anchor, (curve.value(x[0]),))
        return X

    def rate(self, v: Sequence[Scalar]) -> Motion:
        raise TypeError("a coupled joint has no constant unit motions: ask the joints that follow")
