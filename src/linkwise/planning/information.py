"""How much torques along a motion tell about the parameters of a robot: a term that makes it large.

Torques are linear in the base parameters, tau = Y(q, qd, qdd) theta. Measured with noise of covariance W^-1 in every
instant, they determine theta to the covariance I^-1, where

    I = integral of Y^T W Y dt

is the information. It is a matrix of the whole motion; a criterion makes one number of it, phi(I). With
G = d phi / d I the gradient is that of the sum over instants of <2 W Y G, Y>: one sweep backwards through the
regressor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from linkwise.check import positive
from linkwise.errors import InputError, UnknownNameError
from linkwise.kernel.base_parameters import BaseParameters, base_parameters, random_positions
from linkwise.motion.columns import column_names
from linkwise.planning.curve import Array
from linkwise.planning.point import Point
from linkwise.planning.rows import Rows
from linkwise.planning.samples import Samples
from linkwise.planning.term_and_constraint import Term, per_joint
from linkwise.robot.leading import refuse_wheels
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar, sqrt

ROUNDED = 0.05  # rad/s or m/s, over which Coulomb's friction changes its sign in the information
NOISE = 0.01  # of the limits of effort: the noise of torques if none is given
PRIOR = NOISE**2  # information from the start: the torques of no parameter are more than a hundred times the noise
STATES = 200  # random ones, at which the usual sizes of columns are taken
USUAL = 1.0, 5.0  # rad/s where there is no limit of speed, and accelerations in parts of speeds a second
NEARLY = 1e-3  # of an eigenvalue: others that are closer count as being so far away
FRICTION = ("viscous", "coulomb", "motor_viscous", "motor_coulomb")
PROBES = 32  # random directions of parameters in which second derivatives are looked at, where there are more


class Judged(NamedTuple):
    """A criterion at an information matrix: its value, its gradient G, and how it bends.

    Along a change D of the matrix the second derivative is the sum of squares of `weights * (left D right)`, less
    `minus` times the square of <G, D>.
    """

    value: float
    gradient: Array
    left: Array
    right: Array
    weights: Any
    minus: float = 0.0


def _d_optimal(I: Array) -> Judged:
    """-log det I: the volume of the ellipsoid of errors."""
    L = np.linalg.cholesky(I)
    back = np.linalg.inv(L)
    return Judged(-2.0 * float(np.log(np.diag(L)).sum()), -back.T @ back, back, back.T, 1.0)


def _a_optimal(I: Array) -> Judged:
    """log trace I^-1: the sum of squared errors."""
    back = np.linalg.inv(np.linalg.cholesky(I))
    S = back.T @ back
    a = float(np.trace(S))
    return Judged(np.log(a), -S @ S / a, S, back.T, np.sqrt(2.0 / a), 1.0)


def _condition(I: Array) -> Judged:
    """log of the condition number of the regressor: the square root of that of I."""
    values, V = np.linalg.eigh(I)
    if not values[0] > 0.0:
        raise np.linalg.LinAlgError
    low, high = values[0], values[-1]
    ends = V[:, [0, -1]]
    G = 0.5 * (np.outer(ends[:, 1], ends[:, 1]) / high - np.outer(ends[:, 0], ends[:, 0]) / low)
    gaps = np.abs(values - np.array([[low], [high]]))
    own = np.array([[low], [high]])
    bends = 1.0 / (own * np.maximum(gaps, NEARLY * own))
    bends[0, 0], bends[1, -1] = 0.5 / low**2, 0.0
    return Judged(0.5 * float(np.log(high / low)), G, ends.T, V, np.sqrt(bends))


CRITERIA: dict[str, Callable[[Array], Judged]] = {"D": _d_optimal, "A": _a_optimal, "condition": _condition}
ABOUT: dict[str, Callable[[str], bool]] = {
    "inertia": lambda name: name.rsplit(".", 1)[1] not in FRICTION,
    "friction": lambda name: name.rsplit(".", 1)[1] in FRICTION,
}


def places_about(robot: Robot, about: Any) -> tuple[int, ...]:
    """Places, in `robot.parameters()`, of what is asked for.

    Args:
        robot: whose parameters they are.
        about: None for all, "inertia" with rotors, "friction", "payload" for what the last link carries, or names of
            parameters, links or joints.
    """
    names, every = robot.parameter_names, range(len(robot.parameter_names))
    if about is None:
        return tuple(every)
    found: dict[int, None] = {}
    for word in [about] if isinstance(about, str) else about:
        if word in ABOUT:
            own = [k for k in every if ABOUT[word](names[k])]
        else:
            start = f"{_last_link(robot)}." if word == "payload" else f"{word}."
            own = [k for k in every if names[k] == word or names[k].startswith(start)]
        if not own:
            known = [*ABOUT, "payload", *dict.fromkeys(n.rsplit(".", 1)[0] for n in names), *names]
            raise UnknownNameError("about", word, known)
        found |= dict.fromkeys(own)
    return tuple(found)


def _last_link(robot: Robot) -> str:
    """The moving link that carries no other one."""
    carried = {j.parent for j in robot.joints if not j.is_fixed}
    above = {j.child: j.parent for j in robot.joints if j.is_fixed}
    for link in list(carried):
        while link in above:
            link = above[link]
            carried.add(link)
    last = [link for link in robot.moving_links if link not in carried]
    if len(last) != 1:
        raise InputError(
            f"about 'payload': expected one last link, got {', '.join(map(repr, last)) or 'none'}. Name the link that"
            " carries the payload, such as about='hand'."
        )
    return last[0]


class Scaled(NamedTuple):
    """Which columns of the regressor count, and what its rows and columns are divided by."""

    base: BaseParameters
    noise: Array
    sizes: Array

    def rows(self) -> Rows:
        """The rows of the regressor that count, drive after drive."""
        kept = self.base.kept.tolist()
        factors = 1.0 / (self.noise[:, None] * self.sizes)

        def function(p: Point) -> list[Scalar]:
            columns = p.regressor(_rounded)
            return [columns[k][r] * x for r, row in enumerate(factors.tolist()) for k, x in zip(kept, row, strict=True)]

        names = self.base.robot.parameter_names
        return Rows("information", tuple(f"{r}.{names[k]}" for r in range(len(self.noise)) for k in kept), function)


def _rounded(speed: Scalar) -> Scalar:
    """The sign of a speed, with its jump rounded, so that derivatives tell where it is."""
    return speed / sqrt(speed * speed + ROUNDED**2)


def scaled(robot: Robot, about: Any = None, noise: Any = None) -> Scaled:
    """What is asked about, and in which units.

    A column is divided by its usual size, at random states within limits of speed, so that nothing depends on units.
    """
    places = places_about(robot, about)
    base, states = _base(robot, places)
    if not len(base):
        raise InputError(f"information about {about!r}: expected parameters that torques depend on, got none.")
    each = _noise(robot, noise)
    Y = base.regressor(*states) / each[:, None]
    return Scaled(base, each, np.sqrt(np.mean(Y * Y, axis=(0, 1))))


@lru_cache(maxsize=16)
def _base(robot: Robot, places: tuple[int, ...]) -> tuple[BaseParameters, tuple[Array, ...]]:
    """Base parameters among some, and random states of the robot."""
    refuse_wheels(robot, "information", "Its regressor is one of lw.compile(robot).")
    rng = np.random.default_rng(0)
    q = random_positions(robot, rng, STATES)
    speeds = np.array([_speed(robot, name) for name, slot in robot.slots.items() for _ in range(slot.nv)])
    qd, qdd = rng.uniform(-1.0, 1.0, (2, len(q), robot.nv)) * speeds
    among = [robot.parameter_names[k] for k in places]
    return base_parameters(robot, among=among), (q, qd, USUAL[1] * qdd)


def _speed(robot: Robot, name: str) -> float:
    """The limit of a joint's speed, or a usual one."""
    limits = [j.limits.velocity for j in robot.joints if j.name == name]
    return limits[0] if limits and np.isfinite(limits[0]) else USUAL[0]


def _noise(robot: Robot, noise: Any) -> Array:
    """Standard deviations of measured torques (nu)."""
    own = {j.motor_name if j.is_elastic else j.name: j.limits.effort for j in robot.joints}
    limits = np.array([own.get(name, np.inf) for name in torque_names(robot)])
    finite = limits[np.isfinite(limits)]
    usual = NOISE * np.where(np.isfinite(limits), limits, finite.max() if len(finite) else 1.0 / NOISE)
    if noise is None:
        return usual
    found = per_joint(torque_names(robot), noise, "information noise", np.nan)
    found = np.where(np.isnan(found), usual, found)
    for x in found:
        positive(float(x), "information noise", "standard deviations above zero")
    return found


def torque_names(robot: Robot) -> list[str]:
    """A name for each row of the regressor."""
    return [name.removeprefix("tau.") for name in column_names(robot, "tau")]


@dataclass(frozen=True, eq=False)
class Information(Term):
    """What the motion tells about parameters."""

    criterion: str = "D"
    about: Any = None
    noise: Any = None

    def whole(self, robot: Robot, sampled: Callable[[Sequence[Rows]], Samples], rule: Array) -> Told:
        found = scaled(robot, self.about, self.noise)
        return Told(sampled([found.rows()]), rule, len(found.base), CRITERIA[self.criterion])


def information(criterion: str = "D", about: Any = None, noise: Any = None) -> Term:
    """What torques along the motion tell about the robot's parameters: smaller for motions that tell more.

    Args:
        criterion: "D" for -log det of the information of base parameters, which is the volume of their errors; "A" for
            log of the trace of its inverse, which is the sum of their squared errors; "condition" for log of the
            condition number of the regressor. Columns count in parts of their usual sizes, so that units do not matter.
        about: None for all parameters, "inertia", "friction", "payload" for what the last link carries, or names of
            parameters, links or joints; others are taken as known.
        noise: standard deviation of measured torques: a number, one a drive, or by name; if not given a hundredth of
            the limits of effort.

    Of each parameter it is known from the start that its torques are within a hundred times the noise; so those of
    which no motion shows anything do not count. The information grows with time: give the plan a duration, or
    `lw.cost.time()` beside it. Coulomb's friction changes its sign within 0.05 rad/s here, so that all is smooth.
    """
    if criterion not in CRITERIA:
        raise UnknownNameError("criterion of information", criterion, CRITERIA)
    if about is not None and not isinstance(about, str):
        several = tuple(about) if isinstance(about, Iterable) else ()
        if not several or not all(isinstance(x, str) for x in several):
            raise InputError(f"information about: expected None, a name or names, got {about!r}.")
        about = several
    return Information(criterion, about, noise)


def with_prior(information: Array) -> Array:
    """The information, and the little that is known before any measurement.

    Without it parameters of which no motion shows anything would decide.
    """
    return information + PRIOR * np.eye(len(information))


@dataclass(frozen=True, eq=False)
class Told:
    """The information of a motion, by a criterion: what a plan asks of the whole.

    Second derivatives are those of the criterion; how the regressor bends is left out, so that they are positive.

    Args:
        samples: the scaled regressor at points of an integration rule.
        rule: its weights, for a motion's time that is one.
        count: how many base parameters there are.
        criterion: of the information.
    """

    samples: Samples
    rule: Array
    count: int
    criterion: Callable[[Array], Judged]
    label: str = "information"

    def prepare(self) -> None:
        kernel = self.samples.kernel
        _ = kernel.values, kernel.weighted, kernel.changes

    def regressor(self, P: Array, T: float) -> Array:
        """The scaled regressor at all points (n, nu, parameters)."""
        return self.samples.values(P, T).reshape(len(self.rule), -1, self.count)

    def at(self, P: Array, T: float) -> Array:
        """The information of a motion."""
        return self.matrix(self.regressor(P, T), T)

    def matrix(self, Y: Array, T: float) -> Array:
        """The information from the regressor."""
        flat = (Y * np.sqrt(T * self.rule)[:, None, None]).reshape(-1, self.count)
        return flat.T @ flat

    def _judged(self, Y: Array, T: float) -> Judged | None:
        try:
            return self.criterion(with_prior(self.matrix(Y, T)))
        except np.linalg.LinAlgError:
            return None

    def value(self, P: Array, T: float) -> float:
        judged = self._judged(self.regressor(P, T), T)
        return judged.value if judged else np.inf

    def add_gradient(self, P: Array, T: float, factor: float, into: Array) -> None:
        Y = self.regressor(P, T)
        judged = self._judged(Y, T)
        if judged is None:
            return
        weights = (2.0 * factor * T) * self.rule[:, None, None] * (Y @ judged.gradient)
        by_points, by_time = self.samples.weighted(P, T, weights.reshape(len(Y), -1))
        into[:-1] += by_points
        into[-1] += by_time + factor * float(np.sum(judged.gradient * self.matrix(Y, 1.0)))

    def add_curvature(self, P: Array, T: float, factor: float, into: Array) -> None:
        Y = self.regressor(P, T)
        judged = self._judged(Y, T)
        if judged is None:
            return
        changed = self.samples.changes(P, T).reshape(len(Y), -1, *Y.shape[1:])
        changed *= (T * self.rule)[:, None, None, None]
        right = judged.right @ self._probes if len(judged.left) > PROBES else judged.right
        YL, YR = Y @ judged.left.T, Y @ right
        inner = np.matmul(YL.transpose(0, 2, 1)[:, None], changed @ right)
        inner += np.matmul((changed @ judged.left.T).transpose(0, 1, 3, 2), YR[:, None])
        D = self.samples.of_changes(inner, P, T)
        D[-1] += judged.left @ self.matrix(Y, 1.0) @ right
        flat = (D * judged.weights).reshape(len(D), -1)
        into += factor * (flat @ flat.T)
        if judged.minus:
            slope = np.zeros(len(into))
            self.add_gradient(P, T, 1.0, slope)
            into -= factor * judged.minus * np.outer(slope, slope)

    @cached_property
    def _probes(self) -> Array:
        """Random directions whose squares add to one in the mean."""
        return np.random.default_rng(0).choice([-1.0, 1.0], (self.count, PROBES)) / np.sqrt(PROBES)
