"""Links without shapes, drawn from joints and lengths: housings at joints, rods between them, plates, rails, wheels."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from linkwise.robot.joint import Joint
from linkwise.robot.loop import Loop
from linkwise.robot.robot import Robot
from linkwise.rotation import with_z_along
from linkwise.scalar import is_number
from linkwise.spatial import Pose
from linkwise.vector import EZ, Vec3, dot
from linkwise.view.part import DARK, METAL, SHELL, Colour, Part, rgba
from linkwise.view.pieces import (
    ball,
    beam,
    body,
    bone,
    elbow,
    flange,
    housing,
    inside,
    off_axis,
    pipe,
    plate,
    spread,
    wheel,
)
from linkwise.view.sketch import NEAR, End, Sketch, bulk, distance, distinct
from linkwise.view.solids import box

BONE = 0.72  # radius of a rod in that of its joint
FLAT = 0.12  # how far points may be off a plane, in their spread, to be a plate's
FEW = 3  # joints at one point that are drawn as one ball


def size(robot: Robot) -> float:
    """A length of the order of the robot's, m."""
    return Sketch(robot).size


def drawn(robot: Robot, links: Collection[str], colours: Sequence[str]) -> list[Part]:
    """Parts of these links, as machines have them."""
    return list(_Drawing(robot, colours).parts(links)) if links else []


class _Drawing:
    """The parts of one robot."""

    def __init__(self, robot: Robot, colours: Sequence[str]) -> None:
        self.robot, self.sketch = robot, Sketch(robot)
        moving = [j.name for j in robot.joints if not j.is_fixed]
        self.colours = {name: rgba(colours[k % len(colours)]) for k, name in enumerate(moving)}
        g = robot.gravity
        length = math.sqrt(dot(g, g)) if all(is_number(x) for x in g) else 0.0
        self.up = g * (-1.0 / length) if length else EZ

    def parts(self, links: Collection[str]) -> Iterator[Part]:
        for j in self.robot.joints:
            if j.child in links and not j.is_fixed and j.name not in self.sketch.virtual:
                yield from self._joint(j)
        for loop in self.robot.loops:
            if loop.b in links:
                yield from self._cut(loop)
        for link in self.robot.links:
            if link.name in links:
                yield from self._root() if link is self.robot.root else self._link(link.name)

    # ---- joints

    def _joint(self, j: Joint) -> Iterator[Part]:
        r, accent = self.sketch.thickness(j.child), self.colours[j.name]
        if j.freedom.slides:
            yield from self._slide(j, r, accent)
        elif j.freedom.turns:
            cluster = self.sketch.cluster(j)
            if len(cluster) >= FEW:
                if j is cluster[-1]:
                    yield ball(j.child, j.anchor, 1.15 * r, DARK)
            else:
                k = cluster.index(j)
                yield from housing(j.child, j.anchor, j.axis, r * (1.0 - 0.18 * k), accent, 2.3 + 0.9 * k)
        elif not any(j.freedom.lengths):
            yield ball(j.child, j.anchor, r, METAL, "metal")

    def _slide(self, j: Joint, r: float, accent: Colour) -> Iterator[Part]:
        at, along = j.origin.point(j.anchor), j.origin.R @ j.axis
        low, high = self._stroke(j)
        if low > 0.0:  # a telescope
            yield pipe(j.parent, at, at + along * (0.97 * low), 1.1 * r, SHELL)
            yield pipe(j.parent, at + along * (0.93 * low), at + along * (0.97 * low), 1.3 * r, accent)
            yield pipe(
                j.child, j.anchor - j.axis * min(high - 0.8 * low, 0.95 * low), j.anchor, 0.6 * r, METAL, "metal"
            )
        elif self._is_spindle(j, r):
            yield pipe(j.parent, at - along * (1.2 * r), at + along * (1.2 * r), 1.2 * r, DARK)
            yield pipe(j.parent, at + along * (1.1 * r), at + along * (1.35 * r), 0.9 * r, accent)
            yield pipe(j.child, j.anchor - j.axis * (high + r), j.anchor - j.axis * (low - r), 0.5 * r, METAL, "metal")
        else:
            start, end = at + along * (low - 1.3 * r), at + along * (high + 1.3 * r)
            yield beam(j.parent, start, end, 0.6 * r, METAL, "metal")
            carriage = box(1.9 * r, 1.9 * r, 2.4 * r, 0.2 * r)
            yield Part(j.child, carriage, Pose(with_z_along(j.axis), j.anchor), DARK)
            yield Part(j.child, box(2.0 * r, 2.0 * r, 0.5 * r, 0.1 * r), Pose(with_z_along(j.axis), j.anchor), accent)

    def _stroke(self, j: Joint) -> tuple[float, float]:
        """How far a joint slides: within its limits, else about a third of the robot each way."""
        free = min(0.35 * self.sketch.size, 4.5 * self.sketch.radius)
        low, high = j.limits.lower, j.limits.upper
        low = low if math.isfinite(low) else min(-free, high - free)
        return low, high if math.isfinite(high) else max(free, low + free)

    def _is_spindle(self, j: Joint, r: float) -> bool:
        """Whether all that a slide carries first is on its axis, as a tool or a wrist is."""
        others = [e.point for e in self.sketch.ends[j.child]]
        return j.parent != self.robot.root.name and all(off_axis(p, j.anchor, j.axis) < 0.5 * r for p in others)

    def _cut(self, loop: Loop) -> Iterator[Part]:
        """Wheels, and what is at the ends of linkages."""
        r = self.sketch.thickness(loop.b)
        if loop.is_wheel:
            yield from wheel(loop.b, loop.origin_b, loop.radius or 2.0 * r, rgba("#e69f00"))
        elif loop.free > 1:
            yield ball(loop.b, loop.origin_b.p, 1.2 * r, METAL, "metal")
        elif loop.free:
            yield from housing(loop.b, loop.origin_b.p, loop.origin_b.R @ EZ, r, METAL, 2.6)

    # ---- links

    def _root(self) -> Iterator[Part]:
        """What stands on the ground: a plate under several joints, a foot or a column under one."""
        name, r = self.robot.root.name, 1.25 * self.sketch.radius
        held = [e for e in self.sketch.ends[name] if not self._invisible(e)]
        points = distinct((e.point for e in held), NEAR * r)
        if len(points) > 2 and spread(points)[1] > FLAT:
            back = self._behind(points) * r
            yield plate(name, [p + back for p in points], 0.45 * r, DARK)
            yield from (pipe(name, p + back, p, 0.6 * r, DARK) for p in points)
            return
        if len(points) == 2:
            yield beam(name, points[0], points[1], 0.9 * r, DARK)
            return
        for p in points:
            foot = p - self.up * dot(self.up, p)
            height = dot(self.up, p)
            if height > 1.5 * r:
                yield bone(name, foot + self.up * (1.05 * r), p, 1.05 * r, 0.85 * r, SHELL)
            else:
                foot = p - self.up * (1.2 * r)
            yield pipe(name, foot - self.up * (0.02 * r), foot + self.up * (0.4 * r), 1.9 * r, DARK)

    def _behind(self, points: Sequence[Vec3]) -> Vec3:
        """The normal of a base, away from what it carries; down where that is in its plane."""
        cloud = np.array(points, dtype=float)
        normal = np.linalg.svd(cloud - cloud.mean(axis=0))[2][2]
        carried = np.array([X.p for X in self.sketch.home.values()], dtype=float).mean(axis=0) - cloud.mean(axis=0)
        ahead = float(normal @ carried)
        if abs(ahead) < 0.05 * self.sketch.size:
            ahead = float(normal @ np.array(self.up, dtype=float))
        return Vec3(*(float(x) for x in (-normal if ahead > 0.0 else normal)))

    def _link(self, name: str) -> Iterator[Part]:
        s, r = self.sketch, self.sketch.thickness(name)
        held = [e for e in s.ends[name] if not self._invisible(e)]
        points = distinct((e.point for e in held), NEAR * r)
        if s.is_free(name):
            yield from self._free(name, points, r)
            return
        start = s.anchor(name)
        others = [p for p in points if distance(p, start) > NEAR * r]
        if not points:
            others = self._tips(name, start, r)
            yield from (flange(name, p, start, 0.62 * r) for p in others)
        j = s.own[name]
        for p in others:
            thin = BONE * min(r, self._end_radius(name, p))
            for a, b in elbow(start, p, j.axis if j.freedom.has_axis else None, 1.2 * r):
                yield bone(name, a, b, BONE * r if a is start else thin, thin, SHELL)
        yield from self._body(name)

    def _body(self, name: str) -> Iterator[Part]:
        """The flesh of a link where a free body carries limbs, as its inertia says."""
        found = bulk(self.robot.link(name)) if self.sketch.has_limbs else None
        if found and found[0].max() < 0.5 * self.sketch.size:
            yield body(name, 0.9 * found[0], found[1], 0.48)

    def _free(self, name: str, points: Sequence[Vec3], r: float) -> Iterator[Part]:
        """A body that nothing carries: a platform, a trunk, a pelvis, a base on wheels."""
        found = bulk(self.robot.link(name))
        if len(points) > 2 and spread(points)[1] > FLAT and not (found and self.sketch.virtual):
            thick = 0.5 * r if self.robot.loops and not self.robot.rolls else 1.1 * r
            yield plate(name, points, thick, SHELL)
        elif found and found[0].max() < 2.0 * self.sketch.size:
            yield body(name, found[0], found[1], 0.25)
            points = [p for p in points if not inside(p, found[0], found[1])]
            yield from (bone(name, found[1].p, p, BONE * r, BONE * r, SHELL) for p in points)
        else:
            yield Part(name, box(3.0 * r, 2.2 * r, 1.6 * r, 0.4 * r), Pose(p=self.robot.link(name).com), SHELL)
            yield from (bone(name, self.robot.link(name).com, p, BONE * r, BONE * r, SHELL) for p in points)

    def _tips(self, name: str, start: Vec3, r: float) -> list[Vec3]:
        """Where a link ends that carries nothing: at its frames, else beyond its centre of mass, as a rod does."""
        near = 0.8 * r
        tips = [f.origin.p for f in self.robot.frames if f.link == name and distance(f.origin.p, start) > near]
        com = self.robot.link(name).com
        if not tips and all(is_number(x) for x in com) and distance(com, start) > near:
            reach = min(2.0 * distance(com, start), 0.5 * self.sketch.size)
            tips = [start + (com - start) * (reach / distance(com, start))]
        j = self.sketch.own[name]
        if not tips and j.freedom.has_axis and not any(c.b == name for c in self.robot.loops):
            tips = [start + j.axis * (1.9 * r)]
        return distinct(tips, r)

    def _invisible(self, end: End) -> bool:
        """Whether nothing is to be seen at an end: a joint that stands for a free one."""
        child = self.sketch.child_of(end)
        return bool(child) and self.sketch.is_free(child) and end.joint in {j.name for j in self.robot.joints}

    def _end_radius(self, name: str, p: Vec3) -> float:
        radii = [
            self.sketch.thickness(c) for e in self.sketch.ends[name] if e.point == p and (c := self.sketch.child_of(e))
        ]
        return max(radii, default=0.75 * self.sketch.thickness(name))
