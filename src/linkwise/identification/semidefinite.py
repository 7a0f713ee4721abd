"""Positive pseudo-inertias as a semidefinite program, by the interior-point method of Clarabel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.identification.log_cholesky import UPPER, Found, Program

Array = NDArray[Any]
GOOD = ("Solved", "AlmostSolved")


def solve(program: Program, accuracy: float = 1e-10) -> Found:
    """The optimum of a program; the quadratic part is given as it is, without a cone of its own.

    Where there is an entropy, log det S is the sum of log Z_ii with [[S, Z], [Z^T, diag Z]] >= 0 and Z lower
    triangular, which are cones of their own.
    """
    import clarabel
    from scipy import sparse

    n, width = program.links, len(program.centre)
    further = 14 * n if program.entropy else 0  # ten numbers of Z and four logarithms for each link
    # in coordinates u the quadratic part is a square: data of all accuracies count alike
    values, vectors = np.linalg.eigh(program.P + program.entropy * np.diag(np.arange(width) < 10 * n))
    back = vectors / np.sqrt(np.maximum(values, 1e-15 * values[-1]))  # from u to w
    P = np.zeros((width + further,) * 2)
    P[:width, :width] = back.T @ program.P @ back
    q = np.zeros(width + further)
    q[:width] = program.c
    blocks: list[tuple[Array, Array]] = []  # rows A and b of b - A w in a cone
    cones: list[Any] = []
    if len(program.least):
        blocks.append((_wide(-program.rows, width + further), program.rows @ program.centre - program.least))
        cones.append(clarabel.NonnegativeConeT(len(program.least)))
    eye = np.array([1.0 if i == j else 0.0 for i, j in UPPER])
    for k in range(n):
        at = slice(10 * k, 10 * k + 10)
        A = np.zeros((10, width + further))
        A[:, at] = -np.eye(10)
        blocks.append((A, program.centre[at] - program.margin * eye))
        cones.append(clarabel.PSDTriangleConeT(4))
        if program.entropy:
            q[at] += program.entropy * eye
            _log_determinant(program, k, width, q, program.entropy, blocks, cones)
    q[:width] = back.T @ q[:width]
    for A, _ in blocks:
        A[:, :width] = A[:, :width] @ back
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.max_iter = 200
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = accuracy
    A, b = sparse.csc_matrix(np.vstack([a for a, _ in blocks])), np.concatenate([b for _, b in blocks])
    solved = clarabel.DefaultSolver(sparse.triu(sparse.csc_matrix(P)).tocsc(), q, A, b, cones, settings).solve()
    status = str(solved.status)
    z = program.centre + back @ np.asarray(solved.x)[:width]
    return Found(z, int(solved.iterations), "solved" if status in GOOD else status)


def _wide(rows: Array, width: int) -> Array:
    return np.hstack([rows, np.zeros((len(rows), width - rows.shape[1]))])


def _log_determinant(
    program: Program, k: int, width: int, q: Array, weight: float, blocks: list[tuple[Array, Array]], cones: list[Any]
) -> None:
    """Cones in which the logarithms of link k add up to at most log det S, and their weight in the objective."""
    import clarabel

    Z, logs = width + 14 * k, width + 14 * k + 10
    lower = {(j, i): m for m, (i, j) in enumerate(UPPER)}
    A, b = np.zeros((36, len(q))), np.zeros(36)
    row = 0
    for j in range(8):
        for i in range(j + 1):
            scale = 1.0 if i == j else np.sqrt(2.0)
            if j < 4:  # S
                m = UPPER.index((i, j))
                A[row, 10 * k + m], b[row] = -1.0, program.centre[10 * k + m]
            elif i < 4:  # Z, whose entry (i, j - 4) is not zero in its lower triangle
                if i >= j - 4:
                    A[row, Z + lower[i, j - 4]] = -scale
            elif i == j:  # its diagonal again
                A[row, Z + lower[i - 4, i - 4]] = -1.0
            row += 1
    blocks.append((A, b))
    cones.append(clarabel.PSDTriangleConeT(8))
    for i in range(4):  # log(Z_ii) >= the logarithm: (x, 1, Z_ii) with exp(x) <= Z_ii
        E, one = np.zeros((3, len(q))), np.array([0.0, 1.0, 0.0])
        E[0, logs + i] = E[2, Z + lower[i, i]] = -1.0
        blocks.append((E, one))
        cones.append(clarabel.ExponentialConeT())
        q[logs + i] = -weight
