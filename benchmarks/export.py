"""Kernels outside of Python: the address of a function called by C and numba, exported C, and a Cortex-M7.

The last needs `arm-none-eabi-gcc` and `qemu-system-arm`, numba's row numba; what is missing is named.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import robots

import linkwise as lw
from linkwise.backend import native

sys.path.append(str(Path(__file__).parents[1] / "tests"))

# calls of the bare function and of the loop that NumPy calls, in turns; the best of each in ns
CALLS = """
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <time.h>
typedef void row(const double *, const double *, const double *, double *);
typedef void loop(char **, int64_t *, int64_t *, void *);
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}
void times(row *f, loop *g, int64_t *steps, double *q, double *qd, double *qdd, double *tau, double *best) {
    best[0] = best[1] = 1e30;
    for (int turn = 0; turn < 300; ++turn) {
        const double a = now();
        for (int k = 0; k < 300; ++k) { f(q, qd, qdd, tau); }
        const double b = now();
        for (int k = 0; k < 300; ++k) {
            char *args[4] = {(char *)q, (char *)qd, (char *)qdd, (char *)tau};
            int64_t dims[1] = {1};
            g(args, dims, steps, 0);
        }
        const double c = now();
        best[0] = b - a < best[0] ? b - a : best[0];
        best[1] = c - b < best[1] ? c - b : best[1];
    }
    best[0] /= 300;
    best[1] /= 300;
}
"""


def run() -> dict[str, dict[str, float]]:
    """Print the tables and return their figures."""
    with tempfile.TemporaryDirectory() as folder:
        return {"address": address(Path(folder)), "c": exported(Path(folder)), "cortex": cortex(Path(folder))}


def pointer(a: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(a.ctypes.data)


def address(folder: Path) -> dict[str, float]:
    """Inverse dynamics of a row by C and by numba, beside the kernel's own loop."""
    (folder / "calls.c").write_text(CALLS)
    command = ["cc", "-std=c99", "-O2", "-shared", "-fPIC", "-o", "calls.so", "calls.c"]
    subprocess.run(command, cwd=folder, check=True)
    times, figures = ctypes.CDLL(str(folder / "calls.so")).times, {}
    print(f"{'address of a function':28} {'loop, ns':>9} {'C, ns':>9} {'numba, ns':>10}  bit-equal")
    for name in robots.FILES:
        robot = robots.robot(name)
        if robot.nq != robot.nv:
            continue
        kernel = lw.compile(robot, lw.inverse_dynamics)
        bare, n = kernel.address(), robot.nv
        x = list(np.random.default_rng(0).normal(size=(3, n)))
        tau, best = np.zeros(n), np.zeros(2)
        steps = np.array([8 * n] * 4 + [8] * 4)
        loop = native.loaded(kernel.program).loop
        times(ctypes.c_void_p(bare), ctypes.c_void_p(loop), *map(pointer, (steps, *x, tau, best)))
        equal = (tau == kernel(*x)).all()
        by_numba = numba(bare.function, x) if find_spec("numba") else float("nan")
        print(f"{name:28} {best[1]:9.1f} {best[0]:9.1f} {by_numba:10.1f}  {equal}")
        figures[name] = {"loop": best[1], "c": best[0], "numba": by_numba, "equal": bool(equal)}
    return figures


def numba(function: object, x: list[np.ndarray]) -> float:
    """Nanoseconds of a call in a loop that numba compiles."""
    import time

    from numba import njit

    @njit
    def work(count, q, qd, qdd, tau):
        for _ in range(count):
            function(q.ctypes, qd.ctypes, qdd.ctypes, tau.ctypes)

    tau, best = np.zeros(len(x[0])), np.inf
    work(1, *x, tau)
    for _ in range(100):
        begin = time.perf_counter()
        work(2000, *x, tau)
        best = min(best, (time.perf_counter() - begin) / 2000)
    return 1e9 * best


def exported(folder: Path) -> dict[str, float]:
    """Exported C: how far from the kernel, and the time of its loop."""
    print(f"\n{'exported C':28} {'of the kernel':>14} {'us a call':>10}")
    figures = {}
    for name in robots.FILES:
        robot = robots.robot(name)
        home = folder / name
        lw.compile(robot, lw.inverse_dynamics).export(home, name="robot")
        text = subprocess.run(
            ["make", "-s", "-C", home, "test", "run"], capture_output=True, text=True, check=True
        ).stdout
        off = max(float(w) for w in re.findall(r"worst difference (\S+) of", text))
        microseconds = float(re.search(r"(\S+) microseconds", text)[1])
        print(f"{name:28} {off:14.1e} {microseconds:10.2f}")
        figures[name] = {"off": off, "microseconds": microseconds}
    return figures


def cortex(folder: Path) -> dict[str, float]:
    """Torques of a UR5 in float32 on a Cortex-M7, 10,000 states."""
    from support import cortex as emulated
    from support.pinocchio_bridge import example

    if reason := emulated.missing():
        print(f"\nCortex-M7: {reason}")
        return {}
    robot, rng = lw.load(example("ur5_robot.urdf")), np.random.default_rng(0)
    x = [rng.uniform(-w, w, (10_000, 6)).astype(np.float32) for w in (np.pi, 2.0, 5.0)]
    lw.compile(robot, lw.inverse_dynamics, dtype="float32").export(folder / "cortex", to="arduino", name="ur5")
    ran = emulated.run(folder / "cortex", "ur5", "inverse_dynamics", x, 6)
    expected = lw.compile(robot, lw.inverse_dynamics)(*(a.astype(float) for a in x))
    off = float(np.abs(ran.results - expected).max() / np.abs(expected).max())
    least, most = int(ran.instructions.min()), int(ran.instructions.max())
    print(f"\nUR5 on a Cortex-M7: {least} to {most} instructions, {ran.stack} bytes of stack, error {off:.1e}")
    return {"least": least, "most": most, "stack": ran.stack, "error": off}
