"""Kernels as formulas: what they compute, in SymPy's expressions, LaTeX, or a listing with symbols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from linkwise.backend.formulas import formulas
from linkwise.errors import InputError, UnknownNameError, printable
from linkwise.files import required
from linkwise.graph.program import Port, Program
from linkwise.graph.show import listing
from linkwise.kernel import latex
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.robot_tracing import trace_kernel
from linkwise.kernel.symbols import Number, Symbols

if TYPE_CHECKING:
    from linkwise.robot.robot import Robot

MOST = 50_000  # operations of a program that is written out as expressions


@dataclass(frozen=True, eq=False)
class Symbolic:
    """The formulas of a kernel; `model["M"]` is the one of its output M.

    Args:
        title: what they compute.
        program: the operations, with `numbers` among the inputs.
        numbers: of the model that are symbols.
        labels: of the entries of each input, for symbols and for LaTeX.
        simplify: whether formulas are multiplied out, with sums of angles, and grouped.
        made: the kernel and the arguments of `Kernel.symbolic` that made this.
    """

    title: str
    program: Program
    numbers: tuple[Number, ...]
    labels: dict[str, list[str]]
    simplify: bool
    made: tuple[Any, ...]

    @classmethod
    def of(cls, kernel: Kernel, symbols: Any, names: bool, simplify: bool) -> Symbolic:
        """The formulas of a kernel with these symbols."""
        options = Symbols.of(kernel.robot, kernel.options, symbols, names)
        program = trace_kernel(kernel.robot, kernel.algorithm, options, kernel.static)
        program = _without_unused(program, {n.symbol for n in options.numbers})
        kept = {p.name for p in program.inputs}
        numbers = tuple(n for n in options.numbers if n.symbol in kept)
        labels = {p.name: _labels(kernel.robot, p, names) for p in program.inputs if p.shape}
        return cls(kernel._title(), program, numbers, labels, simplify, (kernel, symbols, names, simplify))

    # ---- symbols

    @cached_property
    def symbols(self) -> dict[str, Any]:
        """The symbols of SymPy by name: of the inputs, such as q_1, then of the model, such as m_1."""
        sympy = required("sympy", "symbolic")
        return {name: sympy.Symbol(name) for group in self._names() for name in group}

    @property
    def arguments(self) -> tuple[Any, ...]:
        """All symbols in order, for `sympy.lambdify(model.arguments, model["M"])`."""
        return tuple(self.symbols.values())

    @property
    def values(self) -> dict[Any, float]:
        """What the robot has for the symbols of the model: `model["M"].subs(model.values)`."""
        return {self.symbols[n.symbol]: n.value for n in self.numbers}

    @property
    def meanings(self) -> dict[str, str]:
        """Which number of the robot each symbol of the model is, such as {"m_1": "upper.mass"}."""
        return {n.symbol: n.meaning for n in self.numbers}

    def _names(self) -> Iterator[list[str]]:
        """The names of the symbols of each input."""
        for p in self.program.inputs:
            yield [f"{p.name}_{latex.plain(x)}" for x in self.labels[p.name]] if p.shape else [p.name]

    # ---- formulas

    @cached_property
    def expressions(self) -> dict[str, Any]:
        """For each output an expression, a column, a matrix, or a tuple of those, of SymPy."""
        if len(self.program.schedule) > MOST:
            raise InputError(
                f"{self.title}: expected at most {MOST:,} operations to write out, got {len(self.program.schedule):,}."
                " Use listing(), which names what is computed once."
            )
        given = [[self.symbols[name] for name in group] for group in self._names()]
        heads = [self.symbols[n.symbol] for n in self.numbers if n.is_mass]
        found = formulas(self.program, given, heads, self.simplify)
        return {p.name: _shaped(p.shape, flat) for p, flat in zip(self.program.outputs, found, strict=True)}

    def __getitem__(self, output: str) -> Any:
        if output not in self.expressions:
            raise UnknownNameError("output", output, self.expressions)
        return self.expressions[output]

    def latex(self) -> str:
        """The formulas in LaTeX, without the signs around them: M(q) = ..."""
        names = {self.symbols[n.symbol]: n.latex for n in self.numbers}
        for p, group in zip(self.program.inputs, self._names(), strict=True):
            if p.shape:
                labels = self.labels[p.name]
                names |= {self.symbols[s]: latex.entry(p.name, x) for s, x in zip(group, labels, strict=True)}
        of = [p.name for p in self.program.inputs if p.name in self.labels or p.name == "dt"]
        return latex.equations(self.expressions, names, of)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def text(self) -> str:
        """The formulas as Python writes them, an entry a line, counted from one; those that are zero are left out."""
        sstr = required("sympy", "symbolic").sstr
        lines = [
            f"{name}{list(place) if place else ''} = {sstr(x, full_prec=False)}"
            for name, value in self.expressions.items()
            for place, x in latex.entries(value)
            if x != 0
        ]
        return "\n".join(lines or [f"{name} = 0" for name in self.expressions]) + "\n"

    def listing(self) -> str:
        """The customised symbolic model, one assignment a line, after what its symbols are."""
        legend = [f"# {n.symbol} = {n.value!r}, {printable(n.meaning)}\n" for n in self.numbers]
        head, _, body = listing(self.program, printable(self.title)).partition("\n\n")
        head = "\n".join(x for x in head.split("\n") if not x.endswith(" ()") or x.split()[-2] not in self.meanings)
        return f"{head}\n#\n{''.join(legend)}\n{body}" if legend else f"{head}\n\n{body}"

    def __repr__(self) -> str:
        ends = ", ".join(f"{p.name}{list(p.shape)}" for p in self.program.outputs)
        return f"<Symbolic {self.title}: {ends} of {', '.join(self.symbols)}>"

    def __reduce__(self) -> Any:
        return Symbolic.of, self.made


def _without_unused(program: Program, names: set[str]) -> Program:
    """The program without those of the named inputs on which nothing depends."""
    used = {a.index for n in program.schedule for a in n.args} | {n.index for g in program.results for n in g}
    both = zip(program.inputs, program.leaves, strict=True)
    kept = [(p, g) for p, g in both if p.name not in names or any(n.index in used for n in g)]
    return replace(program, inputs=tuple(p for p, _ in kept), leaves=tuple(g for _, g in kept))


def _labels(robot: Robot, port: Port, names: bool) -> list[str]:
    """What the entries of an input are called: their numbers, or the names of coordinates."""
    from linkwise.algorithms.algorithm import INPUTS
    from linkwise.robot.coordinates import drive_slots

    if names and (axes := INPUTS.get(port.name)) in (("nq",), ("nv",), ("nu",)):
        slots = drive_slots(robot) if axes == ("nu",) else robot.slots
        ends = [(n, s.kind.positions if axes == ("nq",) else s.kind.velocities) for n, s in slots.items()]
        found = [f"{name}_{part}" if part else name for name, parts in ends for part in parts]
        if len(found) == port.size and len(set(map(latex.plain, found))) == port.size:
            return found
    if len(port.shape) == 2:
        return [f"{i}_{j}" for i in range(1, port.shape[0] + 1) for j in range(1, port.shape[1] + 1)]
    return [str(k) for k in range(1, port.size + 1)]


def _shaped(shape: Sequence[int], flat: Sequence[Any]) -> Any:
    """Flat expressions as a number, a column, a matrix, or a tuple of what has one axis less."""
    sympy = required("sympy", "symbolic")
    if not shape:
        return flat[0]
    if len(shape) <= 2:
        return sympy.ImmutableMatrix(*(*shape, 1)[:2], list(flat))
    size = len(flat) // shape[0] if shape[0] else 0
    return tuple(_shaped(shape[1:], flat[k * size : (k + 1) * size]) for k in range(shape[0]))
