"""Motions of robots with elastic drives from files of their joints alone, and the torques of their motors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from linkwise.algorithms.elastic_feedforward import elastic_feedforward
from linkwise.errors import InputError, LinkwiseError
from linkwise.kernel.compile import compile
from linkwise.kernel.kernel import Kernel
from linkwise.motion import Trajectory, read, spline
from linkwise.motion.columns import MOTION
from linkwise.motion.reader import MissingColumns
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot

ORDER = 2  # rates of joint torques, and so four derivatives of positions


def read_elastic(
    path: str | PathLike[str], robot: Robot, *, ignore_extra: bool = False, jerks: bool = False
) -> Trajectory:
    """The motion in a file with columns of all coordinates, or of the joints alone, for `feedforward_along`."""
    try:
        return read(path, robot, ignore_extra=ignore_extra, jerks=jerks)
    except MissingColumns as error:
        motors = [f"q.{name}" for name in robot.coordinates if name not in robot.names]
        if not motors or not set(motors) <= set(error.missing):
            raise
    return read(path, robot.rigid(), ignore_extra=ignore_extra, jerks=True)


def is_of_joints_alone(robot: Robot, motion: Trajectory) -> bool:
    """Whether a motion lacks the motors behind springs that the robot has."""
    motors = len(robot.coordinates) - len(robot.names)
    return motors > 0 and motion.q.shape[1] == robot.nq - motors


def feedforward_along(
    robot: Robot, motion: Trajectory, external: Mapping[str, Sequence[float]]
) -> tuple[Trajectory, Array]:
    """The motion with that of the motors, which follows from that of the joints, and torques (rows, nv) of the drives.

    Args:
        robot: with elastic drives.
        motion: of the joints alone, with jerks.
        external: constant wrenches on frames or links, in their axes.
    """
    if motion.qddd is None:
        raise InputError("feed-forward: expected a motion with jerks, got one without. Read it with jerks=True.")
    snap, origin = _fourth(robot, motion)
    kernel, neglected = _kernel(robot, tuple(external))
    loads = [np.array(list(external.values()), dtype=float)] if external else []
    still = [np.zeros_like(x) for x in loads] * ORDER  # they keep their components in the axes of their frames
    found = kernel(motion.q, motion.qd, motion.qdd, motion.qddd, snap, *loads, *still)
    motors = ", ".join(name for name in robot.coordinates if name not in robot.names)
    notes = (*motion.notes, f"{motors} follow from the joints; fourth derivatives from {origin}", *neglected)
    pairs = zip(("q", "qd", "qdd"), (found.theta, found.thetad, found.thetadd), strict=True)
    whole: dict[str, Any] = {key: np.hstack([getattr(motion, key), x]) for key, x in pairs}
    return replace(motion, **whole, qddd=None, notes=notes), robot.tau(found.tau)


def _kernel(robot: Robot, external: tuple[str, ...]) -> tuple[Kernel, tuple[str, ...]]:
    """The feed-forward that four derivatives allow, and what it neglects."""
    damped = [j.name for j in robot.joints if j.is_elastic and j.drive and j.drive.damping]
    notes = (f"damping of springs is neglected in the motors' motion: {', '.join(damped)}",) if damped else ()
    try:
        return compile(robot, elastic_feedforward, external=external, order=ORDER), notes
    except LinkwiseError:
        coupled = "elastic joints carry motors of others, whose acceleration of stretch is neglected in the loads"
        return compile(robot, elastic_feedforward, external=external, order=ORDER, coupling="rigid"), (*notes, coupled)


def _fourth(robot: Robot, motion: Trajectory) -> tuple[Array, str]:
    """The fourth derivative of a motion, from a spline through the highest that is given, and its origin in words."""
    of = next((key for key in reversed(MOTION[1:]) if motion.origins.get(key) == "the file"), MOTION[0])
    if of == MOTION[0] and robot.nq != robot.nv:
        of = MOTION[-1]  # the positions of floating joints are no vectors
    if not motion.timed:
        raise InputError("feed-forward: expected a column 't' or 'time', needed to differentiate the motion; got none.")
    k = spline.degree(len(motion), "feed-forward")
    if k < max(spline.DEGREES):
        raise InputError(f"feed-forward: expected at least 6 rows for fourth derivatives, got {len(motion)}. Add rows.")
    snap = spline.derivatives(motion.t, getattr(motion, of), k, len(MOTION) - MOTION.index(of))[-1]
    return snap, f"a {spline.DEGREES[k]} spline of {of}"
