"""Positions as users give them: of what leads, of all joints, or by name; at both ends of a motion and along a path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.mechanism.structure import structure_of
from linkwise.planning.chart import Chart, chart_of, joint_places
from linkwise.planning.curve import Array
from linkwise.planning.drives import drives_of
from linkwise.planning.ends import DERIVATIVES, State
from linkwise.planning.path import Path
from linkwise.robot.coordinates import values_of
from linkwise.robot.robot import Robot

CLOSED = 1e-6  # rad, and in parts of the mechanism's size: how far loops may be open where users give positions
STEPS = 41  # from start to goal, along which the assembly mode is kept


class Given(NamedTuple):
    """Positions as a user gave them: of what leads, and of the whole tree, where some of what follows was given.

    `whole` says whether all of it was given, `free` which joints that nothing drives were not.
    """

    q: Array
    near: Array | None
    whole: bool
    free: tuple[str, ...] = ()


def given(robot: Robot, value: Any, what: str) -> Given:
    """Positions of what leads: a vector, by name, or those of all joints; followers that are named are a guess."""
    if robot is not robot.rigid():
        motors = np.shape(value) == (robot.nq,)
        return given(robot.rigid(), value[: robot.rigid().nq] if motors else value, what)
    names, every, floating = robot.coordinates, robot.opened(), drives_of(robot).floating_joints
    if isinstance(value, Mapping):
        missing = [n for n in names if n not in value and n not in floating]
        if missing and robot.follows:
            raise InputError(
                f"{what}: expected the independent joints {', '.join(names)}, got none for {missing[0]!r}."
            )
        q = robot.q({n: value[n] for n in names if n in value})
        free = tuple(n for n in floating if n not in value)
        if set(value) <= set(names):
            return Given(q, None, False, free)
        near = structure_of(robot).reference.copy()
        every.q(value)  # refuses what is no joint
        for name, x in value.items():
            slot = every.slots[name]
            near[slot.q : slot.q + slot.nq] = values_of(name, x, slot.nq)
        return Given(q, near, False, free)
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        x = np.zeros(0)
    if x.shape == (robot.nq,) and any(not x[s.quaternion].any() for s in robot.slots.values() if s.quaternion):
        raise InputError(f"{what}: expected quaternions x, y, z, w that are not zero, got zeros.")
    if x.shape == (robot.nq,) and np.isfinite(x).all():
        return Given(x, None, False)
    if x.shape == (every.nq,) and np.isfinite(x).all():
        return Given(x[list(structure_of(robot).lead_q)], x, True)
    closing = f", or {every.nq} that close the loops" if every.nq != robot.nq else ", or positions by joint"
    raise InputError(f"{what}: expected {robot.nq} finite positions ({', '.join(names)}){closing}, got {value!r}.")


def reached(robot: Robot, q: Array, what: str, before: Array | None = None) -> Array:
    """Positions of the whole tree with these of what leads, if need be by small steps from others of what leads."""
    robot = robot.rigid()
    dyn = compile(robot)
    closed = dyn.positions(q)
    if not closed.converged and before is not None and not chart_of(robot).turns:
        closed = dyn.positions(before + np.linspace(0.0, 1.0, STEPS)[:, None] * (q - before), along=True)
    if not np.all(closed.converged[-1:] if np.ndim(closed.converged) else closed.converged):
        raise InputError(f"{what}: the loops cannot be closed with {', '.join(robot.coordinates)} at {q.tolist()}.")
    return np.asarray(closed.q if closed.q.ndim == 1 else closed.q[-1])


def assembled(robot: Robot, end: Given, what: str) -> tuple[Robot, Array]:
    """The robot in the assembly mode of an end, and positions of its whole tree there.

    Where the followers that were given are not those that the robot's own reference leads to, they become its
    reference.
    """
    try:
        tree_q = reached(robot, end.q, what)
        if end.near is None or np.abs(tree_q - end.near).max() <= CLOSED:
            return robot, tree_q
    except InputError:
        if end.near is None:
            raise
    every, near = robot.rigid().opened(), end.near.tolist()
    slots = {j.name: every.slots[j.name] for j in every.joints if j.nv}
    other = robot.replace(reference={n: tuple(near[s.q : s.q + s.nq]) for n, s in slots.items()})
    tree_q = reached(other, end.q, what)
    _check_closed(tree_q, end, what, robot)
    return other, tree_q


def _check_closed(tree_q: Array, end: Given, what: str, robot: Robot) -> None:
    """Refuse positions of all joints that were given but do not close the loops."""
    off = float(np.abs(tree_q - end.near).max()) if end.whole and end.near is not None else 0.0
    if off > CLOSED:
        raise InputError(
            f"{what}: expected positions that close the loops, got some that are off by {off:.3g}."
            f" Give those of {', '.join(robot.coordinates)} alone."
        )


def ends_of(
    robot: Robot,
    start: State | None,
    goal: State | None,
    ranges: Sequence[Mapping[str, tuple[float, float]]],
    stands: bool = False,
) -> tuple[Chart, State | None, State | None]:
    """What moves on splines, and both ends in these numbers, in the same assembly mode.

    An end is given by positions of what leads, as a vector or by name, or by positions of all joints that close the
    loops; joints that follow are within `ranges` there. A floating base that nothing drives and that the goal does not
    name is free there, with all derivatives; where contacts stand its position alone.
    """
    states = {"start": start, "goal": goal}
    asked = {
        which: given(robot, state.q, which)
        for which, state in states.items()
        if state is not None and state.q is not None
    }
    trees: dict[str, Array] = {}
    for which, end in asked.items():
        if not trees:
            robot, trees[which] = assembled(robot, end, which)
        else:
            trees[which] = reached(robot, end.q, which, next(iter(asked.values())).q)
            _check_closed(trees[which], end, which, robot)
        for limits in ranges:
            _check_within(robot, trees[which], limits, which)
    chart = chart_of(robot)
    if asked:
        first = next(iter(asked))
        chart = chart.centred(asked[first].q, trees[first])
    found = []
    for which, state in states.items():
        if state is not None and robot.follows:
            _check_rest(chart, state, which)
        if state is not None and which in asked:
            state = replace(state, q=chart.numbers(asked[which].q, trees[which]))
            if which == "goal" and stands:
                for place in chart.leads:
                    state.q[place.x] = np.nan if place.name in asked[which].free else state.q[place.x]
            elif which == "goal":
                state = state.without(chart, asked[which].free)
        found.append(state)
    return chart, found[0], found[1]


def _check_within(robot: Robot, tree_q: Array, limits: Mapping[str, tuple[float, float]], which: str) -> None:
    """Refuse ends at which joints that follow are outside of their limits; the problem checks those that lead."""
    for name, (low, high) in limits.items():
        at = float(tree_q[joint_places(robot)[name][0]])
        if name in robot.slots:
            continue
        if not low - CLOSED <= at <= high + CLOSED:
            raise InputError(
                f"{which}: joint {name!r} would be at {at:g}, outside of its limits {low:g} to {high:g}."
                f" Choose another {which}."
            )


def _check_rest(chart: Chart, state: State, which: str) -> None:
    derivatives = replace(state, q=None).values(chart, which)[1:]
    for name, value in zip(DERIVATIVES[1:], derivatives, strict=True):
        if np.nan_to_num(value).any():
            raise InputError(f"{which} {name}: expected rest of a robot with loops, got {value.tolist()}.")


def numbers_of(chart: Chart, rows: Any, what: str) -> Array:
    """The numbers on splines (rows, n) of positions, each as an end may be given."""
    found, before = [], None
    for k, row in enumerate(rows):
        q = given(chart.robot, row, f"{what} row {k}").q
        found.append(chart.numbers(q, reached(chart.robot, q, f"{what} row {k}", before)))
        before = q
    return np.array(found)


def path_of_points(robot: Robot, points: Any, what: str, order: int) -> tuple[Robot, Chart, Path]:
    """The smooth path through points, each as an end may be given: the robot in their assembly mode, and its chart.

    `order` is that of the highest derivative on which torques or their rates depend.
    """
    try:
        rows = list(points)
    except TypeError:
        rows = []
    if len(rows) < 2:
        raise InputError(f"{what} path: expected at least two points (rows, {robot.nq}), got {points!r}.")
    ends = [given(robot, row, f"{what} path point {k}") for k, row in enumerate(rows)]
    robot, tree_q = assembled(robot, ends[0], f"{what} path point 0")
    chart, numbers = chart_of(robot).centred(ends[0].q, tree_q), []
    for k, end in enumerate(ends):
        where = f"{what} path point {k}"
        tree_q = reached(robot, end.q, where, ends[max(k - 1, 0)].q)
        _check_closed(tree_q, end, where, robot)
        numbers.append(chart.numbers(end.q, tree_q)[: chart.lead_n])
    return robot, chart, Path.curve(np.array(numbers), f"{what} path", order)
