"""What can be seen to be impossible before any solve: conditions that every motion has to meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from linkwise.errors import InputError
from linkwise.planning.curve import Array
from linkwise.planning.drives import drives_of, too_weak
from linkwise.planning.ends import State
from linkwise.planning.guess import nearby
from linkwise.planning.kernels import PointKernel
from linkwise.planning.problem import Problem
from linkwise.planning.rows import beyond
from linkwise.planning.samples import Samples

HELD = ("effort", "torque_speed", "passive")  # rows that a robot which stands somewhere has to keep
STARTS = 8  # positions from which a frame is brought to where it is to be, beside those on the way


def check_possible(problem: Problem, tolerance: float) -> None:
    """Refuse ends outside of limits, loads that cannot be held, ways that take longer, and frames out of reach."""
    for end in _ends(problem):
        for kernel in problem.along:
            _check_end(problem, kernel, end, tolerance)
    _check_duration(problem, tolerance)
    _check_reach(problem, tolerance)


class _End(NamedTuple):
    """An end of the motion: its name, the fraction of time, how it is, and derivatives (orders, n), nan if free."""

    name: str
    s: float
    state: State
    values: Array


def _ends(problem: Problem) -> Iterator[_End]:
    for name, s, state in (("start", 0.0, problem.start), ("goal", 1.0, problem.goal)):
        values = np.array(state.values(problem.chart, name)) if state else np.full((1, 1), np.nan)
        if state and np.isfinite(values[0]).all():
            yield _End(name, s, state, values)


def _check_end(problem: Problem, kernel: PointKernel, end: _End, tolerance: float) -> None:
    """Refuse an end at which a row that is known there is beyond its bounds, or a drive cannot hold its load."""
    if kernel.timed and end.s and problem.duration is None:
        return
    samples = Samples(kernel, problem.basis, [end.s])
    z = np.zeros((kernel.orders, problem.chart.n))
    given = end.values[: kernel.orders]
    z[: len(given)] = np.nan_to_num(given)
    free = np.ones(z.shape, dtype=bool)
    free[: len(given)] = np.isnan(given)
    values, slopes, *_ = kernel.first(z, samples.data[0], *kernel.time(end.s * (problem.duration or 1.0)))
    row, number = kernel.entries.T
    told = np.ones(kernel.count, dtype=bool)  # rows that nothing which is free can change
    told[row[((slopes != 0.0) & free[:, number].T).any(axis=1)]] = False
    stands = end.state.stands and not drives_of(problem.robot).passive
    labels = np.array([samples.name(0, k).label for k in range(kernel.count)])
    over = samples.beyond(values[None])[0] / samples.powers
    over[~(told | (np.isin(labels, HELD) & stands))] = 0.0
    k = int(np.argmax(over))
    if not over[k] > tolerance:
        return
    value, (_, upper) = float(values[k]), (x[0, k] * samples.scale[k] for x in samples.limits)
    name = samples.name(0, k)
    if name.label in HELD and stands:
        raise too_weak(f"plan: at the {end.name}", name.name, value, float(upper), end.name)
    raise InputError(
        f"{end.name}: {name.title} is {100.0 * over[k]:.3g} % beyond its limit there, whatever the motion."
        f" Choose another {end.name}, or another limit."
    )


def _check_duration(problem: Problem, tolerance: float) -> None:
    """Refuse a duration in which the way cannot be made at the largest speed."""
    longest = problem.duration or (problem.longest or (np.inf, np.inf))[1]
    first, last = problem.ends.fixed[[0, -1]]
    known = list(problem.chart.names)
    for group in (r for r in problem.rows if r.label == "velocity" and r.at is None and np.isfinite(longest)):
        for name, most in zip(group.names, group.upper, strict=True):
            way = abs(last[known.index(name)] - first[known.index(name)]) if name in known else 0.0
            if way > most * longest * (1.0 + tolerance):
                raise InputError(
                    f"duration: expected at least {way / most:.4g} s, in which joint {name!r} goes its way of {way:.4g}"
                    f" at its largest speed of {most:.4g}, got {longest:g}."
                )


def _check_reach(problem: Problem, tolerance: float) -> None:
    """Refuse frames that no position brings to where they are to be at an instant."""
    if problem.chart.sought:
        return
    low, high = (np.where(np.isfinite(b), b, end * np.pi) for b, end in zip(problem.box, (-1.0, 1.0), strict=True))
    starts = np.random.default_rng(0).uniform(low, high, (STARTS, problem.chart.n))
    for samples in problem.instants:
        kernel = samples.kernel
        if kernel.orders > 1 or kernel.timed or any(g.label != "via" for g in kernel.rows):
            continue
        for i, data in enumerate(samples.data):
            tried = (kernel.first(nearby(kernel, q, (data,), *problem.box)[None], data)[0] for q in starts)
            over = min((beyond(v / samples.scale, *(x[i] for x in samples.limits)) for v in tried), key=np.max)
            k = int(np.argmax(over))
            if over[k] > tolerance:
                raise InputError(
                    f"via at {samples.s[i]:g}: {samples.name(i, k).name} is out of reach, {over[k]:.4g} m or rad off at"
                    f" best, from {STARTS} starts within the limits of positions. Choose another place."
                )
