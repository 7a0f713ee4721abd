"""Robots from tables of Denavit-Hartenberg parameters, and of Khalil's for trees.

The angle theta and the offset d (r) of a row are added to the joint's variable: theta + q for a revolute
joint, d + q for a prismatic one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.robot import GRAVITY, Robot
from linkwise.robot.table import BASE, SIGMA, AnyRow, DHRow, KhalilRow, antecedents, in_row, table_of
from linkwise.rotation import rot_x, rot_z
from linkwise.spatial import Pose
from linkwise.vector import EZ, Mat3, Vec3


def standard_dh(
    rows: Iterable[AnyRow], *, name: str = "robot", gravity: Any = GRAVITY, frames: Iterable[Frame] = ()
) -> Robot:
    """The serial robot of a standard (distal) Denavit-Hartenberg table.

        T(j-1, j) = Rz(theta) Tz(d) Tx(a) Rx(alpha)

    Frame j is fixed to link j at its far end; joint j acts about z of frame j-1, so that the link's com and
    inertia are given in frame j, and its joint's wrench refers to the origin of frame j-1.

    Args:
        rows: each a `DHRow`, a mapping with its fields, or a tuple (theta, d, a, alpha[, kind]).
        name: of the robot.
        gravity: acceleration of free fall in the axes of frame 0, the link "base".
        frames: further frames on links.
    """

    def place(k: int, row: DHRow, parent: str) -> Joint:
        X = _turned(rot_z, row.theta) @ _moved(z=row.d) @ _moved(x=row.a) @ _turned(rot_x, row.alpha)
        return row.joint(k, parent, row.kind, X, axis=X.R.T @ EZ, anchor=X.inverse().p)

    return _serial(rows, place, name, gravity, frames)


def modified_dh(
    rows: Iterable[AnyRow], *, name: str = "robot", gravity: Any = GRAVITY, frames: Iterable[Frame] = ()
) -> Robot:
    """The serial robot of a modified (proximal) Denavit-Hartenberg table.

        T(i, i+1) = Rx(alpha_i) Tx(a_i) Rz(theta_i+1) Tz(d_i+1)

    Frame j is fixed to link j at its joint, which acts about z. Row i+1 holds alpha_i and a_i.

    Args:
        rows: each a `DHRow`, a mapping with its fields, or a tuple (theta, d, a, alpha[, kind]).
        name: of the robot.
        gravity: acceleration of free fall in the axes of frame 0, the link "base".
        frames: further frames on links.
    """

    def place(k: int, row: DHRow, parent: str) -> Joint:
        X = _turned(rot_x, row.alpha) @ _moved(x=row.a) @ _turned(rot_z, row.theta) @ _moved(z=row.d)
        return row.joint(k, parent, row.kind, X)

    return _serial(rows, place, name, gravity, frames)


def khalil(
    rows: Iterable[AnyRow], *, name: str = "robot", gravity: Any = GRAVITY, frames: Iterable[Frame] = ()
) -> Robot:
    """The tree of a table in Khalil's notation, six parameters a row.

        T(i, j) = Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r),        i the antecedent of j

    Frame j is fixed to link j at its joint, which acts about z. As always the robot's joints are put in
    depth-first order, which may differ from the table's: `robot.names` tells.

    Args:
        rows: each a `KhalilRow`, a mapping with its fields, or a tuple (antecedent, sigma, gamma, b, alpha,
            d, theta, r).
        name: of the robot.
        gravity: acceleration of free fall in the axes of frame 0, the link "base".
        frames: further frames on links.

    Source: [Khalil] section 2.1, (1). We depart in theta and r, which are offsets here.
    """
    table = table_of(KhalilRow, rows)
    links = [row.link(k) for k, row in enumerate(table, start=1)]
    parents = antecedents(table, [k.name for k in links])
    joints = []
    for k, (row, parent) in enumerate(zip(table, parents, strict=True), start=1):
        X = _turned(rot_z, row.gamma) @ _moved(z=row.b) @ _turned(rot_x, row.alpha) @ _moved(x=row.d)
        X = X @ _turned(rot_z, row.theta) @ _moved(z=row.r)
        with in_row(k):
            joints.append(row.joint(k, links[parent - 1].name if parent else BASE, SIGMA[row.sigma], X))
    return Robot([Link(BASE), *links], joints, frames, gravity=gravity, name=name)


def _serial(
    rows: Iterable[AnyRow],
    place: Callable[[int, DHRow, str], Joint],
    name: str,
    gravity: Any,
    frames: Iterable[Frame],
) -> Robot:
    """The chain of a table whose rows are placed one on the other."""
    links, joints = [Link(BASE)], []
    for k, row in enumerate(table_of(DHRow, rows), start=1):
        with in_row(k):
            joints.append(place(k, row, links[-1].name))
            links.append(row.link(k))
    return Robot(links, joints, frames, gravity=gravity, name=name)


# ---- geometry


def _turned(rot: Callable[[float], Mat3], angle: float) -> Pose:
    """A turn; that by a right angle comes out exact."""
    return Pose(Mat3.of([[0.0 if abs(x) < 1e-15 else x for x in row] for row in rot(angle)]))


def _moved(x: float = 0.0, z: float = 0.0) -> Pose:
    return Pose(p=Vec3(x, 0.0, z))
