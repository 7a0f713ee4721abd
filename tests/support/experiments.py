"""Experiments for identification: periodic motions with exact rates, and how far estimates are from the truth."""

from collections.abc import Mapping

import numpy as np

import linkwise as lw
from linkwise.identification.fit import Fit
from linkwise.motion.spline import unbroken, velocities

RATE, PERIOD = 250.0, 10.0
ROWS = round(RATE * PERIOD)


def waves(count: int, seed: int, harmonics: int = 4) -> np.ndarray:
    """(ROWS, count) Fourier series along one period, each at most one."""
    t, f = np.arange(ROWS) / ROWS, np.arange(1, harmonics + 1)
    a = np.random.default_rng(seed).normal(size=(2, harmonics, count)) / f[:, None]
    x = np.sin(2 * np.pi * np.outer(t, f)) @ a[0] + np.cos(2 * np.pi * np.outer(t, f)) @ a[1]
    return x / np.abs(x).max(axis=0)


def rate(x: np.ndarray) -> np.ndarray:
    """The rate of smooth columns along one period."""
    F = np.fft.rfft(x, axis=0)
    return np.fft.irfft(F * (2j * np.pi * np.fft.rfftfreq(len(x), 1.0 / RATE))[:, None], n=len(x), axis=0)


def motion(robot: lw.Robot, width: float | np.ndarray, seed: int = 0) -> list[np.ndarray]:
    """Positions, velocities and accelerations along one period, about the robot's reference."""
    start = np.tile(robot.q(), (ROWS, 1))
    q = unbroken(robot, lw.compile(robot).integrate(start, width * waves(robot.nv, seed), 1.0))
    first = rate(q)
    return [q, *velocities(robot, q, [first, rate(first)])]


def repeated(x: np.ndarray, times: int) -> np.ndarray:
    """Some periods."""
    return np.tile(x, (times, 1))


def noisy(x: np.ndarray, size: float | np.ndarray, seed: int) -> np.ndarray:
    """Columns with white noise."""
    return x + size * np.random.default_rng(seed).normal(size=x.shape)


def times(rows: int) -> np.ndarray:
    """Of so many rows."""
    return np.arange(rows) / RATE


def truth(fit: Fit, robot: lw.Robot, extra: Mapping[str, float] | None = None) -> np.ndarray:
    """The groups of a fit for the true robot, with those of the extra columns that are not zero."""
    structure = fit.structure
    further = {**structure.springs_by_path, **(extra or {})}
    own = lw.identification.Structure(robot, sensors=structure.sensors).machine.parameters()
    values = np.concatenate([own, [further.get(e.name, 0.0) for e in structure.extras]])
    return structure.mapping @ np.where(structure.free, values, 0.0)


def distances(fit: Fit, robot: lw.Robot, extra: Mapping[str, float] | None = None) -> np.ndarray:
    """How far estimates are from the truth, in standard errors."""
    return ((fit.base.values - truth(fit, robot, extra)) / fit.base.errors)[fit.base.determined]


def inside(fit: Fit, robot: lw.Robot, extra: Mapping[str, float] | None = None) -> float:
    """The share of intervals in which the truth is."""
    right, (low, high) = truth(fit, robot, extra), fit.base.interval().T
    return float(np.mean(((low < right) & (right < high))[fit.base.determined]))
