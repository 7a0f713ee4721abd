"""Closed loops in batches on one core: assembling the five-bar, and kernels of assembled linkages."""

from __future__ import annotations

import time

import numpy as np

import linkwise as lw
from linkwise.report.bench import interleaved

CONFIGURATIONS = 100_000
ROWS = 2048


def closures(reach: float) -> dict:
    """CPU seconds to assemble the five-bar from so many random positions of its motors, best of three."""
    chain = lw.compile(lw.load("fivebar")).closed
    q_active = np.random.default_rng(0).uniform(-reach, reach, (CONFIGURATIONS, 2))
    chain.positions(q_active[:10])
    times = []
    for _ in range(3):
        begin = time.process_time()
        found = chain.positions(q_active)
        times.append(time.process_time() - begin)
    return {"reach": reach, "seconds": min(times), "converged": float(found.converged.mean())}


def kernels(name: str) -> dict:
    """Nanoseconds a row of inverse and forward dynamics at assembled positions."""
    chain = lw.compile(lw.load(name)).closed
    width = len(chain.structure.part.active)
    rng = np.random.default_rng(0)
    q = chain.positions(rng.uniform(-0.3, 0.3, (ROWS, width))).q
    qd, qdd = rng.normal(size=(2, ROWS, width))
    at = chain.assembled
    tau = at.inverse_dynamics(q, qd, qdd)
    times = interleaved(
        {
            "inverse": lambda: at.inverse_dynamics(q, qd, qdd),
            "forward": lambda: at.forward_dynamics(q, qd, tau),
        },
        rounds=15,
    )
    return {"robot": name, **{k: 1e9 * t["best"] / ROWS for k, t in times.items()}}


def run() -> list[dict]:
    results = []
    for reach in (0.7, 3.1):
        r = closures(reach)
        results.append(r)
        share = f"{100 * r['converged']:.1f} % reachable"
        print(f"five-bar, {CONFIGURATIONS} closures, motors within {reach} rad: {r['seconds']:.2f} s, {share}")
    for name in ("fourbar", "fivebar", "palletiser", "ankle"):
        r = kernels(name)
        results.append(r)
        print(f"{name}: inverse dynamics {r['inverse']:.0f} ns, forward {r['forward']:.0f} ns a row")
    return results
