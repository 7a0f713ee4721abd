"""Rows of equations from a log: columns and torques through the same low-pass, and of those one in so many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.identification.laws import State
from linkwise.identification.structure import Structure
from linkwise.motion.log import Log
from linkwise.motion.smoothing import Smoothed, smooth_rates
from linkwise.motion.spectrum import gain
from linkwise.motion.spline import unbroken, velocities
from linkwise.motion.trajectory import Array

SIDE = 1.5  # periods of the cutoff on either side of the low-pass's middle
KAISER = 6.0  # its window
OVERSAMPLED = 3.0  # rows kept for each period of the cutoff
UNSURE = 2.0  # times by which friction at reversals is taken to be less sure than noise makes it
REST = 0.3  # of that: a drive whose friction is as unsure is at rest; by noise alone it would be two thirds
NEAR = 4.0  # times a frequency, up to where noise is measured
HIGH = 0.3  # of the rate, likewise: beyond, interpolation has taken from it
SHORT = 64  # rows of a run that tells no noise
WIDE = 2.0  # positions are smoothed at so many times the cutoff of the low-pass
BLOCK = 4096  # rows of the log whose columns are held at once


@dataclass(frozen=True, eq=False)
class Rows:
    """Equations tau = A @ x + known, after the low-pass.

    Attributes:
        t: (rows,) times.
        A: (rows, nu, columns).
        b: (rows, nu) torques, what is known taken off.
        used: (rows, nu) whether an equation counts: measured.
        unsure: (rows, nu) by how much Coulomb friction of a drive is unsure, as a part of it: its speed changes sign.
        trust: (rows, nu) how much less an equation counts than others of its drive, as a factor.
        run: (rows,) the run of each row.
        rate: rows a second.
        size: (columns,) how large a parameter may well be; what the data do not tell stays as near to zero as that.
    """

    t: Array
    A: Array
    b: Array
    used: Array
    unsure: Array
    trust: Array
    run: Array
    rate: float
    size: Array | None = None

    def __len__(self) -> int:
        return len(self.t)

    @cached_property
    def patterns(self) -> list[tuple[Any, Any]]:
        """Rows in which the same drives were measured, and these drives."""
        if self.used.all():
            return [(slice(None), slice(None))]
        found, which = np.unique(self.used, axis=0, return_inverse=True)
        return [(np.flatnonzero(which.ravel() == k), np.flatnonzero(x)) for k, x in enumerate(found) if x.any()]

    def take(self, columns: Any) -> Rows:
        """Some columns."""
        size = None if self.size is None else self.size[columns]
        return replace(self, A=np.ascontiguousarray(self.A[:, :, columns]), size=size)

    def part(self, rows: Any) -> Rows:
        """Some rows."""
        each = ("t", "A", "b", "used", "unsure", "trust", "run")
        return replace(self, **{key: getattr(self, key)[rows] for key in each})

    @cached_property
    def still(self) -> Any:
        """(rows, nu) whether a drive is at rest, where friction may be anything up to Coulomb's."""
        return np.asarray(self.unsure > REST * UNSURE)

    def trusting(self, coulomb: Array, sigma: Array) -> Rows:
        """Equations that count less where friction is unsure: `coulomb` (nu,) of the drives, by their residuals.

        While a drive is at rest its friction stays what it is, so that all rows of a rest count as one.
        """
        trust = 1.0 / np.sqrt(1.0 + (self.unsure * coulomb) ** 2 / np.maximum(sigma, 1e-300))
        for u in np.flatnonzero(self.still.any(axis=0)):
            changes = np.diff(self.still[:, u]) | np.diff(self.run).astype(bool)
            ends = np.concatenate([[0], np.flatnonzero(changes) + 1, [len(self)]])
            trust[:, u] /= np.sqrt(np.where(self.still[:, u], np.repeat(np.diff(ends), np.diff(ends)), 1.0))
        return replace(self, trust=trust)


class LowPass:
    """A symmetric low-pass that keeps a row in every `step`; it shifts nothing in time, and can shift on purpose."""

    def __init__(self, rate: float, cutoff: float) -> None:
        self.rate, self.cutoff = rate, min(cutoff, 0.45 * rate)
        self.step = max(1, int(rate / (OVERSAMPLED * self.cutoff)))
        self.half = max(1, round(SIDE * rate / self.cutoff))

    def weights(self, delay: float = 0.0) -> Array:
        """Of 2 half + 1 neighbours, for what comes later by `delay`, in s."""
        return _weights(self.half, self.cutoff / self.rate, delay * self.rate)

    def middles(self, run: slice) -> Array:
        """Rows of the log in the middle of each kept row."""
        return np.arange(run.start + self.half, run.stop - self.half, self.step)

    def __call__(self, x: Array, first: int, middles: Array, delay: float = 0.0) -> Array:
        """Filtered rows at `middles`, of rows of the log `x` that begin with `first`."""
        from scipy.sparse import csr_array

        width = 2 * self.half + 1
        at = (middles[:, None] - first - self.half + np.arange(width)).ravel()
        ends = np.arange(0, len(at) + 1, width)
        F = csr_array((np.tile(self.weights(delay), len(middles)), at, ends), shape=(len(middles), len(x)))
        return np.asarray((F @ x.reshape(len(x), -1)).reshape(len(middles), *x.shape[1:]))

    def blocks(self, run: slice) -> Iterator[tuple[slice, Array]]:
        """Pieces of the log, and the rows kept of each."""
        middles = self.middles(run)
        count = max(1, (BLOCK - 2 * self.half) // self.step, 2 * self.half // self.step)
        for k in range(0, len(middles), count):
            some = middles[k : k + count]
            yield slice(int(some[0]) - self.half, int(some[-1]) + self.half + 1), some


@lru_cache(maxsize=64)
def _weights(half: int, cutoff: float, delay: float) -> Array:
    x = np.arange(-half, half + 1) - delay
    inside = np.clip(1.0 - (x / (half + 1.0)) ** 2, 0.0, None)
    w = np.sinc(2.0 * cutoff * x) * np.i0(KAISER * np.sqrt(inside)) * (inside > 0.0)
    return np.asarray(w / w.sum())


@dataclass(frozen=True, eq=False)
class Samples:
    """A smooth log that gives rows of equations.

    Args:
        smoothed: the motion.
        measured: (rows, nu) torques, NaN where there are none.
        cutoff: of the low-pass that columns and torques go through, in Hz.
        noise: (nq,) standard deviations of the noise of positions, taken as white.
        step: s, between instants of positions and torques at most.
        timed: (nu,) whether a sensor measured a row, so that it may be late; all by default.
        values: of all parameters, as far as known, for friction that grows with the load.
    """

    smoothed: Smoothed
    measured: Array
    cutoff: float
    noise: Array
    step: float = 0.0
    timed: Any = True
    values: Array | None = None

    def state(self, structure: Structure) -> tuple[State, Array]:
        """The motion with which way friction pushes, and by how much that is unsure."""
        s = self.smoothed
        return structure.with_friction(structure.state(s, self.values), s.log.runs, s.log.rate, self.step)

    @property
    def low_pass(self) -> LowPass:
        return LowPass(self.smoothed.log.rate, self.cutoff)

    def rows(self, structure: Structure, columns: Any, held: Array, move: tuple[Array, ...] | None = None) -> Rows:
        """Equations in some columns, all others held at `held`; of the motion, or of one that is moved a bit."""
        log, low_pass = self.smoothed.log, self.low_pass
        state, doubt = self.state(structure)
        if move is not None:
            state = replace(state, q=state.q + move[0], qd=state.qd + move[1], qdd=state.qdd + move[2])
        parts: list[tuple[Array, ...]] = []
        for k, run in enumerate(log.runs):
            for piece, middles in low_pass.blocks(run):
                Y = structure.columns(state.rows(piece))
                known = Y @ held + structure.known(state.rows(piece))
                A = low_pass(np.take(Y, columns, axis=2), piece.start, middles)
                b = low_pass(self.measured[piece] - known, piece.start, middles)
                unsure = UNSURE * low_pass(doubt[piece], piece.start, middles)
                parts.append((log.t[middles], A, b, np.isfinite(b), np.abs(unsure), np.full(len(middles), k)))
        if not parts:
            raise InputError(
                f"log of {log.robot.name!r}: expected runs longer than {2 * low_pass.half / log.rate:.3g} s, for a"
                f" cutoff of {self.cutoff:.3g} Hz. Give a longer log, or a higher cutoff."
            )
        t, A, b, used, unsure, run_of = (np.concatenate(x) for x in zip(*parts, strict=True))
        return Rows(t, A, np.where(used, b, 0.0), used, unsure, np.ones(b.shape), run_of, log.rate / low_pass.step)

    def column(self, values: Array) -> Array:
        """(rows,) a column of the log through the low-pass."""
        low_pass, log = self.low_pass, self.smoothed.log
        pieces = [(piece, m) for run in log.runs for piece, m in low_pass.blocks(run)]
        return np.concatenate([low_pass(values[piece], piece.start, m) for piece, m in pieces])

    def shifted(self, rows: Rows, delay: Array) -> Rows:
        """The same equations with torques that come later by `delay` (nu,), in s."""
        log, low_pass = self.smoothed.log, self.low_pass
        pieces = [(piece, middles) for run in log.runs for piece, middles in low_pass.blocks(run)]
        moved = np.empty(rows.b.shape)
        for d in np.unique(delay):
            late = delay == d
            x = self.measured[:, late]
            parts = [low_pass(x[p], p.start, m, float(d)) - low_pass(x[p], p.start, m) for p, m in pieces]
            moved[:, late] = np.concatenate(parts)
        return replace(rows, b=np.where(rows.used, rows.b + moved, 0.0))

    def disturbed(self, seed: int) -> tuple[Array, ...]:
        """Noise as that of the positions after smoothing: of positions, velocities and accelerations."""
        s = self.smoothed
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=s.log.q.shape) * self.noise
        cutoff, robot = np.full(noise.shape[1], WIDE * self.cutoff), s.log.robot
        n, *rates = smooth_rates(noise, s.log.rate, cutoff, s.log.runs)
        if robot.nq == robot.nv:
            return n, *rates
        # velocities are not the rates of quaternions, but depend on these
        q, *own = smooth_rates(unbroken(robot, s.log.q), s.log.rate, cutoff, s.log.runs)
        moved = velocities(robot, q + n, [a + b for a, b in zip(own, rates, strict=True)])
        return n, *(a - b for a, b in zip(moved, velocities(robot, q, own), strict=True))


def noise_level(log: Log, frequency: float) -> Array:
    """(nq,) standard deviation of white noise that is as dense as what positions have just above a frequency, in Hz."""
    top = min(NEAR * frequency, HIGH * log.rate)
    parts = []
    for run in log.runs:
        x = log.q[run]
        n = len(x)
        if n < SHORT:
            continue
        window = np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 4
        line = np.linspace(0.0, 1.0, n)[:, None]
        power = np.abs(np.fft.rfft((x - x[0] - (x[-1] - x[0]) * line) * window[:, None], axis=0)) ** 2
        f = np.fft.rfftfreq(n, 1.0 / log.rate)
        within = (f >= min(frequency, 0.5 * top)) & (f <= top)
        parts.append(power[within] / float(window @ window))
    if not parts:
        return np.zeros(log.q.shape[1])
    return np.asarray(np.sqrt(np.median(np.concatenate(parts), axis=0) / np.log(2.0)))


def spread_of(log: Log, noise: Array, cutoff: float) -> Array:
    """(nv,) standard deviations of smooth velocities by white noise of positions, smoothed at a cutoff in Hz.

    Those of joints with a quaternion, which have no friction, are zero.
    """
    f = np.linspace(0.0, log.rate / 2.0, 2001)
    passed = np.mean((2.0 * np.pi * f * gain(f, np.asarray(cutoff))) ** 2)
    found = np.zeros(log.robot.nv)
    for slot in log.robot.slots.values():
        if slot.nq == slot.nv:
            found[slot.v : slot.v + slot.nv] = noise[slot.q : slot.q + slot.nq]
    return np.asarray(found * np.sqrt(passed))
