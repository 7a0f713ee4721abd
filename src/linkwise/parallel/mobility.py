"""How a platform can move: the numbers of its pose, and the twists that its velocities stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linkwise.rotation import from_quaternion, rot_z
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import Vec3, cross, dot


@dataclass(frozen=True)
class Mobility:
    """The motions that a machine leaves its platform.

    A velocity has one number for each of `axes`, places in [v; omega] in world axes: v of the platform's origin. They
    are constant, so that accelerations are classical ones and have the same places.

    Args:
        name: by which a machine asks for it.
        nq: numbers of a pose.
        axes: places in [v; omega] of the numbers of a velocity.
        plane: whether all moves in planes across z, so that legs have two joints and not three.
    """

    name: str
    nq: int
    axes: tuple[int, ...]
    plane: bool = False

    @property
    def nv(self) -> int:
        """Numbers of a velocity."""
        return len(self.axes)

    @property
    def leg_joints(self) -> int:
        """How many joints a leg has below the one at the platform."""
        return 2 if self.plane else 3

    def pose(self, x: Sequence[Scalar]) -> Pose:
        """The platform's pose in the world."""
        if self.nq == 7:
            return Pose(from_quaternion(*x[3:]), Vec3(*x[:3]))
        if self.plane:
            return Pose(rot_z(x[2]), Vec3(x[0], x[1], 0.0))
        return Pose(p=Vec3(*x))

    def motion(self, v: Sequence[Scalar]) -> Motion:
        """The twist, or its rate, of a velocity, or an acceleration."""
        all_: list[Scalar] = [0.0] * 6
        for place, x in zip(self.axes, v, strict=True):
            all_[place] = x
        return Motion(Vec3(*all_[:3]), Vec3(*all_[3:]))

    def force(self, wrench: Wrench) -> list[Scalar]:
        """The generalised forces of a wrench about the platform's origin, in world axes."""
        all_ = list(wrench)
        return [all_[place] for place in self.axes]

    def rate(self, x: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """Rates of the pose's numbers; a quaternion keeps its length."""
        if self.nq < 7:
            return list(v)
        a, w, half = Vec3(*x[3:6]), x[6], Vec3(*v[3:]) * 0.5
        return [*v[:3], *(half * w + cross(half, a)), -dot(half, a)]


MOBILITIES = {
    m.name: m
    for m in (
        Mobility("spatial", 7, (0, 1, 2, 3, 4, 5)),
        Mobility("translation", 3, (0, 1, 2)),
        Mobility("planar", 3, (0, 1, 5), plane=True),
    )
}


def point_motion(v: Motion, a: Motion, lever: Vec3) -> tuple[Vec3, Vec3]:
    """Velocity and acceleration of the point at `lever` from the origin of a body that moves so."""
    swing = cross(v.angular, lever)
    return v.linear + swing, a.linear + cross(a.angular, lever) + cross(v.angular, swing)
