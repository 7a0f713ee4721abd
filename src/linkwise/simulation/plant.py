"""A robot with all that acts on it, control, limits of drives, forces: what a step of a rollout is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.kernel.kernel import cheapest, settled
from linkwise.kernel.options import Options
from linkwise.kernel.tracing import Port, Program, trace
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.simulation.control_law import Control, Model, torques
from linkwise.simulation.simulation import smoothed_joint
from linkwise.simulation.step import resisting_ahead, step
from linkwise.simulation.torque_limits import TorqueLimit, limited

Given = dict[str, list[Any]]  # inputs that options add, by name


@dataclass(frozen=True)
class Plant:
    """A robot, how it steps, and what acts on it.

    Args:
        robot: a tree.
        method: of `step`.
        control: `control(q, qd, u)` gives the torques; none takes u as such.
        width: of u.
        options: what surrounds the robot, and which of its numbers are inputs.
        limits: of the drives.
    """

    robot: Robot
    method: str
    control: Control | None
    width: int
    options: Options
    limits: tuple[TorqueLimit, ...] = ()

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        """Inputs of one step: q, qd, u, dt, and those that options add."""
        robot = self.robot
        own = Port("q", (robot.nq,)), Port("qd", (robot.nv,)), Port("u", (self.width,)), Port("dt", ())
        return (*own, *self.options.ports(robot, forward_dynamics))

    def named(self, inputs: Sequence[list[Any]]) -> Given:
        """Inputs that options add, by name."""
        return {port.name: x for port, x in zip(self.ports[4:], inputs, strict=True)}

    def step_program(self) -> Program:
        """One step: q, qd, u, dt, ... -> q_new, qd_new, by the cheapest route."""
        robot, model = self.robot, Model(self.robot)
        outputs = [Port("q_new", (robot.nq,)), Port("qd_new", (robot.nv,))]

        def traced(route: str) -> Program:
            def run(q: list[Any], qd: list[Any], u: list[Any], dt: list[Any], *inputs: list[Any]) -> Sequence[Any]:
                given = self.named(inputs)
                tree = self.tree(given)

                def accelerations(q: Sequence[Scalar], qd: Sequence[Scalar]) -> Sequence[Scalar]:
                    now, world = self.surrounded(tree, given, q, qd, dt[0])
                    tau = self.torques(model, q, qd, u)
                    return forward_dynamics.function(now, q, qd, tau, world=world, route=route)[0]

                return step(tree, accelerations, q, qd, dt[0], self.method)

            return trace("step", run, self.ports, outputs, dtype=self.options.dtype)

        routes = settled(robot, {"route": forward_dynamics.static["route"]})
        return cheapest(routes, lambda choice: traced(**choice))

    def tree(self, given: Given) -> Tree:
        """The robot with its numbers among the inputs, and laws along its joints."""
        robot = self.robot
        if self.method == "implicit":
            robot = robot.replace(joints=[smoothed_joint(j) for j in robot.joints])
        return regrouped(aligned(self.options.tree(Tree.of(self.options.model(robot, given)))))

    def surrounded(
        self, tree: Tree, given: Given, q: Sequence[Scalar], qd: Sequence[Scalar], dt: Scalar
    ) -> tuple[Tree, World]:
        """The tree as it resists in a state, and what surrounds it there."""
        if self.method == "implicit":
            tree = resisting_ahead(tree, q, qd, dt)
        return tree, self.options.world(tree, given, (q, qd))

    def torques(self, model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], u: Sequence[Scalar]) -> list[Scalar]:
        """What the drives give."""
        asked = list(u) if self.control is None else torques(self.control, model, q, qd, u)
        return limited(self.limits, asked, qd)


def repeated(program: Program, each: Callable[[str], bool]) -> Program:
    """The program of one step as a loop, each from where the last ended; inputs that `each` names are of each step."""
    inputs = tuple(replace(p, steps=each(p.name)) for p in program.inputs)
    outputs = tuple(replace(p, steps=True, thinned=True) for p in program.outputs)
    return replace(program, name="rollout", inputs=inputs, outputs=outputs, carries=((0, 0), (1, 1)))
