"""Motions against the limits of a robot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot
from linkwise.trajectory.trajectory import Array, Trajectory

ROUNDING = 1e-9  # relative; a motion that ends at a limit does not exceed it


class Excess(NamedTuple):
    """A limit that a motion exceeds: the worst value, when, and in how many rows."""

    joint: str
    what: str
    value: float
    limit: float
    time: float
    rows: int


def exceeded(robot: Robot, motion: Trajectory, tau: Array | None = None) -> list[Excess]:
    """The limits of position, velocity, acceleration and (where `tau` is given) effort that a motion exceeds."""
    found = []
    for joint in robot.joints:
        for what, values, lower, upper in _quantities(robot, joint, motion, tau):
            over = np.maximum(values - upper, lower - values)
            slack = ROUNDING * max(abs(x) for x in (lower, upper, 1.0) if np.isfinite(x))
            rows = int(np.sum(over > slack))
            if rows:
                k = int(np.argmax(over))
                value = float(values[k])
                limit = upper if value > upper else lower
                found.append(Excess(joint.name, what, value, limit, float(motion.t[k]), rows))
    return found


def _quantities(
    robot: Robot, joint: Joint, motion: Trajectory, tau: Array | None
) -> Iterator[tuple[str, Array, float, float]]:
    """Values of a joint over time, each with its bounds; of a joint that mimics, those of its own motion."""
    slot = robot.slots.get(joint.mimic.joint if joint.mimic else joint.name)
    if slot is None or slot.nv != 1:
        return
    ratio, offset = (joint.mimic.ratio, joint.mimic.offset) if joint.mimic else (1.0, 0.0)
    limits = joint.limits
    yield "position", ratio * motion.q[:, slot.q] + offset, limits.lower, limits.upper
    yield "velocity", ratio * motion.qd[:, slot.v], -limits.velocity, limits.velocity
    yield "acceleration", ratio * motion.qdd[:, slot.v], -limits.acceleration, limits.acceleration
    if tau is not None and not joint.mimic:
        yield "effort", tau[:, slot.v], -limits.effort, limits.effort
