"""Simulated experiments: logs of a known robot with the faults of real ones, to learn and to test identification."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.check import finite, positive, whole
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.motion.log import Log
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot

HARMONICS = 5
STEPS = 4001  # instants at which the speed of a motion is looked at


def simulated_log(
    robot: Robot,
    duration: float = 40.0,
    rate: float = 250.0,
    *,
    seed: int = 0,
    speed: float = 1.5,
    base_frequency: float = 0.1,
    noise_q: float = 2e-5,
    noise_tau: float = 0.02,
    delay: float = 0.0,
    offset: float = 0.0,
) -> Log:
    """A log of a random Fourier motion, of which each joint has another, with torques by inverse dynamics.

    Args:
        robot: the true one, with its friction and rotors.
        duration: s.
        rate: samples a second.
        seed: of motion and noise.
        speed: the highest of each joint, rad/s or m/s.
        base_frequency: of the motion, in Hz; it has five harmonics.
        noise_q: standard deviation of the noise of positions, rad or m.
        noise_tau: standard deviation of the noise of torques, as a part of their root mean square.
        delay: by which torques come after positions, s.
        offset: of torques, as a part of their root mean square.
    """
    if robot.nq != robot.nv:
        raise InputError(f"simulated_log: expected joints of one number each, got {robot.name!r} with a quaternion.")
    rows = whole(round(positive(duration, "duration") * positive(rate, "rate")), "rows", 2)
    rng = np.random.default_rng(seed)
    waves = rng.normal(size=(2, HARMONICS, robot.nv))
    t = np.arange(rows) / rate
    q, _, _ = _motion(t, waves, base_frequency, speed, robot)
    late = _motion(t - finite(delay, "delay"), waves, base_frequency, speed, robot)
    tau = np.asarray(compile(robot, inverse_dynamics)(*late))
    size = np.sqrt(np.mean(tau**2, axis=0))
    tau = tau + size * (noise_tau * rng.normal(size=tau.shape) + offset)
    return Log(robot, t, q + noise_q * rng.normal(size=q.shape), tau=tau, sources=(f"simulated (seed {seed})",))


def _motion(t: Array, waves: Array, f: float, speed: float, robot: Robot) -> list[Array]:
    """Positions, velocities and accelerations at these times, about the middle of what the joints may do."""
    omega = 2.0 * np.pi * f * np.arange(1, HARMONICS + 1)

    def at(t: Array, order: int) -> Any:
        phase = np.outer(t, omega) + order * np.pi / 2.0
        scale = omega[:, None] ** (order - 1)
        return np.sin(phase) @ (waves[0] * scale) - np.cos(phase) @ (waves[1] * scale)

    top = np.abs(at(np.linspace(0.0, 1.0 / f, STEPS), 1)).max(axis=0)
    return [at(t, order) * speed / top + (robot.q() if order == 0 else 0.0) for order in range(3)]
