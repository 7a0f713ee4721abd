"""Machines whose joints follow others in closed form: platforms on legs as robots with loops, and planar dyads."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from linkwise.mechanism.loops import Cut
from linkwise.jet import Jet, part
from linkwise.mechanism.angle import Angle
from linkwise.mechanism.form import Form
from linkwise.parallel.mechanics import LegModel
from linkwise.robot import Frame, Joint, Link, Loop, Robot
from linkwise.robot.tree import Tree
from linkwise.spatial import Pose
from linkwise.vector import Mat3, Vec3
from support.machines import machine

PLATFORM = {"spatial": "floating", "translation": "translation", "planar": "planar"}


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
        return [k for k in range(self.robot.nq) if k not in self.known]


@cache
def on_legs(name: str, rows: int = 3) -> Followed:
    """A parallel robot as a tree with loops: the platform on a joint of its own, and legs cut at the platform."""
    robot, home = machine(name)
    kind = PLATFORM[robot.mobility]
    axis = {"axis": Vec3(0.0, 0.0, 1.0)} if kind == "planar" else {}
    tree = Robot([Link("world"), robot.platform], [Joint("free", "world", robot.platform.name, kind, **axis)])
    loops = []
    for leg in robot.legs:
        tree = tree.add(Frame(f"{leg.name}_foot", "world", leg.base))
        tree = tree.attach(leg.robot, f"{leg.name}_foot", f"{leg.name}.")
        tip, level = leg.robot.frame(leg.tip), LegModel.of(leg, robot.motion.plane).level
        at = Pose(p=leg.at if level is None else Vec3(leg.at.x, leg.at.y, level))
        link = f"{leg.name}.{tip.link}"
        loops.append(Loop(leg.name, robot.platform.name, link, "spherical", at, Pose(p=tip.origin.p)))
    pose = np.vstack([home, machine(name).states(rows)[0]])
    legs = np.nan_to_num(machine(name).par.inverse_kinematics(pose))
    n = robot.nq
    return Followed(tree.replace(loops=loops), tuple(range(n)), np.hstack([pose, legs]))


# ---- planar dyads

UNKNOWN = ("RR", "RP", "PR", "PP")
SIDES = ("a", "b", "both")


@cache
def dyad(unknown: str, cut: str, side: str, skew: bool, seed: int = 0) -> Followed:
    """A random planar linkage with two unknown joints and a cut joint, known joints before, between and behind them.

    Args:
        unknown: letters of the unknown joints, R or P.
        cut: the kind of the cut joint.
        side: on which side of the cut joint the unknown joints are.
        skew: whether the plane and all frames are turned at random.
        seed: of random numbers.
    """
    for attempt in range(100):
        rng = np.random.default_rng([seed, attempt])
        u, v = (f"{letter}?" for letter in unknown)
        path = {"a": ["R"], "b": ["P"]}
        path["b" if side == "b" else "a"] += [u, "R"]
        path["b" if side != "a" else "a"] += [v, "P"]
        robot, reference = _linkage(path, cut, skew, rng)
        found = Followed(robot, tuple(k for k, name in enumerate(robot.names) if "?" not in name), reference[None])
        J = np.array(Cut.at(found.tree, reference.tolist(), robot.loops[0]).jacobian())[:, found.unknown]
        if np.linalg.svd(J)[1][1] > 0.25:
            q = np.repeat(reference[None], 4, axis=0)
            q[1:, list(found.known)] += rng.uniform(-0.05, 0.05, (3, len(found.known)))
            return found._replace(q=np.array([polished(found, row) for row in q]))
    raise AssertionError("no linkage far from singular ones was found")


def _linkage(path: dict[str, list[str]], cut: str, skew: bool, rng: Any) -> tuple[Robot, np.ndarray]:
    """Links in planes across z of a first frame, in which they are closed, and their positions there."""

    def turn() -> np.ndarray:
        return Rotation.random(random_state=rng).as_matrix() if skew else np.eye(3)

    links, joints, ends = [Link("ground")], [], {}
    ground = turn()
    for side, letters in path.items():
        parent, frame = "ground", ground
        for k, letter in enumerate(letters):
            name, own = f"{side}{k}{letter}", turn()
            inner = Rotation.from_euler("z", rng.uniform(-3.0, 3.0)).as_matrix()
            # frames of links are turned by `own` from those whose z is the normal
            origin = Pose(_matrix(frame.T @ inner @ own), Vec3(*(frame.T @ rng.uniform(-0.5, 0.5, 3))))
            angle = rng.uniform(-3.0, 3.0)
            axis = own.T @ ([0.0, 0.0, 1.0] if letter[0] == "R" else [np.cos(angle), np.sin(angle), 0.0])
            links.append(Link(f"{name}_link", 1.0))
            kind = "revolute" if letter[0] == "R" else "prismatic"
            joints.append(Joint(name, parent, links[-1].name, kind, origin, Vec3(*axis)))
            parent, frame = links[-1].name, own
        ends[side] = parent, frame
    robot = Robot(links, joints)
    q = rng.uniform(-0.5, 0.5, robot.nq)
    return robot.add(_closing(robot, ends, cut, q, rng)), q


def _closing(robot: Robot, ends: dict[str, Any], cut: str, q: np.ndarray, rng: Any) -> Loop:
    """The cut joint that holds the ends of two paths together as they are."""
    (a, frame), (b, _) = ends["a"], ends["b"]
    angle = rng.uniform(-3.0, 3.0)
    along = Rotation.from_euler("zy", [angle, np.pi / 2 if cut == "prismatic" else 0.0]).as_matrix()
    X_a = Pose(_matrix(frame.T @ along), Vec3(*(frame.T @ rng.uniform(-0.5, 0.5, 3))))
    world = _poses(robot, q)
    slip = Pose(p=Vec3(0.0, 0.0, 0.3 if cut == "prismatic" else 0.0))
    return Loop("cut", a, b, cut, X_a, world[b].inverse() @ world[a] @ X_a @ slip)


def _poses(robot: Robot, q: np.ndarray) -> dict[str, Pose]:
    """Each link in the world."""
    found = {robot.root.name: Pose()}
    for j in robot.joints:
        slot = robot.slots[j.name]
        found[j.child] = found[j.parent] @ j.origin @ j.freedom.pose(j.axis, j.anchor, [float(q[slot.q])])
    return found


def _matrix(R: np.ndarray) -> Mat3:
    return Mat3.of(R.tolist())


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
    full: list[Any] = [None] * found.robot.nq
    q = found.q[row].tolist()
    for b in found.tree.bodies:
        at = slice(b.q, b.q + b.kind.nq)
        if b.kind.nv and b.q in found.known:
            q_dot = b.kind.q_dot(q[at], [qd[v] for v in range(b.v, b.v + b.kind.nv)])
            full[at] = [Jet([x, x_dot]) for x, x_dot in zip(q[at], q_dot, strict=True)]
    return full
