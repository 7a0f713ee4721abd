"""Motors behind springs along a motion of the joints alone: how they move, and what they give."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from linkwise.algorithms.elastic_feedforward import ORDERS, drive_levels, elastic_feedforward
from linkwise.errors import InputError, LinkwiseError
from linkwise.kernel.compile import compile
from linkwise.mechanism.machine import machine_of
from linkwise.motion import spline
from linkwise.motion.columns import MOTION
from linkwise.motion.environment import Environment
from linkwise.motion.trajectory import Array, Trajectory
from linkwise.robot.robot import Robot

KEPT = 64
NEGLECTED = "the acceleration of stretch of motors that elastic joints carry is neglected in the loads of these joints"


@lru_cache(maxsize=KEPT)
def coupling_of(robot: Robot) -> tuple[int, str, str]:
    """How often motors behind springs carry each other, whether that can be counted, and what is neglected if not.

    Returns:
        Levels, at least 1 where there are springs, else 0; "exact" or "rigid", as `elastic_feedforward` has it; words.
    """
    if not any(j.is_elastic for j in robot.joints):
        return 0, "exact", ""
    width = robot.nq - sum(j.is_elastic for j in robot.joints)
    try:
        levels = len(drive_levels(machine_of(robot), robot.q().tolist()[:width]))
    except LinkwiseError:
        return 1, "rigid", f"{NEGLECTED}: motors are carried by links that they move"
    if 2 * levels + 1 not in ORDERS:
        return 1, "rigid", f"{NEGLECTED}: they carry each other {levels - 1} deep"
    return levels, "exact", ""


def lacks_motors(robot: Robot, motion: Trajectory) -> bool:
    """Whether a motion lacks the motors behind springs that the robot has."""
    motors = len(robot.coordinates) - len(robot.names)
    return motors > 0 and motion.q.shape[1] == robot.nq - motors


def with_motors(
    robot: Robot, motion: Trajectory, around: Environment, rates: bool = False
) -> tuple[Trajectory, dict[str, Array]]:
    """The motion with that of the motors, which follows from that of the joints, and `tau` (rows, nu) of the drives.

    Args:
        robot: with elastic drives.
        motion: of the joints that lead alone, with jerks.
        around: how the base moves and what pushes from outside.
        rates: give `tau_dot` too, and jerks of the motors by a spline.
    """
    if motion.qddd is None:
        raise InputError("feed-forward: expected a motion with jerks, got one without. Read it with jerks=True.")
    levels, coupling, neglected = coupling_of(robot)
    order = 2 * levels + rates
    higher, origin = _higher(robot, motion, order - 1)
    kernel = compile(robot, elastic_feedforward, **around.options, order=order, coupling=coupling)
    derivatives = (motion.q, motion.qd, motion.qdd, motion.qddd, *higher)
    found = kernel(*derivatives, *around.inputs(motion.t, robot.gravity, order))
    motors = ", ".join(name for name in robot.coordinates if name not in robot.names)
    damped = [j.name for j in robot.joints if j.is_elastic and j.drive and j.drive.damping]
    notes = [f"{motors} follow from the joints; {order + 2} derivatives, the highest from {origin}"]
    notes += [f"damping of springs is neglected in the motors' motion: {', '.join(damped)}"] if damped else []
    notes += [neglected] if neglected else []
    parts = dict(zip(MOTION, (found.theta, found.thetad, found.thetadd), strict=False))
    if rates:
        k = spline.degree(len(motion), "feed-forward")
        parts["qddd"] = spline.derivatives(motion.t, found.thetadd, k, 1)[0]
    whole: dict[str, Any] = {"qddd": None} | {key: np.hstack([getattr(motion, key), x]) for key, x in parts.items()}
    forces = {key: robot.tau(getattr(found, key)) for key in ("tau", "tau_dot")[: 1 + rates]}
    return replace(motion, **whole, notes=(*motion.notes, *notes)), forces


def _higher(robot: Robot, motion: Trajectory, count: int) -> tuple[list[Array], str]:
    """So many derivatives after jerks, from a spline through the highest that is given, and its origin in words."""
    of = next((key for key in reversed(MOTION[1:]) if motion.origins.get(key) == "the file"), MOTION[0])
    if of == MOTION[0] and robot.nq != robot.nv:
        of = MOTION[-1]  # the positions of floating joints are no vectors
    if not motion.timed:
        raise InputError("feed-forward: expected a column 't' or 'time', needed to differentiate the motion; got none.")
    count_of = len(MOTION) - 1 - MOTION.index(of) + count
    k = max(5, count_of + 1 + count_of % 2)
    if len(motion) <= k:
        raise InputError(
            f"feed-forward: expected at least {k + 1} rows for {len(MOTION) - 1 + count} derivatives, got"
            f" {len(motion)}. Add rows."
        )
    found = spline.derivatives(motion.t, getattr(motion, of), k, count_of)
    return found[-count:], f"a {spline.name(k)} of {of}"
