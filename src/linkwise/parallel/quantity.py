"""What can be asked of a parallel robot: a function of a machine, with its signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from linkwise.algorithms.algorithm import Shape
from linkwise.parallel.robot import ParallelRobot

INPUTS: dict[str, Shape] = {
    "pose": ("nq",), "velocity": ("nv",), "acceleration": ("nv",), "forces": ("na",), "positions": ("na",),
}  # fmt: skip


@dataclass(frozen=True)
class Quantity:
    """A function of a machine: `function(machine, *inputs)` takes flat lists of scalars, returns one for each output.

    Shapes may name nq, nv (of the platform), na (actuated joints), nj (joints of all legs) and nl (legs). `uses` holds
    what it takes from the machine's surroundings: gravity, external.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    outputs: dict[str, Shape]
    uses: frozenset[str]
    doc: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "__module__", self.function.__module__)

    def __reduce__(self) -> str:
        return self.name  # pickled as a global of the module that defines it


def quantity(*, inputs: str, outputs: dict[str, Shape], uses: str = "") -> Callable[[Callable[..., Any]], Quantity]:
    """Describe a function of a machine: names of `INPUTS`, outputs with their shapes, what it uses."""

    def describe(function: Callable[..., Any]) -> Quantity:
        name, doc = function.__name__, function.__doc__ or ""
        return Quantity(name, function, tuple(inputs.split()), outputs, frozenset(uses.split()), doc)

    return describe


def widths(robot: ParallelRobot) -> dict[str, int]:
    """The widths that shapes may name."""
    return {
        "nq": robot.nq, "nv": robot.nv, "na": robot.na, "nj": len(robot.joint_names), "nl": len(robot.legs),
    }  # fmt: skip
