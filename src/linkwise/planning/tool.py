"""Constraints on where frames of the robot are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from linkwise.check import finite, fraction, positive, vector
from linkwise.errors import InputError
from linkwise.planning.chart import chart_of
from linkwise.planning.curve import Array, Basis
from linkwise.planning.point import Point
from linkwise.planning.rows import LinearRows, Rows
from linkwise.planning.term_and_constraint import Constraint, chosen_joints
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar, sqrt
from linkwise.spatial import Pose
from linkwise.vector import Mat3, Vec3, dot

AXES = ("x", "y", "z")
TOLERANCE = 1e-4  # m and rad


@dataclass(frozen=True, eq=False)
class Via(Constraint):
    """Positions of joints, or of a frame, at one instant."""

    at: float
    q: Mapping[str, float] | None = None
    frame: str | None = None
    position: Array | None = None
    rotation: Array | None = None
    tolerance: float = TOLERANCE

    def linear(self, robot: Robot, basis: Basis) -> list[LinearRows]:
        if self.q is None:
            return []
        known = chart_of(robot).names
        names = chosen_joints(known, list(self.q), "via q")
        B = basis.matrix([self.at])[0]
        A = np.zeros((len(names), basis.count, len(known)))
        for row, name in zip(A, names, strict=True):
            row[:, known.index(name)] = B
        wanted = np.array([self.q[n] for n in names])
        return [LinearRows("via", tuple(names), A.reshape(len(names), -1), wanted, wanted, self.at)]

    def rows(self, robot: Robot) -> list[Rows]:
        if self.frame is None:
            return []
        robot.frame(self.frame)
        names: list[str] = []
        if self.position is not None:
            names += [f"{self.frame}.{x}" for x in AXES]
        if self.rotation is not None:
            names += [f"{self.frame}.r{x}" for x in AXES]
        band, size = np.full(len(names), self.tolerance), np.ones(len(names))
        return [Rows("via", tuple(names), self._errors, -band, band, size, at=(self.at,))]

    def _errors(self, p: Point) -> list[Scalar]:
        assert self.frame is not None
        X = p.pose(self.frame)
        found: list[Scalar] = []
        if self.position is not None:
            found += [a - b for a, b in zip(X.p, self.position.tolist(), strict=True)]
        if self.rotation is not None:
            found += turn_error(X, self.rotation)
        return found


def via(
    at: float,
    q: Any = None,
    *,
    frame: str | None = None,
    position: Any = None,
    pose: Any = None,
    tolerance: float = TOLERANCE,
) -> Via:
    """Something that the motion passes at the fraction `at` of its time: 0 is the start, 1 the end.

    Args:
        at: from 0 to 1.
        q: positions by joint, {"elbow": 0.5}; joints that are not named are free.
        frame: instead, a frame or link, which is to be at `position` (3) or in the 4 by 4 `pose`, in the world.
        tolerance: by how much the frame may be off in each direction, m and rad.
    """
    s = fraction(at, "via at")
    if (q is None) == (frame is None):
        raise InputError("via: expected either q={...} or frame=..., got " + ("neither." if q is None else "both."))
    if q is not None:
        if not isinstance(q, Mapping):
            raise InputError(f"via q: expected positions by joint, {{'elbow': 0.5}}, got {q!r}.")
        return Via(s, {name: finite(x, f"via q {name!r}") for name, x in q.items()})
    if (position is None) == (pose is None):
        raise InputError(f"via frame {frame!r}: expected either position=(x, y, z) or pose=T of 4 by 4.")
    loose = positive(tolerance, "via tolerance")
    if position is not None:
        return Via(s, None, frame, vector(position, "via position"), None, loose)
    T = _matrix(pose, "via pose")
    return Via(s, None, frame, T[:3, 3], T[:3, :3], loose)


def _matrix(pose: Any, what: str) -> Array:
    if isinstance(pose, Pose):
        pose = pose.matrix()
    try:
        T = np.asarray(pose, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected a 4 by 4 matrix, got {pose!r}.") from error
    if T.shape != (4, 4) or not np.allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-6):
        raise InputError(f"{what}: expected a 4 by 4 matrix with a rotation, got an array of shape {T.shape}.")
    return T


def turn_error(X: Pose, R: Array) -> list[Scalar]:
    """The axis times twice the sine of half the angle between a pose and a rotation, which grows up to half a turn."""
    E = Mat3.of(R.T.tolist()) @ X.R
    twice = 2.0 / sqrt(E.x.x + E.y.y + E.z.z + (1.0 + 1e-9))  # over the cosine of half the angle
    return [(E.z.y - E.y.z) * 0.5 * twice, (E.x.z - E.z.x) * 0.5 * twice, (E.y.x - E.x.y) * 0.5 * twice]


@dataclass(frozen=True, eq=False)
class FramePath:
    """A line, or a curve of the fraction s of time, for the origin of a frame."""

    frame: str
    ends: Array | None
    path: Callable[[Array], Array] | None

    @classmethod
    def of(cls, frame: str, line: Any, path: Any) -> FramePath:
        """What the arguments of `tool_path` say."""
        if (line is None) == (path is None):
            raise InputError(f"tool_path {frame!r}: expected either line=(a, b) or path=...")
        if line is None:
            return cls(frame, None, _sampled(path))
        try:
            ends = np.asarray(line, dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(f"tool_path line: expected two points of three numbers, got {line!r}.") from error
        if ends.shape != (2, 3) or not np.isfinite(ends).all() or np.allclose(ends[0], ends[1]):
            raise InputError(f"tool_path line: expected two different points of three numbers, got {line!r}.")
        return cls(frame, ends, None)

    def rows(self, robot: Robot, tolerance: float) -> Rows:
        """Distances across the line or from the curve, with that tolerance."""
        robot.frame(self.frame)
        if self.ends is not None:
            across, origin = _across(self.ends), Vec3(*self.ends[0].tolist())

            def beside(p: Point) -> list[Scalar]:
                d = p.pose(self.frame).p - origin
                return [dot(d, u) for u in across]

            names, function, data, width = (f"{self.frame}.u", f"{self.frame}.v"), beside, None, 0
        else:
            names = tuple(f"{self.frame}.{x}" for x in AXES)  # type: ignore[assignment]

            def off(p: Point) -> list[Scalar]:
                return [a - b for a, b in zip(p.pose(self.frame).p, p.data, strict=True)]

            function, data, width = off, self.path, 3
        band = np.full(len(names), tolerance)
        return Rows("tool_path", names, function, -band, band, band, data=data, width=width)


@dataclass(frozen=True, eq=False)
class ToolPath(Constraint):
    """A frame on a line, or on a curve of s."""

    path: FramePath
    tolerance: float

    def rows(self, robot: Robot) -> list[Rows]:
        return [self.path.rows(robot, self.tolerance)]


def tool_path(frame: str, *, line: Any = None, path: Any = None, tolerance: float | None = None) -> ToolPath:
    """A frame's origin on a path, within `tolerance` (m) of it.

    Args:
        frame: a frame or link.
        line: two points; the frame moves on the line through them, as fast as it likes.
        path: instead, points (k, 3) passed in even steps of time, or a function of the fraction s of time to (3).
        tolerance: m in each direction across the line, or from the path.
    """
    way = FramePath.of(frame, line, path)
    if tolerance is None:
        raise InputError(f"tool_path {frame!r}: expected tolerance=... (m), got none.")
    return ToolPath(way, positive(tolerance, f"tool_path {frame!r} tolerance"))


def _sampled(path: Any) -> Callable[[Array], Array]:
    """A function of fractions (n,) -> (n, 3)."""
    if callable(path):
        _evaluated(path, np.array([0.0, 1.0]))
        return partial(_evaluated, path)
    try:
        points = np.asarray(path, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"tool_path path: expected points (k, 3) or a function of s, got {path!r}.") from error
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2 or not np.isfinite(points).all():
        raise InputError(f"tool_path path: expected points (k, 3) or a function of s, got shape {points.shape}.")
    from scipy.interpolate import make_interp_spline

    spline = make_interp_spline(np.linspace(0.0, 1.0, len(points)), points, k=min(3, len(points) - 1))
    return partial(_interpolated, spline)


def _evaluated(path: Callable[[float], Any], s: Array) -> Array:
    return np.array([vector(path(float(x)), f"tool_path at s = {x:g}") for x in s])


def _interpolated(spline: Any, s: Array) -> Array:
    return np.asarray(spline(s), dtype=float)


def _across(ends: Array) -> list[Vec3]:
    """Two unit vectors at right angles to a line."""
    d = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    u = np.cross(d, np.eye(3)[np.argmin(np.abs(d))])
    u /= np.linalg.norm(u)
    return [Vec3(*u.tolist()), Vec3(*np.cross(d, u).tolist())]


@dataclass(frozen=True, eq=False)
class BallClearance(Constraint):
    """A sphere on the robot that stays clear of something."""

    frame: str
    radius: float
    offset: Array
    sphere: tuple[Array, float] | None
    half_space: tuple[Array, float] | None
    other: tuple[str, float] | None

    def rows(self, robot: Robot) -> list[Rows]:
        robot.frame(self.frame)
        offset = Vec3(*self.offset.tolist())
        if self.half_space is not None:
            normal, level = Vec3(*self.half_space[0].tolist()), self.half_space[1]
            least = np.array([level + self.radius])

            def height(p: Point) -> list[Scalar]:
                return [dot(normal, p.pose(self.frame).point(offset))]

            size = np.maximum(np.abs(least), 0.1)
            return [Rows("clearance", (f"{self.frame}.half_space",), height, least, np.array([np.inf]), size)]
        if self.other is not None:
            robot.frame(self.other[0])
        what, far = (self.other or (None, 0.0)) if self.sphere is None else ("sphere", self.sphere[1])
        least = np.array([(self.radius + far) ** 2])

        def square(p: Point) -> list[Scalar]:
            centre = p.pose(self.frame).point(offset)
            if self.sphere is not None:
                d = centre - Vec3(*self.sphere[0].tolist())
            else:
                assert self.other is not None
                d = centre - p.pose(self.other[0]).p
            return [dot(d, d)]

        return [Rows("clearance", (f"{self.frame}.{what}",), square, least, np.array([np.inf]), least, power=2)]


def ball_clearance(
    frame: str,
    radius: float = 0.0,
    *,
    sphere: Any = None,
    half_space: Any = None,
    other: Any = None,
    offset: Any = (0.0, 0.0, 0.0),
) -> BallClearance:
    """A sphere on the robot, about a frame, that stays clear of one obstacle.

    Args:
        frame: a frame or link that carries the sphere.
        radius: of that sphere, m; 0 for a point.
        sphere: the obstacle: ((x, y, z), radius) in the world.
        half_space: or ((nx, ny, nz), level): the sphere stays where n . p >= level.
        other: or (frame, radius): another sphere on the robot.
        offset: of the sphere's centre in the frame's axes.
    """
    what = f"clearance {frame!r}"
    if sum(x is not None for x in (sphere, half_space, other)) != 1:
        raise InputError(f"{what}: expected one of sphere=, half_space=, other=.")
    r = 0.0 if radius == 0 else positive(radius, f"{what} radius")
    centre = vector(offset, f"{what} offset")
    try:
        first, second = next(x for x in (sphere, half_space, other) if x is not None)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: expected a pair, such as sphere=((x, y, z), radius).") from error
    if sphere is not None:
        ball = vector(first, f"{what} sphere"), positive(second, f"{what} sphere's radius")
        return BallClearance(frame, r, centre, ball, None, None)
    if half_space is not None:
        n = vector(first, f"{what} half_space")
        length = float(np.linalg.norm(n))
        if not length > 0.0:
            raise InputError(f"{what} half_space: expected a normal that is not zero, got {first!r}.")
        return BallClearance(frame, r, centre, None, (n / length, finite(second, f"{what} half_space's level")), None)
    far = 0.0 if second == 0 else positive(second, f"{what} other's radius")
    if r + far <= 0.0:
        raise InputError(f"{what}: expected two spheres, one with a radius above zero, got points.")
    return BallClearance(frame, r, centre, None, None, (first, far))
