"""The scene of a Denavit-Hartenberg table in three dimensions: links, joints, and frames with their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.figures import COLOURS, LIMIT
from linkwise.spatial import Pose
from linkwise.vector import Vec3

Array = NDArray[np.float64]

BLUE, RED, LINK, JOINT, SLIDE = COLOURS[0], LIMIT, "#b9c0ca", "#5b6472", COLOURS[1]


def scene(
    axes: Any,
    frames: Mapping[int, Pose],
    ways: Sequence[Sequence[Vec3]],
    joints: Sequence[tuple[Pose, bool]],
    view: tuple[float, float],
) -> None:
    """Fill axes of three dimensions.

    Args:
        axes: of matplotlib.
        frames: by number, in the world.
        ways: points along each link.
        joints: a frame of each, about or along whose z it moves, and whether it slides.
        view: degrees above the horizon, and around z.
    """
    points = np.array([list(X.p) for X in frames.values()] + [list(p) for way in ways for p in way])
    size = float(np.max(np.ptp(points, axis=0))) or 1.0
    seen = _seen_from(view)
    axes.set(autoscalex_on=False, autoscaley_on=False, autoscalez_on=False)
    _ground(axes, size)
    for way in ways:
        along = np.array([list(p) for p in way])
        axes.plot(*along.T, color=LINK, lw=7.0, solid_capstyle="round", solid_joinstyle="round", zorder=1)
    for X, slides in joints:
        _joint(axes, X, slides, size)
    ends = [points]
    for letter, column, length, colour in (("x", 0, 0.2, RED), ("z", 2, 0.32, BLUE)):
        ends.append(_axes(axes, frames, letter, column, length * size, colour, seen))
    for artist in (*axes.lines, *axes.collections):
        artist.set_clip_on(False)
    axes.set_axis_off()
    axes.set_proj_type("ortho")
    axes.view_init(*view)
    _fit(axes, np.concatenate(ends), seen)


def _seen_from(view: tuple[float, float]) -> Array:
    """Rows: the directions to the right, up, and towards the eye."""
    up, around = np.radians(view)
    right = [-np.sin(around), np.cos(around), 0.0]
    eye = [np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)]
    return np.array([right, np.cross(eye, right), eye])


def _fit(axes: Any, points: Array, seen: Array) -> None:
    """Show a cube about the points, so large that they fill the picture, with equal units along all axes."""
    from mpl_toolkits.mplot3d import proj3d

    low, high = np.min(points @ seen.T, axis=0), np.max(points @ seen.T, axis=0)
    centre = seen.T @ (0.5 * (low + high))

    def show(half: float) -> None:
        axes.set_box_aspect((1.0, 1.0, 1.0))
        axes.set(xlim=centre[0] + np.array([-half, half]), ylim=centre[1] + np.array([-half, half]))
        axes.set_zlim(*(centre[2] + np.array([-half, half])))

    show(1.0)
    x, _, _ = proj3d.proj_transform(*np.transpose([centre, centre + seen[0]]), axes.get_proj())
    place, figure = axes.get_position(), axes.figure.get_size_inches()
    room = np.array([place.width * figure[0] / (place.height * figure[1]), 1.0]) * axes.viewLim.height
    show(float(np.max((high - low)[:2] * abs(x[1] - x[0]) / (0.84 * room))))


def _axes(
    axes: Any, frames: Mapping[int, Pose], letter: str, column: int, length: float, colour: str, seen: Array
) -> Array:
    """One axis of every frame, as arrows; those that lie on each other have one label. Returns their ends."""
    from matplotlib.patheffects import withStroke

    found: dict[tuple[float, ...], tuple[Any, Any, list[int]]] = {}
    for k, T in frames.items():
        start, along = np.array(list(T.p)), np.array(list(T.R.column(column)))
        key = tuple(np.round(np.concatenate([start / length, along]), 6) + 0.0)
        found.setdefault(key, (start, along, []))[2].append(k)
    for start, along, numbers in found.values():
        axes.quiver(*start, *(along * length), color=colour, lw=1.8, arrow_length_ratio=0.16, zorder=4)
        right, up, _ = seen @ along
        label = "$" + ",\\,".join(f"{letter}_{{{k}}}" for k in numbers) + "$"
        text = axes.text(*(start + along * length * 1.06), label, color=colour, zorder=5)
        text.set(ha="left" if right > 0.35 else "right" if right < -0.35 else "center", parse_math=True)
        text.set(va="bottom" if up > 0.35 else "top" if up < -0.35 else "center", fontsize=12.5)
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    return np.array([start + along * length for start, along, _ in found.values()])


def _ground(axes: Any, size: float) -> None:
    """A plate below the base."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    h = 0.13 * size
    plate = Poly3DCollection(
        [[(-h, -h, 0), (h, -h, 0), (h, h, 0), (-h, h, 0)]], facecolor="#e6e9ee", edgecolor="#c3c9d2"
    )
    plate.set_zorder(0)
    axes.add_collection3d(plate)


def _joint(axes: Any, T: Pose, slides: bool, size: float) -> None:
    """A drum about the axis of a joint that turns, a box along that of one that slides."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    sides = 4 if slides else 20
    radius, half = (0.036 if slides else 0.032) * size, (0.085 if slides else 0.055) * size
    R, p = np.array([list(r) for r in T.R]), np.array(list(T.p))
    angle = np.linspace(0.0, 2.0 * np.pi, sides + 1) + (np.pi / 4.0 if slides else 0.0)
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros_like(angle)])
    low, high = (p[:, None] + R @ (ring + np.array([[0.0], [0.0], [z]])) for z in (-half, half))
    faces = [list(ring.T) for ring in (low, high)]
    # as many points for a side, since what matplotlib fills shorter polygons with may overflow
    for k in range(sides):
        corners = (low[:, k], low[:, k + 1], high[:, k + 1], high[:, k])
        faces.append([corners[min(3, round(4 * i / (sides + 1)))] for i in range(sides + 1)])
    body = Poly3DCollection(faces, facecolors=SLIDE if slides else JOINT, shade=True)
    body.set_zorder(2)
    axes.add_collection3d(body)
