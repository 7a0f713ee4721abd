"""Why a simulation takes so many steps: told from its last steps and from the eigenvalues of its linearised rates."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from linkwise.simulation.events import Watch
from linkwise.simulation.motions import Array

KEPT = 100  # last steps
FEW = 20  # steps of which nothing can be told
SHIFT = 1e-6  # of a coordinate, relative to its size where that is above 1
DECAYS, SWINGS = 2.0, 3.5  # rate times step above which stability bounds an explicit solver's steps, not accuracy
SLOW = 0.02  # rate times step below which the robot is not what takes short steps
SETTLES = 1.0  # rate times step above which what settles is what bounds the steps
RESOLVED = 0.2  # rate times step above which steps follow a swing
GROWN = 100.0  # times the speed of before: a motion that runs away
TURNS = 0.25  # of steps in which a speed changes its sign: chattering
FAST = 300.0  # rad/s: a swing that a robot seldom means
FORCED = 0.3  # of accelerations: a change with time that is large
CROWD = 4  # crossings of an event in a step, at most
NEAR = 30.0  # times a rate: what could have made it
OUTSIDE = (
    "control, wrenches, motions or laws change within a step, or jump. Make them smoother or slower, or loosen rtol and"
    " atol."
)
LEAPS = 2000  # of a rate over the time left: what an explicit solver may leap over
WORTH = 20_000  # steps to come, for which another solver is worth its errors, larger than those of DOP853


class Dynamic(Protocol):
    """What is asked of a system: its rates, names of its coordinates, and what acts on them."""

    labels: list[str]  # positions, then velocities
    first_speed: int  # where velocities begin
    environment: str  # laws of the user's, in words
    asking: bool  # whether one of the user's functions is at work

    def __call__(self, t: float, y: Array) -> Array: ...

    def held(self, t: float, y: Array) -> Callable[[float, Array], Array]:
        """The rates with control and wrenches held at what they are."""

    def laws(self, y: Array, label: str) -> Iterable[tuple[float, str]]:
        """What the robot itself has that acts on a coordinate: a rate in 1/s, and words."""


class Mode(NamedTuple):
    """An eigenvalue of the rates, and the coordinate that moves most in it."""

    value: complex
    label: str


@dataclass
class Trail:
    """The last steps of a run: where each ended, how long it was, and the state."""

    steps: deque[tuple[float, float, Array]] = field(default_factory=lambda: deque(maxlen=KEPT))
    first: float = 0.0  # the largest number of the state at the start

    @property
    def length(self) -> float:
        """The length of a step, as steps are now, s."""
        return float(np.median([h for _, h, _ in self.steps])) if self.steps else 0.0


def modes(system: Dynamic, t: float, y: Array, *, held: bool = False) -> list[Mode]:
    """Eigenvalues of d rate / d y, largest first, control and wrenches `held` or not; none where none can be had."""
    n = len(system.labels)
    J = np.empty((n, n))
    try:
        with np.errstate(all="ignore"):
            rate = system.held(t, y) if held else system
            at = rate(t, y)[:n]
            for k in range(n):
                moved = y.copy()
                moved[k] += SHIFT * max(1.0, abs(y[k]))
                J[:, k] = (rate(t, moved)[:n] - at) / (moved[k] - y[k])
            values, vectors = np.linalg.eig(J)
    except Exception:  # of a user's function too, which was not made for states beside the motion
        system.asking = False
        return []
    order = np.argsort(-np.abs(values))
    v = system.first_speed  # velocities tell more than positions, which move little in a fast mode
    return [Mode(complex(values[k]), system.labels[v + int(np.argmax(np.abs(vectors[v:, k])))]) for k in order]


def is_stiff(system: Dynamic, trail: Trail, left: float) -> bool:
    """Whether stability alone keeps the steps of an explicit solver short, and much is left to do."""
    h = trail.length
    if len(trail.steps) < FEW or h <= 0.0 or left < WORTH * h:
        return False
    t, _, y = trail.steps[-1]
    found = modes(system, t, y)
    grows = max((m.value.real for m in found), default=0.0)
    decays = max((-m.value.real for m in found), default=0.0)
    swings = max((abs(m.value) for m in found if m.value.real < 0.0), default=0.0)
    return grows * h < 0.1 and (decays * h > DECAYS or swings * h > SWINGS)


def stiffness_sentence(system: Dynamic, t: float, y: Array, left: float) -> str:
    """What makes an explicit solver leap too far from a state; nothing where the robot has no rate that fast."""
    found = modes(system, t, y)
    decays = found and -found[0].value.real * left > LEAPS and abs(found[0].value.imag) <= abs(found[0].value.real)
    return _bound(system, found, left, t, y, True) if decays else ""


def why(system: Dynamic, trail: Trail, end: float, events: Iterable[Watch], explicit: bool) -> str:
    """What keeps a run from its end, and what to do."""
    if not trail.steps:
        return "No step was finished: the functions given are slow, or a step is tried again and again."
    t, _, y = trail.steps[-1]
    h = trail.length
    pace = f"Steps are of {h:.2g} s, {end - t:.3g} s are left"
    if len(trail.steps) < FEW:
        return f"{pace}, about {(end - t) / h:.2g} more steps at this pace."
    found = modes(system, t, y)
    states = np.array([x for _, _, x in trail.steps])[:, : len(system.labels)]
    for told in (
        _crowded(trail, events),
        _grown(system, trail, found, states, t, y),
        _forced(system, t, y, h),
        _chattering(system, found, states, h),
        _bound(system, found, h, t, y, explicit),
    ):
        if told:
            return f"{told} {pace}."
    fastest = _fastest(found)
    if fastest * h < SLOW:
        return f"{pace}, although the robot's own rates are below {max(fastest, 1e-3):.2g} 1/s: {OUTSIDE}"
    return f"{pace}, about {(end - t) / h:.2g} more steps: nothing is wrong with the motion, it is long. Allow more."


def _crowded(trail: Trail, events: Iterable[Watch]) -> str:
    """Events that come several times in each step."""
    begin = trail.steps[0][0]
    for watch in events:
        count = sum(t > begin for t, _, _ in watch.found[-CROWD * KEPT :])
        if count > len(trail.steps):
            return (
                f"The event {watch.name!r} happened {count} times in the last {len(trail.steps)} steps: its zeros"
                " accumulate. Make it terminal, or a function that keeps away from zero."
            )
    return ""


def _grown(system: Dynamic, trail: Trail, found: list[Mode], states: Array, t: float, y: Array) -> str:
    """A motion that runs away."""
    v = system.first_speed
    speeds = np.abs(states[-1][v:])
    k = int(np.argmax(speeds))
    if speeds[k] < GROWN * max(1.0, trail.first):
        return ""
    still = y.copy()
    still[v : len(system.labels)] = 0.0
    rest = modes(system, t, still)
    if rest and abs(rest[0].value) > 0.5 * _fastest(found) and rest[0].value.real < 0.1 * abs(rest[0].value):
        return ""  # as fast at rest, where nothing grows: a swing, not a motion that runs away
    rising = max((m.value.real for m in found), default=0.0)
    alone = max((m.value.real for m in modes(system, t, y, held=True)), default=0.0)
    by = " under control or wrenches" if rising > 0.0 and alone < 0.5 * rising else ""
    return (
        f"Unstable: {system.labels[v + k]} has grown to {speeds[k]:.3g}{by}, and a fast motion takes short steps."
        " Look at signs and gains of the control, or end the simulation by an event."
    )


def _forced(system: Dynamic, t: float, y: Array, h: float) -> str:
    """Accelerations that change with time alone."""
    v, n = system.first_speed, len(system.labels)
    try:
        seen = np.array([system(t - k * h, y)[v:n] for k in range(FEW)])
    except Exception:  # as above
        system.asking = False
        return ""
    if np.ptp(seen, axis=0).max() < FORCED * np.abs(seen).max():
        return ""
    return f"Accelerations change with time within {FEW} steps, the robot held still: {OUTSIDE}"


def _fastest(found: list[Mode]) -> float:
    return max((abs(m.value) for m in found), default=0.0)


def _chattering(system: Dynamic, found: list[Mode], states: Array, h: float) -> str:
    """A speed that changes its sign from step to step, without a swing that would explain it."""
    v = system.first_speed
    turns = np.mean(np.diff(np.sign(states[:, v:]), axis=0) != 0.0, axis=0)
    k = int(np.argmax(turns))
    if turns[k] < TURNS or any(abs(m.value.imag) * h > RESOLVED for m in found):
        return ""
    return (
        f"Chattering: {system.labels[v + k]} changed its sign in {turns[k]:.0%} of the last steps. Dry friction or a"
        " switching control has a jump there: use smooth_friction=True, a wider friction law, or tanh in place of sign."
    )


def _bound(system: Dynamic, found: list[Mode], h: float, t: float, y: Array, explicit: bool) -> str:
    """A rate that bounds the steps: stiff, or a swing that they follow."""
    if not found:
        return ""
    value, label = found[0]
    rate, swings = abs(value), abs(value.imag) > abs(value.real)
    if rate * h < SLOW or (rate < FAST if swings else -value.real * h < SETTLES):
        return ""
    alone = _fastest(modes(system, t, y, held=True))
    by = " by control or wrenches" if alone < 0.5 * rate else _law(system, y, label, rate)
    if swings:
        return (
            f"{label} swings at {rate:.3g} rad/s{by}, and steps follow each swing. Give it damping, make it softer, or"
            " leave it out: what swings so fast is mostly rigid."
        )
    do = "Use method='Radau' or 'BDF'" if explicit else "Loosen rtol and atol"
    return f"Stiff: {label} settles at {rate:.3g} 1/s{by}. {do}, or make it smoother."


def _law(system: Dynamic, y: Array, label: str, rate: float) -> str:
    """Which part of the robot makes a rate, as near as can be told."""
    near = [(abs(np.log(r / rate)), words) for r, words in system.laws(y, label) if r > 0.0]
    if near and min(near)[0] < np.log(NEAR):
        return f" by {min(near)[1]}"
    return f" by {system.environment}" if system.environment else ""
