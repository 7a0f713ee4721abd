"""How large parameters may well be, and parameters of a whole robot that are near a prior in these sizes."""

from __future__ import annotations

import numpy as np

from linkwise.identification.samples import Rows
from linkwise.identification.structure import INERTIAL, Structure
from linkwise.motion.trajectory import Array


def plausible(structure: Structure, rows: Rows) -> Array:
    """(kept,) how large each group may well be: as its link's mass and length suggest, or as torques do."""
    robot = structure.machine
    prior = robot.parameters()
    inertial = prior[: INERTIAL * len(robot.moving_links)].reshape(-1, INERTIAL)
    masses = np.where(
        inertial[:, 0] > 0.0, inertial[:, 0], max(float(inertial[:, 0].sum() / max(len(inertial), 1)), 1.0)
    )
    size = np.full(len(structure.names), np.nan)
    for k, (m, own) in enumerate(zip(masses, inertial, strict=True)):
        length = max(0.1, float(np.linalg.norm(own[1:4])) / m, float(np.sqrt(max(own[[4, 7, 9]].max(), 0.0) / m)))
        size[INERTIAL * k : INERTIAL * (k + 1)] = [m, *[m * length] * 3, *[m * length**2] * 6]
    group = np.sqrt(np.nansum((structure.mapping * np.nan_to_num(size)) ** 2, axis=1))
    torque = np.sqrt(np.sum(rows.b**2, axis=0) / np.maximum(rows.used.sum(axis=0), 1))
    column = np.sqrt(np.mean(rows.A**2, axis=0))
    own = np.abs(column * structure.prior[structure.kept]).max(axis=1)  # of joints behind springs, whose sum is zero
    torque = np.where(torque > 0.0, torque, own)
    laws = np.array([structure.names[k].rpartition(".")[2] for k in structure.kept])
    for law in set(laws[np.isnan(size[structure.kept])]):  # a joint that hardly moves tells nothing of its friction
        same = laws == law
        column[:, same] = np.where(
            column[:, same] > 0.0, np.maximum(column[:, same], column[:, same].max() / 10.0), 0.0
        )
    other = np.where(column > 0.0, torque[:, None] / np.where(column > 0.0, column, 1.0), 0.0).max(axis=0)
    other = np.where(other > 0.0, other, 1.0)  # of a column that is zero throughout any size will do
    return np.where(np.isnan(size[structure.kept]), other, group)


def spread_over(structure: Structure, base: Array) -> Array:
    """All parameters with these groups, as near to the prior as can be in the sizes of the links."""
    free = structure.free
    M = structure.mapping
    prior = np.where(free, structure.prior, 0.0)
    scale = np.maximum(np.abs(structure.prior), 1e-3)
    inertial = INERTIAL * len(structure.machine.moving_links)
    for k in range(0, inertial, INERTIAL):
        m = max(structure.prior[k], 0.1)
        scale[k : k + INERTIAL] = [m, *[0.1 * m] * 3, *[0.01 * m] * 6]
    D = scale**2
    step = D * (M.T @ np.linalg.lstsq((M * D) @ M.T, base - M @ prior, rcond=None)[0])
    return np.asarray(np.where(free, structure.prior + step, structure.prior))
