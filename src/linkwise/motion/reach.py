"""What stands in the way of a motion of a machine with loops: rows that it does not reach, and singular ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.kernel.compile import compile
from linkwise.kernel.dynamics import Dynamics
from linkwise.motion import Trajectory
from linkwise.motion.limits import Excess, excesses
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot

NEARLY_SINGULAR = 1e3  # condition number of the drives' Jacobian from which on forces are not to be trusted


class Unreached(NamedTuple):
    """Rows one after the other, counted from one, that the same loops do not reach; times of the first and last."""

    first: int
    last: int
    start: float
    end: float
    loops: tuple[str, ...]


class Crossing(NamedTuple):
    """A row, counted from one, and the one before it, on two sides of a singular position; the time of the row."""

    row: int
    time: float


@dataclass(frozen=True)
class Reach:
    """Where a machine with loops can follow a motion, and how well its drives hold it there.

    Args:
        t: times of the motion, or row numbers.
        condition: of the drives' Jacobian (rows,): 1 is best, infinite is singular, NaN is out of reach.
        unreached: rows in which loops do not close.
        crossings: singular positions between rows.
    """

    t: Array
    condition: Array
    unreached: tuple[Unreached, ...]
    crossings: tuple[Crossing, ...]

    @property
    def good(self) -> bool:
        """Whether all rows are reached, without a singular position between them."""
        return not (self.unreached or self.crossings)

    @property
    def worst(self) -> tuple[float, float] | None:
        """The largest condition number and its time; None where no row is reached."""
        if np.isnan(self.condition).all():
            return None
        k = int(np.nanargmax(self.condition))
        return float(self.condition[k]), float(self.t[k])

    @property
    def exceeded(self) -> list[Excess]:
        """Rows in which the drives hardly hold the machine."""
        return excesses(self.t, [("drives", "condition", self.condition, 0.0, NEARLY_SINGULAR)])


def reach_along(robot: Robot, motion: Trajectory) -> Reach | None:
    """What stands in the way of a motion of what leads; None without loops that close."""
    if not robot.loops or robot.rolls:
        return None
    dyn = compile(robot)
    unreached, crossings = tuple(_unreached(dyn, motion)), tuple(_crossings(dyn, motion))
    return Reach(motion.t, dyn.workspace(motion.q).drive_condition, unreached, crossings)


def _unreached(dyn: Dynamics, motion: Trajectory) -> Iterator[Unreached]:
    """Rows in which loops do not close, those one after the other together."""
    found = dyn.tree_positions(motion.q)
    open_ = np.asarray(found.converged) < 0.5
    q, names = np.asarray(found.q_tree), [loop.name for loop in dyn.robot.loops]
    lost = np.stack([np.isnan(q[:, places]).any(axis=1) & open_ for places in _places(dyn.robot)], axis=1)
    lost[open_ & ~lost.any(axis=1)] = True
    changes = np.flatnonzero((lost[1:] != lost[:-1]).any(axis=1)) + 1
    for rows in np.split(np.arange(len(lost)), changes):
        which = lost[rows[0]]
        if which.any():
            loops = tuple(n for n, out in zip(names, which, strict=True) if out)
            first, last = int(rows[0]), int(rows[-1])
            yield Unreached(first + 1, last + 1, float(motion.t[first]), float(motion.t[last]), loops)


def _places(robot: Robot) -> Iterator[NDArray[np.intp]]:
    """For each loop the places of its followers in positions of the tree."""
    slots, above = robot.opened().slots, {j.child: j for j in robot.joints}
    for loop in robot.loops:
        found: list[int] = []
        for end in (loop.a, loop.b):
            while end in above:
                joint, end = above[end], above[end].parent
                if joint.nv and joint.name not in robot.slots:
                    found += range(slots[joint.name].q, slots[joint.name].q + slots[joint.name].nq)
        yield np.array(found, dtype=np.intp)


def _crossings(dyn: Dynamics, motion: Trajectory) -> Iterator[Crossing]:
    """Rows before which the determinant of the drives' Jacobian has changed its sign."""
    if dyn.robot.nu != dyn.robot.nv:
        return
    J = np.array(dyn.drive_jacobian(motion.q))
    known = np.flatnonzero(np.isfinite(J).all(axis=(1, 2)))
    sides = np.sign(np.linalg.det(J[known]))
    for before, row, a, b in zip(known[:-1], known[1:], sides[:-1], sides[1:], strict=True):
        if row == before + 1 and a * b < 0.0:
            yield Crossing(int(row) + 1, float(motion.t[row]))
