"""Solve, and where that fails solve again: from other motions and by other solvers, until one converges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from linkwise.planning import solvers
from linkwise.planning.among import HIT, rounds_among, slow_enough
from linkwise.planning.constraints import Passive
from linkwise.planning.curve import Array, Basis, Curve
from linkwise.planning.guess import guesses
from linkwise.planning.knots import free_knots
from linkwise.planning.problem import Problem
from linkwise.planning.program import Dual, Program
from linkwise.planning.relaxed import nearest
from linkwise.planning.result import Plan
from linkwise.planning.term_and_constraint import Sum
from linkwise.planning.terms import effort
from linkwise.planning.transcription import ROUNDING, Violation

ROUNDS = 8  # of adding constraint points
COARSE, SLIGHT = 20, 1e-3  # control points of a first approach, and how little the objective counts there
CLEAR_STARTS = 2  # ways among obstacles, of which one keeps all limits
STARTS = 3  # from so many no motion is found before it is said that there is none
FINE = 0.2  # of the tolerance, towards which points are added
SLOWER = (0.5, 1.0, 2.5)  # times its violation: by how much a motion is slowed down to be within its limits


class How(NamedTuple):
    """How to solve: who watches, which solvers in which order, how exactly, and whether breaks are free."""

    monitor: solvers.Monitor
    names: tuple[str, ...]
    tolerance: float
    iterations: int
    refine: bool = True
    free_breaks: bool = False


class Solution(NamedTuple):
    """What the rounds of solving gave."""

    problem: Problem
    curve: Curve
    status: str
    message: str
    program: Program
    duals: tuple[Dual, ...]
    largest: Violation
    rounds: int
    solver: str

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    @property
    def clear(self) -> bool:
        """Whether it is a way among obstacles that keeps all limits, be it the best or not."""
        return bool(self.problem.near) and self.largest.violation <= 1e-3

    @property
    def rank(self) -> tuple[bool, float, float]:
        """By which solutions are compared, the least is best."""
        kept = self.largest.violation <= 1e-3
        x = self.program.variables.of(self.curve)
        return not self.converged, 0.0 if kept else self.largest.violation, self.program.f(x)


@dataclass
class Attempts:
    """All that was tried on a problem.

    Args:
        how: to solve.
        best: the best of what was found.
        words: what was tried, in the order of trying.
        starts: how many motions it began from.
        least: violations that could not be made less, each from another start.
        seconds: spent in functions.
    """

    how: How
    best: Solution | None = None
    words: list[str] = field(default_factory=list)
    starts: int = 0
    least: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def over(self) -> bool:
        """Whether nothing else is to be tried."""
        found = self.best is not None and (self.best.converged or (self.best.clear and self.starts >= CLEAR_STARTS))
        return found or len(self.least) >= STARTS or bool(self.how.monitor.reason)

    def on(self, problem: Problem, guess: Any) -> Attempts:
        """Try all guesses, each by all solvers; where no motion keeps the limits, seek one that does."""
        duals: tuple[Dual, ...] = guess.duals if isinstance(guess, Plan) else ()
        for curve in guesses(problem, guess):
            self.starts += 1
            begin = curve if isinstance(guess, Plan) else approach(problem, curve, self.how)
            self.solve(problem, begin, duals)
            if not self.over and self.best and self.best.largest.violation > self.how.tolerance and not problem.near:
                self._seek(problem, begin)
            if self.over:
                break
            duals = ()
        return self

    def solve(self, problem: Problem, curve: Curve, duals: tuple[Dual, ...] = ()) -> None:
        """Try one solver after another from a motion."""
        for name in self.how.names:
            found = rounds_of(problem, curve, duals, self.how, name)
            self.seconds += found.program.seconds
            self.words.append(f"{found.solver} ({found.message or found.status})")
            if self.best is None or found.rank < self.best.rank:
                self.best = found
            if self.over or found.status == "infeasible" or found.clear:
                break

    def _seek(self, problem: Problem, curve: Curve) -> None:
        """Seek a motion that keeps all limits, and begin from it; where there is none, note how near one can be."""
        found = nearest(problem, curve, self.how.monitor, self.how.iterations)
        if found.violation <= self.how.tolerance:
            self.words.append("a motion that keeps all limits")
            self.solve(problem, found.curve)
        elif found.is_minimum:
            self.least.append(found.violation)

    @property
    def rank(self) -> tuple[bool, float, float]:
        """By which attempts are compared, the least is best."""
        assert self.best is not None
        return self.best.rank

    @property
    def status(self) -> str:
        """How it went, in a word; a solver's own word that there is no motion is none."""
        assert self.best is not None
        if self.how.monitor.reason:
            return self.how.monitor.reason
        if self.best.converged:
            return "converged"
        return "infeasible" if len(self.least) >= STARTS else "gave up"


def rounds_of(problem: Problem, curve: Curve, duals: Sequence[Dual], how: How, name: str) -> Solution:
    """Solve, judge on the fine grid, add points, solve again."""
    if how.free_breaks:
        problem, curve = free_knots(problem, curve, how.monitor, name, how.iterations)
        duals = ()
    if problem.near:
        found = Solution(**rounds_among(problem, curve, how, name))
        curve = slow_enough(problem, found.curve) if found.clear else found.curve
        return found._replace(curve=curve, largest=problem.largest_violation(curve))
    variables, grid = problem.variables(curve.duration), problem.grid
    good: Solution | None = None
    spent = 0.0
    for k in range(1, ROUNDS + 1 if how.refine else 2):
        program = problem.program(variables, grid)
        warm = program.multipliers(duals) if duals else None
        answer, by = _solved(program, variables.of(curve), how, name, warm)
        spent += program.seconds
        duals = program.duals(answer.multipliers)
        curve = variables.curve(answer.x)
        largest = problem.largest_violation(curve)
        status, message = answer.status, answer.message
        if status != "converged" and good is not None and not how.monitor.reason:
            break
        found = Solution(problem, curve, status, message, program, duals, largest, k, by)
        wider = problem.next_variables(variables, curve)
        if status == "converged" and wider is not variables:
            variables = wider
            continue
        good = found if status == "converged" and largest.violation <= how.tolerance else good
        if status != "converged" or largest.violation <= FINE * how.tolerance or not how.refine:
            break
        finer = problem.refined(curve, grid, FINE * how.tolerance)
        if len(finer) == len(grid):
            break
        grid = finer
    found = good or found
    found.program.seconds = spent
    if not how.refine or not found.converged:
        return found
    if good is None:
        return found._replace(status="gave up", message="limits are exceeded between points")
    curve, largest = within(problem, found.program, found.curve, found.largest, how.tolerance)
    return found._replace(curve=curve, largest=largest)


def _solved(program: Program, x: Array, how: How, name: str, warm: Array | None) -> tuple[solvers.Answer, str]:
    """The answer of a solver, and its name; of the next one where the first crawls.

    Uno steps from one set of rows at their bounds to the next. Near the best motion it needs the fewest steps of all.
    From a slow first motion, with thousands of torque rates to choose from, it may need hundreds, each with a search of
    its own; interior points make no such choice.
    """
    others = [other for other in how.names if other != name] if name in solvers.CRAWLS else []

    def solved(by: str, x: Array, iterations: int, warm: Array | None) -> solvers.Answer:
        return solvers.solve(by, program, x, how.monitor, tolerance=1e-8, iterations=iterations, warm=warm)

    few = min(how.iterations, solvers.CRAWLS[name]) if others else how.iterations
    answer = solved(name, x, few, warm)
    crawls = answer.status == "gave up" and answer.iterations >= few < how.iterations
    if not crawls or how.monitor.reason:
        return answer, name
    other = solved(others[0], x, how.iterations, warm)
    if other.status == "converged" or how.monitor.reason:
        return other, others[0]
    return solved(name, answer.x, how.iterations - few, answer.multipliers), name


def within(
    problem: Problem, program: Program, curve: Curve, largest: Violation, tolerance: float
) -> tuple[Curve, Violation]:
    """The motion, a little slower where that brings it within all limits between points too."""
    for share in SLOWER:
        longer = curve.duration * (1.0 + min(share * largest.violation, tolerance))
        if not ROUNDING < largest.violation <= tolerance or not longer <= program.variables.upper[-1]:
            break
        slower = Curve(curve.basis, curve.points, longer)
        judged = problem.largest_violation(slower)
        if judged.violation <= ROUNDING:
            return slower, judged
    return curve, largest


def approach(problem: Problem, curve: Curve, how: How) -> Curve:
    """A motion to begin with, from which the rest is a small step, where a first motion is far from all that is asked.

    A robot on its feet whose first motion hits something moves as if nothing were in the way. From a straight line the
    torque of a passive joint cannot be brought to zero at once. It is minimised first, on a coarse curve and then on
    the one that is asked for.
    """
    if problem.chart.stances and any(near.violations(curve, problem.grid).max() > HIT for near in problem.near):
        bare = replace(problem, constraints=tuple(c for c in problem.constraints if c.scene(problem.robot) is None))
        found = rounds_of(bare, curve, (), how._replace(refine=False, free_breaks=False), how.names[0])
        return found.curve if found.converged else curve
    passive = [c for c in problem.constraints if isinstance(c, Passive)]
    if not passive:
        return curve
    small = sum((effort(joints=c.joints) for c in passive), Sum(()))
    soft = replace(
        problem,
        minimize=small + SLIGHT * problem.minimize,
        constraints=tuple(c for c in problem.constraints if not isinstance(c, Passive)),
        kernels={},
    )
    loose = how._replace(tolerance=np.inf, refine=False, free_breaks=False)
    for count in dict.fromkeys((min(COARSE, problem.basis.count), problem.basis.count)):
        stage = replace(soft, basis=Basis.uniform(problem.basis.degree, count))
        curve = rounds_of(stage, curve.with_basis(stage.basis), (), loose, how.names[0]).curve
        if how.monitor.reason:
            break
    return curve.with_basis(problem.basis)
