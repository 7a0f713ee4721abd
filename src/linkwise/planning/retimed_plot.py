"""A timing at a glance: how much of its limits each joint uses over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise.figures import INK, LIMIT, LINE, curve_look, style
from linkwise.planning.retimed import Retimed, used_shares

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUANTITIES = {
    "velocity": "speed", "acceleration": "acceleration", "jerk": "jerk", "effort": "torque or force",
    "effort_rate": "rate of torque or force",
}  # fmt: skip


def figure_of(result: Retimed) -> Figure:
    """The speed along the path, and all limited quantities as shares of their limits."""
    from matplotlib.figure import Figure

    x, z = result.law(result.t)
    motion = result.model.motion(result.path, x, z, result.t)
    used = used_shares(result.model, motion)
    shown = [name for name in QUANTITIES if name in used]
    with style():
        figure = Figure(figsize=(9.0, 1.4 + 1.7 * (1 + len(shown))), layout="constrained")
        top, *panels = np.atleast_1d(figure.subplots(1 + len(shown), 1, sharex=True))
        top.plot(result.t, result.s_dot, color=LINE)
        top.set_title("speed along the path", fontweight="bold")
        top.set_ylabel("1/s")
        for axes, name in zip(panels, shown, strict=True):
            axes.set_title(QUANTITIES[name], fontweight="bold")
            limited = np.flatnonzero(np.isfinite(getattr(result.limits, name)))
            for k in limited:
                joint = result.model.names[name][k]
                axes.plot(result.t, used[name][:, k], **curve_look(int(k)), lw=1.2, label=joint)
            for level in (-1.0, 1.0):
                axes.axhline(level, color=LIMIT, lw=0.9, ls="--")
            axes.set_ylim(-1.15, 1.15)
            axes.set_ylabel("share of limit")
        named = {line.get_label(): line for axes in panels for line in axes.get_lines() if line.get_label()[0] != "_"}
        if named:
            panels[0].legend(
                named.values(), named.keys(), loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.4
            )
        (panels or [top])[-1].set_xlabel("time, s")
        figure.suptitle(f"{result.robot.name}: {result.duration:.3f} s", x=0.01, ha="left", fontsize=12, color=INK)
    return figure
