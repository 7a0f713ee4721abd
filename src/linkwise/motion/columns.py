"""Names of the columns of a trajectory, and the columns of a file of any form."""

from __future__ import annotations

from abc import ABC, abstractmethod

from linkwise.errors import InputError, LinkwiseError
from linkwise.motion.trajectory import Array
from linkwise.robot.coordinates import drive_slots
from linkwise.robot.joint import Kind
from linkwise.robot.robot import Robot

TIME = ("t", "time")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
MOTION = ("q", "qd", "qdd", "qddd")
RESULTS = (
    "tau.",
    "tau_dot.",
    "wrench.",
    "wrench_dot.",
    "cut.",
    "cut_dot.",
    "energy.",
)  # what a file of results holds beside a motion


def column_names(robot: Robot, quantity: str) -> list[str]:
    """Names of the columns of `quantity`, one of "q", "qd", "qdd", "qddd", "tau", "tau_dot", in the robot's order.

    "qd.elbow" for a joint with one number; "qd.root_joint.vx", ... for a floating one. Forces have those of the drives.
    """
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


class Columns(ABC):
    """The named columns of a file, and where a value stands in it."""

    file: str
    header: str  # where the names stand, for messages

    @abstractmethod
    def names(self) -> list[str]:
        """The columns that the file has."""

    @abstractmethod
    def column(self, name: str) -> Array:
        """The numbers of a column."""

    @abstractmethod
    def place(self, name: str, row: int) -> str:
        """Where the value of a column in a row stands, for messages."""

    def error(self, message: str, where: str | None = None) -> LinkwiseError:
        """The error `message`, placed."""
        return InputError(f"{where or self.header}: {message}")
