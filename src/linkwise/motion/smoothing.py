"""Smoothing of measured positions, with their velocities and accelerations, and how sure those are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.check import positive
from linkwise.errors import InputError, UnknownNameError
from linkwise.motion.columns import column_names
from linkwise.motion.log import Log
from linkwise.motion.log_times import grid, instants, resampled
from linkwise.motion.spectrum import HIGHEST, ORDER, Noise, best_cutoff, gain, noise_of, spectrum
from linkwise.motion.spline import unbroken, velocities
from linkwise.motion.trajectory import Array, Trajectory
from linkwise.robot.robot import Robot

ENDS = 1.0  # periods of the cutoff that are cut from both ends of a run
MOST_CUT = 0.05  # of a run, at each end
PADDING = 3.0  # periods of the cutoff by which a run is continued
LEAST = 16  # rows of a run that is smoothed
NOISY = 0.2  # of the accelerations' root mean square, from which on their noise is mentioned


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

    def __repr__(self) -> str:
        low, high = self.cutoff.min(), self.cutoff.max()
        return f"<{repr(self.log).strip('<>')}, smooth below {low:.3g} to {high:.3g} Hz>"


def low_pass(x: Array, rate: float, cutoff: Any, runs: Sequence[slice]) -> Array:
    """Columns without what is faster than `cutoff`, and without shift in time; each run by itself.

    Args:
        x: (rows, ...) samples.
        rate: samples a second.
        cutoff: in Hz, one or one for each column.
        runs: pieces without gaps, which together are all rows.
    """
    from scipy.signal import butter, sosfiltfilt

    flat = np.asarray(x, dtype=float).reshape(len(x), -1)
    each = np.broadcast_to(np.asarray(cutoff, dtype=float), flat.shape[1:])
    found = np.empty_like(flat)
    for fc in np.unique(each):
        sos, pad = butter(ORDER // 2, fc, fs=rate, output="sos"), int(PADDING * rate / fc)
        own = slice(None) if np.all(each == fc) else each == fc
        for run in runs:
            found[run, own] = sosfiltfilt(sos, flat[run, own], axis=0, padlen=min(pad, run.stop - run.start - 1))
    return found.reshape(np.shape(x))


def smooth_rates(x: Array, rate: float, cutoff: Array, runs: Sequence[slice], count: int = 2) -> list[Array]:
    """Columns without what is faster than their cutoff, and their first so many rates: all of one smooth function.

    The filter's gain is 1 / (1 + (f / cutoff)^8), that of a fourth-order Butterworth filter that runs forwards and
    backwards; it and the derivatives are factors of the Fourier transform. What remains beside the quintic polynomial
    that has each run's position, velocity and acceleration at both ends is continued by its odd reflections there.
    """
    found = [np.empty_like(x) for _ in range(count + 1)]
    for run in runs:
        for into, values in zip(found, _one_run(x[run], rate, cutoff, count), strict=True):
            into[run] = values
    return found


def _one_run(x: Array, rate: float, cutoff: Array, count: int) -> list[Array]:
    from scipy.fft import irfft, next_fast_len, rfft

    rows = len(x)
    trend = _trend(x, rate, cutoff)
    s = np.linspace(-1.0, 1.0, rows)
    per_second = 2.0 * rate / max(rows - 1, 1)
    base = [np.polynomial.polynomial.polyval(s, np.polynomial.polynomial.polyder(trend, k)) for k in range(count + 1)]
    rest = x.T - base[0]
    pad = min(int(PADDING * rate / float(cutoff.min())) + 1, rows - 1)
    before, after = -rest[:, pad:0:-1], -rest[:, -2 : -pad - 2 : -1]
    size = next_fast_len(rows + 2 * pad, real=True)
    # zeros to a size that is fast go between the two reflections, far from the run
    whole = np.concatenate([rest, after, np.zeros((len(rest), size - rows - 2 * pad)), before], axis=1)
    F = rfft(whole)
    f = np.arange(F.shape[1]) * rate / size
    F *= gain(f[None, :], cutoff[:, None])
    found = []
    for k in range(count + 1):
        if k:
            F *= 2j * np.pi * f
            if size % 2 == 0:
                F[:, -1] = 0.0
        found.append((irfft(F, n=size)[:, :rows] + base[k] * per_second**k).T)
    return found


def _trend(x: Array, rate: float, cutoff: Array) -> Array:
    """(6, columns) coefficients of quintic polynomials of s from -1 to 1 that meet the ends of columns.

    Position, velocity and acceleration at an end are those of a cubic fitted to a period of the cutoff.
    """
    poly = np.polynomial.polynomial
    rows, columns = x.shape
    if rows < 8:
        return np.concatenate([x.mean(0, keepdims=True), np.zeros((5, columns))])
    ends = np.empty((6, columns))
    for k, fc in enumerate(cutoff):
        reach = int(np.clip(rate / fc, 8, rows))
        s = np.linspace(0.0, 1.0, reach)
        per = (rows - 1) / 2.0 / (reach - 1)  # of the fit's variable for one of s
        for at, piece in ((0, x[:reach, k]), (3, x[::-1][:reach, k])):
            a = poly.polyfit(s, piece, 3)
            sign = 1.0 if at == 0 else -1.0
            ends[at : at + 3, k] = a[0], sign * a[1] * per, 2.0 * a[2] * per**2
    rows_of = [poly.polyvander(e, 5) for e in (np.array([-1.0]), np.array([1.0]))]
    powers = np.arange(6)
    lines = []
    for e, line in zip((-1.0, 1.0), rows_of, strict=True):
        first = [p * e ** (p - 1) if p else 0.0 for p in powers]
        second = [p * (p - 1) * e ** (p - 2) if p > 1 else 0.0 for p in powers]
        lines += [line[0], first, second]
    return np.linalg.solve(np.array(lines), ends)


def smooth(log: Log, cutoff: Any = None) -> Smoothed:
    """A log with smooth positions and their rates.

    Args:
        log: measured positions.
        cutoff: in Hz, for all joints, for each number of the velocities, or by joint's name; where none is given, it
            is chosen from the data, so that the accelerations' error by noise and filter is least or negligible.
    """
    robot, rate = log.robot, log.rate
    (q, qd, qdd), chosen, level, sd = smooth_motion(robot, log.q, rate, log.runs, cutoff)
    pieces = [(_without_ends(run, rate, chosen), source) for run, source in zip(log.runs, log.sources, strict=True)]
    kept = [(piece, source) for piece, source in pieces if piece.stop - piece.start > 1]
    if not kept:
        longest = max(run.stop - run.start for run in log.runs)
        raise InputError(
            f"smooth: expected runs longer than {LEAST} rows, got at most {longest}. Record a longer log, or fill gaps."
        )
    rest = log._rows([piece for piece, _ in kept], tuple(source for _, source in kept))
    rows = np.concatenate([np.arange(piece.start, piece.stop) for piece, _ in kept])
    notes = _notes(robot, qdd[rows], sd)
    if short := len(pieces) - len(kept):
        notes = (f"{short} of {len(pieces)} runs are too short to be smoothed and were left out", *notes)
    return Smoothed(rest, q[rows], qd[rows], qdd[rows], chosen, level, sd, notes)


def smooth_motion(
    robot: Robot, q: Array, rate: float, runs: Sequence[slice], cutoff: Any = None, count: int = 2
) -> tuple[list[Array], Array, Array, Array]:
    """Smooth positions (rows, nq) and their first so many rates (rows, nv), and what `Smoothed` says of them.

    Returns:
        The motion, cutoffs (nv,) in Hz, the noise (nv,) of positions, and standard deviations (3, nv).
    """
    turned, places = unbroken(robot, q), _places(robot)
    found = spectrum(turned, rate, runs)
    noise = noise_of(found) if found else None
    chosen = _cutoffs(robot, rate, cutoff, noise, places)
    by_q = _of_positions(robot, chosen)
    values, *rates = smooth_rates(turned, rate, by_q, runs, count)
    moved = velocities(robot, values, rates)
    for slot in robot.slots.values():
        if (turn := slot.quaternion) is not None:
            values[:, turn] /= np.linalg.norm(values[:, turn], axis=1, keepdims=True)
    sd, level = np.full((3, robot.nv), np.nan), np.full(robot.nv, np.nan)
    if noise is not None:
        level = _of_velocities(noise.deviation(np.full(robot.nq, np.inf), 0), places)
        sd = np.stack([_of_velocities(noise.deviation(by_q, k), places) for k in range(3)])
    return [values, *moved], chosen, level, sd


def smooth_trajectory(robot: Robot, t: Array, q: Array, cutoff: Any = None, jerks: bool = False) -> Trajectory:
    """A motion from noisy positions at rising times, which may have jitter; where none is given, by a cutoff of ours.

    All of it comes from one smooth function of time, at even instants; near its ends it is less sure.
    """
    if len(t) < LEAST:
        raise InputError(f"cutoff: expected {LEAST} rows or more to smooth, got {len(t)}. Leave the cutoff out.")
    when = instants(t, q)
    even = grid(when.t, when.step, np.inf)
    x = resampled(when.t, unbroken(robot, q[when.rows]), even.t, even.runs, when.step)
    motion, chosen, *_ = smooth_motion(robot, x, 1.0 / when.step, even.runs, cutoff, 3 if jerks else 2)
    low, high = float(chosen.min()), float(chosen.max())
    span = f"{low:.3g} Hz" if low == high else f"{low:.3g} to {high:.3g} Hz"
    origins = dict.fromkeys(["qd", "qdd", *(["qddd"] if jerks else [])], f"q, smooth below {span}")
    notes = [f"positions are smooth: what is faster than {span} was taken out", *when.notes]
    if even.filled:
        notes.append(f"{even.filled} instants without a row were filled by a cubic spline")
    x, qd, qdd, *more = motion
    return Trajectory(even.t, x, qd, qdd, True, origins, tuple(notes), more[0] if jerks else None, cutoff=high)


def _cutoffs(robot: Robot, rate: float, given: Any, noise: Noise | None, places: Sequence[Place]) -> Array:
    """(nv,) cutoffs in Hz, as given or by the data."""
    highest = HIGHEST * rate
    found = np.full(robot.nv, highest)
    if noise is not None:
        by_q = best_cutoff(noise, rate)
        found = np.array([by_q[list(columns)].max() for columns, _ in places])
        moves = np.array([noise.top[list(columns)].max() > 0.0 for columns, _ in places])
        found[~moves] = np.median(found[moves]) if moves.any() else highest
    if given is None:
        return found
    if isinstance(given, Mapping):
        for name, value in given.items():
            if name not in robot.slots:
                raise UnknownNameError("joint", name, robot.slots)
            slot = robot.slots[name]
            found[slot.v : slot.v + slot.nv] = positive(value, f"cutoff of {name!r}")
    else:
        values = [positive(x, "cutoff") for x in np.atleast_1d(np.asarray(given, dtype=object)).tolist()]
        if len(values) not in (1, robot.nv):
            raise InputError(f"cutoff: expected one frequency in Hz, or {robot.nv}, got {len(values)}.")
        found = np.array(values * (robot.nv if len(values) == 1 else 1))
    if found.max() >= rate / 2.0:
        raise InputError(f"cutoff: expected less than half the rate of {rate:.6g} Hz, got {found.max():g}.")
    return found


Place = tuple[tuple[int, ...], float]


def _places(robot: Robot) -> list[Place]:
    """For each number of a velocity the columns of positions that it is the rate of, and how large their errors are."""
    found: list[Place] = []
    for slot in robot.slots.values():
        every = range(slot.q, slot.q + slot.nq)
        turn = range(*slot.quaternion.indices(robot.nq)) if slot.quaternion else ()
        for k in range(slot.nv):
            if not slot.kind.curved:
                found.append(((slot.q + k,), 1.0))
            elif slot.kind.lengths[k]:
                found.append((tuple(x for x in every if x not in turn), 1.0))
            else:  # half the angle is in a quaternion
                found.append((tuple(turn), 2.0))
    return found


def _of_velocities(errors: Array, places: Sequence[Place]) -> Array:
    return np.array([factor * np.sqrt(np.mean(errors[list(columns)] ** 2)) for columns, factor in places])


def _of_positions(robot: Robot, cutoff: Array) -> Array:
    """(nq,) cutoffs of the numbers in q; all of a joint with a quaternion have the highest of theirs."""
    found = np.full(robot.nq, np.median(cutoff))
    for slot in robot.slots.values():
        own = cutoff[slot.v : slot.v + slot.nv]
        if slot.nv:
            found[slot.q : slot.q + slot.nq] = own.max() if slot.kind.curved else own
    return found


def _without_ends(run: slice, rate: float, cutoff: Array) -> slice:
    """A run without the ends where the filter has no neighbours; empty where nothing else is there."""
    rows = run.stop - run.start
    cut = min(int(ENDS * rate / float(cutoff.min())) + 1, int(MOST_CUT * rows) + 1)
    return slice(run.start + cut, run.stop - cut) if rows > LEAST else slice(run.start, run.start)


def _notes(robot: Robot, qdd: Array, sd: Array) -> tuple[str, ...]:
    rms = np.sqrt(np.mean(qdd**2, axis=0))
    names = [name.removeprefix("qd.") for name in column_names(robot, "qd")]
    bad = [f"{n} {s:.2g} of {r:.2g}" for n, s, r in zip(names, sd[2], rms, strict=True) if s > NOISY * r]
    if not bad:
        return ()
    return (
        f"noise is a large part of smooth accelerations (standard deviation of root mean square): {', '.join(bad)}."
        " Move faster, or measure better",
    )
