"""`plan`: the motion that is best by some terms and respects some constraints."""

from __future__ import annotations

import time as clock
from math import inf
from typing import Any

import numpy as np

from linkwise.check import positive, whole
from linkwise.errors import UnknownNameError
from linkwise.motion.limits import TOLERANCE
from linkwise.planning import solvers
from linkwise.planning.attempts import Attempts, How
from linkwise.planning.carrier import Carrier
from linkwise.planning.curve import Array
from linkwise.planning.notes import with_notes
from linkwise.planning.program import Program
from linkwise.planning.result import Plan
from linkwise.planning.setup import problem_of
from linkwise.robot.robot import Robot

KNOTS = ("even", "free")


def plan(
    robot: Robot,
    start: Any = None,
    goal: Any = None,
    minimize: Any = None,
    subject_to: Any = None,
    *,
    duration: Any = None,
    control_points: int = 20,
    degree: int | None = None,
    points: int = 3,
    knots: str = "even",
    guess: Any = None,
    base_motion: Any = None,
    external: Any = None,
    solver: str | None = None,
    tolerance: float = TOLERANCE,
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
        minimize: terms, such as lw.cost.time() + 0.01 * lw.cost.effort(); the duration if not given. Of motions that
            take the same time the calmest is taken.
        subject_to: constraints, such as lw.limit.joints("velocity", effort=10.0). The robot's own limits of joints and
            drives if not given, and beside constraints among which there is no lw.limit.joints; () for none.
        duration: s; a pair for bounds of a free one.
        control_points: of each joint; 10 to 40.
        degree: of the polynomials: 4, so that torque rates have no jumps, and more with elastic drives.
        points: constraint points in every span of the curve, before any are added.
        knots: "even", or "free" to let the spans of the curve find their lengths too; many times the work.
        guess: where to begin: an earlier `Plan`, positions to pass in even steps of time (k, n), or a duration (s).
        base_motion: a function of time (s) that returns the pose of the base in the world, written for any scalar.
        external: frames or links, each with what pushes the robot there: a wrench, six numbers in the axes of the
            frame, force first; a function of time that returns them; or a law of place, `law(pose, velocity)` as
            `simulate(forces=)` takes it, or `law(t, pose, velocity)`, written for any scalar: a spring, wind, a hose.
        solver: "uno" or "ipopt", where they are installed, or "scipy". The first of these that is there if not given,
            with contacts Ipopt before Uno; where it gives up, the others are tried.
        tolerance: how far a limit may be exceeded between points, relative to it, where a motion that is slower by as
            little would not keep it.
        refine: whether points are added.
        time_limit: s; after it the best motion so far is returned.
        iterations: of the solver, at most, in each round.
        progress: whether to show a line of it on a terminal.

    Returns:
        A `Plan`, whose `status` says how it went, `summary` the same in words, and `notes` what was neglected; Ctrl-C
        returns the best feasible motion so far.

    Raises:
        InputError: what is asked for is seen to be impossible before any solve: an end outside of its limits, a drive
            that cannot hold its load there, a pose out of reach, a duration that is too short for the way.
    """
    began = clock.monotonic()
    names = solvers.chosen(solver)
    if knots not in KNOTS:
        raise UnknownNameError("choice of knots", knots, KNOTS)
    problem = problem_of(
        robot, start, goal, minimize, subject_to, duration, control_points, degree, points, base_motion, external
    )
    if problem.chart.stances:  # many rows: Ipopt keeps them sparse
        names = tuple(sorted(names, key=lambda name: name != "ipopt"))
    level = positive(tolerance, "tolerance")
    whole(iterations, "iterations", 1, inf)
    limit = None if time_limit is None else positive(time_limit, "time_limit")
    monitor = solvers.Monitor(1e-6, limit, f"plan {robot.name}", progress)
    how = How(monitor, names, level, iterations, refine, knots == "free")
    try:
        found = Attempts(how).on(problem, guess)
    finally:
        monitor.done()
    return with_notes(result_of(found, clock.monotonic() - began))


def result_of(found: Attempts, seconds: float) -> Plan:
    """The plan of the best that was found."""
    assert found.best is not None
    best, monitor = found.best, found.how.monitor
    problem, program = best.problem, best.program
    x = program.variables.of(best.curve)
    integrals = [i.samples for i in problem.objective.integrals]
    names = [s.name(0, k).title for s in integrals for k in range(s.kernel.count)]
    terms = dict(zip(names, program.terms(x).tolist(), strict=True))
    if problem.objective.time:
        terms["time"] = best.curve.duration
    terms |= {w.label: w.value(best.curve.points, best.curve.duration) for _, w in problem.objective.wholes}
    facts = {
        "solver": best.solver, "iterations": monitor.iterations, "rounds": best.rounds, "seconds": seconds,
        "seconds_in_functions": found.seconds, "variables": program.n, "rows": program.m,
        "solver_message": best.message, "edge": program.variables.edge(best.curve.duration),
        "tried": found.words, "starts": found.starts, "least_violation": min(found.least, default=None),
    }  # fmt: skip
    return Plan(
        problem.robot, best.curve, program.asked(x), found.status, best.largest, terms,
        _multipliers(program, program.multipliers(best.duals)), facts, best.duals,
        Carrier.of(problem.environment, problem.chart, best.curve), problem.chart,
        scenes=tuple(near.near.scene for near in problem.near),
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
