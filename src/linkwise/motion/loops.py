"""Motions of machines with loops from files, and what all their joints do along them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.kernel.positions import Positions
from linkwise.motion import Trajectory, read
from linkwise.motion.reader import MissingColumns
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot

OPEN = 1e-3  # rad or m by which positions in a file may miss those that close the loops, as by rounding
SINGULAR = 1e6  # condition from which what leads hardly holds the rest


def read_closed(
    path: str | PathLike[str], robot: Robot, *, ignore_extra: bool = False, jerks: bool = False
) -> tuple[Robot, Trajectory]:
    """The motion of what leads in a file that may have columns of the joints that follow too.

    Where it has those of all joints, they choose the assembly mode: the robot that is returned has it as its reference.
    They must then close the loops; their velocities and accelerations are not used. Where it has what leads alone, rows
    out of reach are kept.
    """
    opened = robot.opened()
    try:
        every = read(path, opened, ignore_extra=ignore_extra, jerks=jerks)
    except MissingColumns:
        motion = read(path, robot, ignore_extra=ignore_extra, jerks=jerks)
        found = compile(robot).positions(motion.q, along=True)
        _check_reached(path, robot, motion, found._replace(converged=np.ones_like(found.converged)))
        return robot, _noted(robot, motion)
    motion = _leading(robot, every)
    found = compile(robot).positions(motion.q, along=True)
    if not _agree(robot, found, every.q).all():
        near = every.q[0]
        slots = {j.name: opened.slots[j.name] for j in opened.joints if j.nv}
        robot = robot.replace(reference={n: tuple(near[s.q : s.q + s.nq].tolist()) for n, s in slots.items()})
        found = compile(robot).positions(motion.q, along=True)
    _check_reached(path, robot, motion, found._replace(converged=found.converged & _agree(robot, found, every.q)))
    return robot, _noted(robot, motion)


def all_joints(robot: Robot, motion: Trajectory) -> Trajectory:
    """The motion of all joints, from that of what leads; what turns and follows does not jump by whole turns."""
    dyn = compile(robot)
    lead = (motion.q, motion.qd, motion.qdd)
    _, qd, qdd = dyn.tree_motion(*lead)
    qddd = None if motion.qddd is None else dyn.tree_jerks(*lead, motion.qddd)
    return replace(motion, q=dyn.positions(motion.q, along=True).q, qd=qd, qdd=qdd, qddd=qddd)


def _leading(robot: Robot, every: Trajectory) -> Trajectory:
    """Of the motion of all joints, that of what leads."""
    slots = [robot.opened().slots[n] for n in robot.coordinates]
    at = [s.q + k for s in slots for k in range(s.nq)]
    to = [s.v + k for s in slots for k in range(s.nv)]
    qddd = None if every.qddd is None else every.qddd[:, to]
    return replace(every, q=every.q[:, at], qd=every.qd[:, to], qdd=every.qdd[:, to], qddd=qddd)


def _agree(robot: Robot, found: Positions, given: Array) -> Any:
    """For each row, whether the loops close where the file has all joints; whole turns do not count."""
    opened = robot.opened()
    off = np.abs(compile(opened).difference(given, found.q))
    for slot in opened.slots.values():
        if slot.kind.is_single and slot.kind.turns:
            off[:, slot.v] = np.abs((off[:, slot.v] + np.pi) % (2.0 * np.pi) - np.pi)
    return (off <= OPEN).all(axis=1)


def _check_reached(path: Any, robot: Robot, motion: Trajectory, found: Positions) -> None:
    """Refuse rows in which the loops do not close, and those in which what leads does not determine the rest."""
    for lost, what in (
        (~found.converged, "in which the loops of robot {name!r} close, got none"),
        (found.condition > SINGULAR, "away from singular ones of robot {name!r}, got a condition of {worst:.2g}"),
    ):
        if lost.any():
            k, rows = int(np.argmax(lost)), int(lost.sum())
            more = f", and so in {rows - 1} further row(s)" if rows > 1 else ""
            got = what.format(name=robot.name, worst=found.condition[k])
            raise InputError(
                f"{path}: row {k + 1} (t = {motion.t[k]:g}): expected positions {got}{more}."
                f" Give the columns of {_listed(robot.coordinates)} alone, within reach."
            )


def _noted(robot: Robot, motion: Trajectory) -> Trajectory:
    follow = [n for n in robot.opened().slots if n not in robot.slots]
    return replace(motion, notes=(*motion.notes, f"{_listed(follow)} follow others"))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
