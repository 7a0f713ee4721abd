"""The options of `compile`: which inputs a kernel has besides its standard ones, and what surrounds the robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkwise.algorithms.algorithm import Algorithm, World, external_on_bodies
from linkwise.algorithms.environment import frame_wrenches, with_joint_laws
from linkwise.errors import InputError, UnknownNameError
from linkwise.graph.program import Port
from linkwise.robot import check, numbers
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Wrench
from linkwise.vector import Vec3

Laws = tuple[tuple[str, tuple[Callable[..., Any], ...]], ...]  # of frames or joints, by name


@dataclass(frozen=True)
class Options:
    """The options that are common to all kernels of a robot; `gravity` is a vector, "input", or None for its own."""

    external: tuple[str, ...] = ()
    base_motion: bool = False
    parameters: tuple[str, ...] = ()
    gravity: Vec3 | str | None = None
    threads: int = 1
    forces: Laws = ()
    joint_forces: Laws = ()

    @classmethod
    def checked(
        cls,
        robot: Robot,
        external: Any,
        base_motion: Any,
        parameters: Any,
        gravity: Any,
        threads: Any,
        forces: Any = None,
        joint_forces: Any = None,
    ) -> Options:
        """Options that fit the robot, or an error that says which does not."""
        frames, paths = _names(external, "external"), _names(parameters, "parameters")
        for name in frames:
            robot.frame(name)
        for path in paths:
            numbers.read(robot, path)
        if not isinstance(base_motion, bool):
            raise InputError(f"base_motion: expected True or False, got {base_motion!r}.")
        if isinstance(gravity, str) and gravity != "input":
            raise InputError(f"gravity: expected a vector of three, 'input' or None, got {gravity!r}.")
        if gravity is not None and not isinstance(gravity, str):
            gravity = check.vector(gravity, "gravity")
        if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
            raise InputError(f"threads: expected a whole number of at least 1, got {threads!r}.")
        on_frames, on_joints = _laws(forces, "forces"), _laws(joint_forces, "joint_forces")
        for name, _ in on_frames:
            robot.frame(name)
        for name, _ in on_joints:
            _check_single(robot, name)
        return cls(frames, base_motion, paths, gravity, threads, on_frames, on_joints)

    def values(self, robot: Robot) -> dict[str, tuple[float, ...]]:
        """The robot's own numbers at the paths of `parameters`."""
        return {path: numbers.read(robot, path) for path in self.parameters}

    def ports(self, robot: Robot, algorithm: Algorithm) -> list[Port]:
        """The inputs that options add, in their fixed order."""
        ports = []
        if self.external and "external" in algorithm.uses:
            ports.append(Port("f_ext", (len(self.external), 6)))
        if self.base_motion and "base_motion" in algorithm.uses:
            ports += [Port("base_velocity", (6,)), Port("base_acceleration", (6,))]
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
        return numbers.substitute(robot, found)

    def tree(self, tree: Tree) -> Tree:
        """The tree with the laws of `joint_forces`."""
        return with_joint_laws(tree, dict(self.joint_forces))

    def world(
        self,
        tree: Tree,
        given: dict[str, list[Any]],
        state: tuple[Sequence[Scalar], Sequence[Scalar]] | None = None,
    ) -> World:
        """What surrounds the robot, from constants and inputs; in the `state` q, qd the laws of `forces` act too."""
        rows, wrenches = given.get("f_ext", []), {}
        for k, name in enumerate(self.external if rows else ()):
            wrenches[name] = Wrench(Vec3(*rows[6 * k : 6 * k + 3]), Vec3(*rows[6 * k + 3 : 6 * k + 6]))
        v, a = given.get("base_velocity", [0.0] * 6), given.get("base_acceleration", [0.0] * 6)
        gravity = Vec3(*given["gravity"]) if "gravity" in given else self.gravity
        world = World(
            gravity=gravity if isinstance(gravity, Vec3) else tree.gravity,
            base_velocity=Motion(Vec3(*v[:3]), Vec3(*v[3:])),
            base_acceleration=Motion(Vec3(*a[:3]), Vec3(*a[3:])),
        )
        if self.forces and state is not None:
            for name, wrench in frame_wrenches(tree, *state, dict(self.forces), world).items():
                wrenches[name] = wrenches[name] + wrench if name in wrenches else wrench
        return replace(world, external=external_on_bodies(tree, wrenches))


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
    single = [j.name for j in robot.joints if j.kind not in ("fixed", "floating")]
    if name not in single:
        raise UnknownNameError("joint of one degree of freedom in joint_forces", name, single)


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
