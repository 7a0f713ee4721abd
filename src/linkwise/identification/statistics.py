"""Statistics of a fit: whiteness of residuals, errors by drive, comparison of models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise.identification.covariance import Covariance
from linkwise.identification.laws import FRICTION
from linkwise.identification.samples import Rows
from linkwise.identification.structure import INERTIAL, Structure
from linkwise.motion.trajectory import Array

LAGS = 20  # of a test for whiteness
APART = 2  # rows between those whose low-pass does not overlap much
SUSPICIOUS = 0.01  # probability below which residuals are not taken for white
NEGATIVE = 4.0  # standard errors by which friction may be negative without a word
THROUGHOUT = 0.9  # of the rows: a drive that is at rest in as many is so throughout
OTHER_SIZE = 30.0  # times the torques of the robot as given, from which on units are asked about


class Whiteness(NamedTuple):
    """Ljung and Box's test of the residuals of a drive.

    Attributes:
        drive: its name.
        probability: of correlations as large as these, were the residuals white.
        correlation: the largest one.
        lag: its distance in s.
    """

    drive: str
    probability: float
    correlation: float
    lag: float

    @property
    def white(self) -> bool:
        """Whether they may well be white."""
        return self.probability >= SUSPICIOUS


def whiteness(names: tuple[str, ...], residual: Array, rows: Rows) -> tuple[Whiteness, ...]:
    """Tests of the residuals (rows, nu) of each drive; rows so far apart that the low-pass does not correlate them."""
    from scipy.special import chdtrc

    found = []
    for u, name in enumerate(names):
        kept = rows.used[:, u]
        e = np.where(kept, residual[:, u], 0.0)[::APART]
        n = int(kept[::APART].sum())
        lags = min(LAGS, n // 4)
        if lags < 1 or not np.any(e):
            found.append(Whiteness(name, 1.0, 0.0, 0.0))
            continue
        r = np.array([e[k:] @ e[: len(e) - k] for k in range(1, lags + 1)]) / (e @ e)
        Q = n * (n + 2) * float(np.sum(r**2 / (n - np.arange(1, lags + 1))))
        worst = int(np.argmax(np.abs(r)))
        found.append(Whiteness(name, float(chdtrc(lags, Q)), float(r[worst]), (worst + 1) * APART / rows.rate))
    return tuple(found)


class Error(NamedTuple):
    """Torques that a model does not explain.

    Attributes:
        drives: names of the drives that were measured.
        relative: (drives,) rms of the residual over rms of the torque.
        rms: (drives,) rms of the residual, N m or N.
    """

    drives: tuple[str, ...]
    relative: Array
    rms: Array

    @property
    def mean(self) -> float:
        """Of the relative errors."""
        return float(np.mean(self.relative)) if len(self.relative) else float("nan")

    def __str__(self) -> str:
        parts = [f"{name} {100.0 * x:.3g} %" for name, x in zip(self.drives, self.relative, strict=True)]
        return f"mean {100.0 * self.mean:.3g} %: {', '.join(parts)}"


def error_of(names: tuple[str, ...], measured: Array, predicted: Array) -> Error:
    """The relative error of each drive that was measured."""
    both = np.isfinite(measured) & np.isfinite(predicted)
    kept = [u for u in range(len(names)) if both[:, u].any()]

    def rms(x: Array, u: int) -> float:
        return float(np.sqrt(np.mean(x[both[:, u], u] ** 2)))

    left = np.array([rms(measured - predicted, u) for u in kept])
    size = np.array([rms(measured, u) for u in kept])
    return Error(tuple(names[u] for u in kept), left / np.where(size > 0.0, size, np.nan), left)


class Test(NamedTuple):
    """Whether parameters are zero, or whatever was asked: Wald's statistic by robust covariances.

    Attributes:
        statistic: F.
        probability: of one as large, were it so.
        dof: of F.
    """

    statistic: float
    probability: float
    dof: tuple[float, float]


def wald(x: Array, covariance: Covariance, places: Any) -> Test:
    """The test of x[places] = 0, scaled for the few degrees of freedom of a long-run covariance."""
    from scipy.special import fdtrc

    C = covariance.matrix[np.ix_(places, places)]
    q, B = len(places), float(covariance.dof[places].min())
    size = float(x[places] @ np.linalg.solve(C, x[places]))
    second = max(B - q + 1.0, 1.0)
    F = size * second / (B * q)
    return Test(F, float(fdtrc(q, second, F)), (float(q), second))


def resting(structure: Structure, rows: Rows) -> Any:
    """(kept,) whether a group is friction or the rotor of a drive that is at rest throughout: it tells nothing."""
    still = [a for a in structure.axes if rows.still[:, a.u[0][0]].mean() > THROUGHOUT]
    own = tuple(a.number(law) for a in still for law in (*FRICTION, "rotor"))
    inertial = INERTIAL * len(structure.machine.moving_links)
    return np.array([k >= inertial and structure.names[k].startswith(own) for k in structure.kept])


def doubts(structure: Structure, base: Array, errors: Array, rows: Rows) -> list[str]:
    """What looks wrong in torques: signs, by friction that drives on, and units.

    Args:
        structure: with the robot as given.
        base: (kept,) what was found for its groups.
        errors: (kept,) standard errors, NaN where the data do not tell.
        rows: the equations, less what the robot as given explains.
    """
    found = []
    for k, value, error in zip(structure.kept, base, errors, strict=True):
        joint, _, law = structure.names[k].rpartition(".")
        if law == "coulomb" and value < -NEGATIVE * error:
            found.append(
                f"friction of {joint} is negative, which no drive has: does its torque, or its position, have the other"
                " sign, or is it of another joint? Say units={'tau': [1, -1, ...]}"
            )
    prior = structure.mapping @ np.where(structure.free, structure.prior, 0.0)
    model = np.sqrt(np.mean((rows.A @ prior) ** 2, axis=0)).max()
    ratio = np.sqrt(np.mean((rows.b + rows.A @ prior) ** 2, axis=0)).max() / max(model, 1e-300)
    if model > 0.0 and not 1.0 / OTHER_SIZE < ratio < OTHER_SIZE:
        found.append(
            f"torques are {ratio:.2g} times those of the robot as given: are they in N m? Say units={{'tau': 'mNm'}},"
            " or give the factor"
        )
    return found


def information(residual: Array, rows: Rows, count: int) -> tuple[float, float]:
    """Akaike's and the Bayesian criterion of independent rows: lower is better."""
    n = rows.used.sum(axis=0)
    some = n > 0
    variance = np.sum(residual[:, some] ** 2, axis=0) / n[some]
    independent = n[some] / APART
    fit = float(np.sum(independent * np.log(np.maximum(variance, 1e-300))))
    return fit + 2.0 * count, fit + count * float(np.log(max(independent.sum(), 2.0)))
