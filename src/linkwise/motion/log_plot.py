"""A picture of a log: what was measured, what remains of it, and where its noise begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.figures import COLOURS, LIMIT, LINE, style
from linkwise.motion.log_names import channel_names
from linkwise.motion.plot import MAX_JOINTS
from linkwise.motion.smoothing import smooth
from linkwise.motion.spectrum import noise_of, spectrum
from linkwise.motion.spline import unbroken

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from linkwise.motion.log import Log

MEASURED = "#8a8f98"
POINTS = 4000  # of a curve


def log_figure(log: Log, cutoff: Any = None) -> Figure:
    """Each coordinate in a row: position, velocity and acceleration, smooth over measured; torque; spectrum."""
    from matplotlib.figure import Figure

    robot, smoothed = log.robot, smooth(log, cutoff)
    names = [name.removeprefix("qd.") for name in channel_names(robot, "qd")]
    places = [
        (slot.q + min(k, slot.nq - 1), slot.v + k)
        for slot in robot.slots.values()
        for k in range(slot.nv)
    ][:MAX_JOINTS]  # fmt: skip
    effort = "tau" if log.tau is not None else "current" if log.current is not None else ""
    drives = [name.split(".", 1)[1] for name in channel_names(robot, "tau")]
    titles = [
        "position",
        "velocity",
        "acceleration",
        *(["torque or force" if effort == "tau" else "current"] * bool(effort)),
    ]
    titles.append("spectrum of the position")
    found = spectrum(unbroken(robot, log.q), log.rate, log.runs)
    noise = noise_of(found) if found else None
    every, kept = (slice(None, None, max(len(x) // POINTS, 1)) for x in (log, smoothed.log))
    with style():
        figure = Figure(figsize=(3.1 * len(titles), 1.0 + 1.5 * len(places)), layout="constrained")
        grid = figure.subplots(len(places), len(titles), squeeze=False)
        for row, (at, to) in zip(grid, places, strict=True):
            row[0].set_ylabel(names[to])
            row[0].plot(log.t[every], log.q[every, at], color=MEASURED, lw=1.0)
            if log.qd is not None:
                row[1].plot(log.t[every], log.qd[every, to], color=MEASURED, lw=0.8)
            for axes, values in zip(row, (smoothed.q[:, at], smoothed.qd[:, to], smoothed.qdd[:, to]), strict=False):
                axes.plot(smoothed.log.t[kept], values[kept], color=LINE, lw=1.1)
            if effort and names[to] in drives:
                row[3].plot(
                    log.t[every], getattr(log, effort)[every, drives.index(names[to])], color=COLOURS[1], lw=0.8
                )
            if noise is not None:
                _draw_spectrum(row[-1], noise, at, float(smoothed.cutoff[to]))
        for axes, title in zip(grid[0], titles, strict=True):
            axes.set_title(title, fontweight="bold")
        for axes in grid[-1][:-1]:
            axes.set_xlabel("time, s")
        grid[-1][-1].set_xlabel("frequency, Hz")
        figure.suptitle(f"{log!r}"[1:-1], x=0.01, ha="left", fontsize=12)
        handles = [_line(MEASURED, "measured"), _line(LINE, "smooth"), _line(LIMIT, "noise, cutoff")]
        figure.legend(handles=handles, loc="upper right", ncols=3)
    return figure


def _line(colour: str, label: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, lw=1.4, label=label)


def _draw_spectrum(axes: Axes, noise: Any, k: int, cutoff: float) -> None:
    s = noise.spectrum
    axes.loglog(s.f, np.maximum(s.mean[:, k], 1e-300), color=LINE, lw=1.1)
    axes.loglog(s.f, np.maximum(noise.density[:, k], 1e-300), color=LIMIT, lw=1.0)
    axes.axvline(cutoff, color=LIMIT, lw=1.0, ls="--")
    low = float(np.maximum(s.mean[:, k], 1e-300).min())
    axes.set_ylim(bottom=low / 3.0)
