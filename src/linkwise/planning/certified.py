"""The least distance along a whole motion, proven: between the positions that are looked at nothing can come nearer.

On an interval of a polynomial q(s) about its middle m each joint moves by at most

    sum over k of |q^(k)(m)| / k! h^k,        h half of its length,

and no point of a pair of links comes nearer for a rad or m of a joint than the `reach` of the pair says. Intervals that
do not prove enough are cut into smaller ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import factorial, inf
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.mechanism.scene import Scene
from linkwise.planning.chart import Chart
from linkwise.planning.curve import Array, Curve
from linkwise.planning.nearness import Nearness
from linkwise.planning.path import Path
from linkwise.robot.robot import Robot

FINE = 5e-4  # m by which what is proven may be below the least distance that was seen
FINEST = 1e-6
SHARE = 0.25  # of the room to the margin, where that is less
FIRST, CUT = 4, 4  # into how many intervals spans are cut at first, and intervals later
MOST = 200_000  # positions that are looked at
SAMPLED = 4001  # where nothing can be proven


@dataclass(frozen=True)
class LeastDistance:
    """The least signed distance of all pairs along a motion; `float` gives it as a number.

    Args:
        distance: m; no pair is nearer at any time, if `certified`.
        pair: the links, or the link and the obstacle, that were seen nearest.
        time: when, s; for a path alone, its parameter.
        seen: their distance then, m: the least distance is between `distance` and this.
        certified: whether that is proven; else `distance` is the least of samples.
        looked_at: how many positions that took.
    """

    distance: float
    pair: tuple[str, str]
    time: float
    seen: float
    certified: bool = True
    looked_at: int = field(default=0, repr=False)

    def __float__(self) -> float:
        return self.distance

    def __str__(self) -> str:
        a, b = self.pair
        how = "at least" if self.certified else "in samples at least"
        return (
            f"{a} and {b} come nearest, at t = {self.time:.4g} s: {how} {1e3 * self.distance:.4g} mm"
            + (f" and at most {1e3 * self.seen:.4g} mm" if self.certified else "")
            + (", an overlap" if self.distance < 0.0 else "")
        )


Derivatives = Callable[[Array, int], Array]  # (s, order) -> numbers on splines or their derivative (rows, n)


def along_curve(near: Nearness, curve: Curve, margin: float = 0.0) -> LeastDistance:
    """The least distance along a spline in time."""

    def derivatives(s: Array, order: int) -> Array:
        return curve.basis.matrix(s, order) @ curve.points

    return least_distance(near, derivatives, np.array(curve.basis.breaks), curve.basis.degree, curve.duration, margin)


def along_path(near: Nearness, path: Path, margin: float = 0.0) -> LeastDistance:
    """The least distance along a path, whose parameter is taken for the time; of what is no spline, of samples."""
    breaks, degree = np.array([path.start, *path.breaks, path.end]), path.degree

    def derivatives(s: Array, order: int) -> Array:
        return path.derivatives(s, max(order, 3))[order]

    if degree is None:
        return _sampled(near, derivatives, breaks, 1.0)
    return least_distance(near, derivatives, breaks, degree, 1.0, margin)


def least_distance(
    near: Nearness, q: Derivatives, breaks: Array, degree: int, duration: float = 1.0, margin: float = 0.0
) -> LeastDistance:
    """The least distance along a piecewise polynomial.

    Args:
        near: the pairs.
        q: its values and derivatives, of numbers on splines by s.
        breaks: of s, rising, between which it is a polynomial.
        degree: of that.
        duration: s for a unit of s.
        margin: m; near to it the proof becomes finer.
    """
    share = speeds_of(near.chart)
    reach = near.scene.reach if share is not None else np.full((1, 1), inf)
    if share is None or not np.isfinite(reach).all():
        return _sampled(near, q, breaks, duration)
    parts = [np.linspace(a, b, FIRST, endpoint=False) for a, b in pairwise(breaks)]
    ends = np.concatenate([*parts, breaks[-1:]])
    middle, half = 0.5 * (ends[:-1] + ends[1:]), 0.5 * np.diff(ends)
    low, seen, looked = inf, (inf, 0, 0.0), 0
    while len(middle):
        moved = sum(np.abs(q(middle, k)) * (half**k / factorial(k))[:, None] for k in range(1, degree + 1))
        distances = near.distances(q(middle, 0), middle * duration)
        looked += len(middle)
        i, k = np.unravel_index(int(np.argmin(distances)), distances.shape)
        if distances[i, k] < seen[0] or not np.isfinite(distances).all():
            seen = float(distances[i, k]), int(k), float(middle[i]) * duration
        sure = np.min(distances - (moved @ share) @ reach.T, axis=1)
        room = seen[0] - margin
        fine = max(FINEST, min(FINE, SHARE * room)) if room > 0.0 else FINE
        open_ = sure < seen[0] - fine if looked < MOST else np.zeros(len(sure), dtype=bool)
        low = min(low, float(sure[~open_].min(initial=inf)))
        offsets = (2.0 * np.arange(CUT) + 1.0) / CUT - 1.0
        middle = (middle[open_, None] + half[open_, None] * offsets).ravel()
        half = np.repeat(half[open_] / CUT, CUT)
    return LeastDistance(min(low, seen[0]), near.pairs[seen[1]], seen[2], seen[0], True, looked)


def nearness_of(robot: Robot, chart: Chart, scenes: Sequence[Scene], moves: bool = False) -> list[Nearness]:
    """The pairs of some scenes, or of the robot's own links; refused where the base moves among obstacles."""
    if moves and any(scene.obstacles for scene in scenes):
        raise InputError(
            "clearance: expected a base that stands, got one that moves among obstacles, which a plan does not keep."
            " Look at dyn.clearance.among(..., moving=...) with poses of the obstacles seen from the base."
        )
    among = scenes or (compile(robot.rigid()).clearance.scene,)
    return [Nearness(scene, chart) for scene in among]


def _sampled(near: Nearness, q: Derivatives, breaks: Array, duration: float) -> LeastDistance:
    s = np.linspace(breaks[0], breaks[-1], SAMPLED)
    distances = near.distances(q(s, 0), s * duration)
    i, k = np.unravel_index(int(np.argmin(np.where(np.isnan(distances), inf, distances))), distances.shape)
    least = float(distances[i, k])
    return LeastDistance(least, near.pairs[int(k)], float(s[i]) * duration, least, False, len(s))


def speeds_of(chart: Chart) -> Any:
    """A matrix (numbers on splines, velocities of the tree) that bounds how far these go for a unit of those.

    None with loops, whose joints follow in other ways. Turns and shifts of a floating base are in its own axes, each at
    most as fast as all numbers together: |omega| <= |d/dt (4 tan(angle / 4) axis)|.
    """
    if chart.sought or chart.robot.loops:
        return None
    found = np.zeros((chart.n, chart.robot.rigid().nv))
    for place in chart.leads:
        if place.kind.quaternion is None:
            found[place.x, place.v] = np.eye(place.kind.nv)
            continue
        for part in (slice(0, place.kind.nv - 3), slice(place.kind.nv - 3, place.kind.nv)):
            numbers, speeds = (range(*part.indices(place.kind.nv)) for _ in range(2))
            found[np.ix_([place.x.start + k for k in numbers], [place.v.start + k for k in speeds])] = 1.0
    return found
