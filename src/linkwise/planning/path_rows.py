"""What a motion along a path takes, at points of the path: all that limits bound, by the speed along it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.force_rates import force_rates
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.kernel.kernel import Kernel
from linkwise.motion.environment import Environment
from linkwise.planning.bounds import Bounds, coordinate_names
from linkwise.planning.chain_rule import composed, in_time
from linkwise.planning.chart import Chart
from linkwise.planning.drives import drives_of
from linkwise.planning.path import ORDER, Path, PathExtras
from linkwise.planning.path_forces import path_forces, path_friction, path_joints
from linkwise.planning.path_torques import PathTorques, path_torques
from linkwise.planning.time_law import TimeLaw
from linkwise.robot.robot import Robot

Array = NDArray[np.float64]
KEPT = 32  # robots
SMOOTH = ("effort_rate", "jerk")


class Friction(NamedTuple):
    """Torques of friction (rows, nu) at speeds along the path, and their derivatives by speed and by place."""

    torque: Array
    by_speed: Array
    by_place: Array


class PathMotion(NamedTuple):
    """Positions and their derivatives in time, (rows, nv), and torques (rows, nu); rates where they exist.

    `extras` are the same of what else is limited along the path.
    """

    q: Array
    qd: Array
    qdd: Array
    qddd: Array
    tau: Array
    tau_dot: Array
    extras: tuple[Array, ...] = ()


class PathModel:
    """The kernels of a robot along paths, and the limits that count.

    Attributes:
        smooth: whether rates of torques or jerks are limited, so that torques are continuous.
        plain: whether torques are tau = m x_ddot + c x_dot^2 + g + friction: drives are rigid, and nothing depends on
            time.
        order: how many derivatives of x the limits depend on.
    """

    def __init__(
        self, robot: Robot, bounds: Bounds, chart: Chart, environment: Environment, extras: PathExtras | None = None
    ) -> None:
        self.robot, self.chart, self.environment, self.extras = robot, chart, environment, extras
        self._own, self.bounds = bounds, bounds.and_of(extras.bounds) if extras else bounds
        self._friction, self._joints = _kernels(robot.rigid())
        self.has_friction = bool(self._friction.program.schedule)
        self.smooth = any(bounds.has(name) for name in SMOOTH)
        self.stretch = 2 * drives_of(robot).levels  # further derivatives that elastic drives take
        self.plain = not self.stretch and environment.steady
        plain: Sequence[Any] = _plain_kernels(robot, environment) if self.plain else (None, None)
        self._forces, self._force_rates = plain
        self._rates = bounds.has("effort_rate") or (self.smooth and not self.stretch)
        self.order = max(2 + self.stretch + self._rates, 3 if bounds.has("jerk") else 2)

    def __reduce__(self) -> Any:
        return PathModel, (self.robot, self._own, self.chart, self.environment, self.extras)

    @property
    def has_rates(self) -> bool:
        """Whether torques are continuous, so that they have rates."""
        return self._rates

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """What each kind of limit belongs to."""
        drives, joints = list(drives_of(self.robot).names), coordinate_names(self.robot.rigid().opened().slots)
        joints += self.extras.names if self.extras else []
        return {f.name: drives if f.name.startswith("effort") else joints for f in fields(self.bounds)}

    @cached_property
    def torques(self) -> PathTorques:
        """Torques where they are not plain."""
        return path_torques(self.robot, self.chart, self.environment, self.order, self._rates)

    def leads(self, path: Path, x: Array) -> list[Array]:
        """Positions of what leads at points x of the path, and three derivatives of them."""
        return self.chart.motion(list(path.derivatives(x)))

    def joints(self, q: Sequence[Array]) -> Sequence[Array]:
        """The same of all joints, from those of what leads."""
        return self._joints(*q) if self._joints else q  # of a tree they are those that lead

    def numbers(self, path: Path, x: Array) -> Array:
        """The numbers of the chart at points x of the path, and as many derivatives as limits take, (rows, ..., n)."""
        own = np.moveaxis(path.derivatives(x, self.order), 0, 1)
        if not self.chart.sought:
            return own
        found = np.zeros((*own.shape[:2], self.chart.n))
        found[..., : self.chart.lead_n] = own
        found[:, 0] = self._closed(own[:, 0])
        return found

    def _closed(self, own: Array) -> Array:
        """The numbers with those of joints that follow, which Newton's method finds."""
        q = self.chart.motion([own])[0]
        tree_q = compile(self.robot.rigid()).positions(q).q
        return np.array([self.chart.numbers(*rows) for rows in zip(q, tree_q, strict=True)])

    def at(self, path: Path, x: Array) -> PathRows:
        """The rows at points x of the path."""
        q = self.leads(path, x)
        joints = self.joints(q)
        lost = ~np.isfinite(joints[0]).all(axis=-1)
        if lost.any():
            raise InputError(
                f"retime path: the loops cannot be closed at s = {path.place(x)[0][lost][0]:.4g}. Take another path."
            )
        if path.extras:
            joints = [np.hstack(pair) for pair in zip(joints, path.extras.derivatives(x), strict=True)]
        return PathRows(self, q, joints, *(self._forces(*q) if self._forces else (self.numbers(path, x),)))

    def friction(self, q: Sequence[Array], speed: Array) -> Friction:
        """Friction where q are positions and derivatives of a path."""
        if not self.has_friction:
            return Friction(*(np.zeros((3, *q[0].shape[:-1], self.robot.nu))))
        return Friction(*self._friction(q[0], q[1], q[2], speed))

    def motion(self, path: Path, x: Array, z: Array, t: Array) -> PathMotion:
        """The motion where the path's parameter is x at times t, with y = x_dot^2, y'/2, ... in the rows of z."""
        z = np.concatenate([z[: max(self.order, ORDER)], np.zeros((max(ORDER - len(z), 0), len(x)))])
        speeds = [s[:, None] for s in in_time(np.sqrt(z[0]), list(z[1:]))]
        q, *rates = self.leads(path, x)
        w, u, j = speeds[:ORDER]
        q1, q1_dot, q1_ddot = composed(rates, [w, u])  # by x, as it changes in time
        motion = (q, q1 * w, q1_dot * w + q1 * u, q1_ddot * w + 2.0 * q1_dot * u + q1 * j)
        extras: tuple[Array, ...] = ()
        if path.extras:
            at, *slopes = path.extras.derivatives(x)
            extras = (at, *composed([at, *slopes], [w, u, j])[1:])
        if self._force_rates:
            tau, tau_dot = self._force_rates(*motion)
            return PathMotion(*motion, tau, tau_dot, extras)
        tau = self.torques.values(self.numbers(path, x), z[: self.order].T, t)
        n = self.torques.width
        return PathMotion(*motion, tau[:, :n], tau[:, n:] if self._rates else np.full((len(x), n), np.nan), extras)

    def along(self, path: Path, law: TimeLaw, x: Array) -> PathMotion:
        """The motion of a law at places x."""
        return self.motion(path, x, law.at_places(x), law.times(x))


@lru_cache(maxsize=KEPT)
def _kernels(robot: Robot) -> tuple[Kernel, Kernel | None]:
    return compile(robot, path_friction), compile(robot, path_joints) if robot.follows else None


def _plain_kernels(robot: Robot, environment: Environment) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Parts of torques, and torques with their rates; wrenches from outside stay what they are."""
    forces, rates = _kernels_under(robot, tuple(environment.loads))
    if not environment:
        return forces, rates
    some = {k: environment.inputs(0.0, robot.gravity, k) for k in (0, 1)}
    return lambda *motion: forces(*motion, *some[0]), lambda *motion: rates(*motion, *some[1])


@lru_cache(maxsize=KEPT)
def _kernels_under(robot: Robot, external: tuple[str, ...]) -> tuple[Kernel, Kernel]:
    return compile(robot, path_forces, external=external), compile(robot, force_rates, external=external)


class PathRows:
    """Parts of torques along the path: tau = m x_ddot + c x_dot^2 + g + friction; dm, dc, dg are derivatives by x.

    `q` are positions and derivatives of what leads, `joints` of all joints. Where torques are not plain, the numbers on
    the path stand in the place of the parts.
    """

    def __init__(self, model: PathModel, q: Sequence[Array], joints: Sequence[Array], *parts: Array) -> None:
        self.model, self.q, self.joints = model, q, joints
        if model.plain:
            self.m, self.c, self.g, self.dm, self.dc, self.dg = parts
        else:
            (self.numbers,) = parts

    def friction(self, speed: Array) -> Friction:
        """Friction at speeds along the path, one for each row."""
        return self.model.friction(self.q, speed)
