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
    speeds, torques, known = (np.asarray(x, dtype=float) for x in (qd, tau, linear))
    rows, nu = torques.shape if torques.ndim == 2 else (0, 0)
    if speeds.shape != torques.shape or known.ndim != 3 or known.shape[:2] != (rows, nu) or len(drives) != nu:
        raise InputError(
            f"nonlinear_friction: expected qd (rows, nu), tau alike and linear (rows, nu, n) for {len(drives)} drives,"
            f" got shapes {speeds.shape}, {torques.shape} and {known.shape}."
        )
    pieces = list(runs) if runs is not None else [slice(0, rows)]
    forms = _Laws(drives, speeds, laws)
    late = _Late(drives, torques, rate, pieces, delay, longest)
    guesses = [*forms.guesses, *late.guesses]  # name, start, lower and upper bound
    begin = dict(start or {})
    for name in begin:
        if name not in [g[0] for g in guesses]:
            raise UnknownNameError("nonlinear parameter in start", name, [g[0] for g in guesses])
    count = len(forms.guesses)

    def slopes(phi: Array, k: int) -> tuple[Array, Array]:
        if k < count:
            return forms.slope(phi[:count], k), np.zeros(rows * nu)
        return np.zeros((rows * nu, forms.width)), late.slope(phi[count:], k - count)

    usable = late.inside[:, None] & np.all(np.isfinite(known), axis=2) & np.isfinite(torques) & np.isfinite(speeds)
    weight = np.where(usable, 1.0 if weights is None else np.asarray(weights, dtype=float), 0.0)
    fit = separable_least_squares(
        lambda phi: forms.columns(phi[:count]), lambda phi: late.torques(phi[count:]),
        [begin.get(name, x) for name, x, _, _ in guesses],
        linear=np.nan_to_num(known).reshape(rows * nu, -1), weights=weight.ravel(), slopes=slopes,
        lower=[low for *_, low, _ in guesses], upper=[high for *_, high in guesses],
    )  # fmt: skip
    plain = tuple(names) if names is not None else tuple(f"column {k}" for k in range(known.shape[2]))
    return NonlinearFriction((*plain, *forms.names, *(g[0] for g in guesses)), fit)


class _Laws:
    """The columns of laws of friction, one after the other, as functions of their nonlinear parameters."""

    def __init__(self, drives: Sequence[str], qd: Array, laws: Mapping[str, str]) -> None:
        for name, law in laws.items():
            if name not in drives:
                raise UnknownNameError("drive in laws", name, drives)
            if law not in LAWS:
                raise UnknownNameError("law of friction", law, LAWS)
        self.qd = np.nan_to_num(qd)
        self.chosen = [(list(drives).index(name), LAWS[law]) for name, law in laws.items()]
        self.guesses = [(f"{drives[k]}.{key}", *x) for k, law in self.chosen for key, x in law.nonlinear.items()]
        self.names = tuple(f"{drives[k]}.{name}" for k, law in self.chosen for name in law.linear)
        self.width = len(self.names)

    def columns(self, phi: Array) -> Array:
        found = np.zeros((*self.qd.shape, self.width), dtype=phi.dtype)
        p = at = 0
        for k, law in self.chosen:
            own = law.columns(self.qd[:, k], phi[p : p + len(law.nonlinear)])
            found[:, k, at : at + own.shape[1]] = own
            p, at = p + len(law.nonlinear), at + own.shape[1]
        return found.reshape(self.qd.size, self.width)

    def slope(self, phi: Array, k: int) -> Array:
        moved = phi.astype(complex)
        moved[k] += STEP * 1j
        return self.columns(moved).imag / STEP


class _Late:
    """Measured torques at instants t + delay, by splines of fifth degree through the samples of each run."""

    def __init__(
        self, drives: Sequence[str], tau: Array, rate: Any, runs: Sequence[slice], delay: Any, longest: float
    ) -> None:
        from scipy.interpolate import make_interp_spline

        if delay not in (None, "one", "each") or (delay and rate is None):
            raise InputError(f"nonlinear_friction delay: expected None, 'one' or 'each', and a rate, got {delay!r}.")
        self.tau, self.runs, self.shared = np.nan_to_num(tau), runs, delay == "one"
        named = {None: [], "one": ["delay"], "each": [f"{name}.delay" for name in drives]}[delay]
        self.guesses = [(name, 0.0, -longest, longest) for name in named]
        cut = int(np.ceil(longest * rate)) if named else 0
        self.inside = np.zeros(len(tau), dtype=bool)  # rows that a delay leaves within their run
        self.splines = []
        for run in runs:
            self.inside[run.start + cut : max(run.stop - cut, run.start + cut)] = True
            if named:
                t = np.arange(run.stop - run.start) / rate
                spline = make_interp_spline(t, self.tau[run], k=5 if len(t) > 5 else 1)
                self.splines.append((t, spline, spline.derivative()))

    def torques(self, delay: Array) -> Array:
        return self._at(delay, 1).ravel() if self.guesses else self.tau.ravel()

    def slope(self, delay: Array, k: int) -> Array:
        found, rates = np.zeros_like(self.tau), self._at(delay, 2)
        where = slice(None) if self.shared else slice(k, k + 1)
        found[:, where] = rates[:, where]
        return found.ravel()

    def _at(self, delay: Array, which: int) -> Array:
        """The torques (1) or their rates (2)."""
        found = np.zeros_like(self.tau)
        for run, spline in zip(self.runs, self.splines, strict=True):
            t = spline[0]
            for k in range(found.shape[1]):
                shift = float(delay[0 if self.shared else k])
                if k == 0 or not self.shared:
                    values = spline[which](np.clip(t + shift, t[0], t[-1]))
                found[run, k] = values[:, k]
        return found
