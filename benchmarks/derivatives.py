"""Derivatives of inverse and forward dynamics against Pinocchio's, dense and packed, their operations, first calls."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import robots
import startup

import linkwise as lw
from linkwise.peers.times import interleaved, states

BATCHES = (1024, 4096)
LOOP = 128  # rows for Pinocchio, which is called row by row
AIMS = {"inverse": {"Panda": 15, "UR5": 25, "TALOS": 7}, "forward": {"Panda": 12, "UR5": 15, "TALOS": 6}}
ALGORITHMS = {"inverse": lw.inverse_dynamics_derivatives, "forward": lw.forward_dynamics_derivatives}


def theirs(name: str, kind: str, given: tuple[np.ndarray, ...]):
    """A loop of Pinocchio's derivatives over the first rows, and its answers for one row in our order."""
    import pinocchio as pin

    model, order = robots.pinocchio_model(name)
    data = model.createData()
    rows = [np.ascontiguousarray(x[:LOOP, at]) for x, at in zip(given, (order.q, order.v, order.v), strict=True)]
    compute = {"inverse": pin.computeRNEADerivatives, "forward": pin.computeABADerivatives}[kind]

    def loop() -> None:
        for state in zip(*rows, strict=True):
            compute(model, data, *state)

    def answer(row: int) -> list[np.ndarray]:
        compute(model, data, *(x[row] for x in rows))
        fields = ("dtau_dq", "dtau_dv", "M") if kind == "inverse" else ("ddq_dq", "ddq_dv", "Minv")
        found = [np.array(getattr(data, f)) for f in fields]
        found[2] = np.triu(found[2]) + np.triu(found[2], 1).T
        return [x[np.ix_(order.v_back, order.v_back)] for x in found]

    return loop, answer


def compared(name: str) -> list[dict]:
    """Nanoseconds a row of all kernels and batches of one robot in one interleaved run, with ratios and differences."""
    robot = robots.robot(name)
    candidates, found = {}, []
    for kind, algorithm in ALGORITHMS.items():
        kernel = lw.compile(robot, algorithm)
        for batch in BATCHES:
            given = states(robot, batch)
            out = kernel(*given)
            candidates[kind, batch] = lambda k=kernel, g=given, o=out: k(*g, out=tuple(o))
            candidates[kind, batch, "plain"] = lambda k=kernel, g=given: k(*g)
            candidates[kind, batch, "packed"] = lambda k=kernel.packed, g=given: k(*g)
        loop, answer = theirs(name, kind, given)
        candidates[kind, "Pinocchio"] = loop
        worst = 0.0
        for row in range(8):
            for ours, expected in zip(out, answer(row), strict=True):
                worst = max(worst, float(np.abs(ours[row] - expected).max() / np.abs(expected).max()))
        routes = {r: lw.compile(robot, algorithm, route=r).count() for r in ("recursion", "graph")}
        found.append({
            "robot": name, "nv": robot.nv, "kind": kind, "error": worst, "aim": AIMS[kind][name],
            "values": kernel.packed.outputs["values"][0],
            "operations": {r: {"mul": c["mul"], "add": c["add"], "div": c["div"]} for r, c in routes.items()},
        })  # fmt: skip
    times = interleaved(candidates, rounds=15)
    for row in found:
        kind = row["kind"]
        row["ns"] = {b: 1e9 * times[kind, b]["best"] / b for b in BATCHES}
        for way in ("plain", "packed"):
            row[way] = {b: 1e9 * times[kind, b, way]["best"] / b for b in BATCHES}
        row["ns"]["Pinocchio, loop"] = 1e9 * times[kind, "Pinocchio"]["best"] / LOOP
        row["ratio"] = {b: row["ns"]["Pinocchio, loop"] / row["ns"][b] for b in BATCHES}
    return found


def packed_floating(name: str = "TALOS", batch: int = 1024) -> dict:
    """Nanoseconds a row of packed derivatives of a robot on a floating base, beside the dense ones."""
    robot = lw.load(robots.path(name), base="floating").without_friction()
    given, candidates = states(robot, batch), {}
    for kind, algorithm in ALGORITHMS.items():
        kernel = lw.compile(robot, algorithm)
        out = tuple(kernel(*given))
        candidates[kind, "dense"] = lambda k=kernel, o=out: k(*given, out=o)
        candidates[kind, "packed"] = lambda k=kernel.packed: k(*given)
    times = interleaved(candidates, rounds=15)
    return {f"{kind}, {way}": 1e9 * x["best"] / batch for (kind, way), x in times.items()}


def first_calls(member: str = "inverse_dynamics_derivatives", repeats: int = 3) -> dict:
    """Seconds until TALOS's derivatives are there: with an empty cache, and with a filled one, in fresh processes."""
    with tempfile.TemporaryDirectory() as cache:
        cold = []
        for k in range(repeats):
            folder = Path(cache) / str(k)
            folder.mkdir(mode=0o700)
            cold.append(startup.probe("TALOS", str(folder), member=member)[2])
        filled = str(Path(cache) / "0")
        warm, ready = (
            min(startup.probe("TALOS", filled, ready=known, member=member)[2] for _ in range(repeats))
            for known in (False, True)
        )
    return {
        "robot": "TALOS",
        "member": member,
        "cold": min(cold),
        "warm": warm,
        "warm, llvmlite imported before": ready,
    }


def run() -> dict:
    results = []
    for name in AIMS["inverse"]:
        for row in compared(name):
            results.append(row)
            counts = ", ".join(f"{r} {c['mul']} mul {c['add']} add" for r, c in row["operations"].items())
            print(f"{row['robot']} ({row['nv']}), {row['kind']}: {counts}; differs by {row['error']:.1e}")
            ns = row["ns"]
            for b in BATCHES:
                print(
                    f"  batch {b}: {ns[b]:7.0f} ns, Pinocchio in a loop {ns['Pinocchio, loop']:7.0f} ns:"
                    f" {row['ratio'][b]:5.1f} times (aim {row['aim']}); without out= {row['plain'][b]:.0f} ns,"
                    f" packed {row['packed'][b]:.0f} ns"
                )
    floating = packed_floating()
    print("TALOS on a floating base: " + ", ".join(f"{what} {ns:.0f} ns" for what, ns in floating.items()))
    starts = first_calls()
    print(
        f"TALOS, first call of {starts['member']}: {starts['cold']:.2f} s, from the cache {starts['warm']:.2f} s,"
        f" or {starts['warm, llvmlite imported before']:.2f} s where llvmlite is imported already"
    )
    return {"derivatives": results, "floating": floating, "first call": starts}
