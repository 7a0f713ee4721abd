"""What can be seen to be impossible before any solve: conditions that every motion has to meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from linkwise.errors import InputError
from linkwise.motion.limits import TOLERANCE
from linkwise.planning.curve import Array
from linkwise.planning.drives import drives_of, too_weak
from linkwise.planning.ends import DERIVATIVES, State
from linkwise.planning.guess import nearby
from linkwise.planning.kernels import values_of
from linkwise.planning.problem import Problem
from linkwise.planning.rows import RowName, Rows, beyond

HELD = ("effort", "torque_speed", "passive")  # rows that a robot which stands somewhere has to keep
STARTS = 8  # positions from which a frame is brought to where it is to be, beside those on the way


def check_possible(problem: Problem) -> None:
    """Refuse ends outside of limits, loads that cannot be held, ways that take longer, and frames out of reach.

    Nothing is traced or compiled for the ends: it takes milliseconds.
    """
    problem.variables(1.0)  # refuses ends outside of their ranges
    for end in _ends(problem):
        _check_end(problem, end)
    _check_duration(problem)
    _check_reach(problem)


class _End(NamedTuple):
    """An end of the motion: its name, the fraction of time, how it is, and derivatives (orders, n), nan if free."""

    name: str
    s: float
    state: State
    values: Array


def _ends(problem: Problem) -> Iterator[_End]:
    for name, s, state in (("start", 0.0, problem.start), ("goal", 1.0, problem.goal)):
        values = np.full((drives_of(problem.robot).orders, problem.chart.n), np.nan)
        if state:
            values[: len(DERIVATIVES)] = state.values(problem.chart, name)
        if state and np.isfinite(values[0]).all():
            yield _End(name, s, state, values)


def _check_end(problem: Problem, end: _End) -> None:
    """Refuse an end at which a row that is known there is beyond its bounds, or a drive cannot hold its load."""
    if end.s and problem.duration is None and not problem.environment.steady:
        return
    groups = [r for r in problem.rows if r.at is None]
    stands = end.state.stands and not drives_of(problem.robot).passive
    still = _rows_at(problem, groups, end, 0.0)
    other = _rows_at(problem, groups, end, 0.7)  # another motion: rows that nothing free can change are the same
    for group, values, others in zip(groups, still, other, strict=True):
        lower, upper = (x[0] for x in group.limits(np.array([end.s])))
        over = beyond(values / group.scale, lower / group.scale, upper / group.scale) / group.power
        held = stands and group.label in HELD
        over[~(np.isclose(values, others, rtol=1e-12, atol=1e-12) | held)] = 0.0
        k = int(np.argmax(over))
        if not over[k] > TOLERANCE or np.isfinite(group.price):
            continue
        if held:
            raise too_weak(f"plan: at the {end.name}", group.names[k], float(values[k]), float(upper[k]), end.name)
        raise InputError(
            f"{end.name}: {RowName(group.label, group.names[k], 0.0).title} is {100.0 * over[k]:.3g} % beyond its limit"
            f" there, whatever the motion. Choose another {end.name}, or another limit."
        )


def _rows_at(problem: Problem, groups: Sequence[Rows], end: _End, free: float) -> list[Array]:
    """Rows at an end as numbers, where derivatives that are free have some value."""
    z = np.where(np.isnan(end.values), free, end.values)
    t = end.s * (problem.duration or 0.0)
    point = cast(Any, problem.surroundings.point)(problem.robot, z.tolist(), end.s, (), t)  # numbers, not nodes
    found = []
    for group in groups:
        point.data = group.data(np.array([end.s]))[0].tolist() if group.data else []
        found.append(np.array(values_of(group, point), dtype=float))
    return found


def _check_duration(problem: Problem) -> None:
    """Refuse a duration in which the way cannot be made at the largest speed."""
    longest = problem.duration or (problem.longest or (np.inf, np.inf))[1]
    first, last = problem.ends.fixed[[0, -1]]
    known = list(problem.chart.names)
    for group in (r for r in problem.rows if r.label == "velocity" and r.at is None and np.isfinite(longest)):
        for name, most in zip(group.names, group.upper, strict=True):
            way = abs(last[known.index(name)] - first[known.index(name)]) if name in known else 0.0
            if way > most * longest * (1.0 + TOLERANCE):
                raise InputError(
                    f"duration: expected at least {way / most:.4g} s, in which joint {name!r} goes its way of {way:.4g}"
                    f" at its largest speed of {most:.4g}, got {longest:g}."
                )


def _check_reach(problem: Problem) -> None:
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
            if over[k] > TOLERANCE:
                raise InputError(
                    f"via at {samples.s[i]:g}: {samples.name(i, k).name} is out of reach, {over[k]:.4g} m or rad off at"
                    f" best, from {STARTS} starts within the limits of positions. Choose another place."
                )
