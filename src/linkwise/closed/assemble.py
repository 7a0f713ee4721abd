"""Configurations that close the loops of a robot, found from nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from linkwise.algorithms.closed_chain import Partition
from linkwise.algorithms.integration import integrate
from linkwise.algorithms.loops import CLOSURES, cuts
from linkwise.closed.kernels import ClosedKernel
from linkwise.closed.rank import Array, rank_of
from linkwise.errors import ModelError
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options
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


@lru_cache(maxsize=KEPT)
def configurations(robot: Robot) -> tuple[Configuration, ...]:
    """Closed configurations that are not singular ones, the best first."""
    if not robot.loops:
        raise ModelError(
            f"robot {robot.name!r}: expected a robot with loops, got a tree. Close it with a Loop, [[loop]] in a robot"
            " file, or use the functions of the tree."
        )
    assembler = Assembler(robot)
    found: list[Configuration] = []
    for q in _starts(robot):
        closed = assembler.close(q)
        if closed is None:
            continue
        J = assembler.jacobian(closed)
        found.append(Configuration(closed, J, rank_of(J), _within_limits(robot, closed)))
        if len(found) == ENOUGH:
            break
    if not found:
        raise ModelError(
            f"robot {robot.name!r}: no configuration was found in which its loops"
            f" ({', '.join(repr(loop.name) for loop in robot.loops)}) close. Check lengths and the frames of the cuts."
        )
    rank = max(c.rank for c in found)
    return tuple(sorted((c for c in found if c.rank == rank), key=lambda c: not c.within))


class Assembler:
    """Closes the loops of a robot from anywhere, by moving all joints."""

    def __init__(self, robot: Robot) -> None:
        self.part = all_equations(robot)
        self._closure = ClosedKernel.ask(robot, Options(), self.part, "closure")
        self._integrate = Kernel.of(robot, integrate, Options(), {})
        self._weights = np.array(self.part.weights)
        self._scale = np.ones(robot.nv)
        for name, slot in robot.slots.items():
            joint = next((j for j in robot.joints if j.name == name), None)
            for k, length in enumerate(joint.freedom.lengths if joint is not None else ()):
                if length:
                    self._scale[slot.v + k] = self.part.size

    def jacobian(self, q: Array) -> Array:
        """Of all equations, with lengths measured by the mechanism's size."""
        J: Array = self._closure(q).J * self._weights[:, None] * self._scale
        return J

    def jacobian_si(self, q: Array) -> Array:
        """Of all equations, in the joints' own units."""
        J: Array = self._closure(q).J
        return J

    def close(self, q: Array) -> Array | None:
        """Positions near q that close the loops, by damped least squares; None where there are none."""
        damping = 1e-3
        gap = self.gap(q)
        for _ in range(STEPS):
            size = float(np.linalg.norm(gap))
            if not np.isfinite(size):
                return None
            if size <= CLOSED * 1e-3:
                break
            J = self.jacobian(q)
            n = J.shape[1]
            step = np.linalg.lstsq(
                np.vstack([J, np.sqrt(damping) * np.eye(n)]), np.concatenate([-gap, np.zeros(n)]), rcond=None
            )[0]
            step *= min(1.0, 1.0 / max(float(np.linalg.norm(step)), 1e-300))
            tried = self._integrate(q, step * self._scale, 1.0)
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

    @cached_property
    def _tree(self) -> Tree:
        return Tree.of(self._closure.robot)

    def gap(self, q: Array) -> Array:
        """What all equations are off by, with lengths measured by the mechanism's size."""
        gap: Array = self._closure(q).gap * self._weights
        return gap


def _starts(robot: Robot) -> Iterator[Array]:
    """Configurations to start from: zero, the middle of limits, and random ones between limits, wider and wider."""
    low, high = np.full(robot.nq, -1.0), np.full(robot.nq, 1.0)
    middle = robot.q()
    for j in robot.joints:
        slot = robot.slots.get(j.name)
        if slot is None or slot.nq > 1:
            continue
        a, b = j.limits.lower, j.limits.upper
        if np.isfinite(a) and np.isfinite(b):
            low[slot.q], high[slot.q], middle[slot.q] = a, b, 0.5 * (a + b)
        elif j.freedom.slides:
            low[slot.q], high[slot.q] = -0.5, 0.5
        else:
            low[slot.q], high[slot.q] = -np.pi, np.pi
    yield robot.q()
    yield middle
    rng = np.random.default_rng(1)
    for k in range(TRIES):
        width = min(1.0, 0.1 + 2.0 * k / TRIES)
        about = middle if k % 2 else robot.q()
        q = about + width * rng.uniform(-0.5, 0.5, robot.nq) * (high - low)
        for slot in robot.slots.values():
            if (at := slot.quaternion) is not None:
                q[at] /= np.linalg.norm(q[at])
        yield q


def _within_limits(robot: Robot, q: Array) -> bool:
    pairs = [(j.limits, robot.slots[j.name]) for j in robot.joints if j.name in robot.slots and j.freedom.is_single]
    return all(limits.lower - 1e-9 <= q[s.q] <= limits.upper + 1e-9 for limits, s in pairs)
