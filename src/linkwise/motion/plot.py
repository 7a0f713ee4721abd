"""A picture of the torques along a motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwise.errors import InputError
from linkwise.figures import COLOURS, LIMIT, LINE, style
from linkwise.motion.columns import endings
from linkwise.robot.coordinates import drive_slots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from linkwise.motion.torques import Torques
    from linkwise.robot.joint import Joint

UNITS = {"prismatic": ("m", "m/s", "N", "N/s"), "floating": ("m", "m/s, rad/s", "N, N m", "N/s, N m/s")}
MAX_JOINTS = 60  # rows of a picture; more would not fit into an image file


def torque_figure(result: Torques) -> Figure:
    """Position, velocity, torque and perhaps its rate of each joint in a row of its own, with its limits."""
    from matplotlib.figure import Figure

    robot, motion = result.robot, result.every
    slots, drives = robot.opened().slots, drive_slots(robot)
    shown = [j for j in robot.joints if j.nv and (j.name in robot.slots or j.driven_coordinate in drives)]
    joints = shown[:MAX_JOINTS]
    if not joints:
        raise InputError(f"plot: expected a robot with joints that move, got {robot.name!r}, which has none.")
    titles = ["position", "velocity", "torque or force", *(["its rate"] if result.tau_dot is not None else [])]
    with style():
        figure = Figure(figsize=(3.7 * len(titles), 1.0 + 1.55 * len(joints)), layout="constrained")
        grid = figure.subplots(len(joints), len(titles), sharex=True, squeeze=False)
        for row, joint in zip(grid, joints, strict=True):
            slot, limits = slots[joint.name], joint.limits
            length, speed, force, force_rate = UNITS.get(joint.kind, ("rad", "rad/s", "N m", "N m/s"))
            at, to = slice(slot.q, slot.q + slot.nq), slice(slot.v, slot.v + slot.nv)
            panels = [
                ("q", length, motion.q[:, at], (limits.lower, limits.upper)),
                ("qd", speed, motion.qd[:, to], (-limits.velocity, limits.velocity)),
            ]
            drive = drives.get(joint.driven_coordinate)
            if drive is not None:
                by = slice(drive.v, drive.v + drive.nv)
                panels.append(("tau", force, result.tau[:, by], (-limits.effort, limits.effort)))
                if result.tau_dot is not None:
                    bounds = (-limits.effort_rate, limits.effort_rate)
                    panels.append(("tau_dot", force_rate, result.tau_dot[:, by], bounds))
            for axes in row[len(panels) :]:
                axes.set_visible(False)
            for axes, (quantity, unit, values, bounds) in zip(row, panels, strict=False):
                _panel(axes, motion.t, values, bounds, _components(joint, quantity))
                axes.set_ylabel(unit)
            row[0].set_ylabel(f"{joint.name}\n{length}")
        for axes, title in zip(grid[0], titles, strict=True):
            axes.set_title(title, fontweight="bold")
        for axes in grid[-1]:
            axes.set_xlabel("time, s" if motion.timed else "row")
        figure.align_ylabels(grid)
        _headline(figure, result, len(shown))
    return figure


def _headline(figure: Figure, result: Torques, joints: int) -> None:
    from matplotlib.lines import Line2D

    more = f" (the first {MAX_JOINTS} joints)" if joints > MAX_JOINTS else ""
    figure.suptitle(f"{result.robot.name}: torques along the motion{more}", x=0.01, ha="left", fontsize=12)
    handles = [Line2D([], [], color=LIMIT, lw=1.0, ls="--", label="limit")]
    if result.exceeded:
        handles.append(Line2D([], [], color=LIMIT, lw=2.6, label="limit exceeded"))
    figure.legend(handles=handles, loc="upper right", ncols=2)


def _panel(axes: Axes, t: Any, values: Any, bounds: tuple[float, float], labels: Sequence[str]) -> None:
    """Curves over time; a single one with its limits, and what lies beyond them in red."""
    import numpy as np

    marker = "." if len(t) < 2 else ""
    for k, label in enumerate(labels):
        colour = LINE if len(labels) == 1 else COLOURS[k % len(COLOURS)]
        axes.plot(t, values[:, k], color=colour, label=label, marker=marker)
    axes.margins(y=0.12)
    if len(labels) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.0)
        return
    known = values[np.isfinite(values)]
    if not len(known):
        return
    over = np.where((values > bounds[1]) | (values < bounds[0]), values, np.nan)
    if np.isfinite(over).any():
        axes.plot(t, over, color=LIMIT, lw=2.6, marker="." if np.isfinite(over).sum() < 2 else "")
    low, high = float(known.min()), float(known.max())
    if high - low < 1e-6 * max(abs(low), abs(high)):  # a constant: show no rounding
        axes.set_ylim(low - 0.1 * abs(low), high + 0.1 * abs(high))
    _draw_limits(axes, bounds, low, high)


def _draw_limits(axes: Axes, bounds: tuple[float, float], low: float, high: float) -> None:
    """Limits as lines where a curve between `low` and `high` comes near them, else in words above the picture."""
    finite = [x for x in bounds if math.isfinite(x)]
    reach = 1.5 * max(high - low, 1e-3 * max(abs(low), abs(high)))
    near = [x for x in finite if low - reach <= x <= high + reach]
    for x in near:
        axes.axhline(x, color=LIMIT, lw=1.0, ls="--")
    if finite and not near:
        symmetric = len(finite) == 2 and finite[0] == -finite[1]
        text = f"±{finite[1]:g}" if symmetric else " to ".join(f"{x:g}" for x in finite)
        place: Any = {"xy": (1.0, 1.0), "xytext": (0, 3), "textcoords": "offset points", "xycoords": "axes fraction"}
        axes.annotate(f"limit {text}", **place, ha="right", va="bottom", fontsize=7.5, color=LIMIT)


def _components(joint: Joint, quantity: str) -> Sequence[str]:
    return [end.removeprefix(".") for end in endings(joint.freedom, quantity)]
