"""How a person walks: the step of least effort that keeps all constraints."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from math import pi
from typing import Any, NamedTuple

import numpy as np

from linkwise.check import finite, positive
from linkwise.check import whole as whole_number
from linkwise.errors import InputError, UnknownNameError
from linkwise.motion.limits import TOLERANCE
from linkwise.planning.curve import Array, Curve
from linkwise.planning.program import Program
from linkwise.planning.solvers import Answer, Monitor, chosen, solve
from linkwise.planning.term_and_constraint import Constraint, Sum, Term, constraints_of
from linkwise.walking.joints import REFERENCE
from linkwise.walking.person import Person
from linkwise.walking.problem import EFFORT, Problem
from linkwise.walking.result import Phase, Walk
from linkwise.walking.rows import Bounds

KEPT = TOLERANCE  # up to which rows count as kept


class Habit(NamedTuple):
    """How a solver is used.

    Args:
        feasible_first: whether a feasible motion comes first.
        tolerance: for one of 1e-3.
        iterations: at most.
        carried: whether it starts from a person who is carried along upright, in place of one who stands still.
        last: whether others are tried before it on a stride of two steps, with twice the variables, and where torques
            may exceed strengths.
    """

    feasible_first: bool
    tolerance: float = 1.0
    iterations: int = 300
    carried: bool = False
    last: bool = False


# SciPy's leaves a barrier of a tenth of its tolerance at every bound; Uno goes astray from standing still, where so
# much is zero that its first step is decided by rounding
HABITS = {"ipopt": Habit(False), "uno": Habit(True, carried=True, last=True), "scipy": Habit(False, 1e-2, 500)}


def walk(
    person: Person | None = None,
    speed: float = 1.2,
    step: float | None = None,
    *,
    solver: str | None = None,
    smooth: bool = False,
    control_points: int | None = None,
    points: int = 21,
    double: float = 0.2,
    heel_off: float = 0.6,
    without: str | Collection[str] = (),
    soft: Mapping[str, float] | None = None,
    minimize: Term | Sum | None = None,
    subject_to: Constraint | Sequence[Constraint] = (),
    feasible_first: bool | None = None,
    start: Walk | None = None,
    steps: int | None = None,
    whole: bool = False,
    tolerance: float = 1e-3,
    iterations: int | None = None,
    time_limit: float | None = None,
    progress: bool = True,
    **bounds: Any,
) -> Walk:
    """Predict how a person walks: the motion of least effort that keeps all constraints.

    Where left and right are alike one step is sought, and the next is the mirrored one; else a stride of two, which
    solvers that seek a feasible motion first begin at the step of a person of the same build.

    Args:
        person: who walks; a man of 73 kg and 1.741 m if none is given.
        speed: m/s.
        step: length of a step, m; that of `natural_step`, by speed and height, if not given.
        solver: "uno" or "ipopt", where they are installed, or "scipy". The first of these that is there if not given,
            of a stride of two steps Uno last; where it gives up, the others are tried.
        smooth: mirror accelerations too, with 8 control points and half the slip.
        control_points: of each joint in a step: 6, or 8 if smooth or if there are two steps.
        points: of the grid on which constraints hold, with the two fractions that follow among them; 41 keep them
            better in between (`Walk.audit`), in about twice the time.
        double: fraction of the step during which both feet carry.
        heel_off: fraction at which the standing heel rises.
        without: kinds of constraints that are left out, such as "arm_leg" (see `linkwise.walking.KINDS`).
        soft: kinds that may be broken, with the weights of the squares of how far, such as {"arm_leg": 10}.
        minimize: terms such as lw.walking.effort() + 1e-7 * lw.cost.reaction("knee_r"); effort if none is given.
        subject_to: further constraints of planning, such as lw.limit.reaction("knee_r", force=900).
        feasible_first: seek a motion that keeps all constraints before effort counts; None for the solver's habit.
        start: a solved walk to start from, in place of standing still; Ipopt seldom gains by it.
        steps: 1 where the next step is the mirrored one, 2 where only the stride repeats; by the person if not given.
        whole: keep frozen joints as fixed variables with bounded torques, as the source has them; it takes longer.
        tolerance: of optimality and of constraints.
        iterations: at most so many; 300 if not given.
        time_limit: seconds after which the best feasible motion is returned.
        progress: show a line of progress on a terminal.
        bounds: other fields of `linkwise.walking.Bounds`, such as clearance=0.01 or knee=(0.9, 1.1).

    Returns:
        A `Walk`, whose `status` says whether it converged.
    """
    someone = Person() if person is None else person
    if not isinstance(someone, Person):
        raise InputError(f"walk: expected a Person first, got {person!r}. Make one with lw.walking.Person(mass=73).")
    if steps is None:
        steps = 1 if someone.is_symmetric else 2
    names = sorted(chosen(solver), key=lambda name: HABITS[name].last and steps == 2)
    pace = positive(speed, "speed")
    slip = {"slip": 0.05} if smooth else {}
    problem = Problem(
        someone,
        pace,
        natural_step(pace, someone.height) if step is None else positive(step, "step"),
        control_points if control_points is not None else 8 if smooth or steps == 2 else 6,
        points,
        double,
        heel_off,
        _bounds({**slip, **bounds}),
        smooth,
        _kinds(without),
        steps=steps,
        whole=whole,
        minimize=EFFORT if minimize is None else Sum.of(minimize),
        constraints=constraints_of(subject_to),
        soft={} if soft is None else soft,
    )
    tolerance = positive(tolerance, "tolerance")
    if time_limit is not None and finite(time_limit, "time_limit") < 0.0:
        raise InputError(f"time_limit: expected seconds that are not negative, got {time_limit!r}.")
    monitor = Monitor(max(KEPT, tolerance), time_limit, "walk", progress)
    most = None if iterations is None else whole_number(iterations, "iterations", 0)
    best: Walk | None = None
    try:
        for name in names:
            found = _by(name, problem, Settings(name, monitor, tolerance, most), start, feasible_first)
            if best is None or found.violation < best.violation or found.converged:
                best = found
            if found.converged or monitor.reason:
                break
    finally:
        monitor.done()
    assert best is not None
    return best


def _by(solver: str, problem: Problem, settings: Settings, start: Walk | None, feasible_first: bool | None) -> Walk:
    """The walk that a solver finds, by its habit."""
    habit = HABITS[solver]
    first = habit.feasible_first if feasible_first is None else feasible_first
    if start is None and first and problem.steps == 2 and (twin := _twin(problem)):
        begun = solved(twin, settings, first_curve(twin, None, habit.carried), first)
        found = solved(problem, settings, first_curve(problem, begun), False)
        return replace(found, phases=begun.phases + found.phases, setup=begun.setup + found.setup)
    return solved(problem, settings, first_curve(problem, start, habit.carried), first and start is None)


def natural_step(speed: float, height: float) -> float:
    """The length of a step that people choose at a speed, m: it grows with the root of the speed.

    That of a man of 1.741 m is 0.6 m at 1.2 m/s, and others walk alike at the same Froude number: the step over the
    height is the same where the square of the speed over the height is.
    """
    return 0.6 * (speed / 1.2) ** 0.5 * (height / REFERENCE[1]) ** 0.75


class Settings(NamedTuple):
    """How to solve; without a number of iterations as many as the solver's habit is."""

    solver: str
    monitor: Monitor
    tolerance: float
    iterations: int | None = None


def _twin(problem: Problem) -> Problem | None:
    """One step of a person of the same build whose sides are alike, to start a stride from."""
    p = problem.person
    person = Person(p.mass, p.height, p.sex, frozen=p.frozen)
    if not person.is_symmetric:
        return None
    return replace(problem, person=person, steps=1, minimize=EFFORT, constraints=(), whole=False)


def solved(problem: Problem, settings: Settings, curve: Curve, first: bool) -> Walk:
    """The walk that a problem has, from a motion; `first` seeks a feasible one before effort counts."""
    began, phases = time.perf_counter(), []
    program, x = problem.to_solve(), problem.variables.of(curve)
    program.prepare(second=True)
    ready = time.perf_counter() - began
    for name, p in [("feasible", problem.to_solve(effort=False))] * first + [("effort", program)]:
        answer, phase = _phase(name, p, settings, x)
        phases.append(phase)
        x = answer.x
        if settings.monitor.reason:
            break
    return Walk(problem, problem.variables.curve(x), tuple(phases), _status(program, phases[-1], x), ready)


def _phase(name: str, p: Program, settings: Settings, x: Array) -> tuple[Answer, Phase]:
    p.seconds, began, cpu = 0.0, time.perf_counter(), time.process_time()
    solver, monitor, tolerance, iterations = settings
    scaled = tolerance * HABITS[solver].tolerance
    iterations = HABITS[solver].iterations if iterations is None else iterations
    answer = solve(solver, p, x, monitor, tolerance=scaled, iterations=iterations)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    return answer, Phase(name, answer.status, answer.iterations, wall, cpu, p.seconds, answer.message)


def _status(program: Program, last: Phase, x: Array) -> str:
    """The solver's status, unless rows are beyond their bounds."""
    kept = program.infeasibility(x) <= KEPT
    if last.status == "infeasible" or (last.status == "converged" and not kept):
        return "gave up"
    return last.status


def first_curve(problem: Problem, start: Walk | None, carried: bool = False) -> Curve:
    """Standing still or carried along, or a motion with the same joints."""
    if start is None:
        return Curve(problem.basis, problem.reference if carried else 0.0 * problem.reference, problem.duration)
    if not isinstance(start, Walk):
        raise InputError(f"start: expected a Walk, got {start!r}.")
    if start.problem.robot.names != problem.robot.names:
        raise InputError("start: expected a walk with the same free joints, got one with others.")
    stride = start.stride()
    q = stride.q[: len(stride.t) // 2 + 1] if problem.steps == 1 else stride.q
    points, *_ = np.linalg.lstsq(problem.basis.matrix(np.linspace(0.0, 1.0, len(q))), q, rcond=None)
    return Curve(problem.basis, np.asarray(points), problem.duration)


def _kinds(without: Any) -> tuple[str, ...]:
    if isinstance(without, str):
        return (without,)
    if not isinstance(without, Collection):
        raise InputError(f"without: expected kinds of constraints, such as 'arm_leg', got {without!r}.")
    return tuple(without)


def _bounds(given: dict[str, Any]) -> Bounds:
    known = [f.name for f in fields(Bounds)]
    for key, value in given.items():
        if key not in known:
            raise UnknownNameError("argument of walk", key, known)
        right = [_not_negative(x) for x in (value if isinstance(value, Sequence) else [value])]
        if not all(right) or (key == "knee") != (len(right) == 2):
            wanted = "a lower and an upper angle, rad" if key == "knee" else "a number that is not negative"
            raise InputError(f"{key}: expected {wanted}, got {value!r}.")
    low, high = given.get("knee", Bounds.knee)
    if not low <= high <= pi:
        raise InputError(f"knee: expected a lower and an upper angle up to {pi:.2f} rad, got {low:g} and {high:g}.")
    values: dict[str, Any] = {k: tuple(v) if k == "knee" else float(v) for k, v in given.items()}
    return Bounds(**values)


def _not_negative(value: Any) -> bool:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return number and bool(np.isfinite(value) and value >= 0)
