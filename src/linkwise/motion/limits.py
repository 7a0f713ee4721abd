"""Motions against the limits of a robot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from linkwise.motion.trajectory import Array, Trajectory
from linkwise.robot.coordinates import Slot, drive_slots
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot

ROUNDING = 1e-9  # a motion that ends at a limit does not exceed it
TOLERANCE = 1e-3  # of a limit, within which it is kept: by planner, retiming and checks alike


class Excess(NamedTuple):
    """A limit that a motion exceeds: the worst value, when, and in how many rows."""

    joint: str
    what: str
    value: float
    limit: float
    time: float
    rows: int


def exceeded(robot: Robot, motion: Trajectory, tau: Array | None = None, tau_dot: Array | None = None) -> list[Excess]:
    """The limits that a motion exceeds: of position, velocity, acceleration, and of what it has or is given besides.

    Those are jerk, effort (`tau`, of the drives) and effort rate (`tau_dot`). The motion is that of what leads or, to
    judge joints that follow too, that of all joints of `robot.opened()`.
    """
    moving = robot.opened() if motion.q.shape[1] == robot.opened().nq else robot
    drives = drive_slots(robot)
    quantities = [
        (joint.name, *values)
        for joint in robot.joints
        for values in (*_motions(moving, joint, motion), *_efforts(drives, joint, tau, tau_dot))
    ]
    return excesses(motion.t, quantities)


def excesses(t: Array, quantities: Iterable[tuple[str, str, Array, float, float]]) -> list[Excess]:
    """Where values over time leave their bounds; each comes with its joint, its kind, and its bounds.

    A limit may be exceeded by a thousandth of it, as in plans, so that a plan keeps its limits here too. NaN counts as
    within bounds.
    """
    found = []
    for joint, what, values, lower, upper in quantities:
        over = np.nan_to_num(np.maximum(values - upper, lower - values), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        slack = max([ROUNDING, *(TOLERANCE * abs(x) for x in (lower, upper) if np.isfinite(x))])
        k = int(np.argmax(over))
        if over[k] > slack:
            rows = int(np.sum(over > ROUNDING))
            value = float(values[k])
            found.append(Excess(joint, what, value, upper if value > upper else lower, float(t[k]), rows))
    return found


def _motions(robot: Robot, joint: Joint, motion: Trajectory) -> Iterator[tuple[str, Array, float, float]]:
    """Values of a joint over time, each with its bounds; of a joint that mimics, those of its own motion."""
    slot = robot.slots.get(joint.mimic.joint if joint.mimic else joint.name)
    if slot is None or slot.nv != 1:
        return
    ratio, offset = (joint.mimic.ratio, joint.mimic.offset) if joint.mimic else (1.0, 0.0)
    limits = joint.limits
    yield "position", ratio * motion.q[:, slot.q] + offset, limits.lower, limits.upper
    yield "velocity", ratio * motion.qd[:, slot.v], -limits.velocity, limits.velocity
    yield "acceleration", ratio * motion.qdd[:, slot.v], -limits.acceleration, limits.acceleration
    if motion.qddd is not None:
        yield "jerk", ratio * motion.qddd[:, slot.v], -limits.jerk, limits.jerk


def _efforts(
    drives: Mapping[str, Slot], joint: Joint, tau: Array | None, tau_dot: Array | None
) -> Iterator[tuple[str, Array, float, float]]:
    """Forces of a joint's drive over time, each with its bounds."""
    drive = drives.get(joint.driven_coordinate)
    if drive is None or drive.nv != 1:
        return
    limits = joint.limits
    if tau is not None:
        yield "effort", tau[:, drive.v], -limits.effort, limits.effort
    if tau_dot is not None:
        yield "effort rate", tau_dot[:, drive.v], -limits.effort_rate, limits.effort_rate
