"""Logs from files: several forms, names, units and clocks; one log in SI units at even instants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from linkwise.check import positive
from linkwise.errors import InputError, UnknownNameError
from linkwise.kernel.compile import compile
from linkwise.motion.log import Log
from linkwise.motion.log_assembly import assembled, followed
from linkwise.motion.log_channels import no_positions, part_of, together
from linkwise.motion.log_checks import checked
from linkwise.motion.log_names import channel_names, joints_among
from linkwise.motion.log_sources import Options, tables
from linkwise.motion.units import without_units
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot


def read_log(
    source: Any,
    robot: Robot | None = None,
    *,
    columns: Mapping[str, str | None] | Sequence[Any] | None = None,
    units: Mapping[str, Any] | None = None,
    counts: Any = None,
    gains: Any = None,
    rate: float | None = None,
    gap: float | None = None,
    mend: bool = True,
) -> Log:
    """What the sensors of a robot measured, in SI units at even instants; `notes` say what was guessed and mended.

    Args:
        source: a .csv, .txt, .dat, .npz, .parquet or .mat file, a ROS bag (.bag, .db3, a folder) or an MCAP file, a
            pandas DataFrame, or columns by name; a list of them gives further runs; a mapping of channels to files has
            each channel in a file of its own: {"t": "time.txt", "q": "positions.txt", "tau": "torques.txt"}.
        robot: whose joints the columns name. Its positions must be there, all else may be; where drives follow, as the
            legs of a platform do, positions of the drives do as well. Without a robot the log is of turning joints
            with the names in the file, to look at.
        columns: which column is what, by name or pattern: {"actual_q_*": "q", "target_current_*": "current",
            "stamp": "t", "ft.z": "wrench.tool.fz"}; `*` runs over the joints, by name or in the robot's order; None
            leaves a column out. Columns `t`, `q.elbow`, `qd.elbow`, `tau.elbow`, `current.elbow` need no mention, and
            common spellings are guessed. For files without a header the channels in order: ["t", "q", "tau"], in
            which None is a column to leave out, and `...` at the end all that follow.
        units: by channel or column: "deg", "rpm", "turn", "ticks", "mA", "mm", "ms", "us", "ns", ...; or a factor, one
            for each column, or a matrix that takes the file's columns to ours, as for a coupled wrist. A name in the
            file may also end in its unit, as `q.elbow [deg]`.
        counts: of ticks in a turn, one or one for each joint.
        gains: torque by current, in N m/A, one or one for each drive, in order or by name.
        rate: samples a second, for files without times.
        gap: the longest pause in s that is filled by interpolation; at longer ones the log is split into runs.
        mend: shift measured velocities by the delay that they have behind the positions; stamps are mended anyway.
    """
    named = isinstance(columns, (list, tuple)) and all(isinstance(x, str | None) or x is ... for x in columns)
    if not (columns is None or named or isinstance(columns, Mapping)):
        raise InputError(f"columns: expected names by pattern, or channels in order, got {columns!r}.")
    if not (units is None or isinstance(units, Mapping)):
        raise InputError(f"units: expected units by channel, as in {{'q': 'deg'}}, got {units!r}.")
    pause = None if gap is None else positive(gap, "gap")
    options = Options(columns, units or {}, counts, gains, rate, pause, mend)
    if robot is None:
        robot = _stand_in(source[0] if isinstance(source, (list, tuple)) and source else source, options)
    if not isinstance(robot, Robot):
        raise InputError(f"read_log robot: expected a Robot, got {type(robot).__name__}. Load it with lw.load.")
    if isinstance(source, (list, tuple)):
        if not source:
            raise InputError("read_log: expected at least one file, got an empty list.")
        return reduce(followed, [_read(one, robot, options) for one in source])
    return _read(source, robot, options)


def _read(source: Any, robot: Robot, options: Options) -> Log:
    try:
        return _by_joints(source, robot, options)
    except InputError:
        if robot.rolls or set(robot.drives) <= set(robot.slots):
            raise
        log = _by_drives(source, robot, options)
        if log is None:
            raise
        return log


def _by_joints(source: Any, robot: Robot, options: Options) -> Log:
    """The log of positions of what leads."""
    found = tables(source, robot, options)
    parts = [part_of(table, quantity, robot, options) for table, quantity in found]
    note = ""
    motors = [name for name in robot.coordinates if name not in robot.names]
    if motors and not any(f"q.{name}" in part.channels for part in parts for name in motors):
        robot, note = (
            robot.rigid(),
            "motors behind springs were not measured: the log is of the robot with rigid drives",
        )
        parts = [part_of(table, quantity, robot, options) for table, quantity in found]
    known = {key for part in parts for key in part.keys}
    for key in options.units:
        if key not in known:
            raise UnknownNameError("channel or column", key, sorted(known))
    parts = together(parts, options.rate, robot)
    main = next((part for part in parts if all(name in part.channels for name in channel_names(robot, "q"))), None)
    if main is None:
        raise no_positions(parts, robot)
    log = assembled(main, [part for part in parts if part is not main], robot, options.gap)
    return checked(replace(log, notes=(*log.notes, *([note] if note else []))), options.mend)


def _by_drives(source: Any, robot: Robot, options: Options) -> Log | None:
    """The log of positions of drives that follow, as the legs of a platform do; None where there are none."""
    opened = robot.opened()
    kinds = [(name, opened.joint(name).kind) for name in robot.drives]
    chain = ["base", *(f"link {name}" for name, _ in kinds)]
    joints = [Joint(name, chain[k], chain[k + 1], kind) for k, (name, kind) in enumerate(kinds)]
    serial = Robot([Link(name, mass=1.0) for name in chain], joints, name=robot.name)
    try:
        log = _by_joints(source, serial, options)
    except InputError:
        return None
    found = compile(robot).positions(drives=log.q, along=True)
    if not found.converged.all():
        bad = int(np.argmin(found.converged))
        raise InputError(
            f"log of {robot.name!r}: expected positions of the drives that its loops allow, got some at"
            f" t = {log.t[bad]:.6g} s that they do not. Check units, signs and zeros of the encoders."
        )
    lead = [slice(opened.slots[name].q, opened.slots[name].q + slot.nq) for name, slot in robot.slots.items()]
    q = np.concatenate([found.q[:, part] for part in lead], axis=1)
    note = f"positions of {', '.join(robot.names)} follow from those of the drives"
    return replace(log, robot=robot, q=q, qd=None, notes=(*log.notes, note))


def _stand_in(source: Any, options: Options) -> Robot:
    """Turning joints with the names that a file has for them."""
    given = options.columns if isinstance(options.columns, Mapping) else {}
    found = tables(source, Robot([Link("base")], name="log"), options)
    named = [without_units(table)[0] for table, quantity in found if quantity in ("", "q")]
    names = dict.fromkeys(name for table in named for name in table.columns if name not in table.faults)
    joints = list(dict.fromkeys(joints_among(list(names), given)))
    if not joints:
        raise InputError("log: expected columns of positions, got none. Give a robot, or say which columns they are.")
    chain = ["base", *(f"link {name}" for name in joints)]
    return Robot(
        [Link(name, mass=1.0) for name in chain],
        [Joint(name, chain[k], chain[k + 1], "continuous") for k, name in enumerate(joints)],
        name="log",
    )
