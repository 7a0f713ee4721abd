"""Springs of a robot as numbers that torques are linear in, where positions on both sides are measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from linkwise.robot import parameters as paths
from linkwise.robot.robot import Robot


def spring_numbers(robot: Robot) -> dict[str, float]:
    """Stiffness and damping of elastic drives, and stiffness of springs along joints, by path."""
    names = []
    for j in robot.joints:
        names += [f"{j.name}.drive_stiffness", f"{j.name}.drive_damping"] if j.is_elastic else []
        names += [f"{j.name}.stiffness"] if j.spring else []
    return {name: paths.read(robot, name)[0] for name in names}


def with_springs(robot: Robot, numbers: Mapping[str, float]) -> Robot:
    """The robot with other numbers of springs; of those below what a spring can have the robot's own stay."""
    found = {}
    for j in robot.joints:
        drive, spring = j.drive, j.spring
        if drive is not None and drive.stiffness is not None:
            stiffness, damping = (numbers.get(f"{j.name}.drive_{x}", -1.0) for x in ("stiffness", "damping"))
            drive = replace(drive, stiffness=stiffness) if stiffness > 0.0 else drive
            drive = replace(drive, damping=max(damping, 0.0)) if f"{j.name}.drive_damping" in numbers else drive
        if spring is not None:
            spring = replace(spring, stiffness=max(numbers.get(f"{j.name}.stiffness", spring.stiffness), 0.0))
        if (drive, spring) != (j.drive, j.spring):
            found[j.name] = replace(j, drive=drive, spring=spring)
    return robot.replace(*found.values())
