"""Pictures of a predicted walk: a film strip of the figure, and curves over the stride."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise.figures import COLOURS, INK, style
from linkwise.gait.kernel import Array
from linkwise.gait.norms import DOWNWARDS, NORMS, SOURCE
from linkwise.gait.stride import Stride
from linkwise.gait.timetable import hull

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from linkwise.gait.result import Walk

RIGHT, LEFT = COLOURS[0], COLOURS[1]
# lines of the figure through points of each side
LIMBS = (
    ("shoulder", "elbow", "wrist", "hand"), ("hip", "knee", "ankle"), ("ankle", "heel", "ball", "ankle"),
    ("ball", "tip"),
)  # fmt: skip


def film_strip(walk: Walk, frames: int = 11) -> Figure:
    """The figure from the side at instants of one stride with the forces of the ground, and the way seen from above."""
    from matplotlib.figure import Figure

    stride = walk.stride()
    chosen = np.linspace(0, len(stride.t) - 1, frames).astype(int)
    with style():
        figure = Figure(figsize=(12.0, 5.6), layout="constrained")
        side, top = figure.subplots(2, 1, height_ratios=(3.2, 1.0))
        apart = 0.62  # the strip is drawn wider than the way, so that figures do not cover each other
        for k, at in enumerate(chosen):
            shift = k * apart - stride.q[at, 0]
            _figure(side, stride, at, shift)
            side.text(k * apart, -0.12, f"{stride.percent[at]:.0f} %", ha="center", fontsize=8)
        side.axhline(0.0, color=INK, lw=0.8)
        side.set_aspect("equal")
        side.set_axis_off()
        title = f"{walk.problem.speed:g} m/s, steps of {walk.problem.step:g} m, {walk.problem.person.total_mass:g} kg"
        side.set_title(f"one stride of the right leg (blue): {title}", loc="left", fontweight="bold")
        _paths(top, stride)
    return figure


def _figure(axes: Axes, stride: Stride, at: int, shift: float) -> None:
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
    axes.plot(point["vertex"][0] + shift, point["vertex"][1] - 0.09, "o", ms=13, mfc="white", mec=INK, mew=1.6)
    for s, colour in (("r", RIGHT), ("l", LEFT)):
        force, foot = stride.ground_force(s)[at], stride.centre_of_pressure(s)[at]
        if np.isfinite(foot).all():
            head = (foot[0] + shift + 0.5 * force[0], 0.5 * force[1])
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
        axes.fill(*np.array(hull(moment.corners.tolist())).T, color=INK, alpha=0.05, lw=0)
    axes.plot(stride.zmp[:, 0], stride.zmp[:, 1], color=COLOURS[3], label="zero-moment point")
    axes.plot(stride.q[:, 0], stride.q[:, 2], color=INK, lw=1.0, ls="--", label="pelvis")
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.set_xlabel("forward, m")
    axes.set_ylabel("right, m")
    axes.legend(loc="upper left", ncols=2)


# rows of panels: title with the name of a joint or axis, and the published extremes that belong to each
JOINTS = {"hip": "hip_flex", "knee": "knee", "ankle": "ank_flex"}
EXTREMES = {
    "hip": ("hip_flexion", "hip_extension"),
    "knee": ("knee_stance", "knee_swing"),
    "ankle": ("ankle_dorsiflexion", "ankle_plantarflexion"),
    "forward": ("braking", "propulsion"),
    "up": ("vertical_first", "vertical_between", "vertical_second"),
    "to the right": (),
}


def curves(walk: Walk) -> Figure:
    """Angles, torques, ground reactions and forces through joints over the stride, with published extremes."""
    from matplotlib.figure import Figure

    stride, mass = walk.stride(), walk.problem.person.total_mass
    with style():
        figure = Figure(figsize=(11.0, 8.4), layout="constrained")
        grid = figure.subplots(4, 3, sharex=True)
        for k, (name, joint) in enumerate(JOINTS.items()):
            sides = [f"{joint}_{s}" for s in "rl"]
            angle, torque = [np.rad2deg(stride.angle(j)) for j in sides], [stride.torque(j) / mass for j in sides]
            force = [np.linalg.norm(stride.joint_force(f"{name}_{s}"), axis=1) for s in "rl"]
            _panel(grid[0, k], stride, angle, f"{name} flexion, deg", EXTREMES[name])
            _panel(grid[1, k], stride, torque, f"{name} torque, N m/kg")
            _panel(grid[3, k], stride, force, f"net force through the {name}, body weights")
            grid[3, k].set_xlabel("stride, %")
        for k, axis in enumerate(("forward", "up", "to the right")):
            ground = [stride.ground_force(s)[:, k] for s in "rl"]
            _panel(grid[2, k], stride, ground, f"ground reaction {axis}, body weights", EXTREMES[axis])
        grid[0, 1].legend(loc="upper left", ncols=2)
        figure.suptitle(f"Grey bars: published extremes of the right leg. {SOURCE}.", x=0.01, ha="left", fontsize=8)
    return figure


def _panel(axes: Axes, stride: Stride, sides: list[Array], title: str, extremes: tuple[str, ...] = ()) -> None:
    """The right and the left leg's curve."""
    for key in extremes:
        low, high, start, end = NORMS[key]
        sign = -1.0 if key in DOWNWARDS else 1.0
        axes.fill_between([start, end], sign * low, sign * high, color=INK, alpha=0.25, lw=0.0)
        for x in {low, high}:
            axes.plot([start, end], [sign * x] * 2, color=INK, alpha=0.45, lw=2.5, solid_capstyle="butt")
    for values, colour, name in zip(sides, (RIGHT, LEFT), ("right", "left"), strict=True):
        axes.plot(stride.percent, values, color=colour, label=name)
    axes.set_title(title, fontweight="bold")
    axes.set_xlim(0.0, 100.0)
