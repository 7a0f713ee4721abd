"""Newton's method for loops without a closed form: one turn of it, over any scalar, so that it can be compiled.

From the reference, where the loops are closed, what leads goes to its goal in strides. After a stride what follows is
first led along its velocity and then closed by Newton's method. A stride that fails, changes the sign of the
determinant or jumps is taken again, shorter: so the assembly mode is kept. Where the straight way does not get there,
what leads goes one after the other, then in the reverse order; a goal that cannot be reached so is not a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from typing import Any, NamedTuple

from linkwise.scalar import Scalar, absolute, less, sqrt, tolerance, where

MOST = 1000  # turns
LONGEST = 0.5  # rad or lengths of the mechanism, by which what leads goes in one stride
SHORTEST = 2.0**-10  # of the way
TURNS = 8  # of Newton's method after a stride
NEAR = 1e-3  # of a step: after a stride
# in float64 and in float32:
THERE = 1e-7, 1e-5  # of a step: at the goal, where the next one is its square
OPEN = 1e-6, 1e-5  # of the mechanism's size: no equation may be left open more than this
END = 1e-12, 1e-6  # of the way, or of a joint's part of it: who is so near its end is there
# the place of who is near the goal already, as if on a way before the first: if that fails, it goes from the reference
NEARBY = 1.0, 1.0, 0.0, 0.0, -1.0


class State(NamedTuple):
    """Where the method stands; flat lists over any scalar.

    Args:
        y: what follows, now.
        y0: what follows, where the last stride ended.
        v0: its velocity there, for the whole way in unit time.
        place: how far of the way is gone, how far the last stride had gone, the length of this one, turns since, and
            which of the ways it is.
    """

    y: list[Scalar]
    y0: list[Scalar]
    v0: list[Scalar]
    place: list[Scalar]


def start(machine: Any) -> State:
    """At the reference."""
    structure = machine.structure
    y = [float(structure.reference[k]) for k in structure.sought]
    return State(y, list(y), [0.0] * len(sought_rates(machine)), [0.0] * 5)


def sought_rates(machine: Any) -> list[int]:
    """Places in `qd` of the tree of what is sought."""
    sought = set(machine.structure.sought)
    return [v for _, at, to in machine.tree.coordinates if at.start in sought for v in range(to.start, to.stop)]


def turn(machine: Any, q: Sequence[Scalar], now: State) -> tuple[State, Scalar]:
    """The state after one turn, and whether (1 or 0) more are needed."""
    structure = machine.structure
    home = [float(structure.reference[k]) for k in structure.lead_q]
    s, s0, h, turns, which = now.place
    way: list[Scalar] = [0.0] * machine.nv
    pace: list[Scalar] = [0.0] * machine.nv
    lead: list[Scalar] = list(q)
    joints = list(machine.coordinates)
    for kind, at, to in joints:
        way[to] = kind.difference(home[at], q[at])
    for k, (kind, at, to) in enumerate(joints):
        part, speed = _gone(s, which, k, len(joints))
        lead[at] = kind.integrate(home[at], way[to], part)
        pace[to] = [x * speed for x in way[to]]
    lead = [where(less(s, 1.0), a, b) for a, b in zip(lead, q, strict=True)]  # the goal itself, without round-off
    linkage = machine.with_followers(now.y).at(lead, closed=False)
    full = linkage.rates(pace)
    d, v = _step(machine, linkage), [full[k] for k in sought_rates(machine)]
    size = sqrt(sum((x * x for x in d), 0.0))
    closer = _moved(machine, now.y, [x / sqrt(1.0 + size * size) for x in d], 1.0)

    # has this stride arrived, and where it should?
    end, there, gap = (tolerance(s, *of_kind) for of_kind in (END, THERE, OPEN))
    last = less(1.0 - end, s)
    arrived = less(size, where(last, there, NEAR)) * less(linkage.openness(), where(last, gap, 1.0))
    side = less(0.0, linkage.equations.determinant() * structure.side)
    led = _moved(machine, now.y0, now.v0, s - s0)
    jump = sqrt(sum((x * x for x in _between(machine, led, now.y)), 0.0))
    reach = sqrt(sum((x * x for x in now.v0), 0.0)) * (s - s0)
    near = less(jump, 0.15 + 0.5 * reach)
    good = arrived * side * near

    # go on with the next stride, try this one again with half the length, or close it further
    far = sqrt(sum((x * x for x in way), 0.0)) * where(less(which, 0.5), 1.0, float(len(joints)))
    longest = where(less(far, LONGEST), 1.0, LONGEST / where(less(far, 1e-30), 1.0, far))
    failed = (1.0 - good) * where(less(size, 1e30), less(TURNS - 0.5, turns) + arrived, 1.0)
    failed = where(less(0.5, failed), 1.0, 0.0)
    stride = where(good, where(less(longest, 2.0 * h), longest, 2.0 * h), h * where(failed, 0.25, 1.0))
    stride = where(less(stride, SHORTEST), where(good, longest, stride), stride)
    begin = where(good, s, s0)
    ahead = where(good, where(less(1.0 - stride, s), 1.0, s + stride), where(failed, s0 + stride, s))
    y0 = [where(good, a, b) for a, b in zip(closer, now.y0, strict=True)]
    v0 = [where(good, a, b) for a, b in zip(v, now.v0, strict=True)]
    predicted = _moved(machine, y0, v0, ahead - begin)
    again = where(less(0.5, good + failed), 1.0, 0.0)
    done = good * last
    stuck = failed * less(stride, SHORTEST)
    ways = 3.0 if len(joints) > 1 else 1.0
    lost = stuck * less(ways - 1.5, which)
    y = [where(again, a, b) for a, b in zip(predicted, closer, strict=True)]
    begun = start(machine)
    y = [where(stuck, a, b) for a, b in zip(begun.y, y, strict=True)]  # once more, another way
    y0 = [where(stuck, a, b) for a, b in zip(begun.y, y0, strict=True)]
    v0 = [where(stuck, 0.0, x) for x in v0]
    y = [where(done, a, where(lost, nan, b)) for a, b in zip(closer, y, strict=True)]
    place = [ahead, begin, stride, where(again, 0.0, turns + 1.0)]
    place = [*(where(stuck, 0.0, x) for x in place), which + stuck]
    return State(y, y0, v0, place), (1.0 - done) * (1.0 - lost)


def _gone(s: Scalar, which: Scalar, k: int, count: int) -> tuple[Scalar, Scalar]:
    """How far joint k of some has gone when the way is gone to s, and how fast it goes."""
    if count == 1:
        return s, 1.0
    end = tolerance(s, *END)
    parts: list[Scalar] = []
    speeds: list[Scalar] = []
    for place in (k, count - 1 - k):
        x = s * float(count) - float(place)
        begun, over = less(0.0, x + end), less(1.0 - end, x)
        parts.append(where(begun, where(over, 1.0, x), 0.0))
        speeds.append(where(begun, where(over, 0.0, float(count)), 0.0))
    straight, forth = less(which, 0.5), less(which, 1.5)
    return (
        where(straight, s, where(forth, parts[0], parts[1])),
        where(straight, 1.0, where(forth, speeds[0], speeds[1])),
    )


def solved(machine: Any, q: Sequence[float]) -> tuple[float, ...]:
    """What follows, in plain Python; not numbers where the loops cannot be closed."""
    now = start(machine)
    for _ in range(MOST):
        try:
            now, left = turn(machine, q, now)
        except (ValueError, ZeroDivisionError, OverflowError):
            break
        if not left or isnan(left):
            return tuple(now.y)
    return (nan,) * len(now.y)


def corrected(machine: Any, q: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
    """What follows after one step of Newton's method from nearby, which squares what it is off by."""
    return _moved(machine, y, _step(machine, machine.with_followers(y).at(q, closed=False)), 1.0)


def _step(machine: Any, linkage: Any) -> list[Scalar]:
    """The step of Newton's method for what is sought."""
    block, solver = linkage.equations.systems[-1]
    found = dict(zip(block.passive, solver.solve([-x for x in linkage.equations.gap(block)]), strict=True))
    return [found[k] for k in sought_rates(machine)]


def _moved(machine: Any, y: Sequence[Scalar], v: Sequence[Scalar], time: Scalar) -> list[Scalar]:
    """What is sought after moving with a constant velocity for some time."""
    found: list[Scalar] = []
    for kind, at, to in _parts(machine):
        found += kind.integrate(y[at], v[to], time)
    return found


def _between(machine: Any, y0: Sequence[Scalar], y1: Sequence[Scalar]) -> list[Scalar]:
    """The velocity that leads from one to the other in unit time."""
    found: list[Scalar] = []
    for kind, at, _ in _parts(machine):
        found += kind.difference(y0[at], y1[at])
    return [absolute(x) for x in found]


def _parts(machine: Any) -> list[tuple[Any, slice, slice]]:
    """The joints that are sought, with their places among what is sought."""
    found, k, m = [], 0, 0
    for kind, at, _ in machine.tree.coordinates:
        if kind.nv and at.start in machine.structure.sought:
            found.append((kind, slice(k, k + kind.nq), slice(m, m + kind.nv)))
            k, m = k + kind.nq, m + kind.nv
    return found
