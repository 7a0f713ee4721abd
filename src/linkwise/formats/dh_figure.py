"""A picture of the frames of a Denavit-Hartenberg table, beside the table, for slides and lecture notes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.errors import InputError
from linkwise.figures import drawn, style
from linkwise.formats.dh import modified_dh
from linkwise.formats.dh_scene import scene
from linkwise.formats.dh_writer import to_modified_dh
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot
from linkwise.spatial import Pose
from linkwise.vector import Vec3

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR = 1e-9  # of the largest number: what is round-off


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
        frames = {0: steps[0].before} | {s.number: s.after for s in steps}
        ways = [(s.before.p, s.corner, s.after.p) for s in steps]
        joints = [(s.before if convention == "standard" else s.after, s.joint.freedom.slides) for s in steps]
        axes = figure.add_axes((0.0, 0.0, 0.6, 0.94), projection="3d", computed_zorder=False)
        scene(axes, frames, ways, joints, view)
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
        theta, alpha = _angle(R.y.x, R.x.x), _angle(R.z.y, R.z.z)
        d, a = p.z, p.x * math.cos(theta) + p.y * math.sin(theta)
        own = R.z.x, p.y * math.cos(theta) - p.x * math.sin(theta)
        axis, anchor = R.T @ Vec3(0.0, 0.0, 1.0), -(R.T @ p)
    else:
        theta, alpha = _angle(-R.x.y, R.x.x), _angle(-R.y.z, R.z.z)
        d, a = p.z * math.cos(alpha) - p.y * math.sin(alpha), p.x
        own = R.x.z, p.y * math.cos(alpha) + p.z * math.sin(alpha)
        axis, anchor = Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 0.0)
    size = max(1e-3, *map(abs, p))
    # what the four numbers cannot say, and an axis elsewhere
    left = (own[0], own[1] / size, *(joint.axis - axis), *((joint.anchor - anchor) * (1.0 / size)))
    return (theta, d, a, alpha) if all(abs(x) < NEAR for x in left) else None


def _angle(y: float, x: float) -> float:
    """The angle of a point; half a turn is positive."""
    angle = math.atan2(y, x)
    return math.pi if angle < NEAR - math.pi else angle


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
