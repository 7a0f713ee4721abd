"""Torques along a motion, and the limits that it exceeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from linkwise._version import __version__
from linkwise.algorithms import inverse_dynamics, joint_wrenches
from linkwise.compile import compile
from linkwise.robot.robot import Robot
from linkwise.trajectory import Excess, Trajectory, column_names, exceeded, write
from linkwise.trajectory.trajectory import Array


@dataclass(frozen=True)
class Torques:
    """A robot, a motion, the torques along it, and the limits that are exceeded.

    `wrench` (rows, links that move, 6) is what the parent exerts on each moving link, or None when it was not asked.
    """

    robot: Robot
    motion: Trajectory
    tau: Array
    wrench: Array | None
    exceeded: tuple[Excess, ...]

    def peaks(self) -> list[dict[str, Any]]:
        """For each coordinate: the largest speed, the lowest and highest torque and its root mean square."""
        names = [n.removeprefix("tau.") for n in column_names(self.robot, "tau")]
        limits = {j.name: j.limits.effort for j in self.robot.joints}
        rows = []
        for k, name in enumerate(names):
            tau, limit = self.tau[:, k], limits.get(name, np.inf)
            rows.append({
                "joint": name,
                "speed": float(np.abs(self.motion.qd[:, k]).max()),
                "lowest": float(tau.min()),
                "highest": float(tau.max()),
                "rms": float(np.sqrt(np.mean(tau**2))),
                "limit": float(limit) if np.isfinite(limit) else None,
            })  # fmt: skip
        return rows

    def write(self, path: str | PathLike[str], **facts: Any) -> None:
        """All of it into a .csv or .npz file."""
        meta = {"linkwise": __version__, "robot": self.robot.name, **self.motion.origins, **facts}
        write(path, self.robot, self.motion, self.tau, self.wrench, meta)


def torques_along(
    robot: Robot, motion: Trajectory, *, external: Mapping[str, Sequence[float]] | None = None, wrenches: bool = False
) -> Torques:
    """Inverse dynamics along a motion.

    Args:
        robot: its payload included.
        motion: the samples.
        external: constant wrenches of the environment on frames or links: fx, fy, fz, mx, my, mz in their axes.
        wrenches: compute the wrenches through the joints too.
    """
    loads = dict(external or {})
    kernel = compile(robot, joint_wrenches if wrenches else inverse_dynamics, external=tuple(loads))
    extra = [np.array(list(loads.values()), dtype=float)] if loads else []
    result = kernel(motion.q, motion.qd, motion.qdd, *extra)
    tau, wrench = result if wrenches else (result, None)
    return Torques(robot, motion, tau, wrench, tuple(exceeded(robot, motion, tau)))
