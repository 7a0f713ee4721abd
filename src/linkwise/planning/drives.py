"""The drives of a robot: their names, where they are among its torques, and what nothing drives."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from linkwise.motion.columns import endings
from linkwise.motion.elastic import coupling_of
from linkwise.robot.coordinates import drive_slots
from linkwise.robot.leading import looped_groups
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
    found: dict[str, list[int]] = {"driven": [], "passive": []}
    chosen = [every[k] for k in robot.motors]
    for k, (name, _) in enumerate(chosen):
        j = joint_of[name]
        free = j.freedom.nv == 6 and j.name not in inside and not np.isfinite(j.limits.effort)
        found["passive" if free else "driven"].append(k)
    names = [f"{joint_of[name].name}{end}" for name, end in chosen]
    return Drives(
        tuple(names[k] for k in found["driven"]), tuple(joint_of[chosen[k][0]].name for k in found["driven"]),
        tuple(found["driven"]), tuple(found["passive"]), tuple(names[k] for k in found["passive"]), *coupling_of(robot),
    )  # fmt: skip


def drive_names(robot: Robot) -> tuple[str, ...]:
    """Names of the drives, in the order of the torques of a plan."""
    return drives_of(robot).names
