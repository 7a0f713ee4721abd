"""Closed loops in batches on one core: positions of the five-bar by both ways of closing, and kernels of linkages."""

from __future__ import annotations

import time

import numpy as np

import linkwise as lw
from linkwise.peers.times import interleaved

CONFIGURATIONS = 100_000
ROWS = 2048


def closures(reach: float, closure: str) -> dict:
    """CPU seconds to close the five-bar at so many random positions of its motors, best of three."""
    dyn = lw.compile(lw.load("fivebar"), closure=closure)
    q = np.random.default_rng(0).uniform(-reach, reach, (CONFIGURATIONS, 2))
    dyn.positions(q[:10])
    times = []
    for _ in range(3):
        begin = time.process_time()
        found = dyn.positions(q)
        times.append(time.process_time() - begin)
    return {
        "reach": reach, "closure": closure, "seconds": min(times), "converged": float(found.converged.mean()),
    }  # fmt: skip


def kernels(name: str) -> dict:
    """Nanoseconds a row of inverse and forward dynamics, loops closed inside."""
    robot = lw.load(name)
    dyn, rng = lw.compile(robot), np.random.default_rng(0)
    q = robot.q() + rng.uniform(-0.3, 0.3, (ROWS, robot.nq))
    qd, qdd = rng.normal(size=(2, ROWS, robot.nv))
    tau = dyn.inverse_dynamics(q, qd, qdd)
    times = interleaved(
        {
            "inverse": lambda: dyn.inverse_dynamics(q, qd, qdd),
            "forward": lambda: dyn.forward_dynamics(q, qd, tau),
        },
        rounds=15,
    )
    return {"robot": name, **{k: 1e9 * t["best"] / ROWS for k, t in times.items()}}


def run() -> list[dict]:
    results = []
    for closure in ("auto", "newton"):
        for reach in (0.7, 3.1):
            r = closures(reach, closure)
            results.append(r)
            share = f"{100 * r['converged']:.1f} % closed"
            way = "Newton's method" if closure == "newton" else "closed forms"
            print(f"five-bar by {way}, {CONFIGURATIONS} rows within {reach} rad: {r['seconds']:.3f} s, {share}")
    for name in ("fourbar", "fivebar", "palletiser", "ankle"):
        r = kernels(name)
        results.append(r)
        print(f"{name}: inverse dynamics {r['inverse']:.0f} ns, forward {r['forward']:.0f} ns a row")
    return results
