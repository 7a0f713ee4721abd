"""Forces of the legs of a parallel robot along a motion of its platform, and what stands in its way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from linkwise._version import __version__
from linkwise.kernel.compile import compile
from linkwise.motion.limits import Excess, excesses
from linkwise.motion.platform import PlatformMotion, write_platform
from linkwise.motion.trajectory import Array
from linkwise.parallel.dynamics import ParallelDynamics
from linkwise.parallel.robot import ParallelRobot

NEARLY_SINGULAR = 1e3  # condition number of the Jacobian from which on forces are not to be trusted


class Unreached(NamedTuple):
    """Rows one after the other, counted from one, that the same legs do not reach; times of the first and last."""

    first: int
    last: int
    start: float
    end: float
    legs: tuple[str, ...]


class Crossing(NamedTuple):
    """A row, counted from one, and the one before it, on the two sides of a singular pose; the time of the row."""

    row: int
    time: float


@dataclass(frozen=True)
class PlatformForces:
    """A parallel robot, a motion of its platform, and what the legs do.

    Args:
        robot: its payload included.
        motion: the samples.
        q: positions (rows, nj) of all joints of the legs, NaN where a leg does not reach.
        qd: their rates (rows, nj).
        forces: of the actuated joints (rows, na), NaN in rows that are out of reach.
        leg_forces: of each leg on the platform (rows, nl, 3), in world axes, or None when they were not asked for.
        condition: of the inverse Jacobian (rows,): 1 is best, infinite is singular, NaN is out of reach.
        exceeded: limits of joints and of the condition number.
        unreached: rows out of reach.
        crossings: singular poses between rows.
    """

    robot: ParallelRobot
    motion: PlatformMotion
    q: Array
    qd: Array
    forces: Array
    leg_forces: Array | None
    condition: Array
    exceeded: tuple[Excess, ...]
    unreached: tuple[Unreached, ...]
    crossings: tuple[Crossing, ...]

    @property
    def good(self) -> bool:
        """Whether nothing stands in the way of the motion."""
        return not (self.exceeded or self.unreached or self.crossings)

    @property
    def actuated(self) -> list[int]:
        """Places of the actuated joints among all joints of the legs."""
        return [self.robot.joint_names.index(name) for name in self.robot.names]

    def peaks(self) -> list[dict[str, Any]]:
        """For each actuated joint: extremes of force and position, root mean square, limit of effort, top speed."""
        rows = []
        for k, j in enumerate(self.actuated):
            force, limit = self.forces[:, k], self.robot.joints[j].limits.effort
            rows.append({
                "joint": self.robot.names[k],
                "lowest": finite(np.min, force), "highest": finite(np.max, force),
                "rms": finite(lambda x: np.sqrt(np.mean(x**2)), force),
                "limit": float(limit) if np.isfinite(limit) else None,
                "from": finite(np.min, self.q[:, j]), "to": finite(np.max, self.q[:, j]),
                "speed": finite(lambda x: np.abs(x).max(), self.qd[:, j]),
            })  # fmt: skip
        return rows

    def worst_condition(self) -> tuple[float, float] | None:
        """The largest condition number and its time; None where no row is reached."""
        if np.isnan(self.condition).all():
            return None
        k = int(np.nanargmax(self.condition))
        return float(self.condition[k]), float(self.motion.t[k])

    def write(self, path: str | PathLike[str], **facts: Any) -> None:
        """All of it into a .csv or .npz file."""
        motion = self.motion
        arrays = {"t": motion.t, "pose": motion.pose, "velocity": motion.velocity, "acceleration": motion.acceleration}
        arrays |= {"positions": self.q[:, self.actuated], "forces": self.forces}
        arrays |= {} if self.leg_forces is None else {"leg_forces": self.leg_forces}
        arrays["condition"] = self.condition
        meta = {"linkwise": __version__, "robot": self.robot.name, **motion.origins, **facts}
        write_platform(path, self.robot, arrays, meta)


def finite(function: Any, values: Array) -> float | None:
    """A function of those values that are numbers; None where there are none."""
    found = values[np.isfinite(values)]
    return float(function(found)) if len(found) else None


def forces_along(
    robot: ParallelRobot, motion: PlatformMotion, *, external: Sequence[float] | None = None, legs: bool = False
) -> PlatformForces:
    """Forces of the actuated joints along a motion, with the robot's own gravity and friction.

    Args:
        robot: its payload included.
        motion: the samples.
        external: a constant wrench of the environment on the platform: fx, fy, fz, mx, my, mz about its origin in world
            axes.
        legs: compute the force of each leg on the platform too.
    """
    par = compile(robot, external=external is not None)
    extra = [np.array(external, dtype=float)] if external is not None else []
    state = (motion.pose, motion.velocity, motion.acceleration)
    q = par.inverse_kinematics(motion.pose)
    qd, qdd = par.leg_motion(*state)
    forces = par.inverse_dynamics(*state, *extra)
    space = par.workspace(motion.pose)
    limits = [*_quantities(robot, q, qd, qdd, forces), ("platform", "condition", space.condition, 0.0, NEARLY_SINGULAR)]
    return PlatformForces(
        robot, motion, q, qd, forces, par.leg_forces(*state, *extra) if legs else None, space.condition,
        tuple(excesses(motion.t, limits)), tuple(_unreached(robot, motion, q)), tuple(_crossings(par, motion)),
    )  # fmt: skip


def _quantities(
    robot: ParallelRobot, q: Array, qd: Array, qdd: Array, forces: Array
) -> Iterator[tuple[str, str, Array, float, float]]:
    """Values of joints of the legs over time, each with its bounds."""
    for k, (name, joint) in enumerate(zip(robot.joint_names, robot.joints, strict=True)):
        limits = joint.limits
        yield name, "position", q[:, k], limits.lower, limits.upper
        yield name, "velocity", qd[:, k], -limits.velocity, limits.velocity
        yield name, "acceleration", qdd[:, k], -limits.acceleration, limits.acceleration
        if name in robot.names:
            yield name, "effort", forces[:, robot.names.index(name)], -limits.effort, limits.effort


def _unreached(robot: ParallelRobot, motion: PlatformMotion, q: Array) -> Iterator[Unreached]:
    """Rows that legs do not reach, those one after the other together."""
    ends = np.cumsum([len(leg.joints) for leg in robot.legs])[:-1]
    lost = np.stack([~np.isfinite(part).all(axis=1) for part in np.split(q, ends, axis=1)], axis=1)
    changes = np.flatnonzero((lost[1:] != lost[:-1]).any(axis=1)) + 1
    for rows in np.split(np.arange(len(lost)), changes):
        which = lost[rows[0]]
        if which.any():
            legs = tuple(leg.name for leg, out in zip(robot.legs, which, strict=True) if out)
            first, last = int(rows[0]), int(rows[-1])
            yield Unreached(first + 1, last + 1, float(motion.t[first]), float(motion.t[last]), legs)


def _crossings(par: ParallelDynamics, motion: PlatformMotion) -> Iterator[Crossing]:
    """Rows before which the determinant of the inverse Jacobian has changed its sign."""
    if par.robot.na != par.robot.nv:
        return
    K = np.array(par.inverse_jacobian(motion.pose))
    known = np.flatnonzero(np.isfinite(K).all(axis=(1, 2)))
    sides = np.sign(np.linalg.det(K[known]))
    for before, row, a, b in zip(known[:-1], known[1:], sides[:-1], sides[1:], strict=True):
        if row == before + 1 and a * b < 0.0:
            yield Crossing(int(row) + 1, float(motion.t[row]))
