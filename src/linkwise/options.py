"""The options of `compile`: which inputs a kernel has besides its standard ones, and what surrounds the robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwise.algorithms.algorithm import Algorithm, World, external_on_bodies
from linkwise.errors import InputError
from linkwise.graph.program import Port
from linkwise.robot import check, numbers
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.spatial import Motion, Wrench
from linkwise.vector import Vec3


@dataclass(frozen=True)
class Options:
    """The options that are common to all kernels of a robot; `gravity` is a vector, "input", or None for its own."""

    external: tuple[str, ...] = ()
    base_motion: bool = False
    parameters: tuple[str, ...] = ()
    gravity: Vec3 | str | None = None
    threads: int = 1

    @classmethod
    def checked(
        cls, robot: Robot, external: Any, base_motion: Any, parameters: Any, gravity: Any, threads: Any
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
        return cls(frames, base_motion, paths, gravity, threads)

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

    def world(self, tree: Tree, given: dict[str, list[Any]]) -> World:
        """What surrounds the robot, from constants and inputs."""
        rows, wrenches = given.get("f_ext", []), {}
        for k, name in enumerate(self.external if rows else ()):
            wrenches[name] = Wrench(Vec3(*rows[6 * k : 6 * k + 3]), Vec3(*rows[6 * k + 3 : 6 * k + 6]))
        v, a = given.get("base_velocity", [0.0] * 6), given.get("base_acceleration", [0.0] * 6)
        gravity = Vec3(*given["gravity"]) if "gravity" in given else self.gravity
        return World(
            gravity=gravity if isinstance(gravity, Vec3) else tree.gravity,
            base_velocity=Motion(Vec3(*v[:3]), Vec3(*v[3:])),
            base_acceleration=Motion(Vec3(*a[:3]), Vec3(*a[3:])),
            external=external_on_bodies(tree, wrenches),
        )


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
