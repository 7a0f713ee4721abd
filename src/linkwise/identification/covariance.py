"""Covariances of estimates that hold although residuals are alike from one instant to the next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise.identification.least_squares import Solution
from linkwise.identification.samples import Rows
from linkwise.motion.trajectory import Array

SHARE = 0.4  # cosines are 0.4 rows^(2/3)
LEAST = 8  # cosines at least


class Covariance(NamedTuple):
    """Of an estimate, with the degrees of freedom of Student's distribution that its intervals have."""

    matrix: Array
    dof: float


def robust(solution: Solution, rows: Rows) -> Covariance:
    """The sandwich A^-1 S A^-1, in which S is the long-run covariance of the scores.

    S is the mean of the outer products of the scores' cosine transforms at the lowest frequencies, which makes
    intervals those of Student's t with as many degrees of freedom as there are cosines. Residuals that are alike over
    a time that is short against the shortest of these waves may have any colour, and any variance along the motion.

    Source: Lazarus, Lewis, Stock, Watson (2018), HAR inference: recommendations for practice.
    """
    count = cosines(len(rows))
    S = long_run(solution.scores, count)
    equations = float(rows.used.sum())
    lost = equations / max(equations - len(solution.x), 1.0)
    return Covariance(lost * solution.bread @ S @ solution.bread.T, float(count))


def cosines(rows: int) -> int:
    """How many waves make a long-run covariance from so many rows."""
    return int(max(LEAST, min(SHARE * rows ** (2.0 / 3.0), rows / 3)))


def long_run(scores: Array, count: int) -> Array:
    """The covariance of the sum of correlated rows, from so many cosine transforms of them."""
    from scipy.fft import dct

    waves = dct(scores, axis=0, norm="ortho")[1 : count + 1]
    return np.asarray(waves.T @ waves * (len(scores) / len(waves)))
