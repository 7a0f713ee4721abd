"""Motions from files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from linkwise.errors import InputError, UnknownNameError, listing
from linkwise.motion import spline
from linkwise.motion.columns import MOTION, RESULTS, TIME, Columns, column_names
from linkwise.motion.csv import CsvColumns
from linkwise.motion.npz import NpzColumns
from linkwise.motion.platform import of_platform
from linkwise.motion.trajectory import Array, Trajectory
from linkwise.robot.leading import refuse_wheels
from linkwise.robot.robot import Robot


class MissingColumns(InputError):
    """A file without columns of positions for some joints: `missing`."""

    def __init__(self, message: str, missing: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.missing = tuple(missing)


def read(path: str | PathLike[str], robot: Robot, *, ignore_extra: bool = False, jerks: bool = False) -> Trajectory:
    """The motion in a file, with the velocities and accelerations it has or those of a spline through its positions.

    Args:
        path: a .csv file with a header, or an .npz archive. Columns are `t` or `time`; `elbow` or `q.elbow`;
            `qd.elbow`; `qdd.elbow`; `qddd.elbow`; arrays are t, q, qd, qdd, qddd and perhaps `names`, the joints in
            their order. Of a robot led by one joint of several numbers, as a platform on legs, its name may be left
            out: `x`, ...; turns may be rx, ry, rz or roll, pitch, yaw; velocities `velocity.vx`, ... and accelerations
            `acceleration.vx`, ... are in world axes.
        robot: whose joints the columns name; every joint with coordinates must be there.
        ignore_extra: leave out columns that belong to nothing, instead of refusing them.
        jerks: give `qddd` too, from the file or by a spline of the highest derivative that it has.
    """
    refuse_wheels(robot, "a motion from a file")
    table = of_platform(opened(path, lambda file: NpzColumns(file, robot, ignore_extra)), robot)
    wanted, notes = _match(table, robot, ignore_extra)
    t = times_of(table)
    q = stacked(table, [wanted[n] for n in column_names(robot, "q")])
    _check_quaternions(table, robot, q, wanted)
    asked = MOTION[1:] if jerks else MOTION[1:3]
    given = {
        key: stacked(table, [wanted[n] for n in column_names(robot, key)])
        for key in asked
        if all(n in wanted for n in column_names(robot, key))
    }
    origins = dict.fromkeys(asked, "the file")
    if len(given) < len(asked):
        if t is None:
            raise table.error("expected a column 't' or 'time', needed to differentiate the positions; got none.")
        k = spline.degree(len(q), table.file)
        for key, (value, of) in _rates(robot, t, {"q": q, **given}, k, asked).items():
            given[key], origins[key] = value, f"a {spline.DEGREES[k]} spline of {of}"
            if key == "qddd" and of == "q" and k < 5:
                notes = (*notes, "the jerk of a cubic spline jumps at every row; six rows or more give a quintic one")
    times = np.arange(len(q), dtype=float) if t is None else t
    return Trajectory(times, q, given["qd"], given["qdd"], t is not None, origins, notes, given.get("qddd"))


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


def opened(path: str | PathLike[str], archive: Callable[[Path], Columns]) -> Columns:
    """The columns of a .csv file, or those that `archive` finds in an .npz file."""
    file = Path(path)
    readers: dict[str, Callable[[Path], Columns]] = {".csv": CsvColumns, ".npz": archive}
    suffix = file.suffix.lower()
    if suffix not in readers:
        raise InputError(f"{file.name}: expected a .csv or .npz file, got {suffix or 'no suffix'}.")
    return readers[suffix](file)


def _match(table: Columns, robot: Robot, ignore_extra: bool) -> tuple[dict[str, str], tuple[str, ...]]:
    """For every column of the robot that the file has, its name there; and remarks on those that it has besides."""
    quantities = {key: column_names(robot, key) for key in MOTION}
    valid = {name for names in quantities.values() for name in names}
    moveless = {f"{key}{j.name}" for j in robot.joints if not j.nv for key in ("", *(f"{k}." for k in MOTION))}
    every = {name for key in MOTION for name in column_names(robot.opened(), key)}
    moveless |= every | {name.removeprefix("q.") for name in every}
    wanted: dict[str, str] = {}
    extra, still = [], []
    for name in table.names():
        full = name if name in valid else f"q.{name}"
        if name in TIME or name.startswith(RESULTS):
            continue
        if full in wanted:
            raise table.error(f"expected each column once, got {wanted[full]!r} and {name!r}. Remove one.")
        if full in valid:
            wanted[full] = name
        elif name in moveless:
            still.append(name)
        else:
            extra.append(name)
    for key, names in quantities.items():
        missing = [n for n in names if n not in wanted]
        if missing and (key == "q" or len(missing) < len(names)):
            error = table.error(_missing(missing, key, extra))
            raise MissingColumns(str(error), missing) if key == "q" else error
    if extra and not ignore_extra:
        raise table.error(
            f"{UnknownNameError('column', extra[0], ['t', *quantities['q'], 'qd.*', 'qdd.*', 'qddd.*'])}"
            " Remove it, or ask to ignore extra columns (--ignore-extra)."
        )
    remarks = [f"not used, their joints do not move by themselves: {', '.join(still)}"] if still else []
    remarks += [f"not used: {', '.join(extra)}"] if extra else []
    return wanted, tuple(remarks)


def _missing(missing: list[str], key: str, extra: list[str]) -> str:
    got = f" The columns {listing(extra, 8)} belong to no joint." if extra else ""
    if key == "q":
        bare = [n.removeprefix("q.") for n in missing]
        motors = all(n.endswith(".motor") for n in bare)
        remedy = (
            "Add them, or take the drives as rigid (--rigid)." if motors else "Add them, or lock those joints (--lock)."
        )
        return f"expected a column for every joint, got none for {listing(bare)}.{got} {remedy}"
    return f"expected {key} for every joint or for none, got none for {listing(missing)}.{got}"


def stacked(table: Columns, names: list[str]) -> Array:
    """The columns side by side, all finite."""
    columns = []
    for name in names:
        column = table.column(name)
        bad = np.flatnonzero(~np.isfinite(column))
        if len(bad):
            k = int(bad[0])
            message = f"column {name!r}: expected a finite number, got {column[k]}. Remove or repair the row."
            raise table.error(message, table.place(name, k))
        columns.append(column)
    if not columns:
        raise table.error("expected a robot with joints that move, got one that cannot.")
    if not len(columns[0]):
        raise table.error("expected at least one row, got none.")
    return np.stack(columns, axis=1)


def times_of(table: Columns) -> Array | None:
    """The rising times of a file, or None where it has none."""
    found = [name for name in table.names() if name in TIME]
    if not found:
        return None
    if len(found) > 1:
        raise table.error("expected one column of times, got 't' and 'time'. Remove one.")
    t = stacked(table, found)[:, 0]
    back = np.flatnonzero(np.diff(t) <= 0.0)
    if len(back):
        k = int(back[0]) + 1
        message = f"expected rising times, got {t[k]:g} after {t[k - 1]:g}. Sort the rows, each time once."
        raise table.error(message, table.place(found[0], k))
    return t


def _check_quaternions(table: Columns, robot: Robot, q: Array, wanted: dict[str, str]) -> None:
    for name, slot in robot.slots.items():
        if (at := slot.quaternion) is not None:
            check_unit(table, f"joint {name!r}", q[:, at], wanted[f"q.{name}.qw"])


def check_unit(table: Columns, what: str, quaternion: Array, column: str) -> None:
    """Refuse quaternions (rows, 4) that are far from length one; `column` has one of their numbers."""
    length = np.linalg.norm(quaternion, axis=1)
    bad = np.flatnonzero(np.abs(length - 1.0) > 1e-3)
    if len(bad):
        k = int(bad[0])
        message = f"{what}: expected a unit quaternion qx, qy, qz, qw, got one of length {length[k]:g}."
        raise table.error(message, table.place(column, k))
