"""Controllers that run in a computer: sampled at a rate of their own, held in between, with delay and state."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.check import positive
from linkwise.errors import InputError

Array = NDArray[np.float64]

EARLY = 1e-9  # of a period: instants that lie closer together are one


class Commands(NamedTuple):
    """What a sampled controller asked for: the times of its samples (k,), s, and the torques (k, nu) it gave then.

    `applied` (k,) are the times at which the torques began to act, after the delay. `state` has the controller's state
    after each sample, where it has one.
    """

    t: Array
    tau: Array
    applied: Array
    state: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class SampledControl:
    """A control law and when it is called; made by `linkwise.control.sampled`."""

    law: Callable[..., Any]
    period: float
    delay: float = 0.0
    state: Any = None
    before: Any = None
    jitter: float = 0.0
    seed: int = 0


def sampled(
    law: Callable[..., Any],
    period: float,
    *,
    delay: float = 0.0,
    state: Any = None,
    before: Any = None,
    jitter: float = 0.0,
    seed: int = 0,
) -> SampledControl:
    """A controller that is called once a period, and whose torques are held until the next: for `simulate(control=)`.

    The simulation stops exactly at each sample, so that a controller may keep what it likes from one to the next: the
    law is called in the order of time, once for each sample. The same simulation gives the same result again, because
    it starts from `state`, or calls the law's method `reset()` if there is one.

    Args:
        law: `law(t, q, qd) -> tau`, as `simulate` takes it; with a `state`, `law(t, q, qd, state) -> (tau, state)`. It
            need not be smooth. An object with a method `reset()` may keep its state itself.
        period: between samples, s; the first one is at the start of the simulation.
        delay: from a sample to the moment its torques act, s: the time to measure, compute and transmit. It may be
            longer than a period.
        state: of the controller at the start: an integral, an estimate, anything that can be copied.
        before: torques until the first ones arrive, where there is a delay; None for zeros.
        jitter: samples come late by up to so many seconds, evenly spread; less than the period.
        seed: of the jitter, which is the same in every simulation.
    """
    if not callable(law):
        raise InputError(f"sampled: expected a function of (t, q, qd) that returns torques, got {law!r}.")
    every = positive(period, "sampled period")
    late = {"delay": delay, "jitter": jitter}
    for name, value in late.items():
        late[name] = positive(value, f"sampled {name}", "seconds, 0 or more") if value != 0.0 else 0.0
    if late["jitter"] >= every:
        raise InputError(f"sampled jitter: expected less than the period, {every:g} s, got {jitter!r}.")
    return SampledControl(law, every, late["delay"], state, before, late["jitter"], seed)


class Hold:
    """A sampled control at work in one simulation.

    Args:
        control: what was asked.
        times: of the rows, at which samples happen exactly where the two are the same but for rounding.
        fitted: makes forces of the tree from what a law returns, or raises.
    """

    def __init__(self, control: SampledControl, times: Array, fitted: Callable[[Any, float], Array]) -> None:
        self._control, self._times, self._fitted = control, times, fitted
        self._start, self._early = float(times[0]), EARLY * control.period
        self._random = np.random.default_rng(control.seed)
        self._state = deepcopy(control.state)
        self._due, self._waiting = self._start, deque[tuple[float, Array]]()
        self.samples: list[tuple[float, Array, float, Any]] = []
        self.forces = fitted(control.before, self._start) if control.before is not None else None
        if callable(reset := getattr(control.law, "reset", None)):
            reset()

    @property
    def next(self) -> float:
        """The next time at which something changes."""
        found = min([self._due, *(t for t, _ in self._waiting)])
        near = self._times[np.clip(np.searchsorted(self._times, found) + np.array([-1, 0]), 0, len(self._times) - 1)]
        close = near[np.abs(near - found) <= self._early]
        return float(close[0]) if len(close) else found

    def tick(self, t: float, state: tuple[Array, Array], ask: Callable[..., Any]) -> None:
        """Do what is due at a time: sample, in a state of what leads, and let torques act that have arrived."""
        if self._due <= t + self._early:
            control = self._control
            known = () if control.state is None else (self._state,)
            returned = ask(control.law, t, *state, *known)
            if known:
                try:
                    returned, self._state = returned
                except (TypeError, ValueError):
                    raise InputError(
                        f"sampled control at t = {t:g} s: expected torques and the new state, got {returned!r}."
                    ) from None
            forces = self._fitted(returned, t)
            self._waiting.append((t + control.delay, forces))
            self.samples.append((t, forces, t + control.delay, deepcopy(self._state)))
            late = control.jitter * self._random.random() if control.jitter else 0.0
            self._due = self._start + len(self.samples) * control.period + late
        while self._waiting and self._waiting[0][0] <= t + self._early:
            self.forces = self._waiting.popleft()[1]

    def commands(self, places: Any) -> Commands:
        """All that was asked for; `places` are those of the drives among forces of the tree."""
        t, forces, applied, states = zip(*self.samples, strict=True)
        kept = tuple(states) if self._control.state is not None else ()
        return Commands(np.array(t), np.array(forces)[:, places], np.array(applied), kept)
