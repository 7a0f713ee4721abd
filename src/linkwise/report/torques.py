"""Torques and their rates along a motion, and the limits that it exceeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from linkwise._version import __version__
from linkwise.algorithms import force_rates, inverse_dynamics, joint_wrench_rates, joint_wrenches
from linkwise.compile import compile
from linkwise.errors import InputError
from linkwise.report.closed_torques import active_torques
from linkwise.robot.robot import Robot
from linkwise.trajectory import Excess, Reversal, Trajectory, column_names, exceeded, reversals, write
from linkwise.trajectory.trajectory import Array


@dataclass(frozen=True)
class Torques:
    """A robot, a motion, the torques along it, and the limits that are exceeded.

    `wrench` (rows, links that move, 6) is what the parent exerts on each moving link. It and the rates `tau_dot` and
    `wrench_dot` are None when they were not asked for. `reversals` are where friction makes torques jump, listed with
    rates, which do not see them.
    """

    robot: Robot
    motion: Trajectory
    tau: Array
    wrench: Array | None
    exceeded: tuple[Excess, ...]
    tau_dot: Array | None = None
    wrench_dot: Array | None = None
    reversals: tuple[Reversal, ...] = ()

    def peaks(self) -> list[dict[str, Any]]:
        """For each coordinate: the largest speed, the lowest and highest torque, its root mean square, its top rate."""
        names = [n.removeprefix("tau.") for n in column_names(self.robot, "tau")]
        limits = {j.driven_coordinate: (j.limits.effort, j.limits.effort_rate) for j in self.robot.joints}
        rows = []
        for k, name in enumerate(names):
            tau, (limit, rate_limit) = self.tau[:, k], limits.get(name, (np.inf, np.inf))
            row = {
                "joint": name,
                "speed": float(np.abs(self.motion.qd[:, k]).max()),
                "lowest": float(tau.min()),
                "highest": float(tau.max()),
                "rms": float(np.sqrt(np.mean(tau**2))),
                "limit": float(limit) if np.isfinite(limit) else None,
            }
            if self.tau_dot is not None:
                row["rate"] = float(np.abs(self.tau_dot[:, k]).max())
                row["rate limit"] = float(rate_limit) if np.isfinite(rate_limit) else None
            rows.append(row)
        return rows

    def write(self, path: str | PathLike[str], **facts: Any) -> None:
        """All of it into a .csv or .npz file."""
        meta = {"linkwise": __version__, "robot": self.robot.name, **self.motion.origins, **facts}
        write(path, self.robot, self.motion, self.tau, self.wrench, meta, self.tau_dot, self.wrench_dot)


def torques_along(
    robot: Robot,
    motion: Trajectory,
    *,
    external: Mapping[str, Sequence[float]] | None = None,
    wrenches: bool = False,
    rates: bool = False,
) -> Torques:
    """Inverse dynamics along a motion; of a robot with loops, the torques of its active joints with the loops closed.

    Args:
        robot: its payload included.
        motion: the samples.
        external: constant wrenches of the environment on frames or links: fx, fy, fz, mx, my, mz in their axes.
        wrenches: compute the wrenches through the joints too.
        rates: compute the rates of all these too, for which the motion must have jerks.
    """
    loads = dict(external or {})
    if robot.loops:
        if wrenches or rates:
            raise InputError(
                f"wrenches, rates: expected a tree, got the robot {robot.name!r} with loops. Take its torques alone;"
                " lw.compile(robot).closed.reactions has the wrenches through the cuts."
            )
        tau = active_torques(robot, motion, loads)
        return Torques(robot, motion, tau, None, tuple(exceeded(robot, motion, tau)))
    extra = [np.array(list(loads.values()), dtype=float)] if loads else []
    if not rates:
        kernel = compile(robot, joint_wrenches if wrenches else inverse_dynamics, external=tuple(loads))
        result = kernel(motion.q, motion.qd, motion.qdd, *extra)
        tau, wrench = result if wrenches else (result, None)
        return Torques(robot, motion, tau, wrench, tuple(exceeded(robot, motion, tau)))
    if motion.qddd is None:
        raise InputError("rates: expected a motion with jerks, got one without. Read it with jerks=True.")
    kernel = compile(robot, joint_wrench_rates if wrenches else force_rates, external=tuple(loads))
    still = [np.zeros_like(x) for x in extra]  # the loads keep their components in the axes of their frames
    found = kernel(motion.q, motion.qd, motion.qdd, motion.qddd, *extra, *still)._asdict()
    tau, tau_dot = found["tau"], found["tau_dot"]
    over = tuple(exceeded(robot, motion, tau, tau_dot))
    jumps = tuple(reversals(robot, motion.qd, motion.t))
    return Torques(robot, motion, tau, found.get("wrench"), over, tau_dot, found.get("wrench_dot"), jumps)
