"""Where a platform is when its legs stand at their homes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linkwise.vector import Vec3

DIGITS = 12  # beyond which numbers of a position are rounding


def nearest(at: Sequence[Vec3], tips: Sequence[Vec3], motion: str) -> tuple[float, ...]:
    """The position of a platform whose points `at` are nearest to the tips of legs.

    Homes need not meet, so that legs may stand elsewhere at that position.
    """
    found = _nearest(np.array(at, dtype=float), np.array(tips, dtype=float), motion)
    return tuple((np.round(found, DIGITS) + 0.0).tolist())


def _nearest(at: NDArray[np.float64], tips: NDArray[np.float64], motion: str) -> NDArray[np.float64]:
    if motion == "translation":
        return np.asarray((tips - at).mean(axis=0))
    middle, centre = at.mean(axis=0), tips.mean(axis=0)
    H = (tips - centre).T @ (at - middle)
    if motion == "planar":
        angle = np.arctan2(H[1, 0] - H[0, 1], H[0, 0] + H[1, 1])
        c, s = np.cos(angle), np.sin(angle)
        p = centre[:2] - np.array([[c, -s], [s, c]]) @ middle[:2]
        return np.array([p[0], p[1], angle])
    R = _nearest_turn(H)
    from scipy.spatial.transform import Rotation

    return np.concatenate([centre - R @ middle, Rotation.from_matrix(R).as_quat()])


def _nearest_turn(H: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rotation R with the largest trace of R^T H."""
    U, _, Vt = np.linalg.svd(H)
    U[:, 2] *= np.sign(np.linalg.det(U @ Vt))
    return np.asarray(U @ Vt)
