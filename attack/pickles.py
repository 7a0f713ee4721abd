"""Everything public sent between processes: by pickle in all protocols, by cloudpickle, and copied in depth."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
from machines import Zoo, numbers, tree
from verdict import CLEAR, Verdict

import linkwise as lw
from papers.two_link_plans import minimum_time

TRIES, QUICK, LONGEST = 3_000, 60, 120.0
ELSEWHERE = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)))"


class Stage:
    """Objects that are made once."""

    def __init__(self, quick: bool) -> None:
        rr = lw.load("rr")
        self.zoo = Zoo(quick)
        errors = [kind("what to do.") for kind in (lw.LinkwiseError, lw.ModelError, lw.InputError, lw.SimulationError)]
        run = lw.simulate(rr, [0.3, 0.1], None, 0.2)
        self.objects: list[Any] = [
            rr, lw.load("fourbar"), run, run.energy, minimum_time(8, iterations=20, progress=False), *errors,
            lw.UnknownNameError("joint", "elbo", ["elbow", "wrist"]), rr.diagnostics, rr.links, rr.joints, rr.slots,
            lw.Vec3(1.0, 2.0, 3.0), lw.Pose(), lw.Motion(), lw.Wrench(), lw.Friction(1.0, 2.0), lw.Limits(-1, 1),
            lw.simulation.Drag((0.1, 0.1, 0.1)), lw.simulation.GroundContact(1e4, 10.0),
            lw.simulation.JointStop(-1.0, 1.0), lw.simulation.Thrust((1.0, 0.0, 0.0)),
            lw.planning.Path.through(np.random.default_rng(1).uniform(-1, 1, (4, 2)), rr), lw.delta(),
            lw.gough_stewart(), lw.cost.time(), lw.cost.effort(), 0.5 * lw.cost.time() + lw.cost.effort(),
            lw.limit.joints("effort"), lw.base_parameters(rr).values, lw.dh.to_khalil(rr), lw.inverse_dynamics,
            lw.derivative(lw.inverse_dynamics, "q"), lw,
        ]  # fmt: skip
        self.rare = 0.05 if quick else 0.01


def prepare(folder: Path, quick: bool) -> Stage:
    return Stage(quick)


def draw(stage: Stage, rng: random.Random) -> Callable[[], Verdict]:
    how = rng.random()
    if how < 0.3:
        return lambda: kernel(stage, rng)
    one = tree(rng.randrange(10**6)) if how < 0.4 else rng.choice(stage.objects)
    ways = ("elsewhere",) if rng.random() < stage.rare and one is not lw else tuple(WAYS)
    way = rng.choice(("cloudpickle", "deepcopy") if one is lw else ways)
    if one is lw:
        return lambda: mentioned()
    return lambda: judged(one, sent(one, way), f"{type(one).__name__} by {way}")


WAYS = {f"pickle {p}": p for p in range(2, pickle.HIGHEST_PROTOCOL + 1)} | {"cloudpickle": -1, "deepcopy": -2}


def sent(one: Any, way: str) -> Any:
    if way == "elsewhere":
        done = subprocess.run(
            [sys.executable, "-c", ELSEWHERE], input=pickle.dumps(one), capture_output=True, timeout=60
        )
        if done.returncode:
            raise RuntimeError(done.stderr.decode()[-300:])
        return pickle.loads(done.stdout)
    if way == "deepcopy":
        return copy.deepcopy(one)
    return pickle.loads(cloudpickle.dumps(one) if way == "cloudpickle" else pickle.dumps(one, WAYS[way]))


def mentioned() -> Verdict:
    """A function of a script that mentions the package."""
    back = pickle.loads(cloudpickle.dumps(lambda: lw.load("rr")))
    return CLEAR if back() == lw.load("rr") else Verdict("wrong", "a function that mentions lw")


def kernel(stage: Stage, rng: random.Random) -> Verdict:
    """A kernel, and its results, come back the same."""
    subject = stage.zoo.draw(rng)
    x = [numbers(rng).uniform(-2.0, 2.0, (2, *shape)) for shape in subject.kernel.inputs.values()]
    found, way = subject.kernel(*x), rng.choice(tuple(WAYS))
    verdict = judged(found, sent(found, way), f"results of {subject.name} by {way}")
    if verdict.kind != "clear" or rng.random() < 0.9:
        return verdict
    return judged(found, sent(subject.kernel, way)(*x), f"kernel {subject.name} by {way}")


def judged(one: Any, other: Any, what: str) -> Verdict:
    return CLEAR if equal(one, other) else Verdict("wrong", f"{what} comes back different")


def equal(a: Any, b: Any) -> bool:
    """Whether two objects are the same in all that they hold."""
    if type(a) is not type(b) and not (hasattr(a, "_fields") and type(a).__name__ == type(b).__name__):
        return False
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, Exception):
        return str(a) == str(b) and equal(vars(a), vars(b))
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[k], b[k]) for k in a)
    if is_dataclass(a):
        return all(equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, float):
        return a == b or (a != a and b != b)
    if type(a).__eq__ is object.__eq__:
        return not hasattr(a, "__dict__") or vars(a).keys() == vars(b).keys()
    return bool(a == b)
