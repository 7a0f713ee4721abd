"""The kernel of walking's rows, one for all persons with the same joints.

The numbers of a skeleton (masses, places, points) are inputs, so that persons and loads share one compiled function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.kernels import PointKernel, Surroundings
from linkwise.planning.rows import Rows
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.walking.ground import Support
from linkwise.walking.point import WalkPoint
from linkwise.walking.skeleton_numbers import facts, numbers, with_numbers

WIDTH = len(Support._fields)


def surroundings(supports: Callable[[Array], Array], tree: Tree | None = None) -> Surroundings:
    """How a body stands at fractions of the time (n,) -> (n, 8); of a tree that is given its numbers too."""
    own = np.array([] if tree is None else list(numbers(tree)))

    def point(robot: Robot, motion: Any, s: Any, x: Sequence[Any], t: Any) -> WalkPoint:
        bodies = None if tree is None else with_numbers(tree, iter(x[WIDTH:]))
        return WalkPoint(robot, motion, s, Support(*x[:WIDTH]), bodies)

    def around(s: Array) -> Array:
        return np.hstack([supports(s), np.broadcast_to(own, (len(s), len(own)))])

    return Surroundings(WIDTH + len(own), point, numbers=around)


def shared_kernel(robot: Robot, rows: Sequence[Rows], supports: Callable[[Array], Array]) -> PointKernel:
    """The kernel of walking's rows, whose functions are the same for every person."""
    tree = Tree.of(robot)
    return PointKernel(robot, rows, surroundings(supports, tree), f"walking {facts(tree)}")
