"""Motions to be looked at: anything with times and positions, from files or from results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.motion.base_motion import BaseMotion, base_poses
from linkwise.motion.columns import column_names
from linkwise.motion.reader import Match, read, read_positions
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot
from linkwise.table import WRENCH

ROWS = 6000  # of a motion in a page; of a longer one every second, third, ... row
PLOTTED = ("q", "qd", "tau", "distance")
APART = 1e-6  # by which poses of links may differ before a motion counts as one of another assembly mode, m


@dataclass(frozen=True, eq=False)
class Motion:
    """Samples of a motion.

    Args:
        robot: whose positions they are: the robot, its links without motors behind springs, or its tree with loops cut.
        t: times (rows,), s; row numbers where there are none.
        q: positions (rows, nq).
        curves: other quantities by name ("qd", "tau"): names of the columns, and the columns (rows, n).
        wrench: force and moment through each joint on the moving link, in its axes at the joint (rows, nb, 6).
        base: rotation, row after row, and position of the base in the world (rows, 12), where it moves.
        forces: forces in the world by name: points and forces (rows, 6).
        timed: whether `t` is a time.
        notes: what else a user should know.
    """

    robot: Robot
    t: Array
    q: Array
    curves: Mapping[str, tuple[list[str], Array]] = field(default_factory=dict)
    wrench: Array | None = None
    base: Array | None = None
    forces: Mapping[str, Array] = field(default_factory=dict)
    timed: bool = True
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, robot: Robot, given: Any = None, *, wrenches: bool = False, base_motion: Any = None) -> Motion:
        """The motion that is given for a robot.

        Args:
            robot: what moves.
            given: a result (of `simulate`, `plan`, `retime`, ...), a .csv, .npz or .parquet file, a data frame or
                columns as `lw.motion.read` takes them; positions (nq,) or (rows, nq); positions by joint; or None for
                where the robot starts.
            wrenches: compute what passes through joints, from velocities and accelerations.
            base_motion: the base's `Pose` in the world as a function of time, in place of what a result knows of it.
        """
        if isinstance(given, cls):
            return given
        source = _finite(given.columns()) if hasattr(given, "columns") and not hasattr(given, "reset_index") else given
        if _is_table(source):
            found = _of_table(robot, source, wrenches)
            if getattr(given, "scenes", ()) and hasattr(given, "distance"):  # a plan among obstacles
                least = ["distance.least"], given.distance(found.t)[:, None]
                found = replace(found, curves={**found.curves, "distance": least})
        elif wrenches:
            raise InputError("view wrenches: expected a motion with times, got positions alone.")
        else:
            found = _of_positions(robot, source)
        if callable(getattr(type(given), "forces", None)):
            found = replace(found, forces=given.forces(found.t))
        if (base := BaseMotion.of(base_motion)) is not None:
            found = replace(found, base=base.poses(found.t))
        return found.thinned()

    def thinned(self, most: int = ROWS) -> Motion:
        """At most so many rows, evenly taken, the last among them."""
        if len(self.t) <= most:
            return self
        rows = np.unique(np.linspace(0, len(self.t) - 1, most).round().astype(int))

        def some(x: Array | None) -> Array | None:
            return None if x is None else x[rows]

        note = f"{len(rows):,} of {len(self.t):,} rows are shown"
        return replace(
            self,
            t=self.t[rows],
            q=self.q[rows],
            curves={key: (names, x[rows]) for key, (names, x) in self.curves.items()},
            wrench=some(self.wrench),
            base=some(self.base),
            forces={name: x[rows] for name, x in self.forces.items()},
            notes=(*self.notes, note),
        )


def _finite(columns: Mapping[str, Array]) -> dict[str, Array]:
    """The rows of a result that has numbers there: the last one of a simulation that failed may have none."""
    good = np.all([np.isfinite(x) for name, x in columns.items() if name.partition(".")[0] in ("t", "q")], axis=0)
    return {name: x[good] for name, x in columns.items()}


def _is_table(source: Any) -> bool:
    """Whether something has columns: a file, a data frame, a mapping of arrays."""
    if isinstance(source, Mapping):
        return any(np.ndim(x) for x in source.values()) and ("t" in source or "time" in source)
    return isinstance(source, (str, PathLike)) or hasattr(source, "reset_index")


def _of_positions(robot: Robot, given: Any) -> Motion:
    """A position, or several, a second each."""
    try:
        q = np.atleast_2d(robot.q(given) if given is None or isinstance(given, Mapping) else _array(given))
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"view: expected a motion, got {given!r}. {error}") from error
    whose = _whose(robot, q.shape[-1])
    if q.ndim != 2 or whose is None or not np.isfinite(q).all():
        raise InputError(
            f"view: expected finite positions of shape ({robot.nq},) or (rows, {robot.nq}), got {q.shape}."
        )
    return Motion(whose, np.arange(len(q), dtype=float), q, timed=False)


def _array(given: Any) -> Array:
    return np.asarray(given, dtype=float)


def _whose(robot: Robot, width: int) -> Robot | None:
    """The robot that has so many positions: this one, that without motors, or one of their trees."""
    links = robot.rigid()
    return next((r for r in (robot, links, robot.opened(), links.opened()) if r.nq == width), None)


def _of_table(robot: Robot, source: Any, wrenches: bool) -> Motion:
    found = read_positions(source, robot, ignore_extra=True)
    t, q, whose = found.t, found.q, found.robot
    if found.tree is not None and not _same_mode(whose, q, found.tree):
        whose, q = whose.opened(), found.tree
    times = np.arange(len(q), dtype=float) if t is None else t
    curves = {key: curve for key in PLOTTED[1:] if (curve := _curve(found, key))}
    wrench, base = _wrench(found, source, whose, wrenches), base_poses(found.table.columns)
    return Motion(whose, times, q, curves, wrench, base, timed=t is not None)


def _curve(found: Match, key: str) -> tuple[list[str], Array] | None:
    """All columns of a quantity in a table."""
    names = [name for name in found.table.columns if name.startswith(f"{key}.")]
    return (names, np.stack([found.table.columns[name] for name in names], axis=1)) if names else None


def _wrench(found: Match, source: Any, robot: Robot, wanted: bool) -> Array | None:
    """What passes through joints: from the table where it has it, else computed where it is wanted."""
    names = column_names(robot, "wrench")
    if all(name in found.table for name in names):
        return np.stack([found.table.columns[n] for n in names], axis=1).reshape(-1, len(names) // 6, len(WRENCH))
    if not wanted:
        return None
    motion = read(source, found.robot, ignore_extra=True)
    return np.asarray(compile(found.robot).joint_wrenches(motion.q, motion.qd, motion.qdd).wrench)


def _same_mode(robot: Robot, q: Array, tree: Array) -> bool:
    """Whether loops close as they do in a motion of all joints."""
    ours, theirs = compile(robot).poses(q), compile(robot.opened()).poses(tree)
    names = robot.opened().moving_links
    rows = [names.index(name) for name in robot.moving_links]
    return bool((np.abs(ours - theirs[:, rows]) < APART).all())
