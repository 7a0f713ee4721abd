"""Motions and their torques into files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.files import replacing
from linkwise.robot.robot import Robot
from linkwise.trajectory.columns import WRENCH, column_names
from linkwise.trajectory.trajectory import Array, Trajectory

SUFFIXES = (".csv", ".npz")


def write(
    path: str | PathLike[str],
    robot: Robot,
    motion: Trajectory,
    tau: Array | None = None,
    wrench: Array | None = None,
    meta: Mapping[str, Any] | None = None,
) -> None:
    """A motion, its torques and joint wrenches into a .csv or .npz file that `read` takes back.

    Args:
        path: the file, replaced as a whole once all is written.
        robot: whose joints name the columns.
        motion: the samples.
        tau: (rows, nv).
        wrench: (rows, links that move, 6), as `joint_wrenches` gives it.
        meta: facts to keep in an .npz file, as JSON under the name `meta`.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{Path(path).name}: expected a .csv or .npz file, got {suffix or 'no suffix'}.")
    arrays: dict[str, Any] = {"t": motion.t, "q": motion.q, "qd": motion.qd, "qdd": motion.qdd}
    arrays |= {k: v for k, v in (("tau", tau), ("wrench", wrench)) if v is not None}
    with replacing(path) as part:
        if suffix == ".npz":
            facts: dict[str, Any] = {
                "names": list(robot.names),
                "links": list(robot.moving_links),
                "meta": json.dumps(dict(meta or {})),
            }
            np.savez(part, **facts, **arrays)
        else:
            _write_csv(part, robot, arrays)


def _write_csv(path: Path, robot: Robot, arrays: dict[str, Array]) -> None:
    names = ["t"]
    for key in ("q", "qd", "qdd", "tau"):
        names += column_names(robot, key) if key in arrays else []
    if "wrench" in arrays:
        names += [f"wrench.{link}.{c}" for link in robot.moving_links for c in WRENCH]
    table = np.hstack([array.reshape(len(array), -1) for array in arrays.values()])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(table.tolist())
