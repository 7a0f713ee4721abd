"""What a motion along a path takes, at points of the path: all that limits bound, by the speed along it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.force_rates import force_rates
from linkwise.kernel.compile import compile
from linkwise.kernel.kernel import Kernel
from linkwise.planning.bounds import Bounds
from linkwise.planning.path import Path
from linkwise.planning.path_forces import path_forces, path_friction
from linkwise.robot.robot import Robot

Array = NDArray[np.float64]
KEPT = 32  # robots


class Friction(NamedTuple):
    """Torques of friction (rows, nv) at speeds along the path, and their derivatives by speed and by place."""

    torque: Array
    by_speed: Array
    by_place: Array


class PathModel:
    """The kernels of a robot along paths, and the limits that count."""

    def __init__(self, robot: Robot, bounds: Bounds) -> None:
        self.robot, self.bounds = robot, bounds
        self._forces, self._friction, self.force_rates = _kernels(robot)
        self.has_friction = bool(self._friction.program.schedule)

    def at(self, path: Path, x: Array) -> PathRows:
        """The rows at points x of the path."""
        q = path.derivatives(x)
        return PathRows(self, q, *self._forces(*q))

    def friction(self, q: Array, speed: Array) -> Friction:
        """Friction where q (4, rows, nv) are positions and derivatives of a path."""
        if not self.has_friction:
            return Friction(*(np.zeros((3, *q[0].shape))))
        return Friction(*self._friction(q[0], q[1], q[2], speed))


@lru_cache(maxsize=KEPT)
def _kernels(robot: Robot) -> tuple[Kernel, Kernel, Kernel]:
    return compile(robot, path_forces), compile(robot, path_friction), compile(robot, force_rates)


class PathRows:
    """Parts of torques along the path: tau = m x_ddot + c x_dot^2 + g + friction; dm, dc, dg are derivatives by x."""

    def __init__(self, model: PathModel, q: Array, *parts: Array) -> None:
        self.model, self.q = model, q
        self.m, self.c, self.g, self.dm, self.dc, self.dg = parts

    def friction(self, speed: Array) -> Friction:
        """Friction at speeds along the path, one for each row."""
        return self.model.friction(self.q, speed)
