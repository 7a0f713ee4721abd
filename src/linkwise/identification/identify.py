"""`identify`: the parameters of a robot from logs of its motion and torques."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.check import positive
from linkwise.errors import InputError, UnknownNameError
from linkwise.identification.covariance import Covariance, robust
from linkwise.identification.estimates import Estimates
from linkwise.identification.fit import Fit
from linkwise.identification.friction import searched
from linkwise.identification.gains import calibrated
from linkwise.identification.joined_logs import Source, joined
from linkwise.identification.least_squares import ESTIMATORS, Solution, solve
from linkwise.identification.physical import consistent
from linkwise.identification.samples import WIDE, Rows, Samples, measured_torques, noise_level, spread_of
from linkwise.identification.statistics import doubts, error_of, information, resting, whiteness
from linkwise.identification.structure import INERTIAL, Structure, laws
from linkwise.kernel.compile import compile
from linkwise.motion.columns import column_names
from linkwise.motion.log import Log
from linkwise.motion.smoothing import Smoothed, smooth, smooth_rates
from linkwise.motion.trajectory import Array
from linkwise.planning.solvers.blas import one_thread
from linkwise.robot.robot import Robot
from linkwise.status import StatusLine

HIGHEST = 20.0  # Hz: of the low-pass, unless another is given
BELOW = 0.45  # of the log's rate: of the smoothing
SURE = 0.5  # of what a parameter may well be: a standard error above tells nothing
LATE = 0.1  # s: a delay may well be
LEAST = 0.05  # of a drive's torque that Coulomb friction may well be, where it is at rest
TRUSTED = 3  # rounds in which friction that is unsure is found
DELAYS = 6  # rounds in which a delay is found
STILL = 1e-6  # s: a change of the delay that ends them
FAR = 3.0  # standard errors by which physical consistency may move an estimate without a word
BLOCKS = 5  # of a log, each left out once
REPEATED = 1  # times that noise is drawn

FEWEST = 10  # equations for each unknown


def identify(
    robot: Robot,
    log: Source | Iterable[Source],
    *,
    friction: str | Iterable[str] | None = ("viscous", "coulomb", "presliding"),
    rotors: bool = True,
    offsets: bool = True,
    payload: str | None = None,
    coupled: Iterable[tuple[str, str]] = (),
    hold: Iterable[str] = (),
    gains: Mapping[str, float] | Sequence[float] | None = None,
    delays: bool | str = True,
    cutoff: float | None = None,
    estimator: str = "reweighted",
    prior: Robot | None = None,
    physical: bool = True,
    progress: bool = True,
) -> Fit:
    """Identify the parameters of a robot from logs.

    Columns of the regressor, made from smooth positions, and measured torques go through the same low-pass. Base
    parameters come from least squares in which drives count by their residuals; what noise of the positions adds to
    the columns is taken off; intervals allow for residuals that are alike from one instant to the next, and for a delay
    between positions and torques.

    Args:
        robot: with the geometry; its inertias, rotors and friction are the prior, which may be zero.
        log: a log, a file, or several of them.
        friction: some of "viscous", "coulomb", "presliding", "stribeck", "root", "asymmetric", "load", "temperature".
            Presliding and Stribeck friction are searched for drive by drive, and left out where they explain nothing.
        rotors: whether rotor inertias are unknown; else they are the robot's.
        offsets: whether each drive's torque may have an offset.
        payload: a frame or link that carries an unknown load: then only it, friction and offsets are unknown.
        coupled: pairs of joints with coupled motors: the second motor turns with the sum of both joints.
        hold: names of parameters that keep the robot's values.
        gains: torque per ampere of each drive, where the log has currents.
        delays: True for one delay of all torques against positions, "drive" for one of each, False for none.
        cutoff: of the low-pass, in Hz; chosen from the data by default. Positions are smoothed at twice that.
        estimator: "ordinary", "weighted", "reweighted", "total" or "instrumental" least squares.
        prior: a robot with the values of what the data do not determine, by default `robot`.
        physical: whether the robot gets the nearest parameters that bodies of positive density can have.
        progress: whether to show a line of it on a terminal.
    """
    if estimator not in ESTIMATORS:
        raise UnknownNameError("estimator", estimator, ESTIMATORS)
    given = joined(robot, log)
    line = StatusLine() if progress else None
    structure = Structure(
        robot if prior is None else prior, laws(friction), rotors, offsets, payload, tuple(coupled), tuple(hold)
    )
    work = _Work(structure, given, _gains(robot, gains), delays, cutoff, estimator, line)
    try:
        with one_thread():  # small matrices, for which threads only wait for each other
            return work.fit(physical)
    finally:
        if line is not None:
            line.wipe()


def _refuse_short(log: Log, rows: Rows, cutoff: float) -> None:
    """Refuse a log that has hardly more equations than unknowns: it would explain itself, and nothing else."""
    equations, unknowns = int(rows.used.sum()), rows.A.shape[2]
    if equations < FEWEST * unknowns:
        seconds = sum(float(log.t[run][-1] - log.t[run][0]) for run in log.runs)
        raise InputError(
            f"log: expected {FEWEST} equations or more for each of {unknowns} unknowns, got {equations} after a"
            f" low-pass of {cutoff:.3g} Hz, from {seconds:.3g} s. Give a longer log, or ask for less: friction=,"
            " rotors=False, hold=."
        )


def _gains(robot: Robot, gains: Mapping[str, float] | Sequence[float] | None) -> Array | None:
    if gains is None:
        return None
    if isinstance(gains, Mapping):
        names = [n.removeprefix("tau.") for n in column_names(robot, "tau")]
        for name in gains:
            if name not in names:
                raise UnknownNameError("drive of a gain", name, names)
        return np.array([float(gains.get(name, np.nan)) for name in names])
    found = np.asarray(gains, dtype=float)
    if found.shape != (robot.nu,):
        raise InputError(f"gains: expected {robot.nu} numbers, one for each drive, got shape {found.shape}.")
    return found


@dataclass(eq=False)
class _Work:
    """The steps of an identification."""

    structure: Structure
    log: Log
    gains: Array | None
    delays: bool | str
    cutoff: float | None
    estimator: str
    line: StatusLine | None
    _prior: Array = field(default_factory=lambda: np.zeros(0))

    def say(self, words: str) -> None:
        if self.line is not None:
            self.line.write(f"identify {self.structure.robot.name}: {words}")

    def fit(self, physical: bool) -> Fit:
        """All of it."""
        notes = list(self.log.notes)
        self.say("smoothing")
        s = self._smoothed()
        notes += s.notes
        cutoff = float(np.max(s.cutoff)) / WIDE
        noise_of = noise_level(s.log, WIDE * cutoff)
        step = 1.0 / s.log.rate if self.delays else 0.0
        samples = Samples(s, self._measured(s, cutoff, noise_of, notes), cutoff, noise_of, step)
        if self.structure.robot.nq == self.structure.robot.nv:
            spread = spread_of(noise_of, s.log.rate, WIDE * cutoff)
            self.structure = replace(self.structure, spread=spread)
        there = {a.name: f"temperature.{a.name}" for a in self.structure.axes}
        there = {name: channel for name, channel in there.items() if channel in s.log.others}
        if "temperature" in self.structure.friction:
            if not there:
                raise InputError(
                    "friction 'temperature': expected columns such as temperature.elbow in the log, got none of"
                    f" {', '.join(f'temperature.{a.name}' for a in self.structure.axes)}. Name them so."
                )
            self.structure = replace(self.structure, channels=there)
        structure = self.structure
        held = np.where(structure.free, 0.0, structure.prior)
        base_prior = structure.mapping @ np.where(structure.free, structure.prior, 0.0)
        self._prior = base_prior
        self.say("columns")
        rows = samples.rows(structure, structure.kept, held)
        _refuse_short(self.log, rows, cutoff)
        rows = self._sized(rows, base_prior)
        status = "complete"
        noise: list[Rows] = []
        delay = np.zeros((0, *rows.b.shape))
        try:
            self.say("delay")
            raw = rows
            rows, late, delay = self._delayed(samples, self._trusted(raw), base_prior)
            if {"presliding", "stribeck"} & set(structure.friction):
                self.say("friction")
                rows, late, delay = self._with_laws(samples, raw, held, base_prior, (rows, late, delay))
                structure = self.structure
            rows = self._trusted(rows)
            self.say("noise")
            if self._noisy(noise_of):
                noise = self._noise(samples, structure.kept, held, rows, delay)
            if (other := self._instruments(samples, structure.kept, held, rows)) is not None:
                other = _with_delays(other, delay)
            self.say("estimate")
        except KeyboardInterrupt:
            status, late, other = "interrupted", np.zeros(rows.b.shape[1]), None
            notes.append("interrupted: delay and noise of positions may not have been taken off")
        whole = _with_delays(rows, delay)
        solution = solve(whole, self.estimator, noise, other)
        covariance = robust(solution, whole)
        return self._answer(rows, solution, covariance, base_prior, late, s, cutoff, status, notes, physical)

    def _smoothed(self) -> Smoothed:
        """Positions smoothed at a frequency beyond all that the data show of the motion."""
        highest = BELOW * self.log.rate
        if self.cutoff is None:
            return smooth(self.log, min(WIDE * min(float(np.max(smooth(self.log).cutoff)), HIGHEST), highest))
        return smooth(self.log, min(WIDE * positive(self.cutoff, "cutoff"), highest))

    def _measured(self, s: Smoothed, cutoff: float, noise: Array, notes: list[str]) -> Array:
        """Torques, or currents with gains, which are found where none are given."""
        log, structure = s.log, self.structure
        if log.current is None or log.tau is not None or self.gains is not None:
            return measured_torques(log, self.gains)
        self.say("gains")
        first = Samples(s, log.current, cutoff, noise)
        tau = np.asarray(compile(structure.robot, inverse_dynamics)(s.q, s.qd, s.qdd))
        self.gains, told = calibrated(first, structure, log.current, tau)
        sure = int(np.nanargmax(np.where(told if told.any() else np.isfinite(self.gains), np.mean(tau**2, axis=0), 0)))
        names = [n.removeprefix("tau.") for n in column_names(log.robot, "tau")]
        name, rest = names[sure], [n for n, on in zip(names, told | np.isnan(self.gains), strict=True) if not on]
        if rest:
            notes.append(
                f"currents of {', '.join(rest)} do not tell gains, since their torques are mostly friction and rotors"
                " by the robot as given: they got the median of the others, and their parameters are in that scale."
                " Give gains=, in a command --gain"
            )
        notes.append(
            f"gains of the drives are not known: that of {name} was taken as {self.gains[sure]:.4g} N m/A, by which the"
            " robot as given moves best, and sets the scale of all; the others are those that agree with it. Intervals"
            " take the gains for granted. Give gains=, in a command --gain"
        )
        return measured_torques(log, self.gains)

    def _sized(self, rows: Rows, prior: Array) -> Rows:
        """The equations in what differs from the prior, with how large that may be."""
        b = np.where(rows.used, rows.b - rows.A @ prior, 0.0)
        return replace(rows, b=b, size=plausible(self.structure, rows))

    def _trusted(self, rows: Rows) -> Rows:
        """The equations, of which those count less in which a drive reverses or rests."""
        structure = self.structure
        names = [structure.names[k] for k in structure.kept]
        torque = np.sqrt(np.mean((rows.b + rows.A @ self._prior) ** 2, axis=0))
        coulomb = LEAST * torque if "coulomb" in structure.friction else np.zeros(rows.b.shape[1])
        for _ in range(TRUSTED):
            found = solve(rows, "weighted")
            for axis in structure.axes:
                if f"{axis.name}.coulomb" in names:
                    k = names.index(f"{axis.name}.coulomb")
                    before, u = structure.prior[structure.kept[k]], axis.u[0][0]
                    coulomb[u] = max(found.x[k] + before, before, LEAST * torque[u])
            rows = rows.trusting(coulomb, np.diag(found.sigma))
        return rows

    def _with_laws(
        self, samples: Samples, raw: Rows, held: Array, prior: Array, now: tuple[Rows, Array, Array]
    ) -> tuple[Rows, Array, Array]:
        """Equations, delays and their columns with the best laws of friction, if these explain more than delays do."""
        structure = self.structure
        trusted = self._trusted(raw)
        slope = self._delayed(samples, trusted, prior, rounds=0)[2]
        self.structure = searched(samples, structure, _with_delays(trusted, slope))
        if self.structure is structure:
            return now
        new = self._sized(samples.rows(self.structure, self.structure.kept, held), prior)
        then = self._delayed(samples, self._trusted(new), prior)
        worth = [information(solve(x[0], "weighted").residual, x[0], 0)[1] for x in (now, then)]
        if "stribeck" in structure.friction or worth[1] < worth[0]:
            return then
        self.structure = structure
        return now

    # ---- delay of torques against positions

    def _delayed(self, samples: Samples, rows: Rows, prior: Array, rounds: int = DELAYS) -> tuple[Rows, Array, Array]:
        """The equations with torques brought forward, the delay of each drive, and its columns (delays, rows, nu)."""
        nu = rows.b.shape[1]
        late = np.zeros(nu)
        if not self.delays:
            return rows, late, np.zeros((0, *rows.b.shape))
        groups = np.eye(nu)[rows.used.any(axis=0)] if self.delays == "drive" else np.ones((1, nu))
        new, found = rows, solve(rows, "weighted")
        for _ in range(rounds):
            found = solve(new, "weighted", start=found)
            columns = -_slope(new, new.A @ (found.x + prior))[None] * groups[:, None, :]
            step = solve(_with_delays(new, columns), "weighted", start=found).x[-len(groups) :] @ groups
            late = late + np.clip(step, -0.5 / samples.cutoff, 0.5 / samples.cutoff)
            new = samples.shifted(rows, late)
            if np.abs(step).max() < STILL:
                break
        found = solve(new, "weighted", start=found)
        return new, late, -_slope(new, new.A @ (found.x + prior))[None] * groups[:, None, :]

    # ---- noise of positions in the columns

    def _noisy(self, noise: Array) -> bool:
        robot = self.structure.robot
        return self.estimator != "instrumental" and robot.nq == robot.nv and bool(np.any(noise > 0.0))

    def _noise(self, samples: Samples, columns: Array, held: Array, rows: Rows, delay: Array) -> list[Rows]:
        """Equations of the motion moved by noise, forth and back."""
        found = []
        for seed in range(REPEATED):
            move = samples.disturbed(seed)
            for sign in (1.0, -1.0):
                moved = samples.rows(self.structure, columns, held, tuple(sign * x for x in move))
                found.append(_with_delays(replace(rows, A=moved.A), delay))
        return found

    def _instruments(self, samples: Samples, columns: Array, held: Array, rows: Rows) -> Rows | None:
        """Equations of the motion smoothed more, whose noise hardly shows; as many rows as the others."""
        if self.estimator != "instrumental":
            return None
        s = samples.smoothed
        q, qd, qdd = smooth_rates(s.log.q, s.log.rate, np.full(s.log.q.shape[1], samples.cutoff), s.log.runs)
        other = samples.rows(self.structure, columns, held, (q - s.q, qd - s.qd, qdd - s.qdd))
        return replace(rows, A=other.A)

    # ---- the answer

    def _full(
        self, base: Array, covariance: Array, bread: Array, known: Any, physical: bool
    ) -> tuple[Array, list[str]]:
        """All parameters with these groups: the nearest to the prior, of bodies that can be if asked.

        Of bodies that can be those are taken whose torques are nearest to the measured ones, so that groups count by
        the curvature of the sum of squares; as much in all as by their covariance.
        """
        structure = self.structure
        if not physical:
            return spread_over(structure, base), []
        self.say("physical consistency")
        held = np.where(structure.free, 0.0, structure.prior)
        M = np.where(structure.free, structure.mapping, 0.0)
        wider = float(np.median(np.diag(covariance) / np.maximum(np.diag(bread), 1e-300)))
        weight = np.linalg.pinv(wider * bread, rcond=1e-14, hermitian=True)
        found = consistent(
            structure.robot, M.T @ weight @ M, M.T @ weight @ (base + M @ held), prior=structure.prior,
            names=[e.name for e in structure.extras], fixed=_fixed(structure),
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

    def _answer(
        self, rows: Rows, solution: Solution, covariance: Covariance, base_prior: Array, late: Array,
        s: Smoothed, cutoff: float, status: str, notes: list[str], physical: bool,
    ) -> Fit:  # fmt: skip
        structure, count = self.structure, len(base_prior)
        names = tuple(n.removeprefix("tau.") for n in column_names(structure.robot, "tau"))
        base = base_prior + solution.x[:count]
        se = np.sqrt(np.maximum(np.diag(covariance.matrix), 0.0))
        known = (se[:count] < SURE * np.asarray(rows.size)) & ~solution.lost[:count] & ~resting(structure, rows)
        errors, dof = np.where(known, se[:count], np.nan), np.where(known, covariance.dof[:count], np.nan)
        own = Covariance(covariance.matrix[np.ix_(known, known)], covariance.dof[:count][known])
        delay_errors = np.full(len(names), np.nan)
        if len(se) > count:  # the last step of the delays is of the estimator whose errors they have
            moved = rows.used.any(axis=0) if self.delays == "drive" else np.ones(len(names), dtype=bool)
            delay_errors[moved], late = se[count:], late.copy()
            late[moved] += solution.x[count:]
        delay_dof = np.full(len(names), float(covariance.dof[count:].min(initial=np.inf)))
        undetermined = tuple(n for n, on in zip(structure.base_names, known, strict=True) if not on)
        residual = np.where(rows.used, solution.residual, np.nan)
        whole = np.where(rows.still, np.nan, residual + rows.A @ base)  # errors are of drives that move
        parts = covariance.matrix[:count, :count], solution.bread[:count, :count]
        values, words = self._full(base, *parts, known, physical)
        notes += words
        single = _single(structure, known)
        full_errors, full_dof = (np.array([x[k] if k is not None else np.nan for k in single]) for x in (errors, dof))
        aic, bic = information(np.nan_to_num(residual), rows, count)
        notes += [*_words(self, rows, undetermined, solution), *doubts(structure, base, errors, rows)]
        return Fit(
            structure=structure,
            sources=tuple(dict.fromkeys(Path(source).name for source in self.log.sources)),
            base=Estimates(structure.base_names, base, errors, base_prior, dof),
            covariance=own,
            parameters=Estimates(structure.names, values, full_errors, structure.prior, full_dof),
            undetermined=undetermined,
            delay=Estimates(names, late, delay_errors, np.zeros(len(names)), delay_dof),
            drives=names,
            times=rows.t,
            residuals=residual,
            whiteness=whiteness(names, np.nan_to_num(residual), rows),
            training=error_of(names, whole, whole - residual),
            cross_validation=_left_out(names, rows, whole, solution),
            criteria={"aic": aic, "bic": bic},
            cutoff=cutoff,
            smoothing=float(np.max(s.cutoff)),
            gains=self.gains,
            status=status,
            notes=tuple(dict.fromkeys(notes)),
        )


def _fixed(structure: Structure) -> list[str]:
    """Names of links and of joints' parameters that keep the robot's values."""
    inertial = INERTIAL * len(structure.robot.moving_links)
    links = structure.free[:inertial].reshape(-1, INERTIAL).any(axis=1)
    names = [name for name, on in zip(structure.robot.moving_links, links, strict=True) if not on]
    rest = zip(structure.robot.parameter_names[inertial:], structure.free[inertial:], strict=False)
    return names + [name for name, on in rest if not on]


def _with_delays(rows: Rows, delay: Array) -> Rows:
    """The equations with columns of delays after the others."""
    size = None if rows.size is None else np.append(rows.size, np.full(len(delay), LATE))
    return replace(rows, A=np.concatenate([rows.A, np.moveaxis(delay, 0, -1)], axis=2), size=size)


def _slope(rows: Rows, tau: Array) -> Array:
    """Rates of torques along the rows of each run."""
    from scipy.interpolate import CubicSpline

    found = np.zeros_like(tau)
    for k in np.unique(rows.run):
        at = np.flatnonzero(rows.run == k)
        if len(at) > 3:
            found[at] = CubicSpline(rows.t[at], tau[at])(rows.t[at], 1)
    return found


def plausible(structure: Structure, rows: Rows) -> Array:
    """(kept,) how large each group may well be: as its link's mass and length suggest, or as torques do."""
    robot = structure.robot
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
    inertial = INERTIAL * len(structure.robot.moving_links)
    for k in range(0, inertial, INERTIAL):
        m = max(structure.prior[k], 0.1)
        scale[k : k + INERTIAL] = [m, *[0.1 * m] * 3, *[0.01 * m] * 6]
    D = scale**2
    step = D * (M.T @ np.linalg.lstsq((M * D) @ M.T, base - M @ prior, rcond=None)[0])
    return np.asarray(np.where(free, structure.prior + step, structure.prior))


def _single(structure: Structure, known: Any) -> list[int | None]:
    """For each parameter the group that it is alone in, where the data determine that."""
    found: list[int | None] = [None] * len(structure.names)
    for k, row in enumerate(structure.mapping):
        places = np.flatnonzero(row)
        if known[k] and len(places) == 1:
            found[int(places[0])] = k
    return found


def _left_out(names: tuple[str, ...], rows: Rows, whole: Array, start: Solution) -> Any:
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


def _words(work: _Work, rows: Rows, undetermined: tuple[str, ...], solution: Solution) -> list[str]:
    """What a user should know."""
    found = []
    if undetermined:
        found.append(f"the data do not determine {', '.join(undetermined)}: left at the robot's values")
    resting = 1.0 - rows.used.mean(axis=0)
    for name, share in zip(work.structure.robot.drives, resting, strict=False):
        if share > 0.0:
            found.append(f"{name}: {100.0 * share:.3g} % of the rows do not count, not measured or at rest")
    outliers = float(np.mean(solution.weight < 0.5))
    if outliers > 0.0:
        found.append(f"{100.0 * outliers:.2g} % of the rows count less than half, as outliers")
    return found
