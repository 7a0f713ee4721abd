"""Times that a user waits: import, first compilation with an empty cache, and with a warm one, in fresh processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROBE = """
import json, sys, time
sys.path[:0] = [{here!r}, {root!r}]
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


# all that `linkwise info` counts, and a chain of linkages that is four times as long as another
COUNTS = """
import json, sys, time
sys.path[:0] = [{here!r}, {root!r}, {root!r} + "/tests"]
import linkwise as lw, robots
from linkwise.cli.summary import operations
from support.linkages import chain_of_four_bars
def seconds(function, *given):
    start = time.process_time()
    function(*given)
    return time.process_time() - start
mimic = lw.load(robots.path("TALOS").with_name("talos_full_v2.urdf"))
chains = [chain_of_four_bars(k) for k in (3, 15, 60)]
first, short, long = [seconds(lw.compile, chain, lw.inverse_dynamics) for chain in chains]
print(json.dumps([seconds(operations, mimic), short, long]))
"""


def probe(
    name: str, cache: str, ready: bool = False, member: str = "inverse_dynamics", **more: str
) -> tuple[float, float, float, list[str]]:
    """Seconds of `import linkwise`, also with its modules and NumPy in use, and of the first call; what came along."""
    text = PROBE.format(here=str(HERE), root=str(HERE.parent), name=name, ready=ready, member=member)
    environment = {**os.environ, "LINKWISE_CACHE": cache, **more}
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
            bytecode = {"PYTHONPYCACHEPREFIX": str(Path(cache) / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
            installed = [probe(name, str(Path(cache) / "0"), **bytecode) for _ in range(repeats)]
        found = {
            "robot": name,
            "import": min(t[0] for t in [*cold, *warm]),
            "in use": min(t[1] for t in [*cold, *warm]),
            "in use, with bytecode": min(t[1] for t in installed),
            "imported": warm[0][3],
            "cold": min(t[2] for t in cold),
            "warm": min(t[2] for t in warm),
            "warm, llvmlite imported before": min(t[2] for t in loaded),
        }
        results.append(found)
        ms = {k: f"{1e3 * v:.0f} ms" for k, v in found.items() if isinstance(v, float)}
        print(f"{name}: import linkwise {ms['import']}, {ms['in use']} with its modules and NumPy in use")
        print(f"  (where Python may keep bytecode, as of an installed package, {ms['in use, with bytecode']}),")
        print(f"  which brings in {found['imported'] or 'neither LLVM nor SciPy'};")
        print(f"  first call, empty cache {ms['cold']}; warm cache {ms['warm']},")
        print(f"  or {ms['warm, llvmlite imported before']} where llvmlite is imported already")
    results.append(derivatives(repeats))
    results.append(counts())
    return results


def derivatives(repeats: int) -> dict:
    """Seconds until the derivatives of TALOS's accelerations are there, with an empty cache and a warm one."""
    member = "forward_dynamics_derivatives"
    with tempfile.TemporaryDirectory() as cache:
        cold = []
        for k in range(repeats):
            folder = Path(cache) / str(k)
            folder.mkdir(mode=0o700)
            cold.append(probe("TALOS", str(folder), member=member)[2])
        warm = [probe("TALOS", str(Path(cache) / "0"), member=member)[2] for _ in range(repeats)]
    print(f"TALOS, {member}: empty cache {min(cold):.2f} s; warm cache {1e3 * min(warm):.0f} ms")
    return {"robot": "TALOS", "member": member, "cold": min(cold), "warm": min(warm)}


def counts() -> dict:
    """Processor seconds of tracing: all that `linkwise info` counts of TALOS with mimic joints, and chains of loops."""
    text = COUNTS.format(here=str(HERE), root=str(HERE.parent))
    environment = {**os.environ, "LINKWISE_CACHE": "off"}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True)
    info, short, long = json.loads(done.stdout)
    print(f"TALOS with mimic joints: every kernel counted in {info:.1f} s of the processor")
    print(f"Inverse dynamics of 60 four-bars in a chain traced in {long:.2f} s: {long / short:.1f} times that of 15")
    return {"robot": "TALOS with mimic joints", "info": info, "15 four-bars": short, "60 four-bars": long}
