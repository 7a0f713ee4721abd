"""Arguments of a rollout as arrays: how many rows and steps there are, and where states are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.check import whole
from linkwise.errors import InputError, LinkwiseError
from linkwise.kernel.tracing import Port, Program, empty, explanation
from linkwise.simulation.plant import GUESS, TIME

Array = NDArray[np.float64]
Pair = tuple[Array, Array]


class Batch:
    """Checked inputs of a rollout.

    The time is given at the start alone; each step has it from there.

    Args:
        program: of the rollout.
        ports: its `given_ports`.
        inputs: in the order of the program's, or by name.
        named: the rest of them.
        steps: how many, if not as many as the inputs have.
    """

    def __init__(
        self, program: Program, ports: list[Port], inputs: tuple[Any, ...], named: dict[str, Any], steps: Any
    ) -> None:
        self._program, self._ports = program, ports
        if steps is not None:
            whole(steps, "rollout steps", 0, expected="a whole number of at least 0, or None")
        given = self._ordered(inputs, named)
        arrays: list[Any] = []
        for k in range(len(given)):
            arrays.append(self._array(given, k, arrays, steps is not None))
        counts = {p.name: a.shape[-p.rank] for p, a in zip(ports, arrays, strict=True) if p.steps}
        if steps is not None:
            counts["steps"] = int(steps)
        self.steps = counts.get("steps", next((x for x in counts.values() if x != 1), 1))
        if any(x not in (1, self.steps) for x in counts.values()):
            got = ", ".join(f"{n} {x}" for n, x in counts.items())
            raise InputError(f"rollout: expected one number of steps, or inputs with 1 for all of them, got {got}.")
        leading = {a.shape[: a.ndim - p.rank] for p, a in zip(ports, arrays, strict=True)}
        try:
            self.shape = np.broadcast_shapes(*leading) if len(leading) > 1 else leading.pop()
        except ValueError as error:
            raise self._refusal(error, arrays) from None
        self.rows = max(1, prod(self.shape))
        self.arrays = [self._for_each(p, a) if p.steps else a for p, a in zip(ports, arrays, strict=True)]

    def _ordered(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        if len(inputs) == len(self._ports) and not named:
            return list(inputs)
        names = [p.name for p in self._ports]
        rest = names[len(inputs) :]
        if rest and rest[-1] == TIME:
            named = {TIME: 0.0, **named}
        if len(inputs) > len(names) or set(named) != set(rest):
            got = [*names[: len(inputs)], *(f"one more than {len(names)}" for _ in inputs[len(names) :]), *named]
            raise InputError(f"rollout: expected the inputs {', '.join(names)}, got {', '.join(got)}.")
        return [*inputs, *(named[n] for n in rest)]

    def _array(self, given: Sequence[Any], k: int, before: list[Any], constant: bool) -> Any:
        """One input; where steps are given otherwise, one of each step may be the same for all, or None for zeros."""
        port, x = self._ports[k], given[k]
        if x is None and constant and port.steps:
            return np.zeros((1, *port.shape))
        try:
            array = np.asarray(x)
            sound = array.dtype.kind in "biuf" and not isinstance(x, np.ma.MaskedArray)
        except (TypeError, ValueError):
            sound = False
        if sound and constant and port.steps and array.shape == port.shape:
            array = array[None]
        if not sound or not port.fits(array.shape):
            raise self._refusal(ValueError(f"{port.name} does not fit"), [*before, *given[k:]])
        return array

    def _refusal(self, error: Exception, given: Sequence[Any]) -> LinkwiseError:
        """What was wrong with the arguments."""
        return explanation(replace(self._program, inputs=tuple(self._ports), before=None), error, given, None)

    def _for_each(self, port: Port, array: Any) -> Any:
        """An input with a row for each step; one row is repeated without being copied."""
        axis = array.ndim - port.rank
        if array.shape[axis] == self.steps:
            return array
        row = array.astype(self._program.dtype, copy=False)
        return np.broadcast_to(row, (*array.shape[:axis], self.steps, *port.shape))

    def part(self, first: int, count: int) -> list[Any]:
        """The inputs of some steps."""
        found = []
        for port, array in zip(self._ports, self.arrays, strict=True):
            own = (slice(None),) * len(port.shape)
            found.append(array[(..., slice(first, first + count), *own)] if port.steps else array)
            if port.name == TIME:
                since = np.multiply.outer(self.arrays[3], np.arange(first, first + count))
                found[-1] = np.asarray(array[..., None] + since, dtype=self._program.dtype)
        return found

    @property
    def start(self) -> Any:
        """The times at which rows start, s; 0 where they have none."""
        return next((x for port, x in zip(self._ports, self.arrays, strict=True) if port.name == TIME), 0.0)

    def no_guess(self) -> list[Array]:
        """Where Newton's method is to begin, where there is such an input: not known yet."""
        further = self._program.arguments[len(self._ports) :]
        return [np.full((*self.shape, *p.shape), np.nan, self._program.dtype) for p in further]

    def room(self, rows: tuple[int, ...], out: Any = None) -> Pair:
        """Arrays for states, so many in a row; what does not fit into memory is refused at once."""
        outputs, dtype = self._program.outputs[:2], self._program.dtype
        shapes = [(*self.shape, *rows, *p.shape) for p in outputs]
        if out is None:
            try:
                return empty(shapes[0], dtype), empty(shapes[1], dtype)
            except ValueError as error:
                raise InputError(f"rollout: expected steps that fit into memory, got {self.steps:.3g}.") from error
        fits = isinstance(out, (tuple, list)) and len(out) == 2
        if not fits or not all(_is_room(x, shape, dtype) for x, shape in zip(out, shapes, strict=True)):
            raise InputError(
                f"rollout out: expected two writable {dtype} arrays of shapes {shapes[0]} and {shapes[1]}."
            )
        return out[0], out[1]


def given_ports(program: Program) -> list[Port]:
    """What a call of a rollout is given; of the time the start alone, and no guess, which comes last."""
    return [replace(p, steps=p.steps and p.name != TIME) for p in program.arguments if p.name != GUESS]


def checked_every(keep: Any, every: Any, steps: int) -> int:
    """How many steps lie between two states that are kept."""
    if keep not in ("all", "end"):
        raise InputError(f"rollout keep: expected 'all' or 'end', got {keep!r}.")
    whole(every, "rollout every", 1)
    if keep == "end" and every != 1:
        raise InputError(f"rollout every: expected 1 beside keep='end', got {every}.")
    if steps % every:
        raise InputError(f"rollout every: expected a divisor of the {steps} steps, got {every}.")
    return max(1, steps) if keep == "end" else int(every)


def _is_room(x: Any, shape: tuple[int, ...], dtype: str) -> bool:
    return isinstance(x, np.ndarray) and x.shape == shape and x.dtype == dtype and x.flags.writeable
