"""A robot as points and thicknesses, from which links without shapes are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwise.robot.joint import KINDS, Joint, Kind
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.scalar import is_number
from linkwise.spatial import Pose
from linkwise.vector import EZ, Mat3, Vec3, dot

THICK, THIN = 0.055, 0.023  # radius of joints of a robot of size 1: of open trees, and of linkages
NEAR = 0.3  # of a joint's radius: points that are no farther apart are one


class End(NamedTuple):
    """A point of a link where another one is held: by a joint, by a cut joint, or by nothing (a tool's frame)."""

    point: Vec3
    axis: Vec3
    kind: Kind | None = None
    joint: str = ""


class Sketch:
    """Where the joints of a robot are on its links, and how thick they are drawn."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.own: dict[str, Joint] = {j.child: j for j in robot.joints}
        self.children: dict[str, list[Joint]] = {k.name: [] for k in robot.links}
        for j in robot.joints:
            self.children[j.parent].append(j)
        self.ends: dict[str, list[End]] = {k.name: [] for k in robot.links}
        for j in robot.joints:
            self.ends[j.parent].append(End(j.origin.point(j.anchor), j.origin.R @ j.axis, j.freedom, j.name))
        for loop in robot.loops:
            if not loop.is_wheel:
                for link, X in ((loop.a, loop.origin_a), (loop.b, loop.origin_b)):
                    self.ends[link].append(End(X.p, X.R @ EZ, KINDS[loop.kind], loop.name))

    @cached_property
    def home(self) -> dict[str, Pose]:
        """Poses of the links where the robot starts."""
        values = home_values(self.robot)
        found = {self.robot.root.name: Pose()}
        for j in self.robot.joints:
            found[j.child] = found[j.parent] @ (j.pose(values[j.name]) if not j.is_fixed else j.origin)
        return found

    @cached_property
    def size(self) -> float:
        """How large the robot is where it starts: the largest edge of the box around its joints and frames."""
        points = [self.home[link].point(e.point) for link, ends in self.ends.items() for e in ends]
        points += [self.home[f.link].point(f.origin.p) for f in self.robot.frames]
        points += [self.home[k.name].point(k.com) for k in self.robot.links if k.mass]
        cloud = np.array([*points, *(X.p for X in self.home.values())], dtype=float)
        edge = float((cloud.max(axis=0) - cloud.min(axis=0)).max())
        return edge if math.isfinite(edge) and edge > 1e-6 else 0.5

    @cached_property
    def radius(self) -> float:
        """Of the thickest joints."""
        steps = [
            d for link in self.children for e in self.ends[link] if (d := self.step(link, e.point)) > 0.01 * self.size
        ]
        usual = float(np.median(steps)) if steps else self.size
        share = THIN if self.robot.loops and not self.robot.rolls else THICK
        return min(share * self.size, 0.28 * usual)

    def step(self, link: str, point: Vec3) -> float:
        """From the joint of a link to a point of it."""
        return distance(self.anchor(link), point)

    def anchor(self, link: str) -> Vec3:
        """Where a link is held by its own joint."""
        j = self.own.get(link)
        return j.anchor if j else Vec3(0.0, 0.0, 0.0)

    @cached_property
    def beyond(self) -> dict[str, float]:
        """For each link the longest way from its joint to the end of what it carries."""
        found: dict[str, float] = {}
        for link in reversed(self.robot.links):
            ways = [self.step(link.name, e.point) + found.get(self.child_of(e), 0.0) for e in self.ends[link.name]]
            found[link.name] = max(ways, default=0.0)
        return found

    def child_of(self, end: End) -> str:
        return next((j.child for j in self.robot.joints if j.name == end.joint), "")

    def thickness(self, link: str) -> float:
        """The radius of the joint that moves a link: the less it carries, the thinner."""
        whole = self.beyond[self.robot.root.name]
        return self.radius * (0.6 + 0.4 * (self.beyond[link] / whole if whole else 1.0))

    @cached_property
    def virtual(self) -> set[str]:
        """Joints that stand for one free joint: a chain of links without mass from the root, sliding in two ways."""
        link, chain = self.robot.root, []
        masses = {k.name: k for k in self.robot.links}
        while not link.mass and len(self.children[link.name]) == 1:
            chain.append(self.children[link.name][0])
            link = masses[chain[-1].child]
        slides = [j for j in chain if j.freedom.slides]
        return {j.name for j in chain} if len(chain) > 2 and len(slides) > 1 else set()

    @cached_property
    def has_limbs(self) -> bool:
        """Whether the robot is a free body with limbs, as animals are."""
        return bool(self.virtual) and not self.robot.loops

    def is_free(self, link: str) -> bool:
        """Whether a link is carried by nothing that can be seen."""
        j = self.own.get(link)
        return j is not None and (j.name in self.virtual or (j.nv > 1 and any(j.freedom.lengths)))

    def cluster(self, joint: Joint) -> list[Joint]:
        """The joints that turn at the same point as this one, from the first to the last."""
        chain = [joint]
        while (j := self.own.get(chain[0].parent)) and self._meets(j, chain[0]):
            chain.insert(0, j)
        while len(after := [k for k in self.children[chain[-1].child] if self._meets(chain[-1], k)]) == 1:
            chain.append(after[0])
        return chain

    def _meets(self, first: Joint, then: Joint) -> bool:
        if not (first.freedom.turns and then.freedom.turns) or first.name in self.virtual:
            return False
        apart = distance(first.anchor, then.origin.point(then.anchor))
        crossing = abs(dot(first.axis, then.origin.R @ then.axis)) < 0.9
        return apart < NEAR * self.radius and crossing


def home_values(robot: Robot) -> dict[str, list[float]]:
    """Positions of all joints where a robot starts, those that follow too."""
    opened, q = robot.opened(), robot.opened().q()
    if robot.follows:
        from linkwise.mechanism.structure import structure_of

        q = structure_of(robot).reference if robot.loops or robot.couplings else q
    for name, slot in robot.slots.items():
        if name in opened.slots:
            q = q.copy()
            q[opened.slots[name].q : opened.slots[name].q + slot.nq] = robot.q()[slot.q : slot.q + slot.nq]
    found: dict[str, list[float]] = {}
    for j in robot.joints:
        if (own := opened.slots.get(j.name)) is not None:
            found[j.name] = [float(x) for x in q[own.q : own.q + own.nq]]
    for j in robot.joints:
        if j.mimic and j.name not in found:
            found[j.name] = [j.mimic.ratio * found[j.mimic.joint][0] + j.mimic.offset]
    return {j.name: found.get(j.name, list(j.freedom.home)) for j in robot.joints}


def distance(a: Vec3, b: Vec3) -> float:
    return math.sqrt(dot(b - a, b - a))


def distinct(points: Iterable[Vec3], near: float) -> list[Vec3]:
    """The points without those that are near an earlier one."""
    kept: list[Vec3] = []
    for p in points:
        if all(distance(p, k) > near for k in kept):
            kept.append(p)
    return kept


def bulk(link: Link) -> tuple[Any, Pose] | None:
    """Edges of the box of even density that has a link's inertia, and its pose; None where there is no such box."""
    numbers = (link.mass, *link.com, *link.inertia)
    if not all(is_number(x) for x in numbers) or not link.mass:
        return None
    xx, xy, xz, yy, yz, zz = link.inertia
    moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float))
    squares = 6.0 / link.mass * (moments.sum() - 2.0 * moments)
    if not (squares > 1e-12).all():
        return None
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    return np.sqrt(squares), Pose(Mat3.of(axes.tolist()), link.com)
