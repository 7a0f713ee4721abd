"""Solids as triangles: turned parts, rods, and hulls of balls. All that is drawn is one of these, or a mesh."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.int64]

SIDES = 28  # corners of what is round
ARC = 3  # steps of a rounded edge, a quarter of a circle


class Solid(NamedTuple):
    """A closed surface: vertices (n, 3) in m, and the corners of its triangles (m, 3), counter-clockwise from outside.

    Vertices are shared; whoever draws makes edges sharp where faces meet at an angle.
    """

    vertices: Array
    faces: Places

    @property
    def is_open(self) -> bool:
        """Whether some edge does not have two faces, one in each direction, so that the inside may be seen."""
        a, b = self.faces.astype(np.int64), np.roll(self.faces, -1, axis=1).astype(np.int64)
        count = len(self.vertices)
        there, back = np.sort((a * count + b).ravel()), np.sort((b * count + a).ravel())
        return not np.array_equal(there, back)

    def scaled(self, x: float, y: float, z: float) -> Solid:
        """The solid stretched along its axes; where that mirrors it, faces are turned round."""
        faces = self.faces[:, ::-1] if x * y * z < 0.0 else self.faces
        return Solid(self.vertices * np.array([x, y, z]), faces)


def turned(profile: Sequence[tuple[float, float]], sides: int = SIDES) -> Solid:
    """What a lathe makes of a profile: points (radius, z), from one end of the axis to the other, z rising."""
    angles = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([np.cos(angles), np.sin(angles), np.zeros(sides)], axis=1)
    rows: list[Array] = []
    starts: list[int] = []
    for radius, z in profile:
        starts.append(sum(len(row) for row in rows))
        rows.append(np.array([[0.0, 0.0, z]]) if radius == 0.0 else ring * radius + [0.0, 0.0, z])
    k, after = np.arange(sides), (np.arange(sides) + 1) % sides
    faces = []
    for a, b, low, high in zip(starts[:-1], starts[1:], rows[:-1], rows[1:], strict=True):
        if len(high) > 1:
            faces.append(np.stack([a + (k if len(low) > 1 else 0 * k), b + after, b + k], axis=1))
        if len(low) > 1:
            faces.append(np.stack([a + k, a + after, b + (after if len(high) > 1 else 0 * k)], axis=1))
    return Solid(np.concatenate(rows), np.concatenate(faces))


def cylinder(radius: float, length: float, bevel: float = 0.0) -> Solid:
    """A cylinder along z, its middle at the origin, its edges rounded."""
    bevel = min(bevel, 0.5 * radius, 0.5 * length)
    if not bevel:
        return turned([(0.0, -length / 2), (radius, -length / 2), (radius, length / 2), (0.0, length / 2)])
    low = [
        (radius - bevel * (1.0 - math.sin(a)), -length / 2 + bevel * (1.0 - math.cos(a)))
        for a in np.linspace(0.0, math.pi / 2, ARC)
    ]
    return turned([(0.0, -length / 2), *low, *((r, -z) for r, z in reversed(low)), (0.0, length / 2)])


def rod(start: float, end: float, length: float) -> Solid:
    """Two balls of these radii and their common hull, along z: the first at the origin, the other at `length`."""
    if length <= abs(start - end):  # one is inside of the other
        big, at = (start, 0.0) if start >= end else (end, length)
        return Solid(sphere(big).vertices + np.array([0.0, 0.0, at]), sphere(big).faces)
    tilt = math.asin((start - end) / length)
    low = [(start * math.cos(a), start * math.sin(a)) for a in np.linspace(-math.pi / 2, tilt, 7)[1:]]
    high = [(end * math.cos(a), length + end * math.sin(a)) for a in np.linspace(tilt, math.pi / 2, 7)[:-1]]
    return turned([(0.0, -start), *low, *high, (0.0, length + end)])


def capsule(radius: float, length: float) -> Solid:
    """A capsule along z, `length` between the centres of its ends, its middle at the origin."""
    found = rod(radius, radius, length)
    return Solid(found.vertices - [0.0, 0.0, length / 2], found.faces)


@lru_cache(maxsize=64)
def sphere(radius: float = 1.0, sides: int = 24) -> Solid:
    """A ball at the origin."""
    steps = np.linspace(-math.pi / 2, math.pi / 2, sides // 2 + 1)[1:-1]
    arc = [(radius * math.cos(a), radius * math.sin(a)) for a in steps]
    return turned([(0.0, -radius), *arc, (0.0, radius)], sides)


def ellipsoid(x: float, y: float, z: float) -> Solid:
    """An ellipsoid at the origin, of these half axes."""
    return sphere().scaled(x, y, z)


def box(x: float, y: float, z: float, bevel: float = 0.0) -> Solid:
    """A box of these edges, its middle at the origin, its edges rounded."""
    bevel = min(bevel, 0.49 * x, 0.49 * y, 0.49 * z)
    corners = np.array([[a, b, c] for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)])
    if not bevel > 0.0:
        quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
        faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
        return Solid(corners * [x, y, z], np.array(faces))
    return hull(corners * [x - 2 * bevel, y - 2 * bevel, z - 2 * bevel], bevel)


def hull(points: Array, radius: float) -> Solid:
    """The convex hull of balls of one radius at these points (n, 3): a plate, a box with rounded edges."""
    from scipy.spatial import ConvexHull

    ball = sphere(1.0, 20).vertices * radius
    cloud = (np.asarray(points, dtype=float)[:, None] + ball).reshape(-1, 3)
    found = ConvexHull(cloud)
    faces = found.simplices
    a, b, c = (cloud[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    faces = np.where(inward[:, None], faces[:, ::-1], faces)
    used, places = np.unique(faces, return_inverse=True)
    return Solid(cloud[used], places.reshape(-1, 3))


MADE: dict[str, Callable[..., Solid]] = {
    "box": box,
    "sphere": sphere,
    "cylinder": cylinder,
    "capsule": capsule,
    "ellipsoid": ellipsoid,
}
