"""Motions and their torques into files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.files import replacing, write_csv
from linkwise.motion.columns import MOTION, WRENCH, column_names
from linkwise.motion.trajectory import Array, Trajectory
from linkwise.robot.robot import Robot

SUFFIXES = (".csv", ".npz")


def write(
    path: str | PathLike[str],
    robot: Robot,
    motion: Trajectory,
    tau: Array | None = None,
    wrench: Array | None = None,
    meta: Mapping[str, Any] | None = None,
    tau_dot: Array | None = None,
    wrench_dot: Array | None = None,
    cut: Array | None = None,
    cut_dot: Array | None = None,
) -> None:
    """A motion, its torques, joint wrenches and their rates into a .csv or .npz file that `read` takes back.

    Args:
        path: the file, replaced as a whole once all is written.
        robot: whose joints name the columns.
        motion: the samples, of what leads or of all joints of `robot.opened()`.
        tau: (rows, nu), of the drives.
        wrench: (rows, links that move, 6), as `joint_wrenches` gives it.
        meta: facts to keep in an .npz file, as JSON under the name `meta`.
        tau_dot: (rows, nu).
        wrench_dot: (rows, links that move, 6).
        cut: (rows, loops, 6), through cut joints.
        cut_dot: (rows, loops, 6).
    """
    arrays: dict[str, Any] = {"t": motion.t, "q": motion.q, "qd": motion.qd, "qdd": motion.qdd}
    optional = {"qddd": motion.qddd, "tau": tau, "tau_dot": tau_dot, "wrench": wrench, "wrench_dot": wrench_dot}
    optional |= {"cut": cut, "cut_dot": cut_dot}
    arrays |= {k: v for k, v in optional.items() if v is not None}
    names: dict[str, list[str]] = {}
    moving = robot.opened() if motion.q.shape[1] == robot.opened().nq else robot
    for key in arrays:
        if key.startswith(("wrench", "cut")):
            through = robot.moving_links if key.startswith("wrench") else [loop.name for loop in robot.loops]
            names[key] = [f"{key}.{name}.{c}" for name in through for c in WRENCH]
        else:
            names[key] = column_names(moving if key in MOTION else robot, key) if key != "t" else [key]
    facts: dict[str, Any] = {
        "names": list(moving.coordinates),
        "links": list(robot.moving_links),
        **({"loops": [loop.name for loop in robot.loops]} if cut is not None else {}),
        "meta": json.dumps(dict(meta or {})),
    }
    write_arrays(path, arrays, names, facts)


def write_arrays(
    path: str | PathLike[str], arrays: Mapping[str, Array], names: Mapping[str, list[str]], facts: Mapping[str, Any]
) -> None:
    """Arrays with a row for each sample into a .csv file, as columns of these names, or with facts into an .npz."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{Path(path).name}: expected a .csv or .npz file, got {suffix or 'no suffix'}.")
    with replacing(path) as part:
        if suffix == ".npz":
            every: dict[str, Any] = {**facts, **arrays}
            np.savez(part, **every)
        else:
            table = np.hstack([array.reshape(len(array), -1) for array in arrays.values()])
            write_csv(part, dict(zip((name for key in arrays for name in names[key]), table.T, strict=True)))
