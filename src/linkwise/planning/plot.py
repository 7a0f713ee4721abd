"""A planned motion at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise.figures import COLOURS, LIMIT, LINE, style
from linkwise.planning.curve import Array
from linkwise.planning.result import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGEND = 14  # curves that a legend can name


def figure_of(plan: Plan) -> Figure:
    """Positions, speeds, torques and torque rates (else jerks) over time, with limits that all joints share."""
    from matplotlib.figure import Figure

    robot, t = plan.robot, plan.times()
    joints = [robot.joint(n) for n in robot.names]
    sliding = {j.freedom.slides for j in joints}

    def unit(angle: str, length: str) -> str:
        return ", ".join(u for u, there in ((angle, False in sliding), (length, True in sliding)) if there)

    panels = (
        ("position", plan.q(t), unit("rad", "m"), None),
        ("speed", plan.qd(t), unit("rad/s", "m/s"), "velocity"),
        ("torque or force", plan.tau(t), unit("N m", "N"), "effort"),
        ("its rate", plan.tau_dot(t), unit("N m/s", "N/s"), "effort_rate")
        if plan.has_rates
        else ("jerk", plan.qddd(t), unit("rad/s^3", "m/s^3"), "jerk"),
    )
    with style():
        figure = Figure(figsize=(10.0, 6.2), layout="constrained")
        grid = figure.subplots(2, 2, sharex=True)
        for axes, (title, values, label, limit) in zip(grid.flat, panels, strict=True):
            bounds = {getattr(j.limits, limit) for j in joints} if limit else set()
            _panel(axes, t, values, robot.names, bounds)
            axes.set_title(title, fontweight="bold")
            axes.set_ylabel(label)
        if len(robot.names) <= LEGEND:
            grid[0, 1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.4)
        for axes in grid[1]:
            axes.set_xlabel("time, s")
        figure.suptitle(f"{robot.name}: {plan.words}", x=0.01, ha="left", fontsize=11)
    return figure


def _panel(axes: Axes, t: Array, values: Array, names: tuple[str, ...], bounds: set[float]) -> None:
    for k, name in enumerate(names):
        colour = LINE if len(names) == 1 else COLOURS[k % len(COLOURS)]
        dashes = ("-", "--", ":", "-.")[k // len(COLOURS) % 4]
        axes.plot(t, values[:, k], color=colour, ls=dashes, label=name)
    if len(bounds) == 1 and np.isfinite(limit := next(iter(bounds))) and np.abs(values).max() > 0.6 * limit:
        for x in (-limit, limit):
            axes.axhline(x, color=LIMIT, lw=1.0, ls="--")
