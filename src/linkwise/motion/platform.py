"""Columns of a platform without the name of its joint: x, y, z, turns in several forms, velocities in world axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwise.errors import listing
from linkwise.motion.columns import endings
from linkwise.motion.trajectory import Array
from linkwise.robot.joint import Kind
from linkwise.robot.robot import Robot
from linkwise.table import TIME, Table

WORLD = {"qd": "velocity", "qdd": "acceleration"}  # names of what is in world axes
QUATERNION = ("qx", "qy", "qz", "qw")
TURNS = (QUATERNION, ("rx", "ry", "rz"), ("roll", "pitch", "yaw"))  # in which a file may say turns


def of_platform(table: Table, robot: Robot) -> Table:
    """The table, its columns named after the only joint that leads, where that has several numbers.

    Columns `x`, `rx`, `velocity.vx`, ... become `q.platform.x`, `q.platform.qx`, `qd.platform.vx`, ... A rotation
    vector rx, ry, rz (rad) or angles roll, pitch, yaw about fixed x, y, z in that order become a quaternion. Velocities
    and accelerations in world axes become those in the axes of the joint, in which a floating one turns:

        v = R^T v_world,   v_dot = R^T a_world - omega x v
    """
    if len(robot.slots) != 1:
        return table
    ((joint, slot),) = robot.slots.items()
    if "x" not in slot.kind.positions:
        return table
    table = _named(table, joint, slot.kind)
    if slot.kind.curved:
        table = _with_quaternions(table, f"q.{joint}.")
    for key, word in WORLD.items():
        table = _in_own_axes(table, joint, slot.kind, key, word)
    return table


def _named(table: Table, joint: str, kind: Kind) -> Table:
    """Positions with the name of their joint."""
    parts = {*kind.positions, *(c for form in TURNS for c in form if kind.curved)}
    names: dict[str, str] = {}  # by the new name
    for name in table.columns:
        bare = name.removeprefix("pose.").removeprefix(f"{joint}.")
        full = f"q.{joint}.{bare}" if bare in parts and name not in TIME else name
        if full in names:
            raise table.error(f"expected each column once, got {names[full]!r} and {name!r}. Remove one.")
        names[full] = name
    columns = {full: table.columns[name] for full, name in names.items()}
    faults = {full: table.faults[name] for full, name in names.items() if name in table.faults}
    return replace(table, columns=columns, faults=faults)


def _with_quaternions(table: Table, prefix: str) -> Table:
    """Turns as unit quaternions x, y, z, w, in whichever form the table has them."""
    given = [form for form in TURNS if any(f"{prefix}{c}" in table for c in form)]
    if len(given) > 1:
        got = " and ".join(", ".join(form) for form in given)
        raise table.error(f"expected the platform's turn in one form, got {got}. Give one of them.")
    if not given or given[0] == QUATERNION:
        return table
    form = given[0]
    if lost := [c for c in form if f"{prefix}{c}" not in table]:
        raise table.error(f"expected columns {', '.join(form)}, got none for {listing(lost)}. Add them.")
    from scipy.spatial.transform import Rotation

    angles = table.stacked([f"{prefix}{c}" for c in form])
    turn = Rotation.from_rotvec(angles) if form[0] == "rx" else Rotation.from_euler("xyz", angles)
    columns = {name: column for name, column in table.columns.items() if name.removeprefix(prefix) not in form}
    names = [f"{prefix}{c}" for c in QUATERNION]
    return replace(table, columns=columns | dict(zip(names, turn.as_quat().T, strict=True)))


def _in_own_axes(table: Table, joint: str, kind: Kind, key: str, word: str) -> Table:
    """Velocities or accelerations in world axes as those of the joint; without positions, which are missed, as is."""
    wanted = [f"{word}.{part}" for part in kind.velocities]
    names = {k: [f"{k}.{joint}{end}" for end in endings(kind, k)] for k in ("q", *WORLD)}
    lost = [name for name in wanted if name not in table]
    if len(lost) == len(wanted) or not all(name in table for name in names["q"]):
        return table
    if lost:
        raise table.error(f"expected all columns of {word} or none, got none for {listing(lost)}. Add them.")
    if any(name in table for name in names[key]):
        raise table.error(f"expected {names[key][0]!r} or {wanted[0]!r}, got both. Give one of them.")
    if key == "qdd" and kind.curved and names["qd"][0] not in table:
        raise table.error(f"expected columns {WORLD['qd']}.* beside {word}.*, got none. Add them.")
    x = table.stacked(wanted)
    if kind.curved:
        x = _turned_back(x, table.stacked(names["q"][-4:]))
        if key == "qdd":
            v = table.stacked(names["qd"])
            x[:, :3] -= np.cross(v[:, 3:], v[:, :3])
    columns = {name: column for name, column in table.columns.items() if name not in wanted}
    return replace(table, columns=columns | dict(zip(names[key], x.T, strict=True)))


def _turned_back(x: Array, quaternion: Array) -> Array:
    """Linear and angular parts (rows, 6) in the axes of a joint that is turned."""
    from scipy.spatial.transform import Rotation

    back = Rotation.from_quat(quaternion).inv()
    return np.hstack([back.apply(x[:, :3]), back.apply(x[:, 3:])])
