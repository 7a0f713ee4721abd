"""Paths of joint positions over a parameter that is not time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.planning.chain_rule import composed
from linkwise.robot.robot import Robot

Array = NDArray[np.float64]
ORDER = 3  # how many derivatives a path has at least
SOUGHT = 1000  # intervals in which reversals are looked for


@dataclass(frozen=True)
class PathExtras:
    """Quantities beside the joints whose rates are limited along a path, such as the way of a tool.

    Args:
        each: by name the first and second derivative by the path's own parameter, which are constant, and limits of
            their first and second derivative in time.
        ease: how the path's own parameter depends on another, and the length of its range.
    """

    each: Mapping[str, tuple[float, float, float, float]]
    ease: tuple[_Ease, float] | None = None

    @property
    def names(self) -> list[str]:
        return list(self.each)

    @property
    def bounds(self) -> Array:
        """Limits of velocity, acceleration and jerk, (3, n)."""
        found = np.full((3, len(self.each)), np.inf)
        found[:2] = np.array([x[2:] for x in self.each.values()]).T
        return found

    def derivatives(self, x: Array) -> list[Array]:
        """Zero, then three derivatives by the parameter at x, (rows, n) each."""
        own = np.array([x[:2] for x in self.each.values()]).T
        found = [np.zeros((len(x), len(self.each))), *(np.tile(row, (len(x), 1)) for row in own)]
        found.append(np.zeros_like(found[0]))
        if self.ease is None:
            return found
        ease, length = self.ease
        slopes = ease.derivatives(np.asarray(x), ORDER)[1:]
        return composed(found, [length * d[:, None] for d in slopes])


@dataclass(frozen=True, eq=False)
class Path:
    """Positions q(s) for s from `start` to `end`, with their first three derivatives, or more.

    Args:
        function: of s (rows,); returns q and its derivatives by s, an array (4, rows, nq); more of them for robots with
            elastic drives, whose torques depend on the fourth.
        start, end: the ends of s.
        breaks: values of s between them where a derivative jumps.
        width: the number of joints.
        outer: for a path over another parameter, that parameter and its derivative.
        any_order: whether `function` takes the number of derivatives as a second argument.
        extras: what else is limited along the path.
    """

    function: Callable[..., Array]
    start: float
    end: float
    breaks: tuple[float, ...] = ()
    width: int = 0
    outer: Callable[[Array], tuple[Array, Array]] | None = None
    any_order: bool = False
    extras: PathExtras | None = None

    @classmethod
    def of(cls, robot: Robot, path: Any, what: str) -> Path:
        """The path given: a `Path`, points to pass through (rows, nq), or a spline of SciPy."""
        if isinstance(path, Path):
            found = path
        elif hasattr(path, "derivative") and callable(path):
            found = cls.spline(path)
        else:
            found = cls.through(path, robot, what)
        if found.width != robot.nq:
            raise InputError(f"{what} path: expected {robot.nq} joint positions in each point, got {found.width}.")
        return found

    @classmethod
    def through(cls, points: Any, robot: Robot, what: str = "path") -> Path:
        """The smooth curve through points (rows, nq): a quintic spline over the distance, of lower degree below six."""
        rows = [robot.q(p) for p in points] if _has_names(points) else points
        try:
            q = np.asarray(rows, dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(f"{what} path: expected points of {robot.nq} joint positions, got {points!r}.") from error
        if q.ndim != 2 or q.shape[1] != robot.nq or len(q) < 2:
            raise InputError(f"{what} path: expected at least two points (rows, {robot.nq}), got the shape {q.shape}.")
        if not np.isfinite(q).all():
            raise InputError(f"{what} path: expected finite positions, got NaN or infinity.")
        return cls.curve(q, f"{what} path")

    @classmethod
    def curve(cls, q: Array, what: str, order: int = ORDER) -> Path:
        """The smooth curve through rows of finite numbers, whose derivative of an order above three has no jumps."""
        from scipy.interpolate import make_interp_spline

        steps = np.linalg.norm(np.diff(q, axis=0), axis=1)
        if not (steps > 0.0).all():
            k = int(np.argmin(steps > 0.0))
            raise InputError(f"{what}: expected points that differ, got points {k} and {k + 1} alike. Drop one.")
        s = np.concatenate([[0.0], np.cumsum(np.sqrt(steps))])
        degree = next(k for k in (5, 3, 2, 1) if len(q) > k) if order <= ORDER else min(order | 1, len(q) - 1)
        return cls.spline(make_interp_spline(s / s[-1], q, k=degree, axis=0))

    @classmethod
    def spline(cls, curve: Any) -> Path:
        """The path of a spline of SciPy (BSpline, CubicSpline, PPoly, ...) over all of its parameter."""
        if not (hasattr(curve, "x") or (hasattr(curve, "t") and hasattr(curve, "k"))):
            raise InputError(f"path: expected a spline with knots, such as BSpline or CubicSpline, got {curve!r}.")
        knots = np.unique(curve.t[curve.k : len(curve.t) - curve.k] if hasattr(curve, "t") else curve.x)
        width = np.asarray(curve(knots[0])).reshape(-1).size
        values = partial(_spline_values, curve)
        return cls(values, float(knots[0]), float(knots[-1]), tuple(map(float, knots[1:-1])), width, any_order=True)

    def __call__(self, s: Any) -> Array:
        """Positions (..., nq) at s."""
        x = np.asarray(s, dtype=float)
        return self.function(x.reshape(-1))[0].reshape(*x.shape, -1)

    def derivatives(self, s: Array, order: int = ORDER) -> Array:
        """Positions and so many derivatives by s, (order + 1, rows, nq)."""
        within = np.clip(np.asarray(s, dtype=float), self.start, self.end)
        found = np.asarray(self.function(within, order) if self.any_order else self.function(within), dtype=float)
        if len(found) <= order:
            raise InputError(
                f"path: expected {order} derivatives of positions, on which torques of elastic drives and their rates"
                f" depend, got {len(found) - 1}. Give points, a spline, or a function that returns more."
            )
        return found[: order + 1]

    def jumps(self, order: int) -> list[float]:
        """The breaks at which the derivative of this order jumps."""
        if not self.breaks:
            return []
        s, step, most = np.array(self.breaks), 1e-9 * (self.end - self.start), max(order, ORDER)
        before, after = (self.derivatives(s + side, most)[order] for side in (-step, step))
        size = np.abs(self.derivatives(np.linspace(self.start, self.end, 100), most)[order]).max()
        return [float(x) for x in s[np.abs(after - before).max(axis=1) > 1e-5 * size]]

    def eased(self, order: int = ORDER) -> Path:
        """The same path over x from 0 to 1, with s(x) = 10 x^3 - 15 x^4 + 6 x^5 of the way, or the like.

        It begins and ends like a power of x, as a motion does that starts at rest with a bounded derivative of that
        order: a constant speed of x is one, so that the speed of the best motion has no zeros or roots at the ends.
        """
        length, ease = self.end - self.start, _Ease(order)
        breaks = tuple(_inverse(ease.place, (s - self.start) / length) for s in self.breaks)
        values, place = partial(_eased_values, self, ease), partial(_eased_place, self, ease)
        extras = self.extras and replace(self.extras, ease=(ease, length))
        return Path(values, 0.0, 1.0, breaks, self.width, place, any_order=True, extras=extras)

    def with_reversals(self, slopes: Callable[[Array], Array] | None = None) -> Path:
        """The same, with breaks where a joint turns back, since friction jumps there.

        `slopes` gives the derivatives of all joints at s (rows,), where others follow those of the path.
        """
        from scipy.optimize import brentq

        x = np.unique(np.concatenate([np.linspace(self.start, self.end, SOUGHT + 1), self.breaks]))
        at = slopes or (lambda s: self.derivatives(s)[1])
        slope = at(x)
        found = set(self.breaks)
        for k, joint in np.argwhere(slope[:-1] * slope[1:] < 0.0):
            found.add(float(brentq(lambda y, j=joint: at(np.array([y]))[0, j], x[k], x[k + 1])))
        least = 1e-9 * (self.end - self.start)
        breaks = [s for s in sorted(found) if self.start + least < s < self.end - least]
        kept = [s for s, before in zip(breaks, [-np.inf, *breaks], strict=False) if s - before > least]
        return replace(self, breaks=tuple(kept))

    def place(self, x: Array) -> tuple[Array, Array]:
        """The user's parameter at x, and its derivative by x."""
        return self.outer(x) if self.outer else (x, np.ones_like(x))

    def grid(self, intervals: int, ends_at_rest: bool = False) -> Array:
        """About so many intervals over the parameter, with the breaks among their ends.

        With `ends_at_rest` they become shorter towards both ends, as if equal times were spent in them.
        """
        length = self.end - self.start
        shares = [(s - self.start) / length for s in self.breaks]
        ends = np.array([0.0, *(_inverse(_graded, s) if ends_at_rest else s for s in shares), 1.0])
        counts = np.maximum(1, np.round(intervals * np.diff(ends))).astype(int)
        parts = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(ends[:-1], ends[1:], counts, strict=True)]
        share = np.concatenate([*parts, [1.0]])
        x = self.start + length * (_graded(share) if ends_at_rest else share)
        x[-1] = self.end
        return x


def _spline_values(curve: Any, s: Array, order: int = ORDER) -> Array:
    return np.stack([np.asarray(curve(s, nu)).reshape(len(s), -1) for nu in range(order + 1)])


class _Ease:
    """The polynomial from 0 to 1 whose slope is in proportion to (x (1 - x))^(order - 1)."""

    def __init__(self, order: int) -> None:
        slope = np.polynomial.Polynomial([0.0, 1.0, -1.0]) ** (order - 1)
        whole = slope.integ()
        self._terms = whole / whole(1.0)

    def place(self, x: float) -> float:
        return float(self.derivatives(np.array([x]), 0)[0][0])

    def derivatives(self, x: Array, order: int) -> list[Array]:
        """Values and derivatives; those of the second half follow from the first, where small ones are exact."""
        late, near = x > 0.5, np.minimum(x, 1.0 - x)
        found = [self._terms.deriv(k)(near) for k in range(order + 1)]
        found = [np.where(late, y if k % 2 else -y, y) for k, y in enumerate(found)]
        found[0] = np.where(late, 1.0 + found[0], found[0])
        return found


def _eased_place(path: Path, ease: _Ease, x: Array) -> tuple[Array, Array]:
    """The parameter of a path at x of its eased one, and its derivative."""
    length = path.end - path.start
    s, s1 = ease.derivatives(np.asarray(x), 1)
    return path.start + length * s, length * s1


def _eased_values(path: Path, ease: _Ease, x: Array, order: int = ORDER) -> Array:
    """Positions and derivatives by x of the eased path."""
    length = path.end - path.start
    s, *slopes = ease.derivatives(np.asarray(x), order)
    q = path.derivatives(path.start + length * s, order)
    return np.stack(composed(list(q), [length * d[:, None] for d in slopes]))


def _has_names(points: Any) -> bool:
    return isinstance(points, Sequence) and bool(points) and all(isinstance(p, Mapping) for p in points)


def _graded(x: Any) -> Any:
    return x * x * (3.0 - 2.0 * x)


def _inverse(function: Callable[[float], float], share: float) -> float:
    """x with function(x) = share."""
    from scipy.optimize import brentq

    return float(brentq(lambda x: function(x) - share, 0.0, 1.0, xtol=1e-15))
