"""Joint positions of a leg from where its tip is, in closed form, over any scalar.

A leg has one joint that sets a distance, and one or two revolute joints whose axes meet in a point, the centre, and
that point the tip. The joint of the distance stands before the centre (the arm of a Delta robot, the slide of a
hexaglide) or after it (the cylinder of a hexapod). Its equation is a quadratic one, or a cos + b sin = d; so is that of
the second pointing joint. Each has two branches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from linkwise.jet import is_zero
from linkwise.mechanism.angle import Angle, Position, root, sum_of_waves
from linkwise.robot.joint import Kind
from linkwise.rotation import Turn
from linkwise.scalar import Scalar, is_number
from linkwise.spatial import Pose
from linkwise.vector import EYE3, Vec3, dot

NEAR = 1e-9  # m, by which axes that meet may miss each other
SAME = 1e-6  # rad or m, between a configuration and the same one found again


@dataclass(frozen=True)
class Solution:
    """How a leg is solved.

    Args:
        kinds: of its joints, which turn or slide.
        X: each joint's frame, z along its axis, in that of the joint before, at zero.
        tip: in the frame of the last joint.
        first: whether the joint of the distance comes first, else it comes last.
        heights: of the centre along the axes of the pointing joints.
        branches: signs of the two square roots: of the distance, and of the pointing.
    """

    kinds: tuple[Kind, ...]
    X: tuple[Pose, ...]
    tip: Vec3
    first: bool
    heights: tuple[Scalar, ...]
    branches: tuple[float, float] = (1.0, 1.0)

    def positions(self, p: Vec3) -> list[Position]:
        """The position of each joint with which the tip is at `p`; not numbers where it cannot get there."""
        return self._distance_first(p) if self.first else self._distance_last(p)

    def _distance_first(self, p: Vec3) -> list[Position]:
        X, beyond = self.X[0], self.X[1]
        w = X.R.T @ (p - X.p)
        e = beyond.point(Vec3(0.0, 0.0, self.heights[0]))  # the centre, as the first joint carries it
        t = self.tip - Vec3(0.0, 0.0, self.heights[-1])
        if self.kinds[0].slides:
            d, square = e - w, dot(t, t)
            x: Position = root(square - d.x * d.x - d.y * d.y) * self.branches[0] - d.z
            v = Vec3(w.x - e.x, w.y - e.y, w.z - e.z - x)
        else:
            d = 0.5 * (dot(e, e) - dot(t, t) + dot(w, w)) - e.z * w.z
            x = sum_of_waves(w.x * e.x + w.y * e.y, w.y * e.x - w.x * e.y, d, self.branches[0])
            v = Vec3(x.c * w.x + x.s * w.y - e.x, x.c * w.y - x.s * w.x - e.y, w.z - e.z)
        return [x, *self._pointing(self.X[1:], t, v)]

    def _distance_last(self, p: Vec3) -> list[Position]:
        X = self.X[-1]
        v = p - self.X[0].point(Vec3(0.0, 0.0, self.heights[0]))
        d = X.p - Vec3(0.0, 0.0, self.heights[-1])
        square = dot(v, v)
        if self.kinds[-1].slides:
            start, along = d + X.R @ self.tip, X.R.column(2)
            b = dot(start, along)
            x: Position = root(square + (b * b - dot(start, start))) * self.branches[0] - b
            u = start + along * x
        else:
            d, t = X.R.T @ d, self.tip
            rest = 0.5 * (square - dot(d, d) - dot(t, t)) - d.z * t.z
            x = sum_of_waves(d.x * t.x + d.y * t.y, d.y * t.x - d.x * t.y, rest, self.branches[0])
            u = X.R @ (d + Turn(EYE3, x.c, x.s) @ t)
        return [*self._pointing(self.X[:-1], u, v), x]

    def _pointing(self, X: Sequence[Pose], u: Vec3, v: Vec3) -> list[Position]:
        """The one or two angles that turn `u`, in axes of the last of these joints, to `v`, in those before them."""
        v = X[0].R.T @ v
        # u and v are equally long across z; where the distance cannot be reached, the one that scales is no number, but
        # if a turn sets it about a parallel axis, neither part of v is one
        parallel = self.kinds[0].turns and (len(X) == 1 or (is_zero(X[0].R.z.x) and is_zero(X[0].R.z.y)))
        by_v = self.first and not parallel
        if len(X) == 1:
            return [_turn(u, v, v if by_v else u)]
        row = X[1].R.z
        sure = is_zero(row.z) and is_zero(u.z)  # axes across each other and the leg across the second: v.z is in reach
        a, b, d = row.x * u.x + row.y * u.y, row.y * u.x - row.x * u.y, v.z - row.z * u.z
        second = sum_of_waves(a, b, d, self.branches[1], sure=sure)
        u = Turn(X[1].R, second.c, second.s) @ u
        return [_turn(u, v, v if by_v else u), second]


def _turn(u: Vec3, v: Vec3, size: Vec3) -> Angle:
    """The angle about z that turns `u` to `v`, both as long across z as `size`."""
    inverse = 1.0 / (size.x * size.x + size.y * size.y)
    return Angle((u.x * v.x + u.y * v.y) * inverse, (u.x * v.y - u.y * v.x) * inverse)


def heights(X: Pose) -> tuple[Scalar, Scalar]:
    """Where the z axes of two frames come nearest to each other, as heights along them; they are not parallel."""
    u, p = X.R.column(2), X.p
    if all(is_number(x) and x == 0.0 for x in p):
        return 0.0, 0.0
    height = -(p.x * u.x + p.y * u.y) / (u.x * u.x + u.y * u.y)
    return p.z + u.z * height, height


def meet(X: Pose) -> bool:
    """Whether the z axes of two frames meet in one point."""
    u, p = X.R.column(2), X.p
    if u.x * u.x + u.y * u.y < NEAR:
        return False
    _, height = heights(X)
    return math.hypot(p.x + u.x * height, p.y + u.y * height) <= NEAR


def near(a: Position, b: Position) -> bool:
    """Whether two positions of a joint, in numbers, are the same."""
    return abs(a - b) < SAME if is_number(a) else math.hypot(a.c - b.c, a.s - b.s) < SAME
