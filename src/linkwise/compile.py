"""Robot + algorithm + back end: where a user brings them together."""

from __future__ import annotations

from typing import Any

from linkwise.algorithms.algorithm import Algorithm
from linkwise.dynamics import Dynamics
from linkwise.errors import InputError, UnknownNameError
from linkwise.kernel import Kernel
from linkwise.options import Options
from linkwise.robot.robot import Robot


def compile(
    robot: Robot,
    algorithm: Algorithm | None = None,
    *,
    external: Any = (),
    base_motion: bool = False,
    parameters: Any = (),
    gravity: Any = None,
    threads: int = 1,
    **static: Any,
) -> Any:
    """Functions of NumPy arrays for one robot.

    Args:
        robot: what to compile for.
        algorithm: one algorithm, such as `lw.inverse_dynamics`, for a `Kernel`; none for all of them, as a `Dynamics`.
        external: frames or links on which the environment exerts wrenches; adds the input `f_ext` (k, 6), in the
            frames' axes at their origins.
        base_motion: adds the inputs `base_velocity` and `base_acceleration` (6 each, classical, in base axes).
        parameters: numbers of the model to turn into an input, such as ("hand.mass", "elbow.viscous").
        gravity: a vector to use instead of the robot's, or "input" to add it as an input.
        threads: over how many threads large batches are split.
        static: further options of the algorithm, such as frame="tool".

    Returns:
        A `Dynamics`, or a `Kernel` for the algorithm given.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"compile: expected a Robot, got {robot!r}. Load one with lw.load(...).")
    options = Options.checked(robot, external, base_motion, parameters, gravity, threads)
    if algorithm is None:
        if static:
            valid = ("external", "base_motion", "parameters", "gravity", "threads")
            raise UnknownNameError("option of compile", next(iter(static)), valid)
        return Dynamics(robot, options)
    if not isinstance(algorithm, Algorithm):
        raise InputError(f"compile: expected an algorithm such as linkwise.inverse_dynamics, got {algorithm!r}.")
    asked = {
        "external": bool(options.external),
        "base_motion": options.base_motion,
        "gravity": gravity is not None,
    }
    for option, given in asked.items():
        if given and option not in algorithm.uses:
            raise UnknownNameError(
                f"option of {algorithm.name}",
                option,
                [*algorithm.static, *sorted(algorithm.uses), "parameters", "threads"],
            )
    return Kernel.of(robot, algorithm, options, static)
