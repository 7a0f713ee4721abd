"""Moments at which something happens: zeros of functions of time, positions and velocities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import InputError
from linkwise.simulation.motions import Array

Event = Callable[[float, Array, Array], float]
State = Callable[[float], tuple[Array, Array]]  # the state at a time within a step
PARTS = 4  # of a step, in each of which one crossing is seen


class Crossings(NamedTuple):
    """When an event happened, and the states then: t (k,), q (k, nq), qd (k, nv)."""

    t: Array
    q: Array
    qd: Array


class Watch:
    """One event, and when it has happened.

    The function may have the attributes `terminal` (True, or after how many times to stop) and `direction` (positive:
    only where it rises; negative: only where it falls), as SciPy's events have.
    """

    def __init__(self, name: str, function: Event) -> None:
        self.name, self._function = name, function
        self._terminal = int(getattr(function, "terminal", 0) or 0)
        self._direction = float(getattr(function, "direction", 0.0))
        self.found: list[tuple[float, Array, Array]] = []
        self._last = 0.0

    def begin(self, t: float, q: Array, qd: Array) -> None:
        """Look at the first moment."""
        self._last = self._value(t, q, qd)

    def crossings(self, state: State, begin: float, end: float) -> list[float]:
        """The times in (begin, end] at which the function becomes zero or changes its sign."""
        from scipy.optimize import brentq

        times = np.linspace(begin, end, PARTS + 1)
        values = [self._last, *(self._value(t, *state(t)) for t in times[1:])]
        self._last = values[-1]
        zeros = []
        for (t0, t1), (g0, g1) in zip(pairwise(times), pairwise(values), strict=True):
            rises = g0 < 0.0 <= g1
            falls = g0 > 0.0 >= g1
            if (rises and self._direction >= 0.0) or (falls and self._direction <= 0.0):
                root = t1 if g1 == 0.0 else brentq(lambda t: self._value(t, *state(t)), t0, t1, xtol=4e-16, rtol=1e-15)
                zeros.append(float(root))
        return zeros

    def add(self, t: float, q: Array, qd: Array) -> bool:
        """Keep a crossing; True when it ends the simulation."""
        self.found.append((t, q, qd))
        return bool(self._terminal) and len(self.found) >= self._terminal

    def result(self, nq: int, nv: int) -> Crossings:
        """All crossings kept."""
        t, q, qd = zip(*self.found, strict=True) if self.found else ((), (), ())
        return Crossings(np.array(t, dtype=float), np.reshape(q, (-1, nq)), np.reshape(qd, (-1, nv)))

    def _value(self, t: float, q: Array, qd: Array) -> float:
        found = self._function(t, q, qd)
        try:
            value = float(found)
        except (TypeError, ValueError):
            value = np.nan
        if np.isnan(value):
            raise InputError(f"event {self.name!r} at t = {t:g} s: expected a number, got {found!r}.")
        return value


def watches(events: Any) -> list[Watch]:
    """Events by name: a function, several, or a mapping of names to functions."""
    if events is None:
        return []
    if isinstance(events, Mapping):
        named = list(events.items())
    elif callable(events):
        named = [(_name(events), events)]
    elif isinstance(events, Sequence) and not isinstance(events, str):
        named = [(_name(f), f) for f in events]
    else:
        named = [("", events)]
    found: dict[str, Watch] = {}
    for name, function in named:
        if not callable(function):
            raise InputError(f"events: expected functions of (t, q, qd), got {function!r}.")
        same = sum(n == name for n, _ in named)
        key = name if same == 1 else f"{name}_{1 + sum(k.startswith(f'{name}_') for k in found)}"
        found[key] = Watch(key, function)
    return list(found.values())


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", "event")).strip("<>")
