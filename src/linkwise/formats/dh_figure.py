"""A picture of the frames of a Denavit-Hartenberg table, beside the table, for slides and lecture notes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.figures import COLOURS, LIMIT, drawn, style
from linkwise.formats.dh import modified_dh
from linkwise.formats.dh_writer import to_modified_dh
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot
from linkwise.spatial import Pose
from linkwise.vector import Vec3

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

NEAR = 1e-9  # of the largest number: what is round-off
BLUE, RED, LINK, JOINT, SLIDE = COLOURS[0], LIMIT, "#b9c0ca", "#5b6472", COLOURS[1]


class Step(NamedTuple):
    """A row of the table, between the frames `before` and `after`, with the corner of the way from one to the other."""

    theta: float
    d: float
    a: float
    alpha: float
    joint: Joint
    before: Pose
    after: Pose
    corner: Vec3
    number: int
    antecedent: int


def draw(
    robot: Robot,
    path: str | PathLike[str] | None = None,
    *,
    q: Any = None,
    view: tuple[float, float] = (24.0, -52.0),
) -> Figure:
    """The frames of a robot's DH table in one position, with the four numbers of each row beside them.

    Axes z are long, axes x short; a link is drawn along its length a and its offset d. A robot of `standard_dh` or
    `modified_dh` has the frames of its table; any other robot that a table can say has those of `to_modified_dh`.

    Args:
        robot: to draw.
        path: a .png, .svg or .pdf file for the picture.
        q: its position, as numbers or by joint; None is where all joints are at zero.
        view: from where it is seen: degrees above the horizon, and around z.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"draw: expected a Robot first, got {robot!r}.")
    if robot.follows:
        raise InputError(f"draw: a table has no loops, but {robot.name!r} has. Draw robot.opened().")
    kept, at = robot, robot.q(q)
    convention = next((c for c in ("modified", "standard") if all(_row(j, c) for j in robot.joints)), None)
    if convention is None or not robot.joints:
        table = to_modified_dh(robot)
        convention, robot = "modified", modified_dh(table.rows, name=robot.name)
    steps = list(_steps(robot, convention, at))
    with style():
        from matplotlib.figure import Figure

        rows = len(steps)
        figure = Figure(figsize=(9.6, 4.8 if rows < 9 else 0.3 * rows + 2.1))
        scene: Any = figure.add_axes((0.0, 0.0, 0.6, 0.94), projection="3d", computed_zorder=False)
        _scene(scene, steps, convention, view)
        _table(figure.add_axes((0.6, 0.04, 0.39, 0.84)), steps, convention)
        figure.text(0.02, 0.95, f"{kept.name}: {convention} DH parameters", fontsize=11, weight="bold", va="center")
        figure.text(0.98, 0.95, "lengths in m, angles in rad", ha="right", va="center")
    return drawn(figure, path)


# ---- the table


def _row(joint: Joint, convention: str) -> tuple[float, float, float, float] | None:
    """theta, d, a and alpha of a joint at zero, if it stands as this convention has it."""
    (R, p), kind = (joint.origin.R, joint.origin.p), joint.freedom
    if joint.mimic or not (kind.turns or kind.slides):
        return None
    if convention == "standard":
        theta, alpha = math.atan2(R.y.x, R.x.x), math.atan2(R.z.y, R.z.z)
        d, a = p.z, p.x * math.cos(theta) + p.y * math.sin(theta)
        own = R.z.x, p.y * math.cos(theta) - p.x * math.sin(theta)
        axis, anchor = R.T @ Vec3(0.0, 0.0, 1.0), -(R.T @ p)
    else:
        theta, alpha = math.atan2(-R.x.y, R.x.x), math.atan2(-R.y.z, R.z.z)
        d, a = p.z * math.cos(alpha) - p.y * math.sin(alpha), p.x
        own = R.x.z, p.y * math.cos(alpha) + p.z * math.sin(alpha)
        axis, anchor = Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0)
    size = max(1e-3, *map(abs, p))
    # what the four numbers cannot say, and an axis elsewhere
    left = (own[0], own[1] / size, *(joint.axis - axis), *((joint.anchor - anchor) * (1.0 / size)))
    return (theta, d, a, alpha) if all(abs(x) < NEAR for x in left) else None


def _steps(robot: Robot, convention: str, at: Any) -> Iterator[Step]:
    """The rows, with their frames in the world."""
    place, number = {robot.root.name: Pose()}, {robot.root.name: 0}
    for k, joint in enumerate(robot.joints, start=1):
        before = place[joint.parent]
        slot = robot.slots[joint.name]
        after = place[joint.child] = before @ joint.pose(at[slot.q : slot.q + 1])
        number[joint.child] = k
        row = _row(joint, convention)
        if row is None:
            raise InputError(f"draw: joint {joint.name!r} of {robot.name!r} is not where a DH table has it.")
        a, d = row[2], row[1] + (float(at[slot.q]) if joint.freedom.slides else 0.0)
        corner = before.p + before.R.column(2) * d if convention == "standard" else before.p + before.R.column(0) * a
        yield Step(*row, joint, before, after, corner, k, number[joint.parent])


def _table(axes: Any, steps: Sequence[Step], convention: str) -> None:
    """The rows as a table, in the order of the convention's books; the joint's variable is in theta or d."""
    axes.axis("off")
    branched = any(s.antecedent != s.number - 1 for s in steps)
    before = "i" if convention == "standard" else "i-1"
    head = [r"$\theta_i$", r"$d_i$", f"$a_{{{before}}}$", rf"$\alpha_{{{before}}}$"]
    rows = [head]
    for s in steps:
        turns = s.joint.freedom.turns
        theta = _plus(s.number, angle_text(s.theta), s.theta) if turns else angle_text(s.theta)
        d = f"{s.d:.4g}" if turns else _plus(s.number, f"{s.d:.4g}", s.d)
        rows.append([theta, d, f"{s.a:.4g}", angle_text(s.alpha)])
    first = [["i", "on"], *([str(s.number), str(s.antecedent)] for s in steps)]
    way = 1 if convention == "standard" else -1
    rows = [[*left[: 1 + branched], *row[::way]] for left, row in zip(first, rows, strict=True)]
    wide = [[f"  {x}  " for x in row] for row in rows]
    table = axes.table(wide[1:], colLabels=wide[0], loc="center", cellLoc="center", edges="horizontal")
    table.auto_set_font_size(False)
    table.set_fontsize(10.5)
    table.scale(1.0, 1.75 if len(steps) < 9 else 1.4)
    table.auto_set_column_width(range(len(rows[0])))
    for cell in table.get_celld().values():
        cell.get_text().set(parse_math=True)
        cell.set_edgecolor("#c9ced6")


def _plus(k: int, text: str, value: float) -> str:
    """The joint's variable and what is added to it."""
    variable = f"$q_{{{k}}}$"
    return variable if not value else f"{variable} {'-' if value < 0.0 else '+'} {text.lstrip('-')}"


def angle_text(x: float) -> str:
    """An angle as a part of pi where it is one, else in rad."""
    part = round(x / math.pi * 12.0)
    if abs(x - part * math.pi / 12.0) > 1e-9:
        return f"{x:.4g}"
    common = math.gcd(part, 12)
    above, below = abs(part) // (common or 1), 12 // (common or 1)
    text = "0" if not part else f"{above if above != 1 else ''}π{f'/{below}' if below != 1 else ''}"
    return f"-{text}" if part < 0 else text


# ---- the scene


def _scene(axes: Any, steps: Sequence[Step], convention: str, view: tuple[float, float]) -> None:
    """Links, joints, and the frames with their labels."""
    frames = {0: steps[0].before} | {s.number: s.after for s in steps}
    points = np.array([list(X.p) for X in frames.values()] + [list(s.corner) for s in steps])
    size = float(np.max(np.ptp(points, axis=0))) or 1.0
    seen = _seen_from(view)
    axes.set(autoscalex_on=False, autoscaley_on=False, autoscalez_on=False)
    _ground(axes, size)
    for s in steps:
        way = np.array([list(s.before.p), list(s.corner), list(s.after.p)])
        axes.plot(*way.T, color=LINK, lw=7.0, solid_capstyle="round", solid_joinstyle="round", zorder=1)
    of_joints = {s.number: (s.before if convention == "standard" else s.after, s.joint.freedom.slides) for s in steps}
    for X, slides in of_joints.values():
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
    axes: Any, frames: dict[int, Pose], letter: str, column: int, length: float, colour: str, seen: Array
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
    faces = [[low[:, k], low[:, k + 1], high[:, k + 1], high[:, k]] for k in range(sides)]
    faces += [list(low.T), list(high.T)]
    body = Poly3DCollection(faces, facecolors=SLIDE if slides else JOINT, shade=True)
    body.set_zorder(2)
    axes.add_collection3d(body)
