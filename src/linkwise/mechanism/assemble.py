"""Configurations that close the loops of a robot, found from nothing; a tree is closed wherever it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from linkwise.errors import ModelError
from linkwise.mechanism.loops import CLOSURES, cuts
from linkwise.mechanism.partition import Follow, Partition
from linkwise.mechanism.rank import Array, damped_solution, rank_of
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree

KEPT = 64
TRIES, ENOUGH = 60, 6  # configurations to start from, and closed ones that are enough
STEPS = 60
CLOSED = 1e-10  # of the mechanism's size


@dataclass(frozen=True, eq=False)
class Configuration:
    """A configuration that closes the loops, and the Jacobian of all equations there, made dimensionless."""

    q: Array
    J: Array
    rank: int
    within: bool  # the limits of joints


def size_of(tree: Tree, robot: Robot) -> float:
    """A length of the mechanism, m: the mean offset from joint to joint in its loops."""
    offsets = [float(np.linalg.norm(b.placement.p)) for b in tree.bodies[1:]]
    for loop in robot.loops:
        for end, origin in ((loop.a, loop.origin_a), (loop.b, loop.origin_b)):
            offsets.append(float(np.linalg.norm((tree.places[end][1] @ origin).p)))
    some = [x for x in offsets if x > 1e-9]
    return float(np.mean(some)) if some else 1.0


def all_equations(robot: Robot) -> Partition:
    """The loops of a robot before anything is known of them."""
    return Partition(robot.loops, (), size=size_of(Tree.of(robot), robot))


def assembled(robot: Robot) -> Configuration:
    """A closed configuration that is not a singular one, near zero if there is one there, and within limits if so."""
    return configurations(robot)[0]


def coupled_places(robot: Robot) -> tuple[Follow, ...]:
    """Coordinates that follow others by functions, with their places in the tree."""
    slots = robot.opened().slots
    found = []
    for c in robot.couplings:
        own, leader = slots[c.joint], slots[c.leader]
        found.append(Follow(own.q, own.v, leader.q, leader.v, c))
    return tuple(found)


@lru_cache(maxsize=KEPT)
def configurations(robot: Robot) -> tuple[Configuration, ...]:
    """Closed configurations that are not singular ones, the best first."""
    assembler = Assembler(robot)
    enough = ENOUGH if robot.follows and not robot.reference else 1
    closed_ones: list[Configuration] = []
    for q in _starts(robot):
        closed = assembler.close(q)
        if closed is None:
            continue
        J = assembler.jacobian(closed)
        closed_ones.append(Configuration(closed, J, rank_of(J), _within_limits(robot, closed)))
        if len(closed_ones) == enough:
            break
    if not closed_ones:
        raise ModelError(_open_everywhere(robot, assembler))
    rank = max(c.rank for c in closed_ones)
    return tuple(sorted((c for c in closed_ones if c.rank == rank), key=lambda c: not c.within))


class Assembler:
    """Closes the loops of a robot from anywhere, by moving all joints."""

    def __init__(self, robot: Robot) -> None:
        self.part = all_equations(robot)
        self._tree = Tree.of(robot)
        self._coupled = coupled_places(robot)
        self._weights = np.array([*self.part.weights, *[1.0] * len(self._coupled)])
        self._scale = np.ones(self._tree.nv)
        for kind, _, to in self._tree.coordinates:
            self._scale[to] = [self.part.size if length else 1.0 for length in kind.lengths]

    def jacobian(self, q: Array) -> Array:
        """The Jacobian of all equations, with lengths measured by the mechanism's size."""
        return self.jacobian_si(q) * self._weights[:, None] * self._scale

    def jacobian_si(self, q: Array) -> Array:
        """The Jacobian of all equations, in the joints' own units."""
        rows = [row for cut in cuts(self._tree, q.tolist(), self.part.loops) for row in cut.jacobian()]
        for c in self._coupled:
            rows.append([0.0] * self._tree.nv)
            rows[-1][c.v], rows[-1][c.of_v] = 1.0, -float(c.coupling.value(float(q[c.of_q]), 1))
        return np.reshape(np.array(rows, dtype=float), (len(rows), self._tree.nv))

    def close(self, q: Array, held: Collection[int] = ()) -> Array | None:
        """Positions near q that close the loops, by damped least squares; None where there are none.

        Args:
            q: positions of the tree.
            held: coordinates of the tree that do not move.
        """
        damping = 1e-3
        scale = self._scale.copy()
        scale[list(held)] = 0.0
        gap = self.gap(q)
        for _ in range(STEPS):
            size = float(np.linalg.norm(gap))
            if not np.isfinite(size):
                return None
            if size <= CLOSED * 1e-4:
                break
            step = damped_solution(self.jacobian_si(q) * self._weights[:, None] * scale, -gap, damping)
            step *= min(1.0, 1.0 / max(float(np.linalg.norm(step)), 1e-300))
            tried = self._moved(q, step * scale)
            gap_there = self.gap(tried)
            if np.linalg.norm(gap_there) < size:
                q, gap, damping = tried, gap_there, max(damping * 0.1, 1e-15)
            elif damping > 1e6:
                break
            else:
                damping *= 10.0
        closed = np.linalg.norm(gap) <= CLOSED and self.right_side(q)
        return q if closed else None

    def right_side(self, q: Array) -> bool:
        """Whether axes of cut joints point the same way, not opposite ways."""
        return all(abs(CLOSURES[c.loop.kind].flipped(c.R)) < 1.0 for c in cuts(self._tree, q.tolist(), self.part.loops))

    def gap(self, q: Array) -> Array:
        """What all equations are off by, with lengths measured by the mechanism's size."""
        values = [x for cut in cuts(self._tree, q.tolist(), self.part.loops) for x in cut.gap()]
        values += [float(q[c.q] - c.coupling.value(float(q[c.of_q]))) for c in self._coupled]
        return np.array(values, dtype=float) * self._weights

    def widest_gap(self, q: Array) -> str:
        """The equation that is most open there, in words."""
        found = []
        for cut in cuts(self._tree, q.tolist(), self.part.loops):
            for k, (name, x) in enumerate(zip(cut.closure.names, cut.gap(), strict=True)):
                size, unit = (self.part.size, " m") if k < cut.closure.lengths else (1.0, " (sine of an angle)")
                found.append((abs(x) / size, f"{cut.loop.name}: {name} by {abs(x):.3g}{unit}"))
            if abs(turned := cut.closure.flipped(cut.R)) >= 1.0:
                found.append((turned, f"{cut.loop.name}: its axes point opposite ways"))
        for c in self._coupled:
            off = abs(float(q[c.q] - c.coupling.value(float(q[c.of_q]))))
            found.append((off, f"joint {c.coupling.joint} by {off:.3g}"))
        return max(found)[1]

    def _moved(self, q: Array, v: Array) -> Array:
        """The configuration after moving with a constant velocity for a unit of time."""
        there = q.copy()
        for kind, at, to in self._tree.coordinates:
            there[at] = kind.integrate(q[at].tolist(), v[to].tolist(), 1.0)
        return there


def _open_everywhere(robot: Robot, assembler: Assembler) -> str:
    """What to say of a robot whose loops close nowhere, or not near its declared reference."""
    loops = ", ".join(repr(loop.name) for loop in robot.loops)
    if not robot.reference:
        return (
            f"robot {robot.name!r}: no configuration was found in which its loops ({loops}) close."
            " Check lengths and the frames of the cuts, or declare a reference near which they do."
        )
    gap = assembler.widest_gap(robot.opened().q(dict(robot.reference)))
    return (
        f"robot {robot.name!r}: reference: expected positions near which its loops ({loops}) close, got some that are"
        f" open, {gap}, and no closed ones near. Declare others, or none to have them sought."
    )


def _starts(robot: Robot) -> Iterator[Array]:
    """Configurations to start from: the declared one, or zero, the middle of limits, and random ones between limits."""
    opened = robot.opened()
    if robot.reference:
        yield opened.q(dict(robot.reference))
        return
    low, high = np.full(opened.nq, -1.0), np.full(opened.nq, 1.0)
    middle = opened.q()
    for j in opened.joints:
        slot = opened.slots.get(j.name)
        if slot is None or slot.nq > 1:
            continue
        a, b = j.limits.lower, j.limits.upper
        if np.isfinite(a) and np.isfinite(b):
            low[slot.q], high[slot.q], middle[slot.q] = a, b, 0.5 * (a + b)
        elif j.freedom.slides:
            low[slot.q], high[slot.q] = -0.5, 0.5
        else:
            low[slot.q], high[slot.q] = -np.pi, np.pi
    yield opened.q()
    yield middle
    rng = np.random.default_rng(1)
    for k in range(TRIES):
        width = min(1.0, 0.1 + 2.0 * k / TRIES)
        about = middle if k % 2 else opened.q()
        q = about + width * rng.uniform(-0.5, 0.5, opened.nq) * (high - low)
        for slot in opened.slots.values():
            if (at := slot.quaternion) is not None:
                q[at] /= np.linalg.norm(q[at])
        yield q


def _within_limits(robot: Robot, q: Array) -> bool:
    slots = robot.opened().slots
    pairs = [(j.limits, slots[j.name]) for j in robot.joints if j.name in slots and j.freedom.is_single]
    return all(limits.lower - 1e-9 <= q[s.q] <= limits.upper + 1e-9 for limits, s in pairs)
