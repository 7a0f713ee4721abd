"""NumPy archives: arrays t, q, qd, qdd, qddd with a row for each sample, and perhaps `names`, the joints in order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import UnknownNameError
from linkwise.files import arrays, reading
from linkwise.motion.columns import MOTION, TIME, Columns, endings
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot

KNOWN = (*TIME, *MOTION, "names")
# what a file of results holds beside a motion
RESULTS = ("tau", "tau_dot", "wrench", "wrench_dot", "links", "cut", "cut_dot", "loops", "energy", "meta")


class ArrayColumns(Columns):
    """The columns of arrays with a row for each sample."""

    def __init__(self, path: Path) -> None:
        self.file = self.header = path.name
        with reading(path, "expected arrays of numbers as numpy.savez writes them, got no such file.") as file:
            self.arrays = arrays(file)
        self._columns: dict[str, Array] = {}
        for key in TIME:
            if key in self.arrays:
                self._columns[key] = self._numbers(key).reshape(-1)

    def _refuse_unknown(self, known: Sequence[str], results: Sequence[str]) -> None:
        for key in self.arrays:
            if key not in known and key not in results:
                raise self.error(str(UnknownNameError("array", key, known)))

    def _numbers(self, key: str) -> Array:
        array = self.arrays[key]
        if array.dtype.kind not in "biuf":
            raise self.error(f"array {key!r}: expected real numbers, got {array.dtype}.")
        return np.asarray(array, dtype=float)

    def _split(self, key: str, names: list[str]) -> None:
        """Take an array apart into columns of these names."""
        array = self._numbers(key)
        if array.ndim == 1 and len(names) == 1:
            array = array[:, None]
        if array.ndim != 2 or array.shape[1] != len(names):
            raise self.error(
                f"array {key!r}: expected the shape (rows, {len(names)}), got {array.shape}."
                f" Its columns are {', '.join(names)}."
            )
        self._columns.update(zip(names, array.T, strict=True))

    def _check_lengths(self) -> None:
        lengths = {name: len(column) for name, column in self._columns.items()}
        if len(set(lengths.values())) > 1:
            rows = ", ".join(f"{k} {v}" for k, v in {n.split(".")[0]: r for n, r in lengths.items()}.items())
            raise self.error(f"expected arrays with as many rows each, got {rows}.")

    def names(self) -> list[str]:
        return list(self._columns)

    def column(self, name: str) -> Array:
        return self._columns[name]

    def place(self, name: str, row: int) -> str:
        return f"{self.file}, {name.split('.')[0]}[{row}]"


class NpzColumns(ArrayColumns):
    """The columns of arrays, named by the array and the joint; joints come in the order of `names` or the robot's."""

    def __init__(self, path: Path, robot: Robot, ignore_extra: bool) -> None:
        super().__init__(path)
        if not ignore_extra:
            self._refuse_unknown(KNOWN, RESULTS)
        joints = self._joints(self.arrays.get("names"), robot, self.arrays.get("q"), ignore_extra)
        for key in MOTION:
            if key in self.arrays:
                self._split(key, _column_names(key, joints, robot))
        self._check_lengths()

    def _joints(self, names: Any, robot: Robot, q: Any, ignore_extra: bool) -> list[str]:
        if names is None:
            motors = len(robot.coordinates) - len(robot.names)
            alone = np.ndim(q) == 2 and q.shape[1] == robot.nq - motors
            return list(robot.names if alone else robot.coordinates)
        joints = [str(n) for n in np.atleast_1d(names)]
        known = {*(j.name for j in robot.joints), *robot.coordinates}
        for n in joints:
            if n not in known and not ignore_extra:
                raise self.error(
                    f"names: {UnknownNameError('joint', n, robot.coordinates)}"
                    " Remove it, or ask to ignore extra columns (--ignore-extra)."
                )
            if joints.count(n) > 1:
                raise self.error(f"names: expected each joint once, got {n!r} twice.")
        return joints


def _column_names(key: str, joints: list[str], robot: Robot) -> list[str]:
    names = []
    for joint in joints:
        slot = robot.slots.get(joint)  # none for a joint that is locked, which has a column all the same
        ends = endings(slot.kind, key) if slot else [""]
        names += [f"{key}.{joint}{end}" for end in ends]
    return names
