"""Inverse kinematics, timings of paths beside TOPP-RA, and steps of the online scaler."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
import robots

import linkwise as lw


def reached() -> dict:
    """Success and time of inverse kinematics at 1000 random poses."""
    found = {}
    arms = {"arm7": lw.load("arm7"), "Panda": robots.robot("Panda"), "UR5": robots.robot("UR5")}
    for name, frame in (("arm7", "tool"), ("Panda", "panda_hand"), ("UR5", "tool0")):
        robot = arms[name]
        limits = [robot.joint(n).limits for n in robot.names]
        low, high = np.array([[max(k.lower, -np.pi), min(k.upper, np.pi)] for k in limits]).T
        T = lw.compile(robot).pose(np.random.default_rng(0).uniform(low, high, (1000, robot.nq)), frame)
        lw.inverse_kinematics(robot, frame, T[:1])
        start = perf_counter()
        result = lw.inverse_kinematics(robot, frame, T)
        us = (perf_counter() - start) * 1e3
        found[name] = {"converged": float(result.converged.mean()), "us per pose": us}
        print(f"{name:8} {result.converged.mean():.1%} of 1000 random poses, {us:.0f} us each")
    return found


def random_path(robot: lw.Robot, seed: int) -> lw.planning.Path:
    """A smooth path through some random points."""
    return lw.planning.Path.through(np.random.default_rng(seed).uniform(-1.5, 1.5, (4 + seed % 5, robot.nq)), robot)


def timings(paths: int = 50, intervals: int = 400) -> dict:
    """Times of random paths of a 7-axis arm, ours and TOPP-RA's on the same grid, then with bounded rates."""
    robot = lw.load("arm7").without_friction()
    free = {"lower": -np.inf, "upper": np.inf}  # paths swing out between their points
    robot = robot.replace(*(replace(j, limits=replace(j.limits, **free)) for j in robot.joints))
    effort = 0.3 * np.array([robot.joint(n).limits.effort for n in robot.names])
    ours, theirs, smooth, seconds = [], [], [], {"ours": [], "toppra": [], "with rates": []}
    with_peer = robots.has("toppra")
    for seed in range(paths):
        path = random_path(robot, seed)
        start = perf_counter()
        fast = lw.retime(robot, path, effort=effort, intervals=intervals)
        seconds["ours"].append(perf_counter() - start)
        ours.append(fast.duration)
        start = perf_counter()
        smooth.append(lw.retime(robot, path, effort=effort, effort_rate=8.0 * effort))
        seconds["with rates"].append(perf_counter() - start)
        if with_peer:
            start = perf_counter()
            theirs.append(
                toppra_time(robot, path, path.grid(intervals, ends_at_rest=True), effort, fast.limits.velocity)
            )
            seconds["toppra"].append(perf_counter() - start)
    for name, values in seconds.items():
        if values:
            print(f"{name:12} {np.median(values) * 1e3:7.1f} ms a path (median of {paths}, {intervals} intervals)")
    ratio = np.array(ours) / np.array(theirs) if theirs else np.ones(1)
    slower = np.array([s.duration for s in smooth]) / np.array(ours)
    worst = max(use.share for s in smooth for use in s.uses.values())
    print(f"our time over TOPP-RA's: {ratio.min():.5f} to {ratio.max():.5f}")
    print(
        f"with rates of 8 efforts a second: {slower.min():.3f} to {slower.max():.3f} times as long, limits {worst:.4f}"
    )
    return {
        "median seconds": {k: float(np.median(v)) for k, v in seconds.items() if v},
        "ratio": [float(ratio.min()), float(ratio.max())],
        "with rates": [float(slower.min()), float(slower.max())],
        "worst use": float(worst),
    }


def toppra_time(
    robot: lw.Robot, path: lw.planning.Path, grid: np.ndarray, effort: np.ndarray, velocity: np.ndarray
) -> float:
    """The time that TOPP-RA finds, its constraints built by our compiled inverse dynamics."""
    import toppra
    from toppra import algorithm, constraint, interpolator

    toppra.setup_logging("ERROR")

    class Told(interpolator.AbstractGeometricPath):
        dof, path_interval = robot.nv, np.array([path.start, path.end])

        def __call__(self, s, order=0):
            found = path.derivatives(np.atleast_1d(s))[order]
            return found[0] if np.ndim(s) == 0 else found

    scheme = constraint.DiscretizationType.Interpolation
    torques, none = lw.compile(robot).inverse_dynamics, np.zeros(robot.nv)
    limits = [
        constraint.JointVelocityConstraint(np.stack([-velocity, velocity], axis=1)),
        constraint.JointTorqueConstraint(torques, np.stack([-effort, effort], axis=1), none, scheme),
    ]
    solver = algorithm.TOPPRA(limits, Told(), gridpoints=grid, solver_wrapper="seidel")
    _, speed, _ = solver.compute_parameterization(0.0, 0.0)
    return float(np.sum(2.0 * np.diff(grid) / (speed[1:] + speed[:-1])))


def steps(count: int = 3000) -> dict:
    """Time of one step of the scaler of the Stanford arm, and of its kernels."""
    robot = robots.stanford()
    scaler = lw.scaler(robot, effort=[40.0, 70.0, 120.0, 3.0, 4.0, 1.0], effort_rate=1000.0)
    points = np.random.default_rng(0).uniform(0.2, 0.8, (4, 6))
    motion = lw.planning.Path.through(points, robot).eased().derivatives(scaler.places / 4.0 + 0.3)
    motion = motion * (4.0 ** -np.arange(4.0))[:, None, None]
    rows, slopes = scaler._parts(*motion)
    found = {}
    calls = {
        "step": lambda: scaler.step(*motion),
        "parts of torques": lambda: scaler._parts(*motion),
        "decisions": lambda: scaler._decide(rows, slopes),
    }
    for name, call in calls.items():
        call()
        times = []
        for _ in range(10):
            start = perf_counter()
            for _ in range(count // 10):
                call()
            times.append((perf_counter() - start) / (count // 10))
        found[name] = min(times) * 1e6
        print(f"{name:18} {found[name]:6.1f} us")
    return found


def run() -> dict:
    return {"inverse kinematics": reached(), "timings": timings(), "scaler": steps()}
