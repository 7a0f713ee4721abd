"""One instant of a motion, in expressions: what rows of a problem are written with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from linkwise.algorithms.algorithm import World, moving_base
from linkwise.algorithms.closed_chain import Linkage
from linkwise.algorithms.closed_wrenches import closed_wrenches
from linkwise.algorithms.elastic_feedforward import motors_of_motion
from linkwise.algorithms.force_rates import force_rates
from linkwise.algorithms.inverse_dynamics import inverse_dynamics, joint_wrenches
from linkwise.algorithms.kinematics import link_velocities, world_poses
from linkwise.errors import InputError, LinkwiseError, UnknownNameError
from linkwise.jet import Jet, part
from linkwise.mechanism.structure import structure_of
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import Vec3

ORDERS = 5  # q and four derivatives


def carriers(robot: Robot) -> list[str]:
    """What reactions go through: joints that move, and the cut joints of loops by the names of these."""
    return [*(j.name for j in robot.joints if not j.is_fixed), *(loop.name for loop in robot.loops)]


class Series(NamedTuple):
    """A closed chain whose scalars carry their rates: how all joints move, and the accelerations of those that lead."""

    linkage: Linkage
    qd: list[Scalar]
    qdd: list[Scalar]
    qdd_i: list[Scalar]


def _drives(linkage: Linkage, qd: Sequence[Scalar], qdd_i: Sequence[Scalar], world: World) -> list[Scalar]:
    """Torques of all joints of a closed chain; passive ones have none."""
    found: list[Scalar] = [0.0] * linkage.tree.nv
    torques = linkage.shared(linkage.forces(qd, qdd_i, world).force)
    for v, x in zip(linkage.part.active, torques, strict=True):
        found[v] = x
    return found


class Point:
    """An instant of a motion: `q`, `qd`, `qdd`, `qddd`, `qdddd`, and all that follows from them.

    Functions of users take one and return an expression, written with operators and `linkwise.scalar`.

    Args:
        robot: what moves.
        motion: q and its derivatives (n each).
        s: the fraction of the motion's time that has passed.
        data: what the row's own function of s gave there.
        base: velocity, acceleration and jerk of the base (6 each), where it moves.
    """

    def __init__(
        self,
        robot: Robot,
        motion: Sequence[Sequence[Scalar]],
        s: Scalar = 0.0,
        data: Sequence[Scalar] = (),
        base: Sequence[Sequence[Scalar]] = (),
    ) -> None:
        self.robot = robot
        self.q, self.qd, self.qdd, self._qddd, self.qdddd = (list(x) for x in motion)
        self.s, self.data, self._base = s, list(data), base
        if robot.loops:  # the independent joints lead
            self._leads = [[x[v] for v in self._linkage.part.independent] for x in (self.qd, self.qdd, self._qddd)]
            self.qd, self.qdd = self._linkage.led(*self._leads[:2])

    @cached_property
    def _linkage(self) -> Linkage:
        """The loops of the robot, where it has some."""
        return Linkage(self._lean, self.q, structure_of(self.robot).part)

    @cached_property
    def _series(self) -> Series:
        """The closed motion with its rate."""
        pairs = zip([self.q, *self._leads[:2]], [self.qd, *self._leads[1:]], strict=True)
        q, qd_i, qdd_i = ([Jet(x) for x in zip(*pair, strict=True)] for pair in pairs)
        linkage = Linkage(self._lean, q, self._linkage.part)
        return Series(linkage, *linkage.led(qd_i, qdd_i), qdd_i)

    @cached_property
    def qddd(self) -> list[Scalar]:
        """Jerks (n)."""
        return [part(x, 1) for x in self._series.qdd] if self.robot.loops else self._qddd

    @property
    def gap(self) -> list[Scalar]:
        """What the loops are open by: rad, and parts of the mechanism's size."""
        return self._linkage.equations.gap()

    @cached_property
    def tree(self) -> Tree:
        """The robot's bodies."""
        return Tree.of(self.robot)

    @cached_property
    def _lean(self) -> Tree:
        """Bodies that have the same torques by fewer operations."""
        return regrouped(aligned(self.tree))

    def _world(self, rates: bool = False) -> World:
        base = [Motion(Vec3(*x[:3]), Vec3(*x[3:])) for x in self._base]
        return moving_base(self.tree.gravity, *base[: 2 + rates]) if base else World(self.tree.gravity)

    @cached_property
    def tau(self) -> list[Scalar]:
        """Torques of the drives (n): generalised forces, where drives are elastic those of their motors.

        In loops passive joints have none.
        """
        if self.robot.loops:
            return _drives(self._linkage, self.qd, self._leads[1], self._world())
        if self.tree.elastic_bodies:
            return self._motors[3]
        (tau,) = inverse_dynamics.function(self._lean, self.q, self.qd, self.qdd, world=self._world())
        return list(tau)

    @cached_property
    def _motors(self) -> list[list[Scalar]]:
        """Positions, velocities and accelerations of motors behind springs, and the torques of all drives."""
        motion = (self.q, self.qd, self.qdd, self.qddd, self.qdddd)
        try:
            return [list(x) for x in motors_of_motion(self._lean, motion, self._world(), "exact")]
        except LinkwiseError:  # where motors act on each other through springs
            return [list(x) for x in motors_of_motion(self._lean, motion, self._world(), "rigid")]

    @cached_property
    def deflection(self) -> list[Scalar]:
        """How far the springs of drives are stretched, theta - q (n); zero where a drive is rigid."""
        stretch: list[Scalar] = [0.0] * len(self.q)
        for (body, _), theta in zip(self.tree.elastic_bodies, self._motors[0], strict=True):
            stretch[body.v] = theta - self.q[body.v]
        return stretch

    @cached_property
    def tau_dot(self) -> list[Scalar]:
        """Their rates (n)."""
        if self.tree.elastic_bodies:
            raise InputError("effort_rate: expected rigid drives, got elastic ones. Bound jerks, or use robot.rigid().")
        if self.robot.loops:
            linkage, qd, _, qdd_i = self._series
            return [part(x, 1) for x in _drives(linkage, qd, qdd_i, self._world(rates=True))]
        motion = (self.q, self.qd, self.qdd, self.qddd)
        world = self._world(rates=True)
        _, rates = force_rates.function(self._lean, *motion, world=world, order=1, route="recursion")
        return list(rates)

    @cached_property
    def _wrenches(self) -> list[list[Scalar]]:
        """Through the joints that move, and through those that were cut."""
        if self.robot.loops:
            linkage = Linkage(self.tree, self.q, self._linkage.part)
            found = closed_wrenches(linkage, self.qd, self.qdd, self._world())
            six = [*found.wrenches, *found.cuts]
            return [six[k : k + 6] for k in range(0, len(six), 6)]
        state = [self.q, self.qd, self.qdd]
        if self.tree.elastic_bodies:
            state = [x + motors for x, motors in zip(state, self._motors[:3], strict=True)]
        _, flat = joint_wrenches.function(self.tree, *state, world=self._world())
        return [list(flat[k : k + 6]) for k in range(0, len(flat), 6)]

    def wrench(self, joint: str) -> Wrench:
        """The reaction through a joint, on its child link at the joint, in the link's axes.

        Through the cut joint of a loop, by the loop's name: on link b, in the axes of frame a.
        """
        names = carriers(self.robot)
        if joint not in names:
            raise UnknownNameError("joint that moves", joint, names)
        w = self._wrenches[names.index(joint)]
        return Wrench(Vec3(*w[:3]), Vec3(*w[3:]))

    @cached_property
    def _poses(self) -> list[Pose]:
        return world_poses(self.tree, self.q)

    def pose(self, frame: str) -> Pose:
        """Where a frame or link is in the world."""
        i, X = self.tree.place(frame)
        return self._poses[i] @ X

    def velocity(self, frame: str) -> Motion:
        """Velocity of a frame's origin, and its angular velocity, in world axes."""
        i, X = self.tree.place(frame)
        v = link_velocities(self.tree, self.q, self.qd, World())[i].carried_to(X.R, X.p)
        R = self.pose(frame).R
        return Motion(R @ v.linear, R @ v.angular)
