"""A robot with all that acts on it, control, limits of drives, forces: what a step of a rollout is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from linkwise.algorithms.algorithm import World
from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.kernel import closure
from linkwise.kernel.options import Options
from linkwise.kernel.robot_tracing import cheapest, machine_on, settled
from linkwise.kernel.tracing import Port, Program, trace
from linkwise.mechanism.machine import AnyMachine
from linkwise.motion.base_motion import BaseMotion
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.simulation.control_law import Control, Model, torques
from linkwise.simulation.simulation import smoothed_joint
from linkwise.simulation.step import resisting_ahead, step
from linkwise.simulation.torque_limits import TorqueLimit, limited
from linkwise.vector import Vec3

TIME = "t"  # the input of those on a base that moves
GUESS = "guess"  # the input where Newton's method begins
EACH = ("u", "f_ext", TIME)  # inputs that each step has of its own
Given = dict[str, list[Any]]  # inputs that options add, by name


@dataclass(frozen=True)
class Plant:
    """A robot, how it steps, and what acts on it.

    Args:
        robot: a tree, or a machine with loops or coupled joints.
        method: of `step`.
        control: `control(q, qd, u)` gives the torques; none takes u as such.
        width: of u.
        options: what surrounds the robot, and which of its numbers are inputs.
        limits: of the drives.
        base: how its base moves; None where it stands.
    """

    robot: Robot
    method: str
    control: Control | None
    width: int
    options: Options
    limits: tuple[TorqueLimit, ...] = ()
    base: BaseMotion | None = None

    def __reduce__(self) -> Any:
        return Plant, tuple(getattr(self, f.name) for f in fields(self))  # without what follows from them

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        """Inputs of one step: q, qd, u, dt, those that options add, time, and what Newton's method finds."""
        robot = self.robot
        own = Port("q", (robot.nq,)), Port("qd", (robot.nv,)), Port("u", (self.width,)), Port("dt", ())
        time = [Port(TIME, ())] if self.base else []
        return *own, *self.options.ports(robot, forward_dynamics), *time, *closure.port(robot, self.options, own)

    def named(self, inputs: Sequence[list[Any]]) -> Given:
        """Inputs beside q, qd, u and dt, by name."""
        return {port.name: x for port, x in zip(self.ports[4:], inputs, strict=True)}

    def step_program(self) -> Program:
        """One step: q, qd, u, dt, ... -> q_new, qd_new, by the cheapest route."""
        whole, n = self._step, len(self.ports)
        inputs, outputs = whole.inputs[:n], whole.outputs[:2]
        return self.closed(
            replace(whole, inputs=inputs, leaves=whole.leaves[:n], outputs=outputs, results=whole.results[:2])
        )

    def loop_program(self) -> Program:
        """Steps as a loop, each from where the last ended; what Newton's method found is where it begins in the next.

        Torques, wrenches and the time are inputs of each step.
        """
        program = self._step
        inputs = tuple(replace(p, steps=p.name in EACH) for p in program.inputs)
        outputs = tuple(replace(p, steps=k < 2, thinned=k < 2) for k, p in enumerate(program.outputs))
        carries = tuple(enumerate([0, 1, len(self.ports)][: len(outputs)]))
        once = replace(program, name="rollout", inputs=inputs, outputs=outputs, carries=carries)
        return self.closed(once, GUESS)

    def closed(self, program: Program, guess: str = "") -> Program:
        """The program with Newton's method before it, where that is needed."""
        needed = any(p.name == closure.FOLLOWERS for p in program.inputs)
        return closure.closed(program, self.robot, self.options, guess) if needed else program

    @cached_property
    def _step(self) -> Program:
        """One step, with where Newton's method is to begin in it and in the next, where that is needed."""
        robot, model = self.robot, Model(self.robot)
        sought = [p.shape for p in self.ports if p.name == closure.FOLLOWERS]
        inputs = [*self.ports, *(Port(GUESS, shape) for shape in sought)]
        outputs = [Port("q_new", (robot.nq,)), Port("qd_new", (robot.nv,)), *(Port("next", x) for x in sought)]

        def traced(route: str) -> Program:
            def run(q: list[Any], qd: list[Any], u: list[Any], dt: list[Any], *inputs: list[Any]) -> Sequence[Any]:
                given = self.named(inputs[: len(self.ports) - 4])

                def accelerations(
                    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], time: Scalar
                ) -> Sequence[Scalar]:
                    now, world = self.surrounded(machine, self.later(given, time), q, qd, dt[0])
                    tau = self.torques(machine, model, q, qd, u)
                    return forward_dynamics.function(now, q, qd, tau, world=world, route=route)[0]

                return step(self.machine(given), accelerations, q, qd, dt[0], self.method)[: len(outputs)]

            return trace("step", run, inputs, outputs, dtype=self.options.dtype)

        routes = settled(robot, {"route": forward_dynamics.static["route"]})
        return cheapest(routes, lambda choice: traced(**choice))

    def machine(self, given: Given) -> AnyMachine:
        """The robot with its numbers among the inputs, and laws along its joints."""
        model, tree = self._modelled(given) if "parameters" in given else self._own_model
        return machine_on(self.robot, tree, model, given.get(closure.FOLLOWERS), self.options)

    @cached_property
    def _own_model(self) -> tuple[Robot, Tree]:
        return self._modelled({})

    def _modelled(self, given: Given) -> tuple[Robot, Tree]:
        """The robot in numbers of the inputs, and its tree."""
        robot = self.robot
        if self.method == "implicit":
            robot = robot.replace(joints=[smoothed_joint(j) for j in robot.joints])
        model = self.options.model(robot, given)
        return model, regrouped(aligned(self.options.tree(Tree.of(model))))

    def later(self, given: Given, time: Scalar, followers: Sequence[Scalar] = ()) -> Given:
        """The inputs some time after the step began, and what Newton's method finds then."""
        clock = {TIME: [given[TIME][0] + time]} if self.base else {}
        return {**given, **clock, **({closure.FOLLOWERS: list(followers)} if followers else {})}

    def surrounded(
        self, machine: AnyMachine, given: Given, q: Sequence[Scalar], qd: Sequence[Scalar], dt: Scalar
    ) -> tuple[AnyMachine, World]:
        """The machine as it resists in a state, and what surrounds it there."""
        options, implicit, state = self.options, self.method == "implicit", [q, qd]
        if implicit or options.forces:
            _, *state = machine.complete(q, qd)
        if implicit:
            machine = machine.on(resisting_ahead(machine.tree, state[0], state[1], dt))
        if self.base:
            own = options.gravity if isinstance(options.gravity, Vec3) else machine.gravity
            given = given | self.base.given(given[TIME][0], given.get("gravity", own))
        return machine, options.world(machine.tree, given, (state[0], state[1]))

    def torques(
        self, machine: AnyMachine, model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], u: Sequence[Scalar]
    ) -> list[Scalar]:
        """What the drives give."""
        known = model.where(q, machine.unknowns)
        asked = list(u) if self.control is None else torques(self.control, known, q, qd, u)
        if not self.limits:
            return asked
        at = machine.at(q)
        return limited(self.limits, asked, at.drive_rates(at.rates(qd)))
