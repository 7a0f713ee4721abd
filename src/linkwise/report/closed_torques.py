"""Motions of closed chains from files, and the torques of their active joints along them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np

from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.motion import Trajectory, read
from linkwise.motion.reader import MissingColumns
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot

OPEN = 1e-3  # rad or m by which positions in a file may miss those that close the loops, as by rounding


def read_closed(
    path: str | PathLike[str], robot: Robot, *, ignore_extra: bool = False, jerks: bool = False
) -> Trajectory:
    """The motion in a file with columns of all joints, or of the independent ones alone, which the others follow.

    Velocities, accelerations and jerks are those of the independent joints; the others' follow from the loops.
    """
    closed = compile(robot).closed
    try:
        motion, every = read(path, robot, ignore_extra=ignore_extra, jerks=jerks), True
    except MissingColumns:
        leading = robot.replace(loops=()).lock(closed.passive)
        motion, every = read(path, leading, ignore_extra=ignore_extra, jerks=jerks), False
    q = closed.positions(closed.of(motion.q), motion.q) if every else closed.positions(motion.q, along=True)
    lost = ~q.converged
    if every:
        lost |= ~(np.abs(compile(robot).difference(motion.q, q.q)) <= OPEN).all(axis=1)
    if lost.any():
        k = int(np.argmax(lost))
        raise InputError(
            f"{path}: row {k + 1} (t = {motion.t[k]:g}): expected positions in which the loops of robot"
            f" {robot.name!r} close, got none. Give the columns of {', '.join(closed.independent)} alone, within reach."
        )
    kernels = closed.assembled
    jerk = np.zeros_like(motion.qdd) if motion.qddd is None else motion.qddd
    leads = [x[:, kernels.independent] if every else x for x in (motion.qd, motion.qdd, jerk)]
    qd, qdd, qddd = kernels.jerks(q.q, *leads)
    note = f"{', '.join(closed.passive)} follow from the loops"
    return replace(motion, q=q.q, qd=qd, qdd=qdd, qddd=qddd if jerks else None, notes=(*motion.notes, note))


def closed_forces(
    robot: Robot, motion: Trajectory, external: Mapping[str, Sequence[float]], *, wrenches: bool, rates: bool
) -> dict[str, Array]:
    """Forces along a motion that keeps the loops closed, by name: tau, and where they are asked for wrench and rates.

    `tau` (rows, nv) is G^T times the tree's torques at the active joints, zero at all others; where more joints are
    active than needed, with the least sum of squares. `cut` (rows, loops, 6) is beside `wrench` what cut joints carry.
    """
    kernels = compile(robot, external=tuple(external)).closed.assembled
    extra = [np.array(list(external.values()), dtype=float)] if external else []
    state = (motion.q, motion.qd, motion.qdd)
    if rates:
        if motion.qddd is None:
            raise InputError("rates: expected a motion with jerks, got one without. Read it with jerks=True.")
        asked = kernels.joint_wrench_rates if wrenches else kernels.force_rates
        still = [np.zeros_like(x) for x in extra]  # the loads keep their components in the axes of their frames
        found = asked(*state, motion.qddd, *extra, *still)._asdict()
    elif wrenches:
        found = kernels.joint_wrenches(*state, *extra)._asdict()
    else:
        found = {"tau": kernels.drives(*state, *extra)}
    for key in ("tau", "tau_dot") if rates else ("tau",):
        full = np.zeros((len(motion.q), robot.nv))
        full[:, list(kernels.structure.part.active)] = found[key]
        found[key] = full
    return found
