"""Rollouts of 4096 rows over 1000 steps beside MuJoCo's; linearizations of steps beside that of continuous time."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import robots

import linkwise as lw
from linkwise.peers.times import interleaved, states

ROWS, STEPS, DT = 4096, 1000, 1e-3
FEW = 32, 100  # rows and steps of MuJoCo's
STATES, CALLS = 1024, 1000


def speeds(name: str) -> dict:
    """Steps a second on one core beside MuJoCo's rollout of the same model without contacts, semi-implicit Euler.

    Both start from the same states, without torques; `error` is the largest relative difference of accelerations there.
    The first call includes what it takes to compile, or to find the code in the cache.
    """
    import mujoco
    from mujoco import rollout as theirs

    robot = robots.robot(name)
    q, qd, _ = states(robot, ROWS)
    u = np.broadcast_to(np.zeros(robot.nv), (ROWS, STEPS, robot.nv))
    start = time.perf_counter()
    rollout = lw.compile_rollout(robot, method="euler")
    made = time.perf_counter() - start
    rollout(q, qd, u, DT, keep="end")
    first = time.perf_counter() - start - made

    model, order = robots.mujoco_model(name)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_EULER, DT
    rows, steps = FEW
    state = np.zeros((rows, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    qpos, qvel = robots.mujoco_state(name, order, q[:rows], qd[:rows])
    state[:, 1 : 1 + model.nq], state[:, 1 + model.nq : 1 + model.nq + model.nv] = qpos, qvel
    data = mujoco.MjData(model)
    out = np.empty((ROWS, STEPS // 10, robot.nq)), np.empty((ROWS, STEPS // 10, robot.nv))
    times = interleaved(
        {
            "end only": lambda: rollout(q, qd, u, DT, keep="end"),
            "every tenth": lambda: rollout(q, qd, u, DT, every=10, out=out),
            "mujoco": lambda: theirs.rollout(model, [data], state, nstep=steps),
        },
        rounds=5,
    )
    rates = {k: (rows * steps if k == "mujoco" else ROWS * STEPS) / t["best"] for k, t in times.items()}
    rates["first call"] = ROWS * STEPS / first
    tracemalloc.start()
    rollout(q, qd, u, DT, keep="end")
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    qdd = lw.compile(robot).forward_dynamics(q[:rows], qd[:rows], np.zeros((rows, robot.nv)))
    error = 0.0
    for x, v, mine in zip(qpos, qvel, robots.mujoco_acceleration(name, order, q[:rows], qd[:rows], qdd), strict=True):
        data.qpos[:], data.qvel[:] = x, v
        mujoco.mj_forward(model, data)
        error = max(error, float(np.abs(mine - data.qacc).max() / np.abs(data.qacc).max()))
    return {
        "robot": name, "steps/s": rates, "ratio": rates["end only"] / rates["mujoco"], "error": error,
        "trace s": made, "MB of the end": memory / 1e6,
    }  # fmt: skip


def linearizations(name: str) -> dict:
    """Nanoseconds a row of the matrices of a step, and as a multiple of those of continuous time."""
    robot = robots.robot(name)
    dyn = lw.compile(robot)
    state = states(robot, STATES)
    calls = {"continuous": lambda: dyn.linearization(*state)}
    for method in ("euler", "rk4"):
        step = lw.compile_rollout(robot, method=method).linearization
        calls[method] = lambda step=step: step(*state, DT)
    times = interleaved(calls, rounds=9)
    ns = {k: 1e9 * t["best"] / STATES for k, t in times.items()}
    return {"robot": name, "ns": ns, "ratios": {k: ns[k] / ns["continuous"] for k in ("euler", "rk4")}}


def one_step(name: str) -> dict:
    """Microseconds of a call for one row: of a step, and of forward dynamics alone."""
    robot = robots.robot(name)
    dyn, step = lw.compile(robot), lw.compile_rollout(robot, method="euler").step
    state = [x[0] for x in states(robot, 1)]
    times = interleaved(
        {
            "step": lambda: [step(*state, DT) for _ in range(CALLS)],
            "forward dynamics": lambda: [dyn.forward_dynamics(*state) for _ in range(CALLS)],
        },
        rounds=9,
    )
    return {"robot": name, "us": {k: 1e6 * t["best"] / CALLS for k, t in times.items()}}


def run() -> list[dict]:
    results: list[dict] = []
    for name in ("Panda", *robots.FLOATING):
        r = speeds(name)
        results.append(r)
        rates = ", ".join(f"{k} {x / 1e6:.3g}" for k, x in r["steps/s"].items())
        print(f"{name}, {ROWS} rows of {STEPS} steps, M steps/s: {rates}: {r['ratio']:.1f} times MuJoCo,")
        print(f"  accelerations differ by {r['error']:.1e}; traced in {r['trace s']:.2f} s", end="")
        print(f", the end alone takes {r['MB of the end']:.1f} MB beside the inputs")
        r = linearizations(name)
        results.append(r)
        ns = ", ".join(f"{k} {x:.0f} ns" for k, x in r["ns"].items())
        print(f"  linearization: {ns}: euler {r['ratios']['euler']:.2f}, rk4 {r['ratios']['rk4']:.1f} times as long")
        r = one_step(name)
        results.append(r)
        print("  one row: " + ", ".join(f"{k} {x:.2f} us" for k, x in r["us"].items()))
    return results
