"""When the rows of a log were measured: stamps that jitter, repeat, skip or run backwards, made into even instants."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.motion.trajectory import Array

Rows = NDArray[np.intp]

EVEN = 1e-3  # of a step, below which stamps are taken for even
CLOSE = 0.25  # of a step, below which two rows are one
FILLED = (3, 10e-3)  # rows, or seconds if that is more: the longest pause that is interpolated over
FEWEST = 8  # rows of a run
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
UNIX = (9e8, 4.2e9)  # s since 1970, between which stamps are: 1998 to 2103
FINE = {"ns": 5e4, "us": 150.0, "ms": 1.0}  # steps from which on times are in such a unit: no log is that slow
SHORTEST, LONGEST = 1e-8, 1e4  # s, between which steps are
BACK = 20  # steps backwards, from which on times start again
MANY = 0.01  # of the rows: more steps backwards than that are jitter or disorder
PAUSE = 1.0  # s before what starts again
MOVING = 0.2  # of the largest speed, above which rows tell something about time
FAR = 12.0  # steps, over which a motion is not straight
NEARBY = 7  # rows on either side, most of which come without a loss
TOLD = 4000  # rows from which something about time is learned, at most


class Instants(NamedTuple):
    """When rows were measured, as far as that can be told.

    Attributes:
        rows: (kept,) numbers of the rows that are kept, in time's order.
        t: (kept,) their times in s.
        step: between even instants.
        jitter: standard deviation of the stamps.
        notes: in words.
    """

    rows: Rows
    t: Array
    step: float
    jitter: float
    notes: tuple[str, ...]


def in_seconds(t: Array, what: str, sure: bool = False) -> tuple[Array, float, tuple[str, ...]]:
    """Times from zero on in s, when they start, and what was said of them; Unix stamps may be in s, ms, us or ns.

    Args:
        t: times.
        what: they are of, for messages.
        sure: whether they are known to be in s.
    """
    known = t[np.isfinite(t)]
    if len(known) < 2:
        raise InputError(f"{what}: expected times of two rows or more, got {len(known)}.")
    middle, start, notes = float(np.median(known)), float(known[0]), []
    units = {"s": 1.0} if sure else UNITS
    since = [unit for unit, factor in units.items() if UNIX[0] < middle * factor < UNIX[1]]
    step = float(np.median(np.abs(np.diff(known))))
    unit = since[0] if since else next((unit for unit, least in FINE.items() if not sure and step >= least), "s")
    factor = UNITS[unit]
    if since:
        notes.append(f"times are Unix stamps in {unit}; the log starts at {start * factor:.3f} s")
    elif unit != "s":
        notes.append(f"times were taken for {unit}, since their steps are {step:.6g}; otherwise say units={{'t': 's'}}")
    return (t - start) * factor, start * factor, tuple(notes)


def instants(stamps: Array, x: Array, rates: Array | None = None) -> Instants:
    """When the rows of a log were measured.

    Three readings of the stamps are tried, and the one is taken by which a row follows best from its neighbours:
    the stamps are right, and rows were measured unevenly; rows were measured evenly, and the stamps have jitter; rows
    repeat and skip the states of an even clock, which measured velocities or the changes from row to row tell.

    Args:
        stamps: (rows,) times in s, finite.
        x: (rows, channels) measured at them, finite.
        rates: (rows, channels) measured rates of x.
    """
    notes: list[str] = []
    same = np.flatnonzero((np.diff(stamps) == 0.0) & (np.diff(x, axis=0) == 0.0).all(axis=1)) + 1
    rows = np.arange(len(stamps))
    if 0 < len(same) < 0.2 * len(stamps):
        notes.append(f"{_rows(len(same))} twice, the second was left out")
        rows = np.delete(rows, same)
    if np.median(np.diff(stamps[rows])) < 0.0:
        notes.append("the last rows came first, and were put in order")
        rows = rows[::-1]
    t, restarts = _restarted(stamps[rows])
    if restarts:
        notes.append(
            f"times start again {restarts} time{'s' * (restarts > 1)}: what follows was taken for further runs"
        )
    rising = np.unique(t)
    if len(rising) < 3 or rising[-1] <= rising[0]:
        raise InputError(f"times: expected three different times or more, got {len(rising)}.")
    d = np.diff(t)
    coarse = np.count_nonzero(d == 0.0) > 0.2 * len(d)  # stamps of less resolution than rows
    jitter = float(1.4826 * np.median(np.abs(d - np.median(d))) / np.sqrt(2.0))
    step = _typical(np.sort(t) if coarse else rising, jitter)
    if not SHORTEST < step < LONGEST:
        raise InputError(f"times: expected steps of {SHORTEST:g} to {LONGEST:g} s, got {step:.3g} s. Say their unit.")
    if back := np.count_nonzero(d < 0.0):
        notes.append(f"{_rows(int(back))} earlier than the row before")
    if twice := np.count_nonzero(d == 0.0):
        notes.append(f"{_rows(int(twice))} at the time of the row before")
    if np.abs(d - d.mean()).max() < EVEN * step:
        step = float(t[-1] - t[0]) / (len(t) - 1)
        return Instants(rows, t[0] + step * np.arange(len(t)), step, jitter, tuple(notes))
    sort = np.argsort(t, kind="stable")
    tried = {"even": _on_clock(t, *_straightened(t, step, jitter))}
    here = x[rows]
    usual = {"positions": _usual_changes(here)}
    if rates is not None:
        usual["velocities"] = (rates[rows][1:] + rates[rows][:-1]) / 2.0 * step
    for name, changes in usual.items():
        if ticks := _ticks(t, np.diff(here, axis=0), changes, step):
            tried[name] = _on_clock(t, *ticks)
    tried = {name: one for name, one in tried.items() if one[2] > 0.0}
    tried["stamps"] = sort, t[sort], step
    scores = {name: _surprise(when, x[rows[order]], by) for name, (order, when, by) in tried.items()}
    scores["stamps"] *= 1.05  # even rows are likelier
    best = min(scores, key=lambda name: scores[name])
    order, when, step = tried[best]
    again = (
        f", and {_rows(count)} of a state that had been recorded already" if (count := len(rows) - len(order)) else ""
    )
    words = {
        "stamps": ", as the samples do: they were interpolated to even instants",
        "even": ", but the samples were taken evenly: even instants replace the stamps",
        "velocities": f"{again}: measured velocities tell the ticks of an even clock, which replace the stamps",
        "positions": f"{again}: how far positions move tells the ticks of an even clock, which replace the stamps",
    }
    uneven = f"jitter by {1e3 * jitter:.3g} ms" if jitter > EVEN * step else "skip or repeat"
    notes.append(f"stamps {uneven}{words[best]}")
    return Instants(rows[order], when, step, jitter, tuple(notes))


def _restarted(t: Array) -> tuple[Array, int]:
    """Times in which a part that starts again, at times that were there before, comes after what was before."""
    d = np.diff(t)
    step = float(np.median(np.abs(d)))
    jumps = np.flatnonzero(d < -BACK * step) + 1
    if not 0 < len(jumps) <= MANY * len(t):
        return t, 0
    found, count = t.copy(), 0
    for first, last in pairwise([*jumps, len(t)]):
        here, before = t[first:last], t[:first]
        again = np.mean((np.searchsorted(np.sort(before), here) > 0) & (here <= before.max()))
        if again > 0.5 and here.min() < before.max() - BACK * step:
            found[first:] += found[first - 1] + PAUSE - found[first]
            count += 1
    return found, count


def _on_clock(t: Array, order: Rows, n: Any) -> tuple[Rows, Array, float]:
    """Rows in their order, their times by the numbers n of a clock's ticks, and the clock's step."""
    step, origin = _line(n, t[order])
    return order, n * step + origin, step


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'} {'is' if count == 1 else 'are'}"


def _typical(t: Array, jitter: float) -> float:
    """The step between most rows of rising times, by pairs of rows far enough apart that jitter matters little."""
    step = float(t[-1] - t[0]) / (len(t) - 1)
    lag = int(np.clip(100.0 * jitter / step, 1, min(20, len(t) // 4))) if len(t) > 8 else 1
    return float(np.median(t[lag:] - t[:-lag])) / lag or step


def _straightened(t: Array, step: float, jitter: float) -> tuple[Rows, Any]:
    """Rows in the file's order, and ticks of an even clock; where stamps step aside for good, samples were dropped."""
    from scipy.ndimage import median_filter

    k = np.arange(len(t))
    slope = float(np.polyfit(k, t, 1)[0])
    half = int(np.clip((12.5 * jitter / step) ** 2, 3, 250))

    def aside(by: float) -> Array:
        """By how many steps rows come late, without jitter."""
        return median_filter((t - t[0]) / by - k, size=2 * half + 1, mode="nearest")

    if slope > 0.0 and np.ptp(aside(slope)) < 0.8:
        return k, k
    if jitter < 0.25 * step:
        step = _comb(t, step)
    else:  # by the longest piece without a drop
        late = aside(step)
        jump = np.abs(late[np.minimum(k + half, k[-1])] - late[np.maximum(k - half, 0)]) > 0.5
        ends = np.flatnonzero(np.diff(np.concatenate([[True], jump, [True]]).astype(int)))
        pieces = [(int(a), int(b)) for a, b in zip(ends[::2], ends[1::2], strict=False)]
        first, last = max(pieces, key=lambda piece: piece[1] - piece[0], default=(0, 0))
        if last - first > 4 * half:
            step = float(np.polyfit(k[first:last], t[first:last], 1)[0])
    late = aside(step)
    phase = np.angle(np.mean(np.exp(2j * np.pi * late))) / (2.0 * np.pi)
    return k, k + np.maximum.accumulate(np.rint(late - phase))


def _comb(t: Array, step: float) -> float:
    """The step, refined, of a clock on whose ticks stamps with little jitter fall."""
    size = min(50, len(t))
    while True:
        first = (len(t) - size) // 2
        piece = t[first : first + size] - t[first]
        tried = step * (1.0 + np.linspace(-1.0, 1.0, 41) / size)
        hits = [abs(np.mean(np.exp(2j * np.pi * piece / by))) for by in tried]
        step = float(tried[int(np.argmax(hits))])
        if size == len(t):
            return step
        size = min(4 * size, len(t))


def _usual_changes(x: Array) -> Array:
    """Changes from row to row as most rows near by have them."""
    from scipy.ndimage import median_filter

    return median_filter(np.diff(x, axis=0), size=(2 * NEARBY + 1, 1), mode="nearest")


def _ticks(t: Array, changes: Array, usual: Array, step: float) -> tuple[Rows, Any] | None:
    """Rows, repeated ones left out, and ticks of an even clock, by how many times the usual change they moved.

    None where these are not whole numbers.
    """
    scale = np.sqrt(np.mean(usual**2, axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.where(scale > 0.0, usual / scale, 0.0)
        square = np.sum(v**2, axis=1)
        passed = np.sum(np.where(scale > 0.0, changes / scale, 0.0) * v, axis=1) / square
    moving = square > MOVING**2 * square.max()
    if np.count_nonzero(moving) < FEWEST:
        return None
    single = moving & (np.abs(passed - 1.0) < 0.5)
    if not np.any(single):
        return None
    tick = float(np.median(passed[single]))
    whole = np.rint(passed / tick)
    off = np.abs(passed[moving] / tick - whole[moving])
    if np.mean(off < 0.2) < 0.9 or not 0.5 < tick < 2.0:
        return None
    for _ in range(2):  # at rest and over gaps the stamps tell, by the step that the others have
        stamps = np.diff(t) / step
        untold = (square < 1e-3 * square.max()) | (stamps > FAR)
        n = np.concatenate([[0.0], np.cumsum(np.where(untold, stamps, np.maximum(whole, 0.0)))])
        step, origin = _line(n, t)
    if step <= 0.0 or np.ptp(n * step + origin - t) > max(10.0 * step, 0.01 * (t[-1] - t[0])):
        return None
    n = np.rint(n)
    new = np.concatenate([[True], np.diff(n) > 0.0])
    return np.flatnonzero(new), n[new]


def _surprise(t: Array, x: Array, step: float) -> float:
    """How badly rows follow from a cubic through their two neighbours on either side, beside what they move in a row.

    An error of a measurement counts the same whatever the times are, so that readings of the times can be compared.
    """
    speed = np.sum(np.abs(np.diff(x, axis=0)) / np.maximum(np.mean(np.abs(np.diff(x, axis=0)), axis=0), 1e-300), axis=1)
    k = np.arange(2, len(t) - 2)
    near = np.minimum.reduce([t[k + i + 1] - t[k + i] for i in range(-2, 2)])
    apart = t[k + 2] - t[k - 2]
    k = k[(near > CLOSE * step) & (apart < 8.0 * step) & (speed[k] >= np.median(speed))]
    if len(k) < FEWEST:
        return np.inf
    k = k[:: max(len(k) // TOLD, 1)]
    at = (-2, -1, 1, 2)
    weights = [np.prod([(t[k] - t[k + j]) / (t[k + i] - t[k + j]) for j in at if j != i], axis=0) for i in at]
    error = x[k] - sum(w[:, None] * x[k + i] for w, i in zip(weights, at, strict=True))
    error /= np.sqrt(1.0 + sum(w**2 for w in weights))[:, None]
    moved = np.median(np.abs(x[k + 1] - x[k - 1]), axis=0)
    known = moved > 0.0
    return float(np.mean(np.median(np.abs(error[:, known]), axis=0) / moved[known])) if known.any() else np.inf


def _line(x: Array, y: Array) -> tuple[float, float]:
    """Slope and origin of a straight line through points of which a few may lie far off."""
    slope, origin = np.polyfit(x, y, 1)
    off = np.abs(y - slope * x - origin)
    near = off <= 4.0 * np.median(off) + 1e-300
    slope, origin = np.polyfit(x[near], y[near], 1)
    return float(slope), float(origin)


class Grid(NamedTuple):
    """Even instants, in runs without gaps.

    Attributes:
        t: (rows,) times in s.
        runs: of them.
        filled: how many instants are between those measured and were filled.
        lost: how many measured rows are in pieces too short to keep.
    """

    t: Array
    runs: tuple[slice, ...]
    filled: int
    lost: int


def longest_filled(step: float) -> float:
    """The longest pause in s between two rows that is filled, where nobody says another."""
    return max((FILLED[0] + 1) * step, FILLED[1])


def grid(t: Array, step: float, longest: float | None = None) -> Grid:
    """The even instants of rising times, split where a pause is longer than `longest`, in s."""
    pause = longest_filled(step) if longest is None else longest
    ends = [0, *(np.flatnonzero(np.diff(t) > pause + 0.5 * step) + 1), len(t)]
    times: list[Array] = []
    lost = filled = 0
    for a, b in pairwise(ends):
        count = round((t[b - 1] - t[a]) / step) + 1 if b > a else 0
        if min(b - a, count) < FEWEST:
            lost += b - a
            continue
        if t[a] + (count - 1) * step > t[b - 1] + 1e-6 * step:
            count -= 1
        times.append(t[a] + step * np.arange(count))
        filled += max(count - (b - a), 0)
    if not times:
        raise InputError(f"log: expected runs of {FEWEST} rows or more without gaps, got none.")
    bounds, whole = np.cumsum([0, *map(len, times)]), np.concatenate(times)
    if np.any(np.diff(whole) <= 0.0):
        raise InputError(f"log: expected times that differ, got steps of {step:.3g} s at {np.abs(whole).max():.3g} s.")
    return Grid(whole, tuple(slice(int(a), int(b)) for a, b in pairwise(bounds)), filled, lost)


def resampled(t: Array, x: Array, at: Array, runs: Sequence[slice], step: float) -> Array:
    """Columns (rows, channels) at other instants, by a cubic spline; NaN more than half a step outside of the times.

    A column that has NaN is interpolated linearly, and NaN where its numbers are farther apart than what is filled.
    """
    apart = np.concatenate([[True], np.diff(t) > CLOSE * step])
    if not apart.all():  # rows at nearly one time are one
        starts = np.flatnonzero(apart)
        count = np.diff([*starts, len(t)])
        t, x = np.add.reduceat(t, starts) / count, np.add.reduceat(x, starts, axis=0) / count[:, None]
    found = np.full((len(at), x.shape[1]), np.nan)
    whole = np.isfinite(x).all(axis=0)
    if whole.any():
        found[:, whole] = _by_splines(t, x[:, whole], at, runs, step)
    for k in np.flatnonzero(~whole):
        known = np.isfinite(x[:, k])
        if np.count_nonzero(known) > 1:
            own = t[known]
            after = np.clip(np.searchsorted(own, at), 1, len(own) - 1)
            near = own[after] - own[after - 1] <= longest_filled(step) + 0.5 * step
            found[:, k] = np.where(near, np.interp(at, own, x[known, k], left=np.nan, right=np.nan), np.nan)
    return found


def _by_splines(t: Array, x: Array, at: Array, runs: Sequence[slice], step: float) -> Array:
    from scipy.interpolate import CubicSpline

    found = np.full((len(at), x.shape[1]), np.nan)
    for run in runs:
        when = at[run]
        a = max(int(np.searchsorted(t, when[0] - 0.5 * step)) - 2, 0)
        b = min(int(np.searchsorted(t, when[-1] + 0.5 * step)) + 2, len(t))
        if b - a == len(when) and np.abs(t[a:b] - when).max() < 1e-6 * step:
            found[run] = x[a:b]
        elif b - a > 1:
            values = CubicSpline(t[a:b], x[a:b])(when)
            values[(when < t[a] - 0.5 * step) | (when > t[b - 1] + 0.5 * step)] = np.nan
            found[run] = values
    return found
