"""What is left of a robot in forms that know links, joints and friction only, and what they cannot say."""

from __future__ import annotations

from dataclasses import replace

from linkwise.robot.drive import Drive, Friction
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot


def rigid_tree(robot: Robot) -> tuple[Robot, list[str]]:
    """The robot without springs, drives and loops, and sentences that say what went with them.

    Torques change as little as can be: motors become dead weight of the links that carry them, and their friction is
    seen through the gear.
    """
    lost: list[str] = []
    links = {k.name: k for k in robot.links}
    joints = []
    for j in robot.joints:
        friction, missing = _at_joint(j)
        missing += _parts(j)
        if j.drive and j.drive.motor:
            links[j.motor_link] = links[j.motor_link].carrying(j.drive.motor)
            missing.append(f"motor (its mass stays, on link {j.motor_link!r})")
        if missing:
            lost.append(f"joint {j.name!r}: left out: {', '.join(missing)}.")
        mimic = j.mimic
        if mimic is not None and mimic.curve is not None:
            lost.append(f"joint {j.name!r}: left out: that it follows {mimic.joint!r} by a curve; it moves by itself.")
            mimic = None
        joints.append(replace(j, friction=friction, spring=None, drive=None, mimic=mimic))
    lost += [f"loop {loop.name!r}: left out; the tree remains." for loop in robot.loops]
    return robot.replace(links=list(links.values()), joints=joints, loops=(), leads=(), reference=()), lost


def has_dry_part(f: Friction) -> bool:
    """Whether there is more than viscous friction."""
    return bool(f.coulomb or (f.law == "stribeck" and f.static))


def _parts(j: Joint) -> list[str]:
    """What a joint has beside mass and friction, in words."""
    drive = j.drive or Drive()
    found = {
        "spring": j.spring is not None and j.spring.stiffness,
        "gear ratio": drive.gear != 1.0,
        "elasticity of the drive": drive.is_elastic,
        "torque-speed curve": drive.curve,
        "supply limit": drive.power != Drive.power,
    }
    return [words for words, there in found.items() if there]


def _at_joint(j: Joint) -> tuple[Friction, list[str]]:
    """All friction of a joint as its own: also the spring's damping, and the motor's friction seen through the gear."""
    own, motor = j.friction, Friction()
    if j.drive:
        g, f = abs(j.drive.gear), j.drive.friction
        seen = Friction(f.viscous * g * g, f.coulomb * g, f.law, f.width / g, f.static * g, f.stribeck / g)
        motor = replace(seen, offset=f.offset * j.drive.gear)
    viscous = own.viscous + motor.viscous + (j.spring.damping if j.spring else 0.0)
    own, motor = (replace(f, viscous=viscous, offset=own.offset + motor.offset) for f in (own, motor))
    if not has_dry_part(motor):
        return own, []
    if not has_dry_part(own):
        return motor, []
    if own.law == motor.law == "coulomb":
        return replace(own, coulomb=own.coulomb + motor.coulomb), []
    return own, ["dry friction of the motor"]
