"""Motions of the platform of a parallel robot: from files, and with the forces of its legs into files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import UnknownNameError, listing
from linkwise.motion import spline
from linkwise.motion.columns import TIME, WRENCH, Columns
from linkwise.motion.npz import ArrayColumns
from linkwise.motion.reader import check_unit, opened, stacked, times_of
from linkwise.motion.trajectory import Array
from linkwise.motion.writer import write_arrays
from linkwise.parallel.robot import ParallelRobot
from linkwise.robot.joint import KINDS

FREE = KINDS["floating"]
MOTION = ("pose", "velocity", "acceleration")
RESULTS = ("positions", "forces", "leg_forces", "condition", "energy")  # what a file of results holds beside a motion
FACTS = ("names", "legs", "meta")
TURNS = (("qx", "qy", "qz", "qw"), ("rx", "ry", "rz"), ("roll", "pitch", "yaw"))  # in which a file may say turns


@dataclass(frozen=True)
class PlatformMotion:
    """Poses, velocities and accelerations of a platform at rising times, as `ParallelDynamics` takes them.

    Args:
        t: (rows,) in s, or the row numbers when the motion came without times.
        pose: (rows, nq).
        velocity: (rows, nv), world axes.
        acceleration: (rows, nv), classical, world axes.
        timed: whether `t` is a time.
        origins: where `velocity` and `acceleration` come from, in words: "the file", "a quintic spline of pose".
        notes: what else a user should know, such as columns that were not used.
    """

    t: Array
    pose: Array
    velocity: Array
    acceleration: Array
    timed: bool
    origins: dict[str, str]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.t)


def platform_columns(robot: ParallelRobot, quantity: str) -> list[str]:
    """Names of the columns of "pose", "velocity" or "acceleration": pose.x, ..., velocity.vx, ..."""
    if quantity == "pose":
        ends = {7: FREE.positions, 3: ("x", "y", "angle" if robot.motion.plane else "z")}[robot.nq]
        return [f"pose.{c}" for c in ends]
    return [f"{quantity}.{FREE.velocities[axis]}" for axis in robot.motion.axes]


def read_platform(path: str | PathLike[str], robot: ParallelRobot, *, ignore_extra: bool = False) -> PlatformMotion:
    """The platform's motion in a file, with velocities and accelerations of the file or of a spline.

    Args:
        path: a .csv file with a header, or an .npz archive. Columns are `t` or `time`; `x` or `pose.x`, and so on: x,
            y, z for a platform that translates, x, y, angle for a planar one, and for a spatial one x, y, z and
            either a quaternion qx, qy, qz, qw, or a rotation vector rx, ry, rz, or angles roll, pitch, yaw about fixed
            x, y, z in that order; perhaps `velocity.vx`, ..., `acceleration.vx`, ... in world axes. Arrays are t,
            pose, velocity, acceleration.
        robot: whose platform moves.
        ignore_extra: leave out columns that belong to nothing, instead of refusing them.
    """
    table = opened(path, lambda file: _Archive(file, robot, ignore_extra))
    wanted, notes = _match(table, robot, ignore_extra)
    t = times_of(table)
    pose = _poses(table, robot, wanted)
    found, origins = {"pose": pose}, dict.fromkeys(MOTION[1:], "the file")
    for key in MOTION[1:]:
        names = platform_columns(robot, key)
        if names[0] in wanted:
            found[key] = stacked(table, [wanted[n] for n in names])
            continue
        if t is None:
            raise table.error("expected a column 't' or 'time', needed to differentiate the poses; got none.")
        k = spline.degree(len(pose), table.file, "columns velocity.* and acceleration.*")
        of = "velocity" if key == "acceleration" and origins["velocity"] == "the file" else "pose"
        rates = _rates(t, pose, k) if of == "pose" else spline.derivatives(t, found["velocity"], k, 1)
        found[key] = spline.rested(rates[0]) if key == "velocity" else rates[-1]
        origins[key] = f"a {spline.DEGREES[k]} spline of {of}"
    times = np.arange(len(pose), dtype=float) if t is None else t
    return PlatformMotion(times, **found, timed=t is not None, origins=origins, notes=notes)


def write_platform(
    path: str | PathLike[str],
    robot: ParallelRobot,
    arrays: Mapping[str, Array],
    meta: Mapping[str, Any] | None = None,
    energies: tuple[str, ...] = (),
) -> None:
    """Arrays of a motion into a .csv or .npz file that `read_platform` takes back.

    Args:
        path: the file, replaced as a whole once all is written.
        robot: whose joints name the columns.
        arrays: by name: t, pose, velocity, acceleration; perhaps positions and forces (rows, na) of the actuated
            joints, leg_forces (rows, nl, 3), condition (rows,), energy (rows, parts).
        meta: facts to keep in an .npz file, as JSON under the name `meta`.
        energies: the parts of energy.
    """
    legs = [leg.name for leg in robot.legs]
    names = {key: platform_columns(robot, key) for key in MOTION}
    names |= {key: [f"{key}.{n}" for n in robot.names] for key in ("positions", "forces")}
    names |= {"t": ["t"], "condition": ["condition"], "energy": [f"energy.{n}" for n in energies]}
    names["leg_forces"] = [f"leg_forces.{leg}.{c}" for leg in legs for c in WRENCH[:3]]
    facts = {"names": list(robot.names), "legs": legs, "meta": json.dumps(dict(meta or {}))}
    write_arrays(path, arrays, names, facts)


class _Archive(ArrayColumns):
    """The columns of arrays t, pose, velocity, acceleration."""

    def __init__(self, path: Path, robot: ParallelRobot, ignore_extra: bool) -> None:
        super().__init__(path)
        if not ignore_extra:
            self._refuse_unknown((*TIME, *MOTION), (*RESULTS, *FACTS))
        for key in MOTION:
            if key in self.arrays:
                self._split(key, platform_columns(robot, key))
        self._check_lengths()


def _match(table: Columns, robot: ParallelRobot, ignore_extra: bool) -> tuple[dict[str, str], tuple[str, ...]]:
    """For every column of the platform that the file has, its name there; and remarks on those that it has besides."""
    valid = [name for key in MOTION for name in platform_columns(robot, key)]
    turns = [f"pose.{c}" for kind in TURNS for c in kind] if robot.nq == 7 else []
    wanted: dict[str, str] = {}
    extra = []
    for name in table.names():
        if name in TIME or name.partition(".")[0] in RESULTS:
            continue
        full = name if name.partition(".")[0] in MOTION else f"pose.{name}"
        if full in wanted:
            raise table.error(f"expected each column once, got {wanted[full]!r} and {name!r}. Remove one.")
        if full in valid or full in turns:
            wanted[full] = name
        else:
            extra.append(name)
    if extra and not ignore_extra:
        bare = ["t", *(n.removeprefix("pose.") for n in (*valid, *turns))]
        raise table.error(
            f"{UnknownNameError('column of a platform', extra[0], dict.fromkeys(bare))}"
            " Remove it, or ask to ignore extra columns (--ignore-extra)."
        )
    for key in MOTION[1:]:
        names = platform_columns(robot, key)
        missing = [n for n in names if n not in wanted]
        if missing and len(missing) < len(names):
            raise table.error(f"expected all columns of {key} or none, got none for {listing(missing)}. Add them.")
    return wanted, (f"not used: {', '.join(extra)}",) if extra else ()


def _poses(table: Columns, robot: ParallelRobot, wanted: Mapping[str, str]) -> Array:
    """The poses of a file, quaternions of length one."""
    names = platform_columns(robot, "pose")
    flat = names[:3] if robot.nq == 7 else names
    missing = [n.removeprefix("pose.") for n in flat if n not in wanted]
    if missing:
        bare = ", ".join(n.removeprefix("pose.") for n in flat)
        raise table.error(
            f"expected columns {bare} of the platform's pose, because the mobility is {robot.mobility!r}, got none for"
            f" {listing(missing)}. Add them."
        )
    place = stacked(table, [wanted[n] for n in flat])
    if robot.nq < 7:
        return place
    given = [kind for kind in TURNS if any(f"pose.{c}" in wanted for c in kind)]
    kinds = " or ".join(", ".join(kind) for kind in TURNS)
    if len(given) != 1:
        got = " and ".join(", ".join(kind) for kind in given) or "none"
        raise table.error(f"expected the platform's turn as columns {kinds}, got {got}. Give one of them.")
    lost = [c for c in given[0] if f"pose.{c}" not in wanted]
    if lost:
        raise table.error(f"expected columns {', '.join(given[0])}, got none for {listing(lost)}. Add them.")
    columns = [wanted[f"pose.{c}"] for c in given[0]]
    return np.hstack([place, _quaternions(table, stacked(table, columns), given[0][0], columns[-1])])


def _quaternions(table: Columns, turn: Array, kind: str, column: str) -> Array:
    """Unit quaternions x, y, z, w of turns that a file says in the way that begins with the column `kind`."""
    from scipy.spatial.transform import Rotation

    if kind == "rx":
        return Rotation.from_rotvec(turn).as_quat()
    if kind == "roll":
        return Rotation.from_euler("xyz", turn).as_quat()
    check_unit(table, "platform", turn, column)
    return turn / np.linalg.norm(turn, axis=1, keepdims=True)


def _rates(t: Array, pose: Array, k: int) -> list[Array]:
    """Velocity and acceleration in world axes of the spline of degree k through poses."""
    if pose.shape[1] < 7:
        return spline.derivatives(t, pose, k)
    smooth = np.hstack([pose[:, :3], spline.continuous(pose[:, 3:])])
    return spline.world_rates(smooth, *spline.derivatives(t, smooth, k))
