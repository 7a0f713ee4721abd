"""One instant of a motion, in expressions: what rows of a problem are written with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from linkwise.algorithms.algorithm import World, moving_base
from linkwise.algorithms.elastic_feedforward import motors_of_motion
from linkwise.algorithms.force_rates import force_rates
from linkwise.algorithms.inverse_dynamics import inverse_dynamics, joint_wrenches
from linkwise.algorithms.kinematics import link_velocities, world_poses
from linkwise.errors import InputError, LinkwiseError, UnknownNameError
from linkwise.mechanism.machine import AnyMachine, Machine
from linkwise.mechanism.structure import structure_of
from linkwise.planning.chart import Chart, chart_of, joint_places
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar, number
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import Vec3

ORDERS = 5  # q and four derivatives


def carriers(robot: Robot) -> list[str]:
    """What reactions go through: joints that move, and the cut joints of loops by the names of these."""
    return [*(j.name for j in robot.joints if not j.is_fixed), *(loop.name for loop in robot.loops)]


class Point:
    """An instant of a motion: `q`, `qd`, `qdd`, `qddd`, `qdddd`, and all that follows from them.

    These are of the joints; with loops, of those that lead, and `joint_motion` has all. Functions of users take one
    and return an expression, written with operators and `linkwise.scalar`.

    Args:
        robot: what moves.
        motion: the numbers on splines and their derivatives (n each).
        s: the fraction of the motion's time that has passed.
        data: what the row's own function of s gave there.
        base: velocity, acceleration and jerk of the base (6 each), where it moves.
        chart: what the numbers are; those of `chart_of(robot)` if not given.
    """

    def __init__(
        self,
        robot: Robot,
        motion: Sequence[Sequence[Scalar]],
        s: Scalar = 0.0,
        data: Sequence[Scalar] = (),
        base: Sequence[Sequence[Scalar]] = (),
        chart: Chart | None = None,
    ) -> None:
        self.robot = robot
        self.chart = chart or chart_of(robot)
        self.q, self.qd, self.qdd, self.qddd, self.qdddd = self.chart.lead_motion(motion)
        self._followers = self.chart.followers(motion[0])
        self.s, self.data, self._base = s, list(data), base

    def _machine(self, tree: Tree) -> AnyMachine:
        """What algorithms ask, with a tree that has the same dynamics."""
        if not self.robot.loops:
            return tree
        found = tuple(self._followers) if self.chart.sought else None
        return Machine(tree, self.tree, structure_of(self.robot), found)

    @cached_property
    def _posture(self) -> Any:
        """All joints, where they are now."""
        return self._machine(self.tree).at(self.q)

    @cached_property
    def _rates(self) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        """Velocities and accelerations of all joints."""
        velocities, accelerations = self._posture.led(self.qd, self.qdd)
        return velocities, accelerations

    @cached_property
    def _jerks(self) -> Sequence[Scalar]:
        """Jerks of all joints."""
        found: Sequence[Scalar] = self._machine(self.tree).complete(self.q, self.qd, self.qdd, self.qddd)[-1]
        return found

    @cached_property
    def positions(self) -> list[Scalar]:
        """Positions of all joints, in the order of those of `robot.opened()`."""
        return [number(x) for x in self._posture.q]

    def joint_motion(self, order: int) -> list[Scalar]:
        """Positions of joints of one degree of freedom, those that follow too, or their first, ... third derivative."""
        places = joint_places(self.robot).values()
        if not order:
            return [number(self._posture.q[q]) for q, _ in places]
        values = self._jerks if order > 2 else self._rates[order - 1]
        return [values[v] for _, v in places]

    @cached_property
    def drive_rates(self) -> list[Scalar]:
        """Velocities at which the drives move, in the order of `tau`."""
        return list(self._posture.drive_rates(self._rates[0]))

    @cached_property
    def gap(self) -> list[Scalar]:
        """What loops without a closed form are open by: rad, and parts of the mechanism's size."""
        structure = structure_of(self.robot)
        machine = self._machine(self.tree)
        block, weights = structure.part.blocks[-1], structure.part.weights
        values = machine.at(self.q, closed=False).gap(block)  # type: ignore[call-arg, union-attr]
        return [x * weights[r] for x, r in zip(values, block.rows, strict=True)]

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
        """Torques of the drives: generalised forces, where drives are elastic those of their motors."""
        if self.tree.elastic_bodies:
            return self._motors[3]
        machine = self._machine(self._lean)
        (tau,) = inverse_dynamics.function(machine, self.q, self.qd, self.qdd, world=self._world())
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
        """Their rates."""
        if self.tree.elastic_bodies:
            raise InputError("effort_rate: expected rigid drives, got elastic ones. Bound jerks, or use robot.rigid().")
        motion = (self.q, self.qd, self.qdd, self.qddd)
        world, route = self._world(rates=True), "series" if self.robot.loops else "recursion"
        _, rates = force_rates.function(self._machine(self._lean), *motion, world=world, order=1, route=route)
        return list(rates)

    @cached_property
    def _wrenches(self) -> list[list[Scalar]]:
        """Through the joints that move, and through those that were cut."""
        state = [self.q, self.qd, self.qdd]
        if self.tree.elastic_bodies:
            state = [x + motors for x, motors in zip(state, self._motors[:3], strict=True)]
        _, through, cut = joint_wrenches.function(self._machine(self.tree), *state, world=self._world())
        six = [*through, *cut]
        return [six[k : k + 6] for k in range(0, len(six), 6)]

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
        return world_poses(self.tree, self._posture.q)

    def pose(self, frame: str) -> Pose:
        """Where a frame or link is in the world."""
        i, X = self.tree.place(frame)
        return self._poses[i] @ X

    def velocity(self, frame: str) -> Motion:
        """Velocity of a frame's origin, and its angular velocity, in world axes."""
        i, X = self.tree.place(frame)
        v = link_velocities(self.tree, self._posture.q, self._rates[0], World())[i].carried_to(X.R, X.p)
        R = self.pose(frame).R
        return Motion(R @ v.linear, R @ v.angular)
