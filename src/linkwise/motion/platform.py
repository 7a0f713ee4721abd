"""Columns of a platform without the name of its joint: x, y, z, turns in several forms, velocities in world axes."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from linkwise.errors import listing
from linkwise.motion.columns import TIME, Columns, endings
from linkwise.motion.trajectory import Array
from linkwise.robot.joint import Kind
from linkwise.robot.robot import Robot

WORLD = {"qd": "velocity", "qdd": "acceleration"}  # names of what is in world axes
QUATERNION = ("qx", "qy", "qz", "qw")
TURNS = (QUATERNION, ("rx", "ry", "rz"), ("roll", "pitch", "yaw"))  # in which a file may say turns


def of_platform(table: Columns, robot: Robot) -> Columns:
    """The table, its columns named after the only joint that leads where that has several numbers."""
    if len(robot.slots) != 1:
        return table
    ((joint, slot),) = robot.slots.items()
    return PlatformColumns(table, joint, slot.kind) if "x" in slot.kind.positions else table


class PlatformColumns(Columns):
    """Columns `x`, `rx`, `velocity.vx`, ... as `q.platform.x`, `q.platform.qx`, `qd.platform.vx`, ...

    A rotation vector rx, ry, rz (rad) or angles roll, pitch, yaw about fixed x, y, z in that order become a quaternion.
    Velocities and accelerations in world axes become those in the axes of the joint, in which a floating one turns:

        v = R^T v_world,   v_dot = R^T a_world - omega x v
    """

    def __init__(self, table: Columns, joint: str, kind: Kind) -> None:
        self.file, self.header = table.file, table.header
        self._table, self._kind = table, kind
        self._names = {key: [f"{key}.{joint}{end}" for end in endings(kind, key)] for key in ("q", "qd", "qdd")}
        self._own = {n: n for n in table.names()}  # a name that is asked for, and the one in the file
        self._turn: tuple[str, ...] = QUATERNION
        self._rename(f"{joint}.")
        if kind.curved:
            self._find_turn(f"q.{joint}.")
        for key, word in WORLD.items():
            self._find_world(key, word)

    def _rename(self, prefix: str) -> None:
        forms = [c for form in TURNS for c in form] if self._kind.curved else []
        for name in self._table.names():
            bare = name.removeprefix("pose.")
            if bare in (*self._kind.positions, *forms) and name not in TIME:
                full = f"q.{prefix}{bare}"
                for other in (full, f"{prefix}{bare}"):
                    if other in self._own:
                        both = f"{self._own[other]!r} and {name!r}"
                        raise self.error(f"expected each column once, got {both}. Remove one.")
                del self._own[name]
                self._own[full] = name

    def _find_turn(self, prefix: str) -> None:
        given = [form for form in TURNS if any(f"{prefix}{c}" in self._own for c in form)]
        if len(given) > 1:
            got = " and ".join(", ".join(form) for form in given)
            raise self.error(f"expected the platform's turn in one form, got {got}. Give one of them.")
        if not given or given[0] == QUATERNION:
            return
        self._turn = given[0]
        lost = [c for c in self._turn if f"{prefix}{c}" not in self._own]
        if lost:
            raise self.error(f"expected columns {', '.join(self._turn)}, got none for {listing(lost)}. Add them.")
        self._angles = [self._own.pop(f"{prefix}{c}") for c in self._turn]
        self._own |= {f"{prefix}{c}": self._angles[-1] for c in QUATERNION}

    def _find_world(self, key: str, word: str) -> None:
        """Columns in world axes, all of one quantity; without positions, which the reader misses, they are left."""
        wanted = [f"{word}.{part}" for part in self._kind.velocities]
        found = [n for n in wanted if n in self._own]
        if not found:
            return
        if len(found) < len(wanted):
            lost = [n for n in wanted if n not in found]
            raise self.error(f"expected all columns of {word} or none, got none for {listing(lost)}. Add them.")
        if any(n in self._own for n in self._names[key]):
            raise self.error(f"expected {self._names[key][0]!r} or {wanted[0]!r}, got both. Give one of them.")
        if key == "qdd" and self._kind.curved and self._names["qd"][0] not in self._own:
            raise self.error(f"expected columns {WORLD['qd']}.* beside {word}.*, got none. Add them.")
        for full, name in zip(self._names[key], wanted, strict=True):
            del self._own[name]
            self._own[full] = name

    def names(self) -> list[str]:
        return list(self._own)

    def column(self, name: str) -> Array:
        if self._turn is not QUATERNION and name in self._names["q"][3:]:
            return self._quaternions[:, self._names["q"].index(name) - 3]
        for key in WORLD:
            if name in self._names[key] and self._own[name].startswith(f"{WORLD[key]}.") and self._kind.curved:
                return self._in_own_axes[key][:, self._names[key].index(name)]
        return self._table.column(self._own[name])

    def place(self, name: str, row: int) -> str:
        return self._table.place(self._own[name], row)

    @cached_property
    def _quaternions(self) -> Array:
        """Unit quaternions x, y, z, w of turns that the file says otherwise."""
        from scipy.spatial.transform import Rotation

        angles = np.stack([self._table.column(n) for n in self._angles], axis=1)
        angles[~np.isfinite(angles)] = np.nan  # which the reader refuses by its row
        turn = Rotation.from_rotvec(angles) if self._turn[0] == "rx" else Rotation.from_euler("xyz", angles)
        return np.asarray(turn.as_quat())

    @cached_property
    def _in_own_axes(self) -> dict[str, Array]:
        """Velocities and accelerations of a floating joint in its own axes."""
        from scipy.spatial.transform import Rotation

        back = Rotation.from_quat(np.stack([self.column(n) for n in self._names["q"][3:]], axis=1)).inv()
        found: dict[str, Array] = {}
        for key in WORLD:
            names = self._names[key]
            if names[0] not in self._own:
                continue
            x = np.stack([self._table.column(self._own[n]) for n in names], axis=1)
            if self._own[names[0]].startswith(f"{WORLD[key]}."):
                x = np.hstack([back.apply(x[:, :3]), back.apply(x[:, 3:])])
                if key == "qdd":
                    v = found["qd"]
                    x[:, :3] -= np.cross(v[:, 3:], v[:, :3])
            found[key] = x
        return found
