"""Plans by the default call: random pairs of five arms by every solver, limits added one by one, what is impossible.

PYTHONPATH=. python benchmarks/plans.py [--pairs 10] [--problems 5] [--only NAME,...] runs it with other numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from time import perf_counter, process_time

import numpy as np
import robots

import linkwise as lw

RATE = 10.0  # efforts a second, which no file gives
STANFORD = {"velocity": (2.0, 2.0, 1.0, 3.0, 3.0, 3.0), "effort": (60.0, 120.0, 80.0, 10.0, 10.0, 10.0)}  # invented
SOLVERS = (None, "uno", "ipopt", "scipy")
ARMS = ("Panda", "UR5", "UR10", "arm7", "Stanford")
ADDED = ("velocity", "effort", "effort_rate", "acceleration")


@cache
def arm(name: str) -> lw.Robot:
    """An arm with limits of positions, speeds, efforts and their rates."""
    if name == "Stanford":
        robot = lw.load("stanford")
        figures = zip(robot.names, STANFORD["velocity"], STANFORD["effort"], strict=True)
        limits = {n: {"velocity": v, "effort": e, "lower": -3.0, "upper": 3.0} for n, v, e in figures}
        limits[robot.names[2]] |= {"lower": 0.1, "upper": 0.8}
    else:
        robot = lw.load("arm7") if name == "arm7" else robots.robot(name)
        limits = {n: {} for n in robot.names}
    joints = []
    for n in robot.names:
        j = robot.joint(n)
        own = replace(j.limits, **limits[n])
        joints.append(replace(j, limits=replace(own, effort_rate=RATE * own.effort)))
    return robot.replace(*joints)


def pairs(robot: lw.Robot, count: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random starts and goals within the limits, at which drives can hold the arm with a twentieth to spare."""
    rng, dyn, found = np.random.default_rng(seed), lw.compile(robot), []
    limits = [robot.joint(n).limits for n in robot.names]
    low, high = np.array([[max(k.lower, -np.pi), min(k.upper, np.pi)] for k in limits]).T
    effort = np.array([k.effort for k in limits])
    while len(found) < count:
        both = rng.uniform(low, high, (2, robot.nq))
        if (np.abs(dyn.inverse_dynamics(both, 0.0 * both, 0.0 * both)) <= 0.95 * effort).all():
            found.append((both[0], both[1]))
    return found


def table(count: int, arms: Sequence[str] = ARMS, solvers: Sequence[str | None] = SOLVERS) -> dict:
    """How many random pairs converge, and in how many seconds."""
    found = {}
    for name in arms:
        robot = arm(name)
        for solver in solvers:
            lw.plan(robot, *pairs(robot, 1, seed=1)[0], solver=solver, progress=False)  # compiled by now
            plans, wall, cpu = [], [], []
            for start, goal in pairs(robot, count):
                began, busy = perf_counter(), process_time()
                plans.append(lw.plan(robot, start, goal, solver=solver, progress=False))
                wall.append(perf_counter() - began)
                cpu.append(process_time() - busy)
            statuses = [p.status for p in plans]
            row = {
                "converged": statuses.count("converged"), "infeasible": statuses.count("infeasible"), "of": count,
                "median": float(np.median(wall)), "median cpu": float(np.median(cpu)), "slowest": max(wall),
                "durations": [p.duration for p in plans], "statuses": statuses,
            }  # fmt: skip
            found[f"{name} {solver or 'default'}"] = row
            print(
                f"{name:8} {solver or 'default':8} {row['converged']:3} of {count} converged, {row['infeasible']}"
                f" called infeasible, median {row['median']:.2f} s (cpu {row['median cpu']:.2f} s), slowest"
                f" {row['slowest']:.1f} s",
                flush=True,
            )
    return found


def added_limits(count: int) -> dict:
    """Limits added one by one: by how much a plan becomes faster, and how far joints go that need not move."""
    faster, moved, broken = [], [], []
    for k in range(count):
        robot = arm(ARMS[k % len(ARMS)])
        start, goal = pairs(robot, 1, seed=1000 + k)[0]
        rests = np.random.default_rng(k).permutation(robot.nq)[: robot.nq // 2]
        goal[rests] = start[rests]
        before, kinds = 0.0, ["position"]
        for kind in ADDED:
            kinds.append(kind)
            given = {} if kind != "acceleration" else {"acceleration": 8.0}
            limits = lw.limit.joints(*(x for x in kinds if x not in given), **given)
            plan = lw.plan(robot, start, goal, subject_to=limits, progress=False)
            if not plan.converged:
                broken.append((k, kind, plan.summary))
                continue
            faster.append(1.0 - plan.duration / before if before else 0.0)
            if kind == "velocity":  # where it costs no time to rest
                moved.append(float(np.ptp(plan.q(plan.times())[:, rests], axis=0).max(initial=0.0)))
            before = plan.duration
    print(
        f"{count} problems, limits added one by one: at most {100 * max(faster):.3f} % faster;"
        f" joints that need not move go {max(moved):.1e} at most; {len(broken)} plans did not converge"
    )
    return {"faster": max(faster), "moved": max(moved), "not converged": broken}


def overloaded() -> dict:
    """How long it takes to say that a drive cannot hold its load."""
    robot = arm("Panda").with_payload(20.0, at="panda_hand")
    start = np.array([0.0, 1.2, 0.0, -0.5, 0.0, 1.5, 0.0])
    seconds = []
    for _ in range(5):
        began = perf_counter()
        try:
            lw.plan(robot, start, start + 0.1, progress=False)
            words = "nothing was said"
        except lw.InputError as error:
            words = str(error)
        seconds.append(perf_counter() - began)
    print(f"overloaded arm: said after {seconds[0]:.2f} s at first, then after {min(seconds):.3f} s: {words}")
    return {"first": seconds[0], "seconds": min(seconds), "words": words}


def run(count: int = 4, problems: int = 5) -> dict:
    return {"table": table(count), "added limits": added_limits(problems), "overloaded": overloaded()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--problems", type=int, default=5)
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--solvers", default="default,uno,ipopt,scipy")
    parser.add_argument("--only", default="table,added,overloaded")
    given = parser.parse_args()
    if "table" in given.only:
        table(given.pairs, given.arms.split(","), [None if s == "default" else s for s in given.solvers.split(",")])
    if "added" in given.only:
        added_limits(given.problems)
    if "overloaded" in given.only:
        overloaded()
