"""Robots from tables of Denavit-Hartenberg parameters, and of Khalil's for trees.

The angle theta and the offset d (r) of a row are added to the joint's variable: theta + q for a revolute
joint, d + q for a prismatic one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from linkwise.formats.dh_questions import questions
from linkwise.formats.dh_rows import BASE, SIGMA, AnyRow, DHRow, KhalilRow, Reading, antecedents, in_row, table_of
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.robot import GRAVITY, Robot
from linkwise.rotation import rot_x, rot_z
from linkwise.spatial import Pose
from linkwise.vector import EZ, Mat3, Vec3

R = TypeVar("R", DHRow, KhalilRow)


def standard_dh(
    rows: Iterable[AnyRow],
    *,
    angles: str = "radians",
    order: str | Sequence[str] | None = None,
    name: str = "robot",
    gravity: Any = GRAVITY,
    frames: Iterable[Frame] = (),
) -> Robot:
    """The robot of a standard (distal) Denavit-Hartenberg table: a chain, or a tree where rows name antecedents.

        T(i, j) = Rz(theta) Tz(d) Tx(a) Rx(alpha),        i the antecedent of j, without one j-1

    Frame j is fixed to link j at its far end; joint j acts about z of frame i, so that the link's com and
    inertia are given in frame j, and its joint's wrench refers to the origin of frame i. A branch of link i starts
    from frame i too: all joints on link i act about the same z, that at its end. Where one of them has its axis
    elsewhere, use `khalil` or links and joints.

    Args:
        rows: each a `DHRow`, a mapping with its fields, or a tuple (theta, d, a, alpha[, kind]).
        angles: "radians", or "degrees" for theta and alpha of a table in degrees; limits stay in rad.
        order: of the columns of tuples, by name, where it is another one: "alpha a d theta", as Craig has them.
        name: of the robot.
        gravity: acceleration of free fall in the axes of frame 0, the link "base".
        frames: further frames on links.
    """

    def place(k: int, row: DHRow, parent: str) -> Joint:
        X = _turned(rot_z, row.theta) @ _moved(z=row.d) @ _moved(x=row.a) @ _turned(rot_x, row.alpha)
        return row.joint(k, parent, row.kind, X, axis=X.R.T @ EZ, anchor=X.inverse().p)

    return _of_table(DHRow, rows, Reading(angles, order), place, name, gravity, frames)


def modified_dh(
    rows: Iterable[AnyRow],
    *,
    angles: str = "radians",
    order: str | Sequence[str] | None = None,
    name: str = "robot",
    gravity: Any = GRAVITY,
    frames: Iterable[Frame] = (),
) -> Robot:
    """The robot of a modified (proximal) Denavit-Hartenberg table: a chain, or a tree where rows name antecedents.

        T(i, j) = Rx(alpha) Tx(a) Rz(theta) Tz(d),        i the antecedent of j, without one j-1

    Frame j is fixed to link j at its joint, which acts about z. Row j holds alpha and a of the step from frame i,
    which books give the number i. A branch of link i starts from frame i too: the common normals of its axis and
    those of all joints on link i run along the same x. Where one does not, use `khalil`, which turns it by gamma.

    Args:
        rows: each a `DHRow`, a mapping with its fields, or a tuple (theta, d, a, alpha[, kind]).
        angles: "radians", or "degrees" for theta and alpha of a table in degrees; limits stay in rad.
        order: of the columns of tuples, by name, where it is another one: "alpha a d theta", as Craig has them.
        name: of the robot.
        gravity: acceleration of free fall in the axes of frame 0, the link "base".
        frames: further frames on links.
    """

    def place(k: int, row: DHRow, parent: str) -> Joint:
        X = _turned(rot_x, row.alpha) @ _moved(x=row.a) @ _turned(rot_z, row.theta) @ _moved(z=row.d)
        return row.joint(k, parent, row.kind, X)

    return _of_table(DHRow, rows, Reading(angles, order), place, name, gravity, frames)


def khalil(
    rows: Iterable[AnyRow],
    *,
    angles: str = "radians",
    order: str | Sequence[str] | None = None,
    name: str = "robot",
    gravity: Any = GRAVITY,
    frames: Iterable[Frame] = (),
) -> Robot:
    """The tree of a table in Khalil's notation, six parameters a row.

        T(i, j) = Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r),        i the antecedent of j

    Frame j is fixed to link j at its joint, which acts about z. As always the robot's joints are put in
    depth-first order, which may differ from the table's: `robot.names` tells.

    Args:
        rows: each a `KhalilRow`, a mapping with its fields, or a tuple (antecedent, sigma, gamma, b, alpha,
            d, theta, r).
        angles: "radians", or "degrees" for the three angles of a table in degrees; limits stay in rad.
        order: of the columns of tuples, by name, where it is another one.
        name: of the robot.
        gravity: acceleration of free fall in the axes of frame 0, the link "base".
        frames: further frames on links.

    Source: [Khalil] section 2.1, (1). We depart in theta and r, which are offsets here.
    """

    def place(k: int, row: KhalilRow, parent: str) -> Joint:
        X = _turned(rot_z, row.gamma) @ _moved(z=row.b) @ _turned(rot_x, row.alpha) @ _moved(x=row.d)
        return row.joint(k, parent, SIGMA[row.sigma], X @ _turned(rot_z, row.theta) @ _moved(z=row.r))

    return _of_table(KhalilRow, rows, Reading(angles, order), place, name, gravity, frames)


def _of_table(
    kind: type[R],
    rows: Iterable[AnyRow],
    reading: Reading,
    place: Callable[[int, R, str], Joint],
    name: str,
    gravity: Any,
    frames: Iterable[Frame],
) -> Robot:
    """The tree of a table whose rows are placed on their antecedents; what looks odd is noted."""
    table, listed = table_of(kind, rows, reading)
    links, joints = [Link(BASE)], []
    for k, row in enumerate(table, start=1):
        with in_row(k):
            links.append(row.link(k))
    for k, parent in enumerate(antecedents(table, [link.name for link in links[1:]]), start=1):
        with in_row(k):
            joints.append(place(k, table[k - 1], links[parent].name))
    ordered = listed and reading.order is None and kind is DHRow
    notes = questions(table, kind.ANGLES, kind.LENGTHS, reading.angles, ordered)
    return Robot(links, joints, frames, gravity=gravity, name=name, notes=notes)


# ---- geometry


def _turned(rot: Callable[[float], Mat3], angle: float) -> Pose:
    """A turn; that by a right angle comes out exact."""
    return Pose(Mat3.of([[0.0 if abs(x) < 1e-15 else x for x in row] for row in rot(angle)]))


def _moved(x: float = 0.0, z: float = 0.0) -> Pose:
    return Pose(p=Vec3(x, 0.0, z))
