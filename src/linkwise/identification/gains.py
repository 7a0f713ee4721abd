"""Gains of drives, torque per ampere, from currents along a motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwise.identification.least_squares import solve, whitened
from linkwise.identification.samples import Samples
from linkwise.identification.structure import Structure
from linkwise.motion.trajectory import Array

ROUNDS = 200
SETTLED = 1e-5  # relative change of gains with which rounds end
TINY = 1e-9  # torque per ampere of a robot without masses


def calibrated(samples: Samples, structure: Structure, current: Array, tau: Array) -> Array:
    """(nu,) gains by which currents (rows, nu) agree with one robot, NaN for drives without current.

    The gain of the drive with the largest torque by the robot as given, tau (rows, nu), is that which explains this
    torque best: a common factor of all gains and parameters is not in the data. The others are found in turns: with
    gains the parameters that fit best, and with these the gains by which predicted torques explain currents. A drive
    whose torque is its own friction and rotor alone keeps the gain that the robot as given has.
    """
    known = np.isfinite(current).any(axis=0) & np.any(np.nan_to_num(current), axis=0)
    x, tau = np.nan_to_num(current), np.nan_to_num(tau)
    gains = np.where(known, np.sum(tau * x, axis=0) / np.maximum(np.sum(x * x, axis=0), 1e-300), np.nan)
    gains = np.where(np.abs(gains) > TINY, gains, np.where(known, 1.0, np.nan))
    sure = int(np.nanargmax(np.where(known, np.mean(tau**2, axis=0), np.nan)))
    rows = samples.rows(structure, structure.kept, structure.held)
    i = np.stack([samples.column(x[:, u]) for u in range(x.shape[1])], axis=1) * rows.used
    away = np.where(rows.used, rows.b - i, 0.0)  # what is known beside the currents
    start = solve(replace(rows, b=np.nan_to_num(gains) * i + away), "weighted")
    A = whitened(rows.A, rows, start.sigma, start.weight)
    flat = A.reshape(-1, A.shape[2])
    for _ in range(ROUNDS):
        b = whitened(np.nan_to_num(gains) * i + away, rows, start.sigma, start.weight)
        found = rows.A @ (start.bread @ (flat.T @ b.ravel())) - away
        ratio = np.sum(found * found, axis=0) / np.where(known, np.sum(found * i, axis=0), 1.0)
        new = np.where(known, ratio, np.nan)
        new = new * gains[sure] / new[sure]
        change = float(np.nanmax(np.abs(new / gains - 1.0)))
        gains = new
        if change < SETTLED:
            break
    return np.asarray(gains)
