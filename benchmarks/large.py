"""Chains of 10 to 1,000 joints: time and memory until the first answer, and time of a row, each in a new process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

ALGORITHMS = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
JOINTS = (10, 100, 1000)

CHILD = """
import json, resource, sys, time
import numpy as np
import linkwise as lw
joints, name = int(sys.argv[1]), sys.argv[2]
robot = lw.random_tree(0, joints, branching=0.0, fixed=0.0, kinds=("revolute",))
start, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
kernel = lw.compile(robot, getattr(lw.algorithms, name))
rng = np.random.default_rng(0)
inputs = [rng.uniform(-0.1, 0.1, shape) for shape in kernel.inputs.values()]
kernel(*inputs)
first = time.perf_counter() - start
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rounds = []
for _ in range(5):
    start = time.perf_counter()
    kernel(*inputs)
    rounds.append(time.perf_counter() - start)
print(json.dumps({"first": first, "memory": most, "row": min(rounds)}))
"""


def run() -> list[dict]:
    results = []
    print(f"{'algorithm':32}{'joints':>8}{'first call':>12}{'memory':>10}{'a row':>12}")
    for name in ALGORITHMS:
        for joints in JOINTS:
            done = subprocess.run(
                [sys.executable, "-c", CHILD, str(joints), name],
                env={**os.environ, "LINKWISE_CACHE": "off"},
                capture_output=True,
                text=True,
                check=True,
            )
            found = json.loads(done.stdout)
            results.append({"algorithm": name, "joints": joints, **found})
            print(
                f"{name:32}{joints:8d}{found['first']:10.2f} s{found['memory']:7.0f} MB{1e3 * found['row']:9.3f} ms",
                flush=True,
            )
    return results
