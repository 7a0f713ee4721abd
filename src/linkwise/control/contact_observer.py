"""Collision and contact detection: forces from outside, seen in the momentum of a robot without accelerations.

The generalised momentum p = M qd changes as drives, weight and friction make it change, and by what else acts:

    p' = B tau + C^T qd - g - friction + tau_ext

An observer integrates all but the last and compares with p. What is left over is tau_ext behind a first-order filter,

    r' = gain (tau_ext - r)

Source: A. De Luca and R. Mattone, "Actuator failure detection and isolation using generalized momenta" (2003); De Luca,
Albu-Schaeffer, Haddadin and Hirzinger (2006) for collisions. We depart in that C^T qd is M' qd - C qd, which needs no C
and holds for floating joints and loops too, and in that the filter is exact for what is constant between two samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.algorithm import Outputs, World, algorithm
from linkwise.algorithms.coriolis import reference_forces
from linkwise.algorithms.inverse_dynamics import tree_torques
from linkwise.check import positive
from linkwise.control.gains import checked
from linkwise.errors import InputError
from linkwise.jet import part
from linkwise.kernel.compile import compile
from linkwise.kernel.kernel import Kernel
from linkwise.mechanism.machine import AnyMachine
from linkwise.mechanism.series import along_motion
from linkwise.motion.columns import column_names
from linkwise.motion.log import Log
from linkwise.robot.leading import refuse_wheels
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar

Array = NDArray[np.float64]
SIGMAS = 6.0  # standard deviations of the residual of a log without contact


@algorithm(
    inputs="q qd tau",
    outputs={"p": ("nv",), "p_dot": ("nv",)},
    uses="gravity external",
    torques_only=True,
)
def generalised_momentum(
    machine: AnyMachine, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar], world: World
) -> Outputs:
    """The momentum p = M qd, and the rate that torques of the drives, weight and friction give it.

        p' = B tau + M' qd - C qd - g - friction,   M' qd - C qd = C^T qd

    M' is the derivative of M along the motion, by series in time; a floating joint's velocity is in its own axes.

    Args:
        machine: the robot; with loops, in the coordinates that lead.
        q: positions (nq).
        qd: velocities (nv).
        tau: torques of the drives (nu), as inverse dynamics gives them.
        world: gravity, and the wrenches that are known to act from outside.
    """
    at = machine.at(q)
    bias = tree_torques(at, *at.led(qd, [0.0] * machine.nv), world)
    acting = at.project([a - b for a, b in zip(at.applied(tau), bias, strict=True)])
    moving = machine.at(along_motion(machine, (q, qd), 1)[0])
    still = [0.0] * moving.tree.nv
    p = moving.project(reference_forces(moving.tree, moving.q, still, still, moving.rates(qd)))
    return [part(x) for x in p], [a + part(x, 1) for a, x in zip(acting, p, strict=True)]


@dataclass(frozen=True, eq=False)
class Residuals:
    """What an observer saw along a log.

    Attributes:
        t: (rows,) times, s.
        torque: (rows, nv) estimates of the generalised forces from outside, at the coordinates that lead.
        names: of the columns.
        threshold: (nv,) above which a residual is no noise; infinite where none is known.
    """

    t: Array
    torque: Array
    names: tuple[str, ...]
    threshold: Array

    @property
    def detected(self) -> NDArray[np.bool_]:
        """(rows,) whether some residual is above its threshold."""
        return np.asarray((np.abs(self.torque) > self.threshold).any(axis=1))

    @property
    def contacts(self) -> tuple[tuple[float, float, str], ...]:
        """Each contact: when it was first and last seen, s, and the coordinate whose residual was largest."""
        seen = np.concatenate([[False], self.detected, [False]])
        found = []
        for first, after in zip(
            np.flatnonzero(~seen[:-1] & seen[1:]), np.flatnonzero(seen[:-1] & ~seen[1:]), strict=True
        ):
            shares = np.abs(self.torque[first:after]) / self.threshold
            name = self.names[int(np.argmax(shares.max(axis=0)))]
            found.append((float(self.t[first]), float(self.t[after - 1]), name))
        return tuple(found)


@dataclass(eq=False)
class MomentumObserver:
    """A momentum observer; `linkwise.control.momentum_observer` makes one.

    Call it with each sample, `observer(q, qd, tau)`, or with a whole log, `observer.along(q, qd, tau)`.

    Attributes:
        robot: whose model it knows.
        gain: (nv,) 1/s: residuals follow forces with the time constant 1/gain.
        dt: s between samples.
        hold: whether torques are held from one sample to the next, as commands are; else they are measured at samples.
        threshold: (nv,) above which a residual is no noise.
        residual: (nv,) of the last sample.
    """

    robot: Robot
    gain: Array
    dt: float
    hold: bool
    threshold: Array
    residual: Array
    _kernel: Kernel = field(repr=False)
    _last: tuple[Array, Array, Array] | None = field(default=None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the residuals: the coordinates that lead."""
        return tuple(name.removeprefix("qd.") for name in column_names(self.robot, "qd"))

    @property
    def detected(self) -> bool:
        """Whether some residual of the last sample is above its threshold."""
        return bool((np.abs(self.residual) > self.threshold).any())

    def reset(self) -> None:
        """Forget all samples."""
        self.residual, self._last = np.zeros_like(self.gain), None

    def __call__(self, q: Any, qd: Any, tau: Any) -> Array:
        """The residual (nv) after one more sample: positions (nq), velocities (nv), torques of the drives (nu)."""
        self._check(q, qd, tau, ())
        p, rate = self._kernel(q, qd, tau)
        held = self._kernel(q, qd, self._last[2])[1] if self.hold and self._last else rate
        if self._last is not None:
            before, rate_before, _ = self._last
            self.residual = self._filtered((p - before) / self.dt - 0.5 * (rate_before + held))
        self._last = p, rate, np.array(tau, dtype=float)
        return self.residual.copy()

    def _filtered(self, change: Array) -> Array:
        fade = np.exp(-self.gain * self.dt)
        return fade * self.residual + (1.0 - fade) * change

    def along(self, q: Any, qd: Any = None, tau: Any = None) -> Residuals:
        """Residuals along a whole log, which start from zero; the observer itself stays as it is.

        Args:
            q: positions (rows, nq); or a `Log` with velocities and torques, each of whose runs starts anew.
            qd: velocities (rows, nv).
            tau: torques of the drives (rows, nu).
        """
        if isinstance(q, Log):
            return self._along_log(q)
        self._check(q, qd, tau, (len(np.atleast_2d(q)),))
        torque = self._run(np.asarray(q, float), np.asarray(qd, float), np.asarray(tau, float))
        return Residuals(np.arange(len(torque)) * np.float64(self.dt), torque, self.names, self.threshold)

    def _along_log(self, log: Log) -> Residuals:
        if log.robot.names != self.robot.names:
            raise InputError(
                f"momentum_observer: expected a log of {self.robot.name!r}, got one of {log.robot.name!r}."
            )
        qd, tau = log.qd, log.tau
        if qd is None or tau is None:
            lacks = "velocities" if qd is None else "torques"
            raise InputError(f"momentum_observer: expected a log with velocities and torques, got no {lacks}.")
        if abs(log.rate * self.dt - 1.0) > 0.01:
            raise InputError(
                f"momentum_observer: expected samples every {self.dt:g} s, got {log.rate:g} a second. Give"
                f" momentum_observer(..., dt={1.0 / log.rate:g})."
            )
        found = [self._run(log.q[run], qd[run], tau[run]) for run in log.runs]
        return Residuals(log.t, np.concatenate(found), self.names, self.threshold)

    def _run(self, q: Array, qd: Array, tau: Array) -> Array:
        from scipy.signal import lfilter

        p, rate = self._kernel(q, qd, tau)
        held = self._kernel(q[1:], qd[1:], tau[:-1])[1] if self.hold else rate[1:]
        change = np.concatenate([np.zeros((1, p.shape[1])), np.diff(p, axis=0) / self.dt - 0.5 * (rate[:-1] + held)])
        fade = np.exp(-self.gain * self.dt)
        return np.stack([lfilter([1.0 - a], [1.0, -a], x) for a, x in zip(fade, change.T, strict=True)], axis=1)

    def fit(self, q: Any, qd: Any = None, tau: Any = None, sigmas: float = SIGMAS) -> MomentumObserver:
        """A new observer with thresholds from a log without contact: mean errors of the model, and noise.

        Args:
            q: positions (rows, nq), or a `Log`.
            qd: velocities (rows, nv).
            tau: torques of the drives (rows, nu).
            sigmas: standard deviations of the residual that count as noise.
        """
        times = positive(sigmas, "sigmas")
        seen = self.along(q, qd, tau).torque
        if len(seen) < 2 * self.robot.nv or not np.isfinite(seen).all():
            raise InputError(
                f"momentum_observer fit: expected {2 * self.robot.nv} finite samples or more, got {len(seen)}."
            )
        level = np.abs(seen.mean(axis=0)) + times * seen.std(axis=0)
        return replace(self, threshold=level, residual=np.zeros_like(self.gain), _last=None)

    def _check(self, q: Any, qd: Any, tau: Any, rows: tuple[int, ...]) -> None:
        wide = {"q": (q, self.robot.nq), "qd": (qd, self.robot.nv), "tau": (tau, self.robot.nu)}
        for name, (value, width) in wide.items():
            if np.shape(value) != (*rows, width):
                raise InputError(
                    f"momentum_observer {name}: expected an array of shape {(*rows, width)}, got {np.shape(value)}."
                )


def momentum_observer(
    robot: Robot, gain: Any = 30.0, dt: float = 0.001, *, threshold: Any = None, hold: bool = False
) -> MomentumObserver:
    """An observer of forces from outside, by the momentum of the robot: for collisions and contacts.

    It needs positions, velocities and torques, and no accelerations. Its residual is the generalised force of the
    environment, J^T F, behind a first-order filter with the time constant 1/gain. Friction, springs, rotors and gravity
    are those of the model; identify them first, for what the model lacks is seen as a force.

    Args:
        robot: its model, fixed or floating, with loops and elastic drives too.
        gain: 1/s: one number, or one for each coordinate; larger is faster and noisier.
        dt: s between samples.
        threshold: above which a residual is no noise: one number, or one for each coordinate; `fit` finds them.
        hold: whether torques are held from one sample to the next, as commands are; else they are measured at samples.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"momentum_observer: expected a Robot, got {robot!r}. Load one with lw.load(...).")
    refuse_wheels(robot, "momentum_observer")
    widths = {"gain": robot.nv, "threshold": robot.nv}
    given = {"gain": gain} | ({} if threshold is None else {"threshold": threshold})
    found = {name: np.array(x) for name, x in checked("momentum_observer", given, widths).items()}
    level = found.get("threshold", np.full(robot.nv, np.inf))
    kernel = compile(robot, generalised_momentum)
    return MomentumObserver(
        robot, found["gain"], positive(dt, "momentum_observer dt"), hold, level, np.zeros(robot.nv), kernel
    )
