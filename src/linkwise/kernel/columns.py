"""Matrices of very large robots, column by column.

The derivatives of a chain of a thousand joints have millions of entries, too many to write down an expression for each.
But a derivative along *one* direction is the algorithm run on scalars that carry a rate: a program that grows with the
number of joints, not with its square. Its rows are the columns of the matrix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.algorithms.algorithm import INPUTS, Algorithm, Cheapest, Derivation, World
from linkwise.algorithms.derivative_of import derivative
from linkwise.algorithms.derivatives import forward_dynamics_derivatives
from linkwise.algorithms.forward_dynamics import forward_dynamics
from linkwise.algorithms.integration import q_dot
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.backend import arrays, native
from linkwise.backend.call import caller
from linkwise.errors import InputError
from linkwise.graph.program import Port, Program, trace
from linkwise.jet import Jet
from linkwise.kernel.derived import evaluate
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options
from linkwise.kernel.robot_tracing import ports, settled, surrounded
from linkwise.mechanism.series import derivatives
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree

if TYPE_CHECKING:
    from linkwise.kernel.packed import Packed


def columns_of(
    robot: Robot, algorithm: Algorithm, options: Options, static: dict[str, Any], of: Derivation
) -> Kernel | None:
    """The kernel of an algorithm whose outputs are derivatives; None where they cannot be had column by column."""
    if algorithm is forward_dynamics_derivatives:
        return ForwardColumns.of(robot, algorithm, options, static)
    if all(len(INPUTS.get(x, ())) == 1 for _, x in of.pairs):
        return Columns.of(robot, algorithm, options, static)
    return None


class Columns(Kernel):
    """A kernel whose outputs are derivatives, computed column by column; `parts` are the programs, by input.

    It is called like any other. Its count is that of all columns together.
    """

    parts: dict[str, Program]

    @classmethod
    def of(cls, robot: Robot, algorithm: Algorithm, options: Options, static: dict[str, Any]) -> Kernel:
        """The kernel; its programs are traced and compiled when it is first called."""
        arguments = algorithm.arguments(robot, static)
        standard, extra, outputs = ports(robot, algorithm, options, arguments)
        signature = Program(algorithm.name, (*standard, *extra), tuple(outputs), (), (), dtype=options.dtype)
        kernel = cls(caller(signature, algorithm.doc, 1, lambda: kernel._function()))
        kernel.robot, kernel.algorithm, kernel.options, kernel.static = robot, algorithm, options, static
        kernel.program, kernel.parts = signature, {}
        kernel.__doc__ = algorithm.doc
        return kernel

    @property
    def derivation(self) -> Derivation:
        """Which derivatives the outputs are."""
        return _derivation(self.robot, self.algorithm)

    def _function(self) -> Callable[..., Any]:
        pairs = self.derivation.pairs
        jobs = []
        for x in dict.fromkeys(x for _, x in pairs):
            program = self._part(x)
            function = native.function(program, self.algorithm.doc, self.options.threads)
            wanted = [k for k, (_, by) in enumerate(pairs) if by == x]
            jobs.append((function, np.eye(program.inputs[-1].size, dtype=program.dtype), wanted))

        def call(*inputs: Any, out: Any = None) -> Any:
            given, batch, results = _arguments(self.program, inputs, out)
            for row in np.ndindex(batch):  # one at a time, so that Ctrl-C is heard
                lead = [a[row] for a in given]
                for function, directions, wanted in jobs:
                    views = tuple(np.moveaxis(results[k][row], -1, 0) for k in wanted)
                    function(*lead, directions, out=views)
            return results[0] if len(results) == 1 else tuple(results)

        return call

    def _part(self, x: str) -> Program:
        if x not in self.parts:
            self.parts[x] = _column(self.robot, self.algorithm, self.options, self.static, x)
        return self.parts[x]

    def count(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for x in dict.fromkeys(x for _, x in self.derivation.pairs):
            program = self._part(x)
            total.update({op: k * program.inputs[-1].size for op, k in program.count().items()})
        return total

    @property
    def packed(self) -> Packed:
        raise self._in_parts("packed outputs")

    def _whole(self, what: str) -> Program:
        raise self._in_parts(what)

    def _in_parts(self, what: str) -> InputError:
        return InputError(
            f"{what} of {self._title()}: expected a smaller robot, got one with {self.robot.nv} degrees of freedom,"
            " whose matrices are computed column by column. Hold joints with robot.lock(names)."
        )

    def __reduce__(self) -> Any:
        return type(self).of, (self.robot, self.algorithm, self.options, self.static)


# M^-1 depends on positions alone: what unit forces cause at rest
INVERSE = Algorithm(
    "inverse_mass_matrix",
    forward_dynamics.function,
    ("q",),
    {"Minv": ("nv", "nv")},
    frozenset(),
    True,
    {},
    "Minv, the inverse of the mass matrix.",
    columns=Derivation(forward_dynamics, (("qdd", "tau"),)),
)


class ForwardColumns(Columns):
    """Derivatives of forward dynamics from those of inverse dynamics: dqdd_dq = -M^-1 dtau_dq, and so on."""

    @cached_property
    def _kernels(self) -> list[Kernel]:
        force = Kernel.of(self.robot, inverse_dynamics, self.options, {})
        wanted = (derivative(inverse_dynamics, "q", "qd"), INVERSE)
        return [force, *(Columns.of(self.robot, a, self.options, {}) for a in wanted)]

    def _function(self) -> Callable[..., Any]:
        force, disturbed, inverse = self._kernels

        def call(*inputs: Any, out: Any = None) -> Any:
            given, batch, results = _arguments(self.program, inputs, out)
            for row in np.ndindex(batch):
                named = {port.name: a[row] for port, a in zip(self.program.arguments, given, strict=True)}
                q, qd, tau, *extra = named.values()
                Minv = inverse(**{name: named[name] for name in inverse.inputs})
                qdd = Minv @ (tau - force(q, qd, np.zeros_like(qd), *extra))
                d = disturbed(q, qd, qdd, *extra)
                for result, value in zip(results, (-(Minv @ d.dtau_dq), -(Minv @ d.dtau_dqd), Minv), strict=True):
                    result[row] = value
            return tuple(results)

        return call

    def count(self) -> Counter[str]:
        products = 2 * self.robot.nv**3
        return sum((k.count() for k in self._kernels), Counter({"mul": products, "add": products}))


def _column(robot: Robot, algorithm: Algorithm, options: Options, static: dict[str, Any], x: str) -> Program:
    """The program of one column: the rates of an algorithm's outputs while its input `x` changes along `direction`."""
    standard, extra, outputs = ports(robot, algorithm, options, algorithm.arguments(robot, static))
    derivation = _derivation(robot, algorithm)
    base = derivation.base
    wanted = [(o, port) for (o, by), port in zip(derivation.pairs, outputs, strict=True) if by == x]
    width = wanted[0][1].shape[-1]
    widths = {p.name: p.size for p in ports(robot, base, options, base.arguments(robot, {}))[0]}
    routes = settled(robot, base.arguments(robot, static if derivation.asked else {}))
    own = {k: v[0] if isinstance(v, Cheapest) else v for k, v in routes.items()}

    def run(*inputs: list[Any]) -> Sequence[Any]:
        *values, direction = inputs
        named: dict[str, list[Any]] = {name: [0.0] * size for name, size in widths.items()}
        named |= {p.name: v for p, v in zip(standard, values, strict=False)}
        given = dict(zip((p.name for p in extra), values[len(standard) :], strict=True))
        rates = direction
        if INPUTS[x] == INPUTS["q"]:
            (rates,) = q_dot.function(Tree.of(robot), named[x], direction)
        named[x] = [Jet(pair) for pair in zip(named[x], rates, strict=True)]
        tree, surroundings = surrounded(robot, algorithm, options, named, given)
        if base.uses and not surroundings:  # what the algorithm leaves out does not change its outputs
            surroundings = {"world": World(tree.gravity)}
        results = evaluate(base, tree, named | given, surroundings, own)
        flat = dict(zip(base.signature(own)[1], derivatives(results, 1), strict=True))
        return [flat[o] for o, _ in wanted]

    shapes = [Port(port.name, port.shape[:-1]) for _, port in wanted]
    inputs = [*standard, *extra, Port("direction", (width,))]
    return trace(f"{algorithm.name}_by_{x}", run, inputs, shapes, dtype=options.dtype)


def _derivation(robot: Robot, algorithm: Algorithm) -> Derivation:
    """Which derivatives the outputs are, without those of cuts where there are no loops."""
    assert algorithm.columns is not None
    shapes = algorithm.outputs.values()
    pairs = [p for p, s in zip(algorithm.columns.pairs, shapes, strict=True) if robot.loops or "nc" not in s]
    return replace(algorithm.columns, pairs=tuple(pairs))


def _arguments(signature: Program, inputs: Sequence[Any], out: Any) -> tuple[list[Any], tuple[int, ...], list[Any]]:
    """Inputs broadcast to the batch, the batch, and the arrays to fill, by the rules of a ufunc."""
    given = [arrays.checked(port, x, signature.dtype) for port, x in zip(signature.arguments, inputs, strict=True)]
    cores = [(a, a.ndim - p.rank) for a, p in zip(given, signature.arguments, strict=True)]
    batch = np.broadcast_shapes(*(a.shape[:k] for a, k in cores))
    results = arrays.targets(signature, batch, out)
    if out is not None:  # an output may be one of the inputs
        cores = [(a.copy() if any(np.may_share_memory(a, r) for r in results) else a, k) for a, k in cores]
    return [np.broadcast_to(a, (*batch, *a.shape[k:])) for a, k in cores], batch, results
