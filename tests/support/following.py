"""Machines whose joints follow others in closed form: platforms on legs as robots with loops, and planar dyads."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise.jet import Jet, part
from linkwise.mechanism.angle import Angle
from linkwise.mechanism.form import Form
from linkwise.mechanism.loops import Cut
from linkwise.robot import Joint, Link, Loop, Robot
from linkwise.robot.joint import KINDS
from linkwise.robot.tree import Tree
from linkwise.rotation import with_z_along
from linkwise.spatial import Pose
from linkwise.vector import EYE3, Mat3, Vec3
from support.machines import machine


class Followed(NamedTuple):
    """A robot with loops, the places in q of coordinates that lead, and closed positions, the reference first."""

    robot: Robot
    known: tuple[int, ...]
    q: np.ndarray

    @property
    def tree(self) -> Tree:
        return Tree.of(self.robot)

    @property
    def unknown(self) -> list[int]:
        return [k for k in range(self.robot.opened().nq) if k not in self.known]


@cache
def on_legs(name: str, rows: int = 3) -> Followed:
    """A platform on legs, in positions that Newton's method finds."""
    robot, home = machine(name)
    lead = np.vstack([home, machine(name).states(rows)[0]])
    found = lw.compile(robot, closure="newton").positions(lead)
    assert found.converged.all()
    return Followed(robot, tuple(range(robot.nq)), found.q)


# ---- random loops

UNKNOWN = ("RR", "RP", "PR", "PP")
LEGS = ("RU", "PU", "UR", "UP")


class Axis(NamedTuple):
    """A joint of a loop where that is closed, by its axis and a point of it in the world: R or P, and ? if unknown."""

    letter: str
    along: np.ndarray
    point: np.ndarray


@cache
def dyad(unknown: str, cut: str, before: int, skew: bool, bent: bool = False) -> Followed:
    """A random planar linkage with two unknown joints and a cut joint, known joints before, between and behind them.

    Args:
        unknown: letters of the unknown joints, R or P, from side a of the cut joint around the loop to side b.
        cut: the kind of the cut joint.
        before: how many of the unknown joints are on side a.
        skew: whether the plane and all frames are turned at random.
        bent: whether a known joint turns out of the plane.
    """
    for attempt in range(100):
        rng = np.random.default_rng(attempt)
        normal = Rotation.random(random_state=rng).as_matrix() if skew else np.eye(3)

        def axis(letter: str, rng: Any = rng, normal: np.ndarray = normal) -> Axis:
            along = [0.0, 0.0, 1.0] if letter[0] == "R" else [*rng.normal(size=2), 0.0]
            return Axis(letter, normal @ along / np.linalg.norm(along), rng.uniform(-0.5, 0.5, 3))

        way = [axis("R"), axis(f"{unknown[0]}?"), axis("P"), axis("R"), axis(f"{unknown[1]}?"), axis("R")]
        if bent:
            way[0] = way[0]._replace(along=normal @ [0.6, 0.0, 0.8])
        split = (1, 3, 5)[before]
        z = axis("P" if cut == "prismatic" else "R").along
        found = _closed(way[:split], way[split:], cut, z, rng, skew)
        if found is not None:
            return found
    raise AssertionError("no linkage far from singular ones was found")


@cache
def leg(letters: str, before: int, apart: float = 0.0) -> Followed:
    """A random loop in space with a joint for the distance and two whose axes meet, and known joints beside them.

    Args:
        letters: U for the two joints that point, and R or P for the one of the distance, from side a of the cut joint
            around the loop to side b.
        before: how many of these joints are on side a.
        apart: by what the axes miss each other, m.
    """
    for attempt in range(100):
        rng = np.random.default_rng(attempt)

        def axis(letter: str, rng: Any = rng) -> Axis:
            along = rng.normal(size=3)
            return Axis(letter, along / np.linalg.norm(along), rng.uniform(-0.5, 0.5, 3))

        def joints(letter: str, rng: Any = rng) -> list[Axis]:
            if letter != "U":
                return [axis(f"{letter}?")]
            x, y = axis("R?"), axis("R?")
            across = np.cross(x.along, y.along)
            miss = across * (apart / np.linalg.norm(across))
            return [x, y._replace(point=x.point + miss + x.along * rng.uniform(-0.3, 0.3))]

        first, second = map(joints, letters)
        way = [axis("R"), *first, axis("P"), axis("R"), *second, axis("P")]
        unknown = [k for k, x in enumerate(way) if "?" in x.letter]
        split = unknown[before] if before < 3 else len(way)
        found = _closed(way[:split], way[split:], "spherical", way[0].along, rng, True)
        if found is not None:
            return found
    raise AssertionError("no leg far from singular ones was found")


def _closed(side_a: list[Axis], side_b: list[Axis], cut: str, z: np.ndarray, rng: Any, skew: bool) -> Followed | None:
    """A loop with these joints, and positions near the one where it is closed; None where that is nearly singular.

    Args:
        side_a: its joints from the cut joint inwards.
        side_b: its joints outwards to the cut joint.
        cut: the kind of the cut joint.
        z: of its frames.
        rng: of all that is not given.
        skew: whether frames of links are turned at random.
    """

    def frame(along: np.ndarray | None = None) -> Pose:
        R = with_z_along(Vec3(*along)) if along is not None else _random_turn(rng) if skew else EYE3
        return Pose(R, Vec3(*rng.uniform(-0.5, 0.5, 3)))

    links, joints, q, ends = [Link("ground")], [], [], []
    for side, way in (("a", side_a[::-1]), ("b", side_b)):
        parent, at = links[0].name, Pose()
        for k, axis in enumerate(way):
            child, x = frame(), float(rng.uniform(-0.5, 0.5))
            along, anchor = child.R.T @ Vec3(*axis.along), child.inverse().point(Vec3(*axis.point))
            kind = "revolute" if axis.letter[0] == "R" else "prismatic"
            moved = KINDS[kind].pose(along, anchor, [x])
            name = f"{side}{k}{axis.letter}"
            links.append(Link(f"{name}_link", 1.0))
            origin = at.inverse() @ child @ moved.inverse()
            joints.append(Joint(name, parent, links[-1].name, kind, origin, along, anchor=anchor))
            parent, at = links[-1].name, child
            q.append(x)
        ends.append((parent, at))
    (a, X_a), (b, X_b) = ends
    held = frame(z)
    slip = Pose(p=Vec3(0.0, 0.0, 0.3 if cut == "prismatic" else 0.0))
    loop = Loop("cut", a, b, cut, X_a.inverse() @ held, X_b.inverse() @ held @ slip)
    robot = Robot(links, joints, loops=[loop])
    found = Followed(robot, tuple(k for k, name in enumerate(robot.opened().names) if "?" not in name), np.array([q]))
    J = np.array(Cut.at(found.tree, q, loop).jacobian())[:, found.unknown]
    if np.linalg.svd(J)[1][len(found.unknown) - 1] < 0.2:
        return None
    rows = np.repeat(found.q, 4, axis=0)
    rows[1:, list(found.known)] += rng.uniform(-0.03, 0.03, (3, len(found.known)))
    return found._replace(q=np.array([polished(found, row) for row in rows]))


def _random_turn(rng: Any) -> Mat3:
    return Mat3.of(Rotation.random(random_state=rng).as_matrix().tolist())


# ---- what follows


def polished(found: Followed, q: np.ndarray) -> np.ndarray:
    """Positions that close the loops to the last digits, by Newton's method on the joints that follow."""
    tree, q, free = found.tree, q.copy(), found.unknown
    at = dict(tree.singles)
    for _ in range(12):
        every = [Cut.at(tree, q.tolist(), loop) for loop in found.robot.loops]
        gap = np.array([x for cut in every for x in cut.gap()])
        J = np.array([row for cut in every for row in cut.jacobian()])
        q[free] -= np.linalg.lstsq(J[:, [at[k] for k in free]], gap, rcond=1e-10)[0]
    return q


def rates(found: Followed, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Rates of the joints that follow, for velocities of those that lead among `qd`, from the loop equations."""
    tree = found.tree
    J = np.array([row for loop in found.robot.loops for row in Cut.at(tree, q.tolist(), loop).jacobian()])
    at = dict(tree.singles)
    free = [at[k] for k in found.unknown]
    lead = [v for v in range(tree.nv) if v not in free]
    return np.linalg.lstsq(J[:, free], -J[:, lead] @ qd[lead], rcond=1e-10)[0]


def completed(forms: Sequence[Form], tree: Tree, q: Sequence[Any]) -> list[Any]:
    """Positions of the tree: those in q, and the others, which are None there, as forms give them."""
    full = list(q)
    for form in forms:
        for k, x in zip(form.bodies, form.positions(tree, full), strict=True):
            full[tree.bodies[k].q] = x
    return full


def led(found: Followed, row: int, scalar: Any = float) -> list[Any]:
    """Positions of the tree of which only those that lead are there."""
    return [scalar(x) if k in found.known else None for k, x in enumerate(found.q[row])]


def error(found: Any, wanted: float) -> float:
    """How far a position that a form gave is from the right one."""
    if isinstance(found, Angle):
        return float(np.hypot(found.c - np.cos(wanted), found.s - np.sin(wanted)))
    return abs(found - wanted)


def rate_of(x: Any) -> float:
    """The rate of a position with rates."""
    if isinstance(x, Angle):
        return part(x.c) * part(x.s, 1) - part(x.s) * part(x.c, 1)
    return part(x, 1)


def moving(found: Followed, row: int, qd: Sequence[float]) -> list[Any]:
    """Positions of those that lead, with rates at these velocities."""
    full: list[Any] = [None] * found.robot.opened().nq
    q = found.q[row].tolist()
    for b in found.tree.bodies:
        at = slice(b.q, b.q + b.kind.nq)
        if b.kind.nv and b.q in found.known:
            q_dot = b.kind.q_dot(q[at], [qd[v] for v in range(b.v, b.v + b.kind.nv)])
            full[at] = [Jet([x, x_dot]) for x, x_dot in zip(q[at], q_dot, strict=True)]
    return full
