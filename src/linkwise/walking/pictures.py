"""Pictures of a predicted walk: a film strip of the figure, and curves over the stride."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise.check import whole
from linkwise.figures import COLOURS, INK, style
from linkwise.kernel.compile import compile
from linkwise.planning.curve import Array
from linkwise.walking.features import leg
from linkwise.walking.joints import REFERENCE
from linkwise.walking.norms import TITLES, band, bands, sources
from linkwise.walking.stride import Stride

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from linkwise.walking.result import Walk

RIGHT, LEFT = COLOURS[0], COLOURS[1]
# lines of the figure through points of each side
LIMBS = (
    ("shoulder", "elbow", "wrist", "hand"), ("hip", "knee", "ankle"), ("ankle", "heel", "ball", "ankle"),
    ("ball", "tip"),
)  # fmt: skip


def carried(walk: Walk) -> list[tuple[float, Array]]:
    """The loads as balls: the radius of one of water, and its centre at instants (n, 3), m."""
    loads, dyn = walk.problem.person.loads, compile(walk.problem.robot)
    found = []
    for k, load in enumerate(loads, start=1):
        T = dyn.pose(walk.stride().q, f"load{k}")
        centre = T[:, :3, :3] @ np.array(load.com) + T[:, :3, 3]
        found.append((float((load.mass / (1000.0 * 4.0 / 3.0 * np.pi)) ** (1.0 / 3.0)), centre))
    return found


def film_strip(walk: Walk, frames: int = 11) -> Figure:
    """The figure from the side at instants of one stride with the forces of the ground, and the way seen from above."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    stride, loads = walk.stride(), carried(walk)
    chosen = np.linspace(0, len(stride.t) - 1, whole(frames, "frames", 2)).astype(int)
    with style():
        figure = Figure(figsize=(12.0, 5.6), layout="constrained")
        side, top = figure.subplots(2, 1, height_ratios=(3.2, 1.0))
        size = walk.problem.person.height / REFERENCE[1]
        apart = 0.62 * size  # the strip is drawn wider than the way, so that figures do not cover each other
        for k, at in enumerate(chosen):
            shift = k * apart - stride.q[at, 0]
            _figure(side, stride, at, shift, size)
            for radius, place in loads:
                side.add_patch(Circle((place[at, 0] + shift, place[at, 1]), radius, color=INK, alpha=0.15, lw=0.0))
            side.text(k * apart, -0.12 * size, f"{stride.percent[at]:.0f} %", ha="center", fontsize=8)
        side.axhline(0.0, color=INK, lw=0.8)
        side.set_aspect("equal")
        side.set_axis_off()
        side.set_title(f"one stride of the right leg (blue): {walk.title}", loc="left", fontweight="bold")
        _paths(top, stride)
    return figure


def _figure(axes: Axes, stride: Stride, at: int, shift: float, size: float) -> None:
    def line(points: list[Array], colour: str, width: float) -> None:
        xyz = np.array(points)
        axes.plot(xyz[:, 0] + shift, xyz[:, 1], color=colour, lw=width, solid_capstyle="round")

    names = ["vertex", *(f"{p}_{s}" for s in "rl" for chain in LIMBS for p in chain)]
    point = {name: stride.point(name)[at] for name in names}
    for s, colour in (("l", LEFT), ("r", RIGHT)):
        for chain in LIMBS:
            line([point[f"{p}_{s}"] for p in chain], colour, 1.8)
        if s == "l":
            hips, shoulders = (0.5 * (point[f"{p}_r"] + point[f"{p}_l"]) for p in ("hip", "shoulder"))
            line([hips, shoulders, shoulders + 0.55 * (point["vertex"] - shoulders)], INK, 2.4)
    axes.plot(point["vertex"][0] + shift, point["vertex"][1] - 0.09 * size, "o", ms=13, mfc="white", mec=INK, mew=1.6)
    for s, colour in (("r", RIGHT), ("l", LEFT)):
        force, foot = stride.ground_force(s)[at], stride.centre_of_pressure(s)[at]
        if np.isfinite(foot).all():
            head = (foot[0] + shift + 0.5 * size * force[0], 0.5 * size * force[1])
            arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.0, "alpha": 0.75, "shrinkA": 0.0, "shrinkB": 0.0}
            axes.annotate("", xy=head, xytext=(foot[0] + shift, 0.0), arrowprops=arrow)


def _paths(axes: Axes, stride: Stride) -> None:
    """Where the zero-moment point goes, over the regions in which it must stay."""
    seen = set()
    for moment in stride.moments[::5]:
        key = tuple(moment.corners.round(3).ravel())
        if key in seen:
            continue
        seen.add(key)
        axes.fill(*moment.outline.T, color=INK, alpha=0.05, lw=0)
    axes.plot(stride.zmp[:, 0], stride.zmp[:, 1], color=COLOURS[3], label="zero-moment point")
    axes.plot(stride.q[:, 0], stride.q[:, 2], color=INK, lw=1.0, ls="--", label="pelvis")
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.set_xlabel("forward, m")
    axes.set_ylabel("right, m")
    axes.legend(loc="upper left", ncols=2)


ROWS = (
    ("hip_angle", "knee_angle", "ankle_angle"), ("hip_torque", "knee_torque", "ankle_torque"),
    ("ground_forward", "ground_up", "ground_outward"), ("hip_force", "knee_force", "ankle_force"),
)  # fmt: skip


def curves(walk: Walk) -> Figure:
    """Angles, torques, ground reactions and forces through joints of each leg over its stride, and published bands."""
    from matplotlib.figure import Figure

    stride = walk.stride()
    legs = {"right": leg(stride, "r"), "left": leg(stride, "l")}
    with style():
        figure = Figure(figsize=(11.0, 8.6), layout="constrained")
        grid = figure.subplots(len(ROWS), len(ROWS[0]), sharex=True)
        for axes, name in zip(grid.ravel(), (name for row in ROWS for name in row), strict=True):
            _panel(axes, name, stride.percent, {side: curve[name] for side, curve in legs.items() if name in curve})
        for axes in grid[-1]:
            axes.set_xlabel("stride of the leg, %")
        grid[0, 1].legend(loc="upper left")
        words = "\n".join(["Grey: published mean and one standard deviation to each side", *sources()])
        figure.suptitle(words, x=0.01, ha="left", fontsize=8)
    return figure


def _panel(axes: Axes, name: str, percent: Array, sides: dict[str, Array]) -> None:
    """The curve of each leg, and the band behind them."""
    if name in bands():
        b = band(name)
        axes.fill_between(b.percent, b.low, b.high, color=INK, alpha=0.16, lw=0.0, label="published")
        axes.plot(b.percent, b.mean, color=INK, alpha=0.45, lw=1.0)
        shares = dict.fromkeys(f"{100.0 * b.match(percent, values).inside:.0f} %" for values in sides.values())
        text = f"{' and '.join(shares)} within" if shares else "frozen"
        height = 0.92 if name.startswith("ground") else 0.02  # where nothing is drawn
        axes.text(0.99, height, text, transform=axes.transAxes, ha="right", fontsize=7)
    for side, values in sides.items():
        colour, line = (RIGHT, "-") if side == "right" else (LEFT, "--")
        axes.plot(percent, values, color=colour, ls=line, label=side)
    axes.set_title(TITLES[name], fontweight="bold")
    axes.set_xlim(0.0, 100.0)
