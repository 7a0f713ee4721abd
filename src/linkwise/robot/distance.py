"""Signed distances between volumes, over any scalar: negative is the depth to which they overlap.

Spheres, capsules, boxes (with or without rounded edges) and half-spaces are known exactly, of a terrain a lower bound.
So are two boxes if that is asked for; else, ten times faster, by the axis along which they are farthest apart: exactly
where they overlap, and where a face or two edges that cross are nearest; at corners a lower bound, 1 / sqrt(3) of the
distance at least. (A corner of their difference is nearest in a direction n between normals of faces of the difference,
which have no obtuse angles with each other: with n = sum of l_i m_i, l_i >= 0, of three of these normals
1 >= sum l_i^2 >= (sum l_i)^2 / 3, and sum l_i (m_i . n) = 1, so that some m_i . n is 1 / sqrt(3) at least.)
A volume is a point, a segment or a box with a radius around it. Where the two of them without their radii cannot
overlap (points and segments), the distance is that of nearest points; with a box it is that, or where they overlap the
least shift that would part them, which is along a normal of their difference: one of their faces', or at right angles
to two of their edges (the separating axes).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import product

from linkwise.errors import LinkwiseError
from linkwise.robot.volume import HalfSpace, Rounded, Terrain, Volume, in_spheres
from linkwise.scalar import Scalar, absolute, clip, is_number, less, maximum, minimum, sqrt, tolerance, where
from linkwise.vector import Vec3, cross, dot

TINY = 1e-30  # of a squared distance: where centres coincide, nothing is divided by zero
FAR = 1e30


def least(first: Iterable[Volume], second: Sequence[Volume], exact: bool = False) -> Scalar:
    """The least signed distance between volumes of one group and of another.

    Of pairs with the same sum of radii the least squared distance is found first, so that one root is taken for all.
    Two volumes without an end, such as planes, are none of the pairs.
    """
    squares: dict[Scalar, Scalar] = {}
    values: list[Scalar] = []
    for a, b in product(first, second):
        if isinstance(a, Rounded) and isinstance(b, Rounded) and len(a.axes) <= 1 and len(b.axes) <= 1:
            radii, square = a.radius + b.radius, _square(a, b)
            if is_number(radii):
                squares[radii] = minimum(squares[radii], square) if radii in squares else square
            else:
                values.append(_root(square) - radii)
        elif isinstance(a, Rounded) or isinstance(b, Rounded):
            values.append(distance(a, b, exact))
    return reduce(minimum, [*(_root(square) - radii for radii, square in squares.items()), *values])


def distance(a: Volume, b: Volume, exact: bool = False) -> Scalar:
    """The signed distance between two volumes; a lower bound above a terrain, and if not `exact` between boxes."""
    if not isinstance(b, Rounded):
        a, b = b, a
    if not isinstance(b, Rounded):
        raise LinkwiseError("distance: expected a volume with an end, got two without, such as planes.")
    if isinstance(a, HalfSpace):
        wide = sum((absolute(dot(a.normal, axis)) * h for axis, h in zip(b.axes, b.half, strict=True)), b.radius)
        return dot(a.normal, b.centre - a.point) - wide
    if isinstance(a, Terrain):
        return reduce(minimum, [_above(a, ball) for ball in in_spheres(b).volumes if isinstance(ball, Rounded)])
    if len(a.axes) < len(b.axes):
        a, b = b, a
    if len(a.axes) == 3:
        return _from_box(a, b, exact) - (a.radius + b.radius)
    return _root(_square(a, b)) - (a.radius + b.radius)


def _root(square: Scalar) -> Scalar:
    return sqrt(maximum(square, TINY))


# ---- points and segments


def _square(a: Rounded, b: Rounded) -> Scalar:
    """The squared distance of two points or segments."""
    w = b.centre - a.centre
    if not a.axes and not b.axes:
        return dot(w, w)
    if not a.axes or not b.axes:
        (u,), (h,) = (a.axes, a.half) if a.axes else (b.axes, b.half)
        t = clip(dot(u, w), -h, h)
        return _norm(w - u * t)
    (u,), (v,), (h,), (k,) = a.axes, b.axes, a.half, b.half
    # nearest points a + s u, b + t v of two lines; then each within its segment, and the first once more
    cosine, along, back = dot(u, v), dot(u, w), dot(v, w)
    s = clip((along - cosine * back) / maximum(1.0 - cosine * cosine, TINY), -h, h)
    t = clip(cosine * s - back, -k, k)
    s = clip(cosine * t + along, -h, h)
    return _norm(w + v * t - u * s)


def _norm(v: Vec3) -> Scalar:
    return dot(v, v)


# ---- boxes


def _from_box(box: Rounded, other: Rounded, exact: bool) -> Scalar:
    """The signed distance of a box from a point, a segment or another box, all without radii."""
    centre = _in_axes(box, other.centre - box.centre)
    edges = [_in_axes(box, axis) for axis in other.axes]
    depth = _overlap(box.half, centre, edges, other.half)
    if len(edges) == 3 and not exact:
        return depth
    if not edges:
        square = _point_square(box.half, centre)
    elif len(edges) == 1:
        square = _segment_square(box.half, centre, edges[0] * other.half[0])
    else:
        corners = [_corner(signs, box) for signs in product((-1.0, 1.0), repeat=3)]
        ends = [_point_square(other.half, _in_axes(other, c - other.centre)) for c in corners]
        square = reduce(minimum, [*ends, *_edge_squares(box.half, centre, edges, other.half)])
    return _root(square) + minimum(depth, 0.0)


def _in_axes(box: Rounded, v: Vec3) -> Vec3:
    return Vec3(*(dot(axis, v) for axis in box.axes))


def _corner(signs: Sequence[float], box: Rounded) -> Vec3:
    at = box.centre
    for sign, axis, h in zip(signs, box.axes, box.half, strict=True):
        at = at + axis * (sign * h)
    return at


def _point_square(half: Sequence[float], x: Vec3) -> Scalar:
    """The squared distance of a point from a box at the origin."""
    return sum((e * e for e in (_beyond(c, h) for c, h in zip(x, half, strict=True))), 0.0)


def _beyond(x: Scalar, h: float) -> Scalar:
    """By how much x is beyond -h or h, with its sign."""
    return x - clip(x, -h, h)


def _segment_square(half: Sequence[float], p: Vec3, u: Vec3) -> Scalar:
    """The squared distance of the segment p + t u, -1 <= t <= 1, from a box at the origin.

    It is convex in t, and half its slope is linear between the places where the line crosses planes of faces: the two
    of these places between which the slope changes its sign tell where it is zero.
    """

    def slope(t: Scalar) -> Scalar:
        return sum((b * _beyond(a + t * b, h) for a, b, h in zip(p, u, half, strict=True)), 0.0)

    low, high, at_low, at_high = -1.0, 1.0, slope(-1.0), slope(1.0)
    for a, b, h in zip(p, u, half, strict=True):
        inverse = 1.0 / where(less(b * b, TINY), 1.0, b)  # a line along the face crosses it nowhere: any place will do
        for face in (-h, h):
            t = clip((face - a) * inverse, -1.0, 1.0)
            at = slope(t)
            rises = less(0.0, at)
            low, high = where(rises, low, maximum(low, t)), where(rises, minimum(high, t), high)
            at_low, at_high = where(rises, at_low, maximum(at_low, at)), where(rises, minimum(at_high, at), at_high)
    t = clip(low - at_low * (high - low) / maximum(at_high - at_low, TINY), -1.0, 1.0)
    return _point_square(half, p + u * t)


def _edge_squares(half: Sequence[float], centre: Vec3, edges: Sequence[Vec3], lengths: Sequence[float]) -> list[Scalar]:
    """The squared distances of the twelve edges of a box from another at the origin."""
    found = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for a, b in product((-1.0, 1.0), repeat=2):
            p = centre + edges[i] * (a * lengths[i]) + edges[j] * (b * lengths[j])
            found.append(_segment_square(half, p, edges[k] * lengths[k]))
    return found


def _overlap(half: Sequence[float], centre: Vec3, edges: Sequence[Vec3], lengths: Sequence[float]) -> Scalar:
    """The largest gap between a box at the origin and what has these edges, over all separating axes.

    It is never more than their distance, and negative where they overlap: the depth. Axes at right angles to edges that
    are parallel up to round-off are none.
    """

    def gap(n: Vec3) -> Scalar:
        wide = sum((absolute(x) * h for x, h in zip(n, half, strict=True)), 0.0)
        wide = wide + sum((absolute(dot(n, e)) * h for e, h in zip(edges, lengths, strict=True)), 0.0)
        return absolute(dot(n, centre)) - wide

    units = [Vec3(*(float(i == k) for i in range(3))) for k in range(3)]
    gaps = [gap(n) for n in (*units, *(edges if len(edges) == 3 else ()))]
    for n in (cross(unit, e) for unit in units for e in edges):
        size, parallel = dot(n, n), tolerance(centre.x, 1e-16, 1e-7)
        gaps.append(where(less(parallel, size), gap(n) / sqrt(maximum(size, parallel)), -FAR))
    return reduce(maximum, gaps)


# ---- terrain


def _above(terrain: Terrain, ball: Rounded) -> Scalar:
    """A lower bound of the signed distance of a ball from a surface: its height over it, by the surface's slope."""
    x, y, z = terrain.frame.R.T @ (ball.centre - terrain.frame.p)
    along = _shares((x - terrain.start[0]) * (1.0 / terrain.step[0]), len(terrain.heights))
    across = _shares((y - terrain.start[1]) * (1.0 / terrain.step[1]), len(terrain.heights[0]))
    rows = [_between(row, across) for row in terrain.heights]
    height = z - _between(rows, along)
    return minimum(height, height * (1.0 / (1.0 + terrain.slope**2) ** 0.5)) - ball.radius


def _shares(place: Scalar, count: int) -> list[Scalar]:
    """Of each cell of a row of so many heights, the share that lies before a place."""
    return [clip(place - float(k), 0.0, 1.0) for k in range(count - 1)]


def _between(values: Sequence[Scalar], shares: Sequence[Scalar]) -> Scalar:
    steps = ((b - a) * share for a, b, share in zip(values[:-1], values[1:], shares, strict=True))
    return sum(steps, values[0])
