"""An algorithm for one robot: traced here, compiled when it is first called."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.algorithm import INPUTS, Algorithm, Cheapest, sizes
from linkwise.backend.call import caller
from linkwise.errors import InputError, LinkwiseError
from linkwise.graph.program import Port, Program, trace
from linkwise.options import Options
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree

DIVISION = 4  # an addition's worth of a division, when routes are compared


def trace_kernel(robot: Robot, algorithm: Algorithm, options: Options, static: dict[str, Any]) -> Program:
    """The program of an algorithm for one robot, by the cheapest of its routes."""
    return cheapest(algorithm.arguments(robot, static), lambda arguments: _trace(robot, algorithm, options, arguments))


def cheapest(arguments: dict[str, Any], traced: Callable[[dict[str, Any]], Program]) -> Program:
    """The program with the fewest operations, over all combinations of the open choices in `arguments`.

    Where none can be had, the first one's refusal is raised: the most general route is to come first.
    """
    programs, refusals = [], []
    for route in _routes(arguments):
        try:
            programs.append(traced(route))
        except LinkwiseError as error:
            refusals.append(error)
    if not programs:
        raise refusals[0]
    return min(programs, key=_cost)


def _trace(robot: Robot, algorithm: Algorithm, options: Options, arguments: dict[str, Any]) -> Program:
    keep = arguments.pop("keep", ())
    widths = sizes(robot)
    standard = [Port(name, _shape(INPUTS[name], widths)) for name in algorithm.inputs]
    extra = options.ports(robot, algorithm)
    outputs = [Port(name, _shape(shape, widths)) for name, shape in algorithm.outputs.items()]

    def run(*inputs: list[Any]) -> Sequence[Any]:
        given = dict(zip((p.name for p in extra), inputs[len(standard) :], strict=True))
        tree, state = Tree.of(options.model(robot, given), keep), None
        if "external" in algorithm.uses:
            tree, state = options.tree(tree), _state(algorithm, options, inputs)
        if algorithm.torques_only:
            tree = regrouped(aligned(tree))
        surroundings = {"world": options.world(tree, given, state)} if algorithm.uses else {}
        return algorithm.function(tree, *inputs[: len(standard)], **surroundings, **arguments)

    return trace(algorithm.name, run, [*standard, *extra], outputs)


def _state(algorithm: Algorithm, options: Options, inputs: Sequence[list[Any]]) -> tuple[list[Any], list[Any]] | None:
    """The inputs q and qd, where laws of the environment need them."""
    if not options.forces:
        return None
    named = dict(zip(algorithm.inputs, inputs, strict=False))
    if not named.keys() >= {"q", "qd"}:
        raise InputError(
            f"{algorithm.name}: forces depend on q and qd, but its inputs are {', '.join(algorithm.inputs)}."
            " Compile it without forces."
        )
    return named["q"], named["qd"]


def _routes(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The static arguments, once for each combination of open choices."""
    choices = [value if isinstance(value, Cheapest) else (value,) for value in arguments.values()]
    for values in product(*choices):
        yield dict(zip(arguments, values, strict=True))


def _cost(program: Program) -> int:
    count = program.count()
    return count["mul"] + count["add"] + DIVISION * count["div"]


def _shape(shape: Iterable[str | int], widths: dict[str, int]) -> tuple[int, ...]:
    return tuple(widths[s] if isinstance(s, str) else s for s in shape)


class Kernel(functools.partial):  # type: ignore[type-arg]
    """An algorithm compiled for one robot: call it with arrays whose leading axes broadcast.

    Nothing is compiled before the first call. A subclass of `partial` because that is the cheapest object with methods
    that Python can call.
    """

    robot: Robot
    algorithm: Algorithm
    program: Program

    options: Options
    static: dict[str, Any]

    @classmethod
    def of(cls, robot: Robot, algorithm: Algorithm, options: Options, static: dict[str, Any]) -> Kernel:
        """The kernel of an algorithm for one robot, traced but not yet compiled."""
        program = trace_kernel(robot, algorithm, options, static)
        kernel = cls(caller(program, algorithm.doc, options.threads))
        kernel.robot, kernel.algorithm, kernel.program = robot, algorithm, program
        kernel.options, kernel.static = options, static
        kernel.__doc__ = algorithm.doc
        return kernel

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the arguments, batch axes left out."""
        return {p.name: p.shape for p in self.program.inputs}

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the results, batch axes left out."""
        return {p.name: p.shape for p in self.program.outputs}

    @property
    def parameters(self) -> NDArray[np.float64]:
        """The robot's own values of the input `parameters`, in its order."""
        return np.array([x for group in self.options.values(self.robot).values() for x in group], dtype=float)

    def count(self) -> Counter[str]:
        """Operations of one evaluation: mul, add, div, neg, sincos and others."""
        return self.program.count()

    def c_source(self, name: str | None = None) -> str:
        """Dependency-free C99 of this kernel: a function of pointers to double, documented."""
        from linkwise.backend.c import source

        return source(self.program, name, self._title())

    def c_header(self, name: str | None = None) -> str:
        """The header that declares the function of `c_source`."""
        from linkwise.backend.c import header

        return header(self.program, name, self._title())

    def listing(self) -> str:
        """The customised symbolic model, one assignment a line."""
        from linkwise.graph.show import listing

        return listing(self.program, self._title())

    def _title(self) -> str:
        return f"{self.algorithm.name} of the robot {self.robot.name!r}"

    def __repr__(self) -> str:
        def side(ports: Sequence[Port]) -> str:
            return ", ".join(f"{p.name}{p.shape}" for p in ports)

        return f"<Kernel {self._title()}: {side(self.program.inputs)} -> {side(self.program.outputs)}>"

    def __reduce__(self) -> Any:
        return Kernel.of, (self.robot, self.algorithm, self.options, self.static)
