"""Which pairs of links can collide: not those that one joint joins, nor those that touch wherever the machine is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

from linkwise.errors import LinkwiseError
from linkwise.mechanism.machine import machine_of
from linkwise.robot.distance import distance
from linkwise.robot.placement import world_poses
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.robot.volume import Rounded, Volume
from linkwise.scalar import is_number

POSITIONS = 64  # in which links that touch in all of them are thought to touch always
WIDTHS = (1.0, 0.5, 0.2, 0.05)  # of the ranges from which these are drawn in turn, where loops do not close everywhere
TRIES = 4  # for each of the positions
SAME, JOINED, ALWAYS, ENDLESS, ASKED = (
    "one body", "joined by a joint", f"touch in all of {POSITIONS} positions", "both without an end", "ignored"
)  # fmt: skip
Volumes = Mapping[str, Sequence[Volume]]


class LeftOut(NamedTuple):
    """A pair of links that is not looked at, and why."""

    a: str
    b: str
    reason: str


def self_pairs(robot: Robot, volumes: Volumes) -> tuple[list[tuple[str, str]], list[LeftOut]]:
    """The pairs of a robot's own links that can collide, and those that are left out."""
    tree, joined = Tree.of(robot), neighbours(robot)
    body = {name: tree.place(name)[0] for name in volumes}
    pairs, left = [], []
    for a, b in combinations(volumes, 2):
        if body[a] == body[b]:
            left.append(LeftOut(a, b, SAME))
        elif frozenset((body[a], body[b])) in joined:
            left.append(LeftOut(a, b, JOINED))
        elif not any(has_end(v) for name in (a, b) for v in volumes[name]):
            left.append(LeftOut(a, b, ENDLESS))
        else:
            pairs.append((a, b))
    always = _always_touching(robot, volumes, pairs)
    left += [LeftOut(*pair, ALWAYS) for pair in always]
    return [pair for pair in pairs if pair not in always], left


def has_end(volume: Volume) -> bool:
    """Whether a volume is bounded: two that are not have no distance."""
    return isinstance(volume, Rounded)


def neighbours(robot: Robot) -> set[frozenset[int]]:
    """The pairs of bodies of a robot's tree that one joint joins, cut ones too."""
    tree = Tree.of(robot)
    found = set()
    for i in range(1, len(tree.bodies)):
        up = tree.bodies[i].parent
        while up and not tree.bodies[up].link:  # a part of the same joint
            up = tree.bodies[up].parent
        found.add(frozenset((i, up)))
    ends = [(tree.place(loop.a)[0], tree.place(loop.b)[0]) for loop in robot.loops]
    return found | {frozenset(pair) for pair in ends}


def _always_touching(robot: Robot, volumes: Volumes, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs that touch in every one of some positions, the reference first."""
    touching = list(pairs)
    for placed in _placements(robot, volumes):
        touching = [(a, b) for a, b in touching if _touch(placed[a], placed[b])]
        if not touching:
            break
    return touching


def _touch(first: Sequence[Volume], second: Sequence[Volume]) -> bool:
    return any(_near(a, b) and distance(a, b) <= 0.0 for a in first for b in second if has_end(a) or has_end(b))


def _near(a: Volume, b: Volume) -> bool:
    """Whether two volumes may touch, by the balls around them."""
    if not (isinstance(a, Rounded) and isinstance(b, Rounded)):
        return True
    return bool(math.dist(a.centre, b.centre) <= a.extent + b.extent)


def _placements(robot: Robot, volumes: Volumes) -> Iterator[dict[str, list[Volume]]]:
    """The volumes in the world in some positions of the machine that its loops allow."""
    machine, draw, left = machine_of(robot), Random(robot.name), POSITIONS
    for k in range(TRIES * POSITIONS):
        try:
            tree, q = machine.complete(_drawn(robot, draw, WIDTHS[k % len(WIDTHS)] if robot.loops else 1.0, k > 0))
            X_world = world_poses(tree, q)
        except (LinkwiseError, ArithmeticError):
            continue
        if not all(is_number(x) and math.isfinite(x) for X in X_world for x in X.p):
            continue
        places = {name: tree.place(name) for name in volumes}
        yield {n: [v.seen_from(X).seen_from(X_world[i]) for v in volumes[n]] for n, (i, X) in places.items()}
        left -= 1
        if not left:
            return


def _drawn(robot: Robot, draw: Random, width: float, moved: bool) -> list[float]:
    """A position within limits, turned by up to half a turn and shifted by up to a metre where there are none."""
    home, limits = robot.q().tolist(), {j.name: j.limits for j in robot.joints}
    found: list[Any] = list(home)
    for name, slot in robot.slots.items() if moved else ():
        at, kind = slice(slot.q, slot.q + slot.nq), slot.kind
        low, high = zip(*((-1.0, 1.0) if length else (-math.pi, math.pi) for length in kind.lengths), strict=True)
        if kind.is_single and name in limits:
            bounds, x = limits[name], home[slot.q]
            low = (bounds.lower - x if math.isfinite(bounds.lower) else low[0],)
            high = (bounds.upper - x if math.isfinite(bounds.upper) else high[0],)
        step = [width * draw.uniform(a, b) for a, b in zip(low, high, strict=True)]
        found[at] = kind.integrate(home[at], step, 1.0)
    return found
