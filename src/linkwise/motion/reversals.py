"""Where Coulomb friction makes torques jump, so that they have no rate there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import InputError
from linkwise.motion.trajectory import Array
from linkwise.robot.drive import Friction
from linkwise.robot.robot import Robot


class Reversal(NamedTuple):
    """A joint's speed changes its sign: what happens, when, the first row after it, and by how much its torque jumps.

    `what` is "reverses", "starts" (from rest) or "stops".
    """

    joint: str
    what: str
    time: float
    row: int
    jump: float


def reversals(robot: Robot, qd: Any, t: Any = None) -> list[Reversal]:
    """The samples of a motion between which a joint with Coulomb friction reverses, starts or stops, in time's order.

    There the torque jumps and `force_rates`, which sees each sample alone, does not know it. The smooth laws of
    friction have no jumps; theirs are in the rates.

    Args:
        robot: whose friction.
        qd: velocities (rows, nv) along the motion; rows in which a joint's is not a number are passed over.
        t: times (rows,) in s; without them, row numbers.
    """
    speeds = _numbers(qd, "qd")
    if speeds.ndim != 2 or speeds.shape[1] != robot.nv:
        raise InputError(f"reversals qd: expected the shape (rows, {robot.nv}), got {speeds.shape}.")
    times = np.arange(len(speeds), dtype=float) if t is None else _numbers(t, "t")
    if times.shape != speeds.shape[:1]:
        raise InputError(f"reversals t: expected one time for each of {len(speeds)} rows, got the shape {times.shape}.")
    found = []
    for name, column, level in _levels(robot):
        rows = np.flatnonzero(np.isfinite(speeds[:, column]))
        v, at = speeds[rows, column], times[rows]
        sign = np.sign(v)
        for k in np.flatnonzero(sign[1:] != sign[:-1]):
            what = "starts" if not sign[k] else "stops" if not sign[k + 1] else "reverses"
            share = v[k] / (v[k] - v[k + 1])  # of the step, where a straight line is zero
            when = at[k] + (at[k + 1] - at[k]) * share
            jump = level * (sign[k + 1] - sign[k])
            found.append(Reversal(name, what, float(when), int(rows[k + 1]), float(jump)))
    return sorted(found, key=lambda r: (r.time, r.joint))


def _numbers(value: Any, what: str) -> Array:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"reversals {what}: expected an array of numbers, got {value!r}.") from error


def _levels(robot: Robot) -> Iterator[tuple[str, int, float]]:
    """For each coordinate whose torque can jump: its name, its place, and the level of friction there."""
    total: dict[str, float] = {}
    for joint in robot.joints:
        leader, ratio = (joint.mimic.joint, joint.mimic.ratio) if joint.mimic else (joint.name, 1.0)
        total[leader] = total.get(leader, 0.0) + _coulomb(joint.friction) * abs(ratio)
        if joint.drive is not None:
            level = _coulomb(joint.drive.friction) * abs(joint.drive.gear)
            if joint.is_elastic:
                total[joint.motor_name] = level
            else:
                total[leader] += level * abs(ratio)
    for name, level in total.items():
        if level and name in robot.slots:
            yield name, robot.slots[name].v, level


def _coulomb(friction: Friction) -> float:
    return friction.coulomb if friction.law == "coulomb" else 0.0
