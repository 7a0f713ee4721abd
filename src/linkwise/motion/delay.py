"""By how much one channel comes after another."""

from __future__ import annotations

from collections.abc import Sequence
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
    from scipy.optimize import minimize_scalar

    pieces = [run for run in (runs or [slice(0, len(first))]) if run.stop - run.start >= FEWEST]
    if not pieces:
        raise InputError(f"delay: expected a run of {FEWEST} rows or more, got none.")
    f, cross = (np.concatenate(x) for x in zip(*(_cross(first[r], second[r], rate) for r in pieces), strict=True))

    def likeness(d: Array) -> Array:
        return np.real(np.exp(2j * np.pi * np.multiply.outer(d, f)) @ cross)

    # where the correlation is largest among samples, then between them
    kept = np.abs(cross) > 1e-9 * np.abs(cross).max()
    f, cross = f[kept], cross[kept]
    reach = min(longest, 0.45 * max(r.stop - r.start for r in pieces) / rate)
    tried = np.linspace(-reach, reach, 2 * int(np.ceil(reach * min(rate, FINER * _bandwidth(f, cross)))) + 3)
    best = float(tried[int(np.argmax([likeness(d) for d in tried]))])
    step = float(tried[1] - tried[0])
    found = minimize_scalar(lambda d: -likeness(d), bounds=(best - step, best + step), method="bounded",
                            options={"xatol": 1e-9})  # fmt: skip
    return float(found.x)


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
