"""Elastic drives: forward dynamics by each route against the number of joints, and batches beside the rigid robot."""

from __future__ import annotations

from papers.elastic_robots import CHAINS, forward_costs, inverse_times


def run() -> dict:
    costs = {}
    for n in CHAINS:
        costs[n] = forward_costs(n)
        print(f"N = {n:2}, half elastic   " + "   ".join(f"{name} {count:7}" for name, count in costs[n].items()))
    times = inverse_times()
    print("inverse dynamics, 7 axes   " + "   ".join(f"{name} {ns:.1f} ns" for name, ns in times.items()))
    print(f"ratio elastic / rigid {times['elastic'] / times['rigid']:.2f} (to stay below 2.5)")
    return {"forward operations": costs, "inverse ns": times}
