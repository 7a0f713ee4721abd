"""Platform and legs as algorithms see them: how each leg follows the platform, and what that takes.

Source: [Khalil] (59)-(66).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.forces import gravity_forces
from linkwise.algorithms.inverse_dynamics import inverse_dynamics, rate_of_change
from linkwise.algorithms.kinematics import world_poses
from linkwise.mechanism.angle import Position
from linkwise.mechanism.leg import Solution
from linkwise.parallel.mobility import Mobility, point_motion
from linkwise.parallel.robot import Leg, ParallelRobot
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Inertia, Pose, Wrench
from linkwise.vector import EZ, ZERO3, Vec3, cross, dot


@dataclass(frozen=True)
class LegModel:
    """A leg's tree with as little inertia as its forces need, and how it is solved.

    `own` is the tree with all its inertia, for energies; `level` the height of the tip of a planar leg; `active` the
    places of its actuated joints.
    """

    tree: Tree
    own: Tree
    solution: Solution
    at: Vec3
    active: tuple[int, ...]
    level: float | None

    @classmethod
    def of(cls, leg: Leg, plane: bool) -> LegModel:
        """The model of a leg."""
        active = tuple(k for k, n in enumerate(leg.robot.names) if n in leg.actuated)
        X = Pose()
        for b in leg.tree.bodies[1:]:
            X = X @ b.placement
        level = X.point(leg.solution.tip).z if plane else None
        return cls(regrouped(aligned(leg.tree)), leg.tree, leg.solution, leg.at, active, level)


@dataclass(frozen=True)
class Machine:
    """A parallel robot to compute with: its platform's inertia, its legs, gravity, and the wrench on the platform.

    `external` is what the environment exerts about the platform's origin, in world axes.
    """

    motion: Mobility
    inertia: Inertia
    legs: tuple[LegModel, ...]
    gravity: Vec3
    external: Wrench = field(default=Wrench())

    @classmethod
    def of(cls, robot: ParallelRobot) -> Machine:
        """The machine of a robot, in its own gravity."""
        legs = tuple(LegModel.of(leg, robot.motion.plane) for leg in robot.legs)
        return cls(robot.motion, robot.platform.spatial_inertia, legs, robot.gravity)

    def places(self, pose: Sequence[Scalar]) -> tuple[Pose, list[Place]]:
        """The platform's pose, and each leg there."""
        X = self.motion.pose(pose)
        return X, [placed(leg, X) for leg in self.legs]


class Place(NamedTuple):
    """A leg with its tip on the platform.

    Args:
        model: the leg.
        lever: from the platform's origin to the tip.
        q: joint positions.
        axes: of the joints.
        points: origins of the bodies, then the tip.
        rows: of J_i^-1: the rate of joint k is rows[k] . velocity of the tip.

    All vectors are in world axes.
    """

    model: LegModel
    lever: Vec3
    q: list[Position]
    axes: list[Vec3]
    points: list[Vec3]
    rows: list[Vec3]

    @property
    def wrenches(self) -> list[Wrench]:
        """For each joint the wrench on the platform that a unit force of it makes: rows of J_i^-1 J_vi."""
        return [Wrench(n, cross(self.lever, n)) for n in self.rows]  # (63), (65)

    def rates(self, velocity: Vec3) -> list[Scalar]:
        """Rates of the joints at a velocity of the tip."""
        return [dot(n, velocity) for n in self.rows]  # (64)

    def accelerations(self, acceleration: Vec3, qd: Sequence[Scalar]) -> list[Scalar]:
        """Accelerations of the joints at an acceleration of the tip."""
        return self.rates(acceleration - self._drift(qd))

    def _drift(self, qd: Sequence[Scalar]) -> Vec3:
        """J_i_dot qd_i: the acceleration of the tip that the rates alone make."""
        a = w = w_dot = ZERO3
        for k, (axis, rate) in enumerate(zip(self.axes, qd, strict=True)):
            s = axis * rate
            if self.model.solution.kinds[k].turns:
                w_dot = w_dot + cross(w, s)
                w = w + s
            else:
                a = a + cross(w, s) * 2.0
            lever = self.points[k + 1] - self.points[k]
            a = a + cross(w_dot, lever) + cross(w, cross(w, lever))
        return a

    def forces(self, qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: Vec3) -> list[Scalar]:
        """Gamma_i: forces of all joints of the leg alone, as if each had a motor."""
        return list(inverse_dynamics.function(self.model.tree, self.q, qd, qdd, world=World(gravity=gravity))[0])

    def held(self, gravity: Vec3) -> list[Scalar]:
        """Forces of all joints that hold the leg alone against gravity."""
        return list(gravity_forces.function(self.model.tree, self.q, world=World(gravity=gravity))[0])


def placed(leg: LegModel, X: Pose) -> Place:
    """A leg with its tip on the platform at the pose X."""
    lever = X.R @ leg.at
    tip = X.p + lever
    if leg.level is not None:
        tip = Vec3(tip.x, tip.y, leg.level)
    q = leg.solution.positions(tip)
    poses = world_poses(leg.tree, q)[1:]
    axes, points = [Y.R.column(2) for Y in poses], [*(Y.p for Y in poses), tip]
    turning = [kind.turns for kind in leg.solution.kinds]
    columns = [cross(a, tip - p) if turns else a for a, p, turns in zip(axes, points, turning, strict=False)]
    a, b, c = columns if leg.level is None else (*columns, EZ)
    return Place(leg, lever, q, axes, points, _inverse(a, b, c)[: len(columns)])


def _inverse(a: Vec3, b: Vec3, c: Vec3) -> list[Vec3]:
    """Rows of the inverse of the matrix with these columns."""
    bc = cross(b, c)
    scale = 1.0 / dot(a, bc)
    return [bc * scale, cross(c, a) * scale, cross(a, b) * scale]


class LegMotion(NamedTuple):
    """Rates and accelerations of a leg's joints, and the forces that these take."""

    qd: list[Scalar]
    qdd: list[Scalar]
    forces: list[Scalar]


def leg_motions(
    machine: Machine, places: Sequence[Place], velocity: Sequence[Scalar], acceleration: Sequence[Scalar]
) -> list[LegMotion]:
    """What each leg does when the platform moves so."""
    v, a = machine.motion.motion(velocity), machine.motion.motion(acceleration)
    found = []
    for place in places:
        tip_v, tip_a = point_motion(v, a, place.lever)
        qd = place.rates(tip_v)
        qdd = place.accelerations(tip_a, qd)
        found.append(LegMotion(qd, qdd, place.forces(qd, qdd, machine.gravity)))
    return found


def platform_wrench(machine: Machine, X: Pose, velocity: Sequence[Scalar], acceleration: Sequence[Scalar]) -> Wrench:
    """F_p: the wrench that moves the platform so against gravity and the environment, legs left aside, by (9)."""
    v, a = machine.motion.motion(velocity), machine.motion.motion(acceleration)
    back = X.R.T
    felt = back @ (a.linear - machine.gravity)
    own = machine.inertia.force(felt, rate_of_change(back @ a.angular, back @ v.angular))
    return Wrench(X.R @ own.force, X.R @ own.moment) + -machine.external


def bracket(machine: Machine, places: Sequence[Place], motions: Sequence[LegMotion], platform: Wrench) -> list[Scalar]:
    """The dynamics in the platform's coordinates: F_p + sum J_vi^T J_i^-T Gamma_i, the bracket of (66)."""
    total = platform
    for place, moving in zip(places, motions, strict=True):
        f = ZERO3
        for n, force in zip(place.rows, moving.forces, strict=True):
            f = f + n * force
        total = total + Wrench(f, cross(place.lever, f))
    return machine.motion.force(total)


def jacobian_rows(machine: Machine, places: Sequence[Place]) -> list[list[Scalar]]:
    """J_p^-1 (na, nv): rates of the actuated joints for the platform's velocity, by (62)."""
    return [machine.motion.force(p.wrenches[k]) for p in places for k in p.model.active]
