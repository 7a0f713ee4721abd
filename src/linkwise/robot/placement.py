"""Where the bodies of a tree are, and how far their points can move."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from linkwise.robot.robot import Robot
from linkwise.robot.tree import Body, Tree
from linkwise.robot.volume import Rounded, Volume
from linkwise.rotation import Turn
from linkwise.scalar import Scalar
from linkwise.spatial import Pose
from linkwise.vector import Vec3, cross


def world_poses(tree: Tree, q: Sequence[Scalar]) -> list[Pose]:
    """Poses of all bodies in the world, the base first."""
    X_world = [Pose()]
    for body in tree.bodies[1:]:
        X_world.append(X_world[body.parent] @ step(*body.pose(q)))
    return X_world


def step(R: Any, p: Vec3) -> Pose:
    """The pose of a rotation, which may be known by its angle, and a position."""
    return Pose(R.matrix() if isinstance(R, Turn) else R, p)


def reach(robot: Robot, volumes: Mapping[str, Iterable[Volume]]) -> dict[str, dict[int, dict[int, float]]]:
    """How fast any point of what links carry can move for a unit of each velocity of the tree.

    By link, by body on the way to it and by place in the velocities of `robot.opened()`, m for a rad or m. It bounds
    the lever of a joint by the lengths of what lies beyond, and holds in every position within limits; it is infinite
    beyond a sliding joint without limits, and of a half-space that turns.
    """
    tree = Tree.of(robot)
    strokes = [_stroke(robot.opened(), body) for body in tree.bodies]
    found: dict[str, dict[int, dict[int, float]]] = {}
    for link, carried in volumes.items():
        i, X = tree.place(link)
        placed = [v.seen_from(X) for v in carried]
        # what lies beyond a joint: fixed points of its body, each with a radius around it
        beyond = [(v.centre if isinstance(v, Rounded) else Vec3(0.0, 0.0, 0.0), v.extent) for v in placed]
        found[link] = {}
        for k in tree.ancestors(i):
            body = tree.bodies[k]
            found[link][k] = _speeds(body, beyond)
            farthest = max((math.hypot(*p) + r for p, r in beyond), default=0.0)
            beyond = [(body.placement.p, farthest + strokes[k])]
    return found


def _speeds(body: Body, beyond: Sequence[tuple[Vec3, float]]) -> dict[int, float]:
    """The largest speed of points beyond a joint for a unit of each of its velocities."""
    speeds: dict[int, float] = {}
    for at, unit in body.axes:
        turn, shift = math.hypot(*unit.angular), math.hypot(*unit.linear)
        levers = [math.hypot(*cross(unit.angular, p)) + turn * r for p, r in beyond] if turn else [0.0]
        speeds[at] = speeds.get(at, 0.0) + shift + max(levers, default=0.0)
    return speeds


def _stroke(robot: Robot, body: Body) -> float:
    """How far a joint can shift its body from where it stands at home."""
    if not body.is_single:
        return math.inf if any(map(any, (unit.linear for _, unit in body.axes))) else 0.0
    shift = math.hypot(*body.kind.rate((1.0,)).linear)
    return shift * _farthest(robot, body) if shift else 0.0


def _farthest(robot: Robot, body: Body) -> float:
    """The largest position of a single joint, by limits of its own or of the one that it mimics."""
    leader = next((name for name, slot in robot.slots.items() if slot.q == body.q), body.name)
    limits = next((j.limits for j in robot.joints if j.name == leader), None)
    if limits is None or body.part:
        return math.inf
    return max(abs(x * body.ratio + body.offset) for x in (limits.lower, limits.upper))
