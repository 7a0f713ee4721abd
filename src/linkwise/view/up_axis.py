"""COLLADA files that say their y axis is up: whether they mean it.

Tools of ROS draw such files as they are, and most robots are made for that; some are made for tools that turn them. A
mesh reaches from the joint that carries its link to those that the link carries, so that the joints tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from linkwise.robot.geometry import Shape
from linkwise.robot.robot import Robot
from linkwise.view.meshes import Loaded, Pieces
from linkwise.view.solids import Array, Solid

Y_TO_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def settled(robot: Robot, loaded: Loaded, said: Collection[Shape]) -> Loaded:
    """The meshes, those of `said` turned from y up to z up where they are closer to the joints then."""
    joints: dict[str, list[Array]] = {}
    for j in robot.joints:
        joints.setdefault(j.child, []).append(np.array(j.anchor, dtype=float))
        joints.setdefault(j.parent, []).append(np.array(j.origin.point(j.anchor), dtype=float))
    turned = {shape: [(_turned(solid), colour) for solid, colour in loaded[shape]] for shape in said}
    as_they_are = sum(_apart(shape, loaded[shape], joints.get(shape.link, ())) for shape in said)
    z_up = sum(_apart(shape, turned[shape], joints.get(shape.link, ())) for shape in said)
    return loaded | turned if z_up < 0.5 * as_they_are else loaded


def _turned(solid: Solid) -> Solid:
    return Solid(solid.vertices @ Y_TO_Z.T, solid.faces)


def _apart(shape: Shape, pieces: Pieces, points: Iterable[Array]) -> float:
    """How far points of a link are from the box around a mesh, all together."""
    R, p = np.array(shape.origin.R, dtype=float), np.array(shape.origin.p, dtype=float)
    vertices = np.concatenate([solid.vertices for solid, _ in pieces]) * np.array(shape.size) @ R.T + p
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    return sum(float(np.linalg.norm(np.clip(x, low, high) - x)) for x in points)
