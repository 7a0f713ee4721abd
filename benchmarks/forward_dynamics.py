"""Forward dynamics and mass matrices against Pinocchio; costs against the number of joints."""

from __future__ import annotations

import time

import numpy as np
import robots

import linkwise as lw
from linkwise.peers.times import BATCH, interleaved, states

LOOP = 256


def against_pinocchio(name: str) -> dict:
    """Nanoseconds a row of forward dynamics and of the mass matrix, with ratios and disagreement."""
    import pinocchio as pin

    robot = robots.robot(name)
    dyn = lw.compile(robot)
    q, qd, tau = states(robot, BATCH)
    model, order = robots.pinocchio_model(name)
    data, pool = model.createData(), pin.ModelPool(model, 1)
    theirs = [np.asfortranarray(x.T) for x in (q[:, order.q], qd[:, order.v], tau[:, order.v])]
    found, out = np.empty((robot.nv, BATCH), order="F"), np.empty((BATCH, robot.nv))
    M = np.empty((BATCH, robot.nv, robot.nv))
    few = [np.ascontiguousarray(x.T) for x in theirs]
    times = interleaved(
        {
            "forward": lambda: dyn.forward_dynamics(q, qd, tau, out=out),
            "abaInParallel(1)": lambda: pin.abaInParallel(1, pool, *theirs, found),
            "mass matrix": lambda: dyn.mass_matrix(q, out=M),
            "crba, Python loop": lambda: [pin.crba(model, data, x) for x in few[0][:LOOP]],
        },
        rounds=15,
    )
    ns = {k: 1e9 * t["best"] / (LOOP if "loop" in k else BATCH) for k, t in times.items()}
    error = np.abs(found.T[:, order.v_back] - out).max(axis=1) / np.abs(out).max(axis=1)
    return {
        "robot": name, "nv": robot.nv, "ns": ns, "operations": dict(dyn.forward_dynamics.count()),
        "forward": ns["abaInParallel(1)"] / ns["forward"], "mass matrix": ns["crba, Python loop"] / ns["mass matrix"],
        "error": float(error.max()),
    }  # fmt: skip


def growth() -> list[dict]:
    """Chains of revolute joints: operations, time and compile time of the linear route, against the matrix route."""
    found = []
    for n in (6, 12, 24, 48, 96):
        robot = robots.general_chain(n)
        row: dict = {"N": n}
        for route in ("inertia", "articulated"):
            if route == "inertia" and n > 48:
                continue
            start = time.perf_counter()
            kernel = lw.compile(robot, lw.forward_dynamics, route=route)
            q, qd, tau = states(robot, 512)
            kernel(q, qd, tau)
            row[f"{route} compile s"] = time.perf_counter() - start
            count = kernel.count()
            row[f"{route} operations"] = count["mul"] + count["add"]
            call = interleaved({"k": lambda k=kernel, s=(q, qd, tau): k(*s)}, rounds=5)
            row[f"{route} ns"] = 1e9 * call["k"]["best"] / 512
        found.append(row)
    return found


def counts() -> list[dict]:
    """Operations of Nasser's scheme on general chains beside his published ones and the other routes."""
    found = []
    for n in range(2, 11):
        robot = robots.general_chain(n)
        kernels = {
            "Nasser": lw.compile(robot, lw.algorithms.inbound_outbound),
            "inertia matrix": lw.compile(robot, lw.forward_dynamics, route="inertia"),
            "articulated": lw.compile(robot, lw.forward_dynamics, route="articulated"),
        }
        row: dict = {"N": n, "published": (258 * n - 119, 191 * n - 83)}
        for name, kernel in kernels.items():
            count = kernel.count()
            row[name] = (count["mul"], count["add"])
        found.append(row)
    return found


def run() -> list[dict]:
    results: list[dict] = []
    for name in [*robots.FILES, *robots.FLOATING]:
        r = against_pinocchio(name)
        results.append(r)
        ns = {k: f"{v:.0f} ns" for k, v in r["ns"].items()}
        print(f"{name} ({r['nv']}), largest relative difference {r['error']:.1e}:")
        print(f"  forward {ns['forward']}, abaInParallel(1) {ns['abaInParallel(1)']}: {r['forward']:.1f} times")
        print(f"  mass matrix {ns['mass matrix']}, crba {ns['crba, Python loop']}: {r['mass matrix']:.1f} times")
    for row in growth():
        results.append(row)
        print("chain " + ", ".join(f"{k} {v:.0f}" if v > 10 else f"{k} {v:.2f}" for k, v in row.items()))
    print("mul/add of general chains: N, published, Nasser as traced, inertia matrix, articulated")
    for row in counts():
        results.append(row)
        print("  ", *row.values())
    return results
