"""An interior-point method of our own, on NumPy and SciPy alone.

    minimise f(x) - mu sum log(distances to bounds)   with   g(x) = s,   for mu -> 0

Newton's steps of primal and dual variables, in which slacks s and multipliers are eliminated: what is left is a matrix
over control points, which is small, however many rows there are. A filter takes steps that lessen either the barrier
function or the violation of rows.

Source: Waechter and Biegler, On the implementation of an interior-point filter line-search algorithm, Mathematical
Programming 106, 2006. We depart from it in that the eliminated system is factorised densely, that the matrix itself is
made positive definite, that slacks far from their bounds follow their rows, and that there is no restoration: where no
step helps, it gives up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.program import Program
from linkwise.planning.solvers.monitor import Answer, Monitor

STEEP = 100.0  # the largest slope of an objective that is not scaled down
FIRST, PUSH = 0.1, 1e-2  # the barrier to begin with, and how far a start is moved away from bounds, relative
WARM, NUDGE = 1e-7, 1e-5  # the same where multipliers are known
FALL, BEND = 0.2, 1.5  # how barriers shrink
NEARLY, PATIENCE = 1e-6, 12  # an error at which so many iterations are enough, or with a barrier
FIRM = 1e2  # stiffness of equations, in parts of the largest second derivative
SMALL = 1e-9  # relaxation of equations, relative to the matrix
BACK = 0.99  # of the way to a bound
HALVINGS = 25
INSIDE = 0.1  # a distance from bounds at which a slack need not differ from its row
SETTLED, FLAT, ROUGH = 15, 1e-6, 1e-3  # iterations, changes of the objective, and an error at which it has settled


@dataclass
class _Bounded:
    """Numbers between bounds, with a multiplier for each side; distances to bounds that are none are infinite."""

    value: Array
    lower: Array
    upper: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, value: Array, lower: Array, upper: Array, mu: float, push: float) -> _Bounded:
        """Values moved inside of their bounds by so much, relative."""
        room = np.where(np.isfinite(upper - lower), upper - lower, np.inf)
        pushed = [np.minimum(push * np.maximum(1.0, np.abs(x)), push * room) for x in (lower, upper)]
        inside = np.clip(value, np.where(np.isfinite(lower), lower + pushed[0], -np.inf),
                         np.where(np.isfinite(upper), upper - pushed[1], np.inf))  # fmt: skip
        found = cls(inside, lower, upper, lower, upper)
        a, b = found.gaps(inside)
        found.low, found.high = mu / a, mu / b
        return found

    def gaps(self, value: Array) -> tuple[Array, Array]:
        return value - self.lower, self.upper - value

    def barrier(self, value: Array) -> float:
        """Minus the sum of logarithms of distances; infinite outside."""
        total = 0.0
        for gap in self.gaps(value):
            near = gap[np.isfinite(gap)]
            if (near <= 0.0).any():
                return np.inf
            total -= float(np.log(near).sum())
        return total

    def slope(self, mu: float) -> Array:
        """Of the barrier function by the values."""
        a, b = self.gaps(self.value)
        return mu / b - mu / a

    def stiffness(self) -> Array:
        a, b = self.gaps(self.value)
        return self.low / a + self.high / b

    def reach(self, step: Array) -> float:
        """The longest share of a step that stays inside."""
        a, b = self.gaps(self.value)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.concatenate([(-a / step)[step < 0.0], (b / step)[step > 0.0]])
        return min(1.0, BACK * float(shares.min(initial=np.inf)))

    def dual_steps(self, step: Array, mu: float) -> tuple[Array, Array]:
        a, b = self.gaps(self.value)
        return mu / a - self.low - self.low / a * step, mu / b - self.high + self.high / b * step

    def move(self, value: Array, duals: tuple[Array, Array], share: float, mu: float) -> None:
        """Take a step; multipliers stay near mu over distances."""
        self.value = value
        for name, gap, d in zip(("low", "high"), self.gaps(value), duals, strict=True):
            with np.errstate(invalid="ignore"):
                new = np.clip(getattr(self, name) + share * d, 1e-10 * mu / gap, 1e10 * mu / gap)
            setattr(self, name, np.where(np.isfinite(gap), new, 0.0))

    def products(self) -> Array:
        """Distances times multipliers, all mu on the barrier's path."""
        a, b = self.gaps(self.value)
        return np.concatenate([(g * z)[np.isfinite(g)] for g, z in ((a, self.low), (b, self.high))])


def _dual_reach(pairs: list[tuple[Array, Array]]) -> float:
    """The longest share of steps of multipliers that keeps them positive."""
    shares = [(-z / d)[d < 0.0].min(initial=np.inf) for z, d in pairs]
    return min(1.0, BACK * float(min(shares)))


class _Method:
    """One solve."""

    def __init__(self, p: Program, x: Array, monitor: Monitor, tolerance: float, warm: Array | None) -> None:
        self.p, self.monitor, self.tolerance = p, monitor, tolerance
        self.equal = p.row_upper - p.row_lower <= 1e-12
        self.mu, push = (FIRST, PUSH) if warm is None else (WARM, NUDGE)
        self.x = _Bounded.of(x, p.lower, p.upper, self.mu, push)
        steep = float(np.abs(p.gradient(self.x.value)).max(initial=0.0))
        self.scale = min(1.0, STEEP / steep) if steep > 0.0 else 1.0
        free = ~self.equal
        self.s = _Bounded.of(p.g(self.x.value)[free], p.row_lower[free], p.row_upper[free], self.mu, push)
        self.y = np.zeros(p.m)
        if warm is not None and len(warm) == p.m:
            self.y = self.scale * warm
            own = self.y[free]
            self.s.low, self.s.high = np.maximum(-own, self.s.low), np.maximum(own, self.s.high)
        self.shift, self.held = 0.0, 0  # for how many iterations the barrier has been held
        self.filter: list[tuple[float, float]] = []
        self.most = 1e4 * max(1.0, self._violation(self.x.value, self.s.value))

    # ---- what is measured

    def _rest(self, x: Array, s: Array) -> Array:
        """Equations: g - s of rows between bounds, g - b of those that are equations."""
        g = self.p.g(x)
        target = self.p.row_lower.copy()
        target[~self.equal] = s
        return g - target

    def _violation(self, x: Array, s: Array) -> float:
        found = float(np.abs(self._rest(x, s)).sum())
        return found if np.isfinite(found) else np.inf

    def _merit(self, x: Array, s: Array) -> float:
        total = self.scale * self.p.f(x) + self.mu * (self.x.barrier(x) + self.s.barrier(s))
        return total if np.isfinite(total) else np.inf

    def error(self, mu: float) -> float:
        """How far the optimality conditions of a barrier are from being met."""
        J = self.J
        own = self.y[~self.equal]
        dual = self.scale * self.grad + J.T @ self.y + self.x.high - self.x.low
        slack = self.s.high - self.s.low - own
        weights = [self.y, self.x.low, self.x.high, self.s.low, self.s.high]
        size = max(1.0, sum(float(np.abs(w).sum()) for w in weights) / max(1, sum(map(len, weights))) / 100.0)
        rest = self._rest(self.x.value, self.s.value)
        worst = [np.abs(dual).max(initial=0.0) / size, np.abs(slack).max(initial=0.0) / size,
                 np.abs(rest).max(initial=0.0), np.abs(self.products() - mu).max(initial=0.0) / size]  # fmt: skip
        return float(max(worst))

    @property
    def settled(self) -> bool:
        """Whether the objective has not changed for long, with rows kept and a barrier that does not matter."""
        recent = self.monitor.history[-SETTLED:]
        f, over = np.array(recent).T
        small = FLAT * abs(f[-1])
        return bool(len(f) == SETTLED and over.max() <= NEARLY and np.ptp(f) <= small and self.mu * self.p.m <= small)

    def products(self) -> Array:
        return np.concatenate([self.x.products(), self.s.products()])

    # ---- the barrier

    def lower(self) -> None:
        """Lower the barrier where its own problem is nearly solved, or has been tried for long enough."""
        self.held += 1
        least = 0.1 * self.tolerance
        while self.mu > least and (self.held > PATIENCE or self.error(self.mu) <= 10.0 * self.mu):
            self.mu, self.held, self.filter = max(least, min(FALL * self.mu, self.mu**BEND)), 0, []

    # ---- a step

    def linearise(self) -> None:
        p, x = self.p, self.x.value
        self.grad = self.monitor.gradient(x)
        self.J = np.zeros((p.m, p.n))
        np.add.at(self.J, (p.jac_rows, p.jac_columns), p.jacobian(x))

    def hessian(self) -> Array:
        p = self.p
        H = np.zeros((p.n, p.n))
        found = p.hessian(self.x.value, self.scale, self.y)
        H[p.hess_rows, p.hess_columns] = found
        H[p.hess_columns, p.hess_rows] = found
        return H

    def direction(self) -> Any:
        """Newton's step of x, s and y, and the function that gives it for other equations' rests; None for none."""
        from scipy.linalg import cho_factor, cho_solve

        free, A = ~self.equal, self.J[self.equal]
        J, stiff = self.J[free], self.s.stiffness()
        K = self.hessian()
        firm = FIRM * max(1.0, float(np.abs(K).max(initial=0.0))) / max(1.0, float(np.abs(A).max(initial=0.0))) ** 2
        K += (J.T * stiff) @ J + firm * A.T @ A  # the second changes no step, but what is curved across equations
        K.flat[:: len(K) + 1] += self.x.stiffness()
        size = float(np.abs(K.diagonal()).max(initial=1.0))
        shift = 0.0
        for _ in range(30):
            try:
                shifted = K.copy()
                shifted.flat[:: len(K) + 1] += shift + 1e-14 * size
                factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
                break
            except np.linalg.LinAlgError:
                shift = max(8.0 * shift, 0.3 * self.shift, 1e-6, 1e-13 * size)
        else:
            return None
        self.shift = shift
        if len(A):
            KA = cho_solve(factor, A.T, check_finite=False)
            S = A @ KA
            S.flat[:: len(S) + 1] += SMALL * max(1e-12, float(np.abs(S).max(initial=0.0)))
            Schur = cho_factor(S, lower=True, check_finite=False)
        slope_s = self.s.slope(self.mu) - self.y[free]
        slope_x = self.scale * self.grad + self.J.T @ self.y + self.x.slope(self.mu)

        def step(rest: Array) -> tuple[Array, Array, Array]:
            c = rest[free]
            right = -slope_x - J.T @ (stiff * c + slope_s) - firm * A.T @ rest[self.equal]
            dx = cho_solve(factor, right, check_finite=False)
            dy = np.zeros(len(rest))
            if len(A):
                dy[self.equal] = cho_solve(Schur, A @ dx + rest[self.equal], check_finite=False)
                dx -= KA @ dy[self.equal]
            ds = J @ dx + c
            dy[free] = stiff * ds + slope_s
            return dx, ds, dy

        return step

    def advance(self) -> bool:
        """One iteration; whether it could be made."""
        self._step = step = self.direction()
        if step is None:
            return False
        x, s = self.x.value, self.s.value
        rest = self._rest(x, s)
        dx, ds, dy = step(rest)
        if not np.isfinite(dx).all():
            return False
        duals = self.x.dual_steps(dx, self.mu), self.s.dual_steps(ds, self.mu)
        length = min(self.x.reach(dx), self.s.reach(ds))
        theta, phi = float(np.abs(rest).sum()), self._merit(x, s)
        slope = float((self.scale * self.grad + self.x.slope(self.mu)) @ dx + self.s.slope(self.mu) @ ds)
        for k in range(HALVINGS):
            new = self._eased(x + length * dx, s + length * ds)
            if self._taken(*new, theta, phi, slope, length):
                break
            corrected = self._corrected(step, rest, *new, length) if k == 0 else None
            if corrected is not None and self._taken(*corrected, theta, phi, slope, length):
                new = corrected
                break
            length *= 0.5
        else:
            return False
        pairs = [(self.x.low, duals[0][0]), (self.x.high, duals[0][1]), (self.s.low, duals[1][0]),
                 (self.s.high, duals[1][1])]  # fmt: skip
        share = _dual_reach([(z[np.isfinite(d)], d[np.isfinite(d)]) for z, d in pairs])
        self.x.move(new[0], duals[0], share, self.mu)
        self.s.move(new[1], duals[1], share, self.mu)
        self.y = self.y + length * dy
        return True

    def _eased(self, x: Array, s: Array) -> tuple[Array, Array]:
        """Slacks of rows far inside of their bounds are the rows: dry friction of joints at rest makes these jump."""
        g = self.p.g(x)[~self.equal]
        a, b = self.s.gaps(g)
        return x, np.where(np.minimum(a, b) > INSIDE, g, s)

    def _corrected(self, step: Any, rest: Array, x: Array, s: Array, length: float) -> tuple[Array, Array] | None:
        """A step of second order, which takes the bend of rows into account."""
        late = self._rest(x, s)
        if not np.isfinite(late).all():
            return None
        dx, ds, _ = step(length * rest + late)
        share = min(self.x.reach(dx), self.s.reach(ds))
        return self.x.value + share * dx, self.s.value + share * ds

    def _taken(self, x: Array, s: Array, theta: float, phi: float, slope: float, length: float) -> bool:
        """Whether the filter takes a point; if it does so for its violation alone, the last one enters the filter."""
        new_theta = self._violation(x, s)
        if not new_theta <= self.most:
            return False
        new_phi = self._merit(x, s)
        if any(new_theta >= t and new_phi >= f for t, f in self.filter):
            return False
        rounding = 1e-13 * max(1.0, abs(phi))
        descends = slope < 0.0 and length * (-slope) ** 2.3 > theta**1.1 and theta <= max(1e-4, 1e-4 * self.most)
        if descends:
            return new_phi <= phi + 1e-4 * length * slope + rounding
        good = new_theta <= (1.0 - 1e-5) * theta or new_phi <= phi - 1e-5 * theta + rounding
        if good:
            self.filter.append(((1.0 - 1e-5) * theta, phi - 1e-5 * theta))
        return good

    def run(self, iterations: int) -> tuple[str, int, str]:
        nearly = stuck = 0
        for k in range(iterations):
            self.linearise()
            error = self.error(0.0)
            nearly = nearly + 1 if error <= NEARLY else 0
            if error <= self.tolerance or nearly > PATIENCE:
                return "converged", k, "optimal" if error <= self.tolerance else "nearly optimal"
            if error <= ROUGH and self.settled:
                return "converged", k, "the objective has settled"
            self.lower()
            if self.advance():
                stuck = 0
                continue
            stuck += 1
            if error <= max(NEARLY, self.tolerance):
                return "converged", k, "as good as rounding allows"
            if stuck > 3:
                return "gave up", k, "no step lessened the violation or the objective"
            self.filter, self.y = [], np.zeros(self.p.m)
            self.s = _Bounded.of(self.p.g(self.x.value)[~self.equal], self.s.lower, self.s.upper, self.mu, PUSH)
            self.mu = max(self.mu, 1e-2)
        return "gave up", iterations, "too many iterations"


def solve(
    program: Program, x: Array, monitor: Monitor, *, tolerance: float, iterations: int, warm: Array | None = None
) -> Answer:
    """Solve by steps of Newton's method along the barrier's path, with our second derivatives."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        method = _Method(program, np.clip(x, program.lower, program.upper), monitor, tolerance, warm)
        status, count, words = method.run(iterations)
    at = np.clip(method.x.value, program.lower, program.upper)
    return Answer(at, status, count, words, method.y / method.scale)
