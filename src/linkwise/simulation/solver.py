"""The loop around SciPy's solvers: rows at the times asked for, events, progress, and an end at any moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.errors import LinkwiseError, SimulationError
from linkwise.simulation.budget import Budget, Spent
from linkwise.simulation.diagnosis import KEPT, Trail, is_stiff, stiffness_sentence, why
from linkwise.simulation.events import Watch
from linkwise.simulation.limits import LimitWatch
from linkwise.simulation.motions import Array
from linkwise.simulation.progress import Progress
from linkwise.simulation.system import System

LAST = 1e-12  # of the whole time: what jumps so near to the end is no more of a motion
TINY = 1e-16  # of the whole time: a step below this leads nowhere
NOTHING = 1e-200  # of a state
SHORTER, RETRIES = 30.0, 60  # how a step that failed is tried again
SLUGGISH = 5e-3  # s for an evaluation: too long to make a hundred more and see why
STUCK = 100  # so many of them in a row
METHODS = ("DOP853", "RK45", "RK23", "Radau", "BDF", "LSODA")
IMPLICIT = ("Radau", "BDF", "LSODA")  # at least where it pays: these ask for a Jacobian
STIFF_SOLVER = "LSODA"  # what is taken where explicit steps are too short
Choice = tuple[str, dict[str, Any]]  # a solver and its options


@dataclass
class Course:
    """What a run leaves behind: rows of `System.row`, and how it ended."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    status: str = "finished"
    steps: int = 0
    breaks: list[float] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)  # of SciPy's, one after the other
    turned: float | None = None  # when the second took over
    pieces: list[Any] = field(default_factory=list)  # interpolants of the steps, where they are kept


class Run:
    """One simulation from the first of `times` to the last."""

    def __init__(
        self,
        system: System,
        times: Array,
        events: Sequence[Watch],
        progress: Progress,
        budget: Budget,
        *,
        keep: bool,
        limits: LimitWatch | None = None,
    ) -> None:
        self._system, self._times, self._events, self._progress, self._keep = system, times, events, progress, keep
        self._budget, self._trail, self._limits = budget, Trail(), limits
        self._next = 0  # of `times`, the first that has no row
        self._short = 0  # steps in a row that lead nowhere
        self._doubt: tuple[int, SimulationError] | None = None  # a failure, and the step by which it is mended or not
        self._tried, self._retries = 0.0, 0  # the last time at which rates were asked, and steps made shorter
        self.course = Course()

    def go(self, y: Array, method: str, options: dict[str, Any], turn: Callable[[], Choice] | None = None) -> Course:
        """Integrate from the state `y`; Ctrl-C ends it early, and an error leaves what was computed in `course`.

        Args:
            y: at the first time.
            method: of SciPy's.
            options: of the solver.
            turn: gives another solver with its options, where the motion proves stiff for an explicit one.
        """
        course, t = self.course, float(self._times[0])
        course.breaks.append(t)
        course.methods.append(method)
        self._trail.first = float(np.abs(y).max(initial=0.0))
        try:
            stopped = self._jump(t, y)
            for watch in self._events:
                watch.begin(t, *self._system.state(t, y))
            self._system(t, y)  # compiles, which is no part of a budget
            self._budget.begin(len(y))
            if stopped:
                return course
            solver = self._solver(t, y, method, options)
            while solver.status == "running":
                try:
                    self._advance(solver, method)
                except SimulationError as error:  # a step that leapt too far: another solver, or a shorter one
                    stiff = "" if method in IMPLICIT else self._hint(t, y)
                    if turn and stiff:
                        solver, method, turn = self._turned(t, y, turn)
                    elif (again := self._shorter(t, y, solver)) is not None:
                        solver, self._doubt = again, (course.steps + 2 * KEPT, error)
                    else:
                        raise SimulationError(f"{self._doubt[1] if self._doubt else error} {stiff}".rstrip()) from error
                    continue
                if not np.isfinite(solver.y).all() and ((y != 0.0) & (np.abs(y) < NOTHING)).any():
                    y = np.where(np.abs(y) < NOTHING, 0.0, y)  # where numbers are next to none, LSODA divides by zero
                    solver = self._solver(t, y, *self._choice)
                    continue
                if self._step(solver):
                    break
                t, y = solver.t, solver.y.copy()
                self._progress.update(t)
                self._trail.steps.append((t, t - solver.t_old, y))
                if solver.status != "running":
                    if t >= self._times[-1] or self._jump(t, y):
                        break
                    solver = self._resumed(t, y, solver)
                self._budget.step(course.steps)
                self._settle_doubt(t)
                if turn and method not in IMPLICIT and course.steps % KEPT == 0 and self._is_stiff(t):
                    solver, method, turn = self._turned(t, y, turn)
        except Spent as spent:
            course.status = "out of time" if "time_limit" in str(spent) else "out of steps"
            self._finish_row(t, y)
            raise SimulationError(self._stopped(t, method, spent)) from None
        except KeyboardInterrupt:
            if not course.rows:
                raise
            course.status = "interrupted"
            self._finish_row(t, y)
        except SimulationError:
            if course.rows:
                course.status = "failed"
                self._finish_row(t, y)
            raise
        finally:
            self._progress.close(t)
        return course

    def facts(self, begin: float) -> dict[str, Any]:
        """How it was computed, since the moment `begin` of the clock."""
        return {
            "method": ", then ".join(self.course.methods),
            "steps": self.course.steps,
            "evaluations": self._system.evaluations,
            "seconds": time.perf_counter() - begin,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of the solver."""
        if self.course.turned is None:
            return ()
        return (f"stiff from t = {self.course.turned:.4g} s on, and so continued by {self.course.methods[-1]}",)

    def _solver(self, t: float, y: Array, method: str, options: dict[str, Any], anew: bool = True) -> Any:
        import scipy.integrate

        if anew:
            self._choice = (method, options)
        with _solver_at_work():
            return getattr(scipy.integrate, method)(self._rate, t, y, self._bound(), **options)

    def _bound(self) -> float:
        """The time up to which nothing jumps."""
        end, near = float(self._times[-1]), self._system.next_tick
        return near if near < end - LAST * (end - float(self._times[0])) else end

    def _jump(self, t: float, y: Array) -> bool:
        """Let a sampled control act, and keep a row that was asked for then; True when a limit ends the simulation."""
        self._system.tick(t, y)
        if self._times[self._next] == t:
            self._record(t, y)
        self.course.status = (self._limits and self._limits.begin(t, y)) or self.course.status
        if self.course.status != "finished":
            self._finish_row(t, y)
        return self.course.status != "finished"

    def _resumed(self, t: float, y: Array, solver: Any) -> Any:
        """The same solver after a jump, with steps as long as they were."""
        method, options = self._choice
        step = getattr(solver, "h_abs", None)  # of SciPy's explicit solvers, and some others
        begin = {} if step is None else {"first_step": min(float(step), self._bound() - t)}
        return self._solver(t, y, method, options | begin, anew=False)

    def _turned(self, t: float, y: Array, turn: Callable[[], Choice]) -> tuple[Any, str, None]:
        """The other solver, which goes on from a state; there is no third."""
        method, options = turn()
        self.course.methods.append(method)
        self.course.turned = t
        return self._solver(t, y, method, options), method, None

    def _shorter(self, t: float, y: Array, solver: Any) -> Any:
        """The same solver with a first step much shorter than the one that failed; None where that is no way out."""
        step, self._retries = (self._tried - t) / SHORTER, self._retries + 1
        if solver.status == "failed" or self._short == STUCK or self._retries > RETRIES or t + step <= t:
            return None
        method, options = self._choice
        return self._solver(t, y, method, {**options, "first_step": step}, anew=False)

    def _settle_doubt(self, t: float) -> None:
        """After a step that failed and some shorter ones: the failure stands where these lead nowhere."""
        if self._doubt and self.course.steps >= self._doubt[0]:
            longest = max(h for _, h, _ in self._trail.steps)
            if float(self._times[-1]) - t > self._budget.steps * longest:
                raise self._doubt[1]
            self._doubt = None

    def _rate(self, t: float, y: Array) -> Array:
        self._budget.evaluate()
        self._tried = t
        return self._system(t, y)

    def _is_stiff(self, t: float) -> bool:
        return is_stiff(self._system, self._trail, float(self._times[-1]) - t)

    def _hint(self, t: float, y: Array) -> str:
        return stiffness_sentence(self._system, t, y, float(self._times[-1]) - t)

    def _why(self, method: str) -> str:
        if self._budget.each > SLUGGISH:
            return f"Each evaluation takes {self._budget.each:.2g} s: make control, wrenches and motions faster."
        return why(self._system, self._trail, float(self._times[-1]), self._events, method not in IMPLICIT)

    def _stopped(self, t: float, method: str, spent: Spent) -> str:
        """What to say when a budget is used up."""
        done = f"after {self.course.steps} steps of {method} in {self._budget.elapsed:.3g} s"
        return (
            f"simulate: stopped at t = {t:.9g} of {self._times[-1]:g} s {done}, which used up {spent}."
            f" {self._why(method)} The error's `result` has the motion up to there; time_limit= and max_steps= allow"
            " more."
        )

    def _advance(self, solver: Any, method: str) -> None:
        """One step of the solver, or an error where it cannot go on."""
        try:
            with _solver_at_work():
                message = solver.step()
        except (ValueError, RuntimeError, np.linalg.LinAlgError) as error:
            if self._system.asking or isinstance(error, LinkwiseError):  # not of SciPy's
                raise
            solver.status, message = "failed", f"{error}. Has the motion run away?"
        if solver.status == "failed" and method == "LSODA":
            message = f"{message or ''} LSODA cannot run while another LSODA does, such as within a control."
        short = solver.status == "running" and solver.t - solver.t_old < TINY * (self._times[-1] - self._times[0])
        self._short = self._short + 1 if short else 0
        if self._short == STUCK:
            message = f"its steps are of {solver.t - solver.t_old:.1e} s. Has the motion run away?"
        if solver.status == "failed" or self._short == STUCK:
            raise SimulationError(
                f"simulate: the solver {method} stopped at t = {solver.t:.9g} s: {message or 'no reason given'}"
                " Loosen rtol and atol, try method='LSODA' or 'Radau' for stiff forces, or look for jumps in"
                f" control and forces. {self._why(method)}".rstrip()
            )

    def _step(self, solver: Any) -> bool:
        """Keep what a step brought; True when an event ends the simulation in it."""
        begin, end = float(solver.t_old), float(solver.t)
        interior: list[Any] = [solver.dense_output()] if self._needs_interior(end) else []
        seen: dict[float, Array] = {end: solver.y}

        def state(t: float) -> Array:
            """The state within the step; the interpolant is made when it is first needed."""
            if t not in seen:
                interior.extend([] if interior else [solver.dense_output()])
                seen[t] = interior[0](t)
            return seen[t]

        rows = self._times[self._next : int(np.searchsorted(self._times, end, "right"))]
        within = rows.tolist()
        if interior and within:
            seen = {**dict(zip(within, interior[0](rows).T, strict=True)), **seen}
        stop = self._limits.step(state, begin, sorted({*within, end})) if self._limits else None
        stop = (self._watch(state, begin, stop[0] if stop else end) if self._events else None) or stop
        last = end if stop is None else stop[0]
        again = stop is None and end < self._times[-1] and solver.status == "finished"  # and something jumps there
        for at in within:
            if at <= last and not (again and at == end):
                self._record(at, state(at))
        self.course.steps += 1
        if self._keep:
            self.course.breaks.append(end)
            self.course.pieces.append(interior[0])
        if stop is not None:
            self._finish_row(last, state(last))
            self.course.status = stop[1]
        return stop is not None

    def _needs_interior(self, end: float) -> bool:
        return bool(self._keep or self._events or self._times[self._next] < end)

    def _watch(self, piece: Callable[[float], Array], begin: float, end: float) -> tuple[float, str] | None:
        """Keep the events of a step in their order; the time at which one ends the simulation, and how it ends then."""

        def state(t: float) -> tuple[Array, Array]:
            return self._system.state(t, piece(t))

        zeros = [(t, watch) for watch in self._events for t in watch.crossings(state, begin, end)]
        for t, watch in sorted(zeros, key=lambda z: z[0]):
            if watch.add(t, *state(t)):
                return t, f"stopped by event {watch.name!r}"
        return None

    def _record(self, t: float, y: Array) -> None:
        self.course.rows.append(self._system.row(t, y))
        self._next += 1

    def _finish_row(self, t: float, y: Array) -> None:
        """A last row at a time that was not asked for."""
        if t <= self.course.rows[-1][0]:
            return
        try:
            self.course.rows.append(self._system.row(t, y))
        except (KeyboardInterrupt, SimulationError):  # from a control that ends itself: the row before stays the last
            return


def _solver_at_work() -> Any:
    """SciPy's own arithmetic without warnings: a state that overflows in it is answered by `System` at once."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


def work_scale(robot: Any, q: Array) -> float:
    """Energy that belongs to one unit of motion, J: by it the tolerance of work follows from that of motion."""
    from linkwise.algorithms.forces import gravity_forces
    from linkwise.algorithms.mass_matrix import mass_matrix

    position = q.tolist()
    M = mass_matrix.plain(robot, position)
    inertia = sum(M[k * robot.nv + k] for k in range(robot.nv))
    return float(0.5 * inertia + np.abs(gravity_forces.plain(robot, position)).sum()) or 1.0
