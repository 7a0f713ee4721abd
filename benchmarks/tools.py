"""Kernels in CasADi, JAX and PyTorch, beside NumPy's call of the same kernel and beside libraries written in JAX.

PyTorch, adam-robotics, frax and jaxsim are measured where they are installed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
import robots

import linkwise as lw
from linkwise.peers.times import interleaved

BATCH = 4096


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
begin = time.perf_counter()
f = kernel.jax()
g = jax.jit(jax.vmap(jax.grad(lambda q, v, a: jnp.sum(f(q, v, a) ** 2))))
g(*x).block_until_ready()
print(time.perf_counter() - begin)
"""


def jax() -> dict[str, float]:
    """Cold gradients of TALOS, batches beside NumPy's call, and libraries written in JAX."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    cold = [_cold() for _ in range(2)]  # the second finds the code of derivatives compiled
    print("JAX, TALOS: gradient, vmap and jit in a new process, beyond JAX's own import and first jit:")
    print(f"  {cold[0]:.2f} s, with our compiled code there {cold[1]:.2f} s")
    figures = {"cold": cold[0], "cold, compiled": cold[1]}
    for name in robots.FILES:
        call = jax.jit(lw.compile(robots.robot(name), lw.inverse_dynamics).jax())
        figures |= _beside("JAX", name, lambda *x, call=call: call(*x).block_until_ready(), jnp.asarray)
    return figures | _others()


def _beside(tool: str, name: str, call, given) -> dict[str, float]:
    """A batch in another tool, with inputs of its own kind, beside NumPy's call of the kernel."""
    kernel = lw.compile(robots.robot(name), lw.inverse_dynamics)
    x = states(robots.robot(name), BATCH)
    theirs = [given(v) for v in x]
    times = interleaved({tool: lambda: call(*theirs), "NumPy": lambda: kernel(*x)})
    a, b = (1e9 * times[n]["median"] / BATCH for n in (tool, "NumPy"))
    print(f"{tool}, {name}: {BATCH} rows {a:.1f} ns a row, NumPy's call {b:.1f} ns: {a / b:.2f}")
    return {f"{name} {tool}": a, f"{name} NumPy": b}


def _cold() -> float:
    code = COLD.format(path=[p for p in sys.path if p])
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def _others() -> dict[str, float]:
    """Libraries whose dynamics are written in JAX, on TALOS: compilation, and a batch."""
    import jax

    robot = robots.robot("TALOS")
    x = states(robot, BATCH)
    ours = lw.compile(robot, lw.inverse_dynamics).jax()
    functions = {"Linkwise": ours, "Linkwise, lower='xla'": lw.compile(robot, lw.inverse_dynamics).jax(lower="xla")}
    functions |= {n: make(robot) for n, make in {"adam": adam, "frax": frax}.items() if find_spec(n)}
    figures = {}
    for name, f in functions.items():
        begin = time.perf_counter()
        call = jax.jit(jax.vmap(f))
        call(*x).block_until_ready()
        first = time.perf_counter() - begin
        begin = time.perf_counter()
        found = call(*x).block_until_ready()
        ns = 1e9 * (time.perf_counter() - begin) / BATCH
        apart = np.abs(np.asarray(found) - np.asarray(ours(*x))).max() / np.abs(np.asarray(found)).max()
        print(f"  {name}: compiled in {first:.2f} s, {ns:.0f} ns a row, apart by {apart:.0e} of the largest")
        figures |= {f"{name} compile": first, f"{name} row": ns}
    return figures


def adam(robot: lw.Robot):
    """Torques by adam-robotics, whose base floats."""
    from adam.jax import KinDynComputations

    g = np.array([0, 0, -9.81, 0, 0, 0])
    dynamics = KinDynComputations(str(robots.path("TALOS")), list(robot.names), gravity=g)
    here, still = np.eye(4), np.zeros(6)

    def torques(q, qd, qdd):
        return dynamics.mass_matrix(here, q)[6:, 6:] @ qdd + dynamics.bias_force(here, q, still, qd)[6:]

    return torques


def frax(robot: lw.Robot):
    """Torques by frax."""
    from frax import Robot

    other = Robot(str(robots.path("TALOS")), joint_ordering=list(robot.names))
    return lambda q, qd, qdd: other.mass_matrix(q) @ qdd + other.nonlinear_bias(q, qd)


def torch() -> dict[str, float]:
    """Batches beside NumPy's call."""
    from torch import tensor

    figures = {}
    for name in robots.FILES:
        figures |= _beside("PyTorch", name, lw.compile(robots.robot(name), lw.inverse_dynamics).torch(), tensor)
    return figures
