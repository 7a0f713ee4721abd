"""Times that a user waits: import, first compilation with an empty cache, and with a warm one, in fresh processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROBE = """
import json, sys, time
sys.path.insert(0, {here!r})
start = time.perf_counter()
import linkwise as lw
imported = time.perf_counter() - start
lw.compile, lw.load
in_use = time.perf_counter() - start
heavy = [m for m in ("llvmlite", "scipy", "matplotlib") if m in sys.modules]
import robots
import numpy as np
robot = robots.robot({name!r})
q = np.zeros(robot.nv)
if {ready}:
    import llvmlite.binding
start = time.perf_counter()
lw.compile(robot).{member}(q, q, q)
print(json.dumps([imported, in_use, time.perf_counter() - start, heavy]))
"""


def probe(
    name: str, cache: str, ready: bool = False, member: str = "inverse_dynamics"
) -> tuple[float, float, float, list[str]]:
    """Seconds of `import linkwise`, also with its modules and NumPy in use, and of the first call; what came along."""
    text = PROBE.format(here=str(Path(__file__).parent), name=name, ready=ready, member=member)
    environment = {**os.environ, "LINKWISE_CACHE": cache}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True)
    return tuple(json.loads(done.stdout))


def run(repeats: int = 5) -> list[dict]:
    results = []
    for name in ("Panda", "TALOS"):
        with tempfile.TemporaryDirectory() as cache:
            cold = []
            for k in range(repeats):
                folder = Path(cache) / str(k)
                folder.mkdir(mode=0o700)
                cold.append(probe(name, str(folder)))
            warm = [probe(name, str(Path(cache) / "0")) for _ in range(repeats)]
            loaded = [probe(name, str(Path(cache) / "0"), ready=True) for _ in range(repeats)]
        found = {
            "robot": name,
            "import": min(t[0] for t in [*cold, *warm]),
            "in use": min(t[1] for t in [*cold, *warm]),
            "imported": warm[0][3],
            "cold": min(t[2] for t in cold),
            "warm": min(t[2] for t in warm),
            "warm, llvmlite imported before": min(t[2] for t in loaded),
        }
        results.append(found)
        ms = {k: f"{1e3 * v:.0f} ms" for k, v in found.items() if isinstance(v, float)}
        print(f"{name}: import linkwise {ms['import']}, {ms['in use']} with its modules and NumPy in use,")
        print(f"  which brings in {found['imported'] or 'neither LLVM nor SciPy'};")
        print(f"  first call, empty cache {ms['cold']}; warm cache {ms['warm']},")
        print(f"  or {ms['warm, llvmlite imported before']} where llvmlite is imported already")
    return results
