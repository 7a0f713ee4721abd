"""Who watches a solver: progress, time limit, Ctrl-C, and the best feasible point so far."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.program import Program
from linkwise.status import StatusLine


class Stop(Exception):
    """Raised inside a solver's callback to end it; its message is the reason."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver found.

    Args:
        x: the variables.
        status: "converged", "infeasible" (the solver's word, which proves nothing), "gave up", "out of time" or
            "interrupted".
        iterations: how many.
        message: the solver's own words.
        multipliers: of rows, positive at upper bounds, where the solver has them.
    """

    x: Array
    status: str
    iterations: int
    message: str
    multipliers: Array = field(default_factory=lambda: np.zeros(0))


class Monitor:
    """Watches one plan, through all its solves.

    Args:
        tolerance: up to which rows count as kept.
        limit: seconds, or None.
        label: before the line of progress.
        shown: whether there is one.
        enough: iterations and changes of the objective after which rounding, or what a user cares for, leaves nothing.
    """

    def __init__(
        self,
        tolerance: float,
        limit: float | None = None,
        label: str = "plan",
        shown: bool = True,
        enough: tuple[int, float] = (30, 1e-9),
    ) -> None:
        self.tolerance, self.label, self.began = tolerance, label, time.monotonic()
        self.limit, self._enough = limit, enough
        self.reason = ""
        self.iterations = 0
        self.best: Array | None = None
        self.last: Array | None = None
        self.history: list[tuple[float, float]] = []
        self._line = StatusLine() if shown else None
        self._program: Program | None = None
        self._value = np.inf
        self._listens = False
        self._first = 0

    def watch(self, program: Program) -> None:
        """Begin with another program; what was feasible in the last one may not be in this."""
        self._first = len(self.history)
        self._program, self.best, self.last, self._value = program, None, None, np.inf

    def gradient(self, x: Array) -> Array:
        """The program's gradient, which solvers ask for once in every iteration."""
        program = self._program
        assert program is not None
        found = program.gradient(x)
        f, error = program.f(x), program.infeasibility(x)
        self.last, self.iterations = x.copy(), self.iterations + 1
        self.history.append((f, error))
        if error <= self.tolerance and f < self._value:
            self.best, self._value = x.copy(), f
        self.say(f"{self.iterations} iterations, objective {f:.6g}, violation {error:.1e}")
        if not self.reason and self.out_of_time:
            self.reason = "out of time"
        if self.ends:
            raise Stop(self.reason or "settled")
        return found

    def say(self, words: str) -> None:
        """Show how far it has come."""
        if self._line:
            self._line.write(f"{self.label}: {words}")

    @property
    def ends(self) -> bool:
        """Whether a solver is to come to an end."""
        return bool(self.reason) or self.settled()

    def settled(self, *given: Any) -> bool:
        """Whether the objective has not changed for so long, with all rows kept: rounding leaves nothing to gain.

        Where second derivatives are Gauss's and Newton's, or terms are large, a solver's own test may never be met.
        """
        iterations, change = given or self._enough
        recent = self.history[self._first :][-iterations:]
        if len(recent) < iterations:
            return False
        f, over = np.array(recent).T
        return bool(over.max() <= self.tolerance and np.isfinite(f).all() and np.ptp(f) <= change * abs(f[-1]))

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Ctrl-C noted instead of raised, for it could not pass through a solver; a second one is raised after all.

        Only the main thread hears it; in others nothing changes.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        before = signal.signal(signal.SIGINT, self._note)
        self._listens = True
        try:
            yield
        finally:
            self._listens = False
            signal.signal(signal.SIGINT, before)

    def _note(self, *_: Any) -> None:
        if self.reason:
            raise KeyboardInterrupt
        self.reason = "interrupted"

    def listen(self) -> None:
        """Hear Ctrl-C again, where a solver has begun to do so itself and would end the process at a second one."""
        if self._listens:
            signal.signal(signal.SIGINT, self._note)

    @property
    def out_of_time(self) -> bool:
        return self.limit is not None and time.monotonic() - self.began > self.limit

    @property
    def left(self) -> float | None:
        """Seconds that are left."""
        return None if self.limit is None else max(0.0, self.limit - (time.monotonic() - self.began))

    def done(self) -> None:
        """Leave no line."""
        if self._line:
            self._line.wipe()
