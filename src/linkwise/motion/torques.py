"""Torques and their rates along a motion, and the limits that it exceeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from linkwise._version import __version__
from linkwise.algorithms.force_rates import force_rates, joint_wrench_rates
from linkwise.algorithms.inverse_dynamics import inverse_dynamics, joint_wrenches
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.motion import Excess, Reversal, Trajectory, column_names, exceeded, reversals, write
from linkwise.motion.elastic import feedforward_along, is_of_joints_alone
from linkwise.motion.loops import all_joints
from linkwise.motion.reach import Reach, reach_along
from linkwise.motion.trajectory import Array
from linkwise.robot.leading import refuse_wheels
from linkwise.robot.robot import Robot


@dataclass(frozen=True)
class Torques:
    """A robot, a motion, the torques along it, and the limits that are exceeded.

    `wrench` (rows, links that move, 6) is what the parent exerts on each moving link. It and the rates `tau_dot` and
    `wrench_dot` are None when they were not asked for. `reversals` are where friction makes torques jump, listed with
    rates, which do not see them. With loops, `motion` is that of what leads and `whole` that of all joints; `cut`
    (rows, loops, 6) is what link a of a loop exerts on b, in the axes of frame a; `reach` says which rows are out of
    reach, in which all of these are NaN, and how far from singular the others are.
    """

    robot: Robot
    motion: Trajectory
    tau: Array
    wrench: Array | None
    exceeded: tuple[Excess, ...]
    tau_dot: Array | None = None
    wrench_dot: Array | None = None
    reversals: tuple[Reversal, ...] = ()
    cut: Array | None = None
    cut_dot: Array | None = None
    whole: Trajectory | None = None
    reach: Reach | None = None

    @property
    def good(self) -> bool:
        """Whether nothing stands in the way of the motion."""
        return not self.exceeded and (self.reach is None or self.reach.good)

    @property
    def every(self) -> Trajectory:
        """The motion of all joints."""
        return self.whole or self.motion

    def peaks(self) -> list[dict[str, Any]]:
        """For each drive: the largest speed, the lowest and highest torque, its root mean square, its top rate."""
        names = [n.removeprefix("tau.") for n in column_names(self.robot, "tau")]
        slots = [self.robot.opened().slots[n] for n in self.robot.drives]
        places = [slot.v + k for slot in slots for k in range(slot.nv)]
        limits = {j.driven_coordinate: (j.limits.effort, j.limits.effort_rate) for j in self.robot.joints}
        rows = []
        for k, name in enumerate(names):
            tau, (limit, rate_limit) = self.tau[:, k], limits.get(name, (np.inf, np.inf))
            row = {
                "joint": name,
                "speed": _known(np.max, np.abs(self.every.qd[:, places[k]])),
                "lowest": _known(np.min, tau),
                "highest": _known(np.max, tau),
                "rms": _known(lambda x: np.sqrt(np.mean(x**2)), tau),
                "limit": float(limit) if np.isfinite(limit) else None,
            }
            if self.tau_dot is not None:
                row["rate"] = _known(np.max, np.abs(self.tau_dot[:, k]))
                row["rate limit"] = float(rate_limit) if np.isfinite(rate_limit) else None
            rows.append(row)
        return rows

    def write(self, path: str | PathLike[str], **facts: Any) -> None:
        """All of it into a .csv or .npz file."""
        meta = {"linkwise": __version__, "robot": self.robot.name, **self.motion.origins, **facts}
        cuts = {"cut": self.cut, "cut_dot": self.cut_dot}
        write(path, self.robot, self.every, self.tau, self.wrench, meta, self.tau_dot, self.wrench_dot, **cuts)


def _known(function: Callable[[Array], Any], values: Array) -> float | None:
    """A function of those values that are numbers; None where there are none."""
    found = values[np.isfinite(values)]
    return float(function(found)) if len(found) else None


def torques_along(
    robot: Robot,
    motion: Trajectory,
    *,
    external: Mapping[str, Sequence[float]] | None = None,
    wrenches: bool = False,
    rates: bool = False,
) -> Torques:
    """Inverse dynamics along a motion, of a robot with loops that of what leads.

    Where the motion of a robot with elastic drives is of its joints alone, that of the motors and the torques are those
    of feed-forward.

    Args:
        robot: its payload included.
        motion: the samples.
        external: constant wrenches of the environment on frames or links: fx, fy, fz, mx, my, mz in their axes.
        wrenches: compute the wrenches through the joints too.
        rates: compute the rates of all these too, for which the motion must have jerks.
    """
    refuse_wheels(robot, "torques along a motion")
    loads = dict(external or {})
    extra = [np.array(list(loads.values()), dtype=float)] if loads else []
    if not robot.follows and is_of_joints_alone(robot, motion):
        if rates:
            raise InputError("rates: expected the motion of joints and motors, got that of the joints alone. Leave out"
                             " rates, or add columns of the motors.")  # fmt: skip
        motion, tau = feedforward_along(robot, motion, loads)
        wrench = None
        if wrenches:
            kernel = compile(robot, joint_wrenches, external=tuple(loads))
            wrench = kernel(motion.q, motion.qd, motion.qdd, *extra).wrench
        return Torques(robot, motion, tau, wrench, tuple(exceeded(robot, motion, tau)))
    whole = all_joints(robot, motion) if robot.follows else motion
    found = _forces(robot, motion, loads, extra, wrenches, rates)
    reach = reach_along(robot, motion) if robot.loops else None
    over = (*exceeded(robot, whole, found["tau"], found.get("tau_dot")), *(reach.exceeded if reach else ()))
    jumps = tuple(reversals(robot.opened(), whole.qd, whole.t)) if rates else ()
    names = ("tau", "wrench", "tau_dot", "wrench_dot", "cut", "cut_dot")
    forces: dict[str, Any] = {name: found.get(name) for name in names}
    followed = whole if robot.follows else None
    return Torques(robot, motion, exceeded=over, reversals=jumps, **forces, whole=followed, reach=reach)


def _forces(
    robot: Robot, motion: Trajectory, loads: Mapping[str, Any], extra: list[Array], wrenches: bool, rates: bool
) -> dict[str, Any]:
    """What is asked for, by name: tau, and perhaps wrench and cut, and their rates."""
    lead = (motion.q, motion.qd, motion.qdd)
    if not rates:
        kernel = compile(robot, joint_wrenches if wrenches else inverse_dynamics, external=tuple(loads))
        result = kernel(*lead, *extra)
        return dict(result._asdict()) if wrenches else {"tau": result}
    if motion.qddd is None:
        raise InputError("rates: expected a motion with jerks, got one without. Read it with jerks=True.")
    kernel = compile(robot, joint_wrench_rates if wrenches else force_rates, external=tuple(loads))
    still = [np.zeros_like(x) for x in extra]  # the loads keep their components in the axes of their frames
    return dict(kernel(*lead, motion.qddd, *extra, *still)._asdict())
