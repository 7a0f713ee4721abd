"""Formulas in LaTeX: names of quantities, matrices, and long ones entry by entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from linkwise.algorithms.algorithm import MOTION
from linkwise.files import required

WIDE = 90  # letters of a matrix that is set as one
GREEK = ("tau", "omega", "alpha", "beta", "theta")
DOTS = ("", "\\dot", "\\ddot", "\\dddot", "\\ddddot")


def plain(name: str) -> str:
    """What a symbol may have of a name."""
    return re.sub(r"[^A-Za-z0-9_]+", "", name) or "x"


def escaped(name: str) -> str:
    """A name in a formula: letters and digits upright, an underscore in place of all else; numbers as they are."""
    if re.fullmatch(r"[a-z]{0,2}[0-9]+|[A-Za-z]", name):
        return name
    upright = "".join(c if c.isalnum() else "\\_" for c in name)
    return f"\\mathrm{{{upright}}}"


def below(head: str, *parts: str) -> str:
    """A letter with what stands below it."""
    return f"{head}_{{{','.join(map(escaped, parts))}}}" if parts else head


def quantity(name: str) -> str:
    """The sign of an input or output: q, q with dots, a Greek letter, M, or its name."""
    order = MOTION.index(name) if name in MOTION else 0
    if order and order < len(DOTS):
        return f"{DOTS[order]}{{q}}"
    if match := re.fullmatch(r"(\w+?)_(d+)ot", name):
        inner = quantity(match[1])
        return f"{DOTS[len(match[2])]}{{{inner}}}" if len(match[2]) < len(DOTS) else escaped(name)
    if match := re.fullmatch(r"d(\w+)_d(\w+)", name):
        return f"\\frac{{\\partial {quantity(match[1])}}}{{\\partial {quantity(match[2])}}}"
    return f"\\{name}" if name in GREEK else escaped(name)


def entry(name: str, label: str) -> str:
    """An entry of an input."""
    return below(quantity(name), *label.split("_")) if re.fullmatch(r"\d+_\d+", label) else below(quantity(name), label)


def entries(value: Any, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """All entries of a result with their places, counted from one; a column has one index."""
    if isinstance(value, tuple):
        for k, part in enumerate(value, start=1):
            yield from entries(part, (*place, k))
    elif hasattr(value, "shape"):
        rows, columns = value.shape
        for i in range(rows):
            for j in range(columns):
                yield (*place, i + 1, *((j + 1,) if columns > 1 or place else ())), value[i, j]
    else:
        yield place, value


def equations(results: Mapping[str, Any], names: Mapping[Any, str], of: Sequence[str]) -> str:
    """Results as equations, one below the other, each as a function of the inputs."""
    arguments = f"({', '.join(map(quantity, of))})" if of else ""
    lines: list[str] = []
    for name, value in results.items():
        for place, part in _parts(value):
            head = below(quantity(name), *map(str, place))
            if hasattr(part, "shape") and _width(part) > WIDE:
                lines += _split(quantity(name), place, part, names)
            else:
                lines.append(f"{head}{arguments} &= {_written(part, names)}")
    if len(lines) == 1:
        return lines[0].replace("&=", "=", 1)
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _parts(value: Any, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Matrices one by one, with their places."""
    if not isinstance(value, tuple):
        yield place, value
        return
    for k, part in enumerate(value, start=1):
        yield from _parts(part, (*place, k))


def _width(matrix: Any) -> int:
    """About how wide a matrix is set, in letters."""
    columns = range(matrix.shape[1])
    return sum(max(len(str(x)) for x in matrix.col(j)) for j in columns)


def _split(head: str, place: tuple[int, ...], matrix: Any, names: Mapping[Any, str]) -> list[str]:
    """The entries of a matrix that are not zero; of a symmetric one those above the diagonal stand for both."""
    rows, columns = matrix.shape
    mirrored = rows > 1 and matrix == matrix.T
    glue = "," if max(rows, columns) > 9 or place else ""
    lines = []
    for (i, *rest), x in entries(matrix):
        j = rest[0] if rest else 0
        if x == 0 or (mirrored and j < i):
            continue
        sides = [(i, j), (j, i)] if mirrored and i != j else [(i, j)]
        left = " = ".join(f"{head}_{{{glue.join(str(k) for k in (*place, *side) if k)}}}" for side in sides)
        lines.append(f"{left} &= {_written(x, names)}")
    return lines or [f"{below(head, *map(str, place))} &= 0"]


def _written(x: Any, names: Mapping[Any, str]) -> str:
    settings = {"symbol_names": dict(names), "mat_delim": "", "mat_str": "bmatrix", "full_prec": False, "order": "none"}
    text: str = _printer()(settings).doprint(x)
    return re.sub(r"(\\(?:sin|cos)(?:\^\{2\})?)\{\\left\((\S+) \\right\)\}", r"\1 \2", text)


# letters of factors in the order of textbooks; speeds and functions come after all others
ORDER = "mIJgnKkDdFvwlcbr"


@cache
def _printer() -> Any:
    """SymPy's printer of LaTeX, but for the order of factors."""
    sympy, latex = required("sympy", "latex"), required("sympy.printing.latex", "latex")

    def rank(x: Any) -> tuple[Any, ...]:
        base = x.as_base_exp()[0]
        if base.is_Number:
            return (0,)
        if base.is_Symbol:
            at = ORDER.find(base.name[0])
            return (1, at, base.name) if at >= 0 else (2, base.name)
        return (4 if base.is_Add else 3, sympy.default_sort_key(x))

    class Printer(latex.LatexPrinter):  # type: ignore[misc, name-defined]
        def _print_Mul(self, expr: Any) -> str:
            return super()._print_Mul(sympy.Mul(*sorted(expr.args, key=rank), evaluate=False))

        def _print_Add(self, expr: Any, order: Any = None) -> str:
            return super()._print_Add(expr, order="lex")

    return Printer
