"""Which rows and columns of a matrix are independent, chosen in an order of preference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SMALL = 1e-8  # of a matrix's largest column: what is left below this, once others are taken off, is round-off


class Span:
    """What some vectors span, grown one group at a time."""

    def __init__(self, width: int, scale: float) -> None:
        self.basis = np.zeros((0, width))
        self.least = SMALL * scale

    def rest(self, vectors: Array) -> Array:
        """The vectors less their parts within the span."""
        for _ in range(2):  # once more takes off what round-off left
            vectors = vectors - vectors @ self.basis.T @ self.basis
        return vectors

    def take(self, vectors: Array) -> bool:
        """Add the vectors, if they are independent of the span and of each other."""
        q, sizes, _ = np.linalg.svd(self.rest(vectors).T, full_matrices=False)
        if len(vectors) > len(q) or (len(sizes) and sizes.min() <= self.least):
            return False
        self.basis = np.vstack([self.basis, q.T])
        return True


def rank_of(J: Array) -> int:
    """How many columns, or rows, are independent."""
    sizes = np.linalg.svd(J, compute_uv=False)
    return int((sizes > SMALL * sizes.max(initial=0.0)).sum()) if sizes.size else 0


def independent_columns(J: Array, groups: Iterable[Sequence[int]]) -> list[bool]:
    """For each group of columns in turn, whether it is independent of those taken before; if so it is taken."""
    span = Span(len(J), float(np.linalg.norm(J, axis=0).max(initial=0.0)))
    return [span.take(J[:, list(group)].T) for group in groups]


def independent_rows(J: Array, count: int) -> list[int]:
    """So many rows that span what all of them do, those first that have most to add; among equals the first."""
    chosen: list[int] = []
    span = Span(J.shape[1], float(np.linalg.norm(J, axis=1).max(initial=0.0)))
    for _ in range(count):
        left = np.linalg.norm(span.rest(J), axis=1)
        k = int(np.flatnonzero(left >= left.max() * (1.0 - 1e-6))[0])
        span.take(J[[k]])
        chosen.append(k)
    return sorted(chosen)
