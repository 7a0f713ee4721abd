"""Positive pseudo-inertias by log-Cholesky coordinates: no constraint is left, and derivatives are exact.

A scaled pseudo-inertia is S = margin 1 + L L^T with a lower triangular L whose diagonal is exp(a): every choice of the
ten numbers is a body, and every body but those on the boundary is one choice. A convex function of S has one stationary
point in these coordinates too, since L -> L L^T is a diffeomorphism. Where the optimum is on the boundary, a runs to
minus infinity: so log det(S - margin 1) = 2 sum(a), which is linear here, is added with a weight that goes to zero, and
what is left of it in the objective is known.

Source: C. Rucker and P. M. Wensing, Smooth parameterization of rigid-body inertia, RA-L 7(2), 2022. We depart from it
in that the coordinates are relative to the prior's Cholesky factor, in the barrier, and in Newton's method.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Array = NDArray[Any]

# the upper triangle of a symmetric matrix by columns, off the diagonal times sqrt(2): lengths are Frobenius norms
UPPER = tuple((i, j) for j in range(4) for i in range(j + 1))
LOWER = tuple((j, i) for i, j in UPPER)  # the same places in L
SCALE = np.array([1.0 if i == j else np.sqrt(2.0) for i, j in UPPER])
ROW, COLUMN = (np.array(k) for k in zip(*LOWER, strict=True))
DIAGONAL = ROW == COLUMN

STAGES = 24  # of the barrier's weight
SHRINK = 0.1  # of the weight from one stage to the next
STEPS = 60  # of Newton's method in one stage
ENOUGH = 1e-7  # of what the barrier may leave where rounding ends all progress
CENTRED = 1e-2  # Newton's decrement over the weight, below which a stage ends
WIDEST = 4.0  # of a step, in logarithms
ROUND_OFF = 1e-15  # of the diagonal of a matrix that would be positive definite without rounding
INSIDE = 0.95  # of the way to the boundary
HALVINGS = 30  # of a step that does not go down


class Program(NamedTuple):
    """Minimise 1/2 w^T P w + c^T w + entropy sum(-log det S + tr S) with z = centre + w, and S the links in z.

    Subject to S >= margin 1 for every link, whose ten numbers stand first in z as in `packed`, and rows @ z >= least.
    """

    P: Array
    c: Array
    centre: Array
    links: int
    margin: float
    rows: Array
    least: Array
    entropy: float = 0.0

    def inner(self, z: Array) -> float:
        """The objective."""
        w = z - self.centre
        value = 0.5 * w @ self.P @ w + self.c @ w
        if self.entropy:
            S = matrices(z, self.links)
            value = value + self.entropy * (np.trace(S, axis1=1, axis2=2) - np.log(np.linalg.det(S))).sum()
        return value


class Found(NamedTuple):
    """Where a solver stopped: z, steps that were taken, and in words how it ended ("solved", if it did)."""

    z: Array
    iterations: int
    status: str


def packed(S: Array) -> Array:
    """The ten numbers (..., 10) of symmetric 4 by 4 matrices."""
    return np.stack([S[..., i, j] for i, j in UPPER], axis=-1) * SCALE


def unpacked(s: Array) -> Array:
    """Symmetric 4 by 4 matrices of ten numbers."""
    S = np.zeros((*s.shape[:-1], 4, 4), dtype=s.dtype)
    for k, (i, j) in enumerate(UPPER):
        S[..., i, j] = S[..., j, i] = s[..., k] / SCALE[k]
    return S


def matrices(z: Array, links: int) -> Array:
    """The scaled pseudo-inertias (links, 4, 4) in z."""
    return unpacked(z[: 10 * links].reshape(links, 10))


def factors(theta: Array, links: int) -> Array:
    """The lower triangular factors L (links, 4, 4) of log-Cholesky coordinates."""
    entries = theta[: 10 * links].reshape(links, 10).copy()
    entries[:, DIAGONAL] = np.exp(entries[:, DIAGONAL])
    L = np.zeros((links, 4, 4), dtype=entries.dtype)
    L[:, ROW, COLUMN] = entries
    return L


def point(program: Program, theta: Array) -> Array:
    """z of log-Cholesky coordinates; numbers that belong to no link are the same in both."""
    L = factors(theta, program.links)
    S = L @ np.swapaxes(L, 1, 2) + program.margin * np.eye(4)
    return np.concatenate([packed(S).ravel(), theta[10 * program.links :]])


def coordinates(program: Program, z: Array) -> Array:
    """Log-Cholesky coordinates of a z that is strictly inside."""
    L = np.linalg.cholesky(matrices(z, program.links) - program.margin * np.eye(4))
    entries = L[:, ROW, COLUMN]
    entries[:, DIAGONAL] = np.log(entries[:, DIAGONAL])
    return np.concatenate([entries.ravel(), z[10 * program.links :]])


def value(program: Program, theta: Array, weight: float) -> float:
    """The objective with its barrier; infinite outside."""
    z = point(program, theta)
    slack = program.rows @ z - program.least
    if np.any(np.real(slack) <= 0.0) or not np.all(np.isfinite(z)):
        return np.inf
    a = theta[: 10 * program.links].reshape(-1, 10)[:, DIAGONAL]
    return program.inner(z) - weight * (2.0 * a.sum() + np.log(slack).sum())


def tangents(theta: Array, links: int) -> Array:
    """Derivatives (links, 10, 10) of the ten numbers of S by coordinates: dS = dL L^T + L dL^T."""
    L = factors(theta, links)
    J: Array = np.zeros((links, 10, 10), dtype=L.dtype)
    for k, (i, j) in enumerate(LOWER):
        dS = np.zeros((links, 4, 4), dtype=L.dtype)
        dS[:, i, :] += L[:, :, j]
        dS[:, :, i] += L[:, :, j]
        J[:, :, k] = packed(dS) * (L[:, i, j][:, None] if i == j else 1.0)
    return J


def derivatives(program: Program, theta: Array, weight: float) -> tuple[Array, Array, Array]:
    """Gradient and Hessian of `value` by log-Cholesky coordinates, by hand; and a matrix that is always positive.

    The latter is the Hessian by S, which is convex, seen in coordinates: what is left where they were straight.
    """
    n = program.links
    L, z, J = factors(theta, n), point(program, theta), tangents(theta, n)
    slack = program.rows @ z - program.least
    by_z = program.P @ (z - program.centre) + program.c - weight * (program.rows.T @ (1.0 / slack))
    H = program.P + weight * (program.rows.T / slack**2) @ program.rows
    if program.entropy:
        inverse = np.linalg.inv(matrices(z, n))
        by_z[: 10 * n] += program.entropy * packed(np.eye(4) - inverse).ravel()
        _add_blocks(H, program.entropy * _bends_of_log_determinant(inverse))
    gradient, straight = by_z.copy(), H.copy()
    for k in range(n):
        at = slice(10 * k, 10 * k + 10)
        gradient[at] = J[k].T @ by_z[at]
        straight[at, :] = J[k].T @ straight[at, :]
        straight[:, at] = straight[:, at] @ J[k]
    # the second differential of S is 2 dL dL^T, and that of exp is exp
    slope = np.where(DIAGONAL, L[:, ROW, COLUMN], 1.0)
    G = unpacked(by_z[: 10 * n].reshape(n, 10))
    bend = 2.0 * G[:, ROW][:, :, ROW] * (COLUMN[:, None] == COLUMN) * slope[:, :, None] * slope[:, None, :]
    bend[:, range(10), range(10)] += np.where(DIAGONAL, gradient[: 10 * n].reshape(n, 10), 0.0)
    hessian, convex = straight.copy(), straight
    _add_blocks(hessian, bend)
    X = np.linalg.inv(L @ np.swapaxes(L, 1, 2))
    _add_blocks(convex, weight * np.swapaxes(J, 1, 2) @ _bends_of_log_determinant(X) @ J)
    gradient[: 10 * n] -= 2.0 * weight * np.tile(DIAGONAL, n)
    return gradient, hessian, convex


def _bends_of_log_determinant(inverse: Array) -> Array:
    """The Hessians (links, 10, 10) of -log det, from inverse matrices."""
    unit = unpacked(np.eye(10))
    return packed(inverse[:, None] @ unit @ inverse[:, None])


def _add_blocks(matrix: Array, blocks: Array) -> None:
    """Add blocks of ten to the diagonal of a matrix."""
    for k, block in enumerate(blocks):
        matrix[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] += block


def solve(program: Program, start: Array, accuracy: float = 1e-10) -> Found:
    """The optimum by Newton's method, for weights of the barrier that shrink to nothing.

    Args:
        program: to be solved.
        start: z, strictly inside.
        accuracy: what the barrier may leave, relative to how far the objective is above its value without constraints.
    """
    theta = coordinates(program, start)
    terms = 4 * program.links + len(program.least)
    lowest = 4.0 * program.entropy * program.links if program.entropy else program.inner(program.centre)
    first = max(abs(program.inner(start) - lowest), 1e-300)
    weight, steps, left = 0.1 * first / terms, 0, 1.0
    for _ in range(STAGES):
        theta, taken, stuck = _centred(program, theta, weight)
        steps += taken
        left = weight * terms / max(abs(program.inner(point(program, theta)) - lowest), 1e-6 * first)
        if left <= accuracy or stuck:
            break
        weight *= SHRINK
    return Found(point(program, theta), steps, "solved" if left <= ENOUGH else "stopped early")


def _centred(program: Program, theta: Array, weight: float) -> tuple[Array, int, bool]:
    """The minimum for one weight of the barrier; the steps that it took, and whether it was not reached.

    Newton's step is taken as it is, and straight on in S: data that determine some combinations very well make a narrow
    valley, which is straight in S and curved in coordinates; near the boundary coordinates are the better measure.
    Where neither goes down as promised, the convex matrix gives a step that does.
    """
    now = value(program, theta, weight)
    for k in range(STEPS):
        gradient, hessian, convex = derivatives(program, theta, weight)
        sure = _newton(convex + ROUND_OFF * np.diag(np.diag(convex)), gradient)
        if sure is None:
            return theta, k, True
        if -float(gradient @ sure) <= CENTRED * weight:
            return theta, k, False
        tries = [_onward(program, theta, sure, weight)]
        step = _newton(hessian, gradient)
        if step is not None:
            bent = theta + step * min(1.0, WIDEST / float(np.abs(step).max()))
            tries += [(bent, value(program, bent, weight)), _onward(program, theta, step, weight)]
        best, then = min(tries, key=lambda found: found[1])
        if not then < now:
            return theta, k, True  # rounding leaves nothing to gain
        theta, now = best, then
    return theta, STEPS, True


def _newton(hessian: Array, gradient: Array) -> Array | None:
    """Newton's step, where the matrix is positive definite."""
    try:
        return -cho_solve(cho_factor(hessian), gradient)
    except (LinAlgError, ValueError):
        return None


def _onward(program: Program, theta: Array, step: Array, weight: float) -> tuple[Array, float]:
    """Where a step leads straight on in S, at most most of the way to the boundary and until it goes down."""
    n = program.links
    z, dz = point(program, theta), step.copy()
    dz[: 10 * n] = (tangents(theta, n) @ step[: 10 * n].reshape(n, 10, 1)).ravel()
    L = factors(theta, n)
    inner = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, matrices(dz, n)), 1, 2))
    slack, change = program.rows @ z - program.least, program.rows @ dz
    steepest = max(float(-np.linalg.eigvalsh(inner).min(initial=0.0)), float((-change / slack).max(initial=0.0)))
    length, now = min(1.0, INSIDE / max(steepest, 1e-12)), value(program, theta, weight)
    for _ in range(HALVINGS):
        try:
            there = coordinates(program, z + length * dz)
        except LinAlgError:
            there = theta
        then = value(program, there, weight)
        if then < now:
            return there, then
        length *= 0.5
    return theta, now
