"""An algorithm traced for one robot: its inputs and outputs, the machine that it asks, the cheapest of its routes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any

from linkwise.algorithms.algorithm import INPUTS, MOTION, Algorithm, Cheapest, widths_of
from linkwise.errors import InputError, LinkwiseError
from linkwise.graph.program import Port, Program, trace
from linkwise.kernel.derived import evaluate
from linkwise.kernel.options import Options
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree

if TYPE_CHECKING:
    from linkwise.mechanism.machine import AnyMachine

DIVISION = 4  # an addition's worth of a division, when routes are compared


def trace_kernel(robot: Robot, algorithm: Algorithm, options: Options, static: dict[str, Any]) -> Program:
    """The program of an algorithm for one robot, by the cheapest of its routes."""
    arguments = settled(robot, algorithm.arguments(robot, static))
    return cheapest(arguments, lambda choice: _trace(robot, algorithm, options, choice))


def settled(robot: Robot, arguments: dict[str, Any]) -> dict[str, Any]:
    """The static arguments, with choices made that are plain from the robot's shape: a long chain needs no trial."""
    depths, deep = robot_depths(robot), {}
    if sum(d * (d + 30) for d in depths) > 1600 * len(depths):  # what a dense route takes, four times the other one
        deep = {key: x.deepest for key, x in arguments.items() if isinstance(x, Cheapest) and x.deep}
    return {**arguments, **deep}


def robot_depths(robot: Robot) -> list[int]:
    """For each degree of freedom of the joints, how many there are from the base up to it."""
    depth = {robot.root.name: 0}
    found: list[int] = []
    for j in robot.joints:  # parents come first
        depth[j.child] = depth[j.parent] + j.freedom.nv
        found.extend(range(depth[j.parent] + 1, depth[j.child] + 1))
    return found


def cheapest(arguments: dict[str, Any], traced: Callable[[dict[str, Any]], Program]) -> Program:
    """The program with the fewest operations, over all combinations of the open choices in `arguments`.

    Where none can be had, the first one's refusal is raised: the most general route is to come first.
    """
    programs, refusals = [], []
    ranked = min((choice.ranked for choice in arguments.values() if isinstance(choice, Cheapest)), default=inf)
    for route in _routes(arguments):
        try:
            programs.append(traced(route))
        except LinkwiseError as error:
            refusals.append(error)
        if programs and cost(programs[0].count()) > ranked:
            break
    if not programs:
        raise refusals[0]
    return min(programs, key=lambda program: cost(program.count()))


def ports(
    robot: Robot, algorithm: Algorithm, options: Options, arguments: dict[str, Any]
) -> tuple[list[Port], list[Port], list[Port]]:
    """The standard inputs of a kernel, those that options add, and its outputs."""
    widths = widths_of(robot, arguments)
    names, shapes = algorithm.signature(arguments)
    standard = [Port(name, _shape(INPUTS[name], widths)) for name in names]
    extra = options.ports(robot, algorithm, algorithm.order(arguments))
    added = {p.name: p.shape for p in extra}
    kept = {name: shape for name, shape in shapes.items() if robot.loops or "nc" not in shape}
    return standard, extra, [Port(name, _shape(shape, widths, added)) for name, shape in kept.items()]


def _trace(robot: Robot, algorithm: Algorithm, options: Options, arguments: dict[str, Any]) -> Program:
    keep = arguments.pop("keep", ())
    standard, extra, outputs = ports(robot, algorithm, options, arguments)

    closure = _closure() if robot.follows else None  # trees need nothing of it
    hidden = closure.port(robot, options, standard) if closure else []
    kept = {p.name for p in outputs}

    def run(*inputs: list[Any]) -> Sequence[Any]:
        named = {p.name: x for p, x in zip(standard, inputs, strict=False)}
        given = dict(zip((p.name for p in (*extra, *hidden)), inputs[len(standard) :], strict=True))
        found = given.pop(hidden[0].name) if hidden else None
        machine, surroundings = surrounded(
            robot, algorithm, options, named, given, algorithm.order(arguments), keep, found
        )
        values = evaluate(algorithm, machine, named | given, surroundings, arguments)
        names = algorithm.signature(arguments)[1]
        return [x for name, x in zip(names, values, strict=True) if name in kept]

    program = trace(algorithm.name, run, [*standard, *extra, *hidden], outputs, dtype=options.dtype)
    return closure.closed(program, robot, options) if closure and hidden else program


def surrounded(
    robot: Robot,
    algorithm: Algorithm,
    options: Options,
    named: dict[str, list[Any]],
    given: dict[str, list[Any]],
    order: int = 0,
    keep: Sequence[str] = (),
    followers: Sequence[Any] | None = None,
) -> tuple[AnyMachine, dict[str, Any]]:
    """The machine that an algorithm asks, and its `world` if it uses one, from standard and further inputs.

    `followers` are positions that Newton's method found.
    """
    model, state = options.model(robot, given), None
    tree = Tree.of(model, keep)
    if "external" in algorithm.uses:
        tree = options.tree(tree)
        state = _state(machine_on(robot, tree, model, followers, options), algorithm, options, named, order)
    if algorithm.torques_only:
        tree = regrouped(aligned(tree))
    machine = machine_on(robot, tree, model, followers, options)
    return machine, {"world": options.world(tree, given, state, order)} if algorithm.uses else {}


def _closure() -> Any:
    from linkwise.kernel import closure

    return closure


def machine_on(robot: Robot, tree: Tree, model: Robot, followers: Sequence[Any] | None, options: Options) -> AnyMachine:
    """The machine of a robot on one of its trees, in numbers of the model."""
    if not robot.follows:
        return tree
    from linkwise.mechanism.machine import Machine  # trees need nothing of it

    structure = options.structure(robot).with_numbers_of(model)
    return Machine(tree, Tree.of(model), structure, None if followers is None else tuple(followers))


def _state(
    machine: AnyMachine, algorithm: Algorithm, options: Options, named: dict[str, list[Any]], order: int
) -> tuple[list[Any], list[Any]] | None:
    """The inputs q and qd with as many rates as asked, where laws of the environment need them."""
    if not options.forces:
        return None
    needed = MOTION[: order + 2]
    if not named.keys() >= set(needed):
        raise InputError(
            f"{algorithm.name}: forces depend on {', '.join(needed)}, but its inputs are {', '.join(named)}."
            " Compile it without forces."
        )
    from linkwise.mechanism.series import along_motion

    motion = [named[name] for name in needed]
    q, qd = along_motion(machine, motion, order)
    _, q, qd = machine.complete(q, qd)
    return q, qd


def _routes(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The static arguments, once for each combination of open choices."""
    choices = [value if isinstance(value, Cheapest) else (value,) for value in arguments.values()]
    for values in product(*choices):
        yield dict(zip(arguments, values, strict=True))


def cost(count: Mapping[str, int]) -> int:
    """What routes are compared by: multiplications, additions, and divisions for some of them."""
    return count.get("mul", 0) + count.get("add", 0) + DIVISION * count.get("div", 0)


def _shape(
    shape: Iterable[str | int], widths: dict[str, int], added: Mapping[str, tuple[int, ...]] | None = None
) -> tuple[int, ...]:
    """A shape in numbers; the name of an input that options added stands for all its axes."""
    found: list[int] = []
    for axis in shape:
        if isinstance(axis, str):
            found.extend((added or {}).get(axis, (widths.get(axis, 0),)))
        else:
            found.append(axis)
    return tuple(found)
