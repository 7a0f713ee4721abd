"""Kernels in CasADi, JAX and PyTorch, beside NumPy's call of the same kernel; PyTorch where it is installed."""

from __future__ import annotations

import subprocess
import sys
import time
from importlib.util import find_spec
from resource import RUSAGE_SELF, getrusage

import numpy as np
import robots

import linkwise as lw
from linkwise.peers.times import interleaved

BATCH = 4096
COLD_RUNS = 7


def run() -> dict[str, dict[str, float]]:
    """Print the tables and return their figures."""
    figures = {"casadi": casadi(), "jax": jax()}
    figures["torch"] = torch() if find_spec("torch") else {}
    if not figures["torch"]:
        print("PyTorch is not installed: make test-torch")
    return figures


def states(robot: lw.Robot, *batch: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=(*batch, n)) for n in (robot.nq, robot.nv, robot.nv)]


def casadi() -> dict[str, float]:
    """Building TALOS, and calling it: expressions by CasADi's machine, and compiled code."""
    figures = {}
    for name in robots.FILES:
        robot = robots.robot(name)
        kernel = lw.compile(robot, lw.inverse_dynamics)
        kernel.casadi(compiled=True)  # compiled and kept
        kernel, seconds = lw.compile(robot, lw.inverse_dynamics), {}
        for what, make in {
            "expressions": lambda k=kernel: k.casadi(),
            "with Jacobian": lambda k=kernel: k.casadi().jacobian(),
            "compiled code": lambda k=kernel: k.casadi(compiled=True),
        }.items():
            begin = time.perf_counter()
            make()
            seconds[what] = time.perf_counter() - begin
        functions = {"expressions": kernel.casadi("a"), "compiled": kernel.casadi("b", compiled=True)}
        calls = {n: _buffered(f, states(robot)) for n, f in functions.items()}
        calls |= {f"{n}, Jacobian": _buffered(f.jacobian(), states(robot)) for n, f in functions.items()}
        us = {n: 1e6 * x["median"] for n, x in interleaved(calls).items()}
        x = states(robot)
        apart = max(np.abs(np.array(f(*x)).ravel() - kernel(*x)).max() for f in functions.values())
        built = ", ".join(f"{k} {v:.2f} s" for k, v in seconds.items())
        print(f"CasADi, {name}: built in {built}; apart by {apart:.1e}")
        for what in ("", ", Jacobian"):
            a, b = us[f"expressions{what}"], us[f"compiled{what}"]
            print(f"  inverse dynamics{what}: expressions {a:.2f} us, compiled {b:.2f} us: {a / b:.1f} times")
        figures |= {f"{name} {k}": v for k, v in {**seconds, **us}.items()}
    return figures


def _buffered(function, inputs):
    """A function of CasADi, called without Python between its arrays."""
    buffer, call = function.buffer()
    given = [np.zeros(function.numel_in(k)) for k in range(function.n_in())]
    for x, value in zip(given, inputs, strict=False):
        x[:] = value
    found = [np.zeros(function.nnz_out(k)) for k in range(function.n_out())]
    for k, x in enumerate(given):
        buffer.set_arg(k, memoryview(x))
    for k, x in enumerate(found):
        buffer.set_res(k, memoryview(x))
    held = (buffer, given, found)
    return lambda: (call(), held)[0]


COLD = """
import time, numpy as np, jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
jax.jit(lambda x: jnp.sin(x) + 1)(np.ones(3)).block_until_ready()
import sys; sys.path[:0] = {path!r}
import robots, linkwise as lw
robot = robots.robot("TALOS")
kernel = lw.compile(robot, lw.inverse_dynamics)
x = np.random.default_rng(0).normal(size=(3, 64, robot.nv))
kernel(*x)
begin = time.perf_counter(), time.process_time()
f = kernel.jax()
g = jax.jit(jax.vmap(jax.grad(lambda q, v, a: jnp.sum(f(q, v, a) ** 2))))
g(*x).block_until_ready()
print(time.perf_counter() - begin[0], time.process_time() - begin[1])
"""


def jax() -> dict[str, float]:
    """Cold gradients of TALOS, batches beside NumPy's call, and gradients beside a complex step."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    first, *more = [_cold() for _ in range(1 + COLD_RUNS)]  # the first may have to compile the code of derivatives
    later = np.median(more, axis=0)
    print("JAX, TALOS: gradient, vmap and jit in a new process, beyond JAX's own import and first jit:")
    print(f"  {first[0]:.2f} s; with our compiled code there {later[0]:.2f} s, of the processor {later[1]:.2f} s")
    figures = {"cold": first[0], "cold, compiled": later[0], "cold, compiled, processor": later[1]}
    one, negation = jnp.ones((1, 6)), jax.jit(jnp.negative)
    own = interleaved({"JAX": lambda: negation(one).block_until_ready()})["JAX"]["median"]
    print(
        f"JAX: a call that negates six numbers takes {1e6 * own:.1f} us, {1e9 * own / BATCH:.1f} ns of each row below"
    )
    for name in robots.FILES:
        call = jax.jit(lw.compile(robots.robot(name), lw.inverse_dynamics).jax())
        figures |= _beside("JAX", name, lambda *x, call=call: call(*x).block_until_ready(), jnp.asarray)
    gradient = jax.grad(lambda *x: jnp.sum(lw.compile(robots.robot("TALOS"), lw.inverse_dynamics).jax()(*x) ** 2))
    figures["gradient"] = apart = _from_complex_steps(robots.robot("TALOS"), gradient)
    print(f"JAX, TALOS: gradient of the sum of squares, from complex steps by {apart:.1e} of the largest")
    return figures


def _from_complex_steps(robot: lw.Robot, gradient) -> float:
    """How far a gradient of the sum of squared torques by q is from complex steps, as a part of the largest number."""
    q, qd, qdd = (x.tolist() for x in states(robot))

    def slope(k: int) -> float:
        moved = [complex(x, 1e-40 * (j == k)) for j, x in enumerate(q)]
        return sum(x * x for x in lw.inverse_dynamics.plain(robot, moved, qd, qdd)).imag / 1e-40

    expected = np.array([slope(k) for k in range(robot.nq)])
    return float(np.abs(np.asarray(gradient(*states(robot))) - expected).max() / np.abs(expected).max())


def _beside(tool: str, name: str, call, given) -> dict[str, float]:
    """A batch in another tool, with inputs of its own kind, beside NumPy's call of the kernel."""
    kernel = lw.compile(robots.robot(name), lw.inverse_dynamics)
    x = states(robots.robot(name), BATCH)
    theirs = [given(v) for v in x]
    times = interleaved({tool: lambda: call(*theirs), "NumPy": lambda: kernel(*x)})
    a, b = (1e9 * times[n]["median"] / BATCH for n in (tool, "NumPy"))
    pages = _page_faults(lambda: call(*theirs))
    print(f"{tool}, {name}: {BATCH} rows, {a:.1f} ns a row, NumPy {b:.1f} ns: {a / b:.2f}; fresh pages {pages:.0f}")
    return {f"{name} {tool}": a, f"{name} NumPy": b, f"{name} {tool} fresh pages": pages}


def _page_faults(call) -> float:
    """Pages of memory that the system clears in a call; those of outputs, where their memory was given back before."""
    before = getrusage(RUSAGE_SELF).ru_minflt
    for _ in range(100):
        call()
    return (getrusage(RUSAGE_SELF).ru_minflt - before) / 100


def _cold() -> list[float]:
    """Seconds by the clock and of the processor, in a new process."""
    code = COLD.format(path=[p for p in sys.path if p])
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [float(x) for x in ran.stdout.split()]


def torch() -> dict[str, float]:
    """Batches beside NumPy's call."""
    from torch import tensor

    figures = {}
    for name in robots.FILES:
        figures |= _beside("PyTorch", name, lw.compile(robots.robot(name), lw.inverse_dynamics).torch(), tensor)
    return figures
