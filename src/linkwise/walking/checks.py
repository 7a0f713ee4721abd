"""What a walking problem refuses before any work is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from linkwise.check import finite, positive, whole
from linkwise.errors import InputError, UnknownNameError
from linkwise.planning.terms import Time
from linkwise.walking.rows import KINDS

if TYPE_CHECKING:
    from linkwise.walking.problem import Problem

FEWEST = 6  # control points with which a step can be taken


def check(problem: Problem) -> None:
    """Refuse what makes no sense."""
    _check_kinds(problem)
    _check_aims(problem)
    double, heel_off = finite(problem.double, "double"), finite(problem.heel_off, "heel_off")
    if not 0.0 < double < heel_off < 1.0:
        raise InputError(
            "double, heel_off: expected 0 < double < heel_off < 1 as fractions of the step,"
            f" got {double:g} and {heel_off:g}."
        )
    whole(problem.points, "points", 3)
    whole(problem.control_points, "control_points", FEWEST)
    if problem.steps not in (1, 2):
        raise InputError(f"steps: expected 1 or 2, got {problem.steps!r}.")
    if problem.steps == 1 and not problem.person.is_symmetric:
        raise InputError(
            "steps: expected 2 for a person whose left and right sides differ, got 1."
            " One step tells of both only where they are alike."
        )
    _check_reach(problem)


def _check_kinds(problem: Problem) -> None:
    if not isinstance(problem.soft, Mapping):
        raise InputError(f"soft: expected weights by kind, such as {{'arm_leg': 10}}, got {problem.soft!r}.")
    for kind in (*problem.without, *problem.soft):
        if kind not in KINDS:
            raise UnknownNameError("kind of constraint", kind, KINDS)
    for kind, weight in problem.soft.items():
        positive(weight, f"soft {kind!r}")
        if kind in problem.without:
            raise InputError(f"without, soft: expected {kind!r} in one of them, got it in both.")


def _check_aims(problem: Problem) -> None:
    if any(isinstance(term, Time) for _, term in problem.minimize.terms):
        raise InputError("minimize: expected terms besides the time, which speed and step decide, got lw.cost.time().")
    if any(c.base(problem.robot) for c in problem.constraints):
        raise InputError("subject_to: expected the ground at rest, got a motion of the base.")


def _check_reach(problem: Problem) -> None:
    """No step is longer than both legs in one line, from the trailing foot's ball to the leading one's heel."""
    body, foot = problem.person.body, problem.timetable.steps[0].feet["r"]
    longest = sum(body[f"{part}_{side}"].length for part in ("thigh", "shank", "foot") for side in "rl")
    longest += foot.ball - foot.heel
    if problem.step > longest:
        raise InputError(
            f"step: expected less than {longest:.2f} m, what the legs of this person span, got {problem.step:.3g}."
            " Give a shorter step, or a lower speed."
        )
