"""An instant of walking for rows of planning: torques and reactions with the ground's part in them, points of feet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from linkwise.algorithms.inverse_dynamics import at_joint
from linkwise.jet import Jet, part
from linkwise.planning.point import Point
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Wrench
from linkwise.walking.ground import Support
from linkwise.walking.instant import Instant, instant
from linkwise.walking.reactions import standing
from linkwise.walking.slopes import slopes


class WalkPoint(Point):
    """A `Point` of a body that stands on its feet.

    Args:
        robot: a skeleton.
        motion: q and its derivatives.
        s: the fraction of the motion's time that has passed.
        support: how the body stands.
        tree: the bodies, where their numbers are not those of the robot.
    """

    def __init__(
        self,
        robot: Robot,
        motion: Sequence[Sequence[Scalar]],
        s: Scalar,
        support: Support,
        tree: Tree | None = None,
    ) -> None:
        super().__init__(robot, motion, s)
        self.support, self._state = support, (self.q, self.qd, self.qdd)
        if tree is not None:
            self.tree = tree

    @cached_property
    def instant(self) -> Instant:
        """What the rows of walking ask for."""
        return instant(self.tree, *self._state, self.support)

    def known_slopes(self) -> Mapping[Any, Sequence[Any]]:
        """The slopes of torques and of the ground's wrench, by a recursion, where rows ask for them."""
        if "instant" not in self.__dict__:
            return {}
        return slopes(self.tree, *self._state, self.support, self.instant)

    @cached_property
    def tau(self) -> list[Scalar]:
        """Generalised forces after ground reactions (n); those of the pelvis vanish."""
        return self.instant.tau

    @cached_property
    def tau_dot(self) -> list[Scalar]:
        """Their rates (n), within a phase of the step."""
        motion = (self.q, self.qd, self.qdd, self.qddd)
        q, qd, qdd = ([Jet.of(pair) for pair in zip(*motion[k : k + 2], strict=True)] for k in range(3))
        return [part(x, 1) for x in instant(self.tree, q, qd, qdd, self.support).tau]

    def wrench(self, joint: str) -> Wrench:
        """The reaction through a joint, on its child link at the joint, in the link's axes."""
        i = next(k for k, b in enumerate(self.tree.bodies) if b.name == joint)
        return at_joint(self.tree, i, self._through[i])

    @cached_property
    def _through(self) -> Sequence[Wrench]:
        return standing(self.tree, *self._state, self.support).through.wrench
