"""Units of a motion's columns: named in their heads, given for the whole table, or questioned."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import degrees, isfinite, pi, radians
from typing import Any

import numpy as np

from linkwise.errors import InputError, UnknownNameError
from linkwise.motion.columns import MOTION, column_names, endings
from linkwise.motion.platform import TURNS
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot
from linkwise.table import TIME, Table

ANGLES = ("radians", "degrees")
DEGREE = radians(1.0)
UNITS = {
    "rad": 1.0, "deg": DEGREE, "degree": DEGREE, "degrees": DEGREE, "°": DEGREE, "turn": 2.0 * pi, "turns": 2.0 * pi,
    "rev": 2.0 * pi, "rpm": pi / 30.0, "m": 1.0, "mm": 1e-3, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9,
    "A": 1.0, "mA": 1e-3, "Nm": 1.0, "N m": 1.0, "mNm": 1e-3, "N": 1.0,
}  # fmt: skip
TURNING = ("deg", "degree", "degrees", "°", "turn", "turns", "rev", "rpm")  # units of angles, or of their rates
TICKS = ("ticks", "tick", "counts", "count")
HEAD = re.compile(
    r"(.*\S)\s*[\[(]\s*(rad|deg|degrees?|°|turns?|rev|rpm|mm?|[mun]?s|m?A|m?Nm|N m|N)"
    r"(\s*/\s*s(?:\^?[23]|²|³)?)?\s*[\])]"
)
FAR = 4.0 * pi  # rad, beyond which a joint with limits hardly ever goes
FARTHER = 3.0  # times its limit, of which degrees are 57 for each rad


def in_si(table: Table, robot: Robot, angles: str) -> Table:
    """The table in rad, m and s, its columns without the units that their names end in, as "elbow [deg]".

    Where `angles` says "degrees", angles and their rates without a unit of their own are in degrees.
    """
    if angles not in ANGLES:
        raise InputError(f"angles: expected 'radians' or 'degrees', got {angles!r}.")
    turning = set(_angles(robot)) if angles == "degrees" else set()
    known = {name for key in MOTION for name in column_names(robot.opened(), key)} | set(TIME)
    names: dict[str, str] = {}  # by the new name
    columns, faults = {}, {}
    for name, column in table.columns.items():
        head = None if name in known or f"q.{name}" in known else HEAD.fullmatch(name)
        bare, unit = (head[1], head[2]) if head else (name, "")
        if bare in names:
            raise table.error(f"expected each column once, got {names[bare]!r} and {name!r}. Remove one.")
        names[bare] = name
        factor = UNITS[unit] if unit else DEGREE if bare in turning else 1.0
        columns[bare] = column * factor if factor != 1.0 else column
        if name in table.faults:
            faults[bare] = table.faults[name]
    return replace(table, columns=columns, faults=faults)


def without_units(table: Table) -> tuple[Table, dict[str, float]]:
    """The table without the units that names end in, and by its new names the factors that take columns to SI units."""
    heads = {name: HEAD.fullmatch(name) for name in table.columns}
    bare = Counter(head[1] if head else name for name, head in heads.items())
    names = {name: head[1] if head and bare[head[1]] == 1 else name for name, head in heads.items()}
    columns = {names[name]: column for name, column in table.columns.items()}
    faults = {names[name]: fault for name, fault in table.faults.items()}
    told = {names[name]: UNITS[head[2]] for name, head in heads.items() if head and names[name] != name}
    return replace(table, columns=columns, faults=faults), told


def factors(key: str, unit: Any, names: Sequence[str], robot: Robot, counts: Any) -> Array:
    """What takes columns to SI units: a factor for each, or a matrix.

    Args:
        key: what the unit is of, for messages.
        unit: by name, or the factor, one for each column, or a matrix.
        names: of the columns, as the robot has them; only angles turn in degrees.
        robot: whose joints they name.
        counts: of ticks in a turn, one or one for each column.
    """
    if isinstance(unit, str):
        base = unit.partition("/")[0].strip()
        if base in TICKS:
            if counts is None:
                raise InputError(f"units {key!r}: expected the number of ticks in a turn as `counts`, got none.")
            return 2.0 * pi / _numbers(f"counts of {key!r}", counts, len(names))
        if base not in UNITS:
            raise InputError(f"units {key!r}: {UnknownNameError('unit', unit, (*UNITS, *TICKS[::2]))}")
        turning = set(_angles(robot)) if base in TURNING else set(names)
        return np.array([UNITS[base] if name in turning or "." not in name else 1.0 for name in names])
    return _numbers(f"units {key!r}", unit, len(names))


def _numbers(what: str, value: Any, width: int) -> Array:
    """One number, so many, or a square matrix of them."""
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected numbers or a unit's name, got {value!r}.") from error
    if found.shape not in ((), (width,), (width, width)) or not np.isfinite(found).all() or not found.any():
        raise InputError(f"{what}: expected a number, {width} of them or a matrix, got an array of {found.shape}.")
    return found


def _angles(robot: Robot) -> Iterator[str]:
    """The names of all columns that are angles, or rates of angles; a quaternion is none."""
    slots = robot.opened().slots
    for joint, slot in slots.items():
        kind = slot.kind
        for key in MOTION:
            if key == "q" and kind.curved:
                continue
            for end, length in zip(endings(kind, key), kind.lengths, strict=True):
                if not length:
                    yield f"{key}.{joint}{end}"
                    if key == "q":
                        yield f"{joint}{end}"
    if len(robot.slots) == 1:  # a platform, whose name may be left out
        ((joint, slot),) = robot.slots.items()
        turns = [part for form in TURNS[1:] for part in form] + [p for p in slot.kind.positions if p == "angle"]
        for part in turns:
            yield from (f"{start}{part}" for start in ("", "pose.", f"{joint}.", f"q.{joint}."))
        for word in ("velocity", "acceleration"):
            yield from (
                f"{word}.{v}" for v, length in zip(slot.kind.velocities, slot.kind.lengths, strict=True) if not length
            )


def degrees_question(robot: Robot, q: Array, remedy: str = "") -> str | None:
    """A remark where positions of joints leave their limits far behind, but would be within them as degrees."""
    worst: tuple[float, str, float] = (0.0, "", 0.0)
    for joint in robot.joints:
        slot, limits = robot.slots.get(joint.name), joint.limits
        if slot is None or not slot.kind.turns or not (isfinite(limits.lower) and isfinite(limits.upper)):
            continue
        x, slack = q[:, slot.q], 0.05 * (limits.upper - limits.lower)
        if np.any(x * DEGREE > limits.upper + slack) or np.any(x * DEGREE < limits.lower - slack):
            return None
        largest = float(x[np.argmax(np.abs(x))])
        if abs(largest) > max(FAR, FARTHER * max(abs(limits.lower), abs(limits.upper)), abs(worst[0])):
            worst = (largest, joint.name, limits.upper if largest > 0.0 else limits.lower)
    if not worst[1]:
        return None
    value, name, limit = worst
    remedy = remedy or f"--degrees, angles='degrees', or name the columns {name} [deg]"
    return (
        f"positions look like degrees: {name} is at {value:.4g} rad, its limit is {limit:.4g} rad, which is"
        f" {degrees(limit):.4g} degrees. If so, say {remedy}"
    )
