"""Ctrl-C at any instant of a compile, a simulation, a plan, a sweep, a walk or a command.

Another process sends SIGINT at a random instant, once for each try. The work ends by KeyboardInterrupt, or with the
motion so far, which says so; then a kernel that was there before and a new one must be right. A command ends
with exit code 130 and without traceback, or was faster.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from verdict import CLEAR, Verdict, same, worst

import linkwise as lw
from linkwise.backend import arrays, native
from papers.two_link_plans import minimum_time, time_and_effort
from support.arms import arm, states

TRIES, QUICK, LONGEST = 1_000, 12, 120.0
SNIPER = """
import os, sys, time
for line in sys.stdin:
    time.sleep(float(line))
    if os.getppid() != int(sys.argv[1]):
        break
    os.kill(int(sys.argv[1]), 2)
"""
PROBLEM = "start = [0.0, -2.0]\ngoal = [1.0, -1.0]\n[minimize]\ntime = 1.0\n[limits]\neffort = true\n"
COMMANDS = (
    "simulate rr --time 20 -o out.npz", "plan rr problem.toml -o out.npz", "info puma560", "check rr puma560",
    "simulate puma560 --plot out.png", "convert puma560 out.urdf", "torque rr motion.csv --rates", "--help",
)  # fmt: skip


class Stage:
    """What was there before, and a process that sends signals to this one."""

    def __init__(self, folder: Path, quick: bool) -> None:
        self.folder, self.quick = folder, quick
        os.environ["LINKWISE_CACHE"] = "off"
        signal.signal(signal.SIGINT, signal.default_int_handler)
        (folder / "problem.toml").write_text(PROBLEM)
        run = lw.simulate(lw.load("rr"), [0.1, 0.2], None, 0.2)
        run.save(folder / "motion.csv")
        self.old, self.x = lw.compile(arm(3)).inverse_dynamics, states(arm(3), 5)
        self.expected = self.old(*self.x)
        self.duration = minimum_time(8, progress=False).duration
        self.works: dict[str, Callable[[random.Random], Any]] = {
            "compile": self.compile, "simulate": self.simulate, "plan": lambda rng: minimum_time(8, progress=False),
            "sweep": self.sweep, "walk": self.walk,
        }  # fmt: skip
        self.lasts: dict[str, float] = {}  # seconds
        self.sniper = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", SNIPER, str(os.getpid())], stdin=subprocess.PIPE, text=True,
            start_new_session=False, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )  # fmt: skip

    def compile(self, rng: random.Random) -> None:
        robot = arm(2, mass=1.0 + rng.random())
        lw.compile(robot, lw.inverse_dynamics_derivatives)(*states(robot, 3))

    def simulate(self, rng: random.Random) -> Any:
        run = lw.simulate(arm(2, mass=1.0 + rng.random()), [0.1, 0.2], None, 0.5)
        run.save(self.folder / "run.npz")
        lw.simulation.Simulation.load(self.folder / "run.npz")
        return run.status

    def sweep(self, rng: random.Random) -> None:
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
            lw.sweep(time_and_effort, [0.0, 0.01, 0.02], executor=executor, progress=False)

    def walk(self, rng: random.Random) -> None:
        lw.walking.walk(solver="scipy", iterations=1, progress=False)


def prepare(folder: Path, quick: bool) -> Stage:
    return Stage(folder, quick)


def draw(stage: Stage, rng: random.Random) -> Callable[[], Verdict]:
    weights = {"compile": 60, "simulate": 20, "plan": 8, "command": 10, "sweep": 2.0, "walk": 2.0}
    if stage.quick:
        weights |= {"sweep": 0.0, "walk": 0.0}
    name = rng.choices(list(weights), list(weights.values()))[0]
    if name == "command":
        return lambda: command(stage, rng)
    return lambda: interrupted(stage, name, rng)


def interrupted(stage: Stage, name: str, rng: random.Random) -> Verdict:
    """Work that gets exactly one SIGINT, at the latest just after its end."""
    work = stage.works[name]
    if name not in stage.lasts:
        begin = time.perf_counter()
        work(rng)
        stage.lasts[name] = time.perf_counter() - begin
    assert stage.sniper.stdin
    stage.sniper.stdin.write(f"{rng.uniform(0.0, stage.lasts[name]):.6f}\n")
    begin = time.perf_counter()
    ended = False
    try:
        stage.sniper.stdin.flush()
        kept = work(rng)
        ended = True
        kept = name in ("plan", "walk") or kept == "interrupted"
        while time.perf_counter() - begin < (stage.lasts[name] + 0.5 if kept else 15.0):
            time.sleep(0.01)
        if not kept:
            return Verdict("wrong", f"{name}: an interrupt got lost")
    except KeyboardInterrupt:
        pass
    return worst([right(stage, rng, f"{name}, {'after' if ended else 'while'}"), alone(name)])


def right(stage: Stage, rng: random.Random, what: str) -> Verdict:
    """Whether an old kernel and a new one are right, and nothing is switched off."""
    if not gc.isenabled():
        return Verdict("wrong", f"{what}: the garbage collector is off")
    if native.backend() != "llvm":
        return Verdict("wrong", f"{what}: native code is no longer used")
    if not np.array_equal(stage.old(*stage.x), stage.expected):
        return Verdict("wrong", f"{what}: a kernel answers differently")
    kernel = lw.compile(arm(2, mass=1.0 + rng.random()), lw.inverse_dynamics)
    x = states(kernel.robot, 3)
    if what.startswith("plan") and rng.random() < 0.2:
        again = minimum_time(8, progress=False).duration
        if not abs(again - stage.duration) < 1e-6:
            return Verdict("wrong", f"{what}: a plan takes {again} s instead of {stage.duration} s")
    left = [p.name for p in stage.folder.iterdir() if p.name.startswith(".")]
    if left:
        return Verdict("wrong", f"{what}: left behind {left[0]}")
    return same(kernel(*x), arrays.function(kernel.program)(*x), 1e-9, f"{what}: a new kernel")


def alone(name: str) -> Verdict:
    """Whether no worker is left."""
    limit = time.perf_counter() + 20.0
    while name == "sweep" and multiprocessing.active_children():
        if time.perf_counter() > limit:
            return Verdict("wrong", "a sweep's workers live on")
        time.sleep(0.05)
    return CLEAR


def command(stage: Stage, rng: random.Random) -> Verdict:
    """A command that is interrupted ends with 130, or was faster; before Linkwise is there, as Python has it."""
    line = rng.choice(COMMANDS)
    process = subprocess.Popen(
        [sys.executable, "-m", "linkwise", *line.split()], cwd=stage.folder, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        time.sleep(rng.uniform(0.02, 1.0))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Verdict("hang", f"linkwise {line}")
    told = err.endswith("linkwise: interrupted\n")  # Python then ends by the signal if it came inside eval or exec
    early = "Traceback" in err and "linkwise/cli" not in err and err.rstrip().endswith("KeyboardInterrupt")
    if (
        (process.returncode in (0, 1, 130) and "Traceback" not in err)
        or early
        or (process.returncode == -2 and (told or not err))
    ):
        return CLEAR
    return Verdict("crash", f"linkwise {line}: exit code {process.returncode}: {err[-600:]}")
