"""Pieces of machines: housings, rods, plates, beams and wheels on links, and where they go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from linkwise.rotation import with_z_along
from linkwise.spatial import Pose
from linkwise.vector import EZ, Vec3, dot
from linkwise.view.part import DARK, METAL, RUBBER, SHELL, Colour, Part
from linkwise.view.sketch import distance
from linkwise.view.solids import Array, box, cylinder, hull, rod, sphere


def housing(link: str, at: Vec3, axis: Vec3, r: float, accent: Colour, long: float = 2.3) -> Iterator[Part]:
    """A cylinder along an axis, with caps of the joint's colour."""
    pose = Pose(with_z_along(axis), at)
    yield Part(link, cylinder(r, long * r, 0.14 * r), pose, DARK)
    yield Part(link, cylinder(0.7 * r, (long + 0.14) * r, 0.05 * r), pose, accent)


def ball(link: str, at: Vec3, r: float, colour: Colour, finish: str = "paint") -> Part:
    return Part(link, sphere(r), Pose(p=at), colour, finish)


def pipe(link: str, a: Vec3, b: Vec3, r: float, colour: Colour, finish: str = "paint") -> Part:
    """A cylinder from one point to another."""
    length = distance(a, b)
    return Part(
        link, cylinder(r, length, min(0.15 * r, 0.3 * length)), Pose(along(a, b).R, (a + b) * 0.5), colour, finish
    )


def beam(link: str, a: Vec3, b: Vec3, half: float, colour: Colour, finish: str = "paint") -> Part:
    """A square bar from one point to another."""
    pose = Pose(along(a, b).R, (a + b) * 0.5)
    return Part(link, box(2.0 * half, 2.0 * half, distance(a, b) + half, 0.3 * half), pose, colour, finish)


def bone(link: str, a: Vec3, b: Vec3, start: float, end: float, colour: Colour) -> Part:
    """A rod with round ends from one point to another, thinner towards one of them."""
    return Part(link, rod(start, end, distance(a, b)), along(a, b), colour)


def body(link: str, edges: Array, pose: Pose, bevel: float) -> Part:
    """A box with round edges, as shares of its shortest one."""
    x, y, z = (float(e) for e in edges)
    return Part(link, box(x, y, z, bevel * min(x, y, z)), pose, SHELL)


def plate(link: str, points: Sequence[Vec3], thick: float, colour: Colour) -> Part:
    """The hull of balls at points."""
    return Part(link, hull(np.array(points, dtype=float), thick), Pose(), colour)


def flange(link: str, tip: Vec3, start: Vec3, r: float) -> Part:
    """The end of a link that carries nothing."""
    back = (start - tip) * (min(0.5 * r / distance(start, tip), 1.0))
    return pipe(link, tip + back, tip, r, METAL, "metal")


def wheel(link: str, frame: Pose, radius: float, accent: Colour) -> Iterator[Part]:
    """A tyre about z of a frame, a hub, and a bar by which one sees it turn."""
    wide = 0.36 * radius
    yield Part(link, cylinder(radius, wide, 0.3 * wide), frame, RUBBER, "rubber")
    yield Part(link, cylinder(0.62 * radius, 1.04 * wide, 0.02 * radius), frame, METAL, "metal")
    yield Part(link, box(1.16 * radius, 0.16 * radius, 1.12 * wide, 0.02 * radius), frame, accent)


# ---- where they go


def along(a: Vec3, b: Vec3) -> Pose:
    """A frame at a whose z points to b."""
    length = distance(a, b)
    return Pose(with_z_along((b - a) * (1.0 / length)) if length > 1e-12 else with_z_along(EZ), a)


def elbow(a: Vec3, b: Vec3, axis: Vec3 | None, least: float) -> list[tuple[Vec3, Vec3]]:
    """The way from a to b: first along the axis, then across it, where both are long enough to be seen."""
    if axis is not None:
        corner = a + axis * dot(axis, b - a)
        if distance(a, corner) > least and distance(corner, b) > least:
            return [(a, corner), (corner, b)]
    return [(a, b)]


def off_axis(p: Vec3, at: Vec3, axis: Vec3) -> float:
    return distance(p, at + axis * dot(axis, p - at))


def spread(points: Sequence[Vec3]) -> tuple[float, float, float]:
    """How far points reach in three directions, the first taken as one."""
    cloud = np.array(points, dtype=float)
    values = np.linalg.svd(cloud - cloud.mean(axis=0), compute_uv=False)
    values = np.append(values, np.zeros(3))[:3] / max(float(values[0]), 1e-12)
    return float(values[0]), float(values[1]), float(values[2])


def inside(p: Vec3, edges: Sequence[float], pose: Pose) -> bool:
    """Whether a point is in a box."""
    q = pose.R.T @ (p - pose.p)
    return all(abs(x) < 0.5 * e for x, e in zip(q, edges, strict=True))
