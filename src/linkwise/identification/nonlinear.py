"""Parameters that torques are not linear in: Stribeck speeds, exponents, widths of friction, and delays.

The others are linear for any values of these, so they are eliminated: variable projection minimises the squared
residuals over the few nonlinear ones alone, by Gauss and Newton's method with Levenberg's damping.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.errors import InputError, LinkwiseError, UnknownNameError

Array = NDArray[Any]
Slopes = Callable[[Array, int], tuple[Array, Array]]

STEP = 1e-30  # of complex steps
ROUND_OFF = 1e-12  # of eigenvalues: smaller ones are of columns that depend on others
RISE, FALL = 5.0, 0.2  # of the damping after a step that failed, and one that did not


@dataclass(frozen=True)
class Separated:
    """Least squares over linear and nonlinear parameters.

    Args:
        linear: estimates of those that the model is linear in: of `linear` columns, then of `columns(phi)`.
        nonlinear: estimates phi of the others.
        residuals: (rows,) target less model, as measured, without weights.
        jacobian: (rows, linear + nonlinear) derivatives of the model less the target.
        weights: (rows,) of squared residuals.
        cost: half the sum of weighted squares.
        iterations: steps that were tried.
        status: "solved", or in words why not.
        at_bounds: places of nonlinear parameters that ended on a bound.
    """

    linear: Array
    nonlinear: Array
    residuals: Array
    jacobian: Array
    weights: Array
    cost: float
    iterations: int
    status: str
    at_bounds: tuple[int, ...] = ()

    def covariance(self) -> Array:
        """Of linear, then nonlinear parameters, for residuals that are white: s^2 (J^T W J)^-1.

        A parameter on its bound, or one that the data do not determine, has NaN.
        """
        width = self.jacobian.shape[1]
        J = self.jacobian * np.sqrt(self.weights)[:, None]
        n = len(self.linear)
        free = np.array([k for k in range(width) if k - n not in self.at_bounds and np.any(J[:, k])], dtype=int)
        size = np.linalg.norm(J[:, free], axis=0)
        inverse, certain = _inverse((J[:, free] / size).T @ (J[:, free] / size))
        freedom = max(int(np.count_nonzero(self.weights)) - len(free), 1)
        found = np.full((width, width), np.nan)
        own = 2.0 * self.cost / freedom * inverse / np.outer(size, size)
        own[~certain, :] = own[:, ~certain] = np.nan
        found[np.ix_(free, free)] = own
        return found


def separable_least_squares(
    columns: Callable[[Array], Array],
    target: ArrayLike | Callable[[Array], Array],
    start: ArrayLike,
    *,
    linear: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    slopes: Slopes | None = None,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
    most: int = 100,
    tolerance: float = 1e-10,
) -> Separated:
    """Minimise sum of weights (target - linear x - columns(phi) y)^2 over x, y and phi.

    Args:
        columns: function of phi that returns (rows, k); it is differentiated by complex steps unless `slopes` is given.
        target: (rows,) of measured torques; a function of phi where these depend on it, as with a delay.
        start: phi to begin at; the minimum that is found may be a local one.
        linear: (rows, n) of columns that do not depend on phi.
        weights: (rows,) of squared residuals, such as the inverse variance of each; 0 leaves a row out.
        slopes: function of phi and a place k in it that returns derivatives by phi[k]: of columns (rows, n) and of the
            target (rows,).
        lower: bounds of phi.
        upper: likewise.
        most: steps to try.
        tolerance: relative to the cost: a smaller gain ends it.

    Source: G. H. Golub and V. Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems
    whose variables separate, SIAM J. Numer. Anal. 10(2), 1973. The damping is Levenberg and Marquardt's.
    """
    problem = _Problem(columns, target, linear, weights, slopes)
    phi = _vector(start, "start")
    low, high = (np.broadcast_to(np.asarray(x, dtype=float), phi.shape) for x in (lower, upper))
    if not np.all(low < high):
        raise InputError("separable_least_squares: expected lower bounds below upper ones.")
    phi = np.clip(phi, low, high)
    now = problem.at(phi)
    damping, status, tries = 1e-3, "solved", 0
    while len(phi):
        J = problem.reduced(now)
        gradient, square = J.T @ now.r, J.T @ J
        held = ((phi <= low) & (gradient > 0.0)) | ((phi >= high) & (gradient < 0.0))
        then, tries, damping = _better(problem, now, (gradient, square, held), (low, high), damping, tries, most)
        if then is None:
            status = "solved" if damping > 1.0 or not np.any(gradient[~held]) else f"stopped after {most} steps"
            break
        gain, now, phi = now.cost - then.cost, then, then.phi
        if gain <= tolerance * now.cost:
            break
    at_bounds = tuple(int(k) for k in np.flatnonzero((phi <= low) | (phi >= high)))
    A, r = problem.plain(now)
    return Separated(now.x, phi, r, A, problem.w**2, now.cost, tries, status, at_bounds)


class _Point(NamedTuple):
    """What is known at one phi: weighted columns, target, the best linear parameters, and the residual."""

    phi: Array
    B: Array
    b: Array
    x: Array
    inverse: Array
    r: Array
    cost: float


class _Problem:
    """The weighted rows."""

    def __init__(self, columns: Any, target: Any, linear: Any, weights: Any, slopes: Slopes | None) -> None:
        self.columns, self.slopes, self.target = columns, slopes, target
        if not callable(target):
            constant = _vector(target, "target")
            self.target = lambda phi: constant
        else:
            constant = None
        given = None if linear is None else np.asarray(linear, dtype=float)
        rows = len(constant) if constant is not None else len(given) if given is not None else None
        w = None if weights is None else _vector(weights, "weights")
        if w is not None and np.any(w < 0.0):
            raise InputError("separable_least_squares weights: expected numbers of at least 0, got a negative one.")
        self.rows = rows if rows is not None else len(w) if w is not None else None
        self.w: Array = np.sqrt(w) if w is not None else np.ones(self.rows or 0)
        self.given = given

    def at(self, phi: Array) -> _Point:
        b = np.asarray(self.target(phi), dtype=float)
        if self.rows is None:
            self.rows, self.w = len(b), np.ones(len(b))
        columns = np.asarray(self.columns(phi), dtype=float)
        for what, found in (("target", b), ("columns", columns), ("weights", self.w), ("linear", self._linear())):
            if len(found) != self.rows or not np.all(np.isfinite(found)):
                raise InputError(
                    f"separable_least_squares {what}: expected {self.rows} rows of finite numbers, got shape"
                    f" {found.shape}. Give those that cannot be used the weight 0 and any finite numbers."
                )
        if not hasattr(self, "A0"):
            self.A0 = self.w[:, None] * self._linear()
            self.G0 = self.A0.T @ self.A0
        B, b = self.w[:, None] * columns, self.w * b
        cross = self.A0.T @ B
        gram = np.block([[self.G0, cross], [cross.T, B.T @ B]])
        size = np.sqrt(np.maximum(np.diag(gram), 1e-300))
        inverse = _inverse(gram / np.outer(size, size))[0] / np.outer(size, size)
        x = inverse @ np.concatenate([self.A0.T @ b, B.T @ b])
        r = b - self._times(B, x)
        x = x + inverse @ np.concatenate([self.A0.T @ r, B.T @ r])  # one step of refinement
        r = b - self._times(B, x)
        return _Point(phi, B, b, x, inverse, r, 0.5 * float(r @ r))

    def _linear(self) -> Array:
        return self.given if self.given is not None else np.zeros((self.rows or 0, 0))

    def _times(self, B: Array, x: Array) -> Array:
        n = self.A0.shape[1]
        return self.A0 @ x[:n] + B @ x[n:]

    def _derivative(self, phi: Array, k: int) -> tuple[Array, Array]:
        """Of columns (rows, n) and of the target (rows,) by phi[k], without weights."""
        if self.slopes is not None:
            return self.slopes(phi, k)
        moved = phi.astype(complex)
        moved[k] += STEP * 1j
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                columns, target = np.asarray(self.columns(moved)), np.asarray(self.target(moved))
            if not (np.iscomplexobj(columns) or np.iscomplexobj(target)):
                raise TypeError("real numbers for complex ones")
        except (TypeError, np.exceptions.ComplexWarning) as error:
            raise LinkwiseError(
                f"separable_least_squares: expected functions that take complex numbers, or slopes=, got: {error}."
            ) from error
        return columns.imag / STEP, target.imag / STEP

    def reduced(self, p: _Point) -> Array:
        """Derivatives (rows, p) of the residual whose linear parameters are the best ones."""
        n, J = self.A0.shape[1], np.zeros((len(p.b), len(p.phi)))
        for k in range(len(p.phi)):
            dB, db = self._derivative(p.phi, k)
            own = self.w[:, None] * dB
            c = self.w * db - own @ p.x[n:]
            seen = np.concatenate([self.A0.T @ c, p.B.T @ c])
            seen[n:] += own.T @ p.r
            J[:, k] = c - self._times(p.B, p.inverse @ seen)
        return J

    def plain(self, p: _Point) -> tuple[Array, Array]:
        """Derivatives of the model less the target by all parameters, and the residual, without weights."""
        n, A0, B = self.A0.shape[1], self._linear(), np.asarray(self.columns(p.phi), dtype=float)
        b = np.asarray(self.target(p.phi), dtype=float)
        slopes = (self._derivative(p.phi, k) for k in range(len(p.phi)))
        by_phi = [dB @ p.x[n:] - db for dB, db in slopes]
        J = np.concatenate([A0, B, np.array(by_phi).reshape(-1, len(b)).T], axis=1)
        return J, b - A0 @ p.x[:n] - B @ p.x[n:]


def _better(
    problem: _Problem, now: _Point, normal: tuple[Array, Array, Array], bounds: tuple[Array, Array], damping: float,
    tries: int, most: int,
) -> tuple[_Point | None, int, float]:  # fmt: skip
    """The next point, with more damping until the cost falls; None where no step lowers it."""
    gradient, square, held = normal
    free = np.flatnonzero(~held)
    scale = np.maximum(np.diag(square), 1e-12 * max(float(np.diag(square).max()), 1e-300))
    while len(free) and tries < most and damping < 1e12:
        tries += 1
        step = np.zeros(len(gradient))
        step[free] = -np.linalg.solve((square + damping * np.diag(scale))[np.ix_(free, free)], gradient[free])
        phi = np.clip(now.phi + step, *bounds)
        if np.array_equal(phi, now.phi):
            break
        then = problem.at(phi)
        if then.cost < now.cost:
            return then, tries, max(damping * FALL, 1e-9)
        damping *= RISE
    return None, tries, np.inf if tries < most else 0.0


def _inverse(gram: Array) -> tuple[Array, Array]:
    """The inverse of a symmetric matrix of unit columns on what they determine, and which of them it determines."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > ROUND_OFF * max(float(values[-1]), 0.0) if len(values) else np.zeros(0, dtype=bool)
    V = vectors[:, kept]
    lost = np.linalg.norm(vectors[:, ~kept], axis=1) if len(values) else np.zeros(0)
    return (V / values[kept]) @ V.T, lost < 1e-6


def _vector(x: ArrayLike, what: str) -> Array:
    try:
        found = np.array(x, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"separable_least_squares {what}: expected numbers, got {x!r}.") from error
    if found.ndim != 1 or not np.all(np.isfinite(found)):
        raise InputError(f"separable_least_squares {what}: expected a vector of finite numbers, got {found!r}.")
    return found


# ---- laws of friction


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
