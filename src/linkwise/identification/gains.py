"""Gains of drives, torque per ampere, from currents along a motion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from linkwise.identification.least_squares import solve, whitened
from linkwise.identification.samples import Samples
from linkwise.identification.structure import INERTIAL, Structure
from linkwise.motion.trajectory import Array

ROUNDS = 200
SETTLED = 1e-5  # relative change of gains with which rounds end
TOLD = 0.5  # of a current's variance beside friction and rotor, that the robot as given explains where it tells a gain
WHOLE = 0.8  # of all its variance, likewise, where friction and rotor are those of the robot as given
FAR = 3.0  # times the gain of the robot as given, beyond which no other is believed


def calibrated(samples: Samples, structure: Structure, current: Array, tau: Array) -> tuple[Array, Any]:
    """(nu,) gains by which currents (rows, nu) agree with one robot, NaN for drives without current.

    The gain of the drive with the largest torque by the robot as given, tau (rows, nu), is that which explains this
    torque best: a common factor of all gains and parameters is not in the data. The others are found in turns: with
    gains the parameters that fit best, and with these the gains by which predicted torques explain currents. A drive
    whose torque is its own friction and rotor alone keeps the gain that the robot as given has, if that robot explains
    the current; else it tells no gain, and gets the median of the others.

    Returns:
        The gains, and (nu,) whether currents tell them.
    """
    known = np.isfinite(current).any(axis=0) & np.any(np.nan_to_num(current), axis=0)
    x, tau = np.nan_to_num(current), np.nan_to_num(tau)
    rows = samples.rows(structure, structure.kept, structure.held)
    i, by = (np.stack([samples.column(y[:, u]) for u in range(x.shape[1])], axis=1) * rows.used for y in (x, tau))
    own = structure.kept >= INERTIAL * len(structure.machine.moving_links)  # friction, rotors, offsets
    pairs = [_first(i[:, u], by[:, u], rows.A[:, u, own]) if known[u] else (np.nan, 0.0) for u in range(len(known))]
    gains, share = np.array(pairs).T
    moved = known & (share > TOLD) & (gains > 0.0)
    whole = np.sum(i * by, axis=0) / np.sqrt(np.maximum(np.sum(i * i, axis=0) * np.sum(by * by, axis=0), 1e-300))
    told = moved | (known & (whole > np.sqrt(WHOLE)))
    plain = np.sum(by * i, axis=0) / np.maximum(np.sum(i * i, axis=0), 1e-300)
    gains = np.where(moved, gains, np.where(told, plain, np.nan))
    gains = np.where(known & ~told, np.median(gains[told]) if told.any() else 1.0, gains)
    first = gains.copy()
    sure = int(np.nanargmax(np.where(told if told.any() else known, np.mean(by**2, axis=0), np.nan)))
    away = np.where(rows.used, rows.b - i, 0.0)  # what is known beside the currents
    start = solve(replace(rows, b=np.nan_to_num(gains) * i + away), "weighted")
    A = whitened(rows.A, rows, start.sigma, start.weight)
    flat = A.reshape(-1, A.shape[2])
    for _ in range(ROUNDS):
        b = whitened(np.nan_to_num(gains) * i + away, rows, start.sigma, start.weight)
        found = rows.A @ (start.bread @ (flat.T @ b.ravel())) - away
        ratio = np.sum(found * found, axis=0) / np.where(known, np.sum(found * i, axis=0), 1.0)
        new = np.where(known, ratio, np.nan)
        new = np.where(moved, new * gains[sure] / new[sure], gains)
        change = float(np.nanmax(np.abs(new / gains - 1.0)))
        gains = new
        if change < SETTLED:
            break
    odd = moved & ~((gains > first / FAR) & (gains < FAR * first))
    return np.where(odd, first, gains), told


def _first(i: Array, tau: Array, own: Array) -> tuple[float, float]:
    """The gain by which a torque explains a current beside columns of its own, and how much of it."""
    both = np.stack([i, tau], axis=1)
    size = np.maximum(np.linalg.norm(own, axis=0), 1e-300)
    rest = both - own @ (np.linalg.lstsq(own / size, both, rcond=1e-9)[0] / size[:, None])
    a, b, c = rest[:, 0] @ rest[:, 0], rest[:, 1] @ rest[:, 1], rest[:, 0] @ rest[:, 1]
    if not (b > 1e-18 * max(float(tau @ tau), 1e-300) and c and a):
        return np.nan, 0.0
    return float(b / c), float(c * c / (a * b))
