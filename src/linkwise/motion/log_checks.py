"""What looks wrong in a log: channels that stand still, degrees, exchanged columns, delays."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.motion.delays import delay
from linkwise.motion.log import Log
from linkwise.motion.log_names import channel_names
from linkwise.motion.smoothing import low_pass, smooth
from linkwise.motion.spectrum import SHORTEST
from linkwise.motion.trajectory import Array
from linkwise.motion.units import degrees_question

SHORT = 2.0  # s
SLOW = 5.0  # Hz
LIKE, UNLIKE = 0.95, 0.7  # correlations of channels that are the same, and that are not
SAMPLED = 8.0  # samples in a period of the cutoff, by which smooth channels are compared
DELAYED = 0.2  # of a step between samples: shorter delays are left alone
IN_DEGREES = "units={'q': 'deg'}, in a command --unit q=deg, and the same for qd"
FACTORS = {
    np.degrees(1.0): "velocities look like degrees/s: say units={'qd': 'deg'}",
    np.radians(1.0): "positions look like degrees: say units={'q': 'deg'}",
    1e3: "times look like ms: say units={'t': 'ms'}",
    30.0 / np.pi: "velocities look like revolutions/min: say units={'qd': 'rpm'}",
}


def checked(log: Log, mend: bool) -> Log:
    """The log with notes on what looks wrong, and without the delay of measured velocities if that is to be mended."""
    notes = [*_still(log), *([question] if (question := degrees_question(log.robot, log.q, IN_DEGREES)) else [])]
    seconds = sum(float(log.t[run][-1] - log.t[run][0]) for run in log.runs)
    if log.rate < SLOW:
        notes.append(
            f"the log has {log.rate:.3g} samples a second, which is few: are its times in s? units={{'t': 'ms'}}"
        )
    if seconds < SHORT:
        notes.append(f"the log is short: {seconds:.3g} s")
    moved = log
    if log.qd is not None and max(run.stop - run.start for run in log.runs) >= 4 * SHORTEST:
        more, late = _velocities(log, log.qd)
        notes += more
        if late and mend:
            moved = log.shifted({"qd": late})
    return replace(moved, notes=(*log.notes, *notes))


def _still(log: Log) -> list[str]:
    """Channels that are the same in all rows."""
    found = []
    for key in ("q", "qd", "tau", "current"):
        values = getattr(log, key)
        if values is not None:
            names = np.array(channel_names(log.robot, key))
            found += [str(n) for n in names[np.ptp(values, axis=0) == 0.0]]
    return [f"constant in all rows: {', '.join(found)}"] if found else []


def _velocities(log: Log, measured: Array) -> tuple[list[str], float]:
    """What measured velocities say of the columns, and the delay in s that they have behind the positions, or 0."""
    try:
        smoothed = smooth(log)
    except InputError:
        return [], 0.0
    cutoff = float(np.median(smoothed.cutoff))
    rates = smoothed.qd
    given = low_pass(measured, log.rate, smoothed.cutoff, log.runs)[_kept(log, smoothed.log)]
    moving = (
        (np.std(rates, axis=0) > 0.0) & (np.std(given, axis=0) > 0.0) & (smoothed.sd[1] < 0.5 * np.std(rates, axis=0))
    )
    if not moving.any():
        return [], 0.0
    names = [name.removeprefix("qd.") for name in channel_names(log.robot, "qd")]
    with np.errstate(divide="ignore", invalid="ignore"):
        like = np.nan_to_num(np.corrcoef(rates.T, given.T)[: len(names), len(names) :])
    notes = []
    odd = [k for k in np.flatnonzero(moving) if abs(like[k, k]) < UNLIKE]
    for k in odd:
        other = int(np.argmax(np.abs(like[k])))
        if abs(like[k, other]) > LIKE:
            notes.append(
                f"columns look exchanged: q.{names[k]} changes as qd.{names[other]} says, not as qd.{names[k]} does"
            )
    if odd and not notes:
        backwards = _exchanged(log, measured, cutoff)
        notes.append(
            "q and qd look exchanged: the positions are the rates of the velocities"
            if backwards
            else f"measured velocities are not the rates of the positions: {', '.join(names[k] for k in odd)}"
        )
    if odd:
        return notes, 0.0
    notes += _sizes(names, rates, given, like, np.flatnonzero(moving))
    # what is smooth needs few samples
    longest = max(run.stop - run.start for run in smoothed.log.runs)
    step = max(min(int(log.rate / (SAMPLED * float(smoothed.cutoff.max()))), longest // SHORTEST), 1)
    runs = [np.arange(run.start, run.stop, step) for run in smoothed.log.runs]
    ends = np.cumsum([0, *map(len, runs)])
    rows, pieces = np.concatenate(runs), [slice(int(a), int(b)) for a, b in pairwise(ends)]
    late = delay(rates[rows][:, moving], given[rows][:, moving], log.rate / step, runs=pieces)
    if abs(late) < DELAYED / log.rate:
        return notes, 0.0
    word = "after" if late > 0.0 else "before"
    notes.append(f"measured velocities come {1e3 * abs(late):.3g} ms {word} the positions")
    return notes, late


def _kept(log: Log, part: Log) -> Any:
    """Numbers of the rows of a log that a part of it has."""
    return np.searchsorted(log.t, part.t)


def _exchanged(log: Log, measured: Array, cutoff: float) -> bool:
    """Whether positions change as rates of the velocities would."""
    if measured.shape != log.q.shape:
        return False
    run = max(log.runs, key=lambda r: r.stop - r.start)
    slope = np.gradient(low_pass(measured, log.rate, cutoff, log.runs)[run], 1.0 / log.rate, axis=0)
    q = low_pass(log.q, log.rate, cutoff, log.runs)[run]
    with np.errstate(divide="ignore", invalid="ignore"):
        like = [np.nan_to_num(np.corrcoef(a, b)[0, 1]) for a, b in zip(slope.T, q.T, strict=True)]
    return bool(np.median(np.abs(like)) > LIKE)


def _sizes(names: list[str], rates: Array, given: Array, like: Array, moving: Any) -> list[str]:
    """Velocities of another size or sign than the rates of positions."""
    found: list[str] = []
    ratio = {k: float(np.sign(like[k, k]) * np.std(given[:, k]) / np.std(rates[:, k])) for k in moving}
    odd = {names[k]: r for k, r in ratio.items() if not 0.8 < r < 1.25}
    if odd and len(odd) == len(ratio):
        typical = float(np.median(list(odd.values())))
        for factor, words in FACTORS.items():
            if abs(typical / factor - 1.0) < 0.1:
                return [f"{words} (they are {typical:.3g} times the rates of positions)"]
    if odd:
        listed = ", ".join(f"{name} {r:.3g}" for name, r in odd.items())
        found.append(f"measured velocities are other multiples of the rates of positions than 1: {listed}")
    return found
