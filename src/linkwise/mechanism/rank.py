"""Which rows and columns of a matrix are independent, chosen in an order of preference."""

from __future__ import annotations

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


def apart(J: Array) -> list[tuple[list[int], list[int]]]:
    """Rows and columns of the parts of a matrix that share none, as loops that share no joint; without empty ones."""
    of: dict[int, tuple[list[int], list[int]]] = {}  # the part of each column
    parts: dict[int, tuple[list[int], list[int]]] = {}
    for r, row in enumerate(J):
        columns = np.flatnonzero(row).tolist()
        if not columns:
            continue
        touched = {id(of[c]): of[c] for c in columns if c in of}
        rows_of, columns_of = [r], [c for c in columns if c not in of]
        for rows, others in touched.values():
            rows_of, columns_of = rows + rows_of, others + columns_of
            del parts[id(rows)]
        part = rows_of, columns_of
        parts[id(rows_of)] = part
        of |= dict.fromkeys(columns_of, part)
    return list(parts.values())


def rank_of(J: Array) -> int:
    """How many columns, or rows, are independent."""
    found = [np.linalg.svd(J[rows][:, columns], compute_uv=False) for rows, columns in apart(J)]
    sizes = np.concatenate([*found, np.zeros(0)])
    return int((sizes > SMALL * sizes.max(initial=0.0)).sum())


def damped_solution(J: Array, b: Array, damping: float) -> Array:
    """The x that makes |J x - b|^2 + damping |x|^2 least."""
    x = np.zeros(J.shape[1])
    for rows, columns in apart(J):
        n = len(columns)
        tall = np.vstack([J[rows][:, columns], np.sqrt(damping) * np.eye(n)])
        x[columns] = np.linalg.lstsq(tall, np.concatenate([b[rows], np.zeros(n)]), rcond=None)[0]
    return x


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
