"""Symmetric linear systems, unrolled: zeros known when traced cost nothing, so a tree's sparsity is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from linkwise.jet import is_zero
from linkwise.scalar import Scalar, is_number, less, sqrt, tolerance, where

LOST = 1e-10, 1e-5  # of the number it is left of: a pivot below this is round-off, in float64 and in float32


class LDL(tuple[list[list[Scalar]], list[Scalar]]):
    """M = L^T D L with L unit lower triangular: rows of L below the diagonal, and 1 / D."""


def factorise(M: Sequence[Sequence[Scalar]], refuse: Callable[[int], Exception], doubtful: Collection[int] = ()) -> LDL:
    """The factors of a symmetric positive definite matrix, from the last row up, which does not fill a tree's zeros.

    `refuse(k)` makes the exception for a pivot that is known to be zero; `doubtful` rows, whose pivots may vanish in
    some states, are NaN there.

    Source: Featherstone's L^T D L factorisation, here by letting zeros fold instead of following parents.
    """
    n = len(M)
    H = [list(row) for row in M]
    inverse: list[Scalar] = [0.0] * n
    for k in range(n - 1, -1, -1):
        if is_number(H[k][k]) and H[k][k] <= 0.0:
            raise refuse(k)
        inverse[k] = sound_inverse(H[k][k], M[k][k], partial(refuse, k)) if k in doubtful else 1.0 / H[k][k]
        for i in range(k - 1, -1, -1):
            a = H[k][i] * inverse[k]
            for j in range(i + 1):
                H[i][j] = H[i][j] - a * H[k][j]
            H[k][i] = a
    return LDL((H, inverse))


def sound_inverse(pivot: Scalar, whole: Scalar, refuse: Callable[[], Exception]) -> Scalar:
    """1 / pivot, or NaN where the pivot is no more than the round-off of the `whole` that it is left of."""
    sound = where(less(whole * tolerance(pivot, *LOST), pivot), 1.0, -1.0)
    if not is_number(sound):
        return sqrt(sound) / pivot
    if sound < 0.0:
        raise refuse()
    return 1.0 / pivot


def solve(factors: LDL, b: Sequence[Scalar]) -> list[Scalar]:
    """x with M x = b."""
    return solve_rest(factors, half_solve(factors, b))


def solve_rest(factors: LDL, half: Sequence[Scalar]) -> list[Scalar]:
    """x with D L x = half, which is what `half_solve` leaves to be done."""
    L, inverse = factors
    x = [a * d for a, d in zip(half, inverse, strict=True)]
    for k in range(len(x)):
        for i in range(k):
            x[k] = x[k] - L[k][i] * x[i]
    return x


def half_solve(factors: LDL, b: Sequence[Scalar]) -> list[Scalar]:
    """x with L^T x = b, so that b^T M^-1 b = x^T D^-1 x."""
    L, _ = factors
    x = list(b)
    for k in range(len(x) - 1, -1, -1):
        for i in range(k):
            x[i] = x[i] - L[k][i] * x[k]
    return x


class Inverse:
    """M^-1 = W D^-1 W^T with W = L^-1, which has the zeros of a tree's L.

    Applied to a vector it takes no more operations than `solve`, and fewer where the vector has zeros: what moves one
    arm reaches another by the joints that both hang on, not by those of either arm.
    """

    def __init__(self, factors: LDL) -> None:
        L, self._D = factors
        self._rows: list[dict[int, Scalar]] = []  # of W, without zeros
        for k in range(len(L)):
            row: dict[int, Scalar] = {k: 1.0}
            for m in range(k - 1, -1, -1):
                for i, w in self._rows[m].items() if not is_zero(L[k][m]) else ():
                    row[i] = row.get(i, 0.0) - L[k][m] * w
            self._rows.append(row)

    def times(self, b: Sequence[Scalar]) -> list[Scalar]:
        """M^-1 b."""
        half: list[Scalar] = [0.0] * len(b)
        for row, x in zip(self._rows, b, strict=True):
            for i, w in row.items() if not is_zero(x) else ():
                half[i] = half[i] + w * x
        half = [x * d for x, d in zip(half, self._D, strict=True)]
        return [sum((w * half[i] for i, w in row.items()), 0.0) for row in self._rows]

    def matrix(self) -> list[list[Scalar]]:
        """M^-1, of which one triangle is computed."""
        n = len(self._rows)
        found: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
        for k, row in enumerate(self._rows):
            scaled = {i: w * self._D[i] for i, w in row.items()}
            for j, other in enumerate(self._rows[: k + 1]):
                found[k][j] = found[j][k] = sum((w * scaled[i] for i, w in other.items() if i in scaled), 0.0)
        return found
