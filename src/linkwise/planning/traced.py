"""Functions of a robot's tree and arrays of any shape, traced and compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from linkwise.kernel.kernel import Compiled
from linkwise.kernel.tracing import Port, caller, trace
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree

Shapes = Mapping[str, tuple[int, ...]]


def traced(
    name: str, robot: Robot, function: Callable[..., Sequence[Any]], inputs: Shapes, outputs: Shapes
) -> Compiled:
    """The kernel of `function(tree, *inputs)`, which takes and returns flat lists, one for each name."""
    tree = Tree.of(robot)
    ports = [[Port(n, shape) for n, shape in shapes.items()] for shapes in (inputs, outputs)]
    program = trace(name, lambda *flat: function(tree, *flat), *ports)
    kernel = Compiled(caller(program, function.__doc__ or "", 1))
    kernel.program = program
    return kernel
