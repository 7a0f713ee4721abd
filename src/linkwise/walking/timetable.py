"""When and where feet are on the ground during a step, and within what the zero-moment point must stay.

A step of length L goes from the instant at which the leading foot's heel strikes to that of the other foot's. Both feet
carry at first, the trailing one on its forefoot; then the leading foot alone, flat, and at last with its heel off.

Source: [Barman] (5.4), (5.5), (5.10). Ours are the fractions of time, and that the polygon under the leading foot grows
from the heel to the whole foot while both carry: a polygon that jumps lets the zero-moment point run away between grid
points.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwise.planning.curve import Array
from linkwise.robot.robot import Robot
from linkwise.walking.ground import Support
from linkwise.walking.instant import FOOT_POINTS
from linkwise.walking.skeleton import HALF_HEEL_WIDTH

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
        """The foot of a skeleton."""
        at = {name: robot.frame(f"{name}_{side}").origin.p for name in ("heel", "ball", "ballm", "tip")}
        toe = next(j for j in robot.joints if j.name == f"toe_{side}")
        half = abs(at["ballm"].z)
        heel_width = abs(robot.frame(f"heelm_{side}").origin.p.z) or HALF_HEEL_WIDTH
        return cls(at["heel"].x, at["ball"].x, toe.origin.p.x + at["tip"].x, half, heel_width)

    def x_of(self, point: str) -> float:
        """The place of a point along the foot, m."""
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
    def _hull(self) -> Any:
        from scipy.spatial import ConvexHull

        return ConvexHull(self.corners)

    @property
    def facets(self) -> Array:
        """Rows a_x, a_z, b with a . (x, z) + b <= 0 inside of the region, a of length one."""
        return np.asarray(self._hull.equations)

    @property
    def outline(self) -> Array:
        """The corners of the region, one after the other."""
        return np.asarray(self.corners[self._hull.vertices])


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


@dataclass(frozen=True, eq=False)
class Timetable:
    """The timetable of steps that follow each other in a motion."""

    steps: tuple[Step, ...]
    _known: dict[float, Moment] = field(default_factory=dict)

    def at(self, s: float) -> Moment:
        """What holds at a fraction of the motion's time; where a step ends it is what holds when the next begins."""
        if s not in self._known:
            count = len(self.steps)
            k = min(int(s * count + TINY), count - 1)
            self._known[s] = replace(self.steps[k].at(s * count - k, last=s > 1.0 - TINY), s=s)
        return self._known[s]

    def even(self, points: int) -> Array:
        """So many evenly spread fractions of each step's time, the last of one being the first of the next."""
        return np.linspace(0.0, 1.0, len(self.steps) * (points - 1) + 1)

    def supports(self, s: Array) -> Array:
        """The fields of `Support` at fractions of the time (n, 8)."""
        return np.array([self.at(x).support for x in s.tolist()], dtype=float)
