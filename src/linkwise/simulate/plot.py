"""A simulation at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise.figures import COLOURS, LINE, style
from linkwise.simulate.motions import Array
from linkwise.simulate.result import Simulation
from linkwise.trajectory.columns import column_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEGEND = 14  # curves that a legend can name
WORKS = {
    "control": "work of control", "drives": "work of drives", "environment": "work of environment",
    "friction": "lost to friction",
}  # fmt: skip


def figure_of(result: Simulation) -> Figure:
    """Positions, speeds, torques and energy over time."""
    from matplotlib.figure import Figure

    robot = result.robot
    kinds = {j.kind for j in robot.joints if j.nv}
    turning, sliding = kinds & {"revolute", "continuous", "floating"}, kinds & {"prismatic", "floating"}

    def unit(angle: str, length: str) -> str:
        return ", ".join(u for u, there in ((angle, turning), (length, sliding)) if there)

    with style():
        figure = Figure(figsize=(10.0, 6.2), layout="constrained")
        (top, speeds), (torques, energy) = figure.subplots(2, 2, sharex=True)
        panels = (
            (top, "q", "position", unit("rad", "m")),
            (speeds, "qd", "speed", unit("rad/s", "m/s")),
            (torques, "tau", "torque or force", unit("N m", "N")),
        )
        known: list[str] = []  # names that a legend has told
        for axes, quantity, title, label in panels:
            names = [n.removeprefix(f"{quantity}.") for n in column_names(robot, quantity)]
            _curves(axes, result.t, getattr(result, quantity), names)
            if len(names) <= LEGEND and names != known:
                known = names
                axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.4)
            axes.set_title(title, fontweight="bold")
            axes.set_ylabel(label)
        _energy(energy, result)
        for axes in (torques, energy):
            axes.set_xlabel("time, s")
        figure.suptitle(f"{robot.name}: simulation, {result.status}", x=0.01, ha="left", fontsize=12)
    return figure


def _curves(axes: Axes, t: Array, values: Array, names: list[str]) -> None:
    for k, name in enumerate(names):
        colour = LINE if len(names) == 1 else COLOURS[k % len(COLOURS)]
        dashes = ("-", "--", ":", "-.")[k // len(COLOURS) % 4]
        axes.plot(t, values[:, k], color=colour, ls=dashes, label=name)
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9 * max(abs(low), abs(high)):  # a constant: show no rounding
        axes.set_ylim(low - 0.1 * abs(low), high + 0.1 * abs(high))


def _energy(axes: Axes, result: Simulation) -> None:
    e = result.energy
    curves = {
        "kinetic": e.kinetic, "potential, from the start": e.potential - e.potential[0],
        "sum": e.total - e.potential[0],
    }  # fmt: skip
    curves |= {words: getattr(e, name) for name, words in WORKS.items() if np.any(getattr(e, name))}
    for k, (name, values) in enumerate(curves.items()):
        axes.plot(result.t, values, color=COLOURS[k], label=name)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.4)
    axes.set_title(f"energy (balance to {e.drift:.0e})", fontweight="bold")
    axes.set_ylabel("J")
