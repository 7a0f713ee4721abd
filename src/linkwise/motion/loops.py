"""Motions of machines whose joints follow others: the assembly mode, and what all joints do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.kernel.positions import Positions
from linkwise.motion import spline
from linkwise.motion.trajectory import Array, Trajectory
from linkwise.robot.robot import Robot

OPEN = 1e-3  # rad or m by which given positions may miss those that close the loops, as by rounding
SINGULAR = 1e6  # condition from which what leads hardly holds the rest
SLIP = 1e-2  # of the largest speed, by which positions may change otherwise than the wheels roll


def assembled(robot: Robot, motion: Trajectory) -> tuple[Robot, Trajectory]:
    """The robot in the assembly mode of a motion, which then says what follows.

    Where positions of all joints were given, they choose the mode: the robot that is returned has it as its reference.
    They must then close the loops. Where those of what leads were given alone, rows out of reach are kept.
    """
    if not robot.follows or robot.rolls:
        return robot, motion
    links = robot.rigid()
    lead = motion.q[:, : links.nq]
    found, given = compile(links).positions(lead, along=True), motion.tree
    reached = np.ones_like(found.converged)
    if given is not None:
        given = given[:, : links.opened().nq]
        if not _agree(links, found, given).all():
            slots = {j.name: links.opened().slots[j.name] for j in robot.joints if j.nv}
            near = {n: tuple(given[0, s.q : s.q + s.nq].tolist()) for n, s in slots.items()}
            robot, links = robot.replace(reference=near), links.replace(reference=near)
            found = compile(links).positions(lead, along=True)
        reached = found.converged & _agree(links, found, given)
    _check_reached(links, motion, found._replace(converged=reached))
    follow = [n for n in robot.opened().slots if n not in robot.slots]
    return robot, replace(motion, notes=(*motion.notes, f"{_listed(follow)} follow others"))


def all_joints(robot: Robot, motion: Trajectory) -> Trajectory:
    """The motion of all joints, from that of what leads; what turns and follows does not jump by whole turns."""
    if not robot.follows:
        return motion
    dyn = compile(robot)
    lead = (motion.q, motion.qd, motion.qdd)
    q, qd, qdd = dyn.tree_motion(*lead)
    if robot.rolls:
        return replace(motion, q=q, qd=qd, qdd=qdd, notes=(*motion.notes, *_slips(robot, motion, qd)))
    qddd = None if motion.qddd is None else dyn.tree_jerks(*lead, motion.qddd)
    return replace(motion, q=dyn.positions(motion.q, along=True).q, qd=qd, qdd=qdd, qddd=qddd)


def _slips(robot: Robot, motion: Trajectory, qd: Array) -> list[str]:
    """What a user should know of positions that change otherwise than the wheels roll."""
    if not motion.timed or len(motion) < min(spline.DEGREES) + 1:
        return []
    tree = robot.opened()
    moved = spline.motion(tree, motion.t, motion.q, spline.degree(len(motion), "wheels"))[0]
    off = np.abs(moved - qd).max(axis=0)
    worst = int(np.argmax(off))
    if off[worst] <= SLIP * max(float(np.abs(qd).max()), 1e-12):
        return []
    name = next(n for n, s in tree.slots.items() if s.v <= worst < s.v + s.nv)
    return [f"wheels slip: positions of {name} change by up to {off[worst]:.3g} (m/s or rad/s) more than they roll"]


def _agree(robot: Robot, found: Positions, given: Array) -> Any:
    """For each row, whether the loops close where all joints were given; whole turns do not count."""
    opened = robot.opened()
    off = np.abs(compile(opened).difference(given, found.q))
    for slot in opened.slots.values():
        if slot.kind.is_single and slot.kind.turns:
            off[:, slot.v] = np.abs((off[:, slot.v] + np.pi) % (2.0 * np.pi) - np.pi)
    return (off <= OPEN).all(axis=1)


def _check_reached(robot: Robot, motion: Trajectory, found: Positions) -> None:
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
                f"motion: row {k + 1} (t = {motion.t[k]:g}): expected positions {got}{more}."
                f" Give the columns of {_listed(robot.coordinates)} alone, within reach."
            )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
