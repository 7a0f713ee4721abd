"""Ways among obstacles: two trees of random postures that grow towards each other, and shortcuts of what they find.

RRT-Connect of J. J. Kuffner and S. M. LaValle (2000), in batches: many branches are tried at once, for a call with a
thousand postures takes hardly longer than one with ten.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.planning.clearance import Near
from linkwise.planning.curve import Array, Index

BATCH = 64  # branches that are tried at once
STEP = 0.05  # m that any point moves at most from one posture that is looked at to the next
BRANCH = 1.2  # the longest branch, in parts of the root of the number of coordinates
COARSE = 4  # of so many postures of a way one is looked at first
SHORTCUTS = 40  # batches of them
WIDE = np.pi  # on both sides of the ends, for coordinates without limits


@dataclass(frozen=True, eq=False)
class Space:
    """Postures, as numbers on splines, and which of them are clear.

    Args:
        near: what has to stay clear of something.
        lower, upper: of each number.
        deadline: by `time.monotonic()`, after which nothing more is tried.
    """

    near: Sequence[Near]
    lower: Array
    upper: Array
    deadline: float = np.inf

    @cached_property
    def sizes(self) -> Array:
        """How far points move for a unit of each number, m."""
        n = len(self.lower)
        reach = [x.near.scene.reach.max(axis=0) for x in self.near]
        found = np.max([r for r in reach if len(r) == n] or [np.ones(n)], axis=0)
        return np.clip(np.where(np.isfinite(found), found, 1.0), 0.05, 10.0)

    def clear(self, x: Array) -> Any:
        """Which rows of postures (rows, n) keep all margins."""
        found = np.ones(len(x), dtype=bool)
        for near in self.near:
            found &= (near.near.distances(x) > near.margin + near.slack).all(axis=1)
        return found

    def steps(self, a: Array, b: Array) -> Index:
        """How many postures to look at on straight ways (rows,), the ends among them."""
        return 1 + np.ceil((np.abs(b - a) @ self.sizes) / STEP).astype(int)

    def prefix(self, a: Array, b: Array) -> tuple[Array, Any]:
        """How far straight ways from clear postures a to b are clear, (rows, n), and which of them to their ends."""
        count = self.steps(a, b)
        rows = np.repeat(np.arange(len(a)), count)
        k = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count) + 1
        share = k / count[rows]
        bad = ~self.clear(a[rows] + share[:, None] * (b - a)[rows])
        first = np.full(len(a), np.iinfo(int).max)
        np.minimum.at(first, rows[bad], k[bad])
        good = np.minimum(first - 1, count)
        return a + (good / count)[:, None] * (b - a), good == count

    def whole(self, a: Array, b: Array) -> Any:
        """Which of straight ways between clear postures are clear: a few postures of each first."""
        count = self.steps(a, b)
        found = np.ones(len(a), dtype=bool)
        for coarse in (True, False):
            rows = np.repeat(np.arange(len(a)), np.where(found, count, 0))
            if not len(rows):
                break
            each = np.where(found, count, 0)
            k = np.arange(len(rows)) - np.repeat(np.cumsum(each) - each, each)
            looked = (k % COARSE == COARSE // 2) == coarse
            rows, k = rows[looked], k[looked]
            bad = ~self.clear(a[rows] + (k / count[rows])[:, None] * (b - a)[rows])
            found[rows[bad]] = False
        return found

    def random(self, rng: np.random.Generator, rows: int) -> Array:
        """Postures drawn at random."""
        return rng.uniform(self.lower, self.upper, (rows, len(self.lower)))

    def scaled(self, x: Array) -> Array:
        """Postures in which distances count alike."""
        return x * np.sqrt(self.sizes)


class _Tree:
    """Postures, each with the one that it was reached from."""

    def __init__(self, space: Space, root: Array) -> None:
        self.space, self.points, self.parents = space, root[None], [-1]

    def nearest(self, x: Array) -> Index:
        a, b = self.space.scaled(x), self.space.scaled(self.points)
        square = (a * a).sum(axis=1)[:, None] - 2.0 * a @ b.T + (b * b).sum(axis=1)
        return np.argmin(square, axis=1)

    def add(self, x: Array, parents: Index) -> Index:
        begin = len(self.points)
        self.points = np.vstack([self.points, x])
        self.parents += parents.tolist()
        return np.arange(begin, len(self.points))

    def way(self, k: int) -> list[Array]:
        """From the root to a posture."""
        found = []
        while k >= 0:
            found.append(self.points[k])
            k = self.parents[k]
        return found[::-1]


def clear_way(space: Space, start: Array, goal: Array, seed: int = 0) -> Array | None:
    """Postures (k, n) from start to goal with clear straight ways between them; None where none was found in time."""
    if space.whole(start[None], goal[None])[0]:
        return np.stack([start, goal])
    rng = np.random.default_rng(seed)
    found = _by_one(space, start, goal, rng)
    if found is not None:
        return found
    trees = [_Tree(space, start), _Tree(space, goal)]
    longest = BRANCH * np.sqrt(len(start))
    turn = 0
    while time.monotonic() < space.deadline:
        a, b = trees[turn], trees[1 - turn]
        drawn = space.random(rng, BATCH)
        near = a.nearest(drawn)
        d = drawn - a.points[near]
        far = np.linalg.norm(d, axis=1, keepdims=True)
        ends, _ = space.prefix(a.points[near], a.points[near] + d * np.minimum(1.0, longest / far))
        moved = np.linalg.norm(ends - a.points[near], axis=1) > 1e-3
        if moved.any():
            new = a.add(ends[moved], near[moved])
            other = b.nearest(a.points[new])
            reached, complete = space.prefix(b.points[other], a.points[new])
            if complete.any():
                k = int(np.argmax(complete))
                ways = a.way(int(new[k])), b.way(int(other[k]))[::-1]
                whole = np.stack([*ways[0], *ways[1]])
                return whole if turn == 0 else whole[::-1]
            grown = np.linalg.norm(reached - b.points[other], axis=1) > 1e-3
            if grown.any():
                b.add(reached[grown], other[grown])
        turn = 1 - turn
    return None


def _by_one(space: Space, start: Array, goal: Array, rng: np.random.Generator) -> Array | None:
    """The shortest of ways by one posture on the way, near its middle first."""
    for wide in (0.15, 0.4):
        middle = rng.uniform(0.25, 0.75, (2 * BATCH, 1))
        spread = rng.normal(0.0, wide, (2 * BATCH, len(start))) * (space.upper - space.lower)
        via = np.clip(start + middle * (goal - start) + spread, space.lower, space.upper)
        via = via[space.clear(via)]
        for ends in (start, goal):
            via = via[space.whole(np.broadcast_to(ends, via.shape), via)]
        if len(via):
            scaled = [space.scaled(x) for x in (start, goal, via)]
            length = sum(np.linalg.norm(scaled[2] - x, axis=1) for x in scaled[:2])
            return np.stack([start, via[int(np.argmin(length))], goal])
    return None


def shortened(space: Space, way: Array, seed: int = 0) -> Array:
    """The way with shortcuts, as long as they are found."""
    rng, idle = np.random.default_rng(seed), 0
    for _ in range(SHORTCUTS):
        if len(way) < 3 or idle > 4 or time.monotonic() > space.deadline:
            break
        at = _lengths(space, way)
        low, high = np.sort(rng.uniform(0.0, at[-1], (BATCH, 2)), axis=1).T
        a, b = (_places(way, at, x) for x in (low, high))
        gain = (high - low) - np.linalg.norm(space.scaled(b) - space.scaled(a), axis=1)
        order = np.argsort(-gain)[: BATCH // 2]
        order = order[gain[order] > 1e-3 * at[-1]]
        fine = order[space.whole(a[order], b[order])] if len(order) else order
        idle = 0 if len(fine) else idle + 1
        if len(fine):
            k = int(fine[0])
            way = np.vstack([way[at < low[k]], a[[k]], b[[k]], way[at > high[k]]])
    return way


def _lengths(space: Space, way: Array) -> Array:
    """The length of the way up to each of its postures."""
    return np.append(0.0, np.cumsum(np.linalg.norm(np.diff(space.scaled(way), axis=0), axis=1)))


def _places(way: Array, at: Array, length: Array) -> Array:
    return np.stack([np.interp(length, at, x) for x in way.T], axis=1)


def evenly(space: Space, way: Array, share: Array) -> Array:
    """Postures at shares of the way's length."""
    at = _lengths(space, way)
    return _places(way, at, share * at[-1])
