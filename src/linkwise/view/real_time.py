"""A robot that moves by itself in real time, while somebody looks at it and pushes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.check import positive
from linkwise.errors import InputError, SimulationError
from linkwise.kernel.compile import compile
from linkwise.robot.robot import Robot
from linkwise.simulation.forces import JointStop, joint_stops
from linkwise.simulation.rollout import compile_rollout
from linkwise.simulation.simulation import smoothed_joint
from linkwise.simulation.stiffness import fastest_rate
from linkwise.view.painter import FRAME
from linkwise.view.pushes import Push
from linkwise.view.solids import Array

if TYPE_CHECKING:
    from linkwise.view.live import Show

LATE = 0.1  # seconds by which a simulation may lag before it goes on in slow motion
STEP = 1e-3  # seconds of a step
SHORTEST = 2e-5
STOPPED = 0.2  # radians of a swing against a joint's stop in a step
PULLED = 0.2  # radians of a swing on the mouse's spring in a step
SOFT = 0.01  # rad or m over which a stop sets in

Control = Callable[[float, Array, Array], Any]


class RealTime:
    """Steps of a robot, at the pace of a clock.

    Args:
        show: where it is seen, and pushed.
        control: `control(t, q, qd) -> tau`, asked before every step; constant torques; or None.
        dt: length of a step, s; None for 1 ms, or less where elastic drives swing fast.
        method: of `compile_rollout`; None for "implicit" where joints have dry or strong friction, else "rk4".
        stops: whether joints end at their limits.
    """

    def __init__(self, show: Show, control: Any, dt: float | None, method: str | None, stops: bool) -> None:
        self.show, self.dynamics = show, show.dynamics
        robot, q = show.robot, show.q
        whole = self.dynamics.positions(q).q if robot.follows else q
        rate = fastest_rate(robot.opened(), whole)
        elastic = any(j.is_elastic for j in robot.joints)
        short = max(min(STEP, 1.0 / rate), SHORTEST) if elastic and rate else STEP
        self.dt = short if dt is None else positive(dt, "simulate dt")
        dry = any(smoothed_joint(j) is not j for j in robot.joints)
        way = method or ("implicit" if dry or (rate * self.dt > 1.0 and not elastic) else "rk4")
        laws = soft_stops(robot, whole, self.dt) if stops else {}
        self.step = compile_rollout(robot, method=way, external=show.links, joint_forces=laws or None).step
        self.control = _control(robot, control)
        self.q, self.qd, self.steps = q, np.zeros(robot.nv), 0
        self._springs: dict[str, Push] = {}  # as the robot bears them
        self._points: dict[str, Array] = {}  # where they were a step ago

    def run(self, duration: float | None, speed: float) -> tuple[Array, Array]:
        """Step until the end of the show, or of a duration; slower than asked where steps take too long."""
        last = np.inf if duration is None else round(duration / self.dt)
        anchor, since = time.perf_counter(), self.steps
        while self.steps < last and self.show.is_open:
            began, seen = time.perf_counter(), self.show._begun
            wanted = since + speed * max(began - anchor, 1e-9) / self.dt
            if self.show.paused or wanted - self.steps > LATE * max(speed, 1.0) / self.dt:  # go on from here
                anchor, since, wanted = began, self.steps, self.steps + speed * FRAME / self.dt
            if not self.show.paused:
                self._advance(min(wanted, last), began + FRAME)
            self._look(seen)
            rest = FRAME - (time.perf_counter() - began)
            if rest > 0.0 and self.steps < last:
                self.show._over.wait(rest)
        return self.q, self.qd

    def _advance(self, wanted: float, until: float) -> None:
        """Steps up to a number of them, or until a time."""
        while self.steps + 1 <= wanted and time.perf_counter() < until:
            t = self.steps * self.dt
            tau = self.control(t, self.q, self.qd)
            self.q, self.qd = self.step(self.q, self.qd, tau, self.dt, self._wrenches())
            self.steps += 1
        if not (np.isfinite(self.q).all() and np.isfinite(self.qd).all()):
            raise SimulationError(
                f"show: expected a motion of finite speed, got none after {self.steps * self.dt:.3g} s."
                " Give a shorter dt, or softer control."
            )

    def _look(self, seen: int) -> None:
        """Show the state, unless somebody has put the robot elsewhere meanwhile, where it then starts from rest."""
        if self.show._begun != seen:
            self.q, self.qd = self.show.q, np.zeros_like(self.qd)
            self._points.clear()
        else:
            self.show._moved(self.q)

    def _wrenches(self) -> Array:
        """Of all links during the next step: those in its middle, which is right to second order."""
        found = np.zeros((len(self.show.links), 6))
        if not (pushes := self.show.pushes):
            return found
        T = self.dynamics.poses(self.dynamics.integrate(self.q, self.qd, self.dt / 2.0))
        for link, push in pushes.items():
            if push.to is not None:
                push = self._borne(link, push)
            point = push.point(T)
            velocity = (point - self._points.get(link, point)) / self.dt
            self._points[link] = point
            found[push.row] += push.wrench(T, velocity)
        self._points = {link: self._points[link] for link in pushes}
        return found

    def _borne(self, link: str, push: Push) -> Push:
        """The spring no stiffer than steps can follow, and damped, by how light the link is where it is held."""
        known = self._springs.get(link)
        if known is None or known.at is not push.at:
            m = 1.0 / self._mobility(push)
            stiffness = min(push.stiffness, m * (PULLED / self.dt) ** 2)
            damping = min(2.0 * np.sqrt(stiffness * m), m * PULLED / self.dt)
            known = self._springs[link] = push._replace(stiffness=float(stiffness), damping=float(damping))
        return known._replace(to=push.to)

    def _mobility(self, push: Push) -> float:
        """The acceleration of the point for a force of 1 N, in the direction where it is greatest, from small steps."""
        rest, T = np.zeros_like(self.qd), self.dynamics.poses(self.q)
        loads = np.zeros((4, len(T), 6))
        for k in range(3):
            loads[k + 1, push.row] = push._replace(to=None, force=np.eye(3)[k]).wrench(T)
        _, qd = self.step(self.q, rest, np.zeros(self.show.robot.nu), self.dt, loads)
        moved = self.dynamics.integrate(self.q, qd, 1e-3)
        points = push.point(self.dynamics.poses(moved))
        return float(np.abs(np.linalg.norm(points[1:] - points[0], axis=1)).max() / (1e-3 * self.dt)) + 1e-9


def soft_stops(robot: Robot, whole: Array, dt: float) -> dict[str, JointStop]:
    """Stops of joints that steps can follow: a joint alone swings against its own by `STOPPED` a step."""
    stops = joint_stops(robot)
    if not stops:
        return {}
    tree = robot.opened()
    light = np.diag(np.linalg.pinv(compile(tree).mass_matrix(whole)))
    found = {}
    for name, stop in stops.items():
        mobility = max(float(light[tree.slots[name].v]), 1e-9) if name in tree.slots else 1.0
        found[name] = JointStop(stop.lower, stop.upper, (STOPPED / dt) ** 2 / mobility, stop.damping, SOFT)
    return found


def _control(robot: Robot, control: Any) -> Control:
    """Torques as a function of (t, q, qd)."""
    if callable(control):
        return control
    tau = np.zeros(robot.nu)
    if control is not None:
        given = np.asarray(control)
        if given.shape != tau.shape or given.dtype.kind not in "biuf" or not np.isfinite(given).all():
            raise InputError(
                f"simulate control: expected a function of (t, q, qd), or {robot.nu} torques of"
                f" {', '.join(robot.drives)}, got {control!r}."
            )
        tau[:] = given
    return lambda t, q, qd: tau
