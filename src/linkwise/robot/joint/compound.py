"""Joints that are made of simple ones in a row, with nothing between them: planar and universal ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from linkwise.robot.joint.kind import Kind
from linkwise.robot.joint.prismatic import Prismatic
from linkwise.robot.joint.revolute import Revolute
from linkwise.rotation import Turn, with_z_along
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose
from linkwise.vector import EX, EY, EZ, Vec3

TURN, SLIDE = Revolute(), Prismatic()


class Compound(Kind):
    """Single joints, each about or along an axis of the joint's frame; the tree has a body for each of them.

    A position has one number for each, a velocity their rates. Unit motions of the last body are not constant, so that
    bodies ask the single joints, never this.
    """

    parts: ClassVar[tuple[tuple[Kind, Vec3], ...]]
    units = ()

    def moved(self, X: Pose, x: Sequence[Scalar]) -> tuple[Any, Vec3]:
        for (kind, axis), value in zip(self.parts, x, strict=True):
            own = Pose(with_z_along(axis))
            R, p = kind.moved(X @ own, (value,))
            X = Pose(R.matrix() if isinstance(R, Turn) else R, p) @ own.inverse()
        return X.R, X.p

    def pose(self, axis: Vec3, anchor: Vec3, x: Sequence[Scalar]) -> Pose:
        F, X = self.frame(axis, anchor), Pose()
        for (kind, own), value in zip(self.parts, x, strict=True):
            X = X @ kind.pose(F.R @ own, anchor, (value,))
        return X

    def rate(self, v: Sequence[Scalar]) -> Motion:
        raise TypeError(f"a {self.name} joint has no constant unit motions: ask its parts")


class Planar(Compound):
    """x, y and the angle about the axis, which is the plane's normal; their rates, x and y in the axes at rest."""

    name = "planar"
    nq = nv = 3
    home = (0.0, 0.0, 0.0)
    lengths = (True, True, False)
    positions, velocities, forces = ("x", "y", "angle"), ("vx", "vy", "wz"), ("fx", "fy", "mz")
    endless = True
    parts = ((SLIDE, EX), (SLIDE, EY), (TURN, EZ))


class Universal(Compound):
    """The angles of a cross: about the axis, then about an axis across it that turns with the first."""

    name = "universal"
    nq = nv = 2
    home = (0.0, 0.0)
    lengths = (False, False)
    positions, velocities, forces = ("first", "second"), ("first", "second"), ("first", "second")
    endless = True
    in_urdf = False
    parts = ((TURN, EZ), (TURN, EX))
