"""One machine of every sort, with random states that its loops allow."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.platforms import delta, gough_stewart, three_rrr
from linkwise.robot.edit import floating

SEED = 7


@dataclass(frozen=True)
class Sort:
    """A machine, a link on which something may push, and whether its base moves."""

    robot: lw.Robot
    pushed: str
    base_motion: bool = False
    width: float = 0.15  # of random states around the reference

    def dynamics(self, **options: Any) -> lw.Dynamics:
        """Its functions."""
        if self.base_motion:
            options = {"base_motion": True, "gravity": "input", **options}
        return lw.compile(self.robot, **options)

    def states(self, count: int = 4, order: int = 2) -> list[np.ndarray]:
        """Positions and so many derivatives."""
        rng = np.random.default_rng(SEED)
        robot, dyn = self.robot, lw.compile(self.robot)
        q = dyn.integrate(robot.q(), self.width * rng.uniform(-1.0, 1.0, (count, robot.nv)), 1.0)
        return [q, *rng.uniform(-1.0, 1.0, (order, count, robot.nv))]

    def surroundings(self, count: int = 4, order: int = 0) -> list[np.ndarray]:
        """Velocity, acceleration (and so many derivatives more) of the base, and gravity, where the base moves."""
        if not self.base_motion:
            return []
        rng = np.random.default_rng(SEED + 1)
        return [*rng.uniform(-1.0, 1.0, (2 + order, count, 6)), *[rng.uniform(-9.0, 9.0, (count, 3))]]


def elastic(robot: lw.Robot, names: set[str]) -> lw.Robot:
    """The robot with springs between some motors and their joints."""
    joints = []
    for k, j in enumerate(robot.joints):
        drive = lw.Drive(gear=20.0 + k, stiffness=300.0 + 10.0 * k, damping=0.4)
        joints.append(replace(j, drive=drive, armature=0.04 + 0.01 * k) if j.name in names else j)
    return robot.replace(joints=joints)


def driven(robot: lw.Robot) -> set[str]:
    """The active joints of all loops."""
    return {name for loop in robot.loops for name in loop.active}


@cache
def sort(name: str) -> Sort:
    """One of `SORTS`."""
    arm = lw.load("puma560")
    five, ankle = lw.load("fivebar"), lw.load("ankle")
    tip = arm.moving_links[-1]
    soft = elastic(arm, {arm.names[1], arm.names[3]})
    hexapod = gough_stewart(armature=0.4, friction=lw.Friction(20.0, 3.0), spring=lw.Spring(500.0, 5.0, 0.8))
    machines = {
        "arm": Sort(arm, tip),
        "floating": Sort(floating(arm), tip),
        "moving base": Sort(arm, tip, base_motion=True),
        "elastic": Sort(soft, tip),
        "elastic, moving base": Sort(soft, tip, base_motion=True),
        "five-bar": Sort(five, five.moving_links[-1], width=0.3),
        "five-bar, elastic": Sort(elastic(five, driven(five)), five.moving_links[-1], width=0.3),
        "ankle, moving base": Sort(ankle, ankle.moving_links[0], base_motion=True),
        "hexapod": Sort(hexapod, "platform"),
        "Delta": Sort(delta(armature=0.01, friction=lw.Friction(0.1)), "platform", width=0.08),
        "hexapod + arm": Sort(gough_stewart().attach(arm, "platform", "arm_"), f"arm_{tip}"),
        "3-RRR": Sort(three_rrr(gravity=(1.0, -9.0, 0.0)), "platform", width=0.1),
        "hexapod, elastic": Sort(elastic(gough_stewart(), driven(gough_stewart())), "platform"),
        "palletiser, floating": Sort(floating(lw.load("palletiser")), "forearm", width=0.1),
        "arm + Delta": Sort(arm.attach(delta(), tip, "tool_"), "tool_platform", width=0.08),
        "arm + four-bar gripper": Sort(arm.attach(lw.load("fourbar"), tip, "grip_"), tip),
        "arm + hexapod": Sort(arm.attach(gough_stewart(), tip, "wrist_"), "wrist_platform"),
    }
    return machines[name]


TABLE = (
    "arm", "floating", "moving base", "elastic", "elastic, moving base", "five-bar", "five-bar, elastic",
    "ankle, moving base", "hexapod", "Delta", "hexapod + arm",
)  # fmt: skip
MIXTURES = (
    "3-RRR", "hexapod, elastic", "palletiser, floating", "arm + Delta", "arm + four-bar gripper", "arm + hexapod",
)  # fmt: skip
SORTS = (*TABLE, *MIXTURES)
