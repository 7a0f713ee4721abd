"""Closure of loops inside a kernel: Newton's method as a loop before the program, where there is no closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from linkwise.graph.program import Before, Port, Program, trace
from linkwise.kernel.options import Options
from linkwise.mechanism import newton
from linkwise.mechanism.machine import Machine
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree

FOLLOWERS = "followers"


def port(robot: Robot, options: Options, standard: Sequence[Port]) -> list[Port]:
    """The hidden input of what Newton's method finds, where an algorithm takes positions of a robot that needs it."""
    if not robot.loops or "q" not in [p.name for p in standard]:
        return []
    sought = options.structure(robot).sought
    return [Port(FOLLOWERS, (len(sought),))] if sought else []


def closed(program: Program, robot: Robot, options: Options) -> Program:
    """The program with Newton's method before it; without, if it asks for nothing that follows."""
    read = {a.index for n in program.schedule for a in n.args} | {n.index for g in program.results for n in g}
    at = [p.name for p in program.inputs].index(FOLLOWERS)
    if not any(n.index in read for n in program.leaves[at]):
        inputs = tuple(p for p in program.inputs if p.name != FOLLOWERS)
        return replace(program, inputs=inputs, leaves=program.leaves[:at] + program.leaves[at + 1 :])
    return replace(program, before=loop(robot, options, [p for p in program.inputs if p.name in ("q", "parameters")]))


def loop(robot: Robot, options: Options, shared: Sequence[Port]) -> Before:
    """Newton's method from the robot's reference to the input `q`."""
    structure = options.structure(robot)
    begin = newton.start(Machine(Tree.of(robot), Tree.of(robot), structure))
    carried = [Port(f"newton_{name}", (len(x),)) for name, x in begin._asdict().items()]

    def run(*inputs: list[Any]) -> Sequence[Any]:
        given = dict(zip((p.name for p in shared), inputs[len(carried) :], strict=True))
        tree = Tree.of(options.model(robot, given))
        now, left = newton.turn(Machine(tree, tree, structure), given["q"], newton.State(*inputs[: len(carried)]))
        return [*now, [left]]

    outputs = [*(Port(f"next_{p.name}", p.shape) for p in carried), Port("left", ())]
    body = trace("newton", run, [*carried, *shared], outputs)
    return Before(body, tuple(tuple(x) for x in begin), ((0, FOLLOWERS),), newton.MOST)
