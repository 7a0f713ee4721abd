"""One instant of a motion, in expressions: what rows of a problem are written with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.centroidal import centre_of_mass, centroidal_momentum
from linkwise.algorithms.elastic_feedforward import Motors, motors_of_motion
from linkwise.algorithms.force_rates import force_rates
from linkwise.algorithms.inverse_dynamics import inverse_dynamics, joint_wrenches
from linkwise.algorithms.kinematics import link_velocities, world_poses
from linkwise.algorithms.regressor import torque_columns
from linkwise.errors import UnknownNameError
from linkwise.jet import Jet
from linkwise.mechanism.machine import AnyMachine, machine_of
from linkwise.mechanism.series import along_motion
from linkwise.mechanism.structure import structure_of
from linkwise.motion.environment import Environment
from linkwise.planning.chart import Chart, chart_of, joint_places
from linkwise.planning.contact_wrenches import standing, with_contacts
from linkwise.planning.drives import drives_of
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar, number
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import Vec3

STANDING = Environment()


def carriers(robot: Robot) -> list[str]:
    """What reactions go through: joints that move, and the cut joints of loops by the names of these."""
    return [*(j.name for j in robot.joints if not j.is_fixed), *(loop.name for loop in robot.loops)]


class Point:
    """An instant of a motion: `q`, `qd`, `qdd`, `qddd`, `qdddd`, and all that follows from them.

    These are of the joints without motors behind springs; with loops, of those that lead, and `joint_motion` has all.
    Functions of users take one and return an expression, written with operators and `linkwise.scalar`.

    Args:
        robot: what moves.
        motion: the numbers on splines and their derivatives (n each), as many as `Drives.orders`.
        s: the fraction of the motion's time that has passed.
        data: what the row's own function of s gave there.
        chart: what the numbers are; those of `chart_of(robot)` if not given.
        environment: how the base moves, and what pushes the robot from outside.
        t: the time that has passed, s.
        balanced: whether contacts hold also what the splines of their wrenches leave, so that nothing is left.
    """

    def __init__(
        self,
        robot: Robot,
        motion: Sequence[Sequence[Scalar]],
        s: Scalar = 0.0,
        data: Sequence[Scalar] = (),
        chart: Chart | None = None,
        environment: Environment = STANDING,
        t: Scalar = 0.0,
        balanced: bool = True,
    ) -> None:
        self._given = robot, motion, s, data, chart, environment, t
        self.robot = robot
        self.chart = chart or chart_of(robot)
        self.numbers, self._motion = motion, self.chart.lead_motion(motion)
        self.q, self.qd, self.qdd, self.qddd, self.qdddd = self._motion[:5]
        self._followers = self.chart.followers(motion[0])
        self.s, self.data, self.t, self.environment = s, list(data), t, environment
        self._drives, self._balanced = drives_of(robot), balanced
        self._known_motors: dict[int, Motors] = {}
        self._known_contacts: dict[int, tuple[list[list[Scalar]], list[Pose]]] = {}

    def _machine(self, tree: Tree) -> AnyMachine:
        """What algorithms ask, with a tree that has the same dynamics."""
        return machine_of(self.robot, tree, self._followers)

    @cached_property
    def _links(self) -> AnyMachine:
        """The machine whose motors behind springs do not lead."""
        machine = self._machine(self.tree)
        return machine.unsprung() if self._drives.levels else machine

    @cached_property
    def _posture(self) -> Any:
        """All joints, where they are now."""
        return self._links.at(self.q)

    @cached_property
    def _rates(self) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        """Velocities and accelerations of all joints."""
        velocities, accelerations = self._posture.led(self.qd, self.qdd)
        return velocities, accelerations

    @cached_property
    def _jerks(self) -> Sequence[Scalar]:
        """Jerks of all joints."""
        found: Sequence[Scalar] = self._links.complete(self.q, self.qd, self.qdd, self.qddd)[-1]
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
        """Velocities at which the drives move, in the order of `tau`; those of motors behind springs are their own."""
        at, speeds = self._machine(self.tree).tree_drives, list(self._rates[0])
        if self._drives.levels:
            speeds += [0.0] * (self.tree.nv - len(speeds))
            for (_, e), x in zip(self.tree.elastic_bodies, self._motors(0).theta[1], strict=True):
                speeds[e.v] = x
        return [speeds[at[k]] for k in self._drives.places]

    @cached_property
    def gap(self) -> list[Scalar]:
        """What loops without a closed form are open by: rad, and parts of the mechanism's size."""
        structure = structure_of(self.robot)
        block, weights = structure.part.blocks[-1], structure.part.weights
        values = self._links.at(self.q, closed=False).equations.gap(block)  # type: ignore[call-arg, union-attr]
        return [x * weights[r] for x, r in zip(values, block.rows, strict=True)]

    @cached_property
    def tree(self) -> Tree:
        """The robot's bodies."""
        return Tree.of(self.robot)

    @cached_property
    def _lean(self) -> Tree:
        """Bodies that have the same torques by fewer operations."""
        return regrouped(aligned(self.tree))

    def _world(self, tree: Tree, rates: int = 0) -> World:
        world = self.environment.world(tree, self.t, rates, lambda: self._series(tree, rates))
        return with_contacts(world, tree, self.chart.stances, *self._standing(rates)) if self.chart.stances else world

    def loads(self, rates: int = 0) -> dict[str, Wrench]:
        """What pushes the robot from outside, at frames in their axes, as series with so many rates."""
        return self.environment.wrenches(self.tree, self.t, rates, lambda: self._series(self.tree, rates))

    def _series(self, tree: Tree, rates: int) -> tuple[Tree, Sequence[Scalar], Sequence[Scalar]]:
        """The tree of the links, and its positions and velocities as series with so many rates."""
        machine = self._machine(tree).unsprung() if self._drives.levels else self._machine(tree)
        q, qd = along_motion(machine, self._motion[: rates + 2], rates)
        at = machine.at(q)
        return at.tree, at.q, at.rates(qd)

    def _standing(self, rates: int = 0) -> tuple[list[list[Scalar]], list[Pose]]:
        """Wrenches of contacts in their axes, and poses of their frames, all with so many rates."""
        if rates not in self._known_contacts:
            motion = along_motion(self._links, self._motion[: 3 + rates], rates) if rates else self._motion[:3]
            outside = self.environment.world(self.tree, self.t, rates, lambda: self._series(self.tree, rates))
            numbers = [Jet.of(x) for x in zip(*self.numbers[: rates + 1], strict=True)] if rates else self.numbers[0]
            self._known_contacts[rates] = standing(
                self._links, self.tree, self.chart, motion, numbers, outside, self._balanced
            )
        return self._known_contacts[rates]

    def contact_loads(self, rates: int = 0) -> list[Wrench]:
        """What contacts exert on their frames, in their axes, with so many rates."""
        return [s.on_frame(six, X) for s, six, X in zip(self.chart.stances, *self._standing(rates), strict=True)]

    def contact(self, name: str) -> Wrench:
        """What the ground exerts on a contact, about the middle of its sole; z of its axes is the ground's normal."""
        names = [s.name for s in self.chart.stances]
        if name not in names:
            raise UnknownNameError("contact", name, names)
        six = self.contacts[names.index(name)]
        return Wrench(Vec3(*six[:3]), Vec3(*six[3:]))

    @cached_property
    def contacts(self) -> list[list[Scalar]]:
        """Force and moment of each contact, in its axes about the middle of its sole."""
        return self._standing()[0]

    @cached_property
    def tau(self) -> list[Scalar]:
        """Torques of the drives, in the order of `Drives.names`; where drives are elastic those of their motors."""
        return [self._forces[k] for k in self._drives.places]

    def regressor(self, coulomb: Callable[[Scalar], Scalar]) -> list[list[Scalar]]:
        """Torques as linear functions of `robot.parameters()`: for each parameter a column (nu).

        `coulomb` is the law of Coulomb's friction, a function of the speed.
        """
        return torque_columns(self._machine(self.tree), self._state, self._world(self.tree), coulomb)

    @cached_property
    def _state(self) -> tuple[Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]]:
        """Positions, velocities and accelerations, of motors behind springs too."""
        q, qd, qdd = self._motion[:3]
        if self._drives.levels:
            motors = self._motors(0).theta
            return [*q, *motors[0]], [*qd, *motors[1]], [*qdd, *motors[2]]
        return q, qd, qdd

    @cached_property
    def base_wrench(self) -> list[Scalar]:
        """What would have to push a floating base that nothing drives: zero in a motion that exists.

        With contacts, what the splines of their wrenches leave.
        """
        forces = Point(*self._given, balanced=False)._forces if self.chart.stances else self._forces
        return [forces[k] for k in self._drives.passive]

    @cached_property
    def centre(self) -> list[Scalar]:
        """The centre of mass of the moving links, in the world of a base that stands."""
        (found,) = centre_of_mass.function(self._links, self.q)
        return list(found)

    @cached_property
    def angular_momentum(self) -> list[Scalar]:
        """The angular momentum of the moving links about their centre of mass, in world axes."""
        state = [*self._motion[:2]]
        if self._drives.levels:
            state = [[*x, *motors] for x, motors in zip(state, self._motors(0).theta, strict=False)]
        (found,) = centroidal_momentum.function(self._machine(self.tree), *state)
        return list(found[3:])

    @cached_property
    def tau_dot(self) -> list[Scalar]:
        """The rates of `tau`."""
        return [self._force_rates[k] for k in self._drives.places]

    @cached_property
    def _forces(self) -> list[Scalar]:
        """Generalised forces at `robot.motors`."""
        if self._drives.levels:
            return self._motors(0).tau[0]
        machine, world = self._machine(self._lean), self._world(self._lean)
        (tau,) = inverse_dynamics.function(machine, self.q, self.qd, self.qdd, world=world)
        return [tau[k] for k in self.robot.motors]

    @cached_property
    def _force_rates(self) -> list[Scalar]:
        if self._drives.levels:
            return self._motors(1).tau[1]
        machine, world = self._machine(self._lean), self._world(self._lean, 1)
        route = "recursion" if isinstance(machine, Tree) else "series"
        _, rates = force_rates.function(machine, *self._motion[:4], world=world, order=1, route=route)
        return [rates[k] for k in self.robot.motors]

    def _motors(self, rates: int) -> Motors:
        """The motion of motors behind springs, and torques of all drives with so many rates."""
        if rates not in self._known_motors:
            order = 2 * self._drives.levels + rates
            machine, world = self._machine(self._lean), self._world(self._lean, order)
            motion, coupling = self._motion[: order + 3], self._drives.coupling
            self._known_motors[rates] = motors_of_motion(machine, motion, world, coupling, rates)
        return self._known_motors[rates]

    def known_slopes(self) -> Mapping[Any, Sequence[Any]]:
        """Derivatives by the numbers on splines, order after order, of expressions for which there is a better way."""
        return {}

    @cached_property
    def deflection(self) -> list[Scalar]:
        """How far the springs of drives are stretched, in the order of `tau`; zero where a drive is rigid."""
        stretch: dict[str, Scalar] = {}
        for (body, _), theta in zip(self.tree.elastic_bodies, self._motors(0).theta[0], strict=True):
            stretch[body.name] = theta - number(self._posture.q[body.q])
        return [stretch.get(name, 0.0) for name in self._drives.joints]

    @cached_property
    def _wrenches(self) -> list[list[Scalar]]:
        """Through the joints that move, and through those that were cut."""
        machine, world = self._machine(self.tree), self._world(self.tree)
        _, through, cut = joint_wrenches.function(machine, *self._state, world=world)
        six = [*through, *cut]
        return [six[k : k + 6] for k in range(0, len(six), 6)]

    def wrench(self, joint: str) -> Wrench:
        """The reaction through a joint, on its child link at the joint, in the link's axes.

        Through the cut joint of a loop, by the loop's name: on link b, in the axes of frame a.
        """
        names = carriers(self.robot)
        if joint not in names:
            raise UnknownNameError("joint", joint, names)
        w = self._wrenches[names.index(joint)]
        return Wrench(Vec3(*w[:3]), Vec3(*w[3:]))

    @cached_property
    def _poses(self) -> list[Pose]:
        found = world_poses(self.tree, self._posture.q)
        base = self.environment.base
        return [base.pose(self.t) @ X for X in found] if base else found

    def pose(self, frame: str) -> Pose:
        """Where a frame or link is in the world."""
        i, X = self.tree.place(frame)
        return self._poses[i] @ X

    def velocity(self, frame: str) -> Motion:
        """Velocity of a frame's origin, and its angular velocity, in world axes."""
        i, X = self.tree.place(frame)
        world = self._world(self.tree) if self.environment.base else World()
        v = link_velocities(self.tree, self._posture.q, self._rates[0], world)[i].carried_to(X.R, X.p)
        R = self.pose(frame).R
        return Motion(R @ v.linear, R @ v.angular)
