"""A planning problem as users put it, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwise.check import positive, whole
from linkwise.errors import InputError
from linkwise.motion.environment import Environment
from linkwise.planning.contact import Contact, space, with_contacts
from linkwise.planning.drives import check_driven, drives_of
from linkwise.planning.ends import State, state_of
from linkwise.planning.former_base import base_of
from linkwise.planning.joint_limits import with_own_limits
from linkwise.planning.necessary import check_possible
from linkwise.planning.positions import ends_of
from linkwise.planning.problem import Problem
from linkwise.planning.term_and_constraint import Sum
from linkwise.planning.terms import time
from linkwise.robot.robot import Robot

HIGHEST = 9  # degree of a curve


def problem_of(
    robot: Any,
    start: Any,
    goal: Any,
    minimize: Any,
    subject_to: Any,
    duration: Any,
    count: int,
    degree: Any,
    points: Any,
    base_motion: Any = None,
    external: Any = None,
) -> Problem:
    """The problem that users put, checked before any work begins."""
    _check_robot(robot)
    constraints = with_own_limits(subject_to)
    terms = Sum.of(time() if minimize is None else minimize)
    seconds, between = _duration(duration)
    whole(points, "points", 1)
    begin, end = (_at_rest(robot, state_of(x, which)) for x, which in ((start, "start"), (goal, "goal")))
    stands = any(isinstance(c, Contact) for c in constraints)
    chart, begin, end = ends_of(robot, begin, end, [c.ranges(robot) for c in constraints], stands)
    chart = with_contacts(chart, constraints, begin, end, base_motion)
    basis = space(degree_of(chart.robot) if degree is None else degree, count, chart)
    environment = Environment.of(robot, base_of(constraints, robot, seconds, base_motion), external)
    problem = Problem(
        chart.robot, begin, end, terms, constraints, basis, seconds, between, points, {}, chart, environment
    )
    _ = problem.ends, problem.rows, problem.box
    check_possible(problem)
    _ = problem.near  # refuses ends that touch something
    _check_bounded(problem)
    if problem.orders > basis.degree + 1:
        raise InputError(
            f"degree: expected at least {problem.orders - 1}, as terms and constraints depend on derivative"
            f" {problem.orders - 1} of positions, got {basis.degree}, a curve on which it is zero."
        )
    return problem


def _at_rest(robot: Robot, state: State | None) -> State | None:
    """An end at which a robot stands: its motors behind springs stand too, and springs hold the load alone."""
    if state is None or not (state.stands and drives_of(robot).levels):
        return state
    return replace(state, qdd=0.0 if state.qdd is None else state.qdd, qddd=0.0 if state.qddd is None else state.qddd)


def degree_of(robot: Robot) -> int:
    """Of curves on which rates of torques have no jumps; the same whatever is limited, so that times compare."""
    return min(4 + 2 * drives_of(robot).levels, HIGHEST)


def _check_robot(robot: Any) -> None:
    if not isinstance(robot, Robot):
        raise InputError(f"plan: expected a Robot, got {robot!r}. Load one with lw.load(...).")
    if len(robot.names) == 0:
        raise InputError(f"plan: expected a robot that moves, got {robot.name!r} without joints that do.")
    check_driven(robot, "plan")


def _check_bounded(problem: Problem) -> None:
    """Refuse to find the least time of a motion that nothing slows down."""
    free, objective = problem.duration is None and problem.longest is None, problem.objective
    if free and objective.wholes and not objective.time and not objective.integrals:
        raise InputError(
            "plan: nothing bounds the time, as a longer motion tells more. Give a duration=..., or add lw.cost.time()."
        )
    told = objective.integrals or objective.wholes
    if free and objective.time > 0.0 and not told and all(k.orders < 2 for k in problem.along):
        raise InputError(
            f"plan: nothing bounds the time. The robot {problem.robot.name!r} has no limits of speed or effort, or you"
            " freed it of them. Give subject_to=lw.limit.joints(velocity=..., effort=...), or a duration=..."
        )


def _duration(given: Any) -> tuple[float | None, tuple[float, float] | None]:
    if given is None:
        return None, None
    if isinstance(given, (Sequence, np.ndarray)) and np.shape(given) == (2,):
        low, high = (positive(x, "duration") for x in given)
        if not low < high:
            raise InputError(f"duration: expected a shorter and a longer one, got {given!r}.")
        return None, (low, high)
    return positive(given, "duration"), None
