"""A quantity of one parallel robot: traced here, compiled when it is first called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkwise.algorithms.algorithm import Shape
from linkwise.errors import InputError
from linkwise.kernel.kernel import Compiled
from linkwise.kernel.options import checked_gravity, checked_threads
from linkwise.kernel.tracing import Port, Program, caller, trace
from linkwise.parallel.mechanics import Machine
from linkwise.parallel.quantity import INPUTS, Quantity, widths
from linkwise.parallel.robot import ParallelRobot
from linkwise.spatial import Wrench
from linkwise.vector import Vec3


@dataclass(frozen=True)
class ParallelOptions:
    """The options of `compile` that a parallel robot knows; `gravity` is a vector, "input", or None for its own."""

    external: bool = False
    gravity: Vec3 | str | None = None
    threads: int = 1

    @classmethod
    def checked(cls, external: Any, gravity: Any, threads: Any) -> ParallelOptions:
        """Options, or an error that says which does not fit."""
        if not isinstance(external, bool) and external not in ((), "platform", ("platform",)):
            raise InputError(
                f"external: expected True, or 'platform', for a wrench on the platform of a parallel robot, got"
                f" {external!r}."
            )
        return cls(bool(external), checked_gravity(gravity), checked_threads(threads))

    def ports(self, quantity: Quantity) -> list[Port]:
        """The inputs that options add, in their fixed order."""
        ports = [Port("f_ext", (6,))] if self.external and "external" in quantity.uses else []
        if self.gravity == "input" and "gravity" in quantity.uses:
            ports.append(Port("gravity", (3,)))
        return ports

    def around(self, machine: Machine, given: dict[str, list[Any]]) -> Machine:
        """The machine with what surrounds it, from constants and inputs."""
        if isinstance(self.gravity, Vec3):
            machine = replace(machine, gravity=self.gravity)
        if "gravity" in given:
            machine = replace(machine, gravity=Vec3(*given["gravity"]))
        if "f_ext" in given:
            x = given["f_ext"]
            machine = replace(machine, external=Wrench(Vec3(*x[:3]), Vec3(*x[3:])))
        return machine


class ParallelKernel(Compiled):
    """A quantity compiled for one parallel robot: call it with arrays whose leading axes broadcast."""

    robot: ParallelRobot
    quantity: Quantity
    options: ParallelOptions

    @classmethod
    def of(cls, robot: ParallelRobot, quantity: Quantity, options: ParallelOptions) -> ParallelKernel:
        """The kernel of a quantity for one robot, traced but not yet compiled."""
        program = _traced(robot, quantity, options)
        kernel = cls(caller(program, quantity.doc, options.threads))
        kernel.robot, kernel.quantity, kernel.options, kernel.program = robot, quantity, options, program
        kernel.__doc__ = quantity.doc
        return kernel

    def _title(self) -> str:
        return f"{self.quantity.name} of the parallel robot {self.robot.name!r}"

    def __reduce__(self) -> Any:
        return ParallelKernel.of, (self.robot, self.quantity, self.options)


def _traced(robot: ParallelRobot, quantity: Quantity, options: ParallelOptions) -> Program:
    sizes = widths(robot)
    standard = [Port(name, _shape(INPUTS[name], sizes)) for name in quantity.inputs]
    extra = options.ports(quantity)
    outputs = [Port(name, _shape(shape, sizes)) for name, shape in quantity.outputs.items()]

    def run(*inputs: list[Any]) -> Sequence[Any]:
        given = dict(zip((p.name for p in extra), inputs[len(standard) :], strict=True))
        machine = options.around(Machine.of(robot), given)
        return quantity.function(machine, *inputs[: len(standard)])

    return trace(quantity.name, run, [*standard, *extra], outputs)


def _shape(shape: Shape, sizes: dict[str, int]) -> tuple[int, ...]:
    return tuple(sizes[s] if isinstance(s, str) else s for s in shape)
