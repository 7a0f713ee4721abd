"""A planned motion at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwise.figures import LIMIT, curve_look, style
from linkwise.planning.curve import Array
from linkwise.planning.drives import drives_of
from linkwise.planning.result import Plan
from linkwise.robot.joint import Joint

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGEND = 14  # curves that a legend can name


def figure_of(plan: Plan) -> Figure:
    """Positions, speeds, torques and torque rates over time, with limits that all joints share."""
    from matplotlib.figure import Figure

    robot, t = plan.robot, plan.times()
    joints, drives = ([robot.joint(n) for n in names] for names in (robot.names, drives_of(robot).joints))

    def unit(of: list[Joint], angle: str, length: str) -> str:
        sliding = {slides for j in of for slides in j.freedom.lengths}
        return ", ".join(u for u, there in ((angle, False in sliding), (length, True in sliding)) if there)

    panels = (
        ("position", "q", joints, unit(joints, "rad", "m"), None),
        ("speed", "qd", joints, unit(joints, "rad/s", "m/s"), "velocity"),
        ("torque or force", "tau", drives, unit(drives, "N m", "N"), "effort"),
        ("its rate", "tau_dot", drives, unit(drives, "N m/s", "N/s"), "effort_rate"),
    )
    with style():
        figure = Figure(figsize=(10.0, 6.2), layout="constrained")
        grid = figure.subplots(2, 2, sharex=True)
        for axes, (title, quantity, of, label, limit) in zip(grid.flat, panels, strict=True):
            bounds = {getattr(j.limits, limit) for j in of} if limit else set()
            names = [name.removeprefix(f"{quantity}.") for name in plan.names(quantity)]
            _panel(axes, t, getattr(plan, quantity)(t), names, bounds)
            axes.set_title(title, fontweight="bold")
            axes.set_ylabel(label)
        for axes in (grid[0, 1], grid[1, 1])[: 1 if joints == drives else 2]:
            if len(axes.lines) <= LEGEND:
                axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.4)
        for axes in grid[1]:
            axes.set_xlabel("time, s")
        figure.suptitle(f"{robot.name}: {plan.summary}", x=0.01, ha="left", fontsize=11)
    return figure


def _panel(axes: Axes, t: Array, values: Array, names: Sequence[str], bounds: set[float]) -> None:
    for k, name in enumerate(names):
        axes.plot(t, values[:, k], **curve_look(k), label=name)
    if len(bounds) == 1 and np.isfinite(limit := next(iter(bounds))) and np.abs(values).max() > 0.6 * limit:
        for x in (-limit, limit):
            axes.axhline(x, color=LIMIT, lw=1.0, ls="--")
