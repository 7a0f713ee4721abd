"""Closed loops: two points of a tree held together by a cut joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwise.errors import ModelError
from linkwise.robot import check
from linkwise.spatial import Pose

KINDS = ("revolute", "prismatic", "spherical", "universal", "fixed")


@dataclass(frozen=True)
class Loop:
    """A joint that was cut to leave a tree.

    Frame `origin_a` of link `a` and frame `origin_b` of link `b` (Khalil's k and k+B) are kept together; the cut joint
    is free about or along their common z axis (revolute, prismatic), about the point (spherical), about z of a and the
    x of b that stays perpendicular to it (universal), or not at all (fixed).

    Args:
        name: unique among the robot's loops.
        a, b: names of links.
        kind: "revolute", "prismatic", "spherical", "universal" or "fixed".
        origin_a, origin_b: poses of the two frames in their links.
        active: names of the actuated joints of this loop; a single one may stand alone.
    """

    name: str
    a: str
    b: str
    kind: str = "revolute"
    origin_a: Pose = Pose()
    origin_b: Pose = Pose()
    active: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        what = f"loop {check.name(self.name, 'loop name')!r}"
        if self.kind not in KINDS:
            raise ModelError(f"{what} kind: expected one of {KINDS}, got {self.kind!r}.")
        object.__setattr__(self, "origin_a", check.pose(self.origin_a, f"{what} origin_a"))
        object.__setattr__(self, "origin_b", check.pose(self.origin_b, f"{what} origin_b"))
        if self.a == self.b:
            raise ModelError(f"{what}: expected two links that it joins, got {self.a!r} for both a and b.")
        active: Any = self.active
        object.__setattr__(self, "active", (active,) if isinstance(active, str) else tuple(active))
