"""A simulation at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwise.figures import COLOURS, curve_look, style
from linkwise.motion.columns import column_names
from linkwise.robot.joint import KINDS
from linkwise.simulation.motions import Array
from linkwise.simulation.result import Simulation

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
    robot = result.robot
    kinds = {j.kind for j in robot.joints if j.nv}

    def panel(title: str, quantity: str, angle: str, length: str) -> Panel:
        names = [n.removeprefix(f"{quantity}.") for n in column_names(robot, quantity)]
        return Panel(title, _unit(kinds, angle, length), getattr(result, quantity), names)

    panels = (
        panel("position", "q", "rad", "m"),
        panel("speed", "qd", "rad/s", "m/s"),
        panel("torque or force", "tau", "N m", "N"),
    )
    return _figure(result, panels)


def _unit(kinds: set[str], angle: str, length: str) -> str:
    """The units of joints of these kinds."""
    lengths = {x for kind in kinds for x in KINDS[kind].lengths}
    return ", ".join(unit for unit, is_length in ((angle, False), (length, True)) if is_length in lengths)


class Panel(NamedTuple):
    """Curves of one picture: their values (rows, curves) and names."""

    title: str
    unit: str
    values: Array
    names: list[str]


def _figure(result: Simulation, panels: Sequence[Panel]) -> Figure:
    """Three panels, and one of the energy."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10.0, 6.2), layout="constrained")
        (top, speeds), (torques, energy) = figure.subplots(2, 2, sharex=True)
        known: list[str] = []  # names that a legend has told
        for axes, panel in zip((top, speeds, torques), panels, strict=True):
            _curves(axes, result.t, panel.values, panel.names)
            if len(panel.names) <= LEGEND and panel.names != known:
                known = panel.names
                axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.4)
            axes.set_title(panel.title, fontweight="bold")
            axes.set_ylabel(panel.unit)
        _energy(energy, result)
        for axes in (torques, energy):
            axes.set_xlabel("time, s")
        figure.suptitle(f"{result.robot.name}: simulation, {result.status}", x=0.01, ha="left", fontsize=12)
    return figure


def _curves(axes: Axes, t: Array, values: Array, names: list[str]) -> None:
    for k, name in enumerate(names):
        axes.plot(t, values[:, k], **curve_look(k), label=name)
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
