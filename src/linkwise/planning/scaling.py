"""The decisions of the scaler as compiled functions: how hard to brake now, so that limits can be kept later."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial

from linkwise.kernel.kernel import Compiled
from linkwise.kernel.tracing import Port, Program, caller, trace
from linkwise.scalar import Scalar, less, sqrt, where

PARTS = 10  # rows of `path_parts`
NOW, AHEAD = 0.97, 0.94  # shares of limits that are used now, and counted on ahead
CRAWL, SLOW = 0.1, 0.25  # of the reference's speed: what braking goes down to, and what is slow enough to go on
EAGER = 0.03  # s in which a slowed reference is wanted back at its speed
BITE = 0.01  # s in which brakes are on
HUGE, TINY = 1e18, 1e-12
ROUNDED = 1.0 + 4e-16  # of a limit: what equals it keeps it
KEPT = 16  # kernels


@lru_cache(maxsize=KEPT)
def now_kernel(n: int) -> Compiled:
    """(rows, speed, acceleration, share, stop, limits, dt) -> jerk, state, tau, rest, m.

    What is tried lies by `share` between braking, by which the reference's squared speed decays within its time `stop`,
    and going back to its own speed. `state` is y = s_dot^2 and u = s_ddot in the next sample, and 1 where limits are
    kept now and then, else 0. tau_dot = rest + m jerk.

    `rows` are those of `path_parts` now and in the next sample; `limits` are those of effort and effort rate, which may
    be infinite.
    """
    inputs = {
        "rows": (2, PARTS, n),
        "speed": (),
        "acceleration": (),
        "share": (),
        "stop": (),
        "limits": (2, n),
        "dt": (),
    }
    outputs = {"jerk": (), "state": (3,), "tau": (n,), "rest": (n,), "m": (n,)}
    ports = [[Port(name, shape) for name, shape in shapes.items()] for shapes in (inputs, outputs)]
    return _compiled(trace("scale_now", partial(_now, n), *ports), now_kernel.__doc__)


@lru_cache(maxsize=KEPT)
def ahead_kernel(n: int, joints: int) -> Compiled:
    """(state, here, there, slope, stop, limits, velocity, spacing) -> states, j: braking over points ahead.

    A state is y, u and whether limits have been kept so far; `states` are those after each step, and j = u' within it.
    `here` and `there` (steps, parts, n) are rows at both ends of each step, `slope` those of all joints at its end.
    """
    inputs = [Port("state", (3,)), Port("here", (PARTS, n), steps=True), Port("there", (PARTS, n), steps=True)]
    inputs += [Port("slope", (joints,), steps=True), Port("stop", ()), Port("limits", (2, n))]
    inputs += [Port("velocity", (joints,)), Port("spacing", ())]
    outputs = [Port("states", (3,), steps=True), Port("j", (), steps=True)]
    program = replace(trace("scale_ahead", partial(_ahead, n), inputs, outputs), carries=((0, 0),))
    return _compiled(program, ahead_kernel.__doc__)


@lru_cache(maxsize=KEPT)
def sample_kernel(nv: int, n: int, joints: int) -> Compiled:
    """(qd, qdd, speed, acceleration, jerk, tau, rest, m, slope, limits, velocity) -> velocity, ..., tau_dot, kept.

    The sample of the slowed motion, from derivatives of the reference by its own time; `kept` is 1 where it keeps all
    limits, else 0.
    """
    inputs = {"qd": (nv,), "qdd": (nv,), "speed": (), "acceleration": (), "jerk": ()}
    inputs |= {"tau": (n,), "rest": (n,), "m": (n,), "slope": (joints,), "limits": (2, n), "most": (joints,)}
    outputs = {"velocity": (nv,), "slowed": (nv,), "tau_dot": (n,), "kept": ()}
    ports = [[Port(name, shape) for name, shape in shapes.items()] for shapes in (inputs, outputs)]
    return _compiled(trace("scaled_sample", _sample, *ports), sample_kernel.__doc__)


def _compiled(program: Program, doc: str | None) -> Compiled:
    kernel = Compiled(caller(program, doc or "", 1))
    kernel.program = program
    return kernel


class _Place:
    """The parts of torques at one point of the reference."""

    def __init__(self, flat: Sequence[Scalar], n: int) -> None:
        rows = [flat[k * n : (k + 1) * n] for k in range(PARTS)]
        self.m, self.c, self.g, self.a, self.b, self.dm, self.dc, self.dg, self.da, self.db = rows

    def torque(self, i: int, y: Scalar, w: Scalar, u: Scalar) -> Scalar:
        return self.m[i] * u + self.c[i] * y + (self.g[i] + self.a[i]) + self.b[i] * w

    def rest(self, i: int, y: Scalar, w: Scalar, u: Scalar) -> Scalar:
        """The rate of torque less m s_dddot."""
        along = (self.dm[i] + 2.0 * self.c[i]) * u + self.dc[i] * y + (self.dg[i] + self.da[i]) + self.db[i] * w
        return w * along + self.b[i] * u


class _Interval:
    """Where rows |m x + rest| <= room hold."""

    def __init__(self, low: Scalar, high: Scalar) -> None:
        self._lows, self._highs = [low], [high]

    def narrow(self, m: Scalar, rest: Scalar, room: Scalar) -> None:
        inverse = 1.0 / where(less(abs(m), TINY), TINY, m)
        middle, half = -rest * inverse, room * abs(inverse)
        self._lows.append(middle - half)
        self._highs.append(middle + half)

    @cached_property
    def low(self) -> Scalar:
        return _by_pairs(_max, self._lows)

    @cached_property
    def high(self) -> Scalar:
        return _by_pairs(_min, self._highs)

    @property
    def empty(self) -> Scalar:
        return less(self.high, self.low)

    def nearest(self, x: Scalar) -> Scalar:
        """x put within the interval."""
        return _max(self.low, _min(self.high, x))


def _by_pairs(of: Callable[[Scalar, Scalar], Scalar], values: Sequence[Scalar]) -> Scalar:
    """An operation over all values, in few steps after each other."""
    while len(values) > 1:
        values = [*(of(a, b) for a, b in zip(values[::2], values[1::2], strict=False)), *values[len(values) & ~1 :]]
    return values[0]


class _Limits:
    """Shares of the limits of n drives."""

    def __init__(self, flat: Sequence[Scalar], n: int, share: float) -> None:
        self.effort, self.rate = ([share * x for x in flat[k * n : (k + 1) * n]] for k in range(2))


def _now(
    n: int,
    flat: Sequence[Scalar],
    speed: Sequence[Scalar],
    acceleration: Sequence[Scalar],
    fraction: Sequence[Scalar],
    stop: Sequence[Scalar],
    bounds: Sequence[Scalar],
    sample: Sequence[Scalar],
) -> tuple[Sequence[Scalar], ...]:
    here, then = _Place(flat[: PARTS * n], n), _Place(flat[PARTS * n :], n)
    (w,), (u,), (share,), (length,), (dt,) = speed, acceleration, fraction, stop, sample
    y, limits = w * w, _Limits(bounds, n, NOW)
    tau = [here.torque(i, y, w, u) for i in range(n)]
    rest = [here.rest(i, y, w, u) for i in range(n)]

    # what rates now and torques in the next sample leave for the jerk
    most = 0.05 / (dt * dt)
    allowed = _Interval(-most, most)
    w_then = w + dt * u
    for i in range(n):
        allowed.narrow(here.m[i], rest[i], limits.rate[i])
        allowed.narrow(then.m[i] * dt, then.torque(i, w_then * w_then, w_then, u), limits.effort[i])

    # back to the reference's speed, or braking, or something between
    wish = ((1.0 - w) * (1.0 / EAGER) - 2.0 * u) * (1.0 / EAGER)
    brake = (_braking(y, length) - u) * (1.0 / BITE)
    jerk = allowed.nearest(brake + (wish - brake) * share)
    jerk = _max(-most, _min(most, jerk))
    w_then = w + dt * (u + 0.5 * dt * jerk)
    return [jerk], [w_then * w_then, u + dt * jerk, 1.0 - allowed.empty], tau, rest, here.m


def _sample(
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    speed: Sequence[Scalar],
    acceleration: Sequence[Scalar],
    jerk: Sequence[Scalar],
    tau: Sequence[Scalar],
    rest: Sequence[Scalar],
    m: Sequence[Scalar],
    slope: Sequence[Scalar],
    bounds: Sequence[Scalar],
    most: Sequence[Scalar],
) -> tuple[Sequence[Scalar], ...]:
    (w,), (u,), (j,) = speed, acceleration, jerk
    velocity = [x * w for x in qd]
    slowed = [a * (w * w) + x * u for a, x in zip(qdd, qd, strict=True)]
    tau_dot = [r + x * j for r, x in zip(rest, m, strict=True)]
    kept: Scalar = 1.0
    for value, bound in zip([*(x * w for x in slope), *tau, *tau_dot], [*most, *bounds], strict=True):
        kept = kept * less(abs(value), bound * ROUNDED)  # not where it is no number
    return velocity, slowed, tau_dot, [kept]


def _braking(y: Scalar, length: Scalar) -> Scalar:
    """The acceleration with which y - y_crawl decays within a length."""
    return -0.5 * (y - CRAWL * CRAWL) / length


def _ahead(
    n: int,
    state: Sequence[Scalar],
    flat_here: Sequence[Scalar],
    flat_there: Sequence[Scalar],
    slope: Sequence[Scalar],
    stop: Sequence[Scalar],
    bounds: Sequence[Scalar],
    velocity: Sequence[Scalar],
    spacing: Sequence[Scalar],
) -> tuple[Sequence[Scalar], ...]:
    """One step of braking: y + 2 h u + h^2 j and u + h j at the next point, with j = s_dddot / s_dot."""
    (y, u, good), (length,), (h,), limits = state, stop, spacing, _Limits(bounds, n, AHEAD)
    here, there, least = _Place(flat_here, n), _Place(flat_there, n), 0.25 * CRAWL * CRAWL
    allowed = _Interval(-HUGE, HUGE)
    coast = y + 2.0 * h * u
    now, late = _max(y, least), _max(coast, least)
    w, w_late = sqrt(now), sqrt(late)
    back, back_late = 1.0 / w, 1.0 / w_late
    for i in range(n):
        rate, c = limits.rate[i], there.c[i]
        allowed.narrow(here.m[i], here.rest(i, now, w, u) * back, rate * back)
        m = there.m[i] + h * (there.dm[i] + 2.0 * c + h * there.dc[i])
        allowed.narrow(m, there.rest(i, late, w_late, u) * back_late, rate * back_late)
        allowed.narrow(h * (there.m[i] + h * c), there.torque(i, coast, w, u), limits.effort[i])
    j = allowed.nearest((_braking(y, length) - u) / h)
    y, u = coast + h * h * j, u + h * j
    slow = [less(y * (x * x), (AHEAD * most) * (AHEAD * most)) for x, most in zip(slope, velocity, strict=True)]
    good = _by_pairs(operator.mul, [good, 1.0 - allowed.empty, less(0.0, y), *slow])
    return [y, u, good], [j]


def _min(a: Scalar, b: Scalar) -> Scalar:
    return where(less(b, a), b, a)


def _max(a: Scalar, b: Scalar) -> Scalar:
    return where(less(a, b), b, a)
