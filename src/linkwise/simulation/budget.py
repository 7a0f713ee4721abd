"""How much work a simulation may take: steps, evaluations and seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.errors import InputError

MOST_STEPS = 500_000  # where none are given: minutes for most robots
ATTEMPTS, JACOBIAN = 30, 3  # evaluations that a step may take on average, and more for each coordinate


class Spent(Exception):
    """A budget that is used up: what of it, in words."""


@dataclass
class Budget:
    """Steps and seconds that may be used; asked at each evaluation, since a solver can try for ever within one step."""

    steps: int = MOST_STEPS
    seconds: float = np.inf
    _evaluations: float = field(default=np.inf, init=False)
    _begin: float = field(default=0.0, init=False)
    _used: int = field(default=0, init=False)

    @classmethod
    def checked(cls, time_limit: Any, max_steps: Any) -> Budget:
        """The budget that a user gives; None for what is not given."""
        seconds, steps = np.inf if time_limit is None else time_limit, MOST_STEPS if max_steps is None else max_steps
        number = isinstance(seconds, (int, float, np.number)) and not isinstance(seconds, bool)
        if not number or not seconds > 0.0:
            raise InputError(f"time_limit: expected seconds above 0, or None, got {time_limit!r}.")
        if not isinstance(steps, (int, np.integer)) or isinstance(steps, bool) or steps < 1:
            raise InputError(f"max_steps: expected a whole number above 0, or None, got {max_steps!r}.")
        return cls(int(min(steps, 2**63)), float(seconds) if seconds < 1e300 else np.inf)

    def begin(self, width: int) -> None:
        """Start the clock, for a state of so many numbers."""
        self._begin, self._used = time.perf_counter(), 0
        self._evaluations = float(self.steps) * (ATTEMPTS + JACOBIAN * width)

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._begin

    @property
    def each(self) -> float:
        """Seconds that an evaluation takes."""
        return self.elapsed / max(1, self._used)

    def evaluate(self) -> None:
        """Count an evaluation of the rates."""
        self._used += 1
        if self.elapsed > self.seconds:
            raise Spent(f"its time_limit of {self.seconds:g} s")
        if self._used > self._evaluations:
            raise Spent(f"the {self._used - 1} evaluations that max_steps={self.steps} allows")

    def step(self, made: int) -> None:
        """Look at the steps made, and at the clock: events take time too."""
        if self.elapsed > self.seconds:
            raise Spent(f"its time_limit of {self.seconds:g} s")
        if made >= self.steps:
            raise Spent(f"its max_steps={self.steps}")
