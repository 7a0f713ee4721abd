"""Closure of loops inside a kernel: Newton's method as a loop before the program, where there is no closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.graph.program import Before, Port, Program, trace
from linkwise.kernel.options import Options
from linkwise.mechanism import newton
from linkwise.mechanism.machine import Machine
from linkwise.mechanism.structure import structure_of
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree

FOLLOWERS = "followers"
POSITIONS = ("q", "q_load")  # of what leads, with motors behind springs or without
SHARED = (*POSITIONS, "parameters")
KEPT = 16  # guesses for which a function has been made


def port(robot: Robot, options: Options, standard: Sequence[Port]) -> list[Port]:
    """The hidden input of what Newton's method finds, where an algorithm takes positions of a robot that needs it."""
    if not any(p.name in POSITIONS for p in standard):
        return []
    sought = options.structure(robot).sought
    return [Port(FOLLOWERS, (len(sought),))] if sought else []


def closed(program: Program, robot: Robot, options: Options, guess: str = "") -> Program:
    """The program with Newton's method before it; without, if it asks for nothing that follows.

    It begins at the input named by `guess`, and where that fails or is NaN, or without one, at the reference.
    """
    read = {a.index for n in program.schedule for a in n.args} | {n.index for g in program.results for n in g}
    at = [p.name for p in program.inputs].index(FOLLOWERS)
    if not any(n.index in read for n in program.leaves[at]):
        inputs = tuple(p for p in program.inputs if p.name != FOLLOWERS)
        return replace(program, inputs=inputs, leaves=program.leaves[:at] + program.leaves[at + 1 :])
    return replace(program, before=loop(robot, options, [p for p in program.inputs if p.name in SHARED], guess))


def guided(call: Callable[..., Any], robot: Robot, other: Callable[[Robot], Callable[..., Any]]) -> Callable[..., Any]:
    """A function of a robot with loops that also takes `guess`: positions of all joints, which choose the mode."""
    known: dict[Any, Callable[..., Any]] = {}

    def guess_or_reference(*inputs: Any, guess: Any = None, **options: Any) -> Any:
        if guess is None:
            return call(*inputs, **options)
        moved = robot.replace(reference=reference_of(robot, guess))
        if moved.reference not in known:
            if len(known) == KEPT:
                known.clear()
            known[moved.reference] = other(moved)
        return known[moved.reference](*inputs, **options)

    guess_or_reference.__name__ = guess_or_reference.__qualname__ = call.__name__
    guess_or_reference.__doc__ = call.__doc__
    return guess_or_reference


def reference_of(robot: Robot, guess: Any) -> dict[str, tuple[float, ...]]:
    """Positions of all joints by name, from a vector of them or a mapping of some; others are where they close."""
    opened = robot.opened()
    if isinstance(guess, Mapping):
        whole, given = structure_of(robot).reference.copy(), opened.q(guess)
        for slot in (opened.slots[n] for n in guess):
            whole[slot.q : slot.q + slot.nq] = given[slot.q : slot.q + slot.nq]
    else:
        try:
            whole = np.asarray(guess, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"guess: expected positions of all joints, got {guess!r}.") from None
        if whole.shape != (opened.nq,):
            raise InputError(
                f"guess: expected positions of all joints, shape ({opened.nq},), one for all rows, got {whole.shape}."
                f" They are {', '.join(opened.coordinates)}."
            )
    if not np.isfinite(whole).all():
        raise InputError(f"guess: expected finite positions, got {whole.tolist()}.")
    slots = {j.name: opened.slots[j.name] for j in robot.joints if j.nv}
    return {n: tuple(whole[s.q : s.q + s.nq].tolist()) for n, s in slots.items()}


def loop(robot: Robot, options: Options, shared: Sequence[Port], guess: str = "") -> Before:
    """Newton's method from the robot's reference, or a guess, to the input `q`, or `q_load`."""
    lead = next(p.name for p in shared if p.name in POSITIONS)
    robot = robot if lead == "q" else robot.rigid()
    structure = options.structure(robot)
    begin = newton.start(Machine(Tree.of(robot), Tree.of(robot), structure))
    carried = [Port(f"newton_{name}", (len(x),)) for name, x in begin._asdict().items()]

    def run(*inputs: list[Any]) -> Sequence[Any]:
        given = dict(zip((p.name for p in shared), inputs[len(carried) :], strict=True))
        model = options.model(robot, given)
        machine = Machine(Tree.of(model), Tree.of(model), structure.with_numbers_of(model))
        now, left = newton.turn(machine, given[lead], newton.State(*inputs[: len(carried)]))
        return [*now, [left]]

    outputs = [*(Port(f"next_{p.name}", p.shape) for p in carried), Port("left", ())]
    body = trace("newton", run, [*carried, *shared], outputs, dtype=options.dtype)
    y, y0, v0, place = (tuple(x) for x in begin)
    start = (guess, guess, v0, newton.NEARBY) if guess else (y, y0, v0, place)
    step = partial(_step, robot, options, tuple(shared))
    return Before(body, start, ((0, FOLLOWERS),), newton.MOST, step)


def _step(robot: Robot, options: Options, shared: Sequence[Port]) -> Program:
    """One more step of Newton's method from what was found."""
    lead = next(p.name for p in shared if p.name in POSITIONS)
    structure = options.structure(robot)
    sought = Port(FOLLOWERS, (len(structure.sought),))

    def run(found: list[Any], *inputs: list[Any]) -> Sequence[Any]:
        given = dict(zip((p.name for p in shared), inputs, strict=True))
        model = options.model(robot, given)
        machine = Machine(Tree.of(model), Tree.of(model), structure.with_numbers_of(model))
        return [newton.corrected(machine, given[lead], found)]

    return trace("newton_step", run, [sought, *shared], [sought], dtype=options.dtype)
