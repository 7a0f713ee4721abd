"""Where the platform is when all legs stand at their home."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.kinematics import pose as tree_pose
from linkwise.parallel.robot import ParallelRobot

DIGITS = 12  # beyond which numbers of a pose are rounding


def home_pose(robot: ParallelRobot) -> NDArray[np.float64]:
    """The pose (nq) whose points of the platform are nearest to the tips of the legs at their `home`.

    Homes need not meet, so that legs may stand elsewhere at that pose, or not even reach it.
    """
    return np.round(_nearest(robot), DIGITS) + 0.0


def _nearest(robot: ParallelRobot) -> NDArray[np.float64]:
    at = np.array([leg.at for leg in robot.legs])
    tips = np.array([_tip(robot, k) for k in range(len(robot.legs))])
    if robot.mobility == "translation":
        return np.asarray((tips - at).mean(axis=0))
    middle, centre = at.mean(axis=0), tips.mean(axis=0)
    R = _nearest_turn((tips - centre).T @ (at - middle), robot.motion.plane)
    p = centre - R @ middle
    if robot.motion.plane:
        return np.array([p[0], p[1], np.arctan2(R[1, 0], R[0, 0])])
    from scipy.spatial.transform import Rotation

    return np.concatenate([p, Rotation.from_matrix(R).as_quat()])


def _tip(robot: ParallelRobot, k: int) -> NDArray[np.float64]:
    """The tip of a leg at its home, in the world."""
    leg = robot.legs[k]
    T = np.reshape(tree_pose.plain(leg.placed, list(leg.home_positions), frame=f"{leg.name}.{leg.tip}"), (4, 4))
    return np.asarray(T[:3, 3], dtype=float)


def _nearest_turn(H: NDArray[np.float64], plane: bool) -> NDArray[np.float64]:
    """The rotation R with the largest trace of R^T H; about z alone for a planar machine."""
    if plane:
        angle = np.arctan2(H[1, 0] - H[0, 1], H[0, 0] + H[1, 1])
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    U, _, Vt = np.linalg.svd(H)
    U[:, 2] *= np.sign(np.linalg.det(U @ Vt))
    return np.asarray(U @ Vt)
