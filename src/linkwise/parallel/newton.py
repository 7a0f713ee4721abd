"""Poses from actuated joints: Newton's method with shortened steps, over a batch."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError

Array = NDArray[np.float64]
ITERATIONS = 60
SHORTEST = 1e-4  # of a Newton step


class ForwardKinematics(NamedTuple):
    """Poses found.

    Args:
        pose: (..., nq); NaN where none was found.
        converged: (...,), whether one was found.
        residual: (...,), the largest distance of an actuated joint from its position, m or rad.
        iterations: steps that were made for the slowest row.
    """

    pose: Array
    converged: NDArray[np.bool_]
    residual: Array
    iterations: int


def solve(
    closure: Callable[..., Any], positions: Any, guess: Any, tolerance: float, turning: bool
) -> ForwardKinematics:
    """The poses near `guess` at which the actuated joints stand at `positions`.

    Args:
        closure: (pose, positions) -> the change of the pose's numbers that Newton's method makes, and the residual.
        positions: (..., na).
        guess: (..., nq).
        tolerance: of the residual.
        turning: whether the last four numbers of a pose are a quaternion.
    """
    first = closure(guess, positions)  # says what is wrong with shapes
    batch = first.residual.shape[:-1]
    goal = _rows(positions, batch)
    pose = _unit(_rows(guess, batch).copy(), turning)
    step, residual = (np.array(x) for x in closure(pose, goal))
    size = _size(residual)
    open_ = np.flatnonzero(np.isfinite(size) & np.isfinite(step).all(axis=1))
    iterations = 0
    while len(open_) and iterations < ITERATIONS:
        iterations += 1
        better = _improve(closure, pose, goal, step, size, open_, turning)
        open_ = better[size[better] > 0.0]
    converged = size <= tolerance
    pose[~converged] = np.nan
    return ForwardKinematics(
        pose.reshape(*batch, pose.shape[-1]), converged.reshape(batch)[()], size.reshape(batch)[()], iterations
    )


def _improve(
    closure: Callable[..., Any], pose: Array, goal: Array, step: Array, size: Array, rows: Any, turning: bool
) -> Any:
    """Move the rows along their steps, halved until the residual shrinks; returns those that moved."""
    moved, fraction = [], 1.0
    while len(rows) and fraction >= SHORTEST:
        tried = _unit(pose[rows] + fraction * step[rows], turning)
        found = closure(tried, goal[rows])
        now = _size(found.residual)
        good = (now < size[rows]) & np.isfinite(found.rate).all(axis=1)
        done = rows[good]
        pose[done], step[done], size[done] = tried[good], found.rate[good], now[good]
        moved.append(done)
        rows, fraction = rows[~good], 0.5 * fraction
        if fraction < 1.0:  # at round-off no fraction helps
            rows = rows[size[rows] > 1e-13]
    return np.concatenate(moved) if moved else np.empty(0, dtype=int)


def _rows(x: Any, batch: tuple[int, ...]) -> Array:
    array = np.asarray(x, dtype=float)
    return np.broadcast_to(array, (*batch, array.shape[-1])).reshape(prod(batch), array.shape[-1])


def _unit(pose: Array, turning: bool) -> Array:
    """The poses with quaternions of length one, changed in place."""
    if turning:
        with np.errstate(all="ignore"):
            pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    return pose


def _size(residual: Array) -> Array:
    return np.abs(residual).max(axis=-1)


def check_tolerance(tolerance: Any) -> float:
    """A tolerance that can be met."""
    try:
        value = float(tolerance)
    except (TypeError, ValueError):
        value = np.nan
    if not 1e-14 <= value <= 1.0:
        raise InputError(f"tolerance: expected a number from 1e-14 to 1, got {tolerance!r}.")
    return value
