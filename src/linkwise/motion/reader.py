"""Motions from tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import InputError, UnknownNameError, listing
from linkwise.motion import spline
from linkwise.motion.columns import MOTION, RESULTS, column_names, endings
from linkwise.motion.platform import of_platform
from linkwise.motion.smoothing import smooth_trajectory
from linkwise.motion.trajectory import Array, Trajectory
from linkwise.motion.units import degrees_question, in_si
from linkwise.robot.robot import Robot
from linkwise.table import TIME, Table
from linkwise.table import read as read_table

ARCHIVE = "arrays of numbers as numpy.savez writes them, a .csv or .parquet table"
REMEDY = "Remove it, or ask to ignore extra columns (--ignore-extra)."
JUDGED = 64  # rows from which on noise is told from motion
NOISY = 1.04  # times the square of smooth accelerations, from which on noise is worth a closer look
UNIT = 1e-3  # by which the length of a quaternion may be off one


def read(
    source: Any,
    robot: Robot,
    *,
    ignore_extra: bool = False,
    jerks: bool = False,
    angles: str = "radians",
    cutoff: float | None = None,
) -> Trajectory:
    """The motion in a table, with the velocities and accelerations it has or those of a spline through its positions.

    Args:
        source: a .csv, .npz or .parquet file, a pandas DataFrame, or columns by name. Columns are `t` or `time`;
            `elbow` or `q.elbow`; `qd.elbow`; `qdd.elbow`; `qddd.elbow`; arrays of an archive are t, q, qd, qdd, qddd
            and perhaps `names`, the joints in their order. Of a robot led by one joint of several numbers, as a
            platform on legs, its name may be left out: `x`, ...; turns may be rx, ry, rz or roll, pitch, yaw;
            velocities `velocity.vx`, ... and accelerations `acceleration.vx`, ... are in world axes. A name may end in
            a unit, rad, deg, m, mm, s or ms: `elbow [deg]`, `qd.elbow [deg/s]`.
        robot: whose joints the columns name; every joint that leads must be there. Motors behind springs may be left
            out: the motion is then that of `robot.rigid()`. Where all joints of a robot with loops are there, those
            that follow become `tree`.
        ignore_extra: leave out columns that belong to nothing, instead of refusing them.
        jerks: give `qddd` too, from the table or by a spline of the highest derivative that it has.
        angles: "radians", or "degrees" where angles and their rates are in degrees; positions in rad that look like
            degrees are questioned in `notes`.
        cutoff: frequency in Hz above which positions are noise, as measured ones have it. They are made smooth, and
            velocities and accelerations come from them, whatever else the table has.
    """
    found = read_positions(source, robot, ignore_extra=ignore_extra, angles=angles)
    table, moving, notes, t, q = found.table, found.robot, found.notes, found.t, found.q
    if cutoff is not None:
        if t is None:
            raise table.error("expected a column 't' or 'time', needed to smooth the positions; got none.")
        motion = smooth_trajectory(moving, t, q, cutoff, jerks or moving is not robot)
        used = [] if found.tree is None else ["not used, since positions were made smooth: joints that follow"]
        return replace(motion, notes=(*notes, *motion.notes, *used))
    asked = MOTION[1:] if jerks or moving is not robot else MOTION[1:3]
    given = {
        key: table.stacked(found.names(moving, key))
        for key in asked
        if all(name in found.wanted for name in column_names(moving, key))
    }
    origins = dict.fromkeys(asked, "the file")
    if len(given) < len(asked):
        if t is None:
            raise table.error("expected a column 't' or 'time', needed to differentiate the positions; got none.")
        k = spline.degree(len(q), table.source)
        for key, (value, of) in _rates(moving, t, {"q": q, **given}, k, asked).items():
            given[key], origins[key] = value, f"a {spline.name(k)} of {of}"
            if key == "qddd" and of == "q" and k < 5:
                notes = (*notes, "the jerk of a cubic spline jumps at every row; six rows or more give a quintic one")
    times = np.arange(len(q), dtype=float) if t is None else t
    motion = Trajectory(
        times, q, given["qd"], given["qdd"], t is not None, origins, notes, given.get("qddd"), found.tree
    )
    return motion if origins["qdd"] == "the file" else replace(motion, smooth=_without_noise(moving, motion))


def _without_noise(robot: Robot, motion: Trajectory) -> Trajectory | None:
    """The motion without the noise of its positions, if that is much of the accelerations that were derived."""
    if len(motion) < JUDGED:
        return None
    smooth = smooth_trajectory(robot, motion.t, motion.q, jerks=motion.qddd is not None)
    noisy = np.mean(motion.qdd**2, axis=0) > NOISY * np.mean(smooth.qdd**2, axis=0)
    return smooth if np.any(noisy) else None


def read_positions(source: Any, robot: Robot, *, ignore_extra: bool = False, angles: str = "radians") -> Match:
    """The positions in a table as `read` takes it, and what else belongs to the robot there; nothing is derived."""
    table = in_si(read_table(source, partial(_array_columns, robot, ignore_extra), ARCHIVE), robot, angles)
    match = _match(of_platform(table, robot), robot, ignore_extra)
    question = degrees_question(match.robot, match.q)
    return match._replace(notes=(*match.notes, question)) if question else match


def _rates(
    robot: Robot, t: Array, given: dict[str, Array], k: int, asked: Sequence[str]
) -> dict[str, tuple[Array, str]]:
    """The derivatives that were asked but not given, by splines of degree k, each with what it is derived from."""
    found = {}
    for key in asked:
        if key not in given:
            of = next(name for name in reversed(MOTION[: MOTION.index(key)]) if name in given)
            count = MOTION.index(key) - MOTION.index(of)
            rates = spline.motion(robot, t, given["q"], k, max(count, 2)) if of == "q" else None
            found[key] = (rates or spline.derivatives(t, given[of], k, count))[count - 1], of
    return found


class Match(NamedTuple):
    """Whose motion a table has: the robot's, or that of its links without motors; for each column its name there."""

    table: Table
    robot: Robot
    wanted: dict[str, str]
    notes: tuple[str, ...]

    @property
    def t(self) -> Array | None:
        """The times, if there are any."""
        return self.table.times()

    @property
    def q(self) -> Array:
        """Positions (rows, nq)."""
        return self.positions(self.robot)

    @property
    def tree(self) -> Array | None:
        """Positions of all joints of a robot with loops, if the table has them."""
        tree = self.robot.opened()
        if not self.robot.follows or not all(name in self.wanted for name in column_names(tree, "q")):
            return None
        return self.positions(tree)

    def positions(self, robot: Robot) -> Array:
        """Positions of a robot whose columns the table has, with quaternions of length one."""
        q = self.table.stacked(self.names(robot, "q"))
        _check_quaternions(self.table, self, robot, q)
        return q

    def names(self, robot: Robot, quantity: str) -> list[str]:
        """Names in the table."""
        return [self.wanted[name] for name in column_names(robot, quantity)]


def _match(table: Table, robot: Robot, ignore_extra: bool) -> Match:
    """Find the columns of a robot, and what the table has besides."""
    valid = {name for key in MOTION for name in column_names(robot.opened(), key)}
    moveless = {f"{key}{j.name}" for j in robot.joints if not j.nv for key in ("", *(f"{k}." for k in MOTION))}
    wanted: dict[str, str] = {}
    extra, still = [], []
    for name in table.columns:
        full = name if name in valid else f"q.{name}"
        if name in TIME:
            continue
        if full in wanted:
            raise table.error(f"expected each column once, got {wanted[full]!r} and {name!r}. Remove one.")
        if full in valid:
            wanted[full] = name
        elif name in moveless:
            still.append(name)
        elif name.split(".")[0] not in RESULTS:
            extra.append(name)
    motors = [f"q.{name}" for name in robot.coordinates if name not in robot.names]
    moving = robot.rigid() if motors and not any(name in wanted for name in motors) else robot
    for key in MOTION:
        names = column_names(moving, key)
        missing = [n for n in names if n not in wanted]
        if missing and (key == "q" or len(missing) < len(names)):
            raise table.error(_missing(missing, key, extra))
    if extra and not ignore_extra:
        known = ["t", *column_names(robot, "q"), "qd.*", "qdd.*", "qddd.*"]
        raise table.error(f"{UnknownNameError('column', extra[0], known)} {REMEDY}")
    lead, every = column_names(moving, "q"), column_names(moving.opened(), "q")
    if not all(name in wanted for name in every):
        still += [wanted[name] for name in every if name in wanted and name not in lead]
    remarks = [f"not used, their joints do not move by themselves: {', '.join(still)}"] if still else []
    remarks += [f"not used: {', '.join(extra)}"] if extra else []
    return Match(table, moving, wanted, tuple(remarks))


def _missing(missing: list[str], key: str, extra: list[str]) -> str:
    got = f" No joint is called {listing(extra, 8)}." if extra else ""
    add = "Rename or add columns" if extra else "Add them"
    if key == "q":
        bare = [n.removeprefix("q.") for n in missing]
        motors = all(n.endswith(".motor") for n in bare)
        remedy = (
            f"{add}, or take the drives as rigid (--rigid)." if motors else f"{add}, or lock those joints (--lock)."
        )
        return f"expected a column for every joint, got none for {listing(bare)}.{got} {remedy}"
    return f"expected {key} for every joint or for none, got none for {listing(missing)}.{got}"


def _check_quaternions(table: Table, found: Match, robot: Robot, q: Array) -> None:
    """Refuse quaternions that are far from length one."""
    for name, slot in robot.slots.items():
        if (at := slot.quaternion) is not None:
            length = np.linalg.norm(q[:, at], axis=1)
            bad = np.flatnonzero(np.abs(length - 1.0) > UNIT)
            if len(bad):
                k = int(bad[0])
                got = f"expected a unit quaternion qx, qy, qz, qw, got one of length {length[k]:g}."
                raise table.error(f"joint {name!r}: {got}", found.wanted[f"q.{name}.qw"], k)


def _array_columns(robot: Robot, ignore_extra: bool, key: str, arrays: Mapping[str, Any]) -> Sequence[str]:
    """Names of the columns of an array; joints come in the order of the array `names`, or the robot's."""
    if key in TIME:
        return [key]
    if key not in MOTION:
        if key not in (*RESULTS, "names", "links", "loops") and not ignore_extra:
            raise UnknownNameError("array", key, (*TIME, *MOTION, "names"))
        return []
    tree, links = robot.opened(), robot.rigid()
    if "names" not in arrays:
        width = int(np.prod(np.shape(arrays.get("q", ()))[1:]))
        like = next((r for r in (robot, links, tree, links.opened()) if r.nq == width), robot)
        return column_names(like, key)
    joints, names = [str(n) for n in np.atleast_1d(arrays["names"])], []
    known = {*(j.name for j in robot.joints), *tree.coordinates}
    for joint in joints:
        if joint not in known and not ignore_extra:
            raise InputError(f"names: {UnknownNameError('joint', joint, robot.coordinates)} {REMEDY}")
        if joints.count(joint) > 1:
            raise InputError(f"names: expected each joint once, got {joint!r} twice.")
        slot = tree.slots.get(joint)  # none for a joint that is locked, which has a column all the same
        names += [f"{key}.{joint}{end}" for end in (endings(slot.kind, key) if slot else [""])]
    return names
