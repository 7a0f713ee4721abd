"""Motions of closed chains from files, and the torques of their active joints along them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np

from linkwise.compile import compile
from linkwise.errors import InputError
from linkwise.robot.robot import Robot
from linkwise.trajectory import Trajectory, read
from linkwise.trajectory.reader import MissingColumns
from linkwise.trajectory.trajectory import Array

OPEN = 1e-3  # rad or m by which positions in a file may miss those that close the loops, as by rounding


def read_closed(path: str | PathLike[str], robot: Robot, *, ignore_extra: bool = False) -> Trajectory:
    """The motion in a file with columns of all joints, or of the independent ones alone, which the others follow.

    Velocities and accelerations are those of the independent joints; the others' follow from the loops.
    """
    closed = compile(robot).closed
    try:
        motion, every = read(path, robot, ignore_extra=ignore_extra), True
    except MissingColumns as error:
        leading = robot.replace(loops=()).lock(closed.passive)
        try:
            motion, every = read(path, leading, ignore_extra=ignore_extra), False
        except MissingColumns:
            raise error from None
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
    qd, qdd = (x[:, kernels.independent] if every else x for x in (motion.qd, motion.qdd))
    accelerations = np.einsum("rij,rj->ri", kernels.velocity_map(q.q), qdd) + kernels.drift(q.q, qd)
    note = f"{', '.join(closed.passive)} follow from the loops"
    return replace(motion, q=q.q, qd=kernels.rates(q.q, qd), qdd=accelerations, notes=(*motion.notes, note))


def active_torques(robot: Robot, motion: Trajectory, external: Mapping[str, Sequence[float]]) -> Array:
    """Torques (rows, nv) that move a closed chain: G^T times the tree's at the active joints, zero at all others.

    Where more joints are active than needed, those with the least sum of squares.
    """
    dyn = compile(robot, external=tuple(external))
    extra = [np.array(list(external.values()), dtype=float)] if external else []
    kernels = compile(robot).closed.assembled
    tree = dyn.inverse_dynamics(motion.q, motion.qd, motion.qdd, *extra)
    force = np.einsum("rij,ri->rj", kernels.velocity_map(motion.q), tree)
    places = list(kernels.structure.part.active)
    tau = np.zeros_like(tree)
    tau[:, places] = kernels.share(motion.q, force, np.ones(len(places)))
    return tau
