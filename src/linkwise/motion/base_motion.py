"""A base that moves: its pose in the world as a function of time, from which all else follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.environment import called
from linkwise.errors import InputError
from linkwise.jet import Jet, cut, part, rate
from linkwise.kernel.tracing import Port, function, trace
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose
from linkwise.vector import Mat3, Vec3

Array = NDArray[np.float64]
COLUMNS = tuple(f"base.{part}" for part in ("x", "y", "z", "qx", "qy", "qz", "qw"))
TURNED = 1e-6  # by which R R^T of a rotation may be off the unit matrix


class BaseMotion:
    """The motion of a base whose pose in the world is a function of time, written for any scalar.

    Velocity, acceleration, jerk, ... and the turning of gravity are derivatives of that one function, so that they
    cannot disagree:

        v = R^T p',    a = R^T p'',    hat(omega) = R^T R',    alpha = omega',    g = R^T g_world

    in the axes of the base. Functions of a robot on this base take its own pose as that of a base that stands still.

    Args:
        pose: a function of time (s) that returns the base's `Pose` in the world.
    """

    def __init__(self, pose: Callable[[Scalar], Pose]) -> None:
        if not callable(pose):
            raise InputError(f"base_motion: expected a function of time that returns a Pose, got {pose!r}.")
        self._function = pose
        self._kernels: dict[int, Any] = {}
        R = np.array(self.pose(0.0).R, dtype=float)
        off = float(np.abs(R @ R.T - np.eye(3)).max())
        if not off < TURNED or np.linalg.det(R) < 0.0:
            raise InputError(f"base_motion: expected a Pose whose R is a rotation, got {R.tolist()} at t = 0.")

    @classmethod
    def of(cls, given: Any) -> BaseMotion | None:
        """What users give as `base_motion=`: None, a function that returns a Pose, or one of these."""
        return given if given is None or isinstance(given, cls) else cls(given)

    # ---- on any scalars

    def pose(self, t: Scalar) -> Pose:
        """The pose in the world at time t, with rates where t is a series."""
        found = called("base_motion", self._function, t)
        try:
            R, p = Mat3.of([[x * 1.0 for x in row] for row in found.R]), Vec3(*(x * 1.0 for x in found.p))
        except (AttributeError, TypeError) as error:
            raise InputError(
                "base_motion: expected a function of time that returns a Pose, such as"
                f" lambda t: lw.Pose.of((0.1 * t, 0, 0), rpy=(0, 0, 0.2 * t)), got {found!r}."
            ) from error
        return Pose(R, p)

    def world(self, t: Scalar, gravity: Sequence[Scalar], rates: int = 0) -> World:
        """What surrounds a robot on the base: components in its axes, as series with so many rates.

        Args:
            t: time, a plain scalar.
            gravity: in the world.
            rates: how many rates the numbers of the world carry.
        """
        X = self.pose(running(t, rates + 2))
        back, v, a = _each(X.R.T, lambda x: cut(x, rates)), *(_derivative(X.p, k, rates) for k in (1, 2))
        turns = _each(X.R.T, lambda x: cut(x, rates + 1)) @ _each(X.R, rate)  # hat(omega)
        omega = Vec3(turns.z.y, turns.x.z, turns.y.x)
        angular, alpha = Vec3(*(cut(x, rates) for x in omega)), Vec3(*(rate(x) for x in omega))
        return World(back @ Vec3(*gravity), Motion(back @ v, angular), Motion(back @ a, alpha))

    def given(self, t: Scalar, gravity: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        """The inputs of kernels on the base at time t, by name; `gravity` is that in the world."""
        X, world = self.pose(t), self.world(t, gravity)
        return {
            "base_velocity": list(world.base_velocity),
            "base_acceleration": list(world.base_acceleration),
            "base_pose": [*(x for row in X.R for x in row), *X.p],
            "gravity": list(world.gravity),
        }

    def derivatives(self, t: Scalar, count: int) -> list[Motion]:
        """Velocity, acceleration, jerk, ..., so many: derivatives in the world, in the axes of the base."""
        X = self.pose(running(t, count))
        spin = _each(X.R, rate) @ _each(X.R.T, lambda x: cut(x, count - 1))  # hat(omega) in the world
        omega, back = Vec3(spin.z.y, spin.x.z, spin.y.x), _each(X.R.T, part)
        linear = [Vec3(*(part(x, k + 1) for x in X.p)) for k in range(count)]
        angular = [Vec3(*(part(x, k) for x in omega)) for k in range(count)]
        return [Motion(back @ u, back @ w) for u, w in zip(linear, angular, strict=True)]

    # ---- on arrays of times

    def inputs(self, t: Any, gravity: Sequence[float], count: int = 2) -> list[Array]:
        """What kernels of `lw.compile(robot, base_motion=True, gravity="input")` take at times t (...,).

        Args:
            t: times (...,), s.
            gravity: in the world (3).
            count: how many of velocity, acceleration, jerk, ... the kernel takes.

        Returns:
            Velocity, acceleration, ... (..., 6), then gravity (..., 3), all in the axes of the base.
        """
        *found, pose = self._at(t, count)
        R = pose[..., :9].reshape(*pose.shape[:-1], 3, 3)
        return [*found, np.matmul(np.asarray(gravity, dtype=float), R)]

    def poses(self, t: Any) -> Array:
        """Rotations, row after row, then positions in the world (..., 12) at times t (...,)."""
        return self._at(t, 2)[-1]

    def _at(self, t: Any, count: int) -> list[Array]:
        """So many derivatives (..., 6), and poses (..., 12), all finite."""
        times = np.asarray(t, dtype=float)
        if count not in self._kernels:
            self._kernels[count] = self._compiled(count)
        found = list(self._kernels[count](times))
        bad = ~np.logical_and.reduce([np.isfinite(x).all(axis=-1) for x in found])
        if bad.any():
            when = float(times[bad].flat[0])
            raise InputError(f"base_motion: expected a smooth pose with finite numbers, got none at t = {when:g} s.")
        return found

    def _compiled(self, count: int) -> Any:
        def run(t: list[Scalar]) -> list[list[Scalar]]:
            X = self.pose(t[0])
            return [*(list(x) for x in self.derivatives(t[0], count)), [*(x for row in X.R for x in row), *X.p]]

        outputs = [*(Port(f"derivative{k + 1}", (6,)) for k in range(count)), Port("pose", (12,))]
        return function(trace("base_motion", run, [Port("t", ())], outputs))


def base_columns(poses: Array) -> dict[str, Array]:
    """Poses of a base in the world (rows, 12) as columns base.x, ..., base.qw: a position, and a quaternion."""
    from scipy.spatial.transform import Rotation

    turns = Rotation.from_matrix(poses[:, :9].reshape(-1, 3, 3)).as_quat()
    flips = np.where(np.sum(turns[1:] * turns[:-1], axis=1) < 0.0, -1.0, 1.0)
    turns[1:] *= np.cumprod(flips)[:, None]
    return dict(zip(COLUMNS, np.hstack([poses[:, 9:], turns]).T, strict=True))


def base_poses(columns: Mapping[str, Any]) -> Array | None:
    """The poses (rows, 12) of such columns, where a table has them all."""
    from scipy.spatial.transform import Rotation

    if not all(name in columns for name in COLUMNS):
        return None
    seven = np.stack([np.asarray(columns[name], dtype=float) for name in COLUMNS], axis=1)
    if not np.isfinite(seven).all() or not np.linalg.norm(seven[:, 3:], axis=1).all():
        raise InputError("base: expected finite positions, and quaternions that are not zero, got others.")
    return np.hstack([Rotation.from_quat(seven[:, 3:]).as_matrix().reshape(-1, 9), seven[:, :3]])


def running(t: Scalar, rates: int) -> Jet:
    """Time as a series: it passes at the rate one."""
    return Jet([t, 1.0, *[0.0] * (rates - 1)])


def _derivative(p: Vec3, k: int, rates: int) -> Vec3:
    """The k-th derivative, with so many rates."""
    for _ in range(k):
        p = Vec3(*(rate(x) for x in p))
    return Vec3(*(cut(x, rates) for x in p))


def _each(M: Mat3, function: Callable[[Scalar], Scalar]) -> Mat3:
    return Mat3.of([[function(x) for x in row] for row in M])
