"""Covariances of estimates that hold although residuals are alike from one instant to the next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise.identification.least_squares import Solution, whitened
from linkwise.identification.samples import Rows
from linkwise.motion.trajectory import Array

SHARE = 0.4  # cosines are 0.4 rows^(2/3)
LEAST = 8  # cosines at least
BLOCK = 256  # rows at once
LEFT = 0.1  # of a variance in fitted residuals at least


class Covariance(NamedTuple):
    """Of an estimate, with the degrees of freedom of Student's distribution that each number's interval has."""

    matrix: Array
    dof: Array


def robust(solution: Solution, rows: Rows) -> Covariance:
    """The sandwich A^-1 S A^-1, in which S is the long-run covariance of the scores.

    S is the mean of the outer products of the scores' cosine transforms at the lowest frequencies, which makes
    intervals those of Student's t with about as many degrees of freedom as there are cosines. Residuals that are alike
    over a time that is short against the shortest of these waves may have any colour, and any variance along the
    motion. What the fit itself takes out of the residuals, and with it the degrees of freedom, is allowed for as
    though residuals were white.

    Source: Lazarus, Lewis, Stock, Watson (2018), HAR inference: recommendations for practice, for the cosines; Bell and
    McCaffrey (2002), Bias reduction in standard errors, for the allowance.
    """
    count = cosines(len(rows))
    matrix = solution.bread @ long_run(solution.scores, count) @ solution.bread.T
    kept, dof = _allowance(solution, rows, count)
    root = 1.0 / np.sqrt(kept)
    return Covariance(matrix * np.outer(root, root), dof)


def _allowance(solution: Solution, rows: Rows, count: int) -> tuple[Array, Array]:
    """For each number the share of its variance that is left in fitted residuals, and its degrees of freedom."""
    A = whitened(rows.A, rows, solution.sigma, solution.weight)
    n, nu, k = A.shape
    flat = A.reshape(-1, k)
    scale = np.linalg.norm(flat, axis=0)
    flat = flat / np.where(scale > 0.0, scale, 1.0)
    values, vectors = np.linalg.eigh(flat.T @ flat)
    values = np.maximum(values, 1e-14 * values[-1])
    Q = flat @ (vectors / np.sqrt(values))  # an orthonormal basis of the columns
    U = (vectors / np.sqrt(values)).T  # influence of each equation on each number: Q @ U
    U = U / np.maximum(np.linalg.norm(U, axis=0), 1e-300)
    waves = _waves(n, count)
    power = np.sum((Q @ U).reshape(n, nu, k) ** 2, axis=1)  # (rows, numbers)
    inside = np.zeros((count, k * k))
    for first in range(0, n, BLOCK):
        some = Q.reshape(n, nu, k)[first : first + BLOCK]
        inside += waves[:, first : first + BLOCK] @ np.matmul(some.transpose(0, 2, 1), some).reshape(-1, k * k)
    inside = inside.reshape(count, k, k) @ U  # (waves, k, numbers)
    kept, dof = np.empty(k), np.empty(k)
    for p in range(k):
        G = (waves * power[:, p]) @ waves.T - inside[:, :, p] @ inside[:, :, p].T
        trace = max(float(np.trace(G)), 1e-300)
        kept[p] = min(max(trace / count, LEFT), 1.0)
        dof[p] = max(trace**2 / max(float(np.sum(G * G)), 1e-300), 1.0)
    return kept, dof


def _waves(rows: int, count: int) -> Array:
    """(waves, rows) cosines of mean square one, from half a wave on."""
    at = (np.arange(rows) + 0.5) / rows
    return np.asarray(np.sqrt(2.0) * np.cos(np.pi * np.arange(1, count + 1)[:, None] * at))


def cosines(rows: int) -> int:
    """How many waves make a long-run covariance from so many rows."""
    return int(max(LEAST, min(SHARE * rows ** (2.0 / 3.0), rows / 3)))


def long_run(scores: Array, count: int) -> Array:
    """The covariance of the sum of correlated rows, from so many cosine transforms of them."""
    from scipy.fft import dct

    waves = dct(scores, axis=0, norm="ortho")[1 : count + 1]
    return np.asarray(waves.T @ waves * (len(scores) / len(waves)))
