"""A robot that stays clear of itself and of obstacles, as a constraint of plans.

A row of a program is the distance of one pair of volumes at one instant. There are far too many of them, and most are
never short: a program has those that are near along the motion it begins from, and gets more where the motion that it
found comes too near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.check import finite
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.mechanism.scene import Obstacle, Scene, obstacles_of
from linkwise.planning.curve import Array, Basis, Curve, Index
from linkwise.planning.nearness import Nearness
from linkwise.planning.rows import RowName, Rows
from linkwise.planning.samples import Samples
from linkwise.planning.term_and_constraint import Constraint
from linkwise.planning.tool import ball_clearance
from linkwise.robot.covering import PARTS
from linkwise.robot.robot import Robot

SCALE = 0.1  # m by which violations are measured
SLACK = 1e-3  # m that a plan keeps beyond the margin, where both ends leave as much
BAND = 0.06  # m beyond the margin: what is nearer counts from the first
Active = frozenset[tuple[float, int]]  # instants, each with a pair of volumes


@dataclass(frozen=True, eq=False)
class Clearance(Constraint):
    """All pairs of links and obstacles at least a margin apart.

    Args:
        obstacles: shapes and height fields in the world.
        margin: m.
        ignore: pairs of names, or names, to leave out.
        pairs: of links, in place of those that are found; none for no pair of the robot's own.
        parts: capsules by which a mesh is covered at most.
        exact: whether distances of two boxes are exact.
    """

    obstacles: tuple[Obstacle, ...] = ()
    margin: float = 0.0
    ignore: tuple[Any, ...] = ()
    pairs: tuple[Any, ...] | None = None
    parts: int = PARTS
    exact: bool = False

    def scene(self, robot: Robot) -> Scene:
        """The volumes, and which pairs of them can collide."""
        among = compile(robot.rigid()).clearance.among
        how: dict[str, Any] = {"ignore": self.ignore, "pairs": self.pairs, "parts": self.parts, "exact": self.exact}
        return among(self.obstacles, **how).scene


def clearance(
    obstacles: Any = (),
    margin: float = 0.0,
    *,
    ignore: Iterable[Any] = (),
    pairs: Iterable[Sequence[str]] | None = None,
    self_collision: bool = True,
    parts: int = PARTS,
    exact: bool = False,
    **ball: Any,
) -> Constraint:
    """All collision shapes of the robot at least `margin` (m) apart from each other and from obstacles.

    It looks at what `dyn.clearance.among` looks at, with the same arguments.

    Args:
        obstacles: shapes in the world, or one; those of one name are one obstacle.
        margin: the least distance, m; below zero for an overlap that is allowed.
        ignore: pairs of names to leave out, or names of links or obstacles to leave out altogether.
        pairs: of links, to look at in place of those that are found; obstacles are paired with all links anyway.
        self_collision: whether pairs of the robot's own links count.
        parts: capsules by which a mesh is covered at most.
        exact: whether distances of two boxes are exact; else they are lower bounds where corners are nearest.
        ball: instead of obstacles, one ball on a frame that stays clear of one thing, for robots without collision
            shapes: `clearance("tool", 0.05, sphere=((x, y, z), radius))`. The frame, the ball's radius and its `offset`
            there (3); and a `sphere` in the world, a `half_space=((nx, ny, nz), level)` where n . p >= level, or
            `other=(frame, radius)` on the robot.
    """
    if ball or isinstance(obstacles, str):
        return _ball(obstacles, margin, ball)
    return Clearance(
        obstacles_of(obstacles),
        finite(margin, "clearance margin"),
        tuple(ignore),
        () if pairs is None and not self_collision else None if pairs is None else tuple(pairs),
        parts,
        exact,
    )


def _ball(frame: Any, radius: Any, more: dict[str, Any]) -> Constraint:
    """The form that has a ball on a frame."""
    known = ("frame", "radius", "sphere", "half_space", "other", "offset")
    for name in more:
        if name not in known:
            raise InputError(f"clearance: got an unknown argument {name!r}. Known are obstacles, margin, ignore, pairs,"
                             f" self_collision, parts, exact, and of a ball {', '.join(known)}.")  # fmt: skip
    given = {"frame": frame, "radius": radius} if isinstance(frame, str) else {}
    if "frame" not in {**given, **more}:
        raise InputError("clearance: expected a frame that carries the ball, such as frame='tool', got none.")
    return ball_clearance(**{**given, **more})


class PairKernel:
    """The distance of one pair of volumes as a row, with the functions of a `PointKernel`; `data` has s and the pair.

    Args:
        near: the pairs.
    """

    def __init__(self, near: Nearness) -> None:
        self.near, inner = near, near.kernel
        self.n, self.orders, self.count, self.width, self.timed = inner.n, 1, 1, 2, inner.timed
        self.around, self.time = inner.around, inner.time
        self.entries = np.stack([np.zeros(self.n, dtype=int), np.arange(self.n)], axis=1)
        self.rows = (Rows("clearance", ("",), lambda p: []),)

    def _inner(self, z: Array, data: Array, time: Sequence[Array]) -> tuple[Array, ...]:
        told = np.hstack([data[:, :1], np.zeros((len(data), self.near.kernel.width - 1))])
        return z, told, *time

    @property
    def values(self) -> Callable[..., Array]:
        """(z, data, *time) -> rows (n, 1)."""
        return lambda z, data, *time: self.near.chosen(
            self.near.kernel.values(*self._inner(z, data, time)), data[:, 1].astype(int)
        )[:, None]

    def _slopes(self, z: Array, data: Array, time: Sequence[Array]) -> tuple[Array, Array]:
        """Where volumes are (n, numbers), and the derivatives of that by all numbers on splines, and time."""
        places, slopes, *late = self.near.kernel.first(*self._inner(z, data, time))
        J = np.zeros((*places.shape, self.n + len(late)))
        rows, joints = self.near.kernel.entries.T
        J[:, rows, joints] = slopes[..., 0]
        for by_t in late:
            J[..., -1] = by_t
        return places, J

    @property
    def first(self) -> Callable[..., Any]:
        """(z, data, *time) -> rows (n, 1), derivatives (n, entries, 1), and by time (n, 1) where they have some."""

        def first(z: Array, data: Array, *time: Array) -> Any:
            places, J = self._slopes(z, data, time)
            values, slopes = self.near.slopes(places, data[:, 1].astype(int))
            whole = np.matmul(slopes[:, None], J)[:, 0]
            late = [whole[:, self.n :]] if self.timed else []
            return values[:, None], whole[:, : self.n, None], *late

        return first

    @property
    def second(self) -> Callable[..., tuple[Array, Array]]:
        """(z, data, *time, weights) -> gradient and second derivatives of the weighted row."""
        _ = self.near.kernel.second

        def second(z: Array, data: Array, *rest: Array) -> tuple[Array, Array]:
            *time, weights = rest
            places, J = self._slopes(z, data, time)
            which = data[:, 1].astype(int)
            slopes = self.near.slopes(places, which)[1] * weights
            slope, H = self.near.kernel.second(*self._inner(z, data, time), slopes)
            bend = self.near.bends(places, which, J) * weights[:, :, None]
            return slope, H + bend

        return second


class NearSamples(Samples):
    """Rows of pairs of volumes at instants.

    Args:
        near: the pairs.
        basis: of the spline.
        active: instants, each with a pair.
        lower: the least distance, m.
    """

    def __init__(self, near: Nearness, basis: Basis, active: Active, lower: float) -> None:
        every = sorted(active)
        self.near, self._lower = near, lower
        self.pair: Index = np.array([pair for _, pair in every], dtype=int)
        super().__init__(PairKernel(near), basis, [s for s, _ in every])  # type: ignore[arg-type]
        self.data = np.stack([self.s, self.pair.astype(float)], axis=1)

    scale: Array = property(lambda self: np.array([SCALE]))  # type: ignore[assignment]
    powers: Array = property(lambda self: np.ones(1))  # type: ignore[assignment]
    prices: Array = property(lambda self: np.array([np.inf]))  # type: ignore[assignment]

    @property
    def limits(self) -> tuple[Array, Array]:
        whole = np.ones((len(self.s), 1))
        return whole * (self._lower / SCALE), whole * np.inf

    def name(self, i: int, k: int) -> RowName:
        a, b = self.near.pairs[self.near.owner[self.pair[i]]]
        return RowName("clearance", f"{a}.{b}", float(self.s[i]))

    @property
    def titles(self) -> list[tuple[float, list[str]]]:
        every = [[RowName("clearance", ".".join(pair), 0.0).title] for pair in self.near.pairs]
        owners = self.near.owner[self.pair].tolist()
        return [(s, every[k]) for s, k in zip(self.s.tolist(), owners, strict=True)]


def _covered(near: Nearness, a: str, b: str) -> str:
    """What is said of two volumes that overlap, where they are wider than what they stand for."""
    wider = sum(cover.error for name, cover in near.scene.covers.items() if name in (a, b))
    if not wider:
        return ""
    return (
        f" The volumes that cover them are up to {wider:.3g} m wider than their shapes, so they may be clear in truth:"
        " give them collision shapes that fit better, such as boxes."
    )


class Near:
    """What a constraint of clearance asks of a motion on a spline.

    Args:
        near: the pairs.
        basis: of the spline.
        margin: m.
        ends: whether the motion's ends are given, and the numbers on splines there; (0, n) where they are not.
    """

    def __init__(self, near: Nearness, basis: Basis, margin: float, ends: Sequence[tuple[str, Array]]) -> None:
        self.near, self.basis, self.margin = near, basis, margin
        self.slack = SLACK
        for which, x in ends:
            distances = near.distances(x[None])[0]
            k = int(np.argmin(distances))
            left = float(distances[k]) - margin
            if left <= 0.0:
                a, b = near.pairs[k]
                how = f"{distances[k]:.4g} m apart" if distances[k] >= 0.0 else f"overlap by {-distances[k]:.4g} m"
                raise InputError(
                    f"{which}: {a!r} and {b!r} are {how}, expected more than the margin {margin:g} m. Choose another"
                    f" {which}, a smaller margin, or ignore=[({a!r}, {b!r})]."
                    if distances[k] >= 0.0
                    else f"{which}: {a!r} and {b!r} {how}. Choose another {which}, or ignore=[({a!r}, {b!r})]."
                    + _covered(near, a, b)
                )
            self.slack = min(self.slack, 0.5 * left)

    def along(self, curve: Curve, s: Array) -> Array:
        """The distances of all pairs of links (rows, pairs) along a motion."""
        return self.near.distances(curve.basis.matrix(s) @ curve.points, s * curve.duration)

    def samples(self, active: Active) -> NearSamples:
        """The rows of a program."""
        return NearSamples(self.near, self.basis, active, self.margin + self.slack)

    def nearest(self, curve: Curve, s: Array, within: float) -> Active:
        """At each of the instants the nearest pair of volumes of each pair of links that is nearer than so much."""
        return self._volumes(curve, s, self.along(curve, s) < self.margin + self.slack + within)

    def too_near(self, curve: Curve, s: Array, above: float) -> Active:
        """The nearest pair of volumes of each pair of links, at instants where that is most beyond the margin."""
        over = self.violations(curve, s)
        none = np.zeros((1, over.shape[1]))
        before, after = np.vstack([none, over[:-1]]), np.vstack([over[1:], none])
        return self._volumes(curve, s, (over > above) & (over >= before) & (over >= after))

    def _volumes(self, curve: Curve, s: Array, chosen: Any) -> Active:
        """The nearest pairs of volumes of chosen pairs of links at instants (rows, pairs)."""
        rows, pairs = np.nonzero(chosen)
        if not len(rows):
            return frozenset()
        at = s[rows]
        volumes = self.near.nearest(curve.basis.matrix(at) @ curve.points, at * curve.duration, pairs)
        return frozenset(zip(at.tolist(), volumes.tolist(), strict=True))

    def violations(self, curve: Curve, s: Array) -> Array:
        """How far each pair of links is too near (rows, pairs), over a scale; of the slack one half may be used up.

        The scale is such that a violation within any tolerance up to 1e-3 leaves the margin kept.
        """
        return self.over(self.along(curve, s))

    def over(self, distances: Any) -> Array:
        """How far distances are too near, as `violations` measures it."""
        size = min(SCALE, 500.0 * self.slack)
        return np.asarray(np.maximum(self.margin + 0.5 * self.slack - distances, 0.0) / size)
