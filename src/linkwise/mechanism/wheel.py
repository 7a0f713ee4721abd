"""Wheels on a plane: cut joints that hold velocities, of the point of a thin disc that touches the ground.

With n the plane's normal and k the wheel's axis, the wheel goes along t = k x n, stands on the point that is its radius
below its centre in its own plane, and slides there, if at all, along t, across n x t, or off the plane along n. These
velocities are zero; the last one is the rate of the wheel's height, the others are rates of no function of positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linkwise.jet import Jet, is_zero, part
from linkwise.mechanism.loops import Cut, Push
from linkwise.mechanism.partition import Block
from linkwise.mechanism.rank import Array, independent_rows
from linkwise.mechanism.series import moving_positions
from linkwise.robot.loop import Loop
from linkwise.robot.round_off import snapped
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar, sqrt
from linkwise.spatial import Pose, Wrench
from linkwise.vector import EYE3, ZERO3, Mat3, Vec3, cross, dot


class Contact(Cut):
    """A wheel on its plane in one configuration; `a` and `b` are one frame where they touch: along, across, normal."""

    @classmethod
    def at(cls, tree: Tree, q: Sequence[Scalar], loop: Loop, normal: Vec3 | None = None) -> Contact:
        """The wheel of a loop in the configuration q."""
        cut = Cut.at(tree, q, loop)
        plane, disc = (cut.X.get(i, Pose()) @ snapped(frame) for i, frame in cut.ends)
        n, k = plane.R.column(2), disc.R.column(2)
        tilt = dot(k, n)
        upright = 1.0 if is_zero(tilt) else 1.0 / sqrt(1.0 - tilt * tilt)
        up = n if is_zero(tilt) else (n - k * tilt) * upright
        along = cross(k, n) * upright
        axes = Mat3(along, cross(n, along), n).T
        touching = Pose(axes, disc.p - up * loop.radius)
        return cls(loop, tree, q, cut.path_a, cut.path_b, cut.X, touching, touching, axes)

    def closed(self, passive: object) -> Contact:
        """The same: nothing is known of positions."""
        return self

    @property
    def R(self) -> Mat3:
        """Axes of b in those of a: the same ones."""
        return EYE3

    @property
    def p(self) -> Vec3:
        """Origin of b in a's frame: the same one."""
        return ZERO3

    @property
    def ends(self) -> tuple[tuple[int, Pose], tuple[int, Pose]]:
        """The bodies of ground and wheel, each with the frame where they touch."""
        i, j = (self.tree.places[name][0] for name in (self.loop.a, self.loop.b))
        return (i, self.X.get(i, Pose()).inverse() @ self.a), (j, self.X.get(j, Pose()).inverse() @ self.b)

    def gap(self) -> list[Scalar]:
        """How high the wheel is above the plane, m; nothing else of its position is held."""
        plane = Cut.at(self.tree, self.q, self.loop).a
        return self.closure.equations(Vec3(0.0, 0.0, dot(plane.R.column(2), self.a.p - plane.p)), EYE3)

    def rate(self, qd: Sequence[Scalar]) -> list[Scalar]:
        """How fast the wheel slips, along, across and off the plane, as far as it is held: J qd."""
        a, b = self._ends(qd, None)
        return self.closure.equations(self.axes.T @ (b.v - a.v), EYE3)

    def acceleration(self, qd: Sequence[Scalar], qdd: Sequence[Scalar] | None = None) -> list[Scalar]:
        """The rates of that: J qdd + J_dot qd, the second alone without accelerations."""
        moving = Contact.at(self.tree, moving_positions(self.tree, self.q, qd), self.loop)
        rates = [Jet(pair) for pair in zip(qd, qdd or [0.0] * len(qd), strict=True)]
        return [part(x, 1) for x in moving.rate(rates)]

    def push(self, multipliers: Sequence[Scalar]) -> Push:
        """What multipliers of its equations exert on the wheel."""
        return Push(self.axes @ self._force(multipliers), ZERO3)

    def wrench(self, multipliers: Sequence[Scalar]) -> Wrench:
        """What the ground exerts on the wheel where they touch: along the wheel, across it, and normal to the plane."""
        return Wrench(self._force(multipliers), ZERO3)

    def point_on(self, i: int) -> Vec3 | None:
        """None: the point is no fixed one of the body."""
        return None

    def _force(self, multipliers: Sequence[Scalar]) -> Vec3:
        taken = [self.closure.equations(e, EYE3) for e in EYE3]
        return Vec3(*(sum((m * x for m, x in zip(multipliers, row, strict=True)), 0.0) for row in taken))


def rolling_blocks(J: Array, touched: NDArray[np.bool_], columns: Sequence[int]) -> list[Block]:
    """Followers in blocks: those that hang together first, then, one by one, those that stand in one equation only.

    Args:
        J: all equations, in a configuration in which they determine the followers.
        touched: which coordinate stands in which equation in any configuration.
        columns: coordinates that follow.
    """
    rows, left, last = list(range(len(J))), list(columns), []
    while True:
        single = [(v, own[0]) for v in left if len(own := [r for r in rows if touched[r, v]]) == 1]
        if not single:
            break
        v, r = single[0]
        last.append(Block((r,), (v,)))
        rows.remove(r)
        left.remove(v)
    chosen = independent_rows(J[rows][:, left], len(left)) if left else []
    together = [Block(tuple(rows[r] for r in chosen), tuple(left))] if left else []
    return together + last[::-1]
