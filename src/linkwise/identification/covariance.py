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
SHORTEST = 16  # rows of a period
REPEATED = 0.03  # of the variance of columns, by which repeated ones may differ
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

    Where a motion is repeated, so may be the errors of a model: then the waves run over one period, and what comes at
    the same phase counts as one.

    Source: Lazarus, Lewis, Stock, Watson (2018), HAR inference: recommendations for practice, for the cosines; Bell and
    McCaffrey (2002), Bias reduction in standard errors, for the allowance.
    """
    waves = _waves(rows)
    along = waves @ solution.scores
    matrix = solution.bread @ (along.T @ along / len(waves)) @ solution.bread.T
    kept, dof = _allowance(solution, rows, waves)
    root = 1.0 / np.sqrt(kept)
    held = (solution.bread * solution.hold) @ solution.bread.T  # what is not told by the data may be anything plausible
    return Covariance(matrix * np.outer(root, root) + held, dof)


def _allowance(solution: Solution, rows: Rows, waves: Array) -> tuple[Array, Array]:
    """For each number the share of its variance that is left in fitted residuals, and its degrees of freedom."""
    A = whitened(rows.A, rows, solution.sigma, solution.weight)
    (n, nu, k), count = A.shape, len(waves)
    flat = A.reshape(-1, k)
    scale = np.linalg.norm(flat, axis=0)
    flat = flat / np.where(scale > 0.0, scale, 1.0)
    values, vectors = np.linalg.eigh(flat.T @ flat)
    values = np.maximum(values, 1e-14 * values[-1])
    Q = flat @ (vectors / np.sqrt(values))  # an orthonormal basis of the columns
    U = (vectors / np.sqrt(values)).T  # influence of each equation on each number: Q @ U
    U = U / np.maximum(np.linalg.norm(U, axis=0), 1e-300)
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


def _waves(rows: Rows) -> Array:
    """(waves, rows) cosines of mean square one, from half a wave on, over all rows or over a period of the motion."""
    length = period(rows) or len(rows)
    at = (np.arange(len(rows)) % length + 0.5) / length
    return np.asarray(np.sqrt(2.0) * np.cos(np.pi * np.arange(1, cosines(length) + 1)[:, None] * at))


def cosines(rows: int) -> int:
    """How many waves make a long-run covariance from so many rows."""
    return int(max(min(LEAST, rows - 1), min(SHARE * rows ** (2.0 / 3.0) + 1e-9, rows / 3)))


def period(rows: Rows) -> int:
    """After how many rows a motion is repeated; zero if it is not.

    Columns of one period on differ by a small part of what columns at random times differ by.
    """
    n = len(rows)
    x = rows.A.reshape(n, -1)
    x = x - x.mean(axis=0)
    size = np.sqrt(np.mean(x**2, axis=0))
    x = x[:, size > 1e-9 * size.max(initial=0.0)] / size[size > 1e-9 * size.max(initial=0.0)]
    lags = np.arange(1, n // 2 + 1)
    if len(lags) < SHORTEST or not x.size:
        return 0
    F = np.fft.rfft(x, 2 * n, axis=0)
    R = np.fft.irfft(np.sum(np.abs(F) ** 2, axis=1))[lags]
    power = np.concatenate([[0.0], np.cumsum(np.sum(x**2, axis=1))])
    both = power[n - lags] + power[n] - power[lags]
    apart = 1.0 - 2.0 * R / np.maximum(both, 1e-300)
    begun = int(np.argmax(apart > 0.5))  # before, rows are alike as neighbours are
    found = np.flatnonzero(apart[begun:] < REPEATED)
    if apart.max() <= 0.5 or not len(found):
        return 0
    first = begun + int(found[0])
    last = first + int(np.argmax(apart[first:] >= REPEATED)) if np.any(apart[first:] >= REPEATED) else len(apart)
    return int(lags[first + int(np.argmin(apart[first:last]))])
