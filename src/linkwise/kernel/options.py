"""The options of `compile`: which inputs a kernel has besides its standard ones, and what surrounds the robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.algorithms.algorithm import Algorithm, World, dotted, external_on_bodies, moving_base, wrench_of
from linkwise.check import whole
from linkwise.errors import InputError, UnknownNameError
from linkwise.graph.program import Port
from linkwise.robot import check
from linkwise.robot import parameters as robot_parameters
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose
from linkwise.vector import Mat3, Vec3

if TYPE_CHECKING:
    from linkwise.mechanism.structure import Structure

CLOSURES = ("auto", "newton")
DTYPES = ("float64", "float32")
# of the base, in its axes: its velocity, its classical acceleration, and the derivatives of that in the world
BASE = (
    "base_velocity", "base_acceleration", "base_jerk", "base_snap", "base_crackle", "base_pop", "base_lock",
    "base_drop", "base_shot",
)  # fmt: skip
Laws = tuple[tuple[str, tuple[Callable[..., Any], ...]], ...]  # of frames or joints, by name


@dataclass(frozen=True)
class Options:
    """The options that are common to all kernels of a robot; `gravity` is a vector, "input", or None for its own.

    With `base_pose` a base that moves has its rotation, row after row, and position as an input, which laws of `forces`
    see; without, they see the robot as on a base at the world's origin.
    """

    external: tuple[str, ...] = ()
    base_motion: bool = False
    parameters: tuple[str, ...] = ()
    gravity: Vec3 | str | None = None
    threads: int | str = 1
    forces: Laws = ()
    joint_forces: Laws = ()
    closure: str = "auto"
    dtype: str = "float64"
    base_pose: bool = False

    @classmethod
    def checked(
        cls,
        robot: Robot,
        *,
        external: Any = (),
        base_motion: Any = False,
        parameters: Any = (),
        gravity: Any = None,
        threads: Any = 1,
        forces: Any = None,
        joint_forces: Any = None,
        closure: Any = "auto",
        dtype: Any = "float64",
    ) -> Options:
        """Options that fit the robot, or an error that says which does not."""
        frames, paths = _names(external, "external"), _names(parameters, "parameters")
        for name in frames:
            robot.frame(name)
        for path in paths:
            robot_parameters.read(robot, path)
        if not isinstance(base_motion, bool):
            raise InputError(f"base_motion: expected True or False, got {base_motion!r}.")
        gravity, threads = checked_gravity(gravity), checked_threads(threads)
        on_frames, on_joints = _laws(forces, "forces"), _laws(joint_forces, "joint_forces")
        for name, _ in on_frames:
            robot.frame(name)
        for name, _ in on_joints:
            _check_single(robot, name)
        if closure not in CLOSURES:
            raise InputError(f"closure: expected one of {CLOSURES}, got {closure!r}.")
        numbers_of = checked_dtype(dtype)
        return cls(frames, base_motion, paths, gravity, threads, on_frames, on_joints, closure, numbers_of)

    def structure(self, robot: Robot) -> Structure:
        """How a robot with loops moves; numbers that move its joints leave no closed form to rely on."""
        from linkwise.mechanism.structure import structure_of  # trees need nothing of it

        return structure_of(robot, self.closure == "newton" or any(map(robot_parameters.moves_joints, self.parameters)))

    def values(self, robot: Robot) -> dict[str, tuple[float, ...]]:
        """The robot's own numbers at the paths of `parameters`."""
        return {path: robot_parameters.read(robot, path) for path in self.parameters}

    def ports(self, robot: Robot, algorithm: Algorithm, order: int = 0) -> list[Port]:
        """The inputs that options add, in their fixed order; wrenches and base motion with so many rates."""
        ports = []
        if self.external and "external" in algorithm.uses:
            wrenches = [dotted("f_ext", k) for k in range(order + 1)]
            ports += [Port(name, (len(self.external), 6)) for name in wrenches]
        if self.base_motion and "base_motion" in algorithm.uses:
            order, highest = max(order, algorithm.base_rates), len(BASE) - 2
            if order > highest:
                raise InputError(
                    f"base_motion: expected at most {highest} rates of the base's acceleration, got {algorithm.name},"
                    f" which needs {order}. Use a robot with a floating base."
                )
            ports += [Port(name, (6,)) for name in BASE[: 2 + order]]
            ports += [Port("base_pose", (12,))] if self.base_pose else []
        if self.parameters:
            ports.append(Port("parameters", (sum(map(len, self.values(robot).values())),)))
        if self.gravity == "input" and "gravity" in algorithm.uses:
            ports.append(Port("gravity", (3,)))
        return ports

    def model(self, robot: Robot, given: dict[str, list[Any]]) -> Robot:
        """The robot with the input `parameters` in place of its numbers."""
        if "parameters" not in given:
            return robot
        flat, found = iter(given["parameters"]), {}
        for path, values in self.values(robot).items():
            found[path] = tuple(next(flat) for _ in values)
        return robot_parameters.substitute(robot, found)

    def tree(self, tree: Tree) -> Tree:
        """The tree with the laws of `joint_forces`."""
        if not self.joint_forces:
            return tree
        from linkwise.algorithms.environment import with_joint_laws

        return with_joint_laws(tree, dict(self.joint_forces))

    def world(
        self,
        tree: Tree,
        given: dict[str, list[Any]],
        state: tuple[Sequence[Scalar], Sequence[Scalar]] | None = None,
        order: int = 0,
    ) -> World:
        """What surrounds the robot, from constants and inputs; in the `state` q, qd the laws of `forces` act too."""
        names = [dotted("f_ext", k) for k in range(order + 1)]
        rows, wrenches = [given[name] for name in names if name in given], {}
        for k, name in enumerate(self.external if rows else ()):
            wrenches[name] = wrench_of([row[6 * k : 6 * k + 6] for row in rows])
        gravity = Vec3(*given["gravity"]) if "gravity" in given else self.gravity
        base = [Motion(Vec3(*given[name][:3]), Vec3(*given[name][3:])) for name in BASE if name in given]
        world = moving_base(gravity if isinstance(gravity, Vec3) else tree.gravity, *base)
        if self.forces and state is not None:
            from linkwise.algorithms.environment import frame_wrenches

            laws, at = dict(self.forces), _pose(given["base_pose"]) if "base_pose" in given else Pose()
            for name, wrench in frame_wrenches(tree, *state, laws, world, at).items():
                wrenches[name] = wrenches[name] + wrench if name in wrenches else wrench
        return replace(world, external=external_on_bodies(tree, wrenches), by_laws=bool(self.forces))


def _pose(twelve: list[Any]) -> Pose:
    """The pose of a rotation, row after row, and a position."""
    return Pose(Mat3.of([twelve[k : k + 3] for k in (0, 3, 6)]), Vec3(*twelve[9:]))


def checked_gravity(value: Any) -> Vec3 | str | None:
    """The option `gravity`: a vector, "input", or None for the robot's own."""
    if isinstance(value, str) and value != "input":
        raise InputError(f"gravity: expected a vector of three, 'input' or None, got {value!r}.")
    return value if value is None or isinstance(value, str) else check.vector(value, "gravity")


def checked_threads(value: Any) -> int | str:
    """The option `threads`."""
    if isinstance(value, str) and value == "auto":
        return value
    return whole(value, "threads", 1, expected="a whole number of at least 1, or 'auto'")


def checked_dtype(value: Any) -> str:
    """The option `dtype`, by NumPy's name."""
    try:
        name = np.dtype(value).name
    except TypeError:
        name = ""
    if value is None or name not in DTYPES:
        raise InputError(f"dtype: expected one of {DTYPES}, got {value!r}.")
    return name


def _laws(value: Any, what: str) -> Laws:
    """Laws by name, one or several for each."""
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        raise InputError(f"{what}: expected laws by name, such as {{'foot': law}}, got {value!r}.")
    found = []
    for name, laws in value.items():
        group = (laws,) if callable(laws) else tuple(laws) if isinstance(laws, (tuple, list)) else ()
        if not group or not all(callable(law) for law in group):
            raise InputError(f"{what} {name!r}: expected a function or a list of functions, got {laws!r}.")
        found.append((name, group))
    return tuple(found)


def _check_single(robot: Robot, name: str) -> None:
    """Refuse a law on what is not a joint of one degree of freedom."""
    single = [j.name for j in robot.joints if j.freedom.is_single]
    if name not in single:
        raise UnknownNameError("joint in joint_forces", name, single)


def _names(value: Any, what: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    try:
        names = tuple(value)
    except TypeError as error:
        raise InputError(f"{what}: expected a tuple of names, got {value!r}.") from error
    for n in names:
        if not isinstance(n, str):
            raise InputError(f"{what}: expected names, got {n!r}.")
    if len(set(names)) < len(names):
        raise InputError(f"{what}: expected each name once, got {names}.")
    return names
