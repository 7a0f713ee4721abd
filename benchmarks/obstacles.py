"""Panda among obstacles: the problems of VAMP's source distribution, each as a plan with torques and all limits.

OBSTACLES=20 takes one problem of 20; without it one of 10, and with 1 all 700. SCENES=box,cage takes these sets alone.
"""

from __future__ import annotations

import os
import time

import numpy as np
import vamp

import linkwise as lw

AIM = "at least 95 % solved, median at most 2 s, no collision on a grid ten times finer"
FINE = 10 * 8 * 3  # instants in every span of a curve: ten times those at which a plan is judged


def robot(folder):
    """Panda as 59 spheres, with masses and limits of the same file, and the pairs to leave out."""
    panda = lw.load(folder / "panda_spherized.urdf")
    return panda, vamp.ignored(folder, panda)


def solved(panda: lw.Robot, ignore: list, task: vamp.Task) -> dict:
    """What a plan of one task takes and gives."""
    clear = lw.limit.clearance(task.obstacles, ignore=ignore)
    began, busy = time.perf_counter(), time.process_time()
    try:
        plan = lw.plan(panda, task.start, task.goal, subject_to=clear, progress=False)
    except lw.LinkwiseError as error:
        return {"task": task.name, "refused": str(error)}
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    t = plan.curve.basis.grid(FINE) * plan.duration
    limits = [panda.joint(name).limits for name in panda.names]
    used = {
        "effort": np.abs(plan.tau(t)) / [x.effort for x in limits],
        "velocity": np.abs(plan.qd(t)) / [x.velocity for x in limits],
    }
    least = float(plan.distance(t).min())
    return {
        "task": task.name, "status": plan.status, "seconds": seconds, "cpu": busy, "duration": plan.duration,
        "used": {name: float(x.max()) for name, x in used.items()}, "least": least,
        "certified": plan.clearance.distance, "rounds": plan.facts["rounds"],
    }  # fmt: skip


def row(r: dict) -> str:
    """One task in a line."""
    if "refused" in r:
        return f"  {r['task']:22s} refused: {r['refused']}"
    near = f"least {1e3 * r['least']:6.2f} mm, proven {1e3 * r['certified']:6.2f} mm"
    spent = f"{r['seconds']:6.2f} s, of the processor {r['cpu']:6.2f} s"
    return (
        f"  {r['task']:22s} {r['status']:10s} {spent}, motion {r['duration']:.3f} s, {near},"
        f" effort {r['used']['effort']:.4f}"
    )


def run() -> dict:
    folder = vamp.folder()
    if folder is None:
        print(f"{vamp.FOLDER} is not here: set VAMP to the folder of the unpacked source distribution")
        return {}
    panda, ignore = robot(folder)
    rows = []
    scenes = os.environ.get("SCENES", "").split(",")
    for task in vamp.tasks(folder, int(os.environ.get("OBSTACLES", "10"))):
        if scenes != [""] and task.name.split()[0] not in scenes:
            continue
        rows.append(solved(panda, ignore, task))
        print(row(rows[-1]), flush=True)
    tried = [r for r in rows if "refused" not in r]
    good = [r for r in tried if r["least"] > 0.0 and max(r["used"].values()) <= 1.0 + 1e-3]
    seconds = np.array([r["seconds"] for r in tried])
    print(f"{len(rows)} tasks, {len(rows) - len(tried)} with an end that touches something, refused")
    print(
        f"{len(good)} of {len(tried)} solved ({len(good) / len(tried):.1%}),"
        f" {sum(r['status'] == 'converged' for r in tried)} converged, {sum(r['least'] <= 0.0 for r in tried)} collide;"
        f" seconds: median {np.median(seconds):.2f}, 90 % {np.percentile(seconds, 90):.2f},"
        f" most {seconds.max():.2f}; of the processor: median {np.median([r['cpu'] for r in tried]):.2f} (aim: {AIM})"
    )
    return {"obstacles": rows}
