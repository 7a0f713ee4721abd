"""Smoothing of measured positions, with the velocities and accelerations that belong to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linkwise.motion.log import Log
from linkwise.motion.trajectory import Array

ORDER = 4  # of the Butterworth filter, which runs forwards and backwards
ENDS = 1.5  # periods of the cutoff that are cut from both ends of a run


@dataclass(frozen=True, eq=False)
class Smoothed:
    """A log with smooth positions, and their rates.

    Attributes:
        log: the rows of the log that remain, as measured; ends of runs are cut where the filter has no neighbours.
        q: (rows, nq), smooth.
        qd: (rows, nv), their rates.
        qdd: (rows, nv), the rates of those.
        cutoff: (nv,) in Hz, the frequency above which a channel was taken for noise.
        noise: (nv,) standard deviation of the noise of measured positions.
        sd: (3, nv) standard deviations of the smooth positions, velocities and accelerations by that noise.
        notes: in words, what a user should know.
    """

    log: Log
    q: Array
    qd: Array
    qdd: Array
    cutoff: Array
    noise: Array
    sd: Array
    notes: tuple[str, ...] = ()


def low_pass(x: Array, rate: float, cutoff: float, runs: Sequence[slice]) -> Array:
    """Columns without what is faster than `cutoff`, in Hz, and without shift in time; each run by itself."""
    from scipy.signal import butter, sosfiltfilt

    sos = butter(ORDER, cutoff, fs=rate, output="sos")
    pad = int(3.0 * rate / cutoff)
    found = [sosfiltfilt(sos, x[run], axis=0, padlen=min(pad, run.stop - run.start - 1)) for run in runs]
    return np.concatenate(found)


def smooth(log: Log, cutoff: float | None = None) -> Smoothed:
    """A log with smooth positions and their rates.

    Args:
        log: measured positions.
        cutoff: in Hz; chosen from the data where none is given.
    """
    frequency = 5.0 if cutoff is None else cutoff
    q = low_pass(log.q, log.rate, frequency, log.runs)
    step = 1.0 / log.rate
    qd = np.concatenate([np.gradient(q[run], step, axis=0) for run in log.runs])
    qdd = np.concatenate([np.gradient(qd[run], step, axis=0) for run in log.runs])
    cut = int(ENDS * log.rate / frequency)
    pieces = [(slice(r.start + cut, r.stop - cut), s) for r, s in zip(log.runs, log.sources, strict=True)]
    pieces = [(piece, source) for piece, source in pieces if piece.stop - piece.start > 1]
    kept = np.concatenate([np.arange(piece.start, piece.stop) for piece, _ in pieces])
    noise = np.std(log.q - q, axis=0)
    nv = log.robot.nv
    rest = log._rows([piece for piece, _ in pieces], tuple(source for _, source in pieces))
    return Smoothed(rest, q[kept], qd[kept], qdd[kept], np.full(nv, frequency), noise, np.full((3, nv), np.nan))
