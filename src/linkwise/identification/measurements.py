"""What a log measured, for each row of a model: torques, wrenches through sensors, and what is zero by law."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import InputError, listing
from linkwise.identification.structure import Structure
from linkwise.motion.log import Log
from linkwise.motion.trajectory import Array
from linkwise.robot.coordinates import drive_slots

FLOATING = 6  # numbers of a free body


class Measured(NamedTuple):
    """Measurements of a model's rows.

    Attributes:
        values: (rows, nu), NaN where there are none.
        timed: (nu,) whether a sensor measured a row, so that it may be late; what is zero by law is not.
        notes: in words, what was taken for what.
    """

    values: Array
    timed: Any
    notes: tuple[str, ...] = ()


def measured(structure: Structure, log: Log, gains: Array | None = None) -> Measured:
    """Torques of the log, or its currents times gains, and wrenches through its sensors; NaN where there are neither.

    A torque that is zero throughout was not measured.
    Nothing drives a floating base, nor what follows of a machine with motors behind springs: their numbers are zero
    where they were not measured. The row of a joint behind a spring is that of its motor too.
    """
    robot = structure.robot
    tau = np.full((len(log), robot.nu), np.nan) if log.tau is None else np.where(log.tau.any(axis=0), log.tau, np.nan)
    if log.current is not None and gains is not None:
        tau = np.where(np.isnan(tau), log.current * gains, tau)
    notes = _behind_springs(structure, tau)
    known: Any = np.isfinite(tau).any(axis=0)
    pushed = bool(structure.pushes(log.wrenches))
    for slot in drive_slots(robot).values():
        own = slice(slot.v, slot.v + slot.nv)
        if slot.nv == FLOATING and not known[own].any():
            tau[:, own], known[own] = 0.0, pushed
    values, timed = np.full((len(log), len(structure.outputs)), np.nan), np.zeros(len(structure.outputs), dtype=bool)
    values[:, structure.driven], timed[structure.driven] = tau, known
    for joint, motor in structure.sprung:
        values[:, joint] = np.nan_to_num(values[:, joint]) + values[:, motor]
        timed[joint] = timed[motor]
    for sensor, rows in structure.sensed.items():
        if sensor not in log.wrenches:
            names = ", ".join(f"wrench.{x}.fx" for x in log.wrenches) or "none"
            raise InputError(
                f"sensor {sensor!r}: expected columns wrench.{sensor}.fx to wrench.{sensor}.mz in the log, got"
                f" {names}. Name them so."
            )
        values[:, rows], timed[rows] = log.wrenches[sensor], True
    if not timed.any():
        others = f"; the log also has {listing(log.others, 12)}" if log.others else ""
        remedy = f"Say which columns they are, as in columns={{'moment_*': 'tau'}}, --column 'moment_*=tau'{others}"
        remedy = "Give gains=, torque per ampere by drive" if log.current is not None else remedy
        raise InputError(f"log of {robot.name!r}: expected measured torques, got none. {remedy}.")
    return Measured(values, timed, notes)


def _behind_springs(structure: Structure, tau: Array) -> tuple[str, ...]:
    """Move torques that a log has under the names of joints to the motors behind their springs, in place."""
    robot, notes = structure.robot, []
    slots = drive_slots(robot)
    for j in robot.joints:
        if j.is_elastic and j.name in slots and j.motor_name in slots:
            joint, motor = slots[j.name].v, slots[j.motor_name].v
            if np.isnan(tau[:, motor]).all() and np.isfinite(tau[:, joint]).any():
                tau[:, motor], tau[:, joint] = tau[:, joint].copy(), np.nan
                notes.append(f"torques of {j.name}, which has a spring, were taken for those of its motor")
    return tuple(notes)
