"""Delays of torques against positions: found together with the parameters, and kept among the unknowns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwise.identification.least_squares import solve
from linkwise.identification.samples import Rows, Samples
from linkwise.motion.trajectory import Array

LATE = 0.1  # s: a delay may well be
ROUNDS = 6  # in which a delay is found
STILL = 1e-6  # s: a change of the delay that ends them


def delayed(
    samples: Samples, rows: Rows, prior: Array, by: bool | str, rounds: int = ROUNDS
) -> tuple[Rows, Array, Array]:
    """The equations with torques brought forward, the delay of each drive, and its columns (delays, rows, nu).

    Args:
        samples: that gave the equations.
        rows: the equations, in what differs from the prior.
        prior: of the columns' parameters.
        by: True for one delay of all torques, "drive" for one of each, False for none.
        rounds: in which it is found; zero for the columns alone.
    """
    nu = rows.b.shape[1]
    late = np.zeros(nu)
    if not by:
        return rows, late, np.zeros((0, *rows.b.shape))
    groups = np.eye(nu)[rows.used.any(axis=0)] if by == "drive" else np.ones((1, nu))
    new, found = rows, solve(rows, "weighted")
    for _ in range(rounds):
        found = solve(new, "weighted", start=found)
        columns = -_slope(new, new.A @ (found.x + prior))[None] * groups[:, None, :]
        step = solve(with_delays(new, columns), "weighted", start=found).x[-len(groups) :] @ groups
        late = late + np.clip(step, -0.5 / samples.cutoff, 0.5 / samples.cutoff)
        new = samples.shifted(rows, late)
        if np.abs(step).max() < STILL:
            break
    found = solve(new, "weighted", start=found)
    return new, late, -_slope(new, new.A @ (found.x + prior))[None] * groups[:, None, :]


def with_delays(rows: Rows, columns: Array) -> Rows:
    """The equations with columns of delays after the others."""
    size = None if rows.size is None else np.append(rows.size, np.full(len(columns), LATE))
    return replace(rows, A=np.concatenate([rows.A, np.moveaxis(columns, 0, -1)], axis=2), size=size)


def _slope(rows: Rows, tau: Array) -> Array:
    """Rates of torques along the rows of each run."""
    from scipy.interpolate import CubicSpline

    found = np.zeros_like(tau)
    for k in np.unique(rows.run):
        at = np.flatnonzero(rows.run == k)
        if len(at) > 3:
            found[at] = CubicSpline(rows.t[at], tau[at])(rows.t[at], 1)
    return found
