"""A timing at a glance: how much of its limits each joint uses over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise.figures import COLOURS, INK, LIMIT, LINE, style
from linkwise.planning.retimed import Retimed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUANTITIES = {
    "velocity": ("qd", "speed"), "acceleration": ("qdd", "acceleration"), "jerk": ("qddd", "jerk"),
    "effort": ("tau", "torque or force"), "effort_rate": ("tau_dot", "rate of torque or force"),
}  # fmt: skip


def figure_of(result: Retimed) -> Figure:
    """The speed along the path, and all limited quantities as shares of their limits."""
    from matplotlib.figure import Figure

    shown = [name for name in QUANTITIES if name in result.uses]
    with style():
        figure = Figure(figsize=(9.0, 1.4 + 1.7 * (1 + len(shown))), layout="constrained")
        top, *panels = np.atleast_1d(figure.subplots(1 + len(shown), 1, sharex=True))
        top.plot(result.t, result.s_dot, color=LINE)
        top.set_title("speed along the path", fontweight="bold")
        top.set_ylabel("1/s")
        for axes, name in zip(panels, shown, strict=True):
            quantity, title = QUANTITIES[name]
            share = getattr(result, quantity) / getattr(result.limits, name)
            for k, joint in enumerate(result.robot.names):
                dashes = ("-", "--", ":", "-.")[k // len(COLOURS) % 4]
                axes.plot(result.t, share[:, k], color=COLOURS[k % len(COLOURS)], ls=dashes, lw=1.2, label=joint)
            for level in (-1.0, 1.0):
                axes.axhline(level, color=LIMIT, lw=0.9, ls="--")
            axes.set_ylim(-1.15, 1.15)
            axes.set_title(title, fontweight="bold")
            axes.set_ylabel("share of limit")
        if panels:
            panels[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.4)
        (panels or [top])[-1].set_xlabel("time, s")
        figure.suptitle(f"{result.robot.name}: {result.duration:.3f} s", x=0.01, ha="left", fontsize=12, color=INK)
    return figure
