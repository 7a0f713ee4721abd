"""Links and named frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkwise.robot import check
from linkwise.robot.drive import Motor
from linkwise.spatial import Inertia, Pose, symmetric
from linkwise.vector import EYE3, ZERO3, Mat3, Vec3


@dataclass(frozen=True)
class Link:
    """A rigid body: its mass, centre of mass and inertia tensor, in the axes of its own frame.

    Args:
        name: unique among the robot's links.
        mass: kg.
        com: centre of mass from the link frame's origin, m.
        inertia: tensor about the **centre of mass**, kg m^2: three numbers (diagonal), six (xx, xy, xz, yy, yz, zz),
            or a symmetric 3 by 3 matrix. Stored as six.
    """

    name: str
    mass: float = 0.0
    com: Vec3 = ZERO3
    inertia: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def __init__(self, name: str, mass: Any = 0.0, com: Any = ZERO3, inertia: Any = (0.0, 0.0, 0.0)) -> None:
        set_ = object.__setattr__
        set_(self, "name", check.name(name, "link name"))
        set_(self, "mass", check.number(mass, f"link {name!r} mass", least=0.0))
        set_(self, "com", check.vector(com, f"link {name!r} com"))
        set_(self, "inertia", check.tensor(inertia, f"link {name!r} inertia"))

    @property
    def spatial_inertia(self) -> Inertia:
        """Mass and moments about the link frame's origin."""
        return Inertia.of(self.mass, self.com, self.inertia)

    def carrying(self, motor: Motor) -> Link:
        """This link with a motor's mass and tensor, given in its axes, lumped in."""
        total = self.spatial_inertia + Inertia.of(motor.mass, motor.com, motor.inertia)
        com = total.mc * (1.0 / total.m) if total.m else ZERO3
        return Link(self.name, total.m, com, total.seen_from(EYE3, -com).I_o)


@dataclass(frozen=True)
class Frame:
    """A named frame fixed to a link: a tool, a sensor, a point where a force acts.

    Args:
        name: unique among the robot's frames.
        link: the link that carries it.
        origin: its pose in the link's frame.
    """

    name: str
    link: str
    origin: Pose = Pose()

    def __post_init__(self) -> None:
        check.name(self.name, "frame name")
        check.name(self.link, f"frame {self.name!r} link")
        object.__setattr__(self, "origin", check.pose(self.origin, f"frame {self.name!r} origin"))


def turned(tensor: Sequence[float], R: Mat3) -> tuple[float, ...]:
    """R I R^T for a tensor of six, as one has to write it in axes that `R` takes its own to."""
    if R is EYE3:
        return tuple(tensor)
    x, y, z = R @ symmetric(*tensor) @ R.T
    return (x.x, x.y, x.z, y.y, y.z, z.z)
