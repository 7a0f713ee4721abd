"""Walking: time to a predicted walk by each solver, the source's size, strides, and a table of people and speeds.

python benchmarks/run.py walking
"""

from __future__ import annotations

import os
import tempfile
import time

from linkwise.walking import Person, walk
from linkwise.walking.problem import Problem
from linkwise.walking.result import Walk
from papers.walking import BACKPACKS, SPEEDS

PEOPLE = ((50.0, 1.60, "female"), (60.0, 1.65, "female"), (80.0, 1.80, "male"), (100.0, 1.90, "male"))
PUBLISHED = 34.10  # seconds, on the machine of the source


def cold() -> float:
    """Seconds until the kernel of walking is there, with an empty cache."""
    before = os.environ.get("LINKWISE_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LINKWISE_CACHE"] = folder
        began = time.perf_counter()
        _ = Problem(Person()).along
        seconds = time.perf_counter() - began
    if before is None:
        del os.environ["LINKWISE_CACHE"]
    else:
        os.environ["LINKWISE_CACHE"] = before
    return seconds


def line(name: str, w: Walk) -> dict:
    """A solve in one line."""
    seconds, cpu, inside = (sum(getattr(p, k) for p in w.phases) for k in ("seconds", "cpu", "callbacks"))
    count = "+".join(str(p.iterations) for p in w.phases)
    size = f"{w.size[0]:4} variables {w.size[1]:5} rows {w.active:4} active  {count:>8} iterations"
    spent = f"{seconds:5.1f} s (cpu {cpu:5.1f})  in functions {100 * inside / seconds:2.0f} %"
    print(f"{name:24} {w.status:9} {size}  {spent}  J {w.objective:.4f}")
    return {"status": w.status, "seconds": seconds, "cpu": cpu, "callbacks": inside, "objective": w.objective}


def run() -> dict:
    found: dict = {"cold kernel, s": cold()}
    print(f"kernel, nothing cached: {found['cold kernel, s']:.1f} s")
    walk(progress=False, iterations=1)
    began = time.perf_counter()
    walk(progress=False, iterations=1)
    print(f"set-up of a problem, cached: {time.perf_counter() - began:.2f} s; published solve {PUBLISHED} s")
    for solver in ("ipopt", "uno", "scipy"):
        found[solver] = line(f"base case, {solver}", walk(speed=1.2, step=0.6, solver=solver, progress=False))
    found["smooth"] = line("smooth case, ipopt", walk(speed=1.2, step=0.6, smooth=True, progress=False))
    found["whole"] = line("size of the source", walk(speed=1.2, step=0.6, whole=True, progress=False))
    for limit in (90.0, 60.0):
        weak = Person(limits={"ankle_l": limit})
        found[f"ankle {limit:g}"] = line(f"left ankle {limit:g} N m", walk(weak, speed=1.2, step=0.6, progress=False))
    found["table"] = table()
    return found


def table() -> list[dict]:
    """Speeds, loads, people."""
    cases: list[tuple[str, dict]] = [(f"{v:g} m/s", {"speed": v, "step": step}) for v, step in SPEEDS.items()]
    cases += [(f"backpack {m:g} kg", {"person": Person().with_backpack(m)}) for m in BACKPACKS]
    cases += [(f"{m:g} kg, {h:g} m, {sex}", {"person": Person(m, h, sex)}) for m, h, sex in PEOPLE]
    rows = []
    peaks = f"{'peak vertical':>13} {'peak knee':>9}"
    print(f"{'smooth walks':24} {'status':9} {'effort':>7} {peaks}  drift mm  slip m/s  ZMP mm  cpu s")
    for name, given in cases:
        w = walk(smooth=True, progress=False, **given)
        f, seen = w.features(), w.audit()
        top = max(f["vertical_first"], f["vertical_second"])
        rows.append({"case": name, "status": w.status, "effort": w.effort, "vertical": top, "knee": f["knee_force"]})
        print(f"{name:24} {w.status:9} {w.effort:7.4f} {top:13.2f} {f['knee_force']:9.2f}  {1e3 * seen.drift:8.2f}"
              f"  {seen.slip:8.3f}  {1e3 * max(0.0, seen.zmp):6.1f}  {sum(p.cpu for p in w.phases):5.1f}")  # fmt: skip
    return rows
