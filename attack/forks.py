"""Processes forked while a thread of their parent compiles, and pools: children compile, and answer."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from verdict import CLEAR, Verdict

import linkwise as lw
from support.arms import arm, states

TRIES, QUICK, LONGEST = 220, 4, 120.0
PATIENCE = 40  # seconds that a child may take
X = states(arm(3), 5)


def prepare(folder: Path, quick: bool) -> None:
    os.environ["LINKWISE_CACHE"] = "off"


def draw(stage: None, rng: random.Random) -> Callable[[], Verdict]:
    act = pooled if rng.random() < 0.1 else forked
    return lambda: act(rng)


@contextlib.contextmanager
def compiling(rng: random.Random) -> Iterator[None]:
    """A block during which a thread compiles one kernel after the other."""
    ended, begun = threading.Event(), threading.Event()
    masses = [1.0 + rng.random() for _ in range(100)]

    def work() -> None:
        for mass in masses:
            if ended.is_set():
                break
            begun.set()
            kernels = lw.compile(arm(4, mass=mass))
            kernels.forward_dynamics_derivatives(*states(arm(4), 3))

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def answers(mass: float) -> bool:
    """Whether new kernels are right: acceleration after torque after acceleration."""
    q, qd, qdd = X
    kernels = lw.compile(arm(3, mass=mass))
    back = kernels.forward_dynamics(q, qd, kernels.inverse_dynamics(q, qd, qdd))
    return gc.isenabled() and np.allclose(back, qdd, rtol=1e-7, atol=1e-7)


def forked(rng: random.Random) -> Verdict:
    mass = 1.0 + rng.random()
    with compiling(rng):
        time.sleep(rng.uniform(0.0, 0.15))
        pid = os.fork()
        if pid == 0:
            code = 3
            try:
                signal.alarm(PATIENCE)
                code = 0 if answers(mass) else 1
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if not answers(mass + 1.0):
        return Verdict("wrong", "the parent answers wrongly after a fork")
    if code == -signal.SIGALRM:
        return Verdict("hang", f"a child did not answer within {PATIENCE} s")
    ends = {0: CLEAR, 1: Verdict("wrong", "a child answers wrongly")}
    return ends.get(code, Verdict("crash", f"a child ended with {code}"))


def pooled(rng: random.Random) -> Verdict:
    masses = [1.0 + rng.random() for _ in range(4)]
    with compiling(rng), multiprocessing.get_context("fork").Pool(2) as pool:
        try:
            found = pool.map_async(answers, masses).get(PATIENCE)
        except multiprocessing.TimeoutError:
            return Verdict("hang", f"a pool did not answer within {PATIENCE} s")
    return CLEAR if all(found) else Verdict("wrong", "workers of a pool answer wrongly")
