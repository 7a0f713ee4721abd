"""Names of the columns of a motion, and a motion as columns."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from linkwise.motion.trajectory import Array, Trajectory
from linkwise.robot.coordinates import drive_slots
from linkwise.robot.joint import Kind
from linkwise.robot.robot import Robot
from linkwise.table import WRENCH
from linkwise.table import write as write_table

MOTION = ("q", "qd", "qdd", "qddd")
# what a table of results holds beside a motion
RESULTS = (
    "tau", "tau_dot", "wrench", "wrench_dot", "cut", "cut_dot", "energy", "s", "s_dot",
    "percent", "ground", "pressure", "zmp", "joint", "base",
)  # fmt: skip


def column_names(robot: Robot, quantity: str) -> list[str]:
    """Names of the columns of a quantity, one of "q", "qd", ..., "tau", "wrench", "cut", "tau_dot", ..., in order.

    "qd.elbow" for a joint with one number; "qd.root_joint.vx", ... for a floating one. Forces have those of the drives,
    wrenches those of the links that move, "wrench.forearm.fx", ..., or of the loops.
    """
    if quantity.startswith(("wrench", "cut")):
        through = robot.moving_links if quantity.startswith("wrench") else [loop.name for loop in robot.loops]
        return [f"{quantity}.{name}.{c}" for name in through for c in WRENCH]
    names = []
    for name, slot in (drive_slots(robot) if quantity.startswith("tau") else robot.slots).items():
        if quantity != "q" and not slot.nv:
            continue
        names += [f"{quantity}.{name}{end}" for end in endings(slot.kind, quantity)]
    return names


def endings(kind: Kind, quantity: str) -> list[str]:
    """What the names of a joint's columns end in: nothing where it has one number."""
    parts = {"q": kind.positions, "tau": kind.forces, "tau_dot": kind.forces}.get(quantity, kind.velocities)
    return [f".{part}" if part else "" for part in parts]


def columns_of(robot: Robot, motion: Trajectory, **forces: Array | None) -> dict[str, Array]:
    """A motion and what it takes as named columns: t, q.elbow, ..., tau.elbow, ..., wrench.forearm.fx, ...

    Args:
        robot: whose joints name the columns.
        motion: the samples, of what leads or of all joints of `robot.opened()`.
        forces: `tau` of the drives (rows, nu), `wrench` (rows, links that move, 6), `cut` (rows, loops, 6), and their
            rates `tau_dot`, `wrench_dot`, `cut_dot`; None for none.
    """
    moving = robot.opened() if motion.q.shape[1] == robot.opened().nq else robot
    found = {"t": motion.t}
    given = {key: getattr(motion, key) for key in MOTION} | forces
    for key, values in given.items():
        if values is not None:
            names = column_names(moving if key in MOTION else robot, key)
            found |= dict(zip(names, values.reshape(len(values), -1).T, strict=True))
    return found


def write(
    path: str | PathLike[str],
    robot: Robot,
    motion: Trajectory,
    tau: Array | None = None,
    wrench: Array | None = None,
    meta: Mapping[str, Any] | None = None,
    **others: Array | None,
) -> None:
    """A motion and what it takes, as `columns_of` has it, into a .csv, .npz or .parquet file that `read` takes back."""
    write_table(path, columns_of(robot, motion, tau=tau, wrench=wrench, **others), meta)
