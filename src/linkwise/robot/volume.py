"""Volumes that clearance knows exactly: what shapes are, or are covered by, in the frame of what carries them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from linkwise.robot.geometry import Shape
from linkwise.scalar import Scalar
from linkwise.spatial import Pose
from linkwise.vector import EX, EY, EZ, Vec3

STEP = 0.7  # between spheres that cover a capsule, in radii: they stick out by 6 % of its radius
MOST = 12  # spheres along an edge of what they cover


class Rounded(NamedTuple):
    """All points within a radius of a point, a segment or a box: a sphere, a capsule, a box with or without corners.

    Args:
        centre: of the point, segment or box.
        axes: unit vectors of its edges: none, one or three.
        half: halves of the lengths of these edges, m.
        radius: m.
    """

    centre: Vec3
    axes: tuple[Vec3, ...] = ()
    half: tuple[float, ...] = ()
    radius: Scalar = 0.0

    def seen_from(self, X: Pose) -> Rounded:
        """The same volume in the frame in which X is the pose of its own."""
        return Rounded(X.point(self.centre), tuple(X.R @ a for a in self.axes), self.half, self.radius)

    @property
    def extent(self) -> float:
        """How far its points are from its centre at most."""
        return math.hypot(*self.half, 0.0) + float(self.radius)


class HalfSpace(NamedTuple):
    """All points on one side of a plane: those x with normal . (x - point) <= 0."""

    point: Vec3
    normal: Vec3

    def seen_from(self, X: Pose) -> HalfSpace:
        """The same in the frame in which X is the pose of its own."""
        return HalfSpace(X.point(self.point), X.R @ self.normal)

    @property
    def extent(self) -> float:
        """It has no end."""
        return math.inf


class Terrain(NamedTuple):
    """All points below a surface z = h(x, y), bilinear between heights of a grid, level beyond its edges.

    Args:
        frame: in which x, y and z are meant.
        start: x and y of the first height.
        step: from one height to the next along x and along y.
        heights: by rows along x, each along y.
        slope: the largest of the surface: by how much it rises in a unit of length.
    """

    frame: Pose
    start: tuple[float, float]
    step: tuple[float, float]
    heights: tuple[tuple[float, ...], ...]
    slope: float

    def seen_from(self, X: Pose) -> Terrain:
        """The same in the frame in which X is the pose of its own."""
        return self._replace(frame=X @ self.frame)

    @property
    def extent(self) -> float:
        """It has no end."""
        return math.inf


Volume = Rounded | HalfSpace | Terrain


class Cover(NamedTuple):
    """Volumes that together contain a shape, and how far they stick out of it at most, m."""

    volumes: tuple[Volume, ...]
    error: float = 0.0


def sphere(centre: Vec3, radius: Scalar) -> Rounded:
    """A ball."""
    return Rounded(centre, radius=radius)


def capsule(a: Vec3, b: Vec3, radius: float) -> Rounded:
    """All points within a radius of the segment from a to b."""
    d = b - a
    length = math.hypot(*d)
    if not length > 0.0:
        return sphere(a, radius)
    return Rounded((a + b) * 0.5, (d * (1.0 / length),), (0.5 * length,), radius)


def cover_of(shape: Shape) -> Cover:
    """The volumes that a shape other than a mesh is or is covered by, in the frame of its link."""
    cover = _COVERS[shape.kind](*shape.size)
    return Cover(tuple(v.seen_from(shape.origin) for v in cover.volumes), cover.error)


def _box(x: float, y: float, z: float) -> Cover:
    return Cover((Rounded(Vec3(0.0, 0.0, 0.0), (EX, EY, EZ), (0.5 * x, 0.5 * y, 0.5 * z)),))


def _sphere(radius: float) -> Cover:
    return Cover((sphere(Vec3(0.0, 0.0, 0.0), radius),))


def _capsule(radius: float, length: float) -> Cover:
    return Cover((capsule(EZ * (-0.5 * length), EZ * (0.5 * length), radius),))


def _cylinder(radius: float, length: float) -> Cover:
    """A long one lies in a capsule through its rims, a flat one in a box: sides or corners stick out by as much."""
    error = (math.sqrt(2.0) - 1.0) * radius
    if length < 2.0 * radius:
        return _box(2.0 * radius, 2.0 * radius, length)._replace(error=error)
    return _capsule(math.sqrt(2.0) * radius, length - 2.0 * radius)._replace(error=error)


def _ellipsoid(*half: float) -> Cover:
    """In a capsule along its longest axis, as wide as the second and with the same ends."""
    (a, along), (b, _), (c, _) = sorted(zip(half, (EX, EY, EZ), strict=True), key=lambda pair: -pair[0])
    turns = [math.pi / 2.0 * k / 1000 for k in range(1001)]
    over = [(a - b) * math.cos(t) + b - math.hypot(a * math.cos(t), c * math.sin(t)) for t in turns]
    return Cover((capsule(along * (b - a), along * (a - b), b),), max(0.0, *over))


def _plane() -> Cover:
    return Cover((HalfSpace(Vec3(0.0, 0.0, 0.0), EZ),))


_COVERS: dict[str, Callable[..., Cover]] = {
    "box": _box,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "ellipsoid": _ellipsoid,
    "plane": _plane,
}


def in_spheres(volume: Rounded) -> Cover:
    """Spheres that contain a volume, where nothing else is known: above a terrain."""
    if not volume.axes:
        return Cover((volume,))
    if len(volume.axes) == 1:
        (axis,), (half,), r = volume.axes, volume.half, float(volume.radius)
        steps = max(1, min(MOST, math.ceil(2.0 * half / (STEP * r))) if r > 0.0 else MOST)
        wide = math.hypot(r, half / steps)
        places = [half * (2.0 * k / steps - 1.0) for k in range(steps + 1)]
        return Cover(tuple(sphere(volume.centre + axis * x, wide) for x in places), wide - r)
    least = min(h for h in volume.half if h > 0.0) if any(volume.half) else 1.0
    counts = [min(MOST // 3, max(1, math.ceil(h / least))) for h in volume.half]
    cell = math.hypot(*(h / n for h, n in zip(volume.half, counts, strict=True)))
    centres = [volume.centre]
    for axis, h, n in zip(volume.axes, volume.half, counts, strict=True):
        centres = [c + axis * (h * ((2.0 * k + 1.0) / n - 1.0)) for c in centres for k in range(n)]
    wide = cell + float(volume.radius)
    thin = min(h / n for h, n in zip(volume.half, counts, strict=True))
    return Cover(tuple(sphere(c, wide) for c in centres), wide - float(volume.radius) - thin)
