"""Pages that show robots: whether they do, how long they take to write, how large they are, how fast they move.

Every file of example-robot-data that loads is written with its meshes, opened in Chromium without a graphics card, and
read back: poses against `dyn.poses`, the share of the picture that the robot covers, and what the console said.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import robots

import linkwise as lw
from linkwise.motion.columns import column_names
from linkwise.robot.geometry import missing_meshes
from linkwise.view.page import view

sys.path.append(str(Path(__file__).parents[1] / "tests"))
READY = "linkwise.ready.then(() => true)"
WRITE = """
import sys, time
start = time.perf_counter()
import linkwise as lw
robot = lw.load(sys.argv[1])
loaded = time.perf_counter()
robot.view(sys.argv[2])
print(time.perf_counter() - loaded, time.perf_counter() - start)
"""


def run() -> dict[str, Any]:
    """Everything; prints a line for each figure."""
    with tempfile.TemporaryDirectory() as folder:
        results = {"write": writing(Path(folder)), "speed": speed(Path(folder)), "robots": every(Path(folder))}
    return results


def panda() -> Path:
    return next(robots.ROBOTS.rglob("panda.urdf"))


def writing(folder: Path, rounds: int = 5) -> dict[str, Any]:
    """Seconds and bytes of the page of Panda with its meshes, in a running process and in new ones."""
    page, robot, seconds, processor = folder / "panda.html", lw.load(panda()), [], []
    for _ in range(rounds):
        start, begin = time.perf_counter(), time.process_time()
        robot.view(page)
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - begin)
    cold = [
        [float(x) for x in subprocess.check_output([sys.executable, "-c", WRITE, str(panda()), str(page)]).split()]
        for _ in range(3)
    ]
    whole, beside = page.stat().st_size, robot.view(folder / "bare.html", meshes=False).stat().st_size
    print(f"page of Panda with meshes: {min(seconds):.2f} s (processor {min(processor):.2f} s), best of {rounds};")
    print(f"  in a new process {min(c[0] for c in cold):.2f} s, with import and load {min(c[1] for c in cold):.2f} s")
    print(f"  {whole / 1e6:.2f} MB, of which beside meshes {beside / 1e6:.2f} MB")
    return {"seconds": seconds, "processor": processor, "cold": cold, "bytes": whole, "beside meshes": beside}


def speed(folder: Path) -> list[dict[str, Any]]:
    """Frames a second while simulations of 1000 rows are played, 800 x 600, drawn by the processor."""
    from support.browser import Opened, browser

    results = []
    t = np.linspace(0.0, 5.0, 1000)
    arm = lw.load(panda())
    held = arm.q({"panda_joint2": 0.4, "panda_joint4": -1.8, "panda_joint6": 1.6})
    cases = {"Panda with meshes": (arm, held), "arm7, no meshes": (lw.load("arm7"), lw.load("arm7").q() + 0.3)}
    with browser() as running:
        for name, (robot, q) in cases.items():
            page = lw.simulate(robot, q, None, t).view(folder / "motion.html")
            with Opened(running, page) as opened:
                opened.ask(READY)
                opened.ask("linkwise.play()")
                time.sleep(1.0)
                frames, start, busy = opened.ask("linkwise.frames"), time.perf_counter(), processor_time()
                time.sleep(6.0)
                count, seconds = opened.ask("linkwise.frames") - frames, time.perf_counter() - start
                busy = processor_time() - busy
            result = {"case": name, "frames a second": count / seconds, "processor ms": 1e3 * busy / max(count, 1)}
            results.append(result)
            print(f"{name}: {count / seconds:.1f} frames a second, {result['processor ms']:.0f} ms of processor each")
    return results


def processor_time() -> float:
    """Seconds that the processes below this one have used so far."""
    used, children = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
        used[int(stat.parent.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    below = children.get(os.getpid(), [])
    for child in below:
        below.extend(children.get(child, []))
    return sum(used[p] for p in below)


def every(folder: Path) -> list[dict[str, Any]]:
    """A page of every file that loads."""
    from support.browser import browser

    with browser() as running:
        results = list(_pages(running, folder))
    good = [r for r in results if not r["console"] and r["covered"] > 0.005 and r["apart"] < 1e-6]
    print(f"{len(good)} of {len(results)} robots that load are shown: no word on the console, the robot is seen;")
    covers, seconds = (sorted(r[key] for r in results) for key in ("covered", "seconds"))
    print(f"  poses apart by {max(r['apart'] for r in results):.1e} at most;")
    print(f"  robots cover {covers[0]:.1%} to {covers[-1]:.1%} of the picture;")
    print(f"  written in {seconds[len(seconds) // 2]:.2f} s (median), {seconds[-1]:.2f} s (longest)")
    for r in results:
        if r not in good or r["missing"]:
            print(f"  {r['file']}: {r['console'] or ''} covers {r['covered']:.1%}, meshes missing: {r['missing']}")
    return results


def _pages(running: Any, folder: Path) -> Iterator[dict[str, Any]]:
    from support.browser import Opened
    from support.pictures import covered, poses_apart

    rng = np.random.default_rng(1)
    for path in sorted(robots.ROBOTS.rglob("*.urdf")):
        try:
            robot = lw.load(path)
        except lw.LinkwiseError as error:
            print(f"  not loaded: {error}")
            continue
        t, q = np.arange(4.0), robot.q() + 0.2 * rng.uniform(-1.0, 1.0, (4, robot.nq))
        motion = {"t": t, **dict(zip(column_names(robot, "q"), q.T, strict=True))} if robot.nq else None
        start = time.perf_counter()
        page = view(robot, motion, folder / "robot.html")
        seconds = time.perf_counter() - start
        with Opened(running, page) as opened:
            opened.page.goto(f"{page.as_uri()}#panel=0&plots=0")
            opened.page.reload()
            opened.ask(READY)
            apart, seen = poses_apart(opened, robot, t, q), covered(opened)
            said = list(opened.console)
        yield {"file": path.name, "seconds": seconds, "bytes": page.stat().st_size, "apart": apart, "covered": seen,
               "console": said, "missing": len(missing_meshes(robot))}  # fmt: skip


if __name__ == "__main__":
    run()
