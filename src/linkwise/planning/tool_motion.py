"""Motions of a tool along lines and arcs."""

from __future__ import annotations

from dataclasses import replace
from math import inf, radians
from typing import Any

import numpy as np

from linkwise.check import positive
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.planning.bounds import a_robot
from linkwise.planning.chart import chart_of
from linkwise.planning.drives import check_held, drives_of
from linkwise.planning.following import SINGULAR, Follower, place
from linkwise.planning.path import Path, PathExtras
from linkwise.planning.positions import given
from linkwise.planning.retimed import Retimed
from linkwise.planning.timing import retime
from linkwise.planning.tool_course import DIRECTIONS, ToolCourse, tool_course
from linkwise.robot.robot import Robot

FULL = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def move(
    robot: Robot,
    start: Any,
    to: Any = None,
    *,
    by: Any = None,
    through: Any = None,
    frame: str | None = None,
    axes: str = "world",
    follow: bool = False,
    speed: float | None = None,
    turn_speed: float | None = None,
    tool_acceleration: float | None = None,
    turn_acceleration: float | None = None,
    mask: Any = FULL,
    prefer: Any = "middle",
    position_tolerance: float = 1e-5,
    rotation_tolerance: float = radians(0.005),
    **limits: Any,
) -> Retimed:
    """The fastest motion that takes a tool along a straight line or an arc, from rest to rest.

    The tool keeps its rotation, or turns about one axis at a constant rate of the way. Joint positions are found along
    the course by inverse kinematics, each from the last, so that no joint leaps to another solution; where directions
    are free, as with seven joints, they are used along the whole course for little motion of the joints and for what
    `prefer` asks; where least motion leads into a limit or a singular posture, all that is free is searched for a way
    on from the start. Between samples the tool is compared with the course on a grid eight times finer, and samples are
    added until it keeps to the tolerances. Then `retime` finds the timing, under the robot's limits and those of the
    tool.

    Args:
        robot: all of whose motion drives determine, with a base that stands.
        start: joint positions, as a vector or by name.
        to: where the tool ends: a `Pose` or 4 by 4 matrix in the world, or a position, at which it keeps its rotation.
        by: instead, how far it moves: (dx, dy, dz) in m, or a `Pose` whose rotation it turns by.
        through: a point in the world through which an arc passes, from the start to the goal.
        frame: the tool: a frame or link; without it the robot's only frame, or "tool".
        axes: of `by`: "world", or "tool" for those of the tool at the start.
        follow: on an arc, turn the tool with it, so that it keeps its angle to the arc.
        speed: largest speed of the tool's origin, m/s. It is kept wherever other limits let it, but for the ends.
        turn_speed: largest angular speed of the tool, rad/s.
        tool_acceleration: largest acceleration of the tool's origin, m/s^2, on an arc also towards its centre.
        turn_acceleration: largest angular acceleration along its turn, rad/s^2.
        mask: weights of directions of the tool's axes, as in `inverse_kinematics`: 0 leaves a direction free.
        prefer: what free directions are used for, as in `inverse_kinematics`.
        position_tolerance: by which the tool may leave its course, m.
        rotation_tolerance: by which its rotation may, rad.
        limits: further arguments of `retime`: velocity, acceleration, jerk, effort, effort_rate, external, dt, ...

    Returns:
        A `Retimed` path, whose s is the fraction of the way. Its `facts` have the largest deviations.
    """
    a_robot(robot, "move")
    check_held(robot, "move", "Hold it with robot.lock.")
    if chart_of(robot).turns:
        raise InputError(
            f"move: expected joints without quaternions, got {robot.name!r}. Use lw.plan with lw.limit.via."
        )
    links, tool = robot.rigid(), _frame(robot, frame)
    q0 = given(robot, start, "move start").q
    dyn = compile(links)
    course = tool_course(np.asarray(dyn.pose(q0, tool), dtype=float), to, by, through, axes, follow)
    degree = 5 + 2 * drives_of(robot).levels
    follower = Follower(links, tool, mask, prefer, degree)
    _check_start(follower, q0)
    allowed = (
        positive(position_tolerance, "move position_tolerance"),
        positive(rotation_tolerance, "move rotation_tolerance"),
    )
    followed = follower.follow(course, q0, *allowed)
    bounds = {"tool": (speed, tool_acceleration), "tool turn": (turn_speed, turn_acceleration)}
    path = replace(Path.spline(followed.curve), extras=_extras(course, bounds))
    result = retime(robot, path, **limits)
    facts = {
        "frame": tool,
        "length": course.length,
        "angle": course.angle,
        "position_deviation": followed.position,
        "rotation_deviation": followed.rotation,
        "samples": len(followed.curve.t) - degree - 1,
    }
    return replace(result, facts={**result.facts, **facts}, notes=(*result.notes, *_notes(course, followed.stretch)))


def _frame(robot: Robot, frame: str | None) -> str:
    """The name of the tool."""
    names = [f.name for f in robot.frames]
    if frame is None:
        frame = names[0] if len(names) == 1 else "tool"
        if frame not in names and frame not in {link.name for link in robot.links}:
            last = {link.name for link in robot.links} - {joint.parent for joint in robot.joints}
            raise InputError(f"move frame: expected the name of a frame or link, got none. Give frame=..., such as"
                             f" {' or '.join([*names, *sorted(last - set(names))])}.")  # fmt: skip
    robot.frame(frame)
    return frame


def _check_start(follower: Follower, q0: Any) -> None:
    """Refuse a start that is out of limits."""
    if outside := follower.within(q0):
        raise InputError(f"move start: expected positions within limits, got {outside}.")


def _extras(course: ToolCourse, given: dict[str, tuple[Any, Any]]) -> PathExtras | None:
    """What limits of the tool bound, by name; None where there is no limit."""
    bounds: dict[str, tuple[float, float]] = {}
    for name, pair in given.items():
        words = ("speed", "acceleration")
        limits = [inf if x is None else positive(x, f"move {name} {w}") for x, w in zip(pair, words, strict=True)]
        bounds[name] = limits[0], limits[1]
    slopes = {name: pair for name, pair in course.slopes().items() if any(pair)}
    inner = np.cos(0.5 * np.pi / (DIRECTIONS - 1))  # of a polygon in a circle
    found = {name: bounds.get(name, (inf, bounds["tool"][1] * inner)) for name in slopes}
    each = {n: (*slopes[n], *found[n]) for n in slopes if np.isfinite(found[n]).any()}
    return PathExtras(each) if each else None


def _notes(course: ToolCourse, stretch: tuple[float, float]) -> list[str]:
    share, s = stretch
    if share >= SINGULAR:
        return []
    return [f"the robot is nearly singular {place(course, s)}: joints move fast there"]
