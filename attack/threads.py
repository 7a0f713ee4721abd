"""Kernels compiled and called by several threads at once, the same ones and different ones."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from machines import Zoo, numbers
from verdict import CLEAR, Verdict, crashed, same, worst

import linkwise as lw
from linkwise.backend import arrays
from support.arms import arm, states

TRIES, QUICK, LONGEST = 4_000, 30, 120.0


class Stage:
    """Kernels that are called, and robots that no one has compiled yet."""

    def __init__(self, quick: bool) -> None:
        self.zoo = Zoo(quick)
        self.rare = 0.3 if quick else 0.1


def prepare(folder: Path, quick: bool) -> Stage:
    return Stage(quick)


def draw(stage: Stage, rng: random.Random) -> Callable[[], Verdict]:
    if rng.random() < stage.rare:
        return lambda: compiled(rng)
    return lambda: called(stage, rng)


def at_once(works: list[Callable[[], Verdict]]) -> Verdict:
    """Do all, each in a thread, all beginning together."""
    gate, found = threading.Barrier(len(works)), []

    def work(act: Callable[[], Verdict]) -> None:
        gate.wait()
        try:
            found.append(act())
        except Exception as error:
            found.append(crashed(error))

    threads = [threading.Thread(target=work, args=(act,)) for act in works]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if not gc.isenabled():
        return Verdict("wrong", "the garbage collector is off")
    return worst(found)


def called(stage: Stage, rng: random.Random) -> Verdict:
    """Threads call one kernel or several, on data of their own, many times."""
    subjects = [stage.zoo.draw(rng) for _ in range(rng.choice((1, 1, 3)))]
    rows, works = rng.choice((1, 7, 300)), []
    for k in range(rng.choice((2, 3, 5))):
        subject = subjects[k % len(subjects)]
        x = [numbers(rng).uniform(-2.0, 2.0, (rows, *shape)) for shape in subject.kernel.inputs.values()]
        expected = subject.several(subject.kernel(*x))

        def work(subject: Any = subject, x: Any = x, expected: Any = expected) -> Verdict:
            for _ in range(5):
                for a, b in zip(subject.several(subject.kernel(*x)), expected, strict=True):
                    if not np.array_equal(a, b, equal_nan=True):
                        return Verdict("wrong", f"{subject.name} answers differently among threads")
            return CLEAR

        works.append(work)
    return at_once(works)


def compiled(rng: random.Random) -> Verdict:
    """Threads compile and call kernels of one new robot, or each of its own."""
    shared, works = rng.random() < 0.5, []
    together = lw.compile(arm(2, mass=1.0 + rng.random()))
    for _ in range(rng.choice((2, 4))):
        dyn = together if shared else lw.compile(arm(2, mass=1.0 + rng.random()))
        member = rng.choice(("inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives", "joint_wrenches"))

        def work(dyn: Any = dyn, member: str = member) -> Verdict:
            kernel, x = getattr(dyn, member), states(dyn.robot, 5)
            found, expected = kernel(*x), arrays.function(kernel.program)(*x)
            pairs = zip(found, expected, strict=True) if len(kernel.outputs) > 1 else [(found, expected)]
            return worst([same(a, b, 1e-9, member) for a, b in pairs])

        works.append(work)
    return at_once(works)
