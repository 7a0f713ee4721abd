"""Numbers of tables that look like something else: degrees, millimetres, another order of the columns.

They are questioned, not refused: the robot is made as the table says, and `robot.diagnostics` asks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from linkwise.robot.diagnose import LONG

Note = tuple[str, str, str]

TURN = 2.0 * math.pi * (1.0 + 1e-9)
WRITTEN = 5e-4  # by which 1.571 is off pi / 2
# columns as books have them, for rows of four numbers
ORDERS = ("alpha a d theta", "a alpha d theta", "alpha a theta d", "a d alpha theta", "theta alpha a d")


def questions(
    rows: Sequence[Any], angles: Sequence[str], lengths: Sequence[str], unit: str, listed: bool
) -> list[Note]:
    """What looks odd about the rows of a table, whose angles are in rad by now.

    Args:
        rows: of the table.
        angles, lengths: names of the columns of each kind.
        unit: of the angles that were given, "radians" or "degrees".
        listed: whether the rows were sequences, whose columns are known by their order alone.
    """
    found = [*_of_angles(rows, angles, unit), *_of_lengths(rows, lengths)]
    order = _likely_order(rows) if listed else None
    if order:
        found.append(
            f"its rows look like ({order.replace(' ', ', ')}), but are read as (theta, d, a, alpha)."
            f" If so, say order='{order}'."
        )
    return [("warning", "table", text) for text in found]


def _of_angles(rows: Sequence[Any], angles: Sequence[str], unit: str) -> Iterator[str]:
    values = [(k, name, getattr(row, name)) for k, row in enumerate(rows, start=1) for name in angles]
    if unit == "radians":
        wide = [(k, name, x) for k, name, x in values if abs(x) > TURN]
        for k, name, x in wide[:1]:
            more = f", and {len(wide) - 1} more," if len(wide) > 1 else ""
            yield f"{name} = {x:g} rad in row {k}{more} is more than a turn. If that is degrees, say angles='degrees'."
        return
    small = [(k, name, math.degrees(x)) for k, name, x in values if x]
    right = [v for v in small if is_right(v[2])]
    if right and all(abs(x) < 7.0 for _, _, x in small):
        k, name, x = right[0]
        yield f"{name} = {x:g} degrees in row {k} looks like radians. If so, leave angles='degrees' out."


def _of_lengths(rows: Sequence[Any], lengths: Sequence[str]) -> Iterator[str]:
    long = [(k, name, getattr(row, name)) for k, row in enumerate(rows, start=1) for name in lengths]
    for k, name, x in [v for v in long if abs(v[2]) > LONG and not looks_right(v[2])][:1]:
        yield f"{name} = {x:g} m in row {k} is long. If that is millimetres, divide by 1000."


def is_right(x: float) -> bool:
    """Whether a number looks like a right angle, or several, in rad."""
    turns = x / (0.5 * math.pi)
    return 0.5 < abs(turns) < 4.5 and abs(x - 0.5 * math.pi * round(turns)) < WRITTEN


def looks_right(x: float) -> bool:
    """Whether it does in rad or in degrees."""
    return is_right(x) or abs(x) in (90.0, 180.0, 270.0)


def _likely_order(rows: Sequence[Any]) -> str | None:
    """The order that rows read as (theta, d, a, alpha) may have been written in, if that is another one."""
    table = [(row.theta, row.d, row.a, row.alpha) for row in rows]
    lengths = [x for _, d, a, _ in table for x in (d, a)]
    if any(map(looks_right, lengths)):
        return min(ORDERS, key=lambda order: _oddities(table, order.split()))
    # of all axes parallel, but turned at right angles against each other: columns written backwards
    turned = sum(looks_right(theta) for theta, *_ in table)
    return ORDERS[0] if turned > 1 and not any(alpha for *_, alpha in table) else None


def _oddities(table: Sequence[Sequence[float]], order: Sequence[str]) -> int:
    """How many numbers would be odd if the columns had this order: right angles as lengths, lengths as angles."""
    count = 0
    for row in table:
        for name, x in zip(order, row, strict=True):
            angle = x == 0.0 or looks_right(x)
            count += (not angle) if name in ("theta", "alpha") else (angle and x != 0.0)
    return count
