"""Parameters that torques are not linear in: Stribeck speeds, exponents, widths of friction, and delays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.errors import InputError, UnknownNameError
from linkwise.identification.separable import STEP, Separated, separable_least_squares

Array = NDArray[Any]


class Law(NamedTuple):
    """A law of friction of one joint: its nonlinear parameters with where to begin and bounds, and its columns."""

    nonlinear: Mapping[str, tuple[float, float, float]]
    linear: tuple[str, ...]
    columns: Callable[[Array, Array], Array]


def _stribeck(v: Array, phi: Array) -> Array:
    """exp(-(v / stribeck)^2) sign(v), whose coefficient is static less Coulomb friction."""
    return (np.exp(-((v / phi[0]) ** 2)) * np.sign(v))[:, None]


def _stribeck_exponent(v: Array, phi: Array) -> Array:
    """exp(-|v / stribeck|^exponent) sign(v)."""
    rest = np.abs(v) < 1e-300
    ratio = np.log(np.where(rest, 1.0, np.abs(v))) - np.log(phi[0])
    return np.where(rest, 0.0, np.exp(-np.exp(phi[1] * ratio)) * np.sign(v))[:, None]


def _power(v: Array, phi: Array) -> Array:
    """sign(v) |v|^exponent, between Coulomb and viscous friction."""
    rest = np.abs(v) < 1e-300
    return np.where(rest, 0.0, np.sign(v) * np.exp(phi[0] * np.log(np.where(rest, 1.0, np.abs(v)))))[:, None]


def _tanh(v: Array, phi: Array) -> Array:
    """tanh(v / width), Coulomb friction that reverses over a width of speeds."""
    return np.tanh(v / phi[0])[:, None]


def _asymmetric(v: Array, phi: Array) -> Array:
    """Coulomb friction of either direction, each with a width of its own."""
    return np.stack([np.tanh(np.maximum(v, 0.0) / phi[0]), np.tanh(np.minimum(v, 0.0) / phi[1])], axis=1)


WIDTH = (2e-2, 1e-4, 10.0)
LAWS = {
    "stribeck": Law({"stribeck": (0.1, 1e-3, 10.0)}, ("static - coulomb",), _stribeck),
    "stribeck_exponent": Law(
        {"stribeck": (0.1, 1e-3, 10.0), "exponent": (1.5, 0.3, 4.0)}, ("static - coulomb",), _stribeck_exponent
    ),
    "power": Law({"exponent": (0.5, 0.05, 3.0)}, ("power",), _power),
    "tanh": Law({"width": WIDTH}, ("coulomb",), _tanh),
    "asymmetric": Law({"width_forwards": WIDTH, "width_backwards": WIDTH}, ("forwards", "backwards"), _asymmetric),
}


@dataclass(frozen=True)
class NonlinearFriction:
    """Friction and delays found together with what torques are linear in.

    Args:
        names: of all parameters: of the `linear` columns by number, then of laws' columns, then nonlinear ones.
        fit: estimates, residuals and derivatives; rows as in tau, drive by drive.
    """

    names: tuple[str, ...]
    fit: Separated

    def values(self) -> dict[str, float]:
        """Estimates by name, those of the linear columns among them."""
        return dict(zip(self.names, (*self.fit.linear.tolist(), *self.fit.nonlinear.tolist()), strict=True))

    def errors(self) -> dict[str, float]:
        """Standard errors by name, for residuals that are white."""
        return dict(zip(self.names, np.sqrt(np.diag(self.fit.covariance())).tolist(), strict=True))


def nonlinear_friction(
    drives: Sequence[str],
    qd: ArrayLike,
    tau: ArrayLike,
    linear: ArrayLike,
    laws: Mapping[str, str],
    *,
    rate: float | None = None,
    runs: Sequence[slice] | None = None,
    delay: str | None = None,
    longest: float = 0.02,
    weights: ArrayLike | None = None,
    start: Mapping[str, float] | None = None,
    names: Sequence[str] | None = None,
) -> NonlinearFriction:
    """Laws of friction that are not linear, and delays of measured torques, with all that is linear beside them.

    Args:
        drives: names of the columns of tau.
        qd: (rows, nu) speeds of the drives.
        tau: (rows, nu) measured torques.
        linear: (rows, nu, n) columns that do not depend on them, such as those of base parameters; without a drive's
            Coulomb friction where its law is "tanh" or "asymmetric", which has one.
        laws: by drive one of `LAWS`.
        rate: samples a second, for delays.
        runs: pieces without gaps; all rows where none are given.
        delay: "one" for a delay that all torques share, "each" for one of each drive; None for none. Positive where
            torques are late: what was measured at t belongs to the motion at t - delay.
        longest: bound of delays, s; as much is left out at both ends of each run.
        weights: (nu,) or (rows, nu) of squared residuals, such as inverse variances of the torques.
        start: nonlinear parameters to begin at, by name such as "elbow.stribeck" or "delay".
        names: of the linear columns.
    """
    qd, tau, linear = (np.asarray(x, dtype=float) for x in (qd, tau, linear))
    rows, nu = tau.shape
    if qd.shape != tau.shape or linear.ndim != 3 or linear.shape[:2] != tau.shape or len(drives) != nu:
        raise InputError(
            f"nonlinear_friction: expected qd (rows, nu), tau alike and linear (rows, nu, n) for {len(drives)} drives,"
            f" got shapes {qd.shape}, {tau.shape} and {linear.shape}."
        )
    for name, law in laws.items():
        if name not in drives:
            raise UnknownNameError("drive in laws", name, drives)
        if law not in LAWS:
            raise UnknownNameError("law of friction", law, LAWS)
    if delay not in (None, "one", "each") or (delay and rate is None):
        raise InputError(f"nonlinear_friction delay: expected None, 'one' or 'each', and a rate, got {delay!r}.")
    pieces = list(runs) if runs is not None else [slice(0, rows)]
    chosen = [(list(drives).index(name), LAWS[law]) for name, law in laws.items()]
    guesses = [
        (f"{drives[k]}.{key}", *bounds) for k, law in chosen for key, bounds in law.nonlinear.items()
    ]  # name, start, lower, upper
    delays = {None: [], "one": ["delay"], "each": [f"{name}.delay" for name in drives]}[delay]
    guesses += [(name, 0.0, -longest, longest) for name in delays]
    shift = _Shifted(tau, rate, pieces, len(delays)) if delays and rate else None
    inside = np.zeros(rows, dtype=bool)
    cut = int(np.ceil(longest * rate)) if delays and rate else 0
    for run in pieces:
        inside[run.start + cut : max(run.stop - cut, run.start + cut)] = True
    wide: Array = np.ones((rows, nu)) if weights is None else np.broadcast_to(np.asarray(weights, float), (rows, nu))
    weight = np.where(inside[:, None] & np.all(np.isfinite(linear), axis=2) & np.isfinite(tau), wide, 0.0)
    own = [len(law.linear) for _, law in chosen]

    def columns(phi: Array) -> Array:
        found = np.zeros((rows, nu, sum(own)), dtype=phi.dtype)
        p = at = 0
        for (k, law), width in zip(chosen, own, strict=True):
            found[:, k, at : at + width] = law.columns(qd[:, k], phi[p : p + len(law.nonlinear)])
            p, at = p + len(law.nonlinear), at + width
        return found.reshape(rows * nu, -1)

    known = np.where(np.isfinite(tau), tau, 0.0)

    def target(phi: Array) -> Array:
        return known.ravel() if shift is None else shift(phi[-len(delays) :].real)[0].ravel()

    def slopes(phi: Array, k: int) -> tuple[Array, Array]:
        count = len(phi) - len(delays)
        if k < count:
            moved = phi.astype(complex)
            moved[k] += STEP * 1j
            return columns(moved).imag / STEP, np.zeros(rows * nu)
        by_time: Array = np.zeros((rows, nu))
        if shift is not None:
            where = slice(None) if delay == "one" else slice(k - count, k - count + 1)
            by_time[:, where] = shift(phi[count:])[1][:, where]
        return np.zeros((rows * nu, sum(own))), by_time.ravel()

    begin = dict(start or {})
    for name in begin:
        if name not in [g[0] for g in guesses]:
            raise UnknownNameError("nonlinear parameter in start", name, [g[0] for g in guesses])
    fit = separable_least_squares(
        columns, target, [begin.get(name, x) for name, x, _, _ in guesses],
        linear=np.where(np.isfinite(linear), linear, 0.0).reshape(rows * nu, -1), weights=weight.ravel(),
        slopes=slopes, lower=[low for *_, low, _ in guesses], upper=[high for *_, high in guesses],
    )  # fmt: skip
    plain = tuple(names) if names is not None else tuple(f"column {k}" for k in range(linear.shape[2]))
    added = tuple(f"{drives[k]}.{name}" for k, law in chosen for name in law.linear)
    return NonlinearFriction((*plain, *added, *(g[0] for g in guesses)), fit)


class _Shifted:
    """Measured torques at instants t + delay, by splines of fifth degree through the samples of each run."""

    def __init__(self, tau: Array, rate: float | None, runs: Sequence[slice], delays: int) -> None:
        from scipy.interpolate import make_interp_spline

        self.runs, self.rate, self.shape = runs, float(rate or 1.0), tau.shape
        self.delays, self.splines = delays, []
        for run in runs:
            t = np.arange(run.stop - run.start) / self.rate
            whole = np.nan_to_num(tau[run])
            self.splines.append((t, make_interp_spline(t, whole, k=5 if len(t) > 5 else 1)))

    def __call__(self, delay: Array) -> tuple[Array, Array]:
        """The torques, and their rates."""
        values, rates = np.zeros(self.shape), np.zeros(self.shape)
        for run, (t, spline) in zip(self.runs, self.splines, strict=True):
            for x, f in ((values, spline), (rates, spline.derivative())):
                if self.delays == 1:
                    x[run] = f(np.clip(t + delay[0], t[0], t[-1]))
                else:
                    for k in range(self.shape[1]):
                        x[run, k] = f(np.clip(t + delay[k], t[0], t[-1]))[:, k]
        return values, rates
