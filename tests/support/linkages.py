"""Robots with loops for tests, states in which they are closed, and the same motion by multipliers."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.algorithms import World
from linkwise.algorithms.multipliers import Mobility
from linkwise.backend.call import caller
from linkwise.graph.program import Port, trace
from linkwise.mechanism.assemble import assembled, size_of
from linkwise.mechanism.equations import gap
from linkwise.mechanism.partition import Partition
from linkwise.mechanism.rank import independent_rows
from linkwise.mechanism.structure import structure_of
from linkwise.robot import Loop, Robot
from linkwise.robot.tree import Tree
from linkwise.spatial import Pose
from support.sources import case, tree

EXAMPLES = ("fourbar", "fivebar", "palletiser", "ankle")
REACH = {"fourbar": 3.0, "fivebar": 0.7, "palletiser": 0.5, "ankle": 0.5}
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
def compiled(robot: Robot, **options: Any) -> lw.Dynamics:
    """The functions of a robot."""
    return lw.compile(robot, **options)


@cache
def example(name: str) -> lw.Dynamics:
    """The functions of a bundled robot without friction."""
    return compiled(lw.load(name).without_friction())


def states(name: str, rows: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Leading positions that can be closed, well away from singular ones, velocities and accelerations."""
    dyn, rng = example(name), np.random.default_rng(seed)
    n = dyn.robot.nq
    q = dyn.robot.q() + rng.uniform(-REACH[name], REACH[name], (2 * rows, n))
    found = dyn.positions(q)
    good = np.flatnonzero(found.converged & (found.condition < 50.0))[:rows]
    assert len(good) == rows
    qd, qdd = rng.uniform(-2.0, 2.0, (2, rows, n))
    return q[good], qd, qdd


def leading(robot: Robot, tree_q: np.ndarray) -> np.ndarray:
    """The leading ones among positions of all joints."""
    return tree_q[..., list(structure_of(robot).lead_q)]


def openness(robot: Robot, tree_q: np.ndarray) -> float:
    """By how much any loop equation is off at positions of all joints (rows, nq)."""
    model = Tree.of(robot)
    return max(np.abs(gap(model, row.tolist(), robot.loops)[0]).max() for row in np.atleast_2d(tree_q))


def applied(robot: Robot, tau: np.ndarray) -> np.ndarray:
    """Forces of all joints that torques of the drives are."""
    found = np.zeros((*tau.shape[:-1], robot.opened().nv))
    found[..., [robot.opened().slots[n].v for n in robot.drives]] = tau
    return found


def by_multipliers(robot: Robot, part: Partition | None = None) -> Callable[..., Any]:
    """(q, qd, tau of all joints) -> their accelerations, and what each cut carries: M qdd + h = tau + J^T lambda."""
    model = Tree.of(robot)
    equations = structure_of(robot).part if part is None else part

    def run(q: Any, qd: Any, tau: Any) -> Any:
        found = Mobility(model, q, equations).accelerations(qd, tau, World(model.gravity))
        return [found.qdd, found.wrenches]

    widths = {"q": model.nq, "qd": model.nv, "tau": model.nv}
    outputs = [Port("qdd", (model.nv,)), Port("wrench", (len(robot.loops), 6))]
    return caller(trace("multipliers", run, [Port(k, (n,)) for k, n in widths.items()], outputs), "", 1)


def independent_equations(robot: Robot) -> Partition:
    """The loops of a robot with as many of their equations as are independent, whatever leads."""
    found = assembled(robot)
    rows = independent_rows(found.J, found.rank)
    return Partition(robot.loops, tuple(rows), size=size_of(Tree.of(robot), robot))


@cache
def redundant_four_bar() -> Robot:
    """The four-bar linkage with a motor at its rocker too."""
    robot = lw.load("fourbar")
    (loop,) = robot.loops
    twice = Loop(loop.name, loop.a, loop.b, loop.kind, loop.origin_a, loop.origin_b, ("crank", "rocker"))
    return robot.replace(twice, leads=("crank",))


def _ahead(x: float) -> Pose:
    return Pose.of((x, 0.0, 0.0))
