"""How large the program of an algorithm would be, and which kind of kernel suits it."""

from __future__ import annotations

from typing import Any

from linkwise.algorithms.algorithm import Algorithm
from linkwise.errors import InputError
from linkwise.kernel.kernel import Kernel, ports, robot_depths
from linkwise.kernel.options import Options
from linkwise.robot.robot import Robot

EACH = 50  # operations for an entry of a matrix, as measured on chains
SOLVED = 25  # operations for a pair of coordinates on the way to a third, where a matrix is solved with
LARGE = 400_000  # operations from which columns are computed one after the other: more take many seconds to compile
MOST = 3_000_000  # operations of a program that are still worth starting on

# what to ask for instead of what is too large
INSTEAD = {
    "linearization": "Use forward_dynamics_derivatives, which has its parts.",
    "inverse_dynamics_hessian": "Use inverse_dynamics_hessian_vector, which has its products with directions.",
    "coriolis_matrix": "Use bias_forces, which has its product with qd.",
    "regressor": "Turn the numbers that you look for into an input, parameters=..., and differentiate.",
}


def kernel_of(robot: Robot, algorithm: Algorithm, options: Options, static: dict[str, Any]) -> Kernel:
    """The kernel of an algorithm for one robot: one program, or where that would be too large, column by column."""
    arguments = algorithm.arguments(robot, static)
    size = expected_operations(robot, algorithm, options, arguments)
    if size > LARGE and algorithm.columns and not robot.follows:
        from linkwise.kernel.columns import columns_of  # small robots need nothing of it

        found = columns_of(robot, algorithm, options, static, algorithm.columns)
        if found:
            return found
    if size > MOST:
        raise InputError(
            f"{algorithm.name}: expected a program of at most {MOST:,} operations, got a robot with {robot.nv} degrees"
            f" of freedom, for which it would have about {size:,.0f}."
            f" {INSTEAD.get(algorithm.name, 'Hold joints with robot.lock(names), or ask for a part of the robot.')}"
        )
    return Kernel.of(robot, algorithm, options, static)


def expected_operations(robot: Robot, algorithm: Algorithm, options: Options, arguments: dict[str, Any]) -> float:
    """About how many operations the matrices among an algorithm's outputs take, before anything is traced.

    An entry counts where one coordinate moves the other: of a chain half of them, of a robot with many short arms few.
    Derivatives of accelerations are solved for besides, column by column.
    """
    depths = robot_depths(robot)
    share = sum(depths) / max(1, len(depths)) ** 2
    shapes = algorithm.signature(arguments)[1]
    found = ports(robot, algorithm, options, arguments)[2]
    grown = [port.size for port in found if sum(isinstance(axis, str) for axis in shapes[port.name]) > 1]
    total = EACH * share * sum(grown)
    if algorithm.derives and algorithm.derives.base.name == "forward_dynamics":
        total += SOLVED * sum(d * d for d in depths)
    return total
