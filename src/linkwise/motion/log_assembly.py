"""One log of a robot from channels with clocks of their own: rows that are whole, at even instants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.motion.log import Log
from linkwise.motion.log_channels import Part
from linkwise.motion.log_names import CHANNELS, channel_names
from linkwise.motion.log_times import FEWEST, Grid, Instants, Rows, grid, instants, resampled
from linkwise.motion.spline import unbroken
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot
from linkwise.table import WRENCH

SPIKE, RARE = 30.0, 5e-3  # times the usual change from row to row, and share of the rows: what leaps and is left out
JUDGED = 64  # rows from which on leaps are looked for
MOST = 0.9  # of the rows: where as many have a channel, the others are left out, else it is NaN there
PAUSE = 1.0  # s between the runs of two files that both start at zero


def assembled(main: Part, rest: Sequence[Part], robot: Robot, gap: float | None) -> Log:
    """One log at even instants of the part that has the positions; channels of other parts are brought there.

    Args:
        main: has the positions of all joints, and times.
        rest: measured by clocks of their own.
        robot: whose channels they are.
        gap: the longest pause in s that is filled; one of ours if None.
    """
    notes = list(main.notes)
    stacked = {key: _stacked(main, robot, key) for key in CHANNELS}
    measured = {key: x for key, x in stacked.items() if x is not None}
    t = np.full(len(measured["q"]), np.nan) if main.t is None else main.t
    measured["q"] = _without_spikes(robot, measured["q"], notes)
    for key in ("tau", "current"):
        if key in measured:
            measured[key] = _without_outliers(channel_names(robot, key), measured[key], notes)
    good = _good_rows(t, measured, notes)
    measured["q"] = _unwrapped(robot, measured["q"], good, notes)
    when = _moments(main, t[good], measured["q"][good], _rates(robot, measured, good))
    even = grid(when.t, when.step, gap)
    notes += [*when.notes, *_of_grid(even)]
    whole = {**measured, **main.others}
    found = _resampled({key: x[good[when.rows]] for key, x in whole.items()}, when, even)
    for part in rest:
        notes += _add_other_clock(part, even, main.start, robot, found)
    for key in CHANNELS:
        if key in found and (missing := np.flatnonzero(~np.isfinite(found[key]).any(axis=0))).size:
            notes.append(f"not measured: {', '.join(channel_names(robot, key)[k] for k in missing)}")
    others = {name: x for name, x in found.items() if name not in CHANNELS}
    log = Log(
        robot, even.t, found["q"], found.get("qd"), found.get("tau"), found.get("current"), _wrenches(others), others,
        even.runs, (main.source,) * len(even.runs), {}, tuple(notes), when.jitter,
    )  # fmt: skip
    return _whole(log)


def _stacked(part: Part, robot: Robot, key: str) -> Array | None:
    """(rows, width) a channel, NaN where a column is missing; None where all are."""
    names = channel_names(robot, key)
    there = [part.channels[name] for name in names if name in part.channels]
    if not there:
        return None
    return np.stack([part.channels.get(name, np.full(len(there[0]), np.nan)) for name in names], axis=1)


def _rates(robot: Robot, measured: Mapping[str, Array], good: Rows) -> Array | None:
    """Measured velocities, where they are the rates of the numbers in the positions."""
    if "qd" not in measured or robot.nv != robot.nq or not np.isfinite(measured["qd"][good]).all():
        return None
    return measured["qd"][good]


def _resampled(found: Mapping[str, Array], when: Instants, even: Grid) -> dict[str, Array]:
    """Channels at even instants, all at once."""
    flat = [x.reshape(len(x), -1) for x in found.values()]
    ends = np.cumsum([0, *(x.shape[1] for x in flat)])
    whole = resampled(when.t, np.concatenate(flat, axis=1), even.t, even.runs, when.step)
    return {
        key: whole[:, a:b].reshape(len(whole), *x.shape[1:])
        for (key, x), (a, b) in zip(found.items(), pairwise(ends), strict=True)
    }


def _good_rows(t: Array, stacked: Mapping[str, Array], notes: list[str]) -> Rows:
    """Numbers of the rows that have a time, positions, and all channels that most rows have."""
    good = np.isfinite(t)
    if empty := np.count_nonzero(~np.isfinite(stacked["q"]).any(axis=0)):
        raise InputError(f"log: expected positions of all joints, got no numbers in {empty} of their columns.")
    for key, x in stacked.items():
        known = np.isfinite(x)
        whole = known[:, known.any(axis=0)].all(axis=1)
        if key == "q" or np.mean(whole) > MOST:
            good &= whole
    rows = np.flatnonzero(good)
    lost = len(t) - len(rows)
    if len(rows) < FEWEST:
        raise InputError(f"log: expected {FEWEST} rows of numbers or more, got {len(rows)} of {len(t)} rows.")
    if lost:
        notes.append(f"{lost} of {len(t)} rows have a cell that is not a number and were left out")
    return rows


def _without_spikes(robot: Robot, q: Array, notes: list[str]) -> Array:
    """Positions of single joints in which rows that fall out of the row are NaN."""
    from scipy.ndimage import median_filter

    if len(q) < JUDGED:
        return q
    found = q.copy()
    for name, slot in robot.slots.items():
        x = q[:, slot.q]
        if slot.nq > 1 or not np.isfinite(x).all():
            continue
        off = x - median_filter(x, size=5, mode="nearest")
        off = np.abs((off + np.pi) % (2.0 * np.pi) - np.pi if slot.kind.turns else off)
        usual = max(float(np.median(np.abs(np.diff(x)))), float(np.quantile(off, 0.95)))
        spikes = off > SPIKE * usual
        if usual > 0.0 and 0 < np.count_nonzero(spikes) <= RARE * len(x):
            notes.append(f"{name} leaps in {np.count_nonzero(spikes)} rows, which were left out")
            found[spikes, slot.q] = np.nan
    return found


def _without_outliers(names: Sequence[str], x: Array, notes: list[str]) -> Array:
    """Channels in which the few rows that fall far out of the row are those of their neighbours."""
    from scipy.ndimage import median_filter

    found = x.copy()
    for k, name in enumerate(names if len(x) >= JUDGED else ()):
        near = median_filter(x[:, k], size=5, mode="nearest")
        off = np.abs(x[:, k] - near)
        usual = max(float(np.median(np.abs(np.diff(x[:, k])))), float(np.quantile(off, 0.95)))
        spikes = off > SPIKE * usual
        if usual > 0.0 and 0 < np.count_nonzero(spikes) <= RARE * len(x):
            notes.append(f"{name} leaps in {np.count_nonzero(spikes)} rows, which got the values of their neighbours")
            found[spikes, k] = near[spikes]
    return found


def _unwrapped(robot: Robot, q: Array, good: Rows, notes: list[str]) -> Array:
    """Positions whose angles do not jump by a turn, nor quaternions by their sign."""
    q = q.copy()
    q[good] = unbroken(robot, q[good])
    for name, slot in robot.slots.items():
        if slot.kind.turns and slot.nq == 1:
            column = q[good, slot.q]
            free = np.unwrap(column)
            if np.abs(free - column).max() > 1.0:
                notes.append(f"{name} was measured modulo a turn, and was made continuous")
                q[good, slot.q] = free
    return q


def _moments(part: Part, t: Array, x: Array, rates: Array | None) -> Instants:
    try:
        return instants(t, x, rates)
    except InputError as error:
        raise InputError(f"{part.source}: {error}") from error


def _of_grid(even: Grid) -> list[str]:
    notes = []
    if even.filled:
        notes.append(f"{even.filled} instants without a sample were filled by a cubic spline")
    if len(even.runs) > 1:
        pauses = [even.t[b.start] - even.t[a.stop - 1] for a, b in zip(even.runs, even.runs[1:], strict=False)]
        gaps = "a gap" if len(pauses) == 1 else f"{len(pauses)} gaps, the longest"
        notes.append(f"{gaps} of {max(pauses):.4g} s: the log has {len(even.runs)} runs")
    if even.lost:
        notes.append(f"{even.lost} rows between gaps are too few for a run and were left out")
    return notes


def _add_other_clock(part: Part, even: Grid, start: float, robot: Robot, found: dict[str, Array]) -> tuple[str, ...]:
    """Add the channels of a part with a clock of its own, at the even instants of the log; what to say of it."""
    names = [*part.channels, *part.others]
    if not names or part.t is None:
        return ()
    x = np.stack([*part.channels.values(), *part.others.values()], axis=1)
    known = np.isfinite(part.t) & np.isfinite(x).any(axis=1)
    if np.count_nonzero(known) < FEWEST:
        return (f"not used, since it has less than {FEWEST} rows: {part.source}",)
    whole = np.isfinite(x[known]).all(axis=0)
    try:
        when = instants(part.t[known], x[known][:, whole] if whole.any() else np.zeros((np.count_nonzero(known), 1)))
    except InputError:
        return (f"not used, since its times do not rise: {part.source}",)
    values = resampled(when.t + part.start - start, x[known][when.rows], even.t, even.runs, when.step)
    for name, column in zip(names, values.T, strict=True):
        if name in part.channels:
            key = name.split(".")[0]
            own = channel_names(robot, key)
            found.setdefault(key, np.full((len(even.t), len(own)), np.nan))[:, own.index(name)] = column
        else:
            found[name] = column
    return (*part.notes, *(f"{part.source}: {note}" for note in when.notes))


def _wrenches(others: dict[str, Array]) -> dict[str, Array]:
    """By frame the wrenches among other channels, which lose them."""
    frames = {name.removeprefix("wrench.").rpartition(".")[0] for name in others if name.startswith("wrench.")}
    found = {}
    for frame in sorted(frames):
        names = [f"wrench.{frame}.{part}" for part in WRENCH]
        if any(name in others for name in names):
            zero = np.zeros(len(next(iter(others.values()))))
            found[frame] = np.stack([others.pop(name, zero) for name in names], axis=1)
    return found


def _whole(log: Log) -> Log:
    """The rows where all channels that were measured have numbers: clocks start and end at different times."""
    good = np.ones(len(log), dtype=bool)
    notes = []
    for what, x in (("q", log.q), ("qd", log.qd), ("tau", log.tau), ("current", log.current), *log.wrenches.items()):
        if x is not None:
            known = np.isfinite(x)
            whole = known[:, known.any(axis=0)].all(axis=1)
            if np.mean(whole) > MOST:
                good &= whole
            elif known.any():
                notes.append(f"{what} is missing in {np.count_nonzero(~whole)} of {len(log)} rows")
    log = replace(log, notes=(*log.notes, *notes))
    if good.all():
        return log
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
    pieces, sources = [], []
    for run, source in zip(log.runs, log.sources, strict=True):
        for a, b in zip(edges[::2], edges[1::2], strict=True):
            first, last = max(run.start, int(a)), min(run.stop, int(b))
            if last - first >= FEWEST:
                pieces.append(slice(first, last))
                sources.append(source)
    if not pieces:
        raise InputError("log: expected rows in which all channels were measured, got none. Do the clocks agree?")
    note = f"{np.count_nonzero(~good)} of {len(log)} rows lack a channel and were left out"
    return replace(log._rows(pieces, tuple(sources)), notes=(*log.notes, note))


def followed(a: Log, b: Log) -> Log:
    """Two logs of one robot, one after the other; the second has the rate of the first, and of both the channels."""
    step = 1.0 / a.rate
    if abs(b.rate * step - 1.0) > 1e-5:
        b = _at_rate(b, a.rate)
    t = b.t if b.t[0] > a.t[-1] + step else b.t - b.t[0] + a.t[-1] + max(PAUSE, 10.0 * step)
    rows = [len(a), len(b)]
    notes = [*a.notes, *(f"{b.sources[0]}: {note}" for note in b.notes)]

    def joined(x: Any, y: Any, what: str) -> Any:
        if x is None and y is None:
            return None
        if x is None or y is None:
            notes.append(f"{what} is not in all files")
        width = (x if x is not None else y).shape[1:]
        return np.concatenate(
            [np.full((n, *width), np.nan) if z is None else z for z, n in zip((x, y), rows, strict=True)]
        )

    channels: dict[str, Any] = {key: joined(getattr(a, key), getattr(b, key), key) for key in ("qd", "tau", "current")}
    for key in ("wrenches", "others"):
        x, y = getattr(a, key), getattr(b, key)
        channels[key] = {k: joined(x.get(k), y.get(k), k) for k in dict.fromkeys((*x, *y))}
    runs = (*a.runs, *(slice(r.start + len(a), r.stop + len(a)) for r in b.runs))
    return replace(
        a, t=np.concatenate([a.t, t]), q=np.concatenate([a.q, b.q]), **channels, runs=runs,
        sources=(*a.sources, *b.sources), notes=tuple(dict.fromkeys(notes)), delays={**a.delays, **b.delays},
        jitter=max(a.jitter, b.jitter),
    )  # fmt: skip


def _at_rate(log: Log, rate: float) -> Log:
    """The log at another rate."""
    step, old = 1.0 / rate, log.rate
    pieces = [grid(log.t[run], step, np.inf).t for run in log.runs]
    bounds = np.cumsum([0, *map(len, pieces)])
    runs = tuple(slice(int(a), int(b)) for a, b in pairwise(bounds))
    t = np.concatenate(pieces)

    def moved(x: Any) -> Any:
        if x is None:
            return None
        flat = x.reshape(len(x), -1)
        return resampled(log.t, flat, t, runs, 1.0 / old).reshape(len(t), *x.shape[1:])

    channels: dict[str, Any] = {key: moved(getattr(log, key)) for key in ("q", "qd", "tau", "current")}
    channels |= {key: {k: moved(v) for k, v in getattr(log, key).items()} for key in ("wrenches", "others")}
    note = f"sampled at {old:.6g} Hz, and interpolated to {rate:.6g} Hz"
    return replace(
        log, t=t, **channels, runs=runs, notes=(*log.notes, *([note] if abs(old / rate - 1.0) > 1e-3 else []))
    )
