"""C99 of a program: one function of pointers, no dependency but <math.h>, whose sine takes any angle."""

from __future__ import annotations

import re
from typing import Any

from linkwise.errors import InputError
from linkwise.graph.node import Node
from linkwise.graph.program import Port, Program
from linkwise.graph.show import names

EXPRESSIONS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "sqrt": "sqrt({0})",
    "sin": "sin({0})",
    "cos": "cos({0})",
    "exp": "exp({0})",
    "tanh": "tanh({0})",
    "atan2": "atan2({0}, {1})",
    "sign": "({0} > 0.0 ? 1.0 : {0} < 0.0 ? -1.0 : 0.0 * {0})",
    "abs": "fabs({0})",
    "less": "({0} < {1} ? 1.0 : 0.0)",
    "where": "({0} != 0.0 ? {1} : {2})",
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
RESERVED = frozenset((WORDS + MATH).split())


def source(program: Program, name: str | None, title: str) -> str:
    """The C99 source of a program."""
    prototype = _prototype(program, name)
    given = _c_names(program)
    inputs, outputs = _arguments(program)
    place = {n.index: f"{p}[{k}]" for p, g in zip(inputs, program.leaves, strict=True) for k, n in enumerate(g)}

    def text(n: Node) -> str:
        if n.op == "const":
            return f"({_number(n.value)})" if n.value < 0 else _number(n.value)
        return place.get(n.index) or given[n.index]

    lines = [
        f"    const double {given[n.index]} = {EXPRESSIONS[n.op].format(*map(text, n.args))};" for n in program.schedule
    ]
    stores = [
        f"    {p}[{k}] = {text(n)};" for p, g in zip(outputs, program.results, strict=True) for k, n in enumerate(g)
    ]
    read = {a.index for n in program.schedule for a in n.args} | {n.index for g in program.results for n in g}
    idle = [p for p, g in zip(inputs, program.leaves, strict=True) if not any(n.index in read for n in g)]
    idle += [p for p, g in zip(outputs, program.results, strict=True) if not g]
    unused = [f"    (void){p};" for p in idle]
    # all inputs are read before an output is written, so that an output may be one of the inputs
    body = "\n".join([*unused, *lines, *_late_reads(program, place, stores)])
    return f"{_comment(program, title)}\n#include <math.h>\n\n{prototype};\n\n{prototype} {{\n{body}\n}}\n"


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
        copies.append(f"    const double copied{k} = {read};")
        renamed[read] = f"copied{k}"
    for k, store in enumerate(stores):
        left, _, right = store.rpartition(" = ")
        stores[k] = f"{left} = {renamed.get(right[:-1], right[:-1])};"
    return [*copies, *stores]


def _prototype(program: Program, name: str | None) -> str:
    inputs, outputs = _arguments(program)
    arguments = [f"const double *{p}" for p in inputs] + [f"double *{p}" for p in outputs]
    return f"void {_function_name(program, name)}({', '.join(arguments)})"


def _arguments(program: Program) -> tuple[list[str], list[str]]:
    """Names of the pointers to inputs and outputs: the ports' own, lengthened where C or another port has them."""
    chosen: list[str] = []
    for port in (*program.inputs, *program.outputs):
        name = port.name
        while name in RESERVED or name in chosen:
            name += "_"
        chosen.append(name)
    return chosen[: len(program.inputs)], chosen[len(program.inputs) :]


def _function_name(program: Program, name: str | None) -> str:
    chosen: Any = program.name if name is None else name
    if not isinstance(chosen, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", chosen):
        raise InputError(f"c_source name: expected a C identifier, got {chosen!r}.")
    if chosen in RESERVED:
        raise InputError(f"c_source name: expected a name that C does not use itself, got {chosen!r}.")
    return str(chosen)


def _c_names(program: Program) -> dict[int, str]:
    """Readable names, kept apart from those of arguments and of C."""
    taken = RESERVED.union(*_arguments(program))
    return {index: f"v_{n}" if n in taken else n for index, n in names(program).items()}


def _comment(program: Program, title: str) -> str:
    def line(name: str, port: Port, what: str) -> str:
        dimensions = " by ".join(map(str, port.shape)) or "1"
        return f" *   {name}: {what}, {dimensions} numbers, row after row"

    operations = ", ".join(f"{n} {kind}" for kind, n in sorted(program.count().items())) or "none"
    inputs, outputs = _arguments(program)
    ports = [line(n, p, "input") for n, p in zip(inputs, program.inputs, strict=True)]
    ports += [line(n, p, "output") for n, p in zip(outputs, program.outputs, strict=True)]
    title = title.replace("*/", "* /").replace("/*", "/ *")
    return "\n".join(
        ["/*", f" * {title}, generated by Linkwise.", " *", *ports, f" * Operations: {operations}.", " */"]
    )


def _number(value: float) -> str:
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)
