"""Exciting motions: time to plan, and log det of the information beside random Fourier motions of the same length."""

from __future__ import annotations

import time

import numpy as np
import robots

import linkwise as lw
from linkwise.identification.excitation import excitation_problem, log_det, shared
from linkwise.identification.random_motion import Random
from linkwise.planning.information import information
from linkwise.planning.joint_limits import with_own_limits

DURATION, HARMONICS, SHARE = 20.0, 5, 0.99
MANY = 1000


def random_log_dets(robot: lw.Robot, count: int) -> np.ndarray:
    """Log det of random Fourier motions, each as large as all limits allow, in the order in which they were drawn."""
    limits = [shared(c, SHARE) for c in with_own_limits(None)]
    problem = excitation_problem(robot, information(), limits, DURATION, ("fourier", HARMONICS, None), None, True)
    told, rng, found = problem.objective.wholes[0][1], np.random.default_rng(1), []
    draw = Random(problem, HARMONICS)
    while len(found) < count:
        if (curve := draw.motion(rng)) is not None:
            found.append(log_det(told.at(curve.points, curve.duration)))
    return np.array(found)


def panda() -> dict:
    """Panda with its limits of position, speed and effort, and rates of torques as its maker gives them."""
    robot = robots.robot("Panda")
    lw.base_parameters(robot)
    began, cpu = time.perf_counter(), time.process_time()
    found = lw.identification.excite(robot, duration=DURATION, harmonics=HARMONICS, share=SHARE, progress=False)
    seconds, processor = time.perf_counter() - began, time.process_time() - cpu
    others = random_log_dets(robot, MANY)
    return {
        "seconds": seconds, "processor seconds": processor, "parameters": len(found.parameters),
        "log det": found.log_det, "random": float(np.median(others)), "best of 1000 random": float(others.max()),
        "condition": found.condition, "largest violation": found.largest_violation.violation,
        "status": found.status,
    }  # fmt: skip


def run() -> dict:
    row = panda()
    print(
        f"Panda, {DURATION:g} s, {HARMONICS} harmonics, {row['parameters']} base parameters: {row['seconds']:.1f} s"
        f" ({row['processor seconds']:.1f} s of processor), {row['status']}, log det {row['log det']:.1f}; of a random"
        f" Fourier motion {row['random']:.1f} (median), of the best of {MANY} {row['best of 1000 random']:.1f};"
        f" condition number {row['condition']:.1f}; largest violation {row['largest violation']:.1e}"
    )
    return row
