"""An arm of three joints whose motors stand on several links, described once for Linkwise and for explicit rotors."""

from dataclasses import dataclass
from typing import Any

import linkwise as lw
from linkwise.robot import Robot
from linkwise.vector import EYE3, Vec3, outer

GRAVITY = (0.4, -0.3, -9.6)


@dataclass(frozen=True)
class Part:
    """A link on its joint: placement by xyz and roll-pitch-yaw, joint kind and axis, mass, com, tensor about it."""

    xyz: tuple[float, ...]
    rpy: tuple[float, ...]
    kind: str
    axis: tuple[float, ...]
    mass: float
    com: tuple[float, ...]
    tensor: tuple[float, ...]


@dataclass(frozen=True)
class Geared:
    """A motor: mounting link (0 is the base), place and axis there, housing and rotor, gear, and stiffness or None.

    The rotor is a round body of axial inertia `rotor` and inertia `across` about other axes, with mass `spinning`.
    """

    link: int
    xyz: tuple[float, ...]
    axis: tuple[float, ...]
    housing: float
    shell: float
    spinning: float
    rotor: float
    across: float
    gear: float
    stiffness: float | None


PARTS = (
    Part((0.0, 0.1, 0.2), (0.3, -0.2, 0.5), "revolute", (0.0, 0.6, 0.8), 2.0, (0.05, 0.1, -0.02),
         (0.03, 0.002, -0.001, 0.04, 0.003, 0.02)),
    Part((0.3, 0.0, 0.1), (-0.4, 0.7, 0.1), "prismatic", (0.36, 0.48, 0.8), 1.2, (-0.04, 0.02, 0.12),
         (0.01, 0.001, 0.0, 0.015, -0.002, 0.012)),
    Part((0.05, -0.2, 0.15), (1.1, 0.2, -0.6), "revolute", (1.0, 0.0, 0.0), 0.8, (0.02, 0.15, 0.03),
         (0.012, 0.0, 0.001, 0.004, 0.0005, 0.011)),
)  # fmt: skip
MOTORS = (
    Geared(1, (0.02, 0.05, 0.03), (0.8, 0.0, 0.6), 0.3, 4e-4, 0.2, 3e-4, 2e-4, 12.0, 90.0),
    Geared(0, (0.1, 0.0, 0.1), (0.0, 1.0, 0.0), 0.5, 5e-4, 0.3, 4e-4, 3e-4, -20.0, None),
    Geared(2, (-0.03, 0.04, 0.08), (0.48, 0.6, 0.64), 0.25, 3e-4, 0.15, 2e-4, 1.5e-4, 30.0, 40.0),
)


def arm(motors: tuple[Geared, ...] = MOTORS) -> Robot:
    """The arm of Linkwise, in which a motor is one body with a rotor."""
    names = ["base", "link1", "link2", "link3"]
    links, joints = [lw.Link("base")], []
    for k, (part, m) in enumerate(zip(PARTS, motors, strict=True)):
        links.append(lw.Link(names[k + 1], part.mass, part.com, part.tensor))
        z = Vec3(*m.axis)
        I = EYE3 * (m.shell + m.across) + outer(z, z) * (m.rotor - m.across)
        tensor = (I.x.x, I.x.y, I.x.z, I.y.y, I.y.z, I.z.z)
        motor = lw.Motor(names[m.link], m.housing + m.spinning, m.xyz, tensor, m.rotor, m.axis)
        drive = lw.Drive(motor, m.gear, m.stiffness)
        origin = lw.Pose.of(part.xyz, part.rpy)
        joints.append(lw.Joint(f"joint{k + 1}", names[k], names[k + 1], part.kind, origin, part.axis, drive=drive))
    return Robot(links, joints, gravity=GRAVITY, name="geared")


def elastic(motors: tuple[Geared, ...] = MOTORS) -> list[int]:
    """Which joints have a spring in their drive."""
    return [k for k, m in enumerate(motors) if m.stiffness is not None]


def words(*numbers: Any) -> str:
    return " ".join(f"{float(x):.17g}" for x in numbers)
