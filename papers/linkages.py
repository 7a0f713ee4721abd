"""Drawings of planar linkages, and motions from one rest to another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from linkwise.algorithms.kinematics import poses
from linkwise.figures import COLOURS
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLANE = [0, 2]  # x and z


def tidy(t: Array, start: Array, end: Array) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations of a move from rest to rest, a polynomial of fifth degree."""
    T = t[-1]
    s = (t / T)[:, None]
    way = end - start
    return (
        start + way * s**3 * (10.0 - 15.0 * s + 6.0 * s * s),
        way * 30.0 * s * s * (1.0 - s) ** 2 / T,
        way * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / T**2,
    )


def outline(robot: Robot, q: Array) -> dict[str, Array]:
    """For each link the points (rows, points, 3) that it joins: its joint, those it carries, and those of cuts.

    `q` has positions of all joints. The first of them is held at zero if it turns about the vertical, so that all lies
    in the plane of x and z.
    """
    q = _in_plane(robot, q)
    X = dict(zip(robot.moving_links, np.moveaxis(compile(robot.opened(), poses)(q), -3, 0), strict=True))
    still = np.broadcast_to(np.eye(4), (len(q), 4, 4))
    at: dict[str, list[Array]] = {link.name: [] for link in robot.links}
    for j in robot.joints:
        place = X[j.child][:, :3, 3]
        at[j.child].append(place)
        at[j.parent].append(place)
    for loop in robot.loops:
        for link, origin in ((loop.a, loop.origin_a), (loop.b, loop.origin_b)):
            T = X.get(link, still)
            at[link].append(T[:, :3, 3] + T[:, :3, :3] @ np.array(origin.p))
    return {name: np.stack(points, axis=1) for name, points in at.items() if points}


def draw(axes: Axes, robot: Robot, q: Array, rows: Iterable[int]) -> None:
    """A linkage in some rows of a motion, pale to dark, with the path of its frame "tool"."""
    shown = list(rows)
    links = outline(robot, q[shown])
    tool = compile(robot.opened()).pose(_in_plane(robot, q), "tool")[:, PLANE, 3]
    axes.plot(*tool.T, color="#8a8f98", lw=1.0)
    for k in range(len(shown)):
        strength = 0.15 + 0.85 * (k + 1) / len(shown)
        for n, (name, points) in enumerate(links.items()):
            x = points[k][:, PLANE]
            if name == robot.root.name:
                axes.plot(*x.T, ls="", marker="^", ms=7, color="#8a8f98")
                continue
            closed = np.vstack([x, x[:1]]) if len(x) > 2 else x
            axes.plot(*closed.T, color=COLOURS[n % len(COLOURS)], alpha=strength, lw=1.8, marker="o", ms=2.5)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("x, m")
    axes.set_ylabel("z, m")


def _in_plane(robot: Robot, q: Array) -> Array:
    q = q.copy()
    if abs(robot.joints[0].axis.z) > 0.5:
        q[:, 0] = 0.0
    return q
