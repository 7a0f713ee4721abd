"""Small systems of loop equations: by minors up to three rows, else by reflections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from linkwise.mechanism import square
from linkwise.mechanism.matrices import dot
from linkwise.scalar import Scalar
from linkwise.vector import Vec3, cross

Vector = list[Scalar]


class Solver(Protocol):
    """The inverse of a square matrix, applied."""

    def solve(self, b: Sequence[Scalar]) -> Vector: ...

    def solve_transposed(self, b: Sequence[Scalar]) -> Vector: ...

    def determinant(self) -> Scalar: ...


class Adjugate(NamedTuple):
    """The inverse of a matrix of at most three rows, by minors: its rows, and the determinant of the matrix."""

    rows: list[list[Scalar]]
    whole: Scalar

    @classmethod
    def of(cls, A: Sequence[Sequence[Scalar]]) -> Adjugate:
        """The inverse of A."""
        if len(A) == 1:
            rows: list[list[Scalar]] = [[1.0]]
        elif len(A) == 2:
            rows = [[A[1][1], -A[0][1]], [-A[1][0], A[0][0]]]
        else:
            a, b, c = (Vec3(*(row[j] for row in A)) for j in range(3))
            rows = [list(cross(b, c)), list(cross(c, a)), list(cross(a, b))]
        whole = dot(rows[0], [row[0] for row in A])
        scale = 1.0 / whole
        return cls([[x * scale for x in row] for row in rows], whole)

    def solve(self, b: Sequence[Scalar]) -> Vector:
        """x with A x = b."""
        return [dot(row, b) for row in self.rows]

    def solve_transposed(self, b: Sequence[Scalar]) -> Vector:
        """x with A^T x = b."""
        return [dot([row[k] for row in self.rows], b) for k in range(len(self.rows))]

    def determinant(self) -> Scalar:
        """det A."""
        return self.whole


class Scaled(NamedTuple):
    """A system whose equations were multiplied by weights, so that lengths and angles compare."""

    factors: square.QR
    weights: list[float]

    def solve(self, b: Sequence[Scalar]) -> Vector:
        """x with A x = b."""
        return self.factors.solve([w * x for w, x in zip(self.weights, b, strict=True)])

    def solve_transposed(self, b: Sequence[Scalar]) -> Vector:
        """x with A^T x = b."""
        return [w * x for w, x in zip(self.weights, self.factors.solve_transposed(b), strict=True)]

    def determinant(self) -> Scalar:
        """The determinant of the weighted matrix."""
        return self.factors.determinant()
