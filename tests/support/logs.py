"""Logs of simulated motions, with known noise, delays, jitter and gaps."""

import numpy as np

import linkwise as lw
from linkwise.motion import Log

ARM = lw.load("industrial6")


def motion(t, robot=ARM, top=1.2, seed=3):
    """Positions, velocities and accelerations (rows, nv) of sums of sines up to a frequency, in Hz."""
    rng = np.random.default_rng(seed)
    f = np.linspace(0.15, top, 5)
    w = 2.0 * np.pi * f
    a, phase = 0.25 * rng.normal(size=(2, robot.nv, len(f)))
    angle = t[:, None, None] * w + 20.0 * phase
    a = a / w
    return tuple(np.sum(x, axis=2) for x in (a * np.sin(angle), a * w * np.cos(angle), -a * w**2 * np.sin(angle)))


def columns(t, q, qd=None, tau=None, robot=ARM):
    """A table with our names."""
    found = {"t": t, **{f"q.{n}": q[:, k] for k, n in enumerate(robot.names)}}
    for key, x in (("qd", qd), ("tau", tau)):
        if x is not None:
            found |= {f"{key}.{n}": x[:, k] for k, n in enumerate(robot.names)}
    return found


def noisy_log(rate=500.0, seconds=20.0, sd=2e-5, seed=0, robot=ARM, **options):
    """A log with white noise, and the true motion."""
    t = np.arange(int(rate * seconds)) / rate
    truth = motion(t, robot, **options)
    noise = sd * np.random.default_rng(seed).normal(size=truth[0].shape)
    return Log(robot, t, truth[0] + noise), truth
