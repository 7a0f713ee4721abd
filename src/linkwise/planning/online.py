"""Slowing a running reference just enough that limits of effort and effort rate are kept, sample by sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.check import positive, whole
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.motion.environment import Constant, Environment
from linkwise.planning.bounds import Bounds, a_robot
from linkwise.planning.drives import check_held, drives_of
from linkwise.planning.path_forces import path_parts
from linkwise.planning.scaling import PARTS, SLOW, ahead_kernel, now_kernel, sample_kernel
from linkwise.robot.robot import Robot

Array = NDArray[np.float64]
Reference = Callable[[Array], Any]

# what is tried, the best first: shares of the way from braking to the reference's speed, and parts of what is seen
# ahead within which squared speeds decay
SHARES = np.array([1.0, 0.5, 0.0, 0.0])
STOPS = np.array([0.25, 0.25, 0.25, 0.12])
SLOWER, SLOWEST = 0.8, 1e-3  # speeds tried at the start
SWINGS = 3.0  # of effort / effort_rate, within which is seen ahead
FEWEST, MOST = 40, 1000  # points that are


class Scaled(NamedTuple):
    """One sample of the slowed motion, and whether it keeps the limits.

    `speed` is that of the reference's time, 1 where it runs as it is.
    """

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    tau_dot: Array
    place: float
    speed: float
    kept: bool


class Run(NamedTuple):
    """All samples of a slowed motion: times, the motion, torques, and the reference's time with its speed."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    tau_dot: Array
    place: Array
    speed: Array
    kept: NDArray[np.bool_]


class _Tried(NamedTuple):
    """What was tried in a sample: the best of it, -1 for none, its jerk, parts of torques, and braking thereafter."""

    best: int
    jerk: float
    tau: Array
    rest: Array
    m: Array
    start: Array
    states: Array
    j: Array


class Scaler:
    """A reference q(s) over its own time s, run at a speed s_dot <= 1 at which limits are kept.

    Each sample the largest s_dddot is taken with which the torques and their rates keep their limits now and in the
    next sample, and with which the motion could still be brought to a crawl within the part of the reference that is
    seen ahead, under the same limits. Nothing is known of the reference beyond that, and nothing is remembered but
    s, s_dot and s_ddot.

    Attributes:
        place: the reference's time s of the next sample.
        speed: s_dot.
        acceleration: s_ddot.
    """

    def __init__(
        self, robot: Robot, bounds: Bounds, loads: Mapping[str, Any], dt: float, preview: int, spacing: float
    ) -> None:
        self.robot, self.dt, self.preview, self.spacing = robot, dt, preview, spacing
        self._bounds, self._loads = bounds, loads
        self._parts = compile(robot, path_parts, external=tuple(loads))
        self._outside = [np.array([list(w) for w in loads.values()])] if loads else []
        self._velocity, self._limits = bounds.velocity, np.stack([bounds.effort, bounds.effort_rate])
        n, joints = len(bounds.effort), len(bounds.velocity)
        self._now, self._braked, self._sample = (
            now_kernel(n),
            ahead_kernel(n, joints),
            sample_kernel(robot.nv, n, joints),
        )
        self._shape = (preview + 2, PARTS, n)
        self._ahead = spacing * np.arange(-1.0, preview + 1.0)
        self._stops = STOPS * spacing * max(preview, 10)
        self.reset()

    def reset(self, place: float = 0.0) -> None:
        """Start at a time of the reference, at its own speed."""
        self.place, self.speed, self.acceleration = float(place), 1.0, 0.0
        self._plan: tuple[float, _Tried] | None = None

    def __reduce__(self) -> Any:
        state = {key: getattr(self, key) for key in ("place", "speed", "acceleration", "_plan")}
        return Scaler, (self.robot, self._bounds, self._loads, self.dt, self.preview, self.spacing), state

    @property
    def next_place(self) -> float:
        """The reference's time of the sample after the next."""
        return self.place + self.dt * (self.speed + 0.5 * self.dt * self.acceleration)

    @property
    def places(self) -> Array:
        """Where the next step needs the reference, (preview + 2,): at `place`, `next_place`, and points ahead of it."""
        found = self._ahead + self.next_place
        found[0] = self.place
        return found

    def step(self, q: Any, qd: Any, qdd: Any, qddd: Any) -> Scaled:
        """The sample at `place`, after which the scaler moves on by `dt`.

        Args:
            q, qd, qdd, qddd: the reference and its derivatives by its own time at `places`, (preview + 2, nv); with
                loops, of what leads.
        """
        u, place = self.acceleration, self.place
        rows, slopes = self._parts(q, qd, qdd, qddd, *self._outside)
        if rows.shape != self._shape:
            raise InputError(
                f"step: expected the reference at {self.preview + 2} points (see `places`), got {rows.shape[:-2]}."
            )
        q, qd, qdd = np.asarray(q)[0], np.asarray(qd)[0], np.asarray(qdd)[0]
        tried = self._decide(rows, slopes)
        if tried.best < 0 and self._plan is None and not qd.any():
            while tried.best < 0 and self.speed > SLOWEST:
                self.speed *= SLOWER  # at rest any speed of the reference is one to begin with
                tried = self._decide(rows, slopes)
        w, flat = self.speed, rows.ravel()
        if tried.best >= 0 and math.isfinite(flat @ flat):
            self._plan = (self.next_place, tried)
            self._move(tried.jerk)
        elif not self._follow_plan():
            self._move(self._last_resort(tried.jerk))
        jerk = (self.acceleration - u) / self.dt
        velocity, acceleration, tau_dot, kept = self._sample(
            qd, qdd, w, u, jerk, tried.tau, tried.rest, tried.m, slopes[0], self._limits, self._velocity
        )
        return Scaled(q, velocity, acceleration, tried.tau, tau_dot, place, w, bool(kept))

    def _decide(self, rows: Array, slopes: Array) -> _Tried:
        """What may be done now, and whether each can be braked from within what is seen ahead."""
        jerks, start, tau, rest, m = self._now(
            rows[:2], self.speed, self.acceleration, SHARES, self._stops, self._limits, self.dt
        )
        limits = self._limits, self._velocity
        states, j = self._braked(start, rows[1:-1], rows[2:], slopes[2:], self._stops, *limits, self.spacing)
        ends = states[:, -1].tolist()
        best = next((k for k, (y, _, good) in enumerate(ends) if good == 1.0 and y < SLOW * SLOW), -1)
        return _Tried(best, float(jerks[best]), tau[0], rest[0], m[0], start, states, j)

    def _move(self, jerk: float) -> None:
        """Go on by a sample."""
        self.place = self.next_place
        self.speed, self.acceleration = (
            self.speed + self.dt * (self.acceleration + 0.5 * self.dt * jerk),
            self.acceleration + self.dt * jerk,
        )
        if self.speed < 0.0:
            self.speed, self.acceleration = 0.0, max(self.acceleration, 0.0)

    def _last_resort(self, jerk: float) -> float:
        """A jerk that does not speed up, where no limits can be kept."""
        wanted = jerk if np.isfinite(jerk) else 0.0
        most = -0.1 * max(self.acceleration, 0.0) / self.dt
        return float(np.clip(wanted, -0.1 * self.speed / self.dt**2, most if self.acceleration > 0.0 else 0.0))

    def _follow_plan(self) -> bool:
        """Go on by a sample as the last braking that kept limits would, if it reaches that far."""
        if self._plan is None:
            return False
        (start, tried), best = self._plan, self._plan[1].best
        place = self.next_place
        k = int((place - start) / self.spacing)
        if not 0 <= k < self.preview:
            return False
        y, u, _ = tried.states[best, k - 1] if k else tried.start[best]
        j = tried.j[best, k]
        along = place - start - k * self.spacing
        self.place, self.acceleration = place, float(u + along * j)
        self.speed = float(np.sqrt(max(y + along * (2.0 * u + along * j), 0.0)))
        return True

    def run(self, reference: Reference, until: float, longest: float = 60.0) -> Run:
        """Follow a reference from `place` to its time `until`, but no longer than `longest` seconds.

        Args:
            reference: of times (rows,); returns q and three derivatives by time, each (rows, nv).
            until: the reference's time to stop at.
            longest: s.
        """
        found: list[Scaled] = []
        while self.place < until and len(found) * self.dt < longest:
            found.append(self.step(*reference(self.places)))
        if not found:
            raise InputError(f"run: expected a time beyond the scaler's place {self.place:g}, got {until:g}.")
        t = self.dt * np.arange(len(found), dtype=np.float64)
        return Run(t, *(np.array(column) for column in zip(*found, strict=True)))


def scaler(
    robot: Robot,
    *,
    velocity: Any = None,
    effort: Any = None,
    effort_rate: Any = None,
    external: Any = None,
    dt: float = 1e-3,
    preview: int | None = None,
    spacing: float = 0.005,
) -> Scaler:
    """What slows a running reference just enough that limits of velocity, effort and effort rate are kept.

    In a control loop::

        scaler = lw.scaler(robot, effort=..., effort_rate=...)
        while running:
            now = scaler.step(*reference(scaler.places))
            send(now.q, now.qd, now.tau)

    Args:
        robot: on a base that stands, with rigid drives that determine all of its motion; friction is counted. With
            loops the reference is one of what leads.
        velocity, effort, effort_rate: limits in place of the robot's: a number for all joints, one for each, or a
            mapping by joint, which leaves the others as they are; infinite for none. With loops, velocities are limited
            of joints that follow too, and effort of drives.
        external: constant wrenches on the robot by frame or link.
        dt: the time of a sample, s.
        preview: how many points of the reference are seen ahead: enough to brake within them, and at least 4. Torques
            take 2 effort / effort_rate to swing from one limit to the other, so that braking takes a multiple of that:
            three times effort / effort_rate of the slowest drive without it, and at least 40 points. With fewer the
            scaler may find a limit ahead when it is too late to brake, and `kept` is then False.
        spacing: between those points, in the reference's time, s.
    """
    a_robot(robot, "scaler")
    check_held(robot, "scaler", "Hold it with robot.lock, or use lw.plan.")
    if drives_of(robot).levels:
        soft = next(j.name for j in robot.joints if j.is_elastic)
        raise InputError(
            f"scaler: expected rigid drives, got the elastic joint {soft!r}. Its torque depends on the fourth"
            " derivative of the reference's time, of which the scaler decides the third. Use robot.rigid(), or"
            " lw.retime before."
        )
    surroundings = Environment.of(robot, None, external)
    if not surroundings.steady:
        raise InputError(
            "scaler external: expected wrenches that are constant, got a function. How slow the reference runs"
            " decides when it is where, so that nothing ahead could be foreseen. Give constants, or use lw.retime."
        )
    bounds = Bounds.of(robot, "scaler", velocity=velocity, effort=effort, effort_rate=effort_rate)
    if not (bounds.has("effort") or bounds.has("effort_rate") or bounds.has("velocity")):
        raise InputError("scaler: expected a limit, got none. Give effort=..., effort_rate=... or velocity=....")
    sample, apart = positive(dt, "scaler dt"), positive(spacing, "scaler spacing")
    points = _points(bounds, apart) if preview is None else whole(preview, "scaler preview", 4)
    loads = {name: load.wrench for name, load in surroundings.loads.items() if isinstance(load, Constant)}
    return Scaler(robot, bounds, loads, sample, points, apart)


def _points(bounds: Bounds, spacing: float) -> int:
    """How many points are seen ahead, so that the slowest drive can brake within them."""
    both = np.isfinite(bounds.effort) & np.isfinite(bounds.effort_rate)
    slowest = float((bounds.effort[both] / bounds.effort_rate[both]).max(initial=0.0))
    return int(np.clip(np.ceil(SWINGS * slowest / spacing), FEWEST, MOST))
