"""Torques and their rates along a motion, and the limits that it exceeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwise._version import __version__
from linkwise.algorithms.force_rates import force_rates, joint_wrench_rates
from linkwise.algorithms.inverse_dynamics import inverse_dynamics, joint_wrenches
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.motion import Excess, Reversal, Trajectory, column_names, columns_of, exceeded, reversals
from linkwise.motion.elastic import lacks_motors, with_motors
from linkwise.motion.environment import Environment
from linkwise.motion.loops import all_joints, assembled
from linkwise.motion.reach import Reach, reach_along
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot
from linkwise.table import Sampled

WORTH_A_WARNING = 0.2  # of a torque's root mean square: the share of noise


@dataclass(frozen=True, eq=False)
class Torques(Sampled):
    """A robot, a motion, what it takes, and the limits that are exceeded. `result["tau.elbow"]` is one column.

    Args:
        robot: in the assembly mode of the motion.
        motion: of what leads, motors included.
        every: the motion of all joints.
        forces: `tau` of the drives (rows, nu); where they were asked for `wrench` (rows, links that move, 6), what the
            parent exerts on each moving link, `cut` (rows, loops, 6), what link a of a loop exerts on b, in the axes of
            frame a, and the rates of these, `tau_dot`, ... All are NaN in rows that are out of reach.
        exceeded: limits that are.
        reversals: where friction makes torques jump, listed with rates, which do not see them.
        reach: with loops, which rows are out of reach, and how far from singular the others are.
        facts: what else a file keeps.
        noise: by drive the share of the torque's root mean square that noise of the positions explains, where that is
            much.
    """

    robot: Robot
    motion: Trajectory
    every: Trajectory
    forces: Mapping[str, Array]
    exceeded: tuple[Excess, ...]
    reversals: tuple[Reversal, ...] = ()
    reach: Reach | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    noise: Mapping[str, float] = field(default_factory=dict)

    @property
    def tau(self) -> Array:
        """Torques and forces of the drives (rows, nu)."""
        return self.forces["tau"]

    @property
    def tau_dot(self) -> Array | None:
        """Their rates, if they were asked for."""
        return self.forces.get("tau_dot")

    @property
    def notes(self) -> tuple[str, ...]:
        """What else a user should know."""
        return (*([self.warning] if self.warning else []), *self.every.notes)

    @property
    def warning(self) -> str:
        """What to do where torques are largely noise; nothing where they are not."""
        smooth = self.motion.smooth
        if not self.noise or smooth is None or smooth.cutoff is None:
            return ""
        shares = ", ".join(f"{name} {share:.0%}" for name, share in self.noise.items())
        return (
            "the torques are largely noise of positions or of their times, which differentiating enlarges. Share of the"
            f" root mean square that noise explains: {shares}. Smooth the positions: a cutoff of {smooth.cutoff:.3g} Hz"
            f" (--cutoff {smooth.cutoff:.3g}) keeps the motion"
        )

    @property
    def good(self) -> bool:
        """Whether nothing stands in the way of the motion."""
        return not self.exceeded and (self.reach is None or self.reach.good)

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

    def columns(self) -> dict[str, Array]:
        """Everything as named columns: t, q.elbow, ..., tau.elbow, ..., wrench.forearm.fx, ..., cut.tip.fx, ..."""
        return columns_of(self.robot, self.every, **self.forces)

    def kept(self) -> dict[str, Any]:
        return {"linkwise": __version__, "robot": self.robot.name, **self.motion.origins, **self.facts}


def _known(function: Callable[[Array], Any], values: Array) -> float | None:
    """A function of those values that are numbers; None where there are none."""
    found = values[np.isfinite(values)]
    return float(function(found)) if len(found) else None


def torques_along(
    robot: Robot,
    motion: Trajectory,
    *,
    external: Any = None,
    base_motion: Any = None,
    wrenches: bool = False,
    rates: bool = False,
) -> Torques:
    """Inverse dynamics along a motion of what leads, and whatever else stands in its way.

    Where the motion of a robot with elastic drives is of its joints alone, that of the motors and the torques are those
    of feed-forward.

    Args:
        robot: its payload included.
        motion: the samples.
        external: wrenches of the environment on frames or links: fx, fy, fz, mx, my, mz in their axes, or functions of
            time that return them.
        base_motion: a function of time that returns the `Pose` of the base in the world; None for a base that stands.
        wrenches: compute the wrenches through the joints too.
        rates: compute the rates of all these too, for which the motion must have jerks.
    """
    around = Environment.of(robot, base_motion, external)
    if rates and motion.qddd is None:
        raise InputError("rates: expected a motion with jerks, got one without. Read it with jerks=True.")
    if around.base and not motion.timed:
        raise InputError("base motion: expected a motion with times, got one without. Add a column 't'.")
    robot, motion = assembled(robot, motion)
    forces: dict[str, Array] = {}
    if lacks_motors(robot, motion):
        motion, forces = with_motors(robot, motion, around, rates)
    if wrenches or not forces:
        forces = _forces(robot, motion, around, wrenches, rates) | forces
    whole, reach = all_joints(robot, motion), reach_along(robot, motion)
    over = (*exceeded(robot, whole, forces["tau"], forces.get("tau_dot")), *(reach.exceeded if reach else ()))
    jumps = tuple(reversals(robot.opened(), whole.qd, whole.t)) if rates else ()
    result = Torques(robot, motion, whole, forces, over, jumps, reach)
    if motion.smooth is None:
        return result
    calm = torques_along(robot, motion.smooth, external=external, base_motion=base_motion)
    return replace(result, noise=_noise(result, calm))


def _noise(result: Torques, calm: Torques) -> dict[str, float]:
    """By drive the share of the torque's root mean square that is not in torques of the smooth motion, if it is much.

    Noise is independent of the motion, so that squares add.
    """
    found = {}
    for noisy, quiet in zip(result.peaks(), calm.peaks(), strict=True):
        if noisy["rms"] and quiet["rms"] is not None:
            share = float(np.sqrt(max(1.0 - (quiet["rms"] / noisy["rms"]) ** 2, 0.0)))
            if share > WORTH_A_WARNING:
                found[noisy["joint"]] = share
    return found


def _forces(robot: Robot, motion: Trajectory, around: Environment, wrenches: bool, rates: bool) -> dict[str, Array]:
    """What is asked for, by name: tau, and perhaps wrench and cut, and their rates."""
    state = [motion.q, motion.qd, motion.qdd, *([motion.qddd] if rates else [])]
    one, all_of_them = (force_rates, joint_wrench_rates) if rates else (inverse_dynamics, joint_wrenches)
    kernel = compile(robot, all_of_them if wrenches else one, **around.options)
    found = kernel(*state, *around.inputs(motion.t, robot.gravity, int(rates)))
    return dict(found._asdict()) if hasattr(found, "_asdict") else {"tau": found}
