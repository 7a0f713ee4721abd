"""Closed loops: two points of a tree held together by a cut joint, or a wheel that rolls on a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwise.errors import ModelError
from linkwise.robot import check
from linkwise.rotation import with_z_along
from linkwise.spatial import Pose

FREE = {"revolute": 1, "prismatic": 1, "spherical": 3, "universal": 2, "fixed": 0}  # directions that a cut joint leaves
WHEELS = ("rolling", "omni", "skate", "glider")
KINDS = (*FREE, *WHEELS)


@dataclass(frozen=True)
class Loop:
    """A joint that was cut to leave a tree.

    Frame `origin_a` of link `a` and frame `origin_b` of link `b` (Khalil's k and k+B) are kept together; the cut joint
    is free about or along their common z axis (revolute, prismatic), about the point (spherical), about z of a and the
    x of b that stays perpendicular to it (universal), or not at all (fixed).

    A wheel is held in its velocities only, so that all positions stay free: the xy plane of `origin_a` is the ground, b
    the wheel, a thin disc about the z axis of `origin_b`. The point of the wheel that touches the ground does not slip
    along the wheel nor across it (rolling), not along it (omni, a wheel with rollers on its rim), not across it
    (skate), or as it likes (glider); all of them stay on the ground. `Loop.wheel` makes one from axis and radius.

    Args:
        name: unique among the robot's loops.
        a, b: names of links.
        kind: "revolute", "prismatic", "spherical", "universal", "fixed", or for wheels "rolling", "omni", "skate" or
            "glider".
        origin_a, origin_b: poses of the two frames in their links.
        active: names of the actuated joints of this loop; a single one may stand alone.
        radius: of a wheel, m.
    """

    name: str
    a: str
    b: str
    kind: str = "revolute"
    origin_a: Pose = Pose()
    origin_b: Pose = Pose()
    active: tuple[str, ...] = ()
    radius: float = 0.0

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
        object.__setattr__(self, "radius", check.number(self.radius, f"{what} radius", least=0.0))
        if self.kind in ("rolling", "omni") and not self.radius:
            raise ModelError(f"{what}: expected a radius above zero, got none for the kind {self.kind!r}.")
        if self.radius and not self.is_wheel:
            raise ModelError(f"{what}: expected no radius, which is for wheels {WHEELS}, got {self.radius:g}.")

    @classmethod
    def wheel(
        cls,
        name: str,
        ground: str,
        wheel: str,
        radius: float,
        *,
        axis: Any = (0.0, 1.0, 0.0),
        centre: Any = (0.0, 0.0, 0.0),
        normal: Any = (0.0, 0.0, 1.0),
        point: Any = (0.0, 0.0, 0.0),
        kind: str = "rolling",
        active: Any = (),
    ) -> Loop:
        """A wheel on a plane.

        Args:
            name: unique among the robot's loops.
            ground: the link that carries the plane, as a rule the root.
            wheel: the link that rolls.
            radius: of the wheel, m.
            axis: about which it turns, in its axes.
            centre: of the wheel, in its frame, m.
            normal: of the plane, in the axes of `ground`; to the side on which the wheel is.
            point: of the plane, in the frame of `ground`, m.
            kind: "rolling", "omni", "skate" or "glider".
            active: names of the actuated joints between ground and wheel.
        """
        plane = Pose(with_z_along(check.axis(normal, f"wheel {name!r} normal")), check.vector(point, "point"))
        disc = Pose(with_z_along(check.axis(axis, f"wheel {name!r} axis")), check.vector(centre, "centre"))
        return cls(name, ground, wheel, kind, plane, disc, active, radius)

    @property
    def is_wheel(self) -> bool:
        """Whether velocities alone are held, as of a wheel on the ground."""
        return self.kind in WHEELS

    @property
    def free(self) -> int:
        """In how many directions a cut joint leaves the links free to move on each other; 0 of a wheel."""
        return FREE.get(self.kind, 0)
