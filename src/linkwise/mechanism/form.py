"""Closed forms: positions of the joints of a loop from those that are known, over any scalar.

Each begins where the chain of unknown joints does, and asks of the cut joint's two frames what it holds together: their
origins, or a line in the plane of the chain and the direction along it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkwise.mechanism.angle import NOWHERE, Angle, Position, sum_of_waves
from linkwise.mechanism.chain import Chain, Placed
from linkwise.mechanism.leg import Solution, heights
from linkwise.robot.loop import Loop
from linkwise.robot.tree import Tree
from linkwise.rotation import Turn
from linkwise.vector import EYE3, Mat3, Vec3, cross, dot


@dataclass(frozen=True)
class Form(ABC):
    """How unknown joints of a loop follow from known ones.

    It holds for every tree of the same structure, whose numbers may be inputs of a kernel.

    Args:
        loop: whose cut joint it uses.
        chain: the way around the loop.
    """

    loop: Loop
    chain: Chain

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies of the tree whose joints it finds, in the order of `positions`."""
        return self.chain.bodies

    def positions(self, tree: Tree, q: Sequence[Any]) -> list[Position]:
        """The position of each joint it finds: an Angle of one that turns, a length of one that slides.

        Where the loop cannot be closed, one of them at least is not a number, of an Angle neither cosine nor sine.

        Args:
            tree: the tree with its loops cut.
            q: positions of the tree (nq), numbers or Angles; of unknown joints they are not looked at.
        """
        try:
            moves = self._moves(self.chain.placed(tree, self.loop, q))
        except (ValueError, ZeroDivisionError):  # of plain numbers, where traced ones are not numbers
            moves = [NOWHERE if tree.bodies[k].kind.turns else math.nan for k in self.bodies]
        return self.chain.own(tree, moves)

    @abstractmethod
    def _moves(self, at: Placed) -> list[Position]:
        """How far each joint moves along the chain."""


@dataclass(frozen=True)
class Leg(Form):
    """Three joints in space that bring a point to another, or two in a plane, of which one sets the distance.

    Args:
        first: whether the joint of the distance comes first, else it comes last.
        branches: signs of the two square roots: of the distance, and of the pointing.
    """

    first: bool = True
    branches: tuple[float, float] = (1.0, 1.0)

    def _moves(self, at: Placed) -> list[Position]:
        centre = heights(at.X[2 if self.first else 1]) if len(at.X) == 3 else (0.0,)
        solution = Solution(at.kinds, at.X, at.tip.p, self.first, centre, self.branches)
        return solution.positions(at.target.p)


@dataclass(frozen=True)
class Crossing(Form):
    """Two slides in a plane that bring a point to another."""

    def _moves(self, at: Placed) -> list[Position]:
        first, second = at.X
        along = second.R.column(2)
        d = first.R.T @ (at.target.p - first.p) - second.point(at.tip.p)
        x = (along.x * d.x + along.y * d.y) / (along.x * along.x + along.y * along.y)
        return [d.z - along.z * x, x]


@dataclass(frozen=True)
class Guide(Form):
    """Two joints in a plane that bring a frame onto a line, along which the cut joint slides, without a turn.

    Args:
        branch: the sign of the square root, of two joints that turn.
    """

    branch: float = 1.0

    def _moves(self, at: Placed) -> list[Position]:
        before, between = at.X
        back = before.R.T
        p, axes = back @ (at.target.p - before.p), back @ at.target.R
        line, R = axes.column(2), axes @ at.tip.R.T  # R: axes behind the second joint, wherever on the line
        first, second = at.kinds
        if not first.turns:
            y = _about_z(between.R.T @ R)
            across = cross(between.R.column(2), line)
            return [dot(across, p - between.point(_turned(y, at.tip.p))) / across.z, y]
        across = Vec3(-line.y, line.x, 0.0)
        if second.turns:
            e = between.p
            d = dot(across, p - R @ at.tip.p)
            x = sum_of_waves(dot(across, e), across.y * e.x - across.x * e.y, d, self.branch)
            u = between.R.T @ _turned(x * -1.0, R.column(0))
            return [x, Angle(u.x, u.y)]
        x = _about_z(R @ between.R.T)
        start, along = _turned(x, between.point(at.tip.p)), _turned(x, between.R.column(2))
        return [x, dot(across, p - start) / dot(across, along)]


def _about_z(R: Mat3) -> Angle:
    """The angle of a turn about z."""
    return Angle(R.x.x, R.y.x)


def _turned(angle: Angle, v: Vec3) -> Vec3:
    """A vector turned about z."""
    found: Vec3 = Turn(EYE3, angle.c, angle.s) @ v
    return found
