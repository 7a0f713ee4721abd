"""How a motion starts and ends: control points that this fixes, and rows for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.planning.chart import Chart
from linkwise.planning.curve import Array, Basis
from linkwise.planning.free_base import floating_numbers
from linkwise.planning.rows import Rows
from linkwise.planning.term_and_constraint import chosen_joints, per_joint

NEAR = 1e-3  # m, by which a base that nothing drives may be off its goal
DERIVATIVES = ("position", "velocity", "acceleration", "jerk")


@dataclass(frozen=True, eq=False)
class State:
    """The state at an end of a motion: each a number for all joints, a vector, or by joint; None where it is free.

    Args:
        q: positions; a mapping leaves joints that it does not name at zero.
        qd: velocities, at rest if not given.
        qdd: accelerations.
        qddd: jerks.
        free: numbers on splines that are free, with all derivatives.
        stands: whether the robot stands there, before or after the motion, so that its drives have to hold it.
    """

    q: Any = None
    qd: Any = 0.0
    qdd: Any = None
    qddd: Any = None
    free: Any = ()
    stands: bool = False

    def values(self, chart: Chart, which: str) -> list[Array]:
        """Position and derivatives of the numbers on splines (n), nan where they are free; `q` has the numbers."""
        names, rest = chart.names[: chart.moving], np.full(chart.n - chart.moving, np.nan)
        found, open_ = [], np.isin(chart.names, chosen_joints(names, self.free, f"{which} free"))
        for name, value in zip(DERIVATIVES, (self.q, self.qd, self.qdd, self.qddd), strict=True):
            if value is None:
                found.append(np.full(chart.n, np.nan))
            elif name == "position":
                found.append(np.append(np.asarray(value, dtype=float)[: len(names)], rest))
            else:
                found.append(np.append(per_joint(names, value, f"{which} {name}", 0.0), rest))
        return [np.where(open_, np.nan, x) for x in found]

    def without(self, chart: Chart, joints: Sequence[str]) -> State:
        """The same with some joints of several degrees of freedom free, with all derivatives."""
        names = tuple(n for place in chart.leads if place.name in joints for n in place.names)
        own = (self.free,) if isinstance(self.free, str) else tuple(self.free)
        return replace(self, free=(*own, *names))


def state_of(given: Any, which: str) -> State | None:
    """A start or goal as users give it: a `State`, positions at rest, or None."""
    if given is None or isinstance(given, State):
        return given
    if isinstance(given, (str, bytes, int, float)):
        raise InputError(f"{which}: expected positions, positions by joint or an lw.planning.State, got {given!r}.")
    return State(given, stands=True)


@dataclass(frozen=True, eq=False)
class Ends:
    """Control points (count, n) fixed by both ends, nan where they are free, and rows for what they cannot fix."""

    fixed: Array
    rows: tuple[Rows, ...]


def ends(chart: Chart, basis: Basis, start: State | None, goal: State | None, duration: float | None) -> Ends:
    """What the states at both ends fix; with a free duration only derivatives that are zero fix control points."""
    fixed = np.full((basis.count, chart.n), np.nan)
    for stance, own in zip(chart.stances, chart.pushing, strict=True):
        fixed[:, own] = stance.fixed(basis)
    rows: list[Rows] = []
    for which, state, s in (("start", start, 0.0), ("goal", goal, 1.0)):
        if state is None:
            continue
        open_: dict[int, Array] = {}
        values = state.values(chart, which)
        if which == "goal":
            rows += _drifting(chart, values)
        for order, value in enumerate(values):
            fixable = np.isfinite(value) & ((value == 0.0) | (order == 0) | (duration is not None))
            if order > basis.degree or not np.isfinite(value).any():
                continue
            at = order if s == 0.0 else basis.count - 1 - order
            near = list(range(order)) if s == 0.0 else list(range(basis.count - order, basis.count))
            fixable &= np.isfinite(fixed[near]).all(axis=0)
            if np.isfinite(fixed[at, fixable]).any():
                raise InputError(f"control_points: expected more than {basis.count}: both ends fix the same ones.")
            B = basis.matrix([s], order)[0]
            wanted = value * (duration or 1.0) ** order
            fixed[at, fixable] = ((wanted - B[near] @ fixed[near]) / B[at])[fixable]
            left = np.isfinite(value) & ~fixable
            if left.any():
                open_[order] = np.where(left, value, np.nan)
        rows += [_rows(chart, which, order, value, s) for order, value in open_.items()]
    return Ends(fixed, tuple(rows))


def _drifting(chart: Chart, values: list[Array]) -> list[Rows]:
    """Rows that bring a base that nothing drives near its goal, whose derivatives and positions are taken out."""
    drift = floating_numbers(chart)
    for value in values[1:]:
        value[drift] = np.nan
    at = [k for k in drift if chart.lengths[k] and np.isfinite(values[0][k])]
    if not at:
        return []
    goal, near = values[0][at], np.full(len(at), NEAR)
    values[0][at] = np.nan
    names = tuple(chart.names[k] for k in at)
    return [Rows("goal position", names, lambda p: [p.numbers[0][k] for k in at], goal - near, goal + near, near,
                 at=(1.0,))]  # fmt: skip


def _rows(chart: Chart, which: str, order: int, value: Array, s: float) -> Rows:
    """Rows that hold a derivative at an end."""
    at = np.flatnonzero(np.isfinite(value)).tolist()
    size = np.maximum(np.abs(value[at]), 1.0)

    def function(p: Any) -> list[Any]:
        return [p.numbers[order][k] for k in at]

    names = tuple(chart.names[k] for k in at)
    return Rows(f"{which} {DERIVATIVES[order]}", names, function, value[at], value[at], size, at=(s,))
