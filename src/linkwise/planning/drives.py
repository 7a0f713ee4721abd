"""The drives of a robot: their names, where they are among its torques, what nothing drives, and who is refused."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from linkwise.errors import InputError
from linkwise.mechanism.structure import structure_of
from linkwise.motion.columns import endings
from linkwise.motion.elastic import coupling_of
from linkwise.robot.coordinates import drive_slots
from linkwise.robot.leading import looped_groups, refuse_wheels
from linkwise.robot.robot import Robot

KEPT = 64


class Drives(NamedTuple):
    """What pushes a robot.

    Args:
        names: of drives, each of one degree of freedom.
        joints: which they move.
        places: where they are among the torques at `robot.motors`.
        passive: where the generalised forces are there that nothing drives: those of a floating base.
        floating: names of these.
        levels: how often motors behind springs carry each other, at least 1 where there are springs; else 0.
        coupling: how motors that springs carry are counted, "exact" or "rigid".
        neglected: what is neglected of them, and why.
    """

    names: tuple[str, ...]
    joints: tuple[str, ...]
    places: tuple[int, ...]
    passive: tuple[int, ...]
    floating: tuple[str, ...]
    levels: int = 0
    coupling: str = "exact"
    neglected: str = ""

    @property
    def floating_joints(self) -> tuple[str, ...]:
        """The joints of a base that nothing drives."""
        return tuple(dict.fromkeys(n.rsplit(".", 1)[0] for n in self.floating))

    @property
    def orders(self) -> int:
        """How many derivatives of positions torques and their rates depend on, the positions counted."""
        return max(5, 4 + 2 * self.levels)


@lru_cache(maxsize=KEPT)
def drives_of(robot: Robot) -> Drives:
    """The drives of a robot. A floating joint that is in no loop, without a limit of effort, is driven by nothing."""
    joint_of = {j.motor_name if j.is_elastic else j.name: j for j in robot.joints}
    inside = {name for group in looped_groups(robot) for name in group}
    every = [(name, end) for name, slot in drive_slots(robot).items() for end in endings(slot.kind, "tau")]
    driven: list[int] = []
    passive: list[int] = []
    chosen = [every[k] for k in robot.motors]
    for k, (name, _) in enumerate(chosen):
        j = joint_of[name]
        free = j.freedom.nv == 6 and j.name not in inside and not np.isfinite(j.limits.effort)
        (passive if free else driven).append(k)
    names = [f"{joint_of[name].name}{end}" for name, end in chosen]
    joints = tuple(joint_of[chosen[k][0]].name for k in driven)
    own, floating = (tuple(names[k] for k in group) for group in (driven, passive))
    return Drives(own, joints, tuple(driven), tuple(passive), floating, *coupling_of(robot))


def drive_names(robot: Robot) -> tuple[str, ...]:
    """Names of the drives, in the order of the torques of a plan."""
    return drives_of(robot).names


def check_driven(robot: Robot, what: str) -> None:
    """Refuse robots whose loops leave something that no drive determines."""
    refuse_wheels(robot, what)
    links = robot.rigid()
    structure = structure_of(links)
    if structure.free and not structure.redundant:
        raise InputError(
            f"{what}: expected loops whose joints are all driven or passive, got {structure.free[0]!r} on a spring"
            " alone."
        )
    inside = {name for group in looped_groups(robot) for name in group}
    for name in inside.intersection(links.drives):
        if robot.joint(name).freedom.nv > 1:
            raise InputError(f"{what}: expected drives of one degree of freedom, got the joint {name!r}.")


def too_weak(where: str, joint: str, needs: float, limit: float, other: str, friction: bool = False) -> InputError:
    """What is said of a drive that cannot hold its load: where, how much it needs, what it has, what to change."""
    against = "gravity, springs, friction and loads" if friction else "gravity, springs and loads"
    return InputError(
        f"{where} the joint {joint!r} needs {abs(needs):.4g} against {against} alone, but its effort is limited to"
        f" {limit:.4g}. Take a stronger drive or another {other}."
    )


def check_held(robot: Robot, what: str, instead: str) -> None:
    """Refuse robots of whose motion drives do not determine all: a base that floats, and what is free in loops."""
    passive = drives_of(robot).floating_joints
    if passive:
        raise InputError(
            f"{what}: expected a base that is held or driven, got the floating joint {passive[0]!r}, which nothing"
            f" drives: it moves as the rest makes it move, so that it cannot be led along. {instead}"
        )
    check_driven(robot, what)
