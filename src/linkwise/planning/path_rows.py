"""What a motion along a path takes, at points of the path: all that limits bound, by the speed along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.force_rates import force_rates
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.kernel.kernel import Kernel
from linkwise.planning.bounds import Bounds, coordinate_names
from linkwise.planning.chart import Chart
from linkwise.planning.path import Path
from linkwise.planning.path_forces import path_forces, path_friction, path_joints
from linkwise.robot.coordinates import drive_slots
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

    def __init__(self, robot: Robot, bounds: Bounds, chart: Chart) -> None:
        self.robot, self.bounds, self.chart = robot, bounds, chart
        self._forces, self._friction, self.force_rates, self._joints = _kernels(robot)
        self.has_friction = bool(self._friction.program.schedule)

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """What each kind of limit belongs to."""
        drives, joints = coordinate_names(drive_slots(self.robot)), coordinate_names(self.robot.opened().slots)
        return {f.name: drives if f.name.startswith("effort") else joints for f in fields(self.bounds)}

    def leads(self, path: Path, x: Array) -> list[Array]:
        """Positions of what leads at points x of the path, and three derivatives of them."""
        return self.chart.motion(list(path.derivatives(x)))

    def joints(self, q: Sequence[Array]) -> Sequence[Array]:
        """The same of all joints, from those of what leads."""
        return self._joints(*q) if self._joints else q

    def at(self, path: Path, x: Array) -> PathRows:
        """The rows at points x of the path."""
        q = self.leads(path, x)
        joints, parts = self.joints(q), self._forces(*q)
        lost = ~np.isfinite(joints[0]).all(axis=-1)
        if lost.any():
            raise InputError(
                f"retime path: the loops cannot be closed at s = {path.place(x)[0][lost][0]:.4g}. Take another path."
            )
        return PathRows(self, q, joints, *parts)

    def friction(self, q: Sequence[Array], speed: Array) -> Friction:
        """Friction where q are positions and derivatives of a path."""
        if not self.has_friction:
            return Friction(*(np.zeros((3, *q[0].shape[:-1], self.robot.nu))))
        return Friction(*self._friction(q[0], q[1], q[2], speed))


@lru_cache(maxsize=KEPT)
def _kernels(robot: Robot) -> tuple[Kernel, Kernel, Kernel, Kernel | None]:
    joints = compile(robot, path_joints) if robot.loops else None
    return compile(robot, path_forces), compile(robot, path_friction), compile(robot, force_rates), joints


class PathRows:
    """Parts of torques along the path: tau = m x_ddot + c x_dot^2 + g + friction; dm, dc, dg are derivatives by x.

    `q` are positions and derivatives of what leads, `joints` of all joints.
    """

    def __init__(self, model: PathModel, q: Sequence[Array], joints: Sequence[Array], *parts: Array) -> None:
        self.model, self.q, self.joints = model, q, joints
        self.m, self.c, self.g, self.dm, self.dc, self.dg = parts

    def friction(self, speed: Array) -> Friction:
        """Friction at speeds along the path, one for each row."""
        return self.model.friction(self.q, speed)
