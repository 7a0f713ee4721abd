"""Kernels in float32 against the same in float64: how much faster, and how far off."""

from __future__ import annotations

import numpy as np
import robots

import linkwise as lw
from linkwise.peers.times import BATCH, interleaved, states

CASES = (("Panda", "inverse_dynamics"), ("TALOS", "inverse_dynamics"), ("Panda", "forward_dynamics"),
         ("TALOS", "inverse_dynamics_derivatives"))  # fmt: skip


def measure(name: str, function: str) -> dict:
    """Times of one function in both kinds of numbers, in nanoseconds a row, and the largest error in float32.

    Errors are parts of the largest result, on the same inputs: those that float32 holds.
    """
    robot = robots.robot(name)
    given = [x.astype(np.float32) for x in states(robot, BATCH)]
    candidates, results = {}, {}
    for dtype in ("float64", "float32"):
        kernel = getattr(lw.compile(robot, dtype=dtype), function)
        inputs = [x.astype(dtype) for x in given]
        results[dtype] = kernel(*inputs) if len(kernel.outputs) > 1 else (kernel(*inputs),)
        out = tuple(np.empty_like(x) for x in results[dtype])
        candidates[dtype] = lambda kernel=kernel, inputs=inputs, out=out: kernel(*inputs, out=out)
    times = interleaved(candidates)
    pairs = list(zip(results["float32"], results["float64"], strict=True))
    return {
        "robot": name,
        "function": function,
        "ns a row": {k: {m: 1e9 * t[m] / BATCH for m in t} for k, t in times.items()},
        "ratio": {m: times["float64"][m] / times["float32"][m] for m in ("median", "best")},
        "error": max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs),
    }


def run() -> list[dict]:
    results = []
    for case in CASES:
        results.append(found := measure(*case))
        times = " against ".join(
            f"{found['ns a row'][k]['median']:.1f} ns a row in {k}" for k in ("float32", "float64")
        )
        print(f"{found['robot']}, {found['function']}, batch {BATCH}: {times}: {found['ratio']['median']:.2f} times as"
              f" fast (best against best {found['ratio']['best']:.2f}); error {found['error']:.1e}")  # fmt: skip
    return results
