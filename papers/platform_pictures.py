"""Drawings of platforms on legs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.algorithms.kinematics import poses as link_poses
from linkwise.figures import COLOURS, INK, style
from linkwise.kernel.compile import compile
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def skeleton(robot: Robot, q: Array) -> tuple[Array, list[Array]]:
    """The points of the platform (legs, 3), and for each leg the points it runs through, from foot to tip."""
    T = dict(zip(robot.moving_links, compile(robot, link_poses)(q), strict=True))
    above = {j.child: j for j in robot.joints}
    tips, lines = [], []
    for loop in robot.loops:
        tip = (T[loop.a] @ np.array(loop.origin_a.matrix()))[:3, 3]
        points, link = [tip], loop.b
        while link in above:
            points.append(T[link][:3, 3] if link in T else np.array(above[link].origin.p))
            link = above[link].parent
        tips.append(tip)
        lines.append(_distinct(points[::-1]))
    return np.array(tips), lines


def _distinct(points: list[Array]) -> Array:
    """The points without repetitions that stand next to each other."""
    kept = [points[0]]
    for p in points[1:]:
        if np.linalg.norm(p - kept[-1]) > 1e-9:
            kept.append(p)
    return np.array(kept)


def machine_picture(robot: Robot, poses: Array, path: Array) -> Figure:
    """A machine in some poses side by side, with the path of its platform's origin."""
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    drawn = [skeleton(robot, pose) for pose in poses]
    everything = np.concatenate([*(line for _, lines in drawn for line in lines), path[:, :3]])
    low, high = everything.min(axis=0), everything.max(axis=0)
    with style():
        figure = Figure(figsize=(9.6, 3.6), layout="constrained")
        for k, (tips, lines) in enumerate(drawn):
            axes: Any = figure.add_subplot(1, len(drawn), k + 1, projection="3d")
            feet = np.array([line[0] for line in lines])
            axes.add_collection3d(Poly3DCollection([feet], facecolor="#8a8f98", alpha=0.15, edgecolor="#8a8f98"))
            axes.add_collection3d(Poly3DCollection([tips], facecolor=COLOURS[1], alpha=0.45, edgecolor=COLOURS[1]))
            axes.plot(*path[:, :3].T, color=COLOURS[3], lw=1.0)
            for line in lines:
                if len(line) == 2:  # a cylinder and its rod
                    axes.plot(*line.T, color=COLOURS[0], lw=1.4)
                    axes.plot(*np.array([line[0], 0.5 * (line[0] + line[1])]).T, color=INK, lw=3.2, alpha=0.8)
                else:
                    axes.plot(*line[:2].T, color=INK, lw=3.2, alpha=0.8)
                    axes.plot(*line[1:].T, color=COLOURS[0], lw=1.6)
                axes.plot(*line[[0, -1]].T, color=INK, ls="", marker="o", ms=2.5)
            axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
            axes.set_box_aspect(high - low, zoom=1.08)
            axes.view_init(elev=22.0, azim=-48.0)
            axes.set_axis_off()
    return figure


def curves(t: Array, torques: Array, empty: Array, place: Array) -> Figure:
    """Torques over time above the course of the platform."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(9.6, 4.4), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2.0, 1.0))
        for k in range(torques.shape[1]):
            top.plot(t, torques[:, k], color=COLOURS[k], label=f"motor {k + 1}")
            top.plot(t, empty[:, k], color=COLOURS[k], ls=":", lw=1.0)
        top.set(ylabel="torque, N m")
        top.legend(ncols=3, loc="upper right")
        top.margins(y=0.18)
        bottom.plot(t, place[:, 0], color=INK)
        bottom.set(ylabel="across, mm", xlabel="time, s")
        other: Any = bottom.twinx()
        other.plot(t, place[:, 1], color=COLOURS[3])
        other.set_ylabel("height, mm", color=COLOURS[3])
        other.grid(False)
        other.spines["right"].set_visible(True)
    return figure
