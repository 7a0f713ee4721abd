"""Robots as tables: modified DH parameters, or Khalil's.

The frame of a row has z along its joint's axis. It slides along z to the foot of the common normal with the next axis
and turns about z until x is along that normal, which leaves a turn and a shift along x, then along z, to the next
frame; where several axes follow, the first decides and the others may need a turn gamma and a shift b more, which a DH
table does not have. The last frame of a branch stays as it was. The root's frame is given, so that gamma and b of the
first row of a DH table are left over: they are its base pose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from linkwise.errors import InputError
from linkwise.formats.dh_rows import BASE, SIGMA, DHRow, KhalilRow
from linkwise.formats.rigid_tree import rigid_tree
from linkwise.robot import check
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame
from linkwise.robot.robot import Robot
from linkwise.robot.round_off import ROUND_OFF, snapped, snapped_inertia
from linkwise.robot.structure import unused
from linkwise.robot.tree import Body, Tree
from linkwise.rotation import rot_z
from linkwise.spatial import Pose
from linkwise.vector import EYE3, ZERO3, Vec3

FAR = 100.0  # a normal farther away than this times the robot's longest step costs four digits


@dataclass(frozen=True)
class Table:
    """Rows, and what makes the robot built of them move like the one they come from.

        lw.modified_dh(table.rows, gravity=table.gravity, frames=table.frames)

    has the same torques, and `pose(q, name)` of every link and frame of the old robot, seen from `base`.

    Args:
        rows: one for each joint that moves, named after it.
        base: pose of frame 0 in the old root's frame.
        tool: pose of the old last link's frame in that of the last row.
        gravity: in the axes of frame 0.
        frames: the old robot's links and frames, on the links of the rows.
        lost: what a table cannot say, in sentences.
    """

    rows: tuple[Any, ...]
    base: Pose
    tool: Pose
    gravity: Vec3
    frames: tuple[Frame, ...]
    lost: tuple[str, ...]


class Step(NamedTuple):
    """From frame to frame: Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)."""

    gamma: float
    b: float
    alpha: float
    d: float
    theta: float
    r: float


def to_modified_dh(robot: Robot, *, tolerance: float = 1e-12) -> Table:
    """The modified DH table of a chain or tree; fixed links are lumped into those that move.

    Args:
        robot: without floating joints and joints that mimic; where links branch, the common normals of their own axis
            and those of the joints that they carry must be on one line. Otherwise use `to_khalil`.
        tolerance: axes that miss being parallel by no more than this angle are taken as parallel, rad.
    """
    tree = _Frames(robot, tolerance, "to_modified_dh", one_normal=True)
    rows = []
    for k, (step, body, body_data) in enumerate(zip(tree.steps, tree.bodies[1:], tree.data(), strict=True)):
        antecedent = None if body.parent == k else body.parent
        kind = SIGMA[int(body.kind.slides)]
        rows.append(DHRow(step.theta, step.r, step.d, step.alpha, kind, antecedent=antecedent, **body_data))
    return tree.table(tuple(rows))


def to_khalil(robot: Robot, *, tolerance: float = 1e-12) -> Table:
    """Khalil's table of a tree; fixed links are lumped into those that move.

    Args:
        robot: without floating joints and joints that mimic.
        tolerance: axes that miss being parallel by no more than this angle are taken as parallel, rad.
    """
    tree = _Frames(robot, tolerance, "to_khalil", one_normal=False)
    rows = tuple(
        KhalilRow(body.parent, int(body.kind.slides), *step, **body_data)
        for step, body, body_data in zip(tree.steps, tree.bodies[1:], tree.data(), strict=True)
    )
    return tree.table(rows)


class _Frames:
    """The frames of the rows on the bodies of a robot, and the steps between them."""

    def __init__(self, robot: Robot, tolerance: float, who: str, *, one_normal: bool) -> None:
        self.robot, self.lost = rigid_tree(robot)
        if robot.shapes:
            self.lost.append(f"shapes of links, {len(robot.shapes)}: left out; a table has none.")
        self.who, self.tolerance = who, check.number(tolerance, f"{who} tolerance", least=0.0)
        self.joints: dict[str, Joint] = {j.name: j for j in self.robot.joints}
        self.refuse_joints()
        self.tree = Tree.of(self.robot)
        self.bodies = self.tree.bodies
        self.children: list[list[int]] = [[] for _ in self.bodies]
        for i, b in enumerate(self.bodies[1:], start=1):
            self.children[b.parent].append(i)
        self.reach = max(math.hypot(*b.placement.p) for b in self.bodies) or 1.0
        # each frame in its body's; frame 0 last, because it may follow frame 1
        self.shift = [Pose(), *(self.along_normal(k[0]) if k else Pose() for k in self.children[1:])]
        self.shift[0] = self.first_frame(one_normal)
        self.steps = [self.step(i, b) for i, b in enumerate(self.bodies[1:], start=1)]
        if one_normal:
            self.refuse_second_normals()

    def refuse_joints(self) -> None:
        for j in self.joints.values():
            what = f"{self.who}: joint {j.name!r}"
            if j.mimic:
                raise InputError(
                    f"{what} mimics {j.mimic.joint!r}, which a table cannot say. Lock it, or drop `mimic`."
                )
            if j.freedom.nv and not (j.freedom.turns or j.freedom.slides):
                raise InputError(
                    f"{what} is {j.kind}, which a table cannot say. Load the robot with a fixed base, or lock it."
                )
        if not self.robot.nv:
            raise InputError(f"{self.who}: expected a robot with a joint that moves, got none.")

    def refuse_second_normals(self) -> None:
        """Refuse branches that need a turn or a shift about the axis that they hang on."""
        for i, step in enumerate(self.steps, start=1):
            parent = self.bodies[i].parent
            if abs(step.gamma) > self.tolerance or abs(step.b) > self.tolerance * self.reach:
                first = self.bodies[self.children[parent][0]].name
                raise InputError(
                    f"{self.who}: expected joints of one common normal on link {self.bodies[parent].link!r}, got"
                    f" {first!r} and {self.bodies[i].name!r}, the second {step.gamma:.3g} rad and {step.b:.3g} m off."
                    " Use to_khalil (--khalil), which has gamma and b for that, or lock one of them."
                )

    def first_frame(self, one_normal: bool) -> Pose:
        """Frame 0 in the root's: the root's own, or that with x along the first normal where the table needs it."""
        X = self.bodies[1].placement
        if len(self.children[0]) == 1 and self.is_far(X):
            return snapped(X @ self.shift[1])
        return _screw(*self.normal(X)) if one_normal else Pose()

    def along_normal(self, i: int) -> Pose:
        """What shifts the frame that carries body i to the common normal of its axis and that of i."""
        X = self.bodies[i].placement
        self.refuse_far(i, X)
        return _screw(*self.normal(X))

    def normal(self, X: Pose) -> tuple[float, float]:
        """Where the common normal of z and of z of a frame at X begins: its angle about z and its height."""
        u, p = X.R.column(2), X.p
        sideways = math.hypot(u.x, u.y)
        angle = height = 0.0
        if sideways > self.tolerance:
            angle = math.atan2(u.x, -u.y)
            height = p.z - u.z * (u.x * p.x + u.y * p.y) / sideways**2
        elif math.hypot(p.x, p.y) > ROUND_OFF * self.reach:
            angle = math.atan2(p.y, p.x)
        # of the two directions along the normal, the nearer to x
        return (angle if abs(angle) <= math.pi / 2 else angle - math.copysign(math.pi, angle)), height

    def is_far(self, X: Pose) -> bool:
        return abs(self.normal(X)[1]) > FAR * self.reach

    def refuse_far(self, i: int, X: Pose) -> None:
        if self.is_far(X):
            sideways = math.hypot(X.R.x.z, X.R.y.z)
            raise InputError(
                f"{self.who}: the axis of joint {self.bodies[i].name!r} is parallel to the one before but for"
                f" {sideways:.1e} rad, so that their common normal is {abs(self.normal(X)[1]):.3g} m away and numbers"
                f" would lose their digits. Mend the angle, or give tolerance={2 * sideways:.0e} to take the axes as"
                " parallel."
            )

    def step(self, i: int, b: Body) -> Step:
        """From the frame of body i's parent to its own."""
        X = snapped(self.shift[b.parent].inverse() @ b.placement)
        if b.parent == 0 or self.children[b.parent][0] != i:
            self.refuse_far(i, X)
            gamma, height = self.normal(X)
        else:
            gamma = height = 0.0
        X = snapped(_screw(gamma, height).inverse() @ X @ self.shift[i])
        alpha = math.atan2(-X.R.y.z, X.R.z.z)
        theta = math.atan2(-X.R.x.y, X.R.x.x)
        r = X.p.z * math.cos(alpha) - X.p.y * math.sin(alpha)
        return Step(*(0.0 if abs(x) < ROUND_OFF else x for x in (gamma, height, alpha, X.p.x, theta, r)))

    def data(self) -> Iterator[dict[str, Any]]:
        """Of each row all but the geometry."""
        for b, X, name in zip(self.bodies[1:], self.shift[1:], self.names(), strict=True):
            mass, com, inertia = self.mass(b, X)
            yield {
                "mass": mass, "com": com, "inertia": inertia, "name": name, "armature": b.armature,
                "friction": b.friction, "limits": self.joints[b.name].limits,
            }  # fmt: skip

    def mass(self, b: Body, X: Pose) -> tuple[float, Vec3, Any]:
        """Mass, centre and tensor of a body in its frame shifted by X; those of its link where nothing is new."""
        link = self.robot.link(b.link)
        if b.of_link @ X == Pose() and b.inertia == snapped_inertia(link.spatial_inertia):
            return link.mass, link.com, link.inertia
        back = X.inverse()
        I = b.inertia.seen_from(back.R, back.p)
        com = I.mc * (1.0 / I.m) if I.m else ZERO3
        return I.m, com, snapped_inertia(I.seen_from(EYE3, -com)).I_o

    def names(self) -> list[str]:
        """The rows' names: those of the joints, but for that of the base."""
        taken = {BASE, *self.joints}
        return [unused(BASE, taken) if b.name == BASE else b.name for b in self.bodies[1:]]

    def table(self, rows: tuple[Any, ...]) -> Table:
        back = [X.inverse() for X in self.shift]
        on = [BASE, *self.names()]
        frames = {}
        # a frame goes before the link of its name
        for key, (i, X) in sorted(self.tree.places.items(), key=lambda item: item[0].startswith("frame:")):
            name = key.removeprefix("frame:")
            frames[name] = Frame(name, on[i], snapped(back[i] @ X))
        base, tool = self.shift[0], snapped(back[-1] @ self.tree.places[self.bodies[-1].link][1])
        gravity = base.R.T @ self.robot.gravity
        return Table(rows, base, tool, gravity, tuple(frames.values()), tuple(self.lost))


def _screw(angle: float, height: float) -> Pose:
    """Rz(angle) Tz(height)."""
    return snapped(Pose(rot_z(angle) if angle else EYE3, Vec3(0.0, 0.0, height)))
