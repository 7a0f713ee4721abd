"""Packed outputs: what a kernel computes without the zeros that its matrices always have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.backend.arrays import refuse_masks
from linkwise.backend.call import result_of
from linkwise.errors import InputError
from linkwise.graph.node import Node, is_zero
from linkwise.graph.program import Port, Program
from linkwise.kernel.kernel import Compiled

Whole = NDArray[np.intp]


class Places(NamedTuple):
    """The entries of one output that are not always zero: each has the packed value of that number.

    Args:
        values: (entries,), which of the packed values; two entries that are always equal share one.
        entries: for each axis of the output (entries,): of a matrix rows and columns.
    """

    values: Whole
    entries: tuple[Whole, ...]


class Packed(Compiled):
    """A kernel with one output: the entries of all outputs of another one that are not always zero, each once.

    A zero that the structure of the robot makes is left out, such as the torque of one leg by the position of another.
    Entries that are one expression are one value, such as both triangles of a mass matrix. A number that never changes
    but is not zero is kept.

    Attributes:
        dense: the kernel whose outputs these are.
        places: by output, where the values belong.
    """

    dense: Compiled
    places: dict[str, Places]

    @classmethod
    def of(cls, dense: Compiled) -> Packed:
        """The packed form of a kernel, not yet compiled."""
        program, places = _packed(dense.program)

        def again(other: Compiled) -> Packed:
            return other.packed._with_places(places)

        kernel = cls(dense._calling(program, again))
        kernel.dense, kernel.program, kernel.places = dense, program, places
        kernel.robot = dense.robot
        kernel.__doc__ = dense.__doc__
        return kernel

    def unpack(self, values: Any) -> Any:
        """What the dense kernel would give: from values (..., size) its outputs, as it names them."""
        (port,) = self.program.outputs
        what = f"unpack: expected values of shape (..., {port.size}), as {self._title()} gives them"
        try:
            refuse_masks((values,))
            given = np.asarray(values)
        except ValueError:
            raise InputError(f"{what}, got masked numbers or rows of different lengths.") from None
        if given.dtype.kind != "f" or not port.fits(given.shape):
            raise InputError(f"{what}, got {given.dtype} of shape {given.shape}.")
        found = []
        for output in self.dense.program.outputs:
            at = self.places[output.name]
            flat: Any = given[..., at.values]
            dense: Any = np.zeros((*given.shape[:-1], *output.shape), given.dtype)
            dense[(..., *at.entries)] = flat if output.shape else flat.sum(axis=-1)  # of one, or of none
            found.append(dense)
        return found[0] if len(found) == 1 else result_of(self.dense.program)._make(found)

    def _with_places(self, places: dict[str, Places]) -> Packed:
        """This one, if its values have these places."""
        pairs = zip(_arrays(places), _arrays(self.places), strict=True)
        if not all(np.array_equal(a, b) for a, b in pairs):
            raise InputError(
                f"guess: expected an assembly mode with the same zeros as the reference's, which {self._title()} does"
                " not have there. Give the robot that reference, robot.replace(reference=...), and compile it."
            )
        return self

    def _calling(self, program: Program, again: Callable[[Compiled], Compiled]) -> Callable[..., Any]:
        return self.dense._calling(program, lambda other: again(other.packed))

    def _title(self) -> str:
        return f"{self.dense._title()}, packed"

    def __reduce__(self) -> Any:
        return getattr, (self.dense, "packed")


def _packed(program: Program) -> tuple[Program, dict[str, Places]]:
    """The program of the values, and where they belong."""
    if program.repeated:
        raise InputError(f"packed: expected a function of one state, got {program.name}, which runs in steps.")
    number: dict[int, int] = {}  # of each value, by its node
    nodes: list[Node] = []
    places = {}
    for port, group in zip(program.outputs, program.results, strict=True):
        at = [k for k, n in enumerate(group) if not is_zero(n)]
        for k in at:
            if group[k].index not in number:
                number[group[k].index] = len(nodes)
                nodes.append(group[k])
        entries = np.unravel_index(_fixed(at), port.shape) if port.shape else ()
        places[port.name] = Places(_fixed([number[group[k].index] for k in at]), tuple(map(_fixed, entries)))
    name, outputs, results = f"{program.name}_packed", (Port("values", (len(nodes),)),), (tuple(nodes),)
    made = Program(name, program.inputs, outputs, program.leaves, results, before=program.before, dtype=program.dtype)
    return made, places


def _arrays(places: dict[str, Places]) -> list[Whole]:
    return [x for at in places.values() for x in (at.values, *at.entries)]


def _fixed(numbers: Any) -> Whole:
    found = np.array(numbers, dtype=np.intp)
    found.flags.writeable = False
    return found
