"""When and where feet are on the ground during a step, and within what the zero-moment point must stay.

A step of length L goes from the instant at which the leading foot's heel strikes to that of the other foot's. Both feet
carry at first, the trailing one on its forefoot; then the leading foot alone, flat, and at last with its heel off.

Source: [Barman] (5.4), (5.5), (5.10). Ours are the fractions of time, and that the polygon under the leading foot grows
from the heel to the whole foot while both carry: a polygon that jumps lets the zero-moment point run away between grid
points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.robot.robot import Robot
from linkwise.walking.ground import Support
from linkwise.walking.instant import FOOT_POINTS
from linkwise.walking.skeleton import HALF_HEEL_WIDTH

Array = NDArray[np.float64]
TINY = 1e-9
STRIKE = 0.03  # length of the heel's edge that carries at heel strike, m
LEAD_POINT = 0.02  # where the leading foot is said to stand while both carry, ahead of its heel, m


@dataclass(frozen=True)
class Foot:
    """Points of a foot along x from the ankle, and half widths, m."""

    heel: float
    ball: float
    tip: float
    half: float
    half_heel: float

    @classmethod
    def of(cls, robot: Robot, side: str) -> Foot:
        """That of a skeleton."""
        at = {name: robot.frame(f"{name}_{side}").origin.p for name in ("heel", "ball", "ballm", "tip")}
        toe = next(j for j in robot.joints if j.name == f"toe_{side}")
        half = abs(at["ballm"].z)
        heel_width = abs(robot.frame(f"heelm_{side}").origin.p.z) or HALF_HEEL_WIDTH
        return cls(at["heel"].x, at["ball"].x, toe.origin.p.x + at["tip"].x, half, heel_width)

    def x_of(self, point: str) -> float:
        """Of a point along the foot."""
        return {"heel": self.heel, "ball": self.ball, "ballm": self.ball, "tip": self.tip}[point]


class Contact(NamedTuple):
    """A coordinate of a point of a foot that has to be somewhere, such as heel_r.x."""

    place: str
    target: float


@dataclass(frozen=True, eq=False)
class Moment:
    """What holds at an instant of a step.

    Args:
        s: fraction of the motion's time.
        phase: "double", "flat" or "heel off".
        lift: fraction of the clearance that is asked of the swinging foot.
        contacts: coordinates that are fixed.
        above: places that may not be below the ground, such as heel_l.y.
        support: how ground reactions are shared.
        corners: of the region for the zero-moment point (n, 2), x and z.
    """

    s: float
    phase: str
    lift: float
    contacts: tuple[Contact, ...]
    above: tuple[str, ...]
    support: Support
    corners: Array

    @cached_property
    def facets(self) -> Array:
        """Rows a_x, a_z, b with a . (x, z) + b <= 0 inside of the region, a of length one."""
        corners = hull(self.corners.tolist())
        rows = []
        for (x, z), (u, v) in zip(corners, [*corners[1:], corners[0]], strict=True):
            a = np.array([v - z, x - u]) / np.hypot(u - x, v - z)  # outwards, for corners run against the clock
            rows.append([*a, -a[0] * x - a[1] * z])
        return np.array(rows)


def hull(points: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """The corners of the smallest convex region with these points, against the clock, none of them on an edge."""
    ordered = sorted({(round(x, 12), round(z, 12)) for x, z in points})

    def half(run: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for p in run:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], p) <= TINY:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return half(ordered) + half(ordered[::-1])


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Twice the area of a triangle, positive where its corners run against the clock."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@dataclass(frozen=True, eq=False)
class Step:
    """The timetable of one step.

    Args:
        length: of the step, m.
        width: half the distance between the feet, m.
        double: fraction of the time during which both feet carry.
        heel_off: fraction at which the heel of the leading foot rises.
        feet: by side.
        lead: the side of the leading foot.
        start: x of the place between both feet at the beginning.
    """

    length: float
    width: float
    double: float
    heel_off: float
    feet: dict[str, Foot]
    lead: str = "r"
    start: float = 0.0

    @property
    def trail(self) -> str:
        return "l" if self.lead == "r" else "r"

    def foot_at(self, side: str) -> tuple[float, float]:
        """Where the ankle of a foot is while it stands: x and z."""
        ahead = 0.5 if side == self.lead else -0.5
        return self.start + ahead * self.length, self.width if side == "r" else -self.width

    def at(self, s: float, last: bool = False) -> Moment:
        """What holds at a fraction of the step; the last point has no contacts: those of the first imply them."""
        lead, trail = self.lead, self.trail
        flat, off = s <= self.heel_off + TINY, s > self.heel_off + TINY
        both = s <= self.double + TINY
        contacts: list[Contact] = []
        if not last:
            if flat:
                contacts += self._contacts(lead, "heel", "xyz")
            if s >= self.double - TINY:
                contacts += self._contacts(lead, "ball", "xyz" if off else "yz")
                contacts += self._contacts(lead, "ballm", "y") + self._contacts(lead, "tip", "y")
            if both:
                contacts += self._contacts(trail, "ball", "xyz")
                contacts += self._contacts(trail, "ballm", "y") + self._contacts(trail, "tip", "y")
        fixed = {c.place for c in contacts}
        points = [f"{p}_{side}.y" for side in (lead, trail) for p in FOOT_POINTS if p != "ballm"]
        above = () if last else tuple(p for p in points if p not in fixed)
        phase = "double" if both else "flat" if flat else "heel off"
        lift = 0.0 if both else min(1.0, max(0.0, 8.0 * (s - self.double) * (1.0 - s)))
        return Moment(s, phase, lift, tuple(contacts), above, self._support(phase), np.array(self._corners(s)))

    def next(self) -> Step:
        """The step that follows, with the other foot in front."""
        return replace(self, lead=self.trail, start=self.start + self.length)

    def _contacts(self, side: str, point: str, axes: str) -> list[Contact]:
        x, z = self.foot_at(side)
        foot = self.feet[side]
        inwards = -foot.half if side == "r" else foot.half
        at = {"x": x + foot.x_of(point), "y": 0.0, "z": z + (inwards if point == "ballm" else 0.0)}
        return [Contact(f"{point}_{side}.{c}", at[c]) for c in axes]

    def _support(self, phase: str) -> Support:
        right = 1.0 if self.lead == "r" else 0.0
        points = {}
        for side in "rl":
            x, z = self.foot_at(side)
            foot = self.feet[side]
            points[side] = (x + (foot.heel + LEAD_POINT if side == self.lead else foot.ball), z)
        on_toes = {self.trail: 1.0, self.lead: 1.0 if phase == "heel off" else 0.0}
        double = 1.0 if phase == "double" else 0.0
        return Support(double, right, on_toes["r"], on_toes["l"], *points["r"], *points["l"])

    def _corners(self, s: float) -> list[tuple[float, float]]:
        lead, trail = self.feet[self.lead], self.feet[self.trail]
        behind = self._rectangle(self.trail, trail.ball, trail.tip, trail.half)
        if s < TINY:
            return behind
        if s < self.double - TINY:
            grown = s / self.double
            reach = lead.heel + STRIKE + grown * (lead.tip - lead.heel - STRIKE)
            half = lead.half_heel + grown * (lead.half - lead.half_heel)
            return behind + self._rectangle(self.lead, lead.heel, reach, half)
        if s < self.heel_off - TINY:
            return self._rectangle(self.lead, lead.heel, lead.tip, lead.half)
        return self._rectangle(self.lead, lead.ball, lead.tip, lead.half)

    def _rectangle(self, side: str, back: float, front: float, half: float) -> list[tuple[float, float]]:
        x, z = self.foot_at(side)
        return [(x + a, z + b) for a in (back, front) for b in (-half, half)]


def moments_of(steps: Sequence[Step], points: int) -> list[Moment]:
    """What holds at `points` evenly spread instants of each step; the last of one is the first of the next."""
    found = []
    for k, step in enumerate(steps):
        final = k == len(steps) - 1
        for i in range(points if final else points - 1):
            s = i / (points - 1)
            moment = step.at(s, last=final and i == points - 1)
            found.append(replace(moment, s=(k + s) / len(steps)))
    return found


def supports_of(moments: Sequence[Moment]) -> Array:
    """The fields of `Support` at instants (n, 8)."""
    return np.array([m.support for m in moments], dtype=float)
