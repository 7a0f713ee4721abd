"""A program with all its derivatives, each made when it is first asked for: what other tools' differentiation needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from linkwise.backend import native
from linkwise.backend.program_cache import recalled
from linkwise.errors import InputError
from linkwise.graph import differential
from linkwise.graph.program import Program


class Differentiable:
    """A program that can be called, pushed forward and pulled back, again and again.

    Args:
        program: of one state.
        tangent_of: the one whose `forward` this is, and by which inputs.
    """

    def __init__(self, program: Program, tangent_of: tuple[Differentiable, tuple[int, ...]] | None = None) -> None:
        self.program, self._tangent_of = program, tangent_of
        self._made: dict[tuple[str, tuple[int, ...]], Differentiable] = {}

    @cached_property
    def names(self) -> list[str]:
        """The names of the inputs."""
        return [p.name for p in self.program.arguments]

    def in_order(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The arguments of a call, each once, in the order of the inputs."""
        if not named and len(inputs) == len(self.names):
            return list(inputs)
        given = dict(zip(self.names, inputs, strict=False)) | dict(named)
        if len(inputs) + len(named) != len(self.names) or given.keys() != set(self.names):
            got = f"{len(inputs)} and {', '.join(named)}" if named else f"{len(inputs)}"
            raise InputError(f"{self.program.name}: expected the arguments {', '.join(self.names)}, got {got}.")
        return [given[name] for name in self.names]

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """The outputs for arrays of numbers, whose leading axes broadcast."""
        found = self._function(*arrays)
        return found if len(self.program.outputs) > 1 else (found,)

    @cached_property
    def _function(self) -> Callable[..., Any]:
        return native.function(self.program, directly=native.is_native(self.program))

    def forward(self, wrt: tuple[int, ...]) -> Differentiable:
        """The changes of the outputs, from all inputs and the changes of some of them."""
        return self._kept("forward", wrt)

    def backward(self, wrt: tuple[int, ...]) -> Differentiable:
        """The gradients by some inputs, from all inputs and weights of the outputs."""
        return self._kept("backward", wrt)

    def transposed(self, wrt: tuple[int, ...]) -> Differentiable:
        """The gradients by inputs in which this one is linear, from all the others and weights of the outputs."""
        if self._tangent_of:
            base, changed = self._tangent_of
            count = len(base.names)
            if wrt == tuple(range(count, count + len(changed))):
                return base.backward(changed)
        return self.backward(wrt)

    def given_to(self, back: Differentiable, inputs: Sequence[Any], weights: Sequence[Any]) -> list[Any]:
        """The arguments of a gradient of this one, from its inputs and the weights of its outputs."""
        known, rest = dict(zip(self.names, inputs, strict=True)), iter(weights)
        return [known[name] if name in known else next(rest) for name in back.names]

    def _kept(self, kind: str, wrt: tuple[int, ...]) -> Differentiable:
        if (kind, wrt) not in self._made:
            make, names = getattr(differential, kind), [self.names[k] for k in wrt]
            facts = repr((self.program.name, self.program.digest, kind, names))
            program, _ = recalled(facts, lambda: (make(self.program, names), None))
            program.keep()  # many are only asked for their ports
            self._made[kind, wrt] = Differentiable(program, (self, wrt) if kind == "forward" else None)
        return self._made[kind, wrt]
