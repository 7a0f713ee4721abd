"""Meshes covered by capsules: every triangle, and all between them, lies inside of one.

A mesh is cut by planes into parts. A capsule is convex: with the corners of a part's triangles it contains the part,
and with the outlines of its cuts what is inside of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.robot.geometry import Shape
from linkwise.robot.mesh import file_of, scaled
from linkwise.robot.volume import Cover, Volume, capsule, cover_of
from linkwise.vector import Vec3

Array = NDArray[np.float64]
PARTS = 3  # capsules of a mesh
CUTS = (0.35, 0.5, 0.65)  # where a part may be cut, along its longest two principal axes
LARGE = 20_000  # triangles from which on it is cut in its middle alone, which takes less time
GAIN = 0.9  # of the error: a cut that leaves more of it is none
SAMPLES = 4000  # points of a mesh, and of its cover, from which the cover's error is measured
ROUGH = 400  # the same while cuts are compared
WAYS = 150  # directions in which a capsule and what it contains are compared
GOLDEN = math.pi * (1.0 + math.sqrt(5.0))  # turns by which points spread evenly
SLACK = 1e-9  # by which capsules are wider than needed, for round-off


class Fit(NamedTuple):
    """A capsule: its ends and radius."""

    a: Array
    b: Array
    radius: float

    @property
    def size(self) -> float:
        """Its volume."""
        return float(math.pi * self.radius**2 * (np.linalg.norm(self.b - self.a) + 4.0 / 3.0 * self.radius))


Piece = tuple[Array, Fit]  # triangles, and the capsule about them


def covered(shape: Shape, parts: int = PARTS) -> Cover:
    """The volumes that a shape is or is covered by, in the frame of its link; a mesh by at most so many capsules."""
    if shape.kind != "mesh":
        return cover_of(shape)
    path = file_of(shape)
    own = _mesh_cover(path, shape.size, parts, path.stat().st_mtime_ns)
    return Cover(tuple(v.seen_from(shape.origin) for v in own.volumes), own.error)


@lru_cache(maxsize=256)
def _mesh_cover(path: Path, size: tuple[float, ...], parts: int, changed: int) -> Cover:
    """The cover of a mesh in its own frame, for all links that have it, kept until its file changes."""
    mesh = scaled(path, size)
    fits = fitted(mesh, parts)
    volumes: list[Volume] = []
    for f in fits:
        a, b = (Vec3(*map(float, end)) for end in (f.a, f.b))
        volumes.append(capsule(a, b, float(f.radius) * (1.0 + SLACK)))
    return Cover(tuple(volumes), max(_measured(mesh, SAMPLES)(fits)))


def fitted(mesh: Array, parts: int) -> list[Fit]:
    """Capsules that contain all triangles (n, 3, 3): what sticks out most is cut in two, as long as that helps."""
    rough = _measured(mesh, ROUGH)
    pieces: list[Piece] = [_refined(mesh, _fit(mesh))]
    errors = rough(_fits(pieces))
    while len(pieces) < parts:
        worst = int(np.argmax(errors))
        others = pieces[:worst] + pieces[worst + 1 :]
        two = min(_cuts(pieces[worst]), key=lambda two: max(rough(_fits([*others, *two]))), default=None)
        if two is None:
            break
        ways = [[*others, *two], [*others, *(_refined(*piece) for piece in two)]]
        cut = min(ways, key=lambda way: max(rough(_fits(way))))
        now = rough(_fits(cut))
        if max(now) > GAIN * max(errors):
            break
        pieces, errors = cut, now
    return _fits(pieces)


def _fits(pieces: Iterable[Piece]) -> list[Fit]:
    return [fit for _, fit in pieces]


def _cuts(piece: Piece) -> Iterator[list[Piece]]:
    """A few ways to cut a piece in two."""
    mesh, _ = piece
    points = _hull(mesh)
    for axis, share in product(_principal(points)[:2], CUTS if len(mesh) < LARGE else CUTS[1:2]):
        heights = (mesh - points.mean(axis=0)) @ axis
        level = heights.min() + share * np.ptp(heights)
        halves = [_cut(mesh, side * heights, side * level) for side in (1.0, -1.0)]
        if all(map(len, halves)):
            yield [(half, _fit(half)) for half in halves]


def _cut(mesh: Array, heights: Array, level: float) -> Array:
    """What of the triangles lies below a level of the height that is given for each corner."""
    below = heights <= level
    kept = [mesh[below.all(axis=1)]]
    for count in (1, 2):  # corners below: a smaller triangle, or two
        some = below.sum(axis=1) == count
        corners, h, b = mesh[some], heights[some], below[some]
        lone = np.argmax(b if count == 1 else ~b, axis=1)  # the corner that is on its side alone
        order = (lone[:, None] + np.arange(3)) % 3
        corners, h = np.take_along_axis(corners, order[:, :, None], 1), np.take_along_axis(h, order, 1)
        share = ((level - h[:, :1]) / (h[:, 1:] - h[:, :1]))[:, :, None]
        on = corners[:, :1] + share * (corners[:, 1:] - corners[:, :1])
        if count == 1:
            kept.append(np.concatenate([corners[:, :1], on], axis=1))
        else:
            kept.append(np.concatenate([corners[:, 1:], on[:, :1]], axis=1))
            kept.append(np.concatenate([corners[:, 2:], on], axis=1))
    return np.concatenate(kept)


def _hull(mesh: Array) -> Array:
    """The corners of the convex hull of triangles; all corners where they are flat."""
    from scipy.spatial import ConvexHull, QhullError

    points = mesh.reshape(-1, 3)
    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        return points


def _principal(points: Array) -> Array:
    """The principal axes of points, the longest first."""
    return np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]


def _fit(mesh: Array) -> Fit:
    """A small capsule about triangles, along one of their principal axes."""
    points = _hull(mesh)
    return min((_along(points, points.mean(axis=0), axis) for axis in _principal(points)), key=lambda f: f.size)


def _along(points: Array, middle: Array, axis: Array) -> Fit:
    """The smallest capsule about points whose axis is along this direction, and about through their middle."""
    across = np.linalg.svd(axis[None])[2][1:]
    centre = _circle((points - middle) @ across.T)
    return _about(points, middle + centre @ across, axis)


def _circle(points: Array) -> Array:
    """The centre of a small circle about points of a plane: steps towards the farthest, ever shorter."""
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    for k in range(1, 16):
        farthest = points[np.argmax(((points - centre) ** 2).sum(axis=1))]
        centre = centre + (farthest - centre) / (k + 1.0)
    boxed = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return min((boxed, centre), key=lambda c: float(((points - c) ** 2).sum(axis=1).max()))


def _about(points: Array, on: Array, axis: Array, wider: float = 1.0) -> Fit:
    """The shortest capsule about points whose axis is on a line, as slender as can be, or so many times wider."""
    axis = axis / np.linalg.norm(axis)
    z = (points - on) @ axis
    squares = np.maximum(((points - on) ** 2).sum(axis=1) - z * z, 0.0)
    radius = float(np.sqrt(squares.max())) * wider
    caps = np.sqrt(np.maximum(radius * radius - squares, 0.0))
    low, high = float((z + caps).min()), float((z - caps).max())
    if low > high:  # the ends' balls hold all that is between them: one ball will do
        low = high = 0.5 * (low + high)
        radius = max(radius, float(np.sqrt(squares + (z - low) ** 2).max()))
    return Fit(on + low * axis, on + high * axis, radius)


def _refined(mesh: Array, fit: Fit) -> Piece:
    """Triangles with a capsule near one that sticks out less of their convex hull, by a search over lines and radii."""
    from scipy.optimize import minimize

    points = _hull(mesh)
    middle, length = 0.5 * (fit.a + fit.b), float(np.linalg.norm(fit.b - fit.a))
    axis = (fit.b - fit.a) / length if length > 1e-9 else _principal(points)[0]
    across, scale = np.linalg.svd(axis[None])[2][1:], max(fit.radius, 1e-9)
    ways = _on_ball(WAYS)
    wide = (points @ ways.T).max(axis=0)

    def moved(x: Array) -> Fit:
        return _about(points, middle + scale * x[:2] @ across, axis + x[2:4] @ across, 1.0 + abs(x[4]))

    def over(f: Fit) -> float:  # of convex bodies that is the largest difference of their extents
        beyond = np.maximum(ways @ f.a, ways @ f.b) + f.radius - wide
        return float(beyond.max() + 0.1 * beyond.mean())

    start = np.vstack([np.zeros(5), 0.1 * np.eye(5)])
    options = {"maxfev": 300, "initial_simplex": start}
    best = moved(minimize(lambda x: over(moved(x)), np.zeros(5), method="Nelder-Mead", options=options).x)
    return mesh, best if over(best) < over(fit) else fit


def _measured(mesh: Array, samples: int) -> Callable[[list[Fit]], list[float]]:
    """How far capsules that cover a mesh stick out of it, m: the farthest of points of their surface from it."""
    from scipy.spatial import cKDTree

    tree = cKDTree(_on_triangles(mesh, samples))

    def errors(fits: list[Fit]) -> list[float]:
        found = []
        for k, fit in enumerate(fits):
            surface = _on_capsule(fit, samples)
            for other in (f for j, f in enumerate(fits) if j != k):
                surface = surface[_beside(surface, other) >= other.radius]
            found.append(float(tree.query(surface)[0].max(initial=0.0)))
        return found

    return errors


def _beside(points: Array, fit: Fit) -> Array:
    """Distances of points from the segment of a capsule."""
    d = fit.b - fit.a
    t = np.clip((points - fit.a) @ d / max(float(d @ d), 1e-300), 0.0, 1.0)
    found: Array = np.linalg.norm(points - fit.a - t[:, None] * d, axis=1)
    return found


def _on_capsule(fit: Fit, count: int) -> Array:
    """Points spread over the surface of a capsule."""
    ball, d = _on_ball(count) * fit.radius, fit.b - fit.a
    if not float(d @ d) > 0.0:
        return fit.a + ball
    caps = np.where((ball @ d > 0.0)[:, None], fit.b, fit.a) + ball
    k = np.arange(count) + 0.5
    ring = np.column_stack([np.cos(GOLDEN * k), np.sin(GOLDEN * k)]) @ np.linalg.svd(d[None])[2][1:]
    return np.concatenate([caps, fit.a + (k / count)[:, None] * d + fit.radius * ring])


def _on_ball(count: int) -> Array:
    """Points spread over the surface of a ball of radius one."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    flat = np.sqrt(1.0 - z * z)
    return np.stack([flat * np.cos(GOLDEN * k), flat * np.sin(GOLDEN * k), z], axis=1)


def _on_triangles(mesh: Array, count: int) -> Array:
    """Corners of the triangles, and points spread over them by their areas."""
    a, b, c = mesh[:, 0], mesh[:, 1], mesh[:, 2]
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    total = np.cumsum(area)
    if not total[-1] > 0.0:
        return mesh.reshape(-1, 3)
    k = np.arange(count) + 0.5
    which = np.searchsorted(total, k / count * total[-1])
    u, v = np.modf(k * 0.7548776662466927)[0], np.modf(k * 0.5698402909980532)[0]  # evenly spread pairs
    over = u + v > 1.0
    u, v = np.where(over, 1.0 - u, u)[:, None], np.where(over, 1.0 - v, v)[:, None]
    spread = a[which] + u * (b - a)[which] + v * (c - a)[which]
    return np.concatenate([mesh.reshape(-1, 3), spread])
