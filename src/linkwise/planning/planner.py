"""`plan`: the motion that is best by some terms and respects some constraints."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from linkwise.check import positive, whole
from linkwise.errors import UnknownNameError
from linkwise.planning import solvers
from linkwise.planning.carrier import Carrier
from linkwise.planning.constraints import Passive
from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.guess import first_motion
from linkwise.planning.knots import free_knots
from linkwise.planning.notes import notes_of
from linkwise.planning.problem import Problem
from linkwise.planning.program import Dual, Program
from linkwise.planning.result import Plan
from linkwise.planning.setup import problem_of
from linkwise.planning.term_and_constraint import Sum
from linkwise.planning.terms import effort
from linkwise.planning.transcription import Violation
from linkwise.planning.variables import Variables
from linkwise.robot.robot import Robot

KNOTS = ("even", "free")
ROUNDS = 8  # of adding constraint points
STAGES, NEAR = 20, 1.6  # solves, and the factor between durations, where a solver went astray
GAIN = 1e-3  # of the objective: less than that is none
COARSE, SLIGHT = 20, 1e-3  # control points of a first approach, and how little the objective counts there


def plan(
    robot: Robot,
    start: Any = None,
    goal: Any = None,
    minimize: Any = None,
    subject_to: Any = (),
    *,
    duration: Any = None,
    control_points: int = 20,
    degree: int | None = None,
    points: int = 3,
    knots: str = "even",
    guess: Any = None,
    base_motion: Any = None,
    external: Any = None,
    solver: str = "scipy",
    tolerance: float = 1e-3,
    refine: bool = True,
    time_limit: float | None = None,
    iterations: Any = 500,
    progress: bool = True,
) -> Plan:
    """The motion of a robot that is best by some terms and respects some constraints.

    Its joints move on clamped B-splines over a free or fixed duration. Constraints hold at points of the curve; the
    motion is then judged on an eight times finer grid, and points are added where it is beyond a limit.

    A floating base is driven by nothing, unless its joint has a limit of effort: it moves as the rest makes it move.

    Args:
        robot: any that `lw.compile` takes. Motors behind springs follow from the motion of their joints.
        start: positions at rest (n), by joint, or an `lw.planning.State`; None where it is free. With loops, of what
            leads, or of all joints; joints that follow may be named as a guess, which chooses the assembly mode.
        goal: the same at the end. A floating base that it does not name is free there.
        minimize: terms, such as lw.cost.time() + 0.01 * lw.cost.effort(); the duration if not given.
        subject_to: constraints, such as lw.limit.joints("velocity", "effort").
        duration: s; a pair for bounds of a free one.
        control_points: of each joint; 10 to 40.
        degree: of the polynomials: 3, and 4 where torque rates or jerks matter.
        points: constraint points in every span of the curve, before any are added.
        knots: "even", or "free" to let the spans of the curve find their lengths too; many times the work.
        guess: where to begin: an earlier `Plan`, positions to pass in even steps of time (k, n), or a duration (s).
        base_motion: a function of time (s) that returns the pose of the base in the world, written for any scalar.
        external: frames or links, each with what pushes the robot there: a wrench, six numbers in the axes of the
            frame, force first; a function of time that returns them; or a law of place, `law(pose, velocity)` as
            `simulate(forces=)` takes it, or `law(t, pose, velocity)`, written for any scalar: a spring, wind, a hose.
        solver: "scipy", or "ipopt" or "uno" where they are installed.
        tolerance: how far a limit may be exceeded between points, relative to it.
        refine: whether points are added.
        time_limit: s; after it the best motion so far is returned.
        iterations: of the solver, at most, in each round.
        progress: whether to show a line of it on a terminal.

    Returns:
        A `Plan`, whose `status` says how it went, and `notes` what was neglected; Ctrl-C returns the best feasible
        motion so far.
    """
    began = clock.monotonic()
    solvers.find(solver)
    if knots not in KNOTS:
        raise UnknownNameError("choice of knots", knots, KNOTS)
    problem = problem_of(
        robot, start, goal, minimize, subject_to, duration, control_points, degree, points, base_motion, external
    )
    level = positive(tolerance, "tolerance")
    whole(iterations, "iterations", 1, inf)
    limit = None if time_limit is None else positive(time_limit, "time_limit")
    monitor = solvers.Monitor(1e-6, limit, f"plan {robot.name}", progress)
    try:
        guess = approach(problem, guess, monitor, solver, iterations)
        duals = guess.duals if isinstance(guess, Plan) else ()
        rounds = ROUNDS if refine else 1
        curve = first_motion(problem, guess)
        Carrier.of(problem.environment, problem.chart, curve)  # refuses what is not finite
        if knots == "free":
            problem, curve = free_knots(problem, curve, monitor, solver, iterations)
            duals = ()
        solution = _solved(problem, curve, duals, monitor, solver, level, iterations, rounds)
    finally:
        monitor.done()
    result = _result(problem, solution, monitor, solver, clock.monotonic() - began)
    return replace(result, notes=notes_of(result))


class Solution(NamedTuple):
    """What the rounds of solving gave."""

    curve: Curve
    answer: solvers.Answer
    program: Program
    worst: Violation
    rounds: int
    seconds: float


def _solved(
    problem: Problem,
    curve: Curve,
    duals: Sequence[Dual],
    monitor: Any,
    solver: str,
    tolerance: float,
    iterations: int,
    rounds: int,
) -> Solution:
    """Solve, judge on the fine grid, add points, solve again."""
    variables, grid, spent = problem.variables(curve.duration), problem.grid, 0.0
    for k in range(rounds):
        program = problem.program(variables, grid)
        warm = program.multipliers(duals) if duals else None
        how: dict[str, Any] = {"tolerance": 1e-8, "iterations": iterations}
        answer = solvers.solve(solver, program, variables.of(curve), monitor, **how, warm=warm)
        if answer.status == "stopped" and variables.time_is_free and _gained_nothing(program, curve, answer.x):
            curve = _by_durations(problem, variables, grid, curve, monitor, solver, how)
            answer = solvers.solve(solver, program, variables.of(curve), monitor, **how)
        duals = program.duals(answer.multipliers)
        spent += program.seconds
        curve = variables.curve(answer.x)
        largest = problem.largest_violation(curve)
        solution = Solution(curve, answer, program, largest, k + 1, spent)
        if answer.status != "converged" or largest.violation <= tolerance:
            break
        finer = problem.refined(curve, grid, tolerance)
        if len(finer) == len(grid):
            break
        grid = finer
    return solution


def _gained_nothing(program: Program, curve: Curve, x: Array) -> bool:
    """Whether a motion that was found is hardly better than the one before."""
    before = program.f(program.variables.of(curve))
    return program.f(x) > before - GAIN * abs(before)


def _by_durations(
    problem: Problem, variables: Variables, grid: Array, curve: Curve, monitor: Any, solver: str, how: dict[str, Any]
) -> Curve:
    """The motion by solves in each of which the duration stays near that of the last one.

    Far from its best duration a motion is far from all limits, and a solver may go astray in its first steps.
    """
    for _ in range(STAGES):
        near = variables.near(curve.duration, NEAR)
        program = problem.program(near, grid)
        answer = solvers.solve(solver, program, near.of(curve), monitor, **how)
        if answer.status != "converged":
            break
        curve = near.curve(answer.x)
        if not near.edge(curve.duration):
            break
    return curve


def _result(problem: Problem, solution: Solution, monitor: Any, solver: str, seconds: float) -> Plan:
    program, x = solution.program, solution.answer.x
    integrals = [i.samples for i in problem.objective.integrals]
    names = [s.name(0, k).title for s in integrals for k in range(s.kernel.count)]
    terms = dict(zip(names, program.terms(x).tolist(), strict=True))
    if problem.objective.time:
        terms["time"] = solution.curve.duration
    facts = {
        "solver": solver, "iterations": monitor.iterations, "rounds": solution.rounds, "seconds": seconds,
        "seconds_in_functions": solution.seconds, "variables": program.n, "rows": program.m,
        "solver_message": solution.answer.message,
"edge": program.variables.edge(solution.curve.duration),
    }  # fmt: skip
    return Plan(
        problem.robot, solution.curve, program.f(x), solution.answer.status, solution.worst, terms,
        _multipliers(program, solution.answer.multipliers), facts, program.duals(solution.answer.multipliers),
        Carrier.of(problem.environment, problem.chart, solution.curve), problem.chart,
    )  # fmt: skip


def _multipliers(program: Program, duals: Array) -> dict[str, float]:
    """For each limit what a larger one would change: d objective / d limit, summed over its points.

    A larger distance to keep makes things worse, any other larger limit better. Equations have no limit.
    """
    total: dict[str, float] = {}
    if not len(duals):
        return total
    powers = program.powers
    for row in np.flatnonzero((np.abs(duals) > 1e-12) & (program.row_lower < program.row_upper)):
        name, distance, size = program.names[row].title, np.isinf(program.row_upper[row]), float(program.scale[row])
        bound = size * float((program.row_lower if distance else program.row_upper)[row])
        slope = 2.0 * np.sqrt(bound) if powers[row] == 2 else 1.0  # of what is bounded by what the user gave
        total[name] = total.get(name, 0.0) + (1.0 if distance else -1.0) * abs(float(duals[row])) / size * float(slope)
    return total


def approach(problem: Problem, guess: Any, monitor: Any, solver: str, iterations: int) -> Any:
    """A guess for a robot with passive joints: their torques made small before they have to vanish.

    From a straight line the torque of a passive joint cannot be brought to zero at once. It is minimised first, on a
    coarse curve and then on the one that is asked for; from there the rest is a small step.
    """
    passive = [c for c in problem.constraints if isinstance(c, Passive)]
    if not passive or isinstance(guess, Plan):
        return guess
    small = sum((effort(joints=c.joints) for c in passive), Sum(()))
    soft = replace(
        problem,
        minimize=small + SLIGHT * problem.minimize,
        constraints=tuple(c for c in problem.constraints if not isinstance(c, Passive)),
        kernels={},
    )
    for count in dict.fromkeys((min(COARSE, problem.basis.count), problem.basis.count)):
        stage = replace(soft, basis=Basis.uniform(problem.basis.degree, count))
        solution = _solved(stage, first_motion(stage, guess), (), monitor, solver, 1.0, iterations, 1)
        guess = _result(stage, solution, monitor, solver, 0.0)
        if monitor.reason:
            break
    return replace(guess, duals=())
