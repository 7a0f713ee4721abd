"""Square linear systems without symmetry, unrolled: reflections need no pivots, so that one program serves all states.

Zeros known when traced cost nothing: columns with few entries come first, and equations that share no unknown are not
mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from linkwise.errors import LinkwiseError
from linkwise.jet import is_zero
from linkwise.scalar import Scalar, absolute, less, sqrt, where


class Reflection(NamedTuple):
    """1 - beta v v^T; `v` holds only the entries that are not known to be zero."""

    v: dict[int, Scalar]
    beta: Scalar

    def apply(self, x: list[Scalar]) -> None:
        """Reflect a vector in place."""
        t = self.beta * sum((a * x[i] for i, a in self.v.items()), 0.0)
        for i, a in self.v.items():
            x[i] = x[i] - a * t


class Step(NamedTuple):
    """One unknown taken out: its row and column, what stands there, and its inverse."""

    row: int
    column: int
    pivot: Scalar
    inverse: Scalar


class QR(NamedTuple):
    """A = Q R with Q a product of reflections; R is triangular in the order of the steps."""

    reflections: list[Reflection]
    R: list[list[Scalar]]
    steps: list[Step]

    def determinant(self) -> Scalar:
        """det A."""
        order = [s.column for s in sorted(self.steps, key=lambda s: s.row)]
        swaps = sum(a > b for k, a in enumerate(order) for b in order[k + 1 :])
        total: Scalar = -1.0 if (len(self.reflections) + swaps) % 2 else 1.0
        for step in self.steps:
            total = total * step.pivot
        return total

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x with A x = b."""
        y, x = list(b), list(b)
        for reflection in self.reflections:
            reflection.apply(y)
        for k in range(len(self.steps) - 1, -1, -1):
            step = self.steps[k]
            later = (self.R[step.row][s.column] * x[s.column] for s in self.steps[k + 1 :])
            x[step.column] = (y[step.row] - sum(later, 0.0)) * step.inverse
        return x

    def solve_transposed(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x with A^T x = b."""
        y = list(b)
        for k, step in enumerate(self.steps):
            before = (self.R[s.row][step.column] * y[s.row] for s in self.steps[:k])
            y[step.row] = (b[step.column] - sum(before, 0.0)) * step.inverse
        for reflection in reversed(self.reflections):
            reflection.apply(y)
        return y


def factorise(A: Sequence[Sequence[Scalar]], what: str = "matrix") -> QR:
    """The factors of a square matrix, by Householder's reflections; infinite or NaN where it is singular.

    Args:
        A: rows.
        what: names the matrix in the refusal of one that is singular whatever its variables are.
    """
    R = [list(row) for row in A]
    rows, columns = list(range(len(R))), list(range(len(R)))
    reflections, steps = [], []
    while columns:
        column = min(columns, key=lambda j: sum(_is_open(R[i][j]) for i in rows))
        involved = [i for i in rows if _is_open(R[i][column])]
        if not involved:
            raise LinkwiseError(f"{what}: expected a matrix that can be inverted, got one that is always singular.")
        columns.remove(column)
        row = min(involved, key=lambda i: sum(_is_open(R[i][j]) for j in columns))
        rows.remove(row)
        if len(involved) > 1:
            reflection, R[row][column] = _mirror({i: R[i][column] for i in involved}, row)
            reflections.append(reflection)
            for j in columns:
                whole = [r[j] for r in R]
                reflection.apply(whole)
                for i in involved:
                    R[i][j] = whole[i]
        steps.append(Step(row, column, R[row][column], 1.0 / R[row][column]))
    return QR(reflections, R, steps)


def _mirror(x: dict[int, Scalar], k: int) -> tuple[Reflection, Scalar]:
    """The reflection that takes x to a multiple of unit vector k, and that multiple."""
    norm = sqrt(sum((a * a for a in x.values()), 0.0))
    end = where(less(x[k], 0.0), norm, -norm)
    beta = 1.0 / (norm * (norm + absolute(x[k])))
    return Reflection({**x, k: x[k] - end}, beta), end


def _is_open(x: Scalar) -> bool:
    """Whether a number is not known to be zero."""
    return not is_zero(x)
