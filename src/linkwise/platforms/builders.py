"""Well-known platforms on legs by their dimensions."""

from __future__ import annotations

import math
from typing import Any

from linkwise.errors import InputError
from linkwise.platforms.legs import Leg, on_legs
from linkwise.robot import check
from linkwise.robot.drive import Friction, Limits, Spring
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.robot import GRAVITY, Robot
from linkwise.rotation import rot_z, with_z_along
from linkwise.spatial import Pose
from linkwise.vector import Mat3, Vec3, cross, dot

EX, EY = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0)
THIRD = 2.0 * math.pi / 3.0


def gough_stewart(
    *,
    base_radius: float = 0.6,
    platform_radius: float = 0.35,
    base_spread: float = math.radians(20.0),
    platform_spread: float = math.radians(24.0),
    height: float = 0.75,
    platform: Link | None = None,
    cylinder: Link | None = None,
    rod: Link | None = None,
    stroke: tuple[float, ...] | None = None,
    armature: float = 0.0,
    friction: Friction = Friction(),
    spring: Spring | None = None,
    gravity: Any = GRAVITY,
    name: str = "Gough-Stewart platform",
) -> Robot:
    """A hexapod: six legs, each a universal joint, a slide with a motor, and a spherical joint at the platform (6-UPS).

    Points of base and platform stand in pairs on circles, and a pair of one is between two of the other. The universal
    joint turns about a horizontal axis first and then about one across it; at zero the leg points to its place on the
    platform at `height` without turn.

    Args:
        base_radius: of the circle of the universal joints, in the plane z = 0, m.
        platform_radius: of the circle of the spherical joints, in the plane z = 0 of the platform, m.
        base_spread: angle between the two points of a pair, rad.
        platform_spread: the same at the platform, rad.
        height: of the platform in the middle of its motion, m.
        platform: its mass and inertia; None is a disc of 10 kg.
        cylinder: the lower part of a leg, z along the leg from the universal joint; None is a tube of 1.5 kg.
        rod: the upper part, z along the leg, from the spherical joint downwards; None is a bar of 0.8 kg.
        stroke: shortest and longest leg, m; None is 0.7 and 1.4 of the length in the middle.
        armature: inertia of a motor as its slide feels it, kg.
        friction: of a slide.
        spring: along a slide, with its rest as the length of the leg.
        gravity: m/s^2.
        name: of the robot.
    """
    lengths = {"base_radius": base_radius, "platform_radius": platform_radius, "height": height}
    _check_lengths("gough_stewart", lengths)
    base_spread = check.number(base_spread, "gough_stewart base_spread")
    platform_spread = check.number(platform_spread, "gough_stewart platform_spread")
    if stroke is not None:
        stroke = check.numbers(stroke, "gough_stewart stroke", 2)
    feet, tips = [], []
    for k in range(6):
        side, pair = (1.0 if k % 2 else -1.0), (k // 2) * THIRD
        feet.append(_on_circle(base_radius, pair + side * base_spread / 2.0))
        tips.append(_on_circle(platform_radius, pair + side * (THIRD / 2.0 - platform_spread / 2.0)))
    legs = []
    for k, (foot, tip) in enumerate(zip(feet, tips, strict=True), start=1):
        along = tip + Vec3(0.0, 0.0, height) - foot
        length = math.sqrt(dot(along, along))
        low, high = stroke if stroke is not None else (0.7 * length, 1.4 * length)
        slide = Joint(
            "slide", "cylinder", "rod", "prismatic", armature=armature, friction=friction, spring=spring,
            limits=Limits(low, high),
        )  # fmt: skip
        chain = _ups(cylinder or _tube("cylinder", 1.5, 0.5 * length, 0.02), rod or _bar(0.8, 0.5 * length), slide)
        base = Pose(_upright(along * (1.0 / length)), foot)
        legs.append(Leg(f"leg{k}", chain, "rod", tip, ("slide",), base, (("slide", length),)))
    disc = Link("platform", 10.0, (0.0, 0.0, 0.02), _disc(10.0, platform_radius, 0.04))
    at = (0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0)
    return on_legs(platform or disc, legs, "floating", home=at, gravity=gravity, name=name)


def delta(
    *,
    base_radius: float = 0.2,
    platform_radius: float = 0.05,
    arm: float = 0.25,
    forearm: float = 0.6,
    platform: Link | None = None,
    arm_mass: float = 0.5,
    forearm_mass: float = 0.2,
    armature: float = 0.0,
    friction: Friction = Friction(),
    gravity: Any = GRAVITY,
    name: str = "Delta",
) -> Robot:
    """A Delta robot: three arms with motors above, parallelograms below, and a platform that only translates.

    The platform hangs below, at negative z. An arm is horizontal at zero and turns down with a positive angle. Of a
    parallelogram the two rods move alike and are modelled as one between the middles of its short sides, on a
    universal joint, with the mass of both; the short sides are left out.

    Args:
        base_radius: from the middle to the motors' axes, m.
        platform_radius: from the middle of the platform to the lower ends of the parallelograms, m.
        arm: length of an arm, m.
        forearm: length of the parallelograms' rods, m.
        platform: its mass and centre; None is a point of 0.3 kg.
        arm_mass: of a slender arm, kg.
        forearm_mass: of the two rods of a parallelogram together, kg.
        armature: inertia of a motor as its arm feels it, kg m^2.
        friction: of a motor's joint.
        gravity: m/s^2.
        name: of the robot.
    """
    lengths = {"base_radius": base_radius, "platform_radius": platform_radius, "arm": arm, "forearm": forearm}
    _check_lengths("delta", lengths)
    if forearm <= abs(base_radius + arm - platform_radius):
        raise InputError(
            f"delta forearm: expected more than base_radius + arm - platform_radius ="
            f" {base_radius + arm - platform_radius:g} m, got {forearm:g} m. Make it longer."
        )
    links = [
        Link("ground"), _rod_along_x("arm", arm_mass, arm), Link("knee"), _rod_along_x("forearm", forearm_mass, forearm)
    ]  # fmt: skip
    # at zero the forearm goes on along x; a turn of 90 degrees about y points it down
    joints = [
        Joint("motor", "ground", "arm", axis=EY, armature=armature, friction=friction),
        Joint("swing", "arm", "knee", origin=Pose(p=Vec3(arm, 0.0, 0.0)), axis=EY),
        Joint("lean", "knee", "forearm"),
    ]
    chain = Robot(links, joints, [Frame("end", "forearm", Pose(p=Vec3(forearm, 0.0, 0.0)))], name="leg")
    down = math.acos((platform_radius - base_radius - arm) / forearm)  # arms are level then
    legs = []
    for k in range(3):
        turn = rot_z(k * THIRD)
        foot, tip = turn @ Vec3(base_radius, 0.0, 0.0), turn @ Vec3(platform_radius, 0.0, 0.0)
        legs.append(Leg(f"leg{k + 1}", chain, "end", tip, ("motor",), Pose(turn, foot), (("swing", down),)))
    low = (0.0, 0.0, -forearm * math.sin(down))
    return on_legs(platform or Link("platform", 0.3), legs, "translation", home=low, gravity=gravity, name=name)


def three_rrr(
    *,
    base_radius: float = 0.5,
    platform_radius: float = 0.15,
    proximal: float = 0.3,
    distal: float = 0.3,
    elbow: int = 1,
    platform: Link | None = None,
    proximal_mass: float = 0.6,
    distal_mass: float = 0.4,
    armature: float = 0.0,
    friction: Friction = Friction(),
    gravity: Any = GRAVITY,
    name: str = "3-RRR",
) -> Robot:
    """A planar machine: three legs of two links each in the plane x, y, motors at the base, hinges at the platform.

    Feet and points of the platform stand on circles at 0, 120 and 240 degrees. At angle zero a proximal link points to
    the middle.

    Args:
        base_radius: of the circle of the motors, m.
        platform_radius: of the circle of the platform's hinges, m.
        proximal: length of the links at the base, m.
        distal: length of the links at the platform, m.
        elbow: 1 or -1, the side to which elbows point: the sign of the angle at the elbow.
        platform: its mass, centre and inertia; None is a disc of 1 kg.
        proximal_mass: of a slender link, kg.
        distal_mass: of a slender link, kg.
        armature: inertia of a motor as its link feels it, kg m^2.
        friction: of a motor's joint.
        gravity: m/s^2; (0, -9.81, 0) stands the machine upright.
        name: of the robot.
    """
    lengths = {"base_radius": base_radius, "platform_radius": platform_radius, "proximal": proximal, "distal": distal}
    _check_lengths("three_rrr", lengths)
    if elbow not in (1, -1):
        raise InputError(f"three_rrr elbow: expected 1 or -1, got {elbow!r}.")
    links = [Link("ground"), _rod_along_x("near", proximal_mass, proximal), _rod_along_x("far", distal_mass, distal)]
    joints = [
        Joint("motor", "ground", "near", armature=armature, friction=friction),
        Joint("elbow", "near", "far", origin=Pose(p=Vec3(proximal, 0.0, 0.0))),
    ]
    chain = Robot(links, joints, [Frame("end", "far", Pose(p=Vec3(distal, 0.0, 0.0)))], name="leg")
    home = tuple(_two_links(base_radius - platform_radius, proximal, distal, elbow).items())
    legs = []
    for k in range(3):
        foot, tip = (_on_circle(r, k * THIRD) for r in (base_radius, platform_radius))
        base = Pose(rot_z(k * THIRD + math.pi), foot)
        legs.append(Leg(f"leg{k + 1}", chain, "end", tip, ("motor",), base, home))
    disc = Link("platform", 1.0, inertia=_disc(1.0, platform_radius, 0.01))
    return on_legs(platform or disc, legs, "planar", home=(0.0, 0.0, 0.0), gravity=gravity, name=name)


# ---- parts


def _ups(cylinder: Link, rod: Link, slide: Joint) -> Robot:
    """A universal joint about x and then y, and a slide along z."""
    for part in (cylinder, rod):
        if not isinstance(part, Link):
            raise InputError(f"gough_stewart: expected a Link for cylinder and rod, got {part!r}.")
    links = [
        Link("ground"), Link("cross"), Link("cylinder", cylinder.mass, cylinder.com, cylinder.inertia),
        Link("rod", rod.mass, rod.com, rod.inertia),
    ]  # fmt: skip
    joints = [
        Joint("tilt", "ground", "cross", axis=EX),
        Joint("swing", "cross", "cylinder", axis=EY),
        slide,
    ]
    return Robot(links, joints, name="leg")


def _upright(z: Vec3) -> Mat3:
    """Axes whose z is that direction and whose x is horizontal."""
    side = cross(Vec3(0.0, 0.0, 1.0), z)
    size = math.sqrt(dot(side, side))
    if size < 1e-9:
        return with_z_along(z)
    x = side * (1.0 / size)
    return Mat3(x, cross(z, x), z).T


def _two_links(distance: float, near: float, far: float, side: int) -> dict[str, float]:
    """Angles of two links that reach a point ahead; a right angle where they do not."""
    cosine = (distance**2 - near**2 - far**2) / (2.0 * near * far)
    elbow = side * (math.acos(cosine) if abs(cosine) < 1.0 else math.pi / 2.0)
    return {"motor": -math.atan2(far * math.sin(elbow), near + far * math.cos(elbow)), "elbow": elbow}


def _on_circle(radius: float, angle: float) -> Vec3:
    return Vec3(radius * math.cos(angle), radius * math.sin(angle), 0.0)


def _disc(mass: float, radius: float, thickness: float) -> tuple[float, float, float]:
    across = mass * (radius**2 / 4.0 + thickness**2 / 12.0)
    return (across, across, mass * radius**2 / 2.0)


def _rod_along_x(name: str, mass: float, length: float) -> Link:
    """A slender rod from its frame's origin along x."""
    mass = check.number(mass, f"{name} mass", least=0.0)
    across = mass * length**2 / 12.0
    return Link(name, mass, (length / 2.0, 0.0, 0.0), (0.0, across, across))


def _tube(name: str, mass: float, length: float, radius: float) -> Link:
    """A tube from its frame's origin along z."""
    across = mass * (length**2 / 12.0 + radius**2 / 2.0)
    return Link(name, mass, (0.0, 0.0, length / 2.0), (across, across, mass * radius**2))


def _bar(mass: float, length: float, radius: float = 0.01) -> Link:
    """A round bar that ends at its frame's origin, and lies along z below it."""
    across = mass * (length**2 / 12.0 + radius**2 / 4.0)
    return Link("rod", mass, (0.0, 0.0, -length / 2.0), (across, across, mass * radius**2 / 2.0))


def _check_lengths(what: str, lengths: dict[str, Any]) -> None:
    for name, value in lengths.items():
        check.number(value, f"{what} {name}", above=0.0)
