"""Numbers of a robot from simulated positions, where accelerations cannot be had: coarse encoders, slow samples.

The robot is simulated in short windows with the measured torques as input; numbers of the model and the state at the
start of each window are those for which simulated positions come closest to measured ones. Nothing is differentiated in
time, and noise of positions enters where it belongs, in the output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.check import positive, whole
from linkwise.errors import InputError, UnknownNameError
from linkwise.motion.log import Log
from linkwise.robot import parameters as paths
from linkwise.robot.robot import Robot
from linkwise.simulation.rollout import Rollout, compile_rollout
from linkwise.simulation.simulation import smoothed_joint

Array = NDArray[Any]

SIGNED = ("com", "inertia", "xyz", "rotation", "anchor", "ratio", "offset", "friction_offset", "rest", "gear")
LEAST = 1e-9  # relative to its start: a number that cannot be zero or less
RISE, FALL = 8.0, 0.2  # of the damping after a step that failed, and one that did not
WEIGHINGS = 2  # of coordinates by their residuals
TORQUES = ("sampled", "held")
FEW = 2  # windows for each number, from which they tell the covariance themselves


@dataclass(frozen=True)
class OutputError:
    """Numbers of a robot that explain measured positions.

    Args:
        names: of the numbers, such as "elbow.viscous" and "hand.com.x".
        values: estimates, in that order.
        covariance: of them.
        robot: with these numbers.
        residuals: (rows, nv) measured less simulated positions; NaN in rows that no window has.
        starts: (windows, 2 nv) positions and velocities at the first row of each.
        windows: rows of the log, each simulated by itself.
        cost: half the sum of squares, in units of the noise.
        iterations: steps that were tried.
        status: "solved", or in words why not.
        notes: what was assumed on the way.
    """

    names: tuple[str, ...]
    values: Array
    covariance: Array
    robot: Robot
    residuals: Array
    starts: Array
    windows: tuple[slice, ...]
    cost: float
    iterations: int
    status: str
    notes: tuple[str, ...] = ()

    @property
    def errors(self) -> Array:
        """Standard errors of the values."""
        return np.sqrt(np.diag(self.covariance))


def output_error(
    log: Log,
    numbers: Sequence[str] | str,
    *,
    robot: Robot | None = None,
    window: float = 1.0,
    noise: ArrayLike | None = None,
    velocity_noise: ArrayLike | None = None,
    prior: Mapping[str, float] | None = None,
    torques: str = "sampled",
    substeps: int = 1,
    method: str = "rk4",
    most: int = 60,
    tolerance: float = 1e-8,
) -> OutputError:
    """Numbers of a robot for which simulations with the measured torques come closest to measured positions.

    Gauss and Newton's method with Levenberg's damping; sensitivities of the compiled steps are exact.

    Args:
        log: positions and torques, at even instants.
        numbers: paths such as ("hand.mass", "elbow.viscous", "forearm.com"), as `lw.compile` takes them for
            `parameters`; the robot's own values are where it begins. Masses, inertias of rotors, friction and stiffness
            stay positive.
        robot: to simulate; that of the log by default. Coulomb friction is smooth, as in `lw.simulate`.
        window: length of the simulated pieces, s. Longer ones tell more; in too long ones a robot that is not held
            falls away from its measured motion.
        noise: (nv,) standard deviations of positions; found from the residuals where not given.
        velocity_noise: (nv,) of velocities, where the log has them and they are to count.
        prior: by number the standard deviation of its value in the robot, where that is known.
        torques: "sampled" where they were measured at the instants of the log, with straight lines between them;
            "held" where each is a command that acts until the next row.
        substeps: of the simulation for each sample.
        method: of `lw.compile_rollout`.
        most: steps to try.
        tolerance: relative to the cost: a smaller gain ends it.
    """
    if torques not in TORQUES:
        raise InputError(f"output_error torques: expected one of {TORQUES}, got {torques!r}.")
    held = torques == "held"
    problem = _Windows(log, numbers, robot or log.robot, window, noise, velocity_noise, prior, substeps, method, held)
    now, tries, status = _fitted(problem, problem.first, problem.starts(), most, tolerance)
    for _ in range(WEIGHINGS if noise is None else 0):
        problem.weigh(now)
        now, more, status = _fitted(problem, now.theta, now.starts, most, tolerance)
        tries += more
    return problem.result(now, tries, status)


def _fitted(problem: _Windows, theta: Array, starts: Array, most: int, tolerance: float) -> tuple[_State, int, str]:
    """The best numbers and starts, from some; how many steps were tried, and how it ended."""
    now = problem.simulated(theta, starts)
    if not np.isfinite(now.cost):
        raise InputError(
            "output_error: expected a robot that can be simulated in these windows, got numbers without bounds. Take"
            " shorter windows, more substeps, or begin at better numbers."
        )
    damping, tries = 1e-3, 0
    while tries < most:
        then, tries, damping = _better(problem, now, problem.normal(now), damping, tries, most)
        if then is None:
            return now, tries, "solved" if tries < most else f"stopped after {most} steps"
        gain, now = now.cost - then.cost, then
        if gain <= tolerance * now.cost:
            return now, tries, "solved"
    return now, tries, f"stopped after {most} steps"


class _State(NamedTuple):
    """Numbers, starts of windows (windows, 2 nv), simulated motions, residuals in units of noise, and their cost."""

    theta: Array
    starts: Array
    x: Array  # (windows, steps + 1, 2 nv), the start first
    r: Array  # (windows, samples, outputs)
    cost: float


class _Normal(NamedTuple):
    """The normal equations, with the starts of windows eliminated: of numbers, and to find the starts again."""

    H: Array
    g: Array
    by_window: Array  # gradient of each window by the numbers, its start eliminated
    starts: Array  # (windows, 2 nv, 2 nv)
    mixed: Array  # (windows, 2 nv, np)
    own: Array  # (windows, 2 nv)


class _Windows:
    """The problem: pieces of a log, and a rollout whose numbers are inputs."""

    def __init__(
        self, log: Log, numbers: Any, robot: Robot, window: float, noise: Any, velocity_noise: Any, prior: Any,
        substeps: int, method: str, held: bool = False,
    ) -> None:  # fmt: skip
        self.notes: list[str] = []
        if robot.nq != robot.nv:
            raise InputError(
                "output_error: expected a robot whose positions are numbers of joints, got one with a floating or"
                " spherical joint. Identify it from accelerations."
            )
        if log.tau is None or not np.all(np.isfinite(log.tau)):
            raise InputError(
                "output_error: expected measured torques of all drives in the log. Give gains of currents."
            )
        if log.q.shape[1] != robot.nq or log.tau.shape[1] != robot.nu:
            raise InputError(
                f"output_error robot: expected one of {log.q.shape[1]} coordinates and {log.tau.shape[1]} drives, as"
                f" the log has, got {robot.nq} and {robot.nu}."
            )
        listed = [numbers] if isinstance(numbers, str) else list(numbers)
        if not listed:
            raise InputError("output_error numbers: expected at least one path, such as 'elbow.viscous', got none.")
        joints = [smoothed_joint(j) for j in robot.joints]
        if any(a is not b for a, b in zip(joints, robot.joints, strict=True)):
            self.notes.append("Coulomb friction was simulated with a smooth reversal, coulomb tanh(qd / width).")
        self.given, self.robot, self.log, self.paths = robot, robot.replace(joints=joints), log, listed
        self.rollout: Rollout = compile_rollout(self.robot, method=method, parameters=tuple(listed))
        self.names = tuple(name for path in listed for name in _labels(robot, path))
        self.first = self.rollout.parameters
        signed = np.array([name.split(".")[-1] in SIGNED or name.split(".")[-2] in SIGNED for name in self.names])
        size = np.where(self.first != 0.0, np.abs(self.first), 1.0)
        self.least = np.where(signed, -np.inf, LEAST * size)
        self.first = np.maximum(self.first, np.where(signed, -np.inf, 1e-3 * size))
        self.scale = np.maximum(np.abs(self.first), 1e-3)
        self.weight = np.zeros(len(self.first))
        for name, sd in dict(prior or {}).items():
            if name not in self.names:
                raise UnknownNameError("number in prior of output_error", name, self.names)
            self.weight[self.names.index(name)] = 1.0 / positive(sd, f"prior of {name!r}") ** 2
        self.substeps = whole(substeps, "output_error substeps", 1)
        self.dt = 1.0 / (log.rate * self.substeps)
        self._cut(positive(window, "output_error window"), held)
        self._measured(noise, velocity_noise)

    def _cut(self, window: float, held: bool) -> None:
        """Windows of equal numbers of samples; what is left at the ends of runs is not used."""
        steps = max(round(window * self.log.rate), 3)
        longest = max(run.stop - run.start for run in self.log.runs) - 1
        if longest < 4:
            raise InputError(f"output_error: expected runs of five samples or more, got {longest + 1} at most.")
        steps = min(steps, longest)
        self.windows = tuple(
            slice(a, a + steps + 1) for run in self.log.runs for a in range(run.start, run.stop - steps, steps)
        )
        rows = np.array([np.arange(w.start, w.stop) for w in self.windows])
        tau = np.asarray(self.log.tau)
        shares = np.zeros(self.substeps) if held else (np.arange(self.substeps) + 0.5) / self.substeps
        before, after = tau[rows[:, :-1], None, :], tau[rows[:, 1:], None, :]
        between = before + (after - before) * shares[:, None]  # what acts in each substep
        self.rows, self.u = rows, between.reshape(len(rows), -1, tau.shape[1])

    def _measured(self, noise: Any, velocity_noise: Any) -> None:
        """What is compared, one column for each position, then for each velocity that counts, and its noise."""
        n = self.robot.nv
        self.unknown_noise = noise is None
        sd = [_deviations(1.0 if noise is None else noise, n, "noise")]
        q = self.log.q[self.rows]
        if velocity_noise is None:
            self.y = q
        else:
            if self.log.qd is None:
                raise InputError("output_error velocity_noise: expected a log with velocities, got none.")
            self.y = np.concatenate([q, self.log.qd[self.rows]], axis=2)
            sd.append(_deviations(velocity_noise, n, "velocity_noise"))
        if not np.all(np.isfinite(self.y)):
            raise InputError("output_error: expected finite positions in the log, got others. Leave such rows out.")
        self.sd = np.concatenate(sd)

    def weigh(self, s: _State) -> None:
        """Take the residuals of each coordinate for its noise."""
        spread = np.sqrt(np.mean((s.r * self.sd) ** 2, axis=(0, 1)))
        self.sd = np.maximum(spread, 1e-9 * max(float(spread.max()), 1e-9))

    def starts(self) -> Array:
        """Positions and velocities at the start of windows, by a parabola through their first samples."""
        count = min(max(int(0.1 * self.log.rate), 5), self.rows.shape[1])
        t = np.arange(count) / self.log.rate
        basis = np.stack([np.ones(count), t, t * t], axis=1)
        fitted = np.einsum("ik,wkn->win", np.linalg.pinv(basis), self.log.q[self.rows[:, :count]])
        return np.concatenate([fitted[:, 0], fitted[:, 1]], axis=1)

    def simulated(self, theta: Array, starts: Array) -> _State:
        """The motions of all windows, and how far they are from what was measured."""
        n = self.robot.nv
        moved = self.rollout(starts[:, :n], starts[:, n:], self.u, self.dt, parameters=theta)
        x = np.concatenate([starts[:, None], np.concatenate([moved.q, moved.qd], axis=2)], axis=1)
        r = (x[:, :: self.substeps, : self.y.shape[2]] - self.y) / self.sd
        off = (theta - self.first) ** 2 @ self.weight
        cost = 0.5 * float((r**2).sum() + off) if np.all(np.isfinite(r)) else np.inf
        return _State(theta, starts, x, r, cost)

    def normal(self, s: _State) -> _Normal:
        """The normal equations at a state; sensitivities are carried along each window by exact steps."""
        n, width = self.robot.nv, len(s.theta)
        q, qd = s.x[:, :-1, :n], s.x[:, :-1, n:]
        A, _ = self.rollout.linearization(q, qd, self.u, self.dt, parameters=s.theta)
        by_q, by_qd = self.rollout.parameter_derivatives(q, qd, self.u, self.dt, parameters=s.theta)
        P = np.concatenate([by_q, by_qd], axis=-2)
        S = np.zeros((len(s.x), 2 * n, 2 * n + width))
        S[:, :, : 2 * n] = np.eye(2 * n)
        outputs = self.y.shape[2]
        gram = np.zeros((len(s.x), 2 * n + width, 2 * n + width))
        slope = np.zeros((len(s.x), 2 * n + width))
        for k in range(s.x.shape[1]):
            if k % self.substeps == 0:
                J = S[:, :outputs] / self.sd[:, None]
                gram += np.swapaxes(J, 1, 2) @ J
                slope += (np.swapaxes(J, 1, 2) @ s.r[:, k // self.substeps, :, None])[..., 0]
            if k < s.x.shape[1] - 1:
                S = A[:, k] @ S
                S[:, :, 2 * n :] += P[:, k]
        starts, mixed, own = gram[:, : 2 * n, : 2 * n], gram[:, : 2 * n, 2 * n :], slope[:, : 2 * n]
        inside = np.linalg.solve(starts, np.concatenate([mixed, own[..., None]], axis=2))
        H = (gram[:, 2 * n :, 2 * n :] - np.swapaxes(mixed, 1, 2) @ inside[..., :-1]).sum(axis=0)
        by_window = slope[:, 2 * n :] - (np.swapaxes(mixed, 1, 2) @ inside[..., -1:])[..., 0]
        g = by_window.sum(axis=0) + self.weight * (s.theta - self.first)
        return _Normal(H + np.diag(self.weight), g, by_window, starts, mixed, own)

    def stepped(self, s: _State, normal: _Normal, damping: float) -> tuple[Array, Array]:
        """Numbers and starts after a damped step; numbers on a bound stay there."""
        scale = np.maximum(np.diag(normal.H), 1e-12 / self.scale**2)
        free = ~((s.theta <= self.least) & (normal.g > 0.0))
        step = np.zeros(len(s.theta))
        H = normal.H + damping * np.diag(scale)
        step[free] = -np.linalg.solve(H[np.ix_(free, free)], normal.g[free])
        theta = np.maximum(s.theta + step, self.least)
        step = theta - s.theta
        diagonal = np.einsum("wii->wi", normal.starts)
        inner = normal.starts + damping * np.eye(diagonal.shape[1]) * diagonal[:, :, None]
        return theta, s.starts - np.linalg.solve(inner, (normal.own + normal.mixed @ step)[..., None])[..., 0]

    def result(self, s: _State, tries: int, status: str) -> OutputError:
        """The estimates with their covariance."""
        normal = self.normal(s)
        width = len(s.theta)
        samples, nuisance = s.r.size, s.starts.size
        spread = 2.0 * s.cost / max(samples - nuisance - width, 1) if self.unknown_noise else 1.0
        size = np.sqrt(np.maximum(np.diag(normal.H), 1e-300))
        scaled = normal.H / np.outer(size, size)
        if np.linalg.cond(scaled) > 1e12:
            values, vectors = np.linalg.eigh(scaled)
            weak = np.abs(vectors[:, values < 1e-12 * values[-1]]).max(axis=1, initial=0.0) > 0.1
            lost = ", ".join(name for name, x in zip(self.names, weak, strict=True) if x)
            self.notes.append(f"The log does not determine all of {lost or 'the numbers'}: more than one choice fits.")
            inverse = np.linalg.pinv(scaled, rcond=1e-12)
        else:
            inverse = np.linalg.inv(scaled)
        inverse = inverse / np.outer(size, size)
        covariance = spread * inverse
        if len(self.windows) >= FEW * width:
            meat = normal.by_window.T @ normal.by_window * (len(self.windows) / (len(self.windows) - width))
            prior = np.diag(self.weight)
            covariance = inverse @ (meat + prior) @ inverse
            self.notes.append("The covariance is from how windows differ, whatever the noise is like within them.")
        residuals = np.full((len(self.log), self.robot.nv), np.nan)
        for w, r in zip(self.windows, s.r, strict=True):
            residuals[w] = -r[:, : self.robot.nv] * self.sd[: self.robot.nv]
        return OutputError(
            self.names, s.theta, covariance, self._identified(s.theta), residuals, s.starts, self.windows, s.cost,
            tries, status, tuple(self.notes),
        )  # fmt: skip

    def _identified(self, theta: Array) -> Robot:
        """The robot as it was given, with the numbers that were found."""
        values, at = {}, 0
        for path in self.paths:
            width = len(paths.read(self.given, path))
            values[path] = tuple(float(x) for x in theta[at : at + width])
            at += width
        new = paths.substitute(self.given, values)
        return self.given.replace(
            links=[replace(k) for k in new.links], joints=[replace(j) for j in new.joints],
            frames=[replace(f) for f in new.frames],
        )  # fmt: skip


def _better(
    problem: _Windows, now: _State, normal: _Normal, damping: float, tries: int, most: int
) -> tuple[_State | None, int, float]:
    """The next state, with more damping until the cost falls; None where no step lowers it."""
    while tries < most and damping < 1e10:
        tries += 1
        then = problem.simulated(*problem.stepped(now, normal, damping))
        if then.cost < now.cost:
            return then, tries, max(damping * FALL, 1e-12)
        damping *= RISE
    return None, tries, damping


def _labels(robot: Robot, path: str) -> tuple[str, ...]:
    """Names of the numbers at a path."""
    place = paths.find(robot, path)
    if place.component is not None or not place.quantity.components:
        return (path,)
    return tuple(f"{path}.{part}" for part in place.quantity.components)


def _deviations(given: Any, width: int, what: str) -> Array:
    """Standard deviations, one for each coordinate."""
    try:
        found = np.broadcast_to(np.asarray(given, dtype=float), (width,)).copy()
    except (TypeError, ValueError) as error:
        raise InputError(f"output_error {what}: expected {width} numbers or one, got {given!r}.") from error
    if not (np.all(np.isfinite(found)) and np.all(found > 0.0)):
        raise InputError(f"output_error {what}: expected numbers above 0, got {given!r}.")
    return found
