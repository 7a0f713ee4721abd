"""Products of small matrices over any scalar, as lists of rows."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.scalar import Scalar

Matrix = list[list[Scalar]]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """The sum of a_k b_k."""
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)


def transposed(A: Sequence[Sequence[Scalar]]) -> Matrix:
    return [list(column) for column in zip(*A, strict=True)]


def product(A: Sequence[Sequence[Scalar]], B: Sequence[Sequence[Scalar]]) -> Matrix:
    """The product A B."""
    columns = transposed(B)
    return [[dot(a, b) for b in columns] for a in A]


def times(A: Sequence[Sequence[Scalar]], x: Sequence[Scalar]) -> list[Scalar]:
    """The product A x."""
    return [dot(a, x) for a in A]
