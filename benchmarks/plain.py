"""Calls as they are written first: without `out=`, one row at a time, and over threads."""

from __future__ import annotations

import os
import time

import numpy as np
import robots

import linkwise as lw
from linkwise.peers.times import interleaved, states

BATCHES = (256, 1024, 4096)
LOOP = 128  # rows for Pinocchio, which is called row by row
AIM = 1.2  # times what a call with `out=` takes
ROWS = 65536  # of a batch that is split over threads


def batches(name: str) -> dict:
    """Nanoseconds a row of derivatives of inverse dynamics: a plain call, with `out=`, and Pinocchio in a loop."""
    import pinocchio as pin

    robot, (model, order) = robots.robot(name), robots.pinocchio_model(name)
    kernel, data = lw.compile(robot, lw.inverse_dynamics_derivatives), model.createData()
    candidates, rows = {}, {}
    for batch in BATCHES:
        given = states(robot, batch)
        out = tuple(kernel(*given))
        candidates["plain", batch] = lambda g=given: kernel(*g)
        candidates["out", batch] = lambda g=given, o=out: kernel(*g, out=o)
        rows |= {("plain", batch): batch, ("out", batch): batch}
    given = [np.ascontiguousarray(x[:LOOP, at]) for x, at in zip(given, (order.q, order.v, order.v), strict=True)]

    def loop() -> None:
        for state in zip(*given, strict=True):
            pin.computeRNEADerivatives(model, data, *state)

    candidates["Pinocchio"], rows["Pinocchio"] = loop, LOOP
    return {k: 1e9 * t["best"] / rows[k] for k, t in interleaved(candidates, rounds=15).items()}


def one_call() -> dict:
    """Nanoseconds of single calls of Panda, ours and Pinocchio's."""
    import pinocchio as pin

    robot, (model, order) = robots.robot("Panda"), robots.pinocchio_model("Panda")
    dyn, data, frame = lw.compile(robot), model.createData(), "panda_hand"
    number = model.getFrameId(frame)
    q, qd, qdd = (np.ascontiguousarray(x[0]) for x in states(robot, 1))
    x, v, a = q[order.q], qd[order.v], qdd[order.v]
    tau = np.empty(robot.nv)
    candidates = {
        ("inverse dynamics", "plain"): lambda: dyn.inverse_dynamics(q, qd, qdd),
        ("inverse dynamics", "out"): lambda: dyn.inverse_dynamics(q, qd, qdd, out=tau),
        ("inverse dynamics", "Pinocchio"): lambda: pin.rnea(model, data, x, v, a),
        ("jacobian", "plain"): lambda: dyn.jacobian(q, frame),
        ("jacobian", "Pinocchio"): lambda: pin.computeFrameJacobian(model, data, x, number, pin.LOCAL_WORLD_ALIGNED),
        ("derivatives", "plain"): lambda: dyn.inverse_dynamics_derivatives(q, qd, qdd),
        ("derivatives", "Pinocchio"): lambda: pin.computeRNEADerivatives(model, data, x, v, a),
    }
    assert np.allclose(dyn.jacobian(q, frame)[:, order.v], candidates["jacobian", "Pinocchio"]())
    return {k: 1e9 * t["best"] for k, t in interleaved(candidates, rounds=15).items()}


def threads(rounds: int = 30) -> dict:
    """Seconds by the clock of a large batch on one thread, on two, and on as many as "auto" takes, in turns."""
    robot = robots.robot("Panda")
    found = {}
    for algorithm in (lw.inverse_dynamics, lw.inverse_dynamics_derivatives):
        for rows in (64, 1024, ROWS):
            given = states(robot, rows)
            kernels = {n: lw.compile(robot, algorithm, threads=n) for n in (1, 2, "auto")}
            times: dict = {n: [] for n in kernels}
            repeats = max(1, 4096 // rows)
            for _ in range(rounds):
                for n, kernel in kernels.items():
                    start = time.perf_counter()
                    for _ in range(repeats):
                        kernel(*given)
                    times[n].append((time.perf_counter() - start) / repeats)
            found[algorithm.name, rows] = {n: min(t) for n, t in times.items()}
    return found


def run() -> dict:
    results: dict = {"batches": {}}
    for name in robots.FILES:
        ns = batches(name)
        results["batches"][name] = {str(k): t for k, t in ns.items()}
        for batch in BATCHES:
            plain, out = ns["plain", batch], ns["out", batch]
            print(
                f"{name}, derivatives, batch {batch}: {plain:6.0f} ns a row, with out= {out:6.0f}:"
                f" {plain / out:.2f} times (aim {AIM}); Pinocchio in a loop {ns['Pinocchio']:6.0f}:"
                f" {ns['Pinocchio'] / plain:.1f} times"
            )
    ns = one_call()
    results["one call"] = {" ".join(k): t for k, t in ns.items()}
    for (what, way), t in ns.items():
        if way != "Pinocchio":
            print(f"Panda, one call of {what}, {way}: {t:5.0f} ns, Pinocchio {ns[what, 'Pinocchio']:5.0f} ns")
    print(f"load of the machine before threads: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    found = threads()
    results["threads"] = {f"{name} {rows}": {str(n): t for n, t in row.items()} for (name, rows), row in found.items()}
    for (name, rows), t in found.items():
        print(
            f"Panda, {name}, batch {rows}: {1e6 * t[1]:.0f} us on one thread;"
            f" two {t[1] / t[2]:.2f} times as fast, auto {t[1] / t['auto']:.2f}"
        )
    return results
