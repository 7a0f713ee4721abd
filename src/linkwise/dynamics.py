"""Every standard algorithm of one robot."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise import algorithms as alg
from linkwise.algorithms.algorithm import Algorithm
from linkwise.errors import UnknownNameError
from linkwise.kernel import Kernel
from linkwise.options import Options
from linkwise.robot.robot import Robot


class Dynamics:
    """Every standard algorithm of one robot, as functions of NumPy arrays that are compiled when first called."""

    def __init__(self, robot: Robot, options: Options) -> None:
        self.robot = robot
        self.options = options
        self._frames: dict[tuple[Any, ...], Kernel] = {}

    def _kernel(self, algorithm: Algorithm) -> Kernel:
        return Kernel.of(self.robot, algorithm, self.options, {})

    def _at(self, algorithm: Algorithm, inputs: tuple[Any, ...], **static: Any) -> Any:
        """A kernel that belongs to one frame, kept for the next call."""
        key = (algorithm.name, *static.values())
        try:
            kernel = self._frames[key]
        except (KeyError, TypeError):
            kernel = self._frames[key] = Kernel.of(self.robot, algorithm, self.options, static)
        return kernel(*inputs)

    @cached_property
    def inverse_dynamics(self) -> Kernel:
        """(q, qd, qdd) -> tau."""
        return self._kernel(alg.inverse_dynamics)

    @cached_property
    def forward_dynamics(self) -> Kernel:
        """(q, qd, tau) -> qdd, by the cheaper of two routes."""
        return self._kernel(alg.forward_dynamics)

    @cached_property
    def joint_wrenches(self) -> Kernel:
        """(q, qd, qdd) -> tau, wrench (nb, 6)."""
        return self._kernel(alg.joint_wrenches)

    @cached_property
    def mass_matrix(self) -> Kernel:
        """(q) -> M."""
        return self._kernel(alg.mass_matrix)

    @cached_property
    def coriolis_matrix(self) -> Kernel:
        """(q, qd) -> C, with M_dot - 2 C skew-symmetric."""
        return self._kernel(alg.coriolis_matrix)

    @cached_property
    def bias_forces(self) -> Kernel:
        """(q, qd) -> h, with tau = M qdd + h."""
        return self._kernel(alg.bias_forces)

    @cached_property
    def gravity_forces(self) -> Kernel:
        """(q) -> g."""
        return self._kernel(alg.gravity_forces)

    @cached_property
    def kinetic_energy(self) -> Kernel:
        """(q, qd) -> T."""
        return self._kernel(alg.kinetic_energy)

    @cached_property
    def potential_energy(self) -> Kernel:
        """(q) -> V."""
        return self._kernel(alg.potential_energy)

    @cached_property
    def momentum(self) -> Kernel:
        """(q, qd) -> linear, then angular momentum about the world's origin."""
        return self._kernel(alg.momentum)

    @cached_property
    def regressor(self) -> Kernel:
        """(q, qd, qdd) -> Y, with tau = Y @ robot.parameters()."""
        return self._kernel(alg.regressor)

    @cached_property
    def poses(self) -> Kernel:
        """(q) -> T (nb, 4, 4) of all moving links."""
        return self._kernel(alg.poses)

    def pose(self, q: Any, frame: str, *extra: Any) -> NDArray[np.float64]:
        """T_world_frame (..., 4, 4) of a frame or link; `extra` are the inputs that options add."""
        return self._at(alg.pose, (q, *extra), frame=frame)

    def jacobian(self, q: Any, frame: str, *extra: Any, axes: str = "world") -> NDArray[np.float64]:
        """J (..., 6, nv) at the frame's origin, linear rows first, in world or (axes="local") the frame's axes."""
        return self._at(alg.jacobian, (q, *extra), frame=frame, axes=axes)

    def velocity(self, q: Any, qd: Any, frame: str, *extra: Any, axes: str = "world") -> NDArray[np.float64]:
        """Velocity (..., 6) of a frame, linear then angular."""
        return self._at(alg.velocity, (q, qd, *extra), frame=frame, axes=axes)

    def acceleration(
        self, q: Any, qd: Any, qdd: Any, frame: str, *extra: Any, axes: str = "world"
    ) -> NDArray[np.float64]:
        """Classical acceleration (..., 6) of a frame, linear then angular; gravity is not counted."""
        return self._at(alg.acceleration, (q, qd, qdd, *extra), frame=frame, axes=axes)

    def wrench_at(self, sensor: str) -> Kernel:
        """A kernel (q, qd, qdd) -> wrench (6) through a fixed joint, named by itself or by its child link."""
        fixed = [j for j in self.robot.joints if j.is_fixed]
        for j in fixed:
            if sensor in (j.name, j.child):
                key = ("wrench_at", j.name)
                if key not in self._frames:
                    self._frames[key] = Kernel.of(self.robot, alg.wrench_at, self.options, {"keep": (j.name,)})
                return self._frames[key]
        raise UnknownNameError("fixed joint", sensor, [j.name for j in fixed])

    def __repr__(self) -> str:
        return f"<Dynamics of the robot {self.robot.name!r}, {self.robot.nv} degrees of freedom>"

    def __reduce__(self) -> Any:
        return Dynamics, (self.robot, self.options)
