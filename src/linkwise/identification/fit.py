"""What `identify` gives: a robot, its parameters with intervals, and how well they explain torques."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from linkwise._version import __version__
from linkwise.errors import InputError, UnknownNameError
from linkwise.identification.covariance import Covariance
from linkwise.identification.estimates import Estimates
from linkwise.identification.joined_logs import Source, joined
from linkwise.identification.laws import State
from linkwise.identification.measurements import measured
from linkwise.identification.payload import Load, load_of
from linkwise.identification.statistics import Error, Test, Whiteness, error_of, wald
from linkwise.identification.structure import Structure
from linkwise.motion.log import Log
from linkwise.motion.smoothing import smooth
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Fit:
    """An identified model.

    Attributes:
        structure: what torques were taken to be a function of.
        base: base parameters, and the extra columns, with standard errors and intervals.
        covariance: of those that the data determine.
        parameters: all parameters of the robot, and the extra columns; those that no torque tells apart have no error.
        undetermined: names that the data do not determine, left at the prior.
        delay: by drive, how much later than positions torques were measured, s, with standard errors.
        drives: names of the rows: of drives, and of wrenches through sensors, such as "wrist.fx".
        times: of the rows of `residuals`.
        residuals: (rows, nu) measured less predicted torques after the low-pass, NaN where they did not count.
        whiteness: tests of the residuals of each drive.
        training: relative errors on the log itself, after the low-pass.
        cross_validation: relative errors on blocks of the log that were left out, or on files where there are several.
        criteria: "aic" and "bic", to compare models on the same log and cutoff: lower is better.
        cutoff: of the low-pass of columns and torques, in Hz.
        smoothing: cutoff of the positions, in Hz.
        gains: torque per ampere, where currents were measured.
        status: "complete", or "interrupted" where Ctrl-C ended it and this is the best so far.
        notes: in words, what a user should know.
        sources: the logs, by name.
    """

    structure: Structure
    base: Estimates
    covariance: Covariance
    parameters: Estimates
    undetermined: tuple[str, ...]
    delay: Estimates
    drives: tuple[str, ...]
    times: Array = field(repr=False)
    residuals: Array = field(repr=False)
    whiteness: tuple[Whiteness, ...]
    training: Error
    cross_validation: Error | None
    criteria: Mapping[str, float]
    cutoff: float
    smoothing: float
    gains: Array | None = None
    status: str = "complete"
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @cached_property
    def robot(self) -> Robot:
        """The robot with the parameters that were found, offsets among them; its provenance says from what."""
        told = {"identified by": f"linkwise {__version__}", "logs": ", ".join(self.sources), "result": self.summary}
        return self.structure.with_values(self.parameters.values).replace(provenance=told)

    @cached_property
    def payload(self) -> Load:
        """The load that was asked for, at its frame."""
        if self.structure.payload is None:
            raise InputError(
                "payload: expected a fit with payload=<frame>, got one without. Give the frame to identify."
            )
        return load_of(self.structure, self.base, self.covariance)

    def predict(self, log: Source | Iterable[Source]) -> Array:
        """(rows, drives) torques of the model along a log's positions; NaN at ends of runs, which smoothing cuts."""
        log = joined(self.structure.robot, log)
        found = np.full((len(log), len(self.drives)), np.nan)
        for run, source in zip(log.runs, log.sources, strict=True):
            try:
                s = smooth(log._rows([run], (source,)), self.smoothing)
            except (InputError, ValueError):
                continue
            if not len(s.q):
                continue
            first = run.start + int(np.searchsorted(log.t[run], s.log.t[0]))
            rows = slice(first, first + len(s.q))
            state = self.structure.state(s, self.parameters.values)
            tau = self._torques(self.structure.with_friction(state, s.log.runs, log.rate)[0])
            late = self.delay.values * log.rate
            at = np.arange(len(tau))
            tau = np.stack([np.interp(at - d, at, x) for d, x in zip(late, tau.T, strict=True)], axis=1)
            found[rows] = tau
        return found

    def _torques(self, state: State) -> Array:
        size, parts = 4096, []
        for k in range(0, len(state.q), size):
            some = state.rows(slice(k, k + size))
            parts.append(self.structure.columns(some) @ self.parameters.values + self.structure.known(some))
        return np.concatenate(parts)

    def error(self, log: Source | Iterable[Source]) -> Error:
        """By how much measured torques of a log differ from those predicted: relative errors by drive."""
        log = joined(self.structure.robot, log)
        return error_of(self.drives, measured(self.structure, log, self.gains).values, self.predict(log))

    def test(self, *names: str) -> Test:
        """Whether some of the base parameters could as well be zero, by Wald's test with the robust covariance."""
        known = [n for n, on in zip(self.base.names, self.base.determined, strict=True) if on]
        for name in names:
            if name not in known:
                raise UnknownNameError("base parameter", name, known)
        values = self.base.values[self.base.determined]
        return wald(values, self.covariance, [known.index(name) for name in names])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the robot to a file: .toml or .urdf."""
        from linkwise.formats.registry import save

        save(self.robot, path)

    def report(self, path: str | PathLike[str], log: Log, validation: Log | None = None) -> Path:
        """Write one HTML file: errors, measured and predicted torques, intervals, what stays unknown, the motion.

        Args:
            path: of the page, ending in .html.
            log: that the model was identified from.
            validation: another log, to predict.
        """
        from linkwise.view.fit_report import report

        return report(self, path, log, validation)

    @property
    def summary(self) -> str:
        """How it went, in a sentence."""
        known = int(self.base.determined.sum())
        lost = f", {len(self.undetermined)} left at the prior" if self.undetermined else ""
        held = f"; left-out blocks {100.0 * self.cross_validation.mean:.3g} %" if self.cross_validation else ""
        return (
            f"{self.status}: {known} base parameters determined{lost}; torque error {100.0 * self.training.mean:.3g} %"
            f"{held}"
        )

    def __repr__(self) -> str:
        return f"<Fit of {self.structure.robot.name!r}: {self.summary}>"

    def __str__(self) -> str:
        lines = [f"Fit of {self.structure.robot.name!r}", self.summary, "", str(self.base), ""]
        lines += [f"errors on this log (after a low-pass of {self.cutoff:.3g} Hz): {self.training}"]
        lines += [f"errors on left-out blocks: {self.cross_validation}"] if self.cross_validation else []
        lines += [str(self.payload)] if self.structure.payload else []
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The card of a notebook: the groups with their intervals, errors by drive, notes."""
        import linkwise.card as card

        head = ("parameter", "value", "standard error", "95 % interval", "prior")
        errors = card.line(f"errors on this log: {self.training}")
        left = card.lines([f"on left-out blocks: {self.cross_validation}"] if self.cross_validation else [])
        table = card.table(head, self.base.cells(), most=200)
        return card.card(repr(self), errors, left, card.lines(self.notes), card.folded("base parameters", table))

    def facts(self) -> dict[str, Any]:
        """All numbers as JSON has them."""

        def rows(table: Estimates) -> list[dict[str, Any]]:
            return [{k: _finite(v) for k, v in x._asdict().items()} for x in table]

        def errors(error: Error | None) -> Any:
            if error is None:
                return None
            return {"mean": _finite(error.mean), "drives": dict(zip(error.drives, map(_finite, error.relative.tolist()),
                                                                    strict=True))}  # fmt: skip

        return {
            "robot": self.structure.robot.name,
            "status": self.status,
            "cutoff": self.cutoff,
            "smoothing": self.smoothing,
            "base": rows(self.base),
            "parameters": rows(self.parameters),
            "undetermined": list(self.undetermined),
            "delay": rows(self.delay),
            "gains": None
            if self.gains is None
            else dict(zip(self.drives, map(_finite, self.gains.tolist()), strict=True)),
            "errors": errors(self.training),
            "cross_validation": errors(self.cross_validation),
            "whiteness": [w._asdict() for w in self.whiteness],
            "criteria": dict(self.criteria),
            "notes": list(self.notes),
        }


def _finite(x: Any) -> Any:
    return None if isinstance(x, float) and not np.isfinite(x) else x
