"""Where planning begins: a first motion."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from linkwise.check import positive
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.planning.around import is_clear, ways_around
from linkwise.planning.carrier import Carrier
from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.free_base import LABELS as FREE_BASE
from linkwise.planning.free_base import settled
from linkwise.planning.kernels import PointKernel
from linkwise.planning.positions import numbers_of
from linkwise.planning.problem import Problem
from linkwise.planning.result import Plan
from linkwise.planning.standing_guess import stood

AROUND = 101  # rows of an earlier plan that is taken over
BENDS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)  # of the way to the reference, in the middle of a motion
STEPS = 50  # towards where a frame is to be
LATER = 3.0  # times as slow
SIDE = 0.5  # of the way to the middle of ranges, or away from it
PASSES = 4  # through the instants of a robot with loops, where frames are to be reached too


def guesses(problem: Problem, guess: Any) -> Iterator[Curve]:
    """Motions to begin with, the best first: what was given, the straight way, slower, and bent to either side.

    Where something is in the way, ways around it come first.
    """
    first = first_motion(problem, guess)
    Carrier.of(problem.environment, problem.chart, first)  # refuses what is not finite
    begun = guess is not None or is_clear(problem, first)
    if begun:
        yield first
    if problem.near:
        for way in ways_around(problem):
            begun = True
            yield way
        if not begun:  # no way around was found: the solver is all that is left
            yield first
        return
    if guess is not None:
        with suppress(InputError):
            first = first_motion(problem, None)
            yield first
    if problem.duration is None:
        yield Curve(
            first.basis, first.points, float(np.clip(LATER * first.duration, *(problem.longest or (0, np.inf))))
        )
    middle = np.sin(np.pi * problem.basis.abscissae)[:, None] * np.isnan(problem.ends.fixed)
    for side in (SIDE, -SIDE):
        with suppress(InputError):
            bent = _closable(
                problem, np.clip(first.points + side * middle * _room(problem, first.points), *problem.box)
            )
            yield settled(problem, Curve(first.basis, bent, problem.duration or _guessed_duration(problem, bent)))


def _room(problem: Problem, shape: Array) -> Array:
    """How far control points may go to the middle of their range, at most a right angle or a metre."""
    low, high = (np.nan_to_num(b, posinf=np.nan, neginf=np.nan) for b in problem.box)
    away = np.nan_to_num(0.5 * (low + high)) - shape
    return np.where(np.abs(away) > 0.1, np.clip(away, -np.pi / 2.0, np.pi / 2.0), 1.0)


def first_motion(problem: Problem, guess: Any) -> Curve:
    """The motion to begin with."""
    if isinstance(guess, Plan):
        if guess.chart.names != problem.chart.names:
            raise InputError(f"guess: expected a plan of joints {problem.chart.names}, got one of {guess.chart.names}.")
        if guess.chart.about != problem.chart.about:  # turns that begin elsewhere
            path = numbers_of(problem.chart, guess.positions(np.linspace(0.0, guess.duration, AROUND)), "guess")
            return Curve(problem.basis, _interpolated(problem.basis, path), guess.duration)
        return guess.curve.with_basis(problem.basis)
    basis, links = problem.basis, problem.robot.rigid()
    n = links.nq
    if guess is not None and np.ndim(guess) == 2:
        path = _rows(guess)
        if path.shape[1] not in (n, problem.robot.nq, links.opened().nq) or len(path) < 2:
            raise InputError(f"guess: expected positions (k, {n}) with at least two rows, got shape {path.shape}.")
        shape = _interpolated(basis, numbers_of(problem.chart, path, "guess"))
    elif guess is not None and np.ndim(guess) != 0:
        raise InputError(f"guess: expected a Plan, positions (k, {n}) or a duration, got {guess!r}.")
    else:
        shape = _line(problem)
    if problem.chart.stances:
        return settled(problem, _stood(problem, shape, guess))
    if guess is None or np.ndim(guess) == 0:
        several = (
            problem.chart.sought and len(problem.instants) > 1
        )  # what reaches a frame opens loops, and the reverse
        for _ in range(PASSES if several else 1):
            shape = _through(problem, shape)
        shape = _closable(problem, shape)
    if np.ndim(guess) == 0 and guess is not None:
        return settled(problem, Curve(basis, shape, positive(guess, "guess")))
    curve = settled(problem, Curve(basis, shape, problem.duration or _guessed_duration(problem, shape)))
    if curve.points is not shape and problem.duration is None:  # a base that goes along takes another time
        return Curve(basis, curve.points, _guessed_duration(problem, curve.points))
    return curve


def _stood(problem: Problem, shape: Array, guess: Any) -> Curve:
    """The first motion of a robot whose contacts stand, near a shape; a guess may be its duration."""
    duration = problem.duration or (positive(guess, "guess") if guess is not None and np.ndim(guess) == 0 else 1.0)
    fixed = problem.ends.fixed
    return Curve(problem.basis, stood(problem, np.where(np.isnan(fixed), shape, fixed), duration), duration)


def _interpolated(basis: Basis, path: Array) -> Array:
    """Control points near the rows of a path, which are passed in even steps of time."""
    at = np.linspace(0.0, 1.0, len(path))
    return np.stack([np.interp(basis.abscissae, at, x) for x in path.T], axis=1)


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


def _closable(problem: Problem, shape: Array) -> Array:
    """The motion, bent towards the robot's reference where loops could not be closed on the way otherwise.

    Solvers can do nothing with a motion that does not exist. Where loops are rows of the problem there always is one.
    """
    chart, basis = problem.chart, problem.basis
    if chart.sought:
        return shape
    links = problem.robot.rigid()
    dyn, B = compile(links), basis.matrix(problem.grid)
    q = links.q()
    home, middle = chart.numbers(q, dyn.positions(q).q), np.sin(np.pi * basis.abscissae)[:, None]
    fixed = problem.ends.fixed
    for share in BENDS:
        bent = np.where(np.isfinite(fixed), fixed, shape + share * middle * (home - shape))
        if dyn.positions(chart.motion([B @ bent])[0]).converged.all():
            return bent if share else shape
    raise InputError(
        "plan: the loops cannot be closed on a straight way from start to goal, or one bent towards the reference."
        " Give guess=..., positions to pass at which they can be."
    )


def _through(problem: Problem, shape: Array) -> Array:
    """The motion bent so that it passes where frames are to be, each reached by Gauss's and Newton's steps from it."""
    at, offset = {0.0: np.zeros(shape.shape[1]), 1.0: np.zeros(shape.shape[1])}, problem.basis.abscissae
    for samples in problem.instants:
        if any(g.label in FREE_BASE for g in samples.kernel.rows):
            continue
        for s, data in zip(samples.s.tolist(), samples.data, strict=True):
            q = problem.basis.matrix([s])[0] @ shape
            now = samples.kernel.time(s * (problem.duration or 1.0))
            at[s] = at.get(s, 0.0) + nearby(samples.kernel, q, (data, *now), *problem.box) - q
    known = np.array(sorted(at))
    bends = np.array([at[s] for s in known])
    return shape + np.stack([np.interp(offset, known, b) for b in bends.T], axis=1)


def nearby(kernel: PointKernel, q: Array, data: tuple[Any, ...], lower: Array, upper: Array) -> Array:
    """Positions near q, at rest, at which rows are within their bounds, or nearly."""
    low, high = (np.concatenate([getattr(g, k) for g in kernel.rows]) for k in ("lower", "upper"))
    rows, joints = kernel.entries.T
    for _ in range(STEPS):
        z = np.zeros((kernel.orders, len(q)))
        z[0] = q
        values, slopes, *_ = kernel.first(z, *data)
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
    if not problem.along or not np.ptp(shape, axis=0).any():  # nothing tells
        return float(np.clip(1.0, low, high))
    samples = problem.held[0]
    best, least = float(tried[-1]), np.inf
    for T in tried:
        over = float(samples.beyond(samples.values(shape, float(T))).max())
        if over < least * (1.0 - 1e-3):
            best, least = float(T), over
        if over <= 0.0:
            break
    return best
