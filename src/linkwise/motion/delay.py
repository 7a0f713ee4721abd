"""By how much one channel comes after another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.check import positive
from linkwise.errors import InputError
from linkwise.motion.trajectory import Array

LONGEST = 0.1  # s
FEWEST = 16  # rows
FINER = 16  # steps between two samples in a first search


def delay(a: Any, b: Any, rate: float, longest: float = LONGEST, runs: Sequence[slice] = ()) -> float:
    """The time in s by which b comes after a: b(t) = c a(t - delay); negative where b comes first.

    The cross-correlation of their changes is greatest there, between samples too. Columns count by how much of them is
    the same in both.

    Args:
        a: (rows,) or (rows, columns), evenly sampled.
        b: likewise; signs and sizes do not matter, columns do.
        rate: samples a second.
        longest: delay that is looked for, in s.
        runs: pieces without gaps; all rows are one if not given.
    """
    first, second = (np.asarray(x, dtype=float).reshape(len(x), -1) for x in (a, b))
    rate, longest = positive(rate, "delay rate"), positive(longest, "delay longest")
    if first.shape != second.shape or len(first) < FEWEST:
        raise InputError(
            f"delay: expected two arrays of one shape, of {FEWEST} rows or more, got {np.shape(a)} and {np.shape(b)}."
        )
    pieces = [run for run in (runs or [slice(0, len(first))]) if run.stop - run.start >= FEWEST]
    if not pieces:
        raise InputError(f"delay: expected a run of {FEWEST} rows or more, got none.")
    found = _likest(first, second, rate, longest, pieces)
    for _ in range(2):  # the window's bias is in proportion to the delay: shift, and look again
        moved = [_shifted(second[run], rate, found) for run in pieces]
        kept = [slice(run.start + a, run.stop - b) for run, (_, a, b) in zip(pieces, moved, strict=True)]
        if min(run.stop - run.start for run in kept) < FEWEST:
            break
        ends = np.cumsum([0, *(run.stop - run.start for run in kept)])
        joined = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        whole = np.concatenate([first[run] for run in kept]), np.concatenate([x for x, _, _ in moved])
        found += _likest(*whole, rate, 2.0 / rate, joined)
    return found


def _shifted(x: Array, rate: float, d: float) -> tuple[Array, int, int]:
    """Columns at times later by d, in s, without the rows that this has not, and how many are missing at both ends."""
    from scipy.interpolate import CubicSpline

    t = np.arange(len(x)) / rate
    first, last = (int(np.ceil(max(sign * d * rate, 0.0))) for sign in (-1.0, 1.0))
    return CubicSpline(t, x)(t[first : len(t) - last] + d), first, last


def _likest(first: Array, second: Array, rate: float, longest: float, pieces: Sequence[slice]) -> float:
    """The shift for which the cross-correlation of changes is greatest."""
    from scipy.optimize import minimize_scalar

    f, cross = (np.concatenate(x) for x in zip(*(_cross(first[r], second[r], rate) for r in pieces), strict=True))
    kept = np.abs(cross) > 1e-9 * np.abs(cross).max()
    f, cross = f[kept], cross[kept]

    def likeness(d: float) -> float:
        return float(np.real(np.exp(2j * np.pi * d * f) @ cross))

    reach = min(longest, 0.45 * max(r.stop - r.start for r in pieces) / rate)
    tried = np.linspace(-reach, reach, 2 * int(np.ceil(reach * min(rate, FINER * _bandwidth(f, cross)))) + 3)
    best, step = float(tried[int(np.argmax([likeness(d) for d in tried]))]), float(tried[1] - tried[0])
    bounds = (best - step, best + step)
    return float(minimize_scalar(lambda d: -likeness(d), bounds=bounds, method="bounded", options={"xatol": 1e-10}).x)


def _bandwidth(f: Array, cross: Array) -> float:
    weight = np.abs(cross)
    return float(np.sqrt(weight @ f**2 / weight.sum())) if weight.sum() > 0.0 else 1.0


def _cross(a: Array, b: Array, rate: float) -> tuple[Array, Array]:
    """Frequencies, and the cross-spectrum of two arrays' changes, its columns added with one sign."""
    from scipy.fft import next_fast_len, rfft

    window = np.hanning(len(a))[:, None]
    size = next_fast_len(2 * len(a), real=True)
    A, B = (rfft((x - x.mean(0)) * window, n=size, axis=0) for x in (a, b))
    f = np.arange(len(A)) * rate / size
    cross = np.conj(A) * B * f[:, None] ** 2
    power = np.sqrt(np.sum(np.abs(A) ** 2 * f[:, None] ** 2, axis=0) * np.sum(np.abs(B) ** 2 * f[:, None] ** 2, axis=0))
    sign = np.sign(np.real(cross.sum(axis=0)))
    return f, (cross / np.where(power > 0.0, power, np.inf)) @ np.where(sign == 0.0, 1.0, sign)
