"""Robots and requests that are too large, under a limit of memory and time: refused in words, or done.

Each try is a forked child that may take 3 GB. It ends with a right answer, a LinkwiseError, or MemoryError where an
array that was asked for does not fit.
"""

from __future__ import annotations

import json
import os
import random
import resource
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from verdict import CLEAR, Verdict, crashed, said, same

import linkwise as lw
from linkwise.errors import LinkwiseError
from papers.two_link_plans import minimum_time
from support.arms import arm

TRIES, QUICK, LONGEST = 120, 6, 200.0
MEMORY, SECONDS = 3 << 30, 120.0


def prepare(folder: Path, quick: bool) -> bool:
    """Whether only what is soon refused is asked for."""
    os.environ["LINKWISE_CACHE"] = "off"
    return quick


def draw(quick: bool, rng: random.Random) -> Callable[[], Verdict]:
    name = rng.choice([n for n in REQUESTS if not (quick and n in LONG)])
    request = REQUESTS[name]
    return lambda: apart(lambda: judged(name, lambda: request(rng)))


def judged(name: str, act: Callable[[], Any]) -> Verdict:
    try:
        found = act()
    except LinkwiseError as error:
        return said(str(error), ("expected", "unknown", "stopped", "too big"))
    except MemoryError:
        return CLEAR
    except Exception as error:
        kind, why = crashed(error)
        return Verdict(kind, f"{name}: {why}")
    return found if isinstance(found, Verdict) else CLEAR


def apart(act: Callable[[], Verdict]) -> Verdict:
    """The verdict of a child with little memory."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(ours)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            os.write(theirs, json.dumps(act()).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    begin, data = time.monotonic(), b""
    while time.monotonic() - begin < SECONDS and select.select([ours], [], [], 1.0 + SECONDS)[0]:
        piece = os.read(ours, 1 << 16)
        data += piece
        if not piece:
            break
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(ours)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if data:
        return Verdict(*json.loads(data))
    return (
        Verdict("hang", f"no end within {SECONDS:g} s")
        if code == -signal.SIGKILL
        else Verdict("crash", f"a child ended with {code}")
    )


# ---- requests


def chain(rng: random.Random) -> Any:
    """A kernel of a long chain; torques are compared with plain Python."""
    n = rng.choice((60, 120, 250))
    algorithm = rng.choice((lw.inverse_dynamics, lw.mass_matrix, lw.forward_dynamics, lw.inverse_dynamics_derivatives))
    robot = arm(n, mass=0.1)
    kernel = lw.compile(robot, algorithm)
    x = [np.random.default_rng(n).uniform(-0.1, 0.1, n) for _ in kernel.inputs]
    found = kernel(*x)
    if algorithm is lw.inverse_dynamics:
        return same(found, lw.inverse_dynamics.plain(robot, *(a.tolist() for a in x)), 1e-9, f"torques of {n} joints")
    return found


def too_large(rng: random.Random) -> Any:
    """A question whose answer has too many numbers to be written down."""
    n = rng.choice((1000, 3000))
    algorithm = rng.choice(
        (
            lw.algorithms.inverse_dynamics_hessian,
            lw.regressor,
            lw.algorithms.coriolis_matrix,
            lw.algorithms.linearization,
            lw.algorithms.kinematics_derivatives,
        )
    )
    return lw.compile(arm(n, mass=0.1), algorithm)


def rows(rng: random.Random) -> Any:
    """A batch that does not fit into memory."""
    kernel = lw.compile(arm(3), rng.choice((lw.inverse_dynamics, lw.mass_matrix)), threads=rng.choice((1, 2)))
    wide = np.broadcast_to(np.zeros(3), (rng.choice((10**9, 10**10, 10**12, 2**57)), 3))
    return kernel(*[wide] * len(kernel.inputs))


def simulated(rng: random.Random) -> Any:
    t = rng.choice((1e300, 1e9, -1.0, np.broadcast_to(0.0, 2**40), 10**400, np.inf))
    return lw.simulate(lw.load("rr"), [0.1, 0.2], None, t, time_limit=2.0, max_steps=rng.choice((None, 100, 2**70)))


def planned(rng: random.Random) -> Any:
    how = rng.choice(({"control_points": 10**9}, {"iterations": 2**40}, {"time_limit": 1e-9}, {"iterations": 10**30}))
    return minimum_time(**{"control_points": 8, "progress": False, **how})


def rolled(rng: random.Random) -> Any:
    rollout = lw.compile_rollout(lw.load("rr"))
    forces = np.broadcast_to(np.zeros(2), (rng.choice((10**11, 10**12, 2**58)), 2))
    return rollout([0.1, 0.2], [0.0, 0.0], forces, 0.01)


def retimed(rng: random.Random) -> Any:
    how = rng.choice(({"intervals": 10**10}, {"intervals": -1}, {"intervals": 2**70}, {"dt": 1e-300}, {"dt": np.nan}))
    return lw.retime(lw.load("rr"), [[0.0, 0.0], [1.0, 1.0]], velocity=1.0, **how)


def grown(rng: random.Random) -> Any:
    return lw.random_tree(rng.randrange(100), rng.choice((-5, 2.5, "a", 3000)))


REQUESTS: dict[str, Callable[[random.Random], Any]] = {
    "chain": chain, "too large": too_large, "rows": rows, "simulate": simulated, "plan": planned, "rollout": rolled,
    "retime": retimed, "tree": grown,
}  # fmt: skip
LONG = ("chain", "too large", "tree")
