"""Robot + algorithm + back end: where a user brings them together."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from linkwise.algorithms.algorithm import Algorithm
from linkwise.errors import InputError, UnknownNameError
from linkwise.kernel.dynamics import Dynamics
from linkwise.kernel.options import Options
from linkwise.kernel.size import kernel_of
from linkwise.robot.robot import Robot


def compile(
    robot: Robot,
    algorithm: Algorithm | None = None,
    *,
    external: Any = (),
    base_motion: bool = False,
    parameters: Any = (),
    gravity: Any = None,
    threads: int | str = 1,
    forces: Any = None,
    joint_forces: Any = None,
    closure: str = "auto",
    dtype: Any = "float64",
    **static: Any,
) -> Any:
    """Functions of NumPy arrays for one robot.

    Args:
        robot: what to compile for.
        algorithm: one algorithm, such as `lw.inverse_dynamics`, for a `Kernel`; none for all of them, as a `Dynamics`.
        external: frames or links on which the environment exerts wrenches; adds the input `f_ext` (k, 6), in the
            frames' axes at their origins.
        base_motion: adds the inputs `base_velocity` and `base_acceleration` (6 each, classical, in base axes); for
            algorithms with rates also `base_jerk`, `base_snap`, `base_crackle`, `base_pop`, as many as they need: the
            derivatives of the acceleration in the world, in base axes.
        parameters: numbers of the model to turn into an input, such as ("hand.mass", "elbow.viscous").
        gravity: a vector to use instead of the robot's, or "input" to add it as an input.
        threads: over how many threads large batches are split; "auto" is as many as there are cores free, where a batch
            has enough to do for them.
        forces: laws of the environment by frame or link, {"foot": law}: `law(pose, velocity)` takes the frame's `Pose`
            in the world and its velocity, a `Motion` in the frame's axes, and returns the `Wrench` on the robot at the
            frame's origin in its axes. It is traced, so it is written with the functions of `linkwise.scalar`. A list
            of laws adds their wrenches.
        joint_forces: laws along joints, {"elbow": law}: `law(position, speed)` returns the force or torque on it.
        closure: "auto" closes loops in closed form where there is one, else by Newton's method; "newton" always does.
        dtype: the numbers in which kernels compute and which they return: "float64", or "float32", which is about twice
            as fast for large batches and good to some 1e-6 of the largest result. Inputs of other kinds are converted.
        static: further options of the algorithm, such as frame="tool".

    Returns:
        A `Dynamics`, or a `Kernel` for the algorithm given.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"compile: expected a Robot, got {robot!r}. Load one with lw.load(...).")
    options = Options.checked(
        robot,
        external=external,
        base_motion=base_motion,
        parameters=parameters,
        gravity=gravity,
        threads=threads,
        forces=forces,
        joint_forces=joint_forces,
        closure=closure,
        dtype=dtype,
    )
    if algorithm is None:
        if static:
            raise UnknownNameError("option of compile", next(iter(static)), [f.name for f in fields(Options)])
        return Dynamics(robot, options)
    if not isinstance(algorithm, Algorithm):
        raise InputError(f"compile: expected an algorithm such as linkwise.inverse_dynamics, got {algorithm!r}.")
    asked = {  # each with what the algorithm must use for it
        "external": (options.external, "external"),
        "forces": (options.forces, "external"),
        "joint_forces": (options.joint_forces, "external"),
        "base_motion": (options.base_motion, "base_motion"),
        "gravity": (gravity is not None, "gravity"),
    }
    for option, (given, use) in asked.items():
        if given and use not in algorithm.uses:
            raise UnknownNameError(
                f"option of {algorithm.name}",
                option,
                [*algorithm.static, *sorted(algorithm.uses), "parameters", "threads", "dtype"],
            )
    return kernel_of(robot, algorithm, options, static)
