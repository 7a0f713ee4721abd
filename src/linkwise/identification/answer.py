"""The answer of an identification: parameters of the whole robot, intervals, tests, errors, words."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.identification.covariance import Covariance, robust
from linkwise.identification.delays import with_delays
from linkwise.identification.estimates import Estimates
from linkwise.identification.fit import Fit
from linkwise.identification.least_squares import Solution, solve
from linkwise.identification.physical import consistent
from linkwise.identification.samples import Rows, Samples
from linkwise.identification.sizes import spread_over
from linkwise.identification.statistics import Error, doubts, error_of, information, resting, whiteness
from linkwise.identification.steps import Steps
from linkwise.identification.structure import INERTIAL, Structure
from linkwise.motion.trajectory import Array

SURE = 0.5  # of what a parameter may well be: a standard error above tells nothing
FAR = 3.0  # standard errors by which physical consistency may move an estimate without a word
BLOCKS = 5  # of a log, each left out once


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of a model when it is estimated.

    Attributes:
        structure: with the laws of friction that were chosen.
        samples: the smooth log.
        prior: of the groups.
        rows: equations in what differs from the prior, torques brought forward by the delay.
        late: (nu,) delays in s.
        delay: (delays, rows, nu) their columns.
        noise: equations of motions moved by noise.
        other: equations of another motion, as instruments.
    """

    structure: Structure
    samples: Samples
    prior: Array
    rows: Rows
    late: Array
    delay: Array
    noise: tuple[Rows, ...] = field(default=())
    other: Rows | None = None

    def solve(self, estimator: str) -> tuple[Solution, Covariance]:
        """An estimate with its covariance, delays among its numbers."""
        if self.structure.sprung and estimator == "reweighted":
            estimator = "weighted"  # two rows have the torque of one motor: correlated, they would make their sum zero
        rows, noise = with_delays(self.rows, self.delay), [with_delays(rows, self.delay) for rows in self.noise]
        other = None if self.other is None else with_delays(self.other, self.delay)
        solution = solve(rows, estimator, noise, other)
        return solution, robust(solution, rows)


def answer(found: Found, steps: Steps, estimator: str, physical: bool, gains: Array | None, notes: list[str]) -> Fit:
    """The fit, of which Ctrl-C leaves out what would take longer."""
    structure, rows, count = found.structure, found.rows, len(found.prior)
    solution, covariance = steps("estimate", lambda: found.solve(estimator), lambda: found.solve("weighted"))
    names = structure.outputs
    base = found.prior + solution.x[:count]
    se = np.sqrt(np.maximum(np.diag(covariance.matrix), 0.0))
    known = (se[:count] < SURE * np.asarray(rows.size)) & ~solution.lost[:count] & ~resting(structure, rows)
    errors, dof = np.where(known, se[:count], np.nan), np.where(known, covariance.dof[:count], np.nan)
    undetermined = tuple(n for n, on in zip(structure.base_names, known, strict=True) if not on)
    residual = np.where(rows.used, solution.residual, np.nan)
    whole = np.where(rows.still, np.nan, residual + rows.A @ base)  # errors are of drives that move
    values = spread_over(structure, base)
    if physical:
        values, words = steps(
            "physical consistency",
            lambda: _consistent(
                structure, base, covariance.matrix[:count, :count], solution.bread[:count, :count], known
            ),
            lambda: (values, ["parameters of the robot may be such that no body has"]),
        )
        notes += words
    for name in structure.springs_by_path:
        if name in undetermined:
            values[structure.names.index(name)] = structure.prior[structure.names.index(name)]
    cross = steps("left-out blocks", lambda: _left_out(names, rows, whole, solution), lambda: None)
    if steps.stopped:
        notes.append(f"interrupted at the step {steps.stopped!r}: that one and all after it were left out")
    full_errors, full_dof = (
        np.array([x[k] if k is not None else np.nan for k in _single(structure, known)]) for x in (errors, dof)
    )
    aic, bic = information(np.nan_to_num(residual), rows, count)
    smoothed, words = found.samples.smoothed, _words(structure, rows, undetermined, solution)
    return Fit(
        structure=structure,
        sources=tuple(dict.fromkeys(Path(source).name for source in smoothed.log.sources)),
        base=Estimates(structure.base_names, base, errors, found.prior, dof),
        covariance=Covariance(covariance.matrix[:count, :count][np.ix_(known, known)], covariance.dof[:count][known]),
        parameters=Estimates(structure.names, values, full_errors, structure.prior, full_dof),
        undetermined=undetermined,
        delay=_delays(names, found, solution.x[count:], se[count:], covariance.dof[count:]),
        drives=names,
        times=rows.t,
        residuals=residual,
        whiteness=whiteness(names, np.nan_to_num(residual), rows),
        training=error_of(names, whole, whole - residual),
        cross_validation=cross,
        criteria={"aic": aic, "bic": bic},
        cutoff=found.samples.cutoff,
        smoothing=float(np.max(smoothed.cutoff)),
        gains=gains,
        status="interrupted" if steps.stopped else "complete",
        notes=tuple(dict.fromkeys([*notes, *words, *doubts(structure, base, errors, rows)])),
    )


def _delays(names: tuple[str, ...], found: Found, last: Array, errors: Array, dof: Array) -> Estimates:
    """The delay of each drive; one that all share has the same error everywhere.

    The last step of the delays is of the estimator whose errors they have.
    """
    late, each = found.late.copy(), np.full(len(names), np.nan)
    for step, error, column in zip(last, errors, found.delay, strict=True):
        each[column.any(axis=0)] = error
        late[column.any(axis=0)] += step
    return Estimates(names, late, each, np.zeros(len(names)), np.full(len(names), dof.min(initial=np.inf)))


def _consistent(
    structure: Structure, base: Array, covariance: Array, bread: Array, known: Any
) -> tuple[Array, list[str]]:
    """All parameters, of bodies that can be, nearest to these groups and to the prior.

    Of bodies that can be those are taken whose torques are nearest to the measured ones, so that groups count by the
    curvature of the sum of squares; as much in all as by their covariance.
    """
    held = np.where(structure.free, 0.0, structure.prior)
    M = np.where(structure.free, structure.mapping, 0.0)
    wider = float(np.median(np.diag(covariance) / np.maximum(np.diag(bread), 1e-300)))
    weight = np.linalg.pinv(wider * bread, rcond=1e-14, hermitian=True)
    found = consistent(
        structure.machine, M.T @ weight @ M, M.T @ weight @ (base + M @ held), prior=structure.prior,
        names=[e.name for e in structure.extras], fixed=_fixed(structure), positive=tuple(structure.springs_by_path),
    )  # fmt: skip
    off = np.abs(M @ (found.parameters - held) - base) / np.sqrt(np.maximum(np.diag(covariance), 1e-300)) * known
    words = list(found.notes)
    if off.max(initial=0.0) > FAR:
        name = structure.base_names[int(np.argmax(off))]
        words.append(
            f"parameters that bodies can have differ from the estimates by up to {off.max():.2g} standard errors,"
            f" most in {name}"
        )
    return np.where(structure.free, found.parameters, structure.prior), words


def _fixed(structure: Structure) -> list[str]:
    """Names of links, of joints' parameters and of further columns that keep the robot's values."""
    links = structure.machine.moving_links
    inertial = INERTIAL * len(links)
    on = structure.free[:inertial].reshape(-1, INERTIAL).any(axis=1)
    names, free = (*links, *structure.names[inertial:]), (*on, *structure.free[inertial:])
    return [name for name, is_free in zip(names, free, strict=True) if not is_free]


def _single(structure: Structure, known: Any) -> list[int | None]:
    """For each parameter the group that it is alone in, where the data determine that."""
    found: list[int | None] = [None] * len(structure.names)
    for k, row in enumerate(structure.mapping):
        places = np.flatnonzero(row)
        if known[k] and len(places) == 1:
            found[int(places[0])] = k
    return found


def _left_out(names: tuple[str, ...], rows: Rows, whole: Array, start: Solution) -> Error | None:
    """Errors on rows that were left out: each run in turn, or each of some blocks where there is one."""
    several = len(np.unique(rows.run)) > 1
    part = rows.run if several else np.minimum(np.arange(len(rows)) * BLOCKS // max(len(rows), 1), BLOCKS - 1)
    predicted = np.full(rows.b.shape, np.nan)
    for k in np.unique(part):
        rest, out = np.flatnonzero(part != k), np.flatnonzero(part == k)
        if rows.used[rest].sum() < 2 * rows.A.shape[2]:
            return None
        predicted[out] = rows.A[out] @ solve(rows.part(rest), "weighted", start=start).x
    measured = np.where(rows.used, rows.b, np.nan)
    return error_of(names, whole, whole - (measured - predicted))


def _words(structure: Structure, rows: Rows, undetermined: tuple[str, ...], solution: Solution) -> list[str]:
    """What a user should know."""
    names = structure.outputs
    found = []
    if lacking := structure.not_in_robots:
        found.append(f"fit.robot lacks {', '.join(lacking)}, which robots do not have; fit.predict counts them")
    if undetermined:
        found.append(f"the data do not determine {', '.join(undetermined)}: left at the robot's values")
    resting = dict(zip(names, 1.0 - rows.used.mean(axis=0), strict=True))
    if unmeasured := [name for name, share in resting.items() if share == 1.0]:
        found.append(f"not measured: {', '.join(unmeasured)}")
    for name, share in resting.items():
        if 0.0 < share < 1.0:
            found.append(f"{name}: {100.0 * share:.3g} % of the rows do not count, not measured or at rest")
    outliers = float(np.mean(solution.weight < 0.5))
    if outliers > 0.0:
        found.append(f"{100.0 * outliers:.2g} % of the rows count less than half, as outliers")
    return found
