"""Two steps of a predicted motion, sampled: all that is measured in a gait laboratory, and what is not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwise.check import whole
from linkwise.errors import UnknownNameError
from linkwise.planning.curve import Array, Curve
from linkwise.table import WRENCH, Sampled
from linkwise.walking.joints import called
from linkwise.walking.problem import Problem
from linkwise.walking.reactions import JOINTS, LoadKernel
from linkwise.walking.skeleton import GRAVITY
from linkwise.walking.skeleton_numbers import FIGURE
from linkwise.walking.symmetry import mirror
from linkwise.walking.timetable import Moment, Timetable

LIGHT = 0.02  # body weights on a foot below which its centre of pressure means nothing
SIDES = ("r", "l")


@dataclass(frozen=True, eq=False)
class Stride(Sampled):
    """From a heel strike of the right foot to its next, at n instants.

    Args:
        names: of the coordinates of q.
        weight: of the body without loads, N, which is what forces in body weights are divided by.
        t: times, s (n).
        moments: what holds at each instant.
        q, qd, qdd: the motion, rad and m (n, nv).
        tau: torques after ground reactions (n, nv), N m; the first six vanish.
        ground: what the ground exerts on the right and on the left foot: force, and moment about the world's origin,
            N and N m (n, 2, 6). x is forward, y up, z to the right.
        joints: force and moment that the upper segment exerts on the lower one in its axes, at right hip, knee, ankle,
            then left (n, 6, 6), N and N m.
        points: of the body in the world (n, points, 3); see `point`.
    """

    names: tuple[str, ...]
    weight: float
    t: Array
    moments: tuple[Moment, ...]
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    ground: Array
    joints: Array
    points: Array

    @property
    def percent(self) -> Array:
        """The percentage of the stride's time, 0 to 100."""
        return 100.0 * self.t / self.t[-1]

    def angle(self, joint: str) -> Array:
        """The angle of a joint, such as "knee_r" or "ankle_l", rad (n)."""
        return np.asarray(self.q[:, self._index(joint)])

    def torque(self, joint: str) -> Array:
        """The torque of a joint, N m (n)."""
        return np.asarray(self.tau[:, self._index(joint)])

    def columns(self) -> dict[str, Array]:
        """All of it by name, in SI units: q.knee_r, tau.knee_r, ground.r.fy, joint.knee_r.fy, ... (n each)."""
        found = {"t": self.t, "percent": self.percent}
        found |= {f"q.{name}": self.q[:, k] for k, name in enumerate(self.names)}
        found |= {f"tau.{name}": self.tau[:, k] for k, name in enumerate(self.names)}
        for k, side in enumerate("rl"):
            found |= {f"ground.{side}.{c}": self.ground[:, k, i] for i, c in enumerate(WRENCH[:3])}
            found |= {f"pressure.{side}.{c}": x for c, x in zip("xz", self.centre_of_pressure(side).T, strict=True)}
        found |= {f"zmp.{c}": x for c, x in zip("xz", self.zmp.T, strict=True)}
        for k, joint in enumerate(JOINTS):
            found |= {f"joint.{joint}.{c}": self.joints[:, k, i] for i, c in enumerate(WRENCH)}
        return found

    def _index(self, joint: str) -> int:
        name = called(joint)
        if name not in self.names:
            raise UnknownNameError("joint", joint, self.names)
        return self.names.index(name)

    def point(self, name: str) -> Array:
        """Positions of a point of the body, such as "knee_r" (n, 3)."""
        if name not in FIGURE:
            raise UnknownNameError("point", name, FIGURE)
        return np.asarray(self.points[:, FIGURE.index(name)])

    def ground_force(self, side: str) -> Array:
        """On the foot of a side, in body weights (n, 3)."""
        if side not in SIDES:
            raise UnknownNameError("side", side, SIDES)
        return np.asarray(self.ground[:, SIDES.index(side), :3]) / self.weight

    def joint_force(self, joint: str) -> Array:
        """Through hip, knee or ankle, such as "knee_r", in body weights, in axes of the lower segment (n, 3)."""
        if joint not in JOINTS:
            raise UnknownNameError("joint", joint, JOINTS)
        return np.asarray(self.joints[:, list(JOINTS).index(joint), :3]) / self.weight

    @cached_property
    def zmp(self) -> Array:
        """The zero-moment point of the whole ground reaction, x and z (n, 2), m."""
        return centre(self.ground.sum(axis=1))

    def centre_of_pressure(self, side: str) -> Array:
        """The centre of pressure of one foot, x and z (n, 2), m; NaN while the foot carries next to nothing."""
        if side not in SIDES:
            raise UnknownNameError("side", side, SIDES)
        W = self.ground[:, SIDES.index(side)]
        loaded = W[:, 1] > LIGHT * self.weight
        found = np.full((len(W), 2), np.nan)
        found[loaded] = centre(W[loaded])
        return found


def centre(W: Array) -> Array:
    """The point of the ground about which wrenches (n, 6) have no horizontal moment, x and z (n, 2)."""
    return np.stack([W[:, 5], -W[:, 3]], axis=1) / W[:, 1:2]


def sample(problem: Problem, curve: Curve, points: int) -> Stride:
    """Two steps at `points` instants each; where the motion has one, the second is the mirrored first."""
    points = whole(points, "points", 2)
    first = problem.timetable.steps[0]
    both = Timetable((first, first.next()))
    instants = both.even(points)
    t = np.linspace(0.0, curve.duration, (points - 1) * problem.steps + 1)
    motion = np.stack([curve(t, order) for order in range(3)], axis=1)
    if problem.steps == 1:
        place, sign = mirror(problem.robot.names)
        second = motion[:, :, place] * sign
        second[:, 0, problem.robot.names.index("gx")] += problem.step
        t, motion = np.concatenate([t, curve.duration + t[1:]]), np.concatenate([motion[:-1], second])
    found = LoadKernel(problem.robot)(motion, both.supports(instants))
    q, qd, qdd = motion.transpose(1, 0, 2)
    names = tuple(problem.robot.names)
    weight = problem.person.body_mass * -GRAVITY[1]
    return Stride(names, weight, t, tuple(map(both.at, instants.tolist())), q, qd, qdd, *found)
