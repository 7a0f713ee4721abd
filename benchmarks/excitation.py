"""Exciting motions: time to plan, and log det of the information beside random Fourier motions of the same length."""

from __future__ import annotations

import time

import numpy as np
import robots

import linkwise as lw
from linkwise.identification.excitation import excitation_problem, log_det, shared
from linkwise.identification.random_motion import Random
from linkwise.planning.information import information

DURATION, HARMONICS, SHARE, MANY = 20.0, 5, 0.99, 1000
# rad/s^2 and N m/s, as the maker's library libfranka 0.9 has them for Panda in include/franka/rate_limiting.h:
# kMaxJointAcceleration and kMaxTorqueRate; position, speed and effort are those of the URDF
ACCELERATION = (15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0)
EFFORT_RATE = 1000.0
ALWAYS_NEAR = [("panda_link5", "panda_link7")]  # whatever the robot does


def limits() -> list:
    """All limits of Panda: of position, speed and effort as its URDF has them, and 2 cm between links."""
    joints = lw.limit.joints(
        "position", "velocity", "effort", acceleration=np.array(ACCELERATION), effort_rate=EFFORT_RATE
    )
    return [joints, lw.limit.clearance((), 0.02, ignore=ALWAYS_NEAR)]


def random_log_dets(robot: lw.Robot, count: int) -> np.ndarray:
    """Log det of random Fourier motions, each as large as limits of joints and drives allow.

    They need not keep the distance between links, which is in their favour, and saves most of the time.
    """
    given = [shared(c, SHARE) for c in limits()[:1]]
    problem = excitation_problem(robot, information(), given, DURATION, ("fourier", HARMONICS, None), None, True)
    told, rng, found = problem.objective.wholes[0][1], np.random.default_rng(1), []
    draw = Random(problem, HARMONICS)
    while len(found) < count:
        if (curve := draw.motion(rng)) is not None:
            found.append(log_det(told.at(curve.points, curve.duration)))
    return np.array(found)


def panda(many: int = MANY) -> dict:
    """Panda within all limits."""
    robot = robots.robot("Panda")
    began, cpu = time.perf_counter(), time.process_time()
    found = lw.identification.excite(
        robot, duration=DURATION, harmonics=HARMONICS, share=SHARE, subject_to=limits(), progress=False
    )
    seconds, processor = time.perf_counter() - began, time.process_time() - cpu
    print(f"{seconds:.1f} s, {processor:.1f} s of processor: {found.summary}", flush=True)
    others = random_log_dets(robot, many)
    return {
        "seconds": seconds, "processor seconds": processor, "parameters": len(found.parameters),
        "log det": found.log_det, "random": float(np.median(others)), "best of random": float(others.max()),
        "randoms": many, "condition": found.condition, "largest violation": found.largest_violation.violation,
        "clearance": float(found.clearance), "status": found.status,
    }  # fmt: skip


def run() -> dict:
    row = panda()
    print(
        f"Panda, {DURATION:g} s, {HARMONICS} harmonics, {row['parameters']} base parameters: {row['seconds']:.1f} s"
        f" ({row['processor seconds']:.1f} s of processor), {row['status']}, log det {row['log det']:.1f}; of a random"
        f" Fourier motion {row['random']:.1f} (median), of the best of {row['randoms']} {row['best of random']:.1f};"
        f" condition number {row['condition']:.1f}; largest violation {row['largest violation']:.1e}, links at least"
        f" {1e3 * row['clearance']:.1f} mm apart"
    )
    return row
