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
from linkwise.robot import Frame, Joint, Link, Loop, Robot
from linkwise.robot.tree import Tree
from linkwise.spatial import Pose
from linkwise.vector import Vec3
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


@cache
def chain_of_four_bars(count: int, turn: float = 0.0, cut: str = "pin", floating: bool = False) -> Robot:
    """Four-bar linkages in a row, each on the rocker of the one before, turned about it by `turn`.

    The loops are cut at the pins between coupler and rocker, or at the rockers' pivots where `cut` is "pivot"; there
    couplers and rockers follow one after the other from the crank. Lengths differ from one linkage to the next. The
    first one stands on the ground, or on a body that floats.
    """
    body = Link("body", 3.0, (0.1, 0.05, -0.02), (0.05, 0.06, 0.07))
    root = Joint("root", "base", "body", "floating")
    links, joints = ([Link("base"), body], [root]) if floating else ([Link("base")], [])
    loops, reference, carrier = [], {}, links[-1].name
    for k in range(count):
        crank, coupler, rocker, ground = 0.15 + 0.01 * (k % 3), 0.45, 0.35, 0.5 - 0.01 * (k % 2)
        names = [f"{part}{k}" for part in ("crank", "coupler", "rocker")]
        links += [bar(name, length) for name, length in zip(names, (crank, coupler, rocker), strict=True)]
        root = Pose.of((0.3, 0.0, 0.02), (turn, 0.0, 0.0)) if k else Pose()
        reference |= dict(zip(names, four_bar_angles(0.7, crank, coupler, rocker, ground), strict=True))
        joints += [
            hinge(names[0], carrier, root, armature=0.002),
            hinge(names[1], names[0], _ahead(crank)),
        ]
        if cut == "pin":
            joints.append(hinge(names[2], carrier, root @ _ahead(ground)))
            loops.append(Loop(f"pin{k}", names[1], names[2], "revolute", _ahead(coupler), _ahead(rocker), (names[0],)))
        else:
            joints.append(hinge(names[2], names[1], _ahead(coupler)))
            reference[names[2]] -= reference[names[0]] + reference[names[1]] + np.pi
            end, start = _ahead(rocker), root @ _ahead(ground)
            loops.append(Loop(f"pivot{k}", names[2], carrier, "revolute", end, start, (names[0],)))
        carrier = names[2]
    frames = [
        Frame("tool", carrier, _ahead(0.2)),
        Frame("middle", "coupler0", Pose.of((0.2, 0.1, 0.0), (0.3, 0.2, 0.1))),
    ]
    return Robot(links, joints, frames, loops=loops, reference=reference, name=f"{count}_four_bars")


def bar(name: str, length: float) -> Link:
    """A bar along x, of a kilogram and a half for each metre, with some thickness."""
    mass = 1.5 * length
    return Link(name, mass, (0.5 * length, 0.01, 0.02), (mass * 1e-3, mass * length**2 / 12, mass * length**2 / 11))


def hinge(name: str, parent: str, origin: Pose, **options: Any) -> Joint:
    """A hinge about z, of a link of the same name."""
    return Joint(name, parent, name, "revolute", origin, Vec3(0.0, 0.0, 1.0), **options)


def four_bar_angles(crank: float, a: float, b: float, c: float, d: float) -> tuple[float, float, float]:
    """Angles of crank, of the coupler relative to it, and of the rocker, of a four-bar linkage with these lengths."""
    x, y = a * np.cos(crank) - d, a * np.sin(crank)  # the crank's pin from the rocker's pivot
    far = np.hypot(x, y)
    rocker = np.arctan2(y, x) - np.arccos((c * c + far * far - b * b) / (2.0 * c * far))
    coupler = np.arctan2(c * np.sin(rocker) - y, c * np.cos(rocker) - x)
    return float(crank), float(coupler - crank), float(rocker)
