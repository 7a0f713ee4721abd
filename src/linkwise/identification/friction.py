"""Friction laws that are no linear columns: which speed or distance fits best, drive by drive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from linkwise.identification.laws import Axis
from linkwise.identification.least_squares import Solution, solve
from linkwise.identification.samples import Rows, Samples
from linkwise.identification.statistics import APART
from linkwise.identification.structure import Structure
from linkwise.motion.trajectory import Array

SPEEDS = np.geomspace(0.01, 0.5, 12)  # of the highest speed, at which Stribeck's friction may have decayed
DISTANCES = np.geomspace(1e-4, 0.1, 16)  # of the range of motion, over which Coulomb friction may come back
WORTH = 30.0  # by how much twice the likelihood must rise for a drive to get a distance of its own

Trial = Callable[[float], Array]


def searched(samples: Samples, structure: Structure, rows: Rows) -> Structure:
    """The structure with the best distances of presliding and the best speeds of Stribeck's friction.

    `rows` have the structure's columns, perhaps with others after them. For each drive every candidate's column is
    tried beside all other columns, whose parameters are free; where none is better by more than chance, there is none.
    """
    kept = {structure.names[k]: float(structure.prior[k]) for k in structure.kept}
    state, _ = samples.state(structure)
    log = samples.smoothed.log
    if "presliding" in structure.friction:
        found: dict[str, float] = {}
        for axis in structure.axes:
            span = float(np.ptp(samples.smoothed.q[:, structure.robot.slots[axis.name].q])) or 1.0

            def trial(reach: float, axis: Axis = axis) -> Array:
                new = replace(structure, presliding={axis.name: reach})
                return samples.column(new.pushed(axis, state, log.runs, log.rate, samples.step)[0])

            column = axis.number("coulomb")
            best = _best(rows, axis, kept, column, trial, DISTANCES * span)
            found |= {axis.name: best} if best else {}
        structure = replace(structure, presliding=found) if found else structure
    if "stribeck" in structure.friction:
        speeds = {}
        for axis in structure.axes:
            top = float(np.abs(axis.speed(state.qd)).max()) or 1.0

            def decayed(speed: float, axis: Axis = axis) -> Array:
                v = axis.speed(state.qd)
                return samples.column(structure.sign(axis, state) * np.exp(-((v / speed) ** 2)))

            column = axis.number("stribeck")
            speeds[axis.name] = _best(rows, axis, kept, column, decayed, SPEEDS * top, exact=True)
        structure = replace(structure, stribeck=speeds)
    return structure


def _best(
    rows: Rows, axis: Axis, names: dict[str, float], column: str, trial: Trial, candidates: Array, exact: bool = False
) -> float:
    """The candidate whose column explains most in place of the present one; zero if that is hardly more.

    If `exact`, the best value between candidates, even if it explains little.
    """
    if column not in names:
        return float(candidates[len(candidates) // 2]) if exact else 0.0
    place = list(names).index(column)
    others = np.arange(rows.A.shape[2]) != place
    # the equations are in what differs from the prior, which has some of this friction already
    left = replace(rows.take(others), b=rows.b + names[column] * rows.A[:, :, place])
    solution = solve(left, "weighted")
    u = axis.u[0][0]
    now = _explained(left, solution, u, rows.A[:, u, place])
    gains = [_explained(left, solution, u, trial(x)) for x in candidates]
    k = int(np.argmax(gains))
    if exact:
        from scipy.optimize import minimize_scalar

        near = np.log(candidates[[max(k - 1, 0), min(k + 1, len(candidates) - 1)]])
        found = minimize_scalar(
            lambda x: -_explained(left, solution, u, trial(np.exp(x))), bounds=near, method="bounded"
        )
        return float(np.exp(found.x))
    return float(candidates[k]) if gains[k] > now + WORTH else 0.0


def _explained(rows: Rows, solution: Solution, u: int, column: Array) -> float:
    """Twice the rise of the likelihood by a further column in the equations of one drive."""
    weight = np.where(rows.used[:, u], rows.trust[:, u] ** 2 / solution.sigma[u, u], 0.0)
    c = column * weight
    along = rows.A[:, u].T @ c
    rest = float(column @ c - along @ solution.bread @ along)
    alone = float(c @ solution.residual[:, u])
    n = float(rows.used[:, u].sum()) / APART
    share = min(alone**2 / max(rest, 1e-300) / max(float(solution.residual[:, u] ** 2 @ weight), 1e-300), 1.0 - 1e-12)
    return -n * float(np.log(1.0 - share))
