"""C99 of a program: one function of pointers, no dependency but <math.h>, whose sine takes any angle."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from ctypes import c_float
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import InputError
from linkwise.graph.iteration import Before
from linkwise.graph.node import Node
from linkwise.graph.program import Port, Program
from linkwise.graph.show import free, names, operations

# functions of <math.h> and numbers have {f} where C says that they are of the kind float
EXPRESSIONS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "sqrt": "sqrt{f}({0})",
    "sin": "sin{f}({0})",
    "cos": "cos{f}({0})",
    "exp": "exp{f}({0})",
    "tanh": "tanh{f}({0})",
    "atan2": "atan2{f}({0}, {1})",
    "sign": "({0} > 0.0{f} ? 1.0{f} : {0} < 0.0{f} ? -1.0{f} : 0.0{f} * {0})",
    "abs": "fabs{f}({0})",
    "min": "({0} < {1} || {0} != {0} ? {0} : {1})",
    "max": "({0} > {1} || {0} != {0} ? {0} : {1})",
    "less": "({0} < {1} ? 1.0{f} : 0.0{f})",
    "where": "({0} != 0.0{f} ? {1} : {2})",
}

# names that a function, an argument or a value must not have
WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    and asm bool catch class delete explicit export false friend mutable namespace new not operator or private protected
    public template this throw true try typename using virtual wchar_t xor main
"""
MATH = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax
    fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf
    nan nearbyint nextafter nexttoward pow remainder remquo rint round scalb scalbln scalbn signgam significand sin sinh
    sqrt tan tanh tgamma trunc y0 y1 yn
"""
RESERVED = frozenset([*(WORDS + MATH).split(), *(f"{name}f" for name in MATH.split())])


class _Kind(NamedTuple):
    """Numbers of a program in C: the type, and the suffix of functions and constants."""

    type: str
    f: str

    def number(self, value: float) -> str:
        if value != value:
            return "NAN"
        short = str(np.float32(c_float(value).value)) if self.f else repr(value)
        if short in ("inf", "-inf"):
            return short.replace("inf", "INFINITY")
        return short + self.f


KINDS = {"float64": _Kind("double", ""), "float32": _Kind("float", "f")}


def source(program: Program, name: str | None, title: str) -> str:
    """The C99 source of a program."""
    prototype, before = _prototype(program, name), program.before
    turn, loop, arrays, others = "", [], {}, []
    if before:
        own = _own_names(program, before, _function_name(program, name))
        turn = f"static {_declared(before.body, own.function)} {{\n{_lines(_statements(before.body))}\n}}\n\n"
        loop, others = _loop(program, before, own), [own.function, own.left, own.turn]
        arrays = {name: own.arrays[k] for k, name in before.gives}
    body = _lines([*loop, *_statements(program, arrays, others)])
    return f"{_comment(program, title)}\n#include <math.h>\n\n{prototype};\n\n{turn}{prototype} {{\n{body}\n}}\n"


def _lines(statements: Sequence[str]) -> str:
    return "\n".join(f"    {s}" for s in statements)


def _statements(
    program: Program, arrays: Mapping[str, str] = MappingProxyType({}), others: Sequence[str] = ()
) -> list[str]:
    """What a function does with its arguments and with arrays of its own, by input; others are names that it has."""
    kind, given = KINDS[program.dtype], _c_names(program, [*arrays.values(), *others])
    arguments, outputs = _arguments(program)
    chosen = {**dict(zip((p.name for p in program.arguments), arguments, strict=True)), **arrays}
    inputs = [chosen[p.name] for p in program.inputs]
    place = {n.index: f"{p}[{k}]" for p, g in zip(inputs, program.leaves, strict=True) for k, n in enumerate(g)}

    def text(n: Node) -> str:
        if n.op == "const":
            return f"({kind.number(n.value)})" if n.value < 0 else kind.number(n.value)
        return place.get(n.index) or given[n.index]

    lines = [
        f"const {kind.type} {given[n.index]} = {EXPRESSIONS[n.op].format(*map(text, n.args), f=kind.f)};"
        for n in program.schedule
    ]
    stores = [f"{p}[{k}] = {text(n)};" for p, g in zip(outputs, program.results, strict=True) for k, n in enumerate(g)]
    read = {a.index for n in program.schedule for a in n.args} | {n.index for g in program.results for n in g}
    idle = [p for p, g in zip(inputs, program.leaves, strict=True) if not any(n.index in read for n in g)]
    idle += [p for p, g in zip(outputs, program.results, strict=True) if not g]
    unused = [f"(void){p};" for p in idle]
    # all inputs are read before an output is written, so that an output may be one of the inputs
    return [*unused, *lines, *_late_reads(program, place, stores)]


# ---- a loop before the program


class _Own(NamedTuple):
    """Names that belong to a loop: the function of a turn, what is carried, what says whether to go on, a counter."""

    function: str
    arrays: list[str]
    left: str
    turn: str


def _own_names(program: Program, before: Before, function: str) -> _Own:
    wanted = [f"{function}_turn", *(p.name for p in before.carried), before.body.outputs[-1].name, "turn"]
    chosen: list[str] = []
    taken = [*RESERVED, function, *itertools.chain(*_arguments(program))]
    for name in wanted:
        chosen.append(free(name, [*taken, *chosen]))
    return _Own(chosen[0], chosen[1:-2], chosen[-2], chosen[-1])


def _loop(program: Program, before: Before, own: _Own) -> list[str]:
    """The loop: what is carried is both read and written by the function of a turn."""
    chosen = dict(zip((p.name for p in program.arguments), _arguments(program)[0], strict=True))
    lines, kind = [], KINDS[program.dtype]
    for port, start, name in zip(before.carried, before.start, own.arrays, strict=True):
        if isinstance(start, str):
            begin = [f"{chosen[start]}[{k}]" for k in range(port.size)]
        else:
            begin = [kind.number(x) for x in start]
        lines.append(f"{kind.type} {name}[{max(1, port.size)}] = {{{', '.join(begin) or kind.number(0.0)}}};")
    going = f"fabs{kind.f}({own.left}) > {kind.number(0.0)}"
    given = [*own.arrays, *(chosen[p.name] for p in before.shared), *own.arrays, f"&{own.left}"]
    lines += [
        f"{kind.type} {own.left} = {kind.number(1.0)};",
        f"for (int {own.turn} = 0; {own.turn} < {before.most} && {going}; ++{own.turn}) {{",
        f"    {own.function}({', '.join(given)});",
        "}",
    ]
    lost = [(own.arrays[k], i) for k in sorted({k for k, _ in before.gives}) for i in range(before.carried[k].size)]
    if lost:
        lines += [f"if ({going}) {{", *(f"    {name}[{i}] = NAN;" for name, i in lost), "}"]
    return lines


def header(program: Program, name: str | None, title: str) -> str:
    """The header that declares the function of `source`."""
    function = _function_name(program, name)
    guard = f"{function.upper()}_H"
    return (
        f'{_comment(program, title)}\n#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
        f"{_prototype(program, name)};\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    )


def _late_reads(program: Program, place: dict[int, str], stores: list[str]) -> list[str]:
    """Stores, with results that are inputs themselves copied first."""
    direct = {place[n.index] for g in program.results for n in g if n.index in place}
    copies, renamed = [], {}
    for k, read in enumerate(sorted(direct)):
        copies.append(f"const {KINDS[program.dtype].type} copied{k} = {read};")
        renamed[read] = f"copied{k}"
    for k, store in enumerate(stores):
        left, _, right = store.rpartition(" = ")
        stores[k] = f"{left} = {renamed.get(right[:-1], right[:-1])};"
    return [*copies, *stores]


def _prototype(program: Program, name: str | None) -> str:
    return _declared(program, _function_name(program, name))


def _declared(program: Program, function: str) -> str:
    inputs, outputs = _arguments(program)
    number = KINDS[program.dtype].type
    arguments = [f"const {number} *{p}" for p in inputs] + [f"{number} *{p}" for p in outputs]
    return f"void {function}({', '.join(arguments)})"


def _arguments(program: Program) -> tuple[list[str], list[str]]:
    """Names of the pointers to inputs and outputs: the ports' own, lengthened where C or another port has them."""
    chosen: list[str] = []
    for port in (*program.arguments, *program.outputs):
        chosen.append(free(port.name, [*chosen, *RESERVED]))
    return chosen[: len(program.arguments)], chosen[len(program.arguments) :]


def _function_name(program: Program, name: str | None) -> str:
    chosen: Any = program.name if name is None else name
    if not isinstance(chosen, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", chosen):
        raise InputError(f"c_source name: expected a C identifier, got {chosen!r}.")
    if chosen in RESERVED:
        raise InputError(f"c_source name: expected a name that C does not use itself, got {chosen!r}.")
    return str(chosen)


def _c_names(program: Program, others: Iterable[str]) -> dict[int, str]:
    """Readable names, kept apart from those of arguments, of others, and of C."""
    taken = RESERVED.union(*_arguments(program), others)
    return {index: f"v_{n}" if n in taken else n for index, n in names(program).items()}


def _comment(program: Program, title: str) -> str:
    def line(name: str, port: Port, what: str) -> str:
        dimensions = " by ".join(map(str, port.shape)) or "1"
        return f" *   {name}: {what}, {dimensions} numbers, row after row"

    inputs, outputs = _arguments(program)
    ports = [line(n, p, "input") for n, p in zip(inputs, program.arguments, strict=True)]
    ports += [line(n, p, "output") for n, p in zip(outputs, program.outputs, strict=True)]
    title = title.replace("*/", "* /").replace("/*", "/ *")
    lines = [f" * {title}, generated by Linkwise.", " *", *ports, f" * Operations: {operations(program)}."]
    if program.before:
        lines += [f" * Newton's method, at most {program.before.most} turns; NaN where it has not arrived by then."]
    return "\n".join(["/*", *lines, " */"])
