"""`identify`: the parameters of a robot from logs of its motion and torques."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.check import positive
from linkwise.errors import InputError, UnknownNameError
from linkwise.identification.answer import Found, answer
from linkwise.identification.delays import delayed, with_delays
from linkwise.identification.drift import Drift
from linkwise.identification.fit import Fit
from linkwise.identification.friction import searched
from linkwise.identification.gains import calibrated
from linkwise.identification.joined_logs import Source, joined
from linkwise.identification.laws import laws
from linkwise.identification.least_squares import ESTIMATORS, solve
from linkwise.identification.measurements import Measured, measured
from linkwise.identification.samples import WIDE, Rows, Samples, noise_level, spread_of
from linkwise.identification.sizes import plausible, spread_over
from linkwise.identification.statistics import information
from linkwise.identification.steps import Steps
from linkwise.identification.structure import Structure
from linkwise.kernel.compile import compile
from linkwise.motion.columns import column_names
from linkwise.motion.log import Log
from linkwise.motion.smoothing import Smoothed, smooth, smooth_motion
from linkwise.motion.trajectory import Array
from linkwise.planning.solvers.blas import one_thread
from linkwise.robot.robot import Robot

HIGHEST = 20.0  # Hz: of the low-pass, unless another is given
BELOW = 0.45  # of the log's rate: of the smoothing
LEAST = 0.05  # of a drive's torque that Coulomb friction may well be, where it is at rest
LOADED = 3  # rounds in which the load is found that friction grows with
TRUSTED = 3  # rounds in which friction that is unsure is found

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
    sensors: str | Iterable[str] = (),
    springs: bool = True,
    drift: bool | float = False,
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
        sensors: links behind fixed joints, or these joints, through which the log has wrenches, such as columns
            `wrench.tool.fx`: what the robot exerts on what lies beyond, at the link's origin in its axes. These are
            further measurements, with offsets of their own; wrenches at other frames push the robot.
        springs: whether stiffness and damping of elastic drives, where the log has positions of joints and motors, and
            stiffness of springs along joints are unknown; else they are the robot's.
        drift: whether offsets change along the log: True for a line along each file, or the seconds between knots of a
            broken line.
        estimator: "ordinary", "weighted", "reweighted", "total" or "instrumental" least squares.
        prior: a robot with the values of what the data do not determine, by default `robot`.
        physical: whether the robot gets the nearest parameters that bodies of positive density can have.
        progress: whether to show a line of it on a terminal.
    """
    if estimator not in ESTIMATORS:
        raise UnknownNameError("estimator", estimator, ESTIMATORS)
    given = joined(robot, log)
    steps = Steps(f"identify {robot.name}", progress)
    structure = Structure(
        robot if prior is None else prior, laws(friction), rotors, offsets, payload, tuple(coupled), tuple(hold),
        sensors=(sensors,) if isinstance(sensors, str) else tuple(sensors), springs=springs,
        drift=Drift.of(given, drift),
    )  # fmt: skip
    work = _Work(structure, given, _gains(robot, gains), delays, cutoff, estimator, steps)
    try:
        with one_thread():  # small matrices, for which threads only wait for each other
            return work.fit(physical)
    finally:
        steps.wipe()


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
    steps: Steps
    notes: list[str] = field(default_factory=list)

    def fit(self, physical: bool) -> Fit:
        """All of it; Ctrl-C ends the step at hand, and what was found before is kept."""
        # without equations there is nothing to keep: these are made in any case
        self.notes = list(self.log.notes)
        found = self.steps("columns", self._equations, self._equations)
        raw = found.rows
        if "load" in self.structure.friction:
            found = self.steps("load", lambda: self._loaded(found), lambda: found)
            raw = found.rows
        found = self.steps("delay", lambda: self._delayed(found), lambda: found)
        if {"presliding", "stribeck"} & set(self.structure.friction):
            found = self.steps("friction", lambda: self._with_laws(found, raw), lambda: found)
        found = replace(found, rows=self._trusted(found))
        found = self.steps("noise", lambda: self._with_noise(found), lambda: found)
        return answer(found, self.steps, self.estimator, physical, self.gains, self.notes)

    def _equations(self) -> Found:
        """Equations in what differs from the prior, of the smooth log."""
        s = self._smoothed()
        self.notes += s.notes
        cutoff = float(np.max(s.cutoff)) / WIDE
        noise = noise_level(s.log, WIDE * cutoff)
        step = 1.0 / s.log.rate if self.delays else 0.0
        values, timed, words = self._measured(s, cutoff, noise)
        self.notes += words
        samples = Samples(s, values, cutoff, noise, step, timed)
        spread = spread_of(s.log, noise, WIDE * cutoff)
        seen = np.isfinite(values).any(axis=0)
        self.structure = replace(self.structure, spread=spread, channels=self._temperatures(s.log), seen=seen)
        structure = self.structure
        prior = structure.mapping @ np.where(structure.free, structure.prior, 0.0)
        rows = self._rows(samples, prior)
        _refuse_short(self.log, rows, cutoff)
        nu = rows.b.shape[1]
        return Found(structure, samples, prior, rows, np.zeros(nu), np.zeros((0, *rows.b.shape)))

    def _rows(self, samples: Samples, prior: Array) -> Rows:
        """Equations in what differs from the prior, with how large that may be."""
        structure = self.structure
        rows = samples.rows(structure, structure.kept, structure.held)
        b = np.where(rows.used, rows.b - rows.A @ prior, 0.0)
        return replace(rows, b=b, size=plausible(structure, rows))

    def _smoothed(self) -> Smoothed:
        """Positions smoothed at a frequency beyond all that the data show of the motion."""
        highest = BELOW * self.log.rate
        if self.cutoff is None:
            return smooth(self.log, min(WIDE * min(float(np.max(smooth(self.log).cutoff)), HIGHEST), highest))
        return smooth(self.log, min(WIDE * positive(self.cutoff, "cutoff"), highest))

    def _temperatures(self, log: Log) -> dict[str, str]:
        """By axis the channel with its temperature, where friction depends on it."""
        if "temperature" not in self.structure.friction:
            return {}
        wanted = {a.name: f"temperature.{a.name}" for a in self.structure.axes}
        there = {name: channel for name, channel in wanted.items() if channel in log.others}
        if not there:
            raise InputError(
                "friction 'temperature': expected columns such as temperature.elbow in the log, got none of"
                f" {', '.join(wanted.values())}. Name them so."
            )
        return there

    def _measured(self, s: Smoothed, cutoff: float, noise: Array) -> Measured:
        """Torques, or currents with gains, which are found where none are given."""
        log, structure = s.log, self.structure
        if log.current is None or log.tau is not None or self.gains is not None:
            return measured(structure, log, self.gains)
        current, tau = np.full((2, len(log), len(structure.outputs)), np.nan)
        current[:, structure.driven] = log.current
        tau[:, structure.driven] = compile(structure.robot, inverse_dynamics)(s.q, s.qd, s.qdd)
        first = Samples(s, current, cutoff, noise)
        self.gains, told = (x[structure.driven] for x in calibrated(first, structure, current, tau))
        power, here = np.mean(tau[:, structure.driven] ** 2, axis=0), np.isfinite(self.gains)
        sure = int(np.nanargmax(np.where(told if told.any() else here, power, 0.0)))
        names = [n.removeprefix("tau.") for n in column_names(log.robot, "tau")]
        name, rest = names[sure], [n for n, on in zip(names, told | ~here, strict=True) if not on]
        if rest:
            self.notes.append(
                f"currents of {', '.join(rest)} do not tell gains, since their torques are mostly friction and rotors"
                " by the robot as given: they got the median of the others, and their parameters are in that scale."
                " Give gains=, in a command --gain"
            )
        self.notes.append(
            f"gains of the drives are not known: that of {name} was taken as {self.gains[sure]:.4g} N m/A, by which the"
            " robot as given moves best, and sets the scale of all; the others are those that agree with it. Intervals"
            " take the gains for granted. Give gains=, in a command --gain"
        )
        return measured(structure, log, self.gains)

    # ---- delay, friction, noise

    def _loaded(self, found: Found) -> Found:
        """With friction by the load, which is that of parameters found without it, then with it."""
        for _ in range(LOADED):
            best = found.prior + solve(found.rows, "weighted").x
            samples = replace(found.samples, values=spread_over(found.structure, best))
            found = replace(found, samples=samples, rows=self._rows(samples, found.prior))
        return found

    def _delayed(self, found: Found) -> Found:
        """With torques brought forward by their delay."""
        rows, late, delay = delayed(found.samples, found.structure, self._trusted(found), found.prior, self.delays)
        return replace(found, rows=rows, late=late, delay=delay)

    def _trusted(self, found: Found) -> Rows:
        """The equations, of which those count less in which a drive reverses or rests."""
        structure, rows = found.structure, found.rows
        names = [structure.names[k] for k in structure.kept]
        torque = np.sqrt(np.mean((rows.b + rows.A @ found.prior) ** 2, axis=0))
        coulomb = LEAST * torque if "coulomb" in structure.friction else np.zeros(rows.b.shape[1])
        for _ in range(TRUSTED):
            best = solve(rows, "weighted")
            for axis in structure.axes:
                if axis.number("coulomb") in names:
                    k = names.index(axis.number("coulomb"))
                    before, u = structure.prior[structure.kept[k]], axis.u[0][0]
                    coulomb[u] = max(best.x[k] + before, before, LEAST * torque[u])
            rows = rows.trusting(coulomb, np.diag(best.sigma))
        return rows

    def _with_laws(self, now: Found, raw: Rows) -> Found:
        """With the best laws of friction, if these explain more than delays do."""
        trusted = self._trusted(replace(now, rows=raw))
        slope = delayed(now.samples, now.structure, trusted, now.prior, self.delays, rounds=0)[2]
        self.structure = searched(now.samples, now.structure, with_delays(trusted, slope))
        if self.structure is now.structure:
            return now
        rows = self._rows(now.samples, now.prior)
        then = self._delayed(replace(now, structure=self.structure, rows=rows))
        worth = [information(solve(x.rows, "weighted").residual, x.rows, 0)[1] for x in (now, then)]
        return then if "stribeck" in self.structure.friction or worth[1] < worth[0] else now

    def _with_noise(self, found: Found) -> Found:
        """With equations of the motion moved by noise, forth and back; or of one smoothed more, as instruments."""
        samples, structure = found.samples, found.structure
        columns, held = structure.kept, structure.held
        if self.estimator == "instrumental":
            s = samples.smoothed
            q, qd, qdd = smooth_motion(s.log.robot, s.log.q, s.log.rate, s.log.runs, samples.cutoff)[0]
            other = samples.rows(structure, columns, held, (q - s.q, qd - s.qd, qdd - s.qdd))
            return replace(found, other=replace(found.rows, A=other.A))
        if not np.any(samples.noise > 0.0):
            return found
        move = samples.disturbed(0)
        moved = [samples.rows(structure, columns, held, tuple(sign * x for x in move)) for sign in (1.0, -1.0)]
        return replace(found, noise=tuple(replace(found.rows, A=rows.A) for rows in moved))
