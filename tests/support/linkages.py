"""Robots with loops for tests, and states in which they are closed."""

from functools import cache
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.robot import Loop, Robot
from linkwise.spatial import Pose
from support.sources import case, tree

EXAMPLES = ("fourbar", "fivebar", "palletiser", "ankle")
HALF = np.pi / 2.0


@cache
def golden_four_bar() -> Robot:
    """The four-bar linkage of case 003, cut at the pin between coupler and rocker."""
    c = case("003_fourbar")
    coupler, rocker = c["lengths_l0_l1_l2_l3"][2:]
    robot = tree(c["robot"], c["g"])
    pin = Loop("pin", "link2", "link3", "revolute", _ahead(coupler), _ahead(rocker), ("joint1",))
    return robot.add(pin)


@cache
def closed(robot: Robot, **options: Any) -> Any:
    """The closed chain of a robot."""
    return lw.compile(robot, **options).closed


@cache
def example(name: str) -> Any:
    """The closed chain of a bundled robot without friction."""
    return closed(lw.load(name).without_friction())


def states(name: str, rows: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Positions of the tree that close the loops, well away from singular ones, velocities and accelerations."""
    chain, rng = example(name), np.random.default_rng(seed)
    reach = {"fourbar": 3.0, "fivebar": 0.7, "palletiser": 0.5, "ankle": 0.5}[name]
    n = len(chain.structure.part.independent)
    q_active = chain.of(chain.reference) + rng.uniform(-reach, reach, (2 * rows, n))
    found = chain.positions(q_active)
    good = np.flatnonzero(found.converged & (found.condition < 50.0))[:rows]
    assert len(good) == rows
    qd, qdd = rng.uniform(-2.0, 2.0, (2, rows, n))
    return found.q[good], qd, qdd


@cache
def redundant_four_bar() -> Robot:
    """The four-bar linkage with a motor at its rocker too."""
    robot = lw.load("fourbar")
    (loop,) = robot.loops
    return robot.replace(Loop(loop.name, loop.a, loop.b, loop.kind, loop.origin_a, loop.origin_b, ("crank", "rocker")))


def _ahead(x: float) -> Pose:
    return Pose.of((x, 0.0, 0.0))
