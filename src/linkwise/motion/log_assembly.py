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
from linkwise.motion.log_times import FEWEST, Grid, Instants, grid, instants, resampled
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot
from linkwise.table import WRENCH

MOST = 0.9  # of the rows: where as many have a channel, the others are left out, else it is NaN there
PAUSE = 1.0  # s between the runs of two files that both start at zero


def assembled(main: Part, rest: Sequence[Part], robot: Robot, gap: float | None) -> Log:
    notes = list(main.notes)
    own = {key: [name for name in channel_names(robot, key) if name in main.channels] for key in CHANNELS}
    stacked = {key: np.stack([main.channels[n] for n in names], axis=1) for key, names in own.items() if names}
    assert main.t is not None
    good, words = _good_rows(main.t, stacked)
    notes += words
    stacked["q"] = _unwrapped(robot, stacked["q"], good, notes)
    rates = (
        stacked["qd"][good]
        if len(own["qd"]) == robot.nv == robot.nq and np.isfinite(stacked["qd"][good]).all()
        else None
    )
    when = _moments(main, main.t[good], stacked["q"][good], rates)
    notes += when.notes
    even = grid(when.t, when.step, gap)
    notes += _of_grid(even)
    rows = good[when.rows]
    at = [x[rows] for x in (*stacked.values(), *(x[:, None] for x in main.others.values()))]
    widths = np.cumsum([0, *(x.shape[1] for x in at)])
    whole = resampled(when.t, np.concatenate(at, axis=1), even.t, even.runs, when.step)
    found = {key: whole[:, widths[k] : widths[k + 1]] for k, key in enumerate(stacked)}
    others = {name: whole[:, widths[len(stacked) + k]] for k, name in enumerate(main.others)}
    for part in rest:
        more, remarks = _other_clock(part, even, main.start)
        notes += remarks
        for name, x in more.items():
            key = name.split(".")[0]
            if name in part.channels:
                names = channel_names(robot, key)
                found.setdefault(key, np.full((len(even.t), len(names)), np.nan))[:, names.index(name)] = x
                own[key] = sorted({*own[key], name}, key=names.index)
            else:
                others[name] = x
    for key, names in own.items():
        every = channel_names(robot, key)
        if key in stacked and len(names) < len(every) and found[key].shape[1] < len(every):
            wide = np.full((len(even.t), len(every)), np.nan)
            wide[:, [every.index(n) for n in names]] = found[key]
            found[key] = wide
            missing = [n for n in every if n not in names]
            notes.append(f"not measured: {', '.join(missing)}")
    wrenches = _wrenches(others, robot)
    log = Log(
        robot, even.t, found["q"], found.get("qd"), found.get("tau"), found.get("current"), wrenches, others,
        even.runs, (main.source,) * len(even.runs), {}, tuple(notes), when.jitter,
    )  # fmt: skip
    return _whole(log)


def _good_rows(t: Array, stacked: Mapping[str, Array]) -> tuple[Any, list[str]]:
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
    return rows, [f"{lost} of {len(t)} rows have a cell that is not a number and were left out"] if lost else []


def _unwrapped(robot: Robot, q: Array, good: Any, notes: list[str]) -> Array:
    """Positions whose angles do not jump by a turn."""
    q = q.copy()
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


def _other_clock(part: Part, even: Grid, start: float) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Channels of a part with a clock of its own at the even instants of the log."""
    names = [*part.channels, *part.others]
    if not names or part.t is None:
        return {}, ()
    x = np.stack([*part.channels.values(), *part.others.values()], axis=1)
    known = np.isfinite(part.t) & np.isfinite(x).any(axis=1)
    if np.count_nonzero(known) < FEWEST:
        return {}, (f"not used, since it has less than {FEWEST} rows: {part.source}",)
    whole = np.isfinite(x[known]).all(axis=0)
    try:
        when = instants(part.t[known], x[known][:, whole] if whole.any() else np.zeros((np.count_nonzero(known), 1)))
    except InputError:
        return {}, (f"not used, since its times do not rise: {part.source}",)
    values = resampled(when.t + part.start - start, x[known][when.rows], even.t, even.runs, when.step)
    return dict(zip(names, values.T, strict=True)), (*part.notes, *(f"{part.source}: {note}" for note in when.notes))


def _wrenches(others: dict[str, Array], robot: Robot) -> dict[str, Array]:
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

    one: dict[str, Any] = {key: joined(getattr(a, key), getattr(b, key), key) for key in ("qd", "tau", "current")}
    two: dict[str, Any] = {
        key: {k: joined(getattr(a, key).get(k), getattr(b, key).get(k), k) for k in (*getattr(a, key), *(
            k for k in getattr(b, key) if k not in getattr(a, key)))}
        for key in ("wrenches", "others")
    }  # fmt: skip
    runs = (*a.runs, *(slice(r.start + len(a), r.stop + len(a)) for r in b.runs))
    return replace(
        a, t=np.concatenate([a.t, t]), q=np.concatenate([a.q, b.q]), **one, **two, runs=runs,
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
