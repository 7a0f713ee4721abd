"""Mass matrices and derivatives against the arithmetic limit of one core.

The limit of a row is the sum of three parts: its instructions, each at the rate at which the core issues fused
multiply-adds, where a product used once by an addition is fused with it and a division counts as four; its sines and
cosines; and the bytes of its outputs, zeros too, at the rate of stores that stream past the caches. Outputs that fit
into a cache are written faster than that, so a ratio can be below one; the ratio to arithmetic alone stands beside it.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import peak
import robots

import linkwise as lw
from linkwise.graph.program import Program
from linkwise.kernel.robot_tracing import DIVISION
from linkwise.peers.times import interleaved, states

BATCH = 4096
ROUNDS = 25
MEMBERS = ("mass_matrix", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
AIMS = {"Panda": 1.6, "ANYmal C": 1.6, "TALOS floating": 1.9, "general 24R": 1.9}


def instructions(program: Program) -> int:
    """How many instructions are left when products that one addition uses are fused with it; no sines and cosines."""
    uses = Counter(a.index for n in program.schedule for a in n.args)
    uses.update(n.index for group in program.results for n in group)

    def fused(n) -> bool:
        return n.op in ("add", "sub") and any(a.op == "mul" and uses[a.index] == 1 for a in n.args)

    count = program.count()
    pairs = sum(fused(n) for n in program.schedule)
    return count["mul"] + count["add"] + DIVISION * count["div"] - pairs


def run() -> list[dict]:
    flops, bandwidth, sincos = peak.peak_flops(), peak.peak_bytes(), peak.sincos_seconds()
    print(
        f"peak {1e-9 * flops:.1f} Gflop/s, streaming stores {1e-9 * bandwidth:.1f} GB/s, a sine and cosine"
        f" {1e9 * sincos:.2f} ns"
    )
    found = []
    for name, aim in AIMS.items():
        robot = robots.general_chain(24) if name == "general 24R" else robots.robot(name)
        candidates, rows = {}, []
        for member in MEMBERS:
            kernel = lw.compile(robot, getattr(lw.algorithms, member))
            given = states(robot, BATCH)[: len(kernel.inputs)]
            out = tuple(np.empty((BATCH, *shape)) for shape in kernel.outputs.values())
            candidates[member] = lambda k=kernel, g=given, o=out: k(*g, out=o if len(o) > 1 else o[0])
            parts = {
                "operations": 2 * instructions(kernel.program) / flops,
                "sines": kernel.count()["sincos"] * sincos,
                "bytes": sum(8 * p.size for p in kernel.program.outputs) / bandwidth,
            }
            rows.append({"robot": name, "member": member, "limit": {k: 1e9 * x for k, x in parts.items()}, "aim": aim})
        times = interleaved(candidates, rounds=ROUNDS)
        for row in rows:
            row["ns"] = 1e9 * times[row["member"]]["best"] / BATCH
            whole = sum(row["limit"].values())
            row["ratio"] = row["ns"] / whole
            row["ratio to arithmetic"] = row["ns"] / (whole - row["limit"]["bytes"])
            parts = " + ".join(f"{x:.0f} {k}" for k, x in row["limit"].items())
            print(
                f"{name:15}{row['member']:30}{row['ns']:7.0f} ns, limit {whole:6.0f} ({parts}):"
                f" {row['ratio']:5.2f} times (aim {aim}), {row['ratio to arithmetic']:5.2f} without bytes",
                flush=True,
            )
        found += rows
    return found
