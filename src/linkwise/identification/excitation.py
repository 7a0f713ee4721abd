"""Exciting motions: those along which torques tell most about a robot's parameters, within all of its limits."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from linkwise.check import positive, whole
from linkwise.errors import InputError
from linkwise.identification.curve_space import basis_of, space_of
from linkwise.identification.random_motion import REACH, Random, stays_closed
from linkwise.kernel.base_parameters import BaseParameters
from linkwise.motion.limits import TOLERANCE
from linkwise.planning import solvers
from linkwise.planning.attempts import Attempts, How
from linkwise.planning.bounds import a_robot
from linkwise.planning.chart import chart_of
from linkwise.planning.clearance import clearance as apart
from linkwise.planning.curve import Array, Curve
from linkwise.planning.drives import drives_of
from linkwise.planning.information import Information, Told, information, scaled, with_prior
from linkwise.planning.joint_limits import KINDS, JointLimits, with_own_limits
from linkwise.planning.notes import with_notes
from linkwise.planning.planner import result_of
from linkwise.planning.problem import Problem
from linkwise.planning.result import Plan
from linkwise.planning.rows import Rows
from linkwise.planning.setup import degree_of, problem_of
from linkwise.planning.term_and_constraint import Constraint, Term
from linkwise.planning.transcription import Violation
from linkwise.robot.robot import Robot

DENSITY = 80  # points of the information in a motion, at least
ENOUGH = 8, 1e-4  # iterations in which the objective changes by less than this part of it
AGAIN = 3  # times that a solver which gives up on the way begins again from where it got to
BACK = 1.0, 0.99, 0.97, 0.94, 0.9, 0.8, 0.6, 0.4, 0.2  # of the way from a motion that keeps limits to one that does not
LEFT = "the loops cannot be closed between points; limits of effort or speed may hold it"


@dataclass(frozen=True, eq=False)
class Excitation(Plan):
    """An exciting motion: a `Plan`, and what torques along it tell.

    Args:
        information: the integral over time of Y^T W Y, of base parameters in parts of their columns' usual sizes; so
            neither `log_det` nor `condition` depends on units.
        base: the base parameters that the motion tells about.
        sizes: of their columns, over the noise of torques.
        form: of the curve, "fourier" or "spline".
        random: log det of the random motions among which the search began.
    """

    information: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    base: BaseParameters | None = field(default=None, repr=False)
    sizes: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    form: str = "fourier"
    random: tuple[float, ...] = field(default=(), repr=False)

    @property
    def log_det(self) -> float:
        """The logarithm of the determinant of the information, with what is known before: see `lw.cost.information`."""
        return log_det(self.information)

    @property
    def condition(self) -> float:
        """The condition number of the regressor along the motion."""
        return float(np.sqrt(np.linalg.cond(self.information)))

    @property
    def parameters(self) -> tuple[str, ...]:
        """The base parameters that the motion tells about, each a sum of the robot's parameters."""
        return self.base.names if self.base else ()

    def standard_errors(self, rate: float = 100.0) -> Array:
        """How exactly torques that are measured so often, in Hz, would determine `parameters`, in their units.

        Their noise is taken as white; noise of positions and errors of the model come on top.
        """
        covariance = np.linalg.inv(positive(rate, "rate") * self.information)
        return np.sqrt(np.diag(covariance)) / self.sizes

    @property
    def summary(self) -> str:
        begun = f" (the best of {len(self.random)} random motions: {max(self.random):.5g})" if self.random else ""
        told = f"log det of the information of {len(self.information)} base parameters {self.log_det:.5g}{begun}"
        return f"{super().summary}; {told}; condition number {self.condition:.4g}"

    def _trials(self) -> Iterator[str]:
        if self.status == "gave up":
            why = self.facts.get("solver_message")
            yield f"the search has not come to an end ({why}); more iterations or another seed may tell more"

    def __repr__(self) -> str:
        return f"<Excitation of {self.robot.name!r}: {self.summary}>"


def excite(
    robot: Robot,
    *,
    duration: float = 20.0,
    about: Any = None,
    form: str = "fourier",
    harmonics: int = 5,
    control_points: int = 24,
    criterion: str = "D",
    noise: Any = None,
    start: Any = None,
    rest: bool = True,
    subject_to: Any = None,
    clearance: float | None = None,
    share: float = 0.99,
    tries: int = 50,
    starts: int = 1,
    seed: int = 0,
    solver: str | None = None,
    time_limit: float | None = None,
    iterations: int = 200,
    progress: bool = True,
) -> Excitation:
    """The motion along which torques tell most about a robot's parameters, within all limits.

    The motion ends as it begins, so that it can be repeated. The search begins from the best of some random motions
    that are as large as limits allow.

    Args:
        robot: what is to be identified; its drives have to determine all of its motion.
        duration: of one period, s.
        about: None for all parameters, "inertia", "friction", "payload" for what the last link carries, or names of
            parameters, links or joints; others are taken as known.
        form: "fourier" for a truncated Fourier series, or "spline" for a B-spline.
        harmonics: of the series, and of random motions; more of them tell more.
        control_points: of the B-spline.
        criterion: "D", "A" or "condition", as `lw.cost.information` takes it.
        noise: standard deviation of measured torques, as `lw.cost.information` takes it.
        start: where the motion begins and ends, positions or positions by joint; found if not given.
        rest: whether it begins and ends at rest; else it is periodic with speeds.
        subject_to: constraints as `lw.plan` takes them; the robot's own limits if not given. Joints without limits of
            position stay within half a turn of the robot's own position.
        clearance: m, that links keep from each other; obstacles are in an `lw.limit.clearance` of `subject_to`.
        share: of limits of joints and drives that the motion uses.
        tries: random motions, of which the best is improved.
        starts: how many of them are improved, of which the best is returned.
        seed: of the random motions.
        solver: as `lw.plan` takes it.
        time_limit: s; after it the best motion so far is returned.
        iterations: of the solver, at most, in each round.
        progress: whether to show a line of it on a terminal.

    Returns:
        An `Excitation`; Ctrl-C returns the best motion so far.
    """
    began = clock.monotonic()
    a_robot(robot, "excite")
    names = solvers.chosen(solver)
    term, level = information(criterion, about, noise), positive(share, "share", "a number above 0, at most 1")
    if level > 1.0:
        raise InputError(f"share: expected a number above 0, at most 1, got {share!r}.")
    limits = [shared(c, level) for c in with_own_limits(subject_to)]
    limits += [] if clearance is None else [apart((), clearance)]
    problem = excitation_problem(robot, term, limits, duration, (form, harmonics, control_points), start, rest)
    whole(tries, "tries", 1), whole(starts, "starts", 1), whole(iterations, "iterations", 1)
    limit = None if time_limit is None else positive(time_limit, "time_limit")
    monitor = solvers.Monitor(1e-6, limit, f"excite {robot.name}", progress, ENOUGH)
    try:
        begun = Random(problem, harmonics, seed).motions(tries, monitor)
        how = How(monitor, names, TOLERANCE, iterations)
        improved = [_improved(problem, curve, how) for curve in begun[:starts]]
    finally:
        monitor.done()
    best = min(improved, key=lambda attempts: attempts.rank)
    assert best.best is not None
    best.best = best.best._replace(largest=_of_whole_limits(best.best.largest, level))
    found = _excitation(result_of(best, clock.monotonic() - began), problem, term, begun)
    return with_notes(replace(found, form=form))


@dataclass(frozen=True)
class SharedLimits(JointLimits):
    """Limits of joints of which a share is used."""

    share: float = 1.0

    def bound(self, robot: Robot, kind: str) -> Array:
        return self.share * super().bound(robot, kind)

    def ranges(self, robot: Robot) -> dict[str, tuple[float, float]]:
        off = 0.5 * (1.0 - self.share)
        every = {n: (low, high, off * (high - low)) for n, (low, high) in super().ranges(robot).items()}
        return {n: (low + x, high - x) if np.isfinite(x) else (low, high) for n, (low, high, x) in every.items()}

    def rows(self, robot: Robot) -> list[Rows]:
        """The rows; bounds of torque-speed curves are not among those of `bound`."""
        k = self.share
        return [
            replace(r, lower=k * r.lower, upper=k * r.upper, scale=k * r.scale) if r.label == "torque_speed" else r
            for r in super().rows(robot)
        ]


@dataclass(frozen=True)
class Turn(Constraint):
    """Positions within so much of the robot's own position."""

    reach: tuple[float, ...]
    home: tuple[float, ...]

    def box(self, robot: Robot) -> tuple[Array, Array]:
        reach, home = np.array(self.reach), np.array(self.home)
        return home - reach, home + reach


def shared(limits: Constraint, share: float) -> Constraint:
    return SharedLimits(limits.kinds, limits.values, share) if isinstance(limits, JointLimits) else limits


def _of_whole_limits(largest: Violation, share: float) -> Violation:
    """A violation of shared limits as one of the limits themselves: none, where the share leaves room for it."""
    inside = largest.name.startswith((*KINDS, "torque_speed")) and share * (1.0 + largest.violation) <= 1.0
    return Violation(0.0, "", 0.0) if inside else largest


def excitation_problem(
    robot: Robot, term: Term, limits: list[Constraint], duration: float, shape: tuple[Any, ...], start: Any,
    rest: bool,
) -> Problem:  # fmt: skip
    """The problem on the space of closed motions of a form."""
    chart = chart_of(robot)
    loose = drives_of(robot).floating or tuple(n for place in chart.sought for n in place.names)
    if loose:
        raise InputError(
            f"excite: expected a robot whose drives and closed forms determine all of its motion, got {robot.name!r}"
            f" with {loose[0]!r}. Use lw.plan(robot, ..., minimize=lw.cost.information(), duration=...)."
        )
    form, harmonics, control_points = shape
    basis = basis_of(form, harmonics, control_points, degree_of(robot))
    seconds = positive(duration, "duration")
    points = 3 if form == "spline" else 2
    found = problem_of(robot, start, start, term, limits, seconds, basis.count, basis.degree, points)
    chart = found.chart
    at = np.zeros(chart.n) if start is None else found.ends.fixed[0]
    space = space_of(form, basis, harmonics, rest, start is not None), np.tile(at, (basis.count, 1))
    gauss = max(2, -(-DENSITY // (len(basis.breaks) - 1)))
    turn = Turn(
        tuple(np.where(np.isfinite(found.box).any(axis=0), np.inf, REACH)), tuple(Random(found, harmonics).home)
    )
    return replace(
        found, start=None, goal=None, constraints=(*found.constraints, turn), space=space, gauss=gauss, kernels={}
    )


def _improved(problem: Problem, curve: Curve, how: How) -> Attempts:
    """What solvers make of a motion that keeps all limits, one after the other until one converges."""
    found, reached = Attempts(how), curve
    for name in how.names:
        found.how = how._replace(names=(name,))
        for _ in range(AGAIN):
            begun, found.best, found.starts = reached, None, found.starts + 1
            found.solve(problem, begun)
            assert found.best is not None
            ended = found.best.curve
            reached = _nearest_kept(problem, begun, ended, how.tolerance)
            if not stays_closed(problem, ended):
                found.best = found.best._replace(status="gave up", message=LEFT)
            if not found.best.converged and not np.array_equal(reached.points, ended.points):
                found.best = found.best._replace(message=f"{found.best.message}; it was drawn back")
            found.best = found.best._replace(curve=reached, largest=problem.largest_violation(reached))
            if found.over or found.best.clear or reached is begun:
                break
        if found.over or (found.best and found.best.clear):
            break
    return found


def _nearest_kept(problem: Problem, begun: Curve, ended: Curve, tolerance: float) -> Curve:
    """The motion nearest to the end of a solve that keeps all limits and loops, and tells more than where it began."""
    told = problem.objective.wholes[0][1]
    level, T = told.value(begun.points, begun.duration), begun.duration
    for part in BACK:
        curve = Curve(begun.basis, begun.points + part * (ended.points - begun.points), T)
        tells_more = told.value(curve.points, T) < level
        if tells_more and stays_closed(problem, curve) and problem.largest_violation(curve).violation <= tolerance:
            return curve
    return begun


def _excitation(plan: Plan, problem: Problem, term: Term, begun: list[Curve]) -> Excitation:
    told = problem.objective.wholes[0][1]
    assert isinstance(told, Told)
    assert isinstance(term, Information)
    own: Mapping[str, Any] = {f.name: getattr(plan, f.name) for f in fields(Plan)}
    scale = scaled(problem.robot, term.about, term.noise)
    return Excitation(
        **own, information=told.at(plan.curve.points, plan.duration), base=scale.base, sizes=scale.sizes,
        random=tuple(log_det(told.at(c.points, c.duration)) for c in begun),
    )  # fmt: skip


def log_det(information: Array) -> float:
    return float(np.linalg.slogdet(with_prior(information))[1])
