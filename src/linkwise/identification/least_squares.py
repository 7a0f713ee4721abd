"""Linear estimators: ordinary, weighted, iteratively reweighted, total and instrumental-variable least squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.identification.samples import Rows
from linkwise.motion.trajectory import Array

ROUNDS = 12  # of reweighting, at most
SETTLED = 1e-4  # relative change of weights with which reweighting ends
RARE = 1e-3  # share of rows of a normal distribution that count less, as outliers would
FLAT = 1e-14  # curvature, of the largest, below which a direction is left out
NOISY = 0.5  # of a column's power: noise of positions, from which on it tells nothing
LAG, LASTING = 4, 0.3  # rows between residuals that a low-pass leaves apart, and their correlation if they are no noise
SHRUNK = 0.02  # correlations between drives are taken smaller by this, so that they can be inverted

ESTIMATORS = {
    "ordinary": "every equation counts the same",
    "weighted": "drives count by the variance of their residuals",
    "reweighted": "by the covariance of noise that drives share too, and outliers count less",
    "total": "as reweighted, and the columns are as noisy as the positions make them",
    "instrumental": "as reweighted, and the columns are multiplied by those of another, less noisy motion",
}


@dataclass(frozen=True, eq=False)
class Solution:
    """An estimate, and what its covariance is made of.

    Attributes:
        x: (columns,) the estimate.
        bread: (columns, columns), the inverse of A'WA.
        scores: (rows, columns) what each instant adds to A'W residual, whose sum is zero.
        residual: (rows, nu); zero where an equation does not count.
        sigma: (nu, nu) covariance of the residuals.
        weight: (rows,) how much each row counts; below one for outliers.
        lost: (columns,) whether a column is mostly noise, so that its parameter is left as it was.
        hold: (columns,) the inverse variance with which each parameter is held where the data do not tell.
    """

    x: Array
    bread: Array
    scores: Array
    residual: Array
    sigma: Array
    weight: Array
    hold: Array
    lost: Any


def solve(
    rows: Rows, estimator: str = "reweighted", noise: Sequence[Rows] = (), other: Rows | None = None,
    start: Solution | None = None,
) -> Solution:  # fmt: skip
    """Columns' parameters from rows of equations.

    Args:
        rows: the equations.
        estimator: one of ESTIMATORS.
        noise: equations of motions moved by noise like that of the positions, each forth and back: their mean tells
            what the noise of the positions adds to sums of products, which is taken off.
        other: equations of another motion, as instruments.
        start: an estimate whose weights to begin with; "weighted" keeps them.
    """
    nu = rows.b.shape[1]
    sigma, weight = (np.eye(nu) if start is None else start.sigma), np.ones(len(rows))
    found = _weighted(rows, sigma, weight, estimator, noise, other)
    for _ in range({"ordinary": 0, "weighted": int(start is None)}.get(estimator, ROUNDS)):
        moving = np.logical_and(rows.used, ~rows.still)
        new, weight = _spread(found.residual * rows.trust, moving, weight, estimator)
        change = np.abs(new - sigma).max() / max(np.abs(new).max(), 1e-300)
        sigma = new
        found = _weighted(rows, sigma, weight, estimator, noise, other)
        if change < SETTLED:
            break
    return found


def _spread(residual: Array, used: Array, weight: Array, estimator: str) -> tuple[Array, Array]:
    """The covariance of residuals between drives, and the weights of rows that are no outliers."""
    from scipy.special import chdtri

    counted = used * weight[:, None]
    e = residual * counted
    pairs = np.maximum(counted.T @ counted, 1.0)
    sigma = (e.T @ e) / pairs
    least = 1e-24 * max(float(np.abs(residual).max(initial=0.0)) ** 2, 1e-200)
    sd = np.sqrt(np.maximum(np.diag(sigma), least))
    for u in np.flatnonzero(~used.any(axis=0)):
        sd[u] = 1.0
    R = sigma / np.outer(sd, sd)
    noise = np.zeros(len(sd)) if estimator == "weighted" else _is_noise(e)
    R = R * (1.0 - SHRUNK) * np.outer(noise, noise)
    np.fill_diagonal(R, 1.0)
    values, vectors = np.linalg.eigh(R)
    R = (vectors * np.maximum(values, SHRUNK / 2)) @ vectors.T
    sigma = R * np.outer(sd, sd)
    if estimator == "weighted":
        return sigma, weight
    count = np.maximum(used.sum(axis=1), 1)
    size = np.einsum("tu,uv,tv->t", residual * used, np.linalg.inv(sigma), residual * used)
    limit = chdtri(count, RARE)
    return sigma, np.sqrt(np.minimum(1.0, limit / np.maximum(size, 1e-300)))


def _is_noise(e: Array) -> Array:
    """(nu,) one for drives whose residuals do not last, zero for others.

    Noise that drives have in common is told apart from torques by its correlation. What a model lacks changes with
    the motion as columns do: taken for noise in common, it would move parameters of other drives.
    """
    power = np.maximum(np.sum(e * e, axis=0), 1e-300)
    return np.asarray(np.abs(np.sum(e[LAG:] * e[:-LAG], axis=0)) / power < LASTING, dtype=float)


def whitened(x: Array, rows: Rows, sigma: Array, weight: Array) -> Array:
    """Values of equations times the root of their weights, so that residuals are alike and independent of others."""
    root = rows.trust * np.sqrt(weight)[:, None]
    x = x * root.reshape(*root.shape, *[1] * (x.ndim - 2))
    if len(rows.patterns) == 1 and rows.used.all():
        return _times(_root(sigma), x)
    found = np.zeros_like(x)
    for at, places in rows.patterns:
        some = np.ix_(at, places)
        found[some] = _times(_root(sigma[np.ix_(places, places)]), x[some])
    return found


def _root(sigma: Array) -> Array:
    """T with T' T = sigma^-1."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(sigma)))


def _times(T: Array, x: Array) -> Array:
    return np.asarray(x @ T.T if x.ndim == 2 else np.matmul(T, x))


def _weighted(
    rows: Rows, sigma: Array, weight: Array, estimator: str, noise: Sequence[Rows], other: Rows | None
) -> Solution:
    """The estimate with weights that are known."""
    count = rows.A.shape[2]

    def white(x: Array) -> Array:
        return whitened(x, rows, sigma, weight)

    A, b = white(rows.A).reshape(-1, count), white(rows.b).ravel()
    held = np.zeros(count) if rows.size is None else 1.0 / rows.size
    scale = np.hypot(np.linalg.norm(A, axis=0), held)  # a column of a joint at rest is next to nothing beside its size
    scale = np.where(scale > 0.0, scale, 1.0)
    A /= scale
    Z, G, g, drift = A, A.T @ A, A.T @ b, np.zeros(count)
    lost = np.zeros(count, dtype=bool)
    if estimator == "instrumental" and other is not None:
        Z = white(other.A).reshape(-1, count) / scale
        G, g = Z.T @ A, Z.T @ b
    elif noise:
        moved = [white(side.A).reshape(-1, count) / scale for side in noise]
        N = sum(m.T @ m for m in moved) / len(moved) - G
        n = sum(m.T @ b for m in moved) / len(moved) - g
        ratio = _lagrange(G, g, float(b @ b), N, n) if estimator == "total" else 1.0
        lost = np.diag(N) > NOISY * np.diag(G)
        G, g = G - ratio * N, g - ratio * n
    hold = (held / scale) ** 2
    G = G + np.diag(hold)
    G[lost], G[:, lost], g[lost] = 0.0, 0.0, 0.0
    bread = np.linalg.pinv(G, rcond=FLAT)
    x = bread @ g
    if not noise:
        for _ in range(2):  # what the square of the condition has cost
            x += bread @ (Z.T @ (b - A @ x) - hold * x)
    else:
        drift = ratio * (N @ x - n) / len(rows)
    e = (b - A @ x).reshape(len(rows), -1)
    scores = np.einsum("tuk,tu->tk", Z.reshape(len(rows), -1, count), e) + drift
    residual = np.where(rows.used, rows.b - rows.A @ (x / scale), 0.0)
    shape = np.outer(scale, scale)
    return Solution(x / scale, bread / shape, scores * scale, residual, sigma, weight, hold * scale**2, lost)


def _lagrange(G: Array, g: Array, bb: float, N: Array, n: Array) -> float:
    """How much of the noise total least squares takes off: the smallest root of det(M - ratio noise) = 0, at most one.

    M are the sums of products of columns and torques, noise those that the noise of the positions adds.
    """
    from scipy.linalg import eigh

    M = np.block([[G, g[:, None]], [g[None, :], np.array([[bb]])]])
    added = np.block([[N, n[:, None]], [n[None, :], np.array([[0.0]])]])
    lowest = eigh(added, M + 1e-12 * np.trace(M) / len(M) * np.eye(len(M)), eigvals_only=True)[-1]
    return float(min(1.0, 1.0 / lowest)) if lowest > 0.0 else 1.0
