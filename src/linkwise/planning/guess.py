"""Where planning begins: a first motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.planning.curve import Array, Curve
from linkwise.planning.kernels import PointKernel
from linkwise.planning.problem import Problem
from linkwise.planning.result import Plan
from linkwise.planning.solvable import beyond
from linkwise.planning.words import positive

PASSES = 4  # through the instants of a robot with loops, where frames are to be reached too


def first_motion(problem: Problem, guess: Any) -> Curve:
    """The motion to begin with."""
    if isinstance(guess, Plan):
        if guess.robot.names != problem.robot.names:
            raise InputError(f"guess: expected a plan of joints {problem.robot.names}, got one of {guess.robot.names}.")
        return guess.curve.with_basis(problem.basis)
    basis, n = problem.basis, len(problem.robot.names)
    if guess is not None and np.ndim(guess) == 2:
        path = _rows(guess)
        if path.shape[1] != n or len(path) < 2:
            raise InputError(f"guess: expected positions (k, {n}) with at least two rows, got shape {path.shape}.")
        at = np.linspace(0.0, 1.0, len(path))
        shape = np.stack([np.interp(basis.abscissae, at, x) for x in path.T], axis=1)
    elif guess is not None and np.ndim(guess) != 0:
        raise InputError(f"guess: expected a Plan, positions (k, {n}) or a duration, got {guess!r}.")
    else:
        shape = _line(problem)
        several = problem.robot.loops and len(problem.instants) > 1  # what reaches a frame opens loops, and the reverse
        for _ in range(PASSES if several else 1):
            shape = _through(problem, shape)
    if np.ndim(guess) == 0 and guess is not None:
        return Curve(basis, shape, positive(guess, "guess"))
    return Curve(basis, shape, problem.duration or _guessed_duration(problem, shape))


def _rows(guess: Any) -> Array:
    try:
        path = np.asarray(guess, dtype=float)
    except (TypeError, ValueError):
        path = np.full((1, 1), np.nan)
    if not np.isfinite(path).all():
        raise InputError(f"guess: expected finite positions, got {guess!r}.")
    return path


def _line(problem: Problem) -> Array:
    """Straight from start to goal, in even steps between the control points that the ends fix."""
    fixed = problem.ends.fixed
    count = len(fixed)
    shape = np.zeros_like(fixed)
    middle = np.clip(np.zeros(fixed.shape[1]), *problem.box)
    for j, column in enumerate(fixed.T):
        known = np.flatnonzero(np.isfinite(column))
        shape[:, j] = np.interp(np.arange(count), known, column[known]) if len(known) else middle[j]
    return shape


def _through(problem: Problem, shape: Array) -> Array:
    """The motion bent so that it passes where frames are to be, each reached by Gauss's and Newton's steps from it."""
    at, offset = {0.0: np.zeros(shape.shape[1]), 1.0: np.zeros(shape.shape[1])}, problem.basis.abscissae
    for samples in problem.instants:
        for s, data in zip(samples.s.tolist(), samples.data, strict=True):
            q = problem.basis.matrix([s])[0] @ shape
            at[s] = at.get(s, 0.0) + _reached(samples.kernel, q, data, *problem.box) - q
    known = np.array(sorted(at))
    bends = np.array([at[s] for s in known])
    return shape + np.stack([np.interp(offset, known, b) for b in bends.T], axis=1)


def _reached(kernel: PointKernel, q: Array, data: Array, lower: Array, upper: Array, steps: int = 50) -> Array:
    """Positions near q, at rest, at which rows are within their bounds, or nearly."""
    low, high = (np.concatenate([getattr(g, k) for g in kernel.rows]) for k in ("lower", "upper"))
    rows, joints = kernel.entries.T
    for _ in range(steps):
        z = np.zeros((kernel.orders, len(q)))
        z[0] = q
        values, slopes = kernel.first(z, data)
        J = np.zeros((kernel.count, len(q)))
        J[rows, joints] = slopes[:, 0]
        off = values - np.clip(values, low, high)
        if np.abs(J.T @ off).max() < 1e-9:
            break
        step = np.linalg.solve(J.T @ J + 1e-6 * np.eye(len(q)), -J.T @ off)
        q = np.clip(q + step * min(1.0, 0.3 / float(np.abs(step).max())), lower, upper)
    return q


def _guessed_duration(problem: Problem, shape: Array) -> float:
    """The shortest of some durations in which the first motion keeps all limits, or is least beyond them."""
    low, high = problem.longest or (0.02, 200.0)
    tried = np.geomspace(low, high, 25)
    if problem.path_kernel is None or not np.ptp(shape, axis=0).any():  # nothing tells
        return float(np.clip(1.0, low, high))
    samples = problem.program(problem.variables(1.0), problem.grid).samples[0]
    groups = samples.kernel.rows
    lower, upper, size = (np.concatenate([getattr(g, k) for g in groups]) for k in ("lower", "upper", "scale"))
    best, least = float(tried[-1]), np.inf
    for T in tried:
        g = samples.values(shape, float(T))
        over = float(beyond(g / size, lower / size, upper / size).max())
        if over < least * (1.0 - 1e-3):
            best, least = float(T), over
        if over <= 0.0:
            break
    return best
