"""Pictures of the arm of mixed joints: what the source's figures 3 to 8 show, and its Lyapunov functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.figures import COLOURS, INK, style
from linkwise.motion.trajectory import Array
from papers.experiments import Picture
from papers.pictures import inline_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 10  # every so many rows are drawn


def followed(size: float, rate: float) -> Callable[[Array], Array]:
    """The motion that is to be followed."""
    return lambda t: size * np.sin(rate * t)


def pictures(t: Array, runs: Mapping[str, Any], wanted: Callable[[Array], Array]) -> tuple[Picture, ...]:
    """One picture for each run, and one of V1 and V2."""
    found = []
    for k, (case, run) in enumerate(runs.items(), start=1):
        caption = f"Positions of joints and of motor 3, and torques: {case}."
        found.append(Picture(caption, inline_svg(_motion(t, run, wanted), f"elastic-arm-{k}", caption)))
    caption = "V1 and V2, the functions that prove stability; with payload up and down they nearly coincide."
    found.append(Picture(caption, inline_svg(_lyapunov(t, runs), "elastic-arm-v", caption)))
    return tuple(found)


def _motion(t: Array, run: Any, wanted: Callable[[Array], Array]) -> Figure:
    from matplotlib.figure import Figure

    rows = slice(None, None, SHOWN)
    with style():
        figure = Figure(figsize=(9.3, 2.6), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        left.plot(t[rows], wanted(t[rows]), color=INK, lw=0.9, ls="--", label="wanted")
        for k in range(3):
            left.plot(t[rows], run.q[rows, k], color=COLOURS[k], label=f"joint {k + 1}")
            right.plot(t[rows], run.tau[rows, k], color=COLOURS[k], label=f"motor {k + 1}")
        middle.plot(t[rows], run.q[rows, 2], color=COLOURS[2], label="joint 3")
        middle.plot(t[rows], run.q[rows, 3], color=COLOURS[3], label="motor 3")
        late = np.abs(run.tau[t > 0.5]).max()
        right.set_ylim(-1.3 * late, 1.3 * late)  # the first torque is far beyond
        for axes, title in (
            (left, "joints, rad"),
            (middle, "elastic joint and its motor, rad"),
            (right, "torques, N m"),
        ):
            axes.set_title(title)
            axes.set_xlabel("time, s")
            low, high = axes.get_ylim()
            axes.set_ylim(low - 0.25 * (high - low), high)  # room for the legend
            axes.legend(loc="lower right", ncols=4, handlelength=1.0, columnspacing=0.8)
    return figure


def _lyapunov(t: Array, runs: Mapping[str, Any]) -> Figure:
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(9.3, 2.8), layout="constrained")
        for axes, name in zip(figure.subplots(1, 2, sharey=True), ("V1", "V2"), strict=True):
            for k, (case, run) in enumerate(runs.items()):
                axes.semilogy(t[::SHOWN], np.maximum(getattr(run, name)[::SHOWN], 1e-16), color=COLOURS[k], label=case)
            axes.set_ylim(bottom=1e-12)  # what is lower is of the integration
            axes.yaxis.set_major_formatter("{x:g}")
            axes.set_title(f"{name}, J")
            axes.set_xlabel("time, s")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
