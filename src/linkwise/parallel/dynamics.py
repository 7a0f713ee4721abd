"""Every standard quantity of one parallel robot."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.parallel import quantities as q
from linkwise.parallel.kernel import ParallelKernel, ParallelOptions
from linkwise.parallel.newton import ForwardKinematics, check_tolerance, solve
from linkwise.parallel.quantity import Quantity
from linkwise.parallel.robot import ParallelRobot

Array = NDArray[np.float64]


class Workspace(NamedTuple):
    """Whether poses can be taken.

    Args:
        reachable: (...,), whether every leg gets to its point of the platform.
        within: (...,), whether all joints of the legs are then within their limits of position.
        excess: (..., nj), by how much joints are beyond their limits, m or rad; NaN where a leg does not reach.
        condition: (...,), of the inverse Jacobian: 1 is best, infinite is singular.
    """

    reachable: NDArray[np.bool_]
    within: NDArray[np.bool_]
    excess: Array
    condition: Array


class ParallelDynamics:
    """Every standard quantity of one parallel robot, as functions of NumPy arrays, compiled when first called.

    A pose is position and quaternion x, y, z, w (7), or x, y, z (3), or x, y and an angle (3), by the robot's mobility.
    Velocity, classical acceleration and wrench of the platform are of its origin, in world axes, linear or force first.
    Rows that a leg cannot reach are NaN.
    """

    def __init__(self, robot: ParallelRobot, options: ParallelOptions = ParallelOptions()) -> None:
        self.robot = robot
        self.options = options

    def _kernel(self, quantity: Quantity) -> ParallelKernel:
        return ParallelKernel.of(self.robot, quantity, self.options)

    # ---- kinematics

    def inverse_kinematics(self, pose: Any) -> Array:
        """Positions (..., nj) of all joints of the legs, in the order of `robot.joint_names`; angles up to half a turn.

        NaN for a leg that does not reach.
        """
        turning = np.array([not j.freedom.slides for j in self.robot.joints])
        return _positions(self._leg_places(pose), turning)

    def actuators(self, pose: Any) -> Array:
        """Positions (..., na) of the actuated joints, in the order of `robot.names`."""
        names = dict(zip(self.robot.joint_names, self.robot.joints, strict=True))
        turning = np.array([not names[n].freedom.slides for n in self.robot.names])
        return _positions(self._actuator_places(pose), turning)

    def forward_kinematics(self, positions: Any, guess: Any, *, tolerance: float = 1e-10) -> ForwardKinematics:
        """Poses at which the actuated joints stand at `positions`, by Newton's method from `guess`.

        There may be many: the one that Newton's method comes to from the guess is found. Along a motion, take the pose
        before as guess.

        Args:
            positions: of the actuated joints (..., na).
            guess: a pose nearby (..., nq).
            tolerance: of the positions, m or rad.
        """
        return solve(self._closure, positions, guess, check_tolerance(tolerance), self.robot.nq == 7)

    @cached_property
    def leg_motion(self) -> ParallelKernel:
        """(pose, velocity, acceleration) -> qd (nj), qdd (nj) of all joints of the legs."""
        return self._kernel(q.leg_motion)

    @cached_property
    def jacobian(self) -> ParallelKernel:
        """(pose) -> J_p (nv, na), with velocity = J_p rates of the actuated joints."""
        return self._kernel(q.jacobian)

    @cached_property
    def inverse_jacobian(self) -> ParallelKernel:
        """(pose) -> J_p^-1 (na, nv), whose transpose takes forces of actuators to the platform."""
        return self._kernel(q.inverse_jacobian)

    @cached_property
    def pose_rate(self) -> ParallelKernel:
        """(pose, velocity) -> rates of the numbers of the pose (nq)."""
        return self._kernel(q.pose_rate)

    # ---- dynamics

    @cached_property
    def inverse_dynamics(self) -> ParallelKernel:
        """(pose, velocity, acceleration) -> forces (na) of the actuated joints."""
        return self._kernel(q.inverse_dynamics)

    @cached_property
    def forward_dynamics(self) -> ParallelKernel:
        """(pose, velocity, forces) -> acceleration (nv)."""
        return self._kernel(q.forward_dynamics)

    @cached_property
    def platform_forces(self) -> ParallelKernel:
        """(pose, velocity, acceleration) -> M acceleration + bias (nv), on the platform."""
        return self._kernel(q.platform_forces)

    @cached_property
    def mass_matrix(self) -> ParallelKernel:
        """(pose) -> M (nv, nv) in the platform's coordinates, legs included."""
        return self._kernel(q.mass_matrix)

    @cached_property
    def bias_forces(self) -> ParallelKernel:
        """(pose, velocity) -> h (nv), the platform's forces at zero acceleration."""
        return self._kernel(q.bias_forces)

    @cached_property
    def gravity_forces(self) -> ParallelKernel:
        """(pose) -> g (nv), what holds platform and legs against gravity, on the platform."""
        return self._kernel(q.gravity_forces)

    @cached_property
    def leg_forces(self) -> ParallelKernel:
        """(pose, velocity, acceleration) -> force (nl, 3) of each leg on the platform, in world axes."""
        return self._kernel(q.leg_forces)

    @cached_property
    def kinetic_energy(self) -> ParallelKernel:
        """(pose, velocity) -> T."""
        return self._kernel(q.kinetic_energy)

    @cached_property
    def potential_energy(self) -> ParallelKernel:
        """(pose) -> V, of masses in gravity and of springs."""
        return self._kernel(q.potential_energy)

    # ---- workspace

    @cached_property
    def length(self) -> float:
        """The length by which turns are compared with shifts, m: the root mean square of the legs' points."""
        squares = [sum(x * x for x in leg.at) for leg in self.robot.legs]
        return max(1e-6, float(np.sqrt(np.mean(squares))))

    def condition(self, pose: Any, *, length: float | None = None) -> Array:
        """The condition number (...,) of the inverse Jacobian: 1 is best; infinite at singular poses, NaN beyond reach.

        Args:
            pose: (..., nq).
            length: by which angular velocities are made comparable with linear ones, m; None is `self.length`.
        """
        size = self.length if length is None else length
        valid = isinstance(size, (int, float))
        if not valid or not 0.0 < size < np.inf:
            raise InputError(f"condition length: expected a number above 0, got {length!r}.")
        K = np.array(self.inverse_jacobian(pose))
        K /= [size if axis > 2 else 1.0 for axis in self.robot.motion.axes]
        sound = np.isfinite(K).all(axis=(-2, -1))
        K[~sound] = 0.0
        values = np.linalg.svd(K, compute_uv=False)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = values[..., 0] / values[..., -1]
        return np.where(sound, np.where(np.isfinite(found), found, np.inf), np.nan)[()]

    def workspace(self, pose: Any, *, length: float | None = None) -> Workspace:
        """Which poses (..., nq) can be taken: reach, limits of the legs' joints, and the condition of the Jacobian."""
        positions = self.inverse_kinematics(pose)
        limits = [j.limits for j in self.robot.joints]
        lower, upper = (np.array([getattr(x, side) for x in limits]) for side in ("lower", "upper"))
        excess = np.maximum(np.maximum(lower - positions, positions - upper), 0.0 * positions)
        reachable: Any = np.isfinite(positions).all(axis=-1)
        within: Any = (excess == 0.0).all(axis=-1)
        return Workspace(reachable, within, excess, self.condition(pose, length=length))

    @cached_property
    def _leg_places(self) -> ParallelKernel:
        return self._kernel(q.inverse_kinematics)

    @cached_property
    def _actuator_places(self) -> ParallelKernel:
        return self._kernel(q.actuators)

    @cached_property
    def _closure(self) -> ParallelKernel:
        return self._kernel(q.forward_kinematics)

    def __repr__(self) -> str:
        return f"<ParallelDynamics of {self.robot.name!r}, {self.robot.nv} degrees of freedom>"

    def __reduce__(self) -> Any:
        return ParallelDynamics, (self.robot, self.options)


def _positions(places: Array, turning: NDArray[np.bool_]) -> Array:
    """Angles of cosines and sines, beside lengths."""
    if not turning.any():
        return places[..., 0]
    return np.where(turning, np.arctan2(places[..., 1], places[..., 0]), places[..., 0])
