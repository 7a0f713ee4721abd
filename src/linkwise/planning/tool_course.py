"""Where a tool is to go: straight lines and arcs, on which it is held or turns about one axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.spatial import Pose

Array = NDArray[np.float64]
SAME = 1e-9  # m or rad: lengths and angles below this are none
STRAIGHT = 1e-6  # sine of the angle between the parts of an arc below which it is none
DIRECTIONS = 9  # in which the acceleration of a tool on an arc is bounded


@dataclass(frozen=True, eq=False)
class ToolCourse:
    """Poses over s from 0 to 1, at a constant rate of the way and of the turn.

    Args:
        start: T_world_frame at s = 0 (4, 4).
        way: from there to the end of a straight line, in the world (3), m; of an arc its centre less the start.
        swept: angle of an arc, rad; 0 for a line.
        normal: axis of the arc in the world.
        turn: axis times angle by which the tool turns, in the axes of the frame at the start, rad.
    """

    start: Array
    way: Array
    swept: float
    normal: Array
    turn: Array

    @property
    def length(self) -> float:
        """Of the way, m."""
        size = float(np.linalg.norm(self.way))
        return size * self.swept if self.swept else size

    @property
    def angle(self) -> float:
        """By which the tool turns, rad."""
        return float(np.linalg.norm(self.turn))

    @property
    def radius(self) -> float:
        """Of the arc, m; infinite for a line."""
        return float(np.linalg.norm(self.way)) if self.swept else np.inf

    def poses(self, s: Any) -> Array:
        """T_world_frame (..., 4, 4) at s (...,)."""
        from scipy.spatial.transform import Rotation

        at = np.asarray(s, dtype=float)
        found = np.zeros((*at.shape, 4, 4))
        found[..., 3, 3] = 1.0
        flat = at.reshape(-1, 1)
        turned = Rotation.from_rotvec(flat * self.turn).as_matrix()
        found[..., :3, :3] = (self.start[:3, :3] @ turned).reshape(*at.shape, 3, 3)
        if self.swept:
            spoke = Rotation.from_rotvec(flat * self.swept * self.normal).apply(-self.way)
            p = self.start[:3, 3] + self.way + spoke
        else:
            p = self.start[:3, 3] + flat * self.way
        found[..., :3, 3] = p.reshape(*at.shape, 3)
        return found

    def slopes(self) -> dict[str, tuple[float, float]]:
        """First and second derivatives by s of what limits of the tool bound, by name."""
        found = {"tool": (self.length, 0.0), "tool turn": (self.angle, 0.0)}
        if self.swept:  # the acceleration in directions between along the arc and towards its centre
            for k, phi in enumerate(np.linspace(-0.5 * np.pi, 0.5 * np.pi, DIRECTIONS)[1:]):
                found[f"tool direction {k + 1}"] = (
                    float(np.cos(phi) * self.length),
                    float(np.sin(phi) * self.length**2 / self.radius),
                )
        return found


def tool_course(start: Array, to: Any, by: Any, through: Any, axes: str, follow: bool) -> ToolCourse:
    """The course from a pose (4, 4), as `move` describes it."""
    if (to is None) == (by is None):
        raise InputError("move: expected either to=... or by=..., got " + ("neither." if to is None else "both."))
    if axes not in ("world", "tool"):
        raise InputError(f"move axes: expected 'world' or 'tool', got {axes!r}.")
    R, p = start[:3, :3], start[:3, 3]
    given = _pose_or_point(to if by is None else by, "move to" if by is None else "move by")
    end = np.eye(4)
    end[:3, :3] = R
    if by is not None:
        shift, turn = (given[:3, 3], given[:3, :3]) if given.shape == (4, 4) else (given, np.eye(3))
        end[:3, 3] = p + (R @ shift if axes == "tool" else shift)
        end[:3, :3] = R @ turn if axes == "tool" else turn @ R
    elif given.shape == (4, 4):
        end = given
    else:
        end[:3, 3] = given
    arc = None if through is None else _arc(p, _point(through, "move through"), end[:3, 3])
    if follow:
        if arc is None:
            raise InputError("move follow: expected an arc, to which the tool keeps its angle, got a line.")
        turn_vector = R.T @ (arc[2] * arc[1])
    else:
        turn_vector = _turn(R.T @ end[:3, :3])
    course = ToolCourse(start, *(arc or (end[:3, 3] - p, 0.0, np.zeros(3))), turn_vector)
    if course.length < SAME and course.angle < SAME:
        raise InputError("move: expected a goal away from the start, got the pose in which the tool is.")
    return course


def _turn(R: Array) -> Array:
    """Axis times angle of a rotation."""
    from scipy.spatial.transform import Rotation

    found = np.asarray(Rotation.from_matrix(R).as_rotvec(), dtype=float)
    return found if np.linalg.norm(found) > SAME else np.zeros(3)


def _arc(p: Array, through: Array, end: Array) -> tuple[Array, float, Array]:
    """Centre less the start, angle and axis of the arc from p through a point to an end."""
    a, b = through - p, end - p
    normal = np.cross(a, b)
    if float(np.linalg.norm(normal)) < STRAIGHT * max(float(np.linalg.norm(a)) * float(np.linalg.norm(b)), SAME):
        raise InputError(
            f"move through: expected a point beside the line from the start to the goal, got {through.tolist()} on it."
            " Leave it out for a straight line."
        )
    square = float(normal @ normal)
    centre = np.cross(normal, a) * (b @ b) / (2.0 * square) + np.cross(b, normal) * (a @ a) / (2.0 * square)
    axis = normal / np.sqrt(square)

    def angle(x: Array) -> float:
        spoke, other = -centre, x - centre
        return float(np.arctan2(axis @ np.cross(spoke, other), spoke @ other) % (2.0 * np.pi))

    swept = angle(b)
    if angle(a) > swept:  # the other way round
        axis, swept = -axis, 2.0 * np.pi - swept
    return centre, swept, axis


def _pose_or_point(given: Any, what: str) -> Array:
    """A pose (4, 4), or a position (3)."""
    if isinstance(given, Pose):
        given = given.matrix()
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    turns = found.shape == (4, 4) and np.allclose(found[:3, :3] @ found[:3, :3].T, np.eye(3), atol=1e-6)
    if not np.isfinite(found).all() or (found.shape != (3,) and not (turns and np.linalg.det(found[:3, :3]) > 0.0)):
        raise InputError(f"{what}: expected a Pose, a 4 by 4 matrix or a position x, y, z, got {given!r}.")
    return found


def _point(given: Any, what: str) -> Array:
    found = _pose_or_point(given, what)
    return found[:3, 3] if found.shape == (4, 4) else found
