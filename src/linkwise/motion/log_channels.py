"""Channels of a robot in the tables of a log: named, in SI units, with their times."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from linkwise.check import finite, positive
from linkwise.errors import InputError, listing
from linkwise.motion.log_names import CHANNELS, Names, channel_names, match, numbered
from linkwise.motion.log_sources import Options
from linkwise.motion.log_times import in_seconds
from linkwise.motion.trajectory import Array
from linkwise.motion.units import factors, without_units
from linkwise.robot.robot import Robot
from linkwise.table import TIME, Table

ABSURD = 1e30  # in whatever unit, beyond which a number is none
MOSTLY = 0.5  # of a column's cells, which must be numbers
SECONDS = re.compile(r"(.*?)secs?")  # beside nanoseconds, as messages have stamps


class Part(NamedTuple):
    """Channels that were measured together.

    Attributes:
        source: file.
        t: (rows,) stamps in s from zero on, or None.
        start: what was zero, in s.
        channels: of the robot, by their full names, in SI units.
        others: whatever else.
        notes: in words.
        keys: what units may be of.
    """

    source: str
    t: Array | None
    start: float
    channels: dict[str, Array]
    others: dict[str, Array]
    notes: tuple[str, ...]
    keys: frozenset[str] = frozenset()


def part_of(table: Table, quantity: str, robot: Robot, options: Options) -> Part:
    """The channels of a robot in a table, whose columns are those of a quantity where they do not say another."""
    table, told = without_units(_with_stamps(table))
    given = options.columns if isinstance(options.columns, Mapping) else {}
    if quantity and quantity not in (*TIME, *CHANNELS):
        given = {name: quantity if len(table.columns) == 1 else f"{quantity}.{name}" for name in table.columns}
    elif quantity:
        given = {p: target for p, target in given.items() if p in table.columns}
    if quantity in TIME and len(table.columns) == 1:
        given = {next(iter(table.columns)): "t"}
    if "start" in table.facts:  # of a bag, where a pattern may be of another topic
        given = {p: target for p, target in given.items() if _fits(p, table)}
    try:
        names = match(list(table.columns), robot, given, quantity if quantity not in TIME else "")
    except InputError as error:
        raise table.error(str(error)) from error
    if not quantity and "t" not in names.found and options.rate is None and (rising := _rising(table, names.used)):
        note = f"taken for the time, since it alone rises from row to row: {rising}"
        names = names._replace(
            found={**names.found, "t": rising}, notes=(*names.notes, note), used={*names.used, rising}
        )
    values = {ours: _sane(table.columns[theirs]) for ours, theirs in names.found.items()}
    for ours, theirs in names.found.items():
        if theirs in table.faults and np.isfinite(values[ours]).mean() < MOSTLY:
            row, cell = table.faults[theirs]
            raise table.error(f"column {theirs!r}: expected a number, got {cell!r}.", theirs, row)
        if theirs in told:
            values[ours] = values[ours] * told[theirs]
    values = _in_si(values, names, robot, options)
    t = values.pop("t", None)
    start, notes = 0.0, (*table.notes, *names.notes)
    if t is not None:
        told_unit = "t" in (*names.units, *options.units) or names.found["t"] in (*told, *options.units)
        t, start, more = in_seconds(t, table.source, told_unit)
        notes = (*notes, *more)
    used = names.used
    texts = [name for name in table.columns if name not in used and name in table.faults]
    if texts:
        notes = (*notes, f"not used, since they are not numbers: {', '.join(texts)}")
    known = {name for key in CHANNELS for name in channel_names(robot, key)}
    channels = {name: x for name, x in values.items() if name in known}
    others = {name: x for name, x in values.items() if name not in known}
    rest = {name: x for name, x in table.columns.items() if name not in used and name not in table.faults}
    others |= {f"column {name}" if name in CHANNELS else name: x for name, x in rest.items()}
    keys = {key for ours, theirs in names.found.items() for key in _keys(ours, theirs)}
    return Part(table.source, t, start, channels, others, notes, frozenset(keys))


def _keys(ours: str, theirs: str) -> tuple[str, ...]:
    """What a unit of a column may be given for: itself, its channel, or its wrench."""
    return ours, theirs, ours.split(".")[0], *([ours.rpartition(".")[0]] if ours.startswith("wrench.") else [])


def _with_stamps(table: Table) -> Table:
    """The table with stamps whose seconds and nanoseconds are in two columns as one."""
    columns = dict(table.columns)
    for name in table.columns:
        if hit := SECONDS.fullmatch(name):
            parts = [hit[1] + word for word in ("nanosec", "nanosecs", "nsec", "nsecs") if hit[1] + word in columns]
            whole = hit[1].rstrip("._/ ") or "stamp"
            if parts and whole not in columns:
                columns[whole] = columns.pop(name) + 1e-9 * columns.pop(parts[0])
    return replace(table, columns=columns)


def _rising(table: Table, used: set[str]) -> str | None:
    """The one column that rises from row to row and counts no rows."""
    found = []
    for name, x in table.columns.items():
        if name not in used and len(x) > 2 and np.all((d := np.diff(x)) >= 0.0) and np.mean(d > 0.0) > MOSTLY:
            found += [name] * (not np.all(d == 1.0))
    return found[0] if len(found) == 1 else None


def _sane(x: Array) -> Array:
    """A column in which numbers that nobody measured are NaN."""
    return x if np.abs(x).max(initial=0.0) < ABSURD else np.where(np.abs(x) < ABSURD, x, np.nan)


def _fits(pattern: str, table: Table) -> bool:
    head = pattern.split("*")[0]
    return any(name.startswith(head) for name in table.columns)


def _in_si(values: dict[str, Array], names: Names, robot: Robot, options: Options) -> dict[str, Array]:
    """Channels in SI units, and torques by currents."""
    units = dict(names.units) | dict(options.units)
    found = dict(values)
    for key, unit in units.items():
        own = [name for name in values if key in _keys(name, names.found[name])]
        if key in CHANNELS:
            own = [name for name in channel_names(robot, key) if name in values]
        if not own:
            continue
        factor = factors(key, unit, own, robot, options.counts)
        if np.ndim(factor) == 2:
            whole = np.stack([values[name] for name in own], axis=1) @ np.asarray(factor).T
            found |= dict(zip(own, whole.T, strict=True))
        else:
            found |= {name: values[name] * f for name, f in zip(own, np.broadcast_to(factor, len(own)), strict=True)}
    if options.gains is not None:
        found |= _torques(found, robot, options.gains)
    return found


def _torques(found: Mapping[str, Array], robot: Robot, gains: Any) -> dict[str, Array]:
    """Torques of the drives whose currents and gains are known."""
    own = channel_names(robot, "current")
    drives = [name.removeprefix("current.") for name in own]
    if isinstance(gains, Mapping):
        if unknown := [name for name in gains if name not in drives]:
            raise InputError(f"gains: expected drives {listing(drives)}, got {unknown[0]!r}.")
        by = {name: finite(gain, f"gain of {name!r}") for name, gain in gains.items()}
    else:
        each = [finite(x, "gains") for x in np.atleast_1d(np.asarray(gains, dtype=object)).ravel().tolist()]
        if len(each) not in (1, len(drives)):
            raise InputError(f"gains: expected one number, or {len(drives)}, got {len(each)}.")
        by = dict(zip(drives, each * (len(drives) // len(each)), strict=True))
    return {
        f"tau.{name}": found[f"current.{name}"] * by[name]
        for name in drives
        if f"current.{name}" in found and name in by
    }


def together(parts: Sequence[Part], rate: float | None, robot: Robot) -> list[Part]:
    """Parts with times; those without share the rows of one that has nothing but times, or of each other."""
    timed = [part for part in parts if part.t is not None]
    loose = [part for part in parts if part.t is None]
    if not loose:
        return timed
    clock = [part for part in timed if not part.channels and not part.others]
    lengths = {len(x) for part in (*loose, *clock[:1]) for x in (*part.channels.values(), *part.others.values())}
    lengths |= {len(part.t) for part in clock[:1] if part.t is not None}
    if len(lengths) != 1:
        raise InputError(_other_rows(loose, clock[:1], robot))
    if clock:
        t, start, notes = clock[0].t, clock[0].start, clock[0].notes
    elif rate is not None:
        t, start, notes = np.arange(lengths.pop()) / positive(rate, "rate"), 0.0, ()
    else:
        raise InputError(
            f"{loose[0].source}: expected a column of times, such as 't', got none. Say which column it is, as in"
            " columns={'stamp': 't'}, or give the rate in samples a second."
        )
    channels = {name: x for part in loose for name, x in part.channels.items()}
    others = {name: x for part in loose for name, x in part.others.items()}
    notes = (*notes, *(note for part in loose for note in part.notes))
    joined = Part(" + ".join(part.source for part in loose[:3]), t, start, channels, others, notes)
    return [joined, *(part for part in timed if part not in clock)]


def _other_rows(loose: Sequence[Part], clock: Sequence[Part], robot: Robot) -> str:
    """What to say where files have different numbers of rows: perhaps a robot has joints that a log does not have."""
    rows = {part.source: len(next(iter((part.channels | part.others).values()))) for part in loose}
    times = [len(part.t) for part in clock if part.t is not None]
    rows |= {part.source: n for part, n in zip(clock, times, strict=False)}
    text = f"log: expected as many rows in each file, got {', '.join(f'{n} in {name}' for name, n in rows.items())}."
    own = [name.removeprefix("q.") for name in channel_names(robot, "q")]
    for part in loose:
        numbers = sum(map(len, part.channels.values()))
        if times and f"q.{own[0]}" in part.channels and numbers % times[0] == 0 and numbers != times[0] * len(own):
            count = numbers // times[0]
            text += f" Positions are {count} for each time, but the robot has {len(own)} joints."
            text += (
                f" Lock those that were not measured: robot.lock({own[count:]}), in a command {_locks(own[count:])}."
            )
    return text


def _locks(names: Sequence[str]) -> str:
    return " ".join(f"--lock {name}" for name in names)


def no_positions(parts: Sequence[Part], robot: Robot) -> InputError:
    own = channel_names(robot, "q")
    missing = [name for name in own if not any(name in part.channels for part in parts)] or own
    there = [name for part in parts for name in (*part.channels, *part.others)]
    lock = [name.removeprefix("q.") for name in missing]
    some = len(missing) < len(own)
    remedy = f", or lock those joints: robot.lock({lock}), {_locks(lock)}" if some and len(lock) < 8 else ""
    return InputError(
        f"{parts[0].source}: expected positions of all joints, got none for {listing(missing, 8)}. The columns are"
        f" {listing(there, 24)}.{'' if some else _other_count(there, robot)} Say which they are, as in"
        f" columns={{'position_*': 'q'}}, in a command --column 'position_*=q'{remedy}."
    )


def _other_count(there: Sequence[str], robot: Robot) -> str:
    """What to say where positions of another number of joints are there."""
    own = [name.removeprefix("q.") for name in channel_names(robot, "q")]
    for group in numbered(there, robot):
        names, apart = list(group.values()), len(group) - len(own)
        if apart > 0:
            return (
                f" {names[0]} to {names[-1]} are {len(names)}, but the robot has {len(own)} joints. Leave out those of"
                f" others, as in columns={{{names[-1]!r}: None}}, in a command --column {names[-1]}=none, for each"
                " channel."
            )
        if apart < 0:
            return (
                f" {names[0]} to {names[-1]} are {len(names)}, but the robot has {len(own)} joints. Lock those that the"
                f" log does not have, as in robot.lock({own[apart:]}), in a command {_locks(own[apart:])}."
            )
    return ""
