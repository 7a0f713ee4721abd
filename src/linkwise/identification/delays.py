"""Delays of torques against positions: found together with the parameters, and kept among the unknowns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwise.identification.least_squares import solve
from linkwise.identification.samples import Rows, Samples
from linkwise.identification.structure import Structure
from linkwise.motion.trajectory import Array

LATE = 0.1  # s: a delay may well be
ROUNDS = 6  # in which a delay is found
STILL = 1e-6  # s: a change of the delay that ends them


def delayed(
    samples: Samples, structure: Structure, rows: Rows, prior: Array, by: bool | str, rounds: int = ROUNDS
) -> tuple[Rows, Array, Array]:
    """The equations with torques brought forward, the delay of each drive, and its columns (delays, rows, nu).

    Args:
        samples: that gave the equations.
        structure: of these.
        rows: the equations, in what differs from the prior.
        prior: of the columns' parameters.
        by: True for one delay of all torques and wrenches, "drive" for one of each torque, False for none.
        rounds: in which it is found; zero for the columns alone.
    """
    nu = rows.b.shape[1]
    late = np.zeros(nu)
    timed = rows.used.any(axis=0) & samples.timed
    groups = timed[None].astype(float)
    if by == "drive":
        groups = np.eye(nu)[timed & np.any(np.nan_to_num(samples.measured), axis=0)]
    if not by or not len(groups):
        return rows, late, np.zeros((0, *rows.b.shape))
    new, found = rows, solve(rows, "weighted")
    for _ in range(rounds):
        found = solve(new, "weighted", start=found)
        columns = -_slope(new, new.A @ (found.x + prior))[None] * groups[:, None, :]
        step = solve(with_delays(new, columns), "weighted", start=found).x[-len(groups) :] @ groups
        late = late + np.clip(step, -0.5 / samples.cutoff, 0.5 / samples.cutoff)
        new = samples.shifted(rows, late)
        if by != "drive":
            new = _pushed_later(samples, structure, new, float(late[timed].mean()))
        if np.abs(step).max() < STILL:
            break
    found = solve(new, "weighted", start=found)
    return new, late, -_slope(new, new.A @ (found.x + prior))[None] * groups[:, None, :]


def _pushed_later(samples: Samples, structure: Structure, rows: Rows, delay: float) -> Rows:
    """The equations with wrenches on the robot that come later by `delay`, in s."""
    from scipy.interpolate import CubicSpline

    log, low_pass = samples.smoothed.log, samples.low_pass
    if not structure.pushes(log.wrenches) or delay == 0.0:
        return rows
    state = structure.state(samples.smoothed)
    moved = {frame: np.empty_like(x) for frame, x in state.wrenches.items()}
    for run in log.runs:
        at = np.clip(log.t[run] + delay, log.t[run][0], log.t[run][-1])
        for frame, into in moved.items():
            into[run] = CubicSpline(log.t[run], state.wrenches[frame][run])(at)
    more = np.asarray(structure.known(replace(state, wrenches=moved))) - structure.known(state)
    parts = [low_pass(more[p], p.start, m) for run in log.runs for p, m in low_pass.blocks(run)]
    return replace(rows, b=np.where(rows.used, rows.b - np.concatenate(parts), 0.0))


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
