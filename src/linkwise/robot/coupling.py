"""Coordinates that follow others by functions: parts of coupled joints, and joints that mimic by a curve."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import NamedTuple

from linkwise.robot.joint import Curve, Joint
from linkwise.robot.link import Link
from linkwise.scalar import Scalar
from linkwise.spatial import Pose


class Coupling(NamedTuple):
    """A joint of one coordinate whose position is ratio * curve(position of another) + offset."""

    joint: str
    leader: str
    curve: Curve
    ratio: Scalar = 1.0
    offset: Scalar = 0.0

    def value(self, x: Scalar, order: int = 0) -> Scalar:
        """The position, or its derivative of that order by the leader's."""
        found = self.curve.value(x, order) * self.ratio
        return found if order else found + self.offset


def couplings(joints: Iterable[Joint]) -> tuple[Coupling, ...]:
    """All of a robot's joints; parts of a coupled joint are named after it."""
    found = []
    for j in joints:
        if j.mimic is not None and j.mimic.curve is not None:
            found.append(Coupling(j.name, j.mimic.joint, j.mimic.curve, j.mimic.ratio, j.mimic.offset))
        if j.course is not None:
            found += [Coupling(f"{j.name}.{name}", j.name, c) for name, c in j.course.curves.items()]
    return tuple(found)


def uncoupled(joints: Iterable[Joint]) -> tuple[list[Joint], list[Link]]:
    """The joints with every coordinate moving by itself, and massless links between parts of coupled joints.

    The coordinate of a coupled joint is that of a joint of its name on a link of its own, which carries nothing.
    """
    found: list[Joint] = []
    links: list[Link] = []
    for j in joints:
        if j.mimic is not None and j.mimic.curve is not None:
            found.append(dataclasses.replace(j, mimic=None))
            continue
        if j.course is None:
            found.append(j)
            continue
        links.append(Link(f"{j.name}.coordinate"))
        own = Joint(j.name, j.parent, links[-1].name, "revolute", spring=j.spring, limits=j.limits)
        found.append(own)
        F, parent, origin = j.freedom.frame(j.axis, j.anchor), j.parent, j.origin
        parts = j.freedom.follows
        for k, (name, kind, axis) in enumerate(parts):
            child = j.child if k == len(parts) - 1 else f"{j.name}.{name}"
            if child != j.child:
                links.append(Link(child))
            found.append(Joint(f"{j.name}.{name}", parent, child, kind.name, origin, F.R @ axis, j.anchor))
            parent, origin = child, Pose()
    return found, links
