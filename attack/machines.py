"""Robots of many kinds, their kernels, and second witnesses of what these compute."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.backend import arrays
from linkwise.errors import LinkwiseError
from linkwise.graph.op import FARTHEST
from linkwise.graph.program import Program
from linkwise.kernel.dynamics import Dynamics
from linkwise.kernel.kernel import Kernel
from support.arms import arm

KINDS = (("revolute", "prismatic"), ("revolute",), ("revolute", "floating"), ("prismatic", "continuous"))
EVERY: dict[str, Any] = {
    "mimic": 0.2, "armature": 0.4, "motors": 0.4, "frames": 3, "friction": 0.5, "springs": 0.4,
}  # fmt: skip
MEMBERS = [n for n, x in vars(Dynamics).items() if isinstance(x, cached_property) and n != "closed"]
FEW = ("inverse_dynamics", "forward_dynamics", "joint_wrenches", "mass_matrix", "link_motions", "kinetic_energy")


def tree(seed: int, joints: int = 4, **options: Any) -> lw.Robot:
    """A random robot with every feature; some have floating bases, some floating joints further out."""
    kinds = KINDS[seed % 4]
    if "floating" in kinds:
        joints = min(joints, 3)
    return lw.random_tree(seed, joints, **{**EVERY, "kinds": kinds, "floating": seed % 4 == 1, **options})


@dataclass
class Subject:
    """A kernel, and the same program run by the interpreter over NumPy."""

    kernel: Any
    witness: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.kernel.program.name

    @cached_property
    def exact(self) -> Callable[..., Any]:
        """The witness in numbers of 80 or 128 bits, where the machine has them."""
        long = np.dtype(np.longdouble).name
        FARTHEST.setdefault(long, FARTHEST["float64"])
        told = {f.name: getattr(self.kernel.program, f.name) for f in fields(Program) if f.init}
        return arrays.function(Program(**{**told, "dtype": long}))

    def several(self, found: Any) -> list[Any]:
        """The results of a call as a list."""
        return list(found) if len(self.kernel.outputs) > 1 else [found]


class Zoo:
    """Kernels of many robots, each made when it is first drawn."""

    def __init__(self, quick: bool) -> None:
        self.members = FEW if quick else MEMBERS
        robots = [lw.load("rr"), tree(1), arm(3)]
        if not quick:
            names = (
                "puma560", "scara", "stanford", "arm7", "pr",
                "fourbar", "palletiser", "delta", "gough_stewart", "three_rrr",
            )  # fmt: skip
            robots += [lw.load(n) for n in names] + [tree(seed) for seed in range(2, 8)]
        self.robots = robots
        some = random.Random(0)
        self.keys = [self._key(some) for _ in range(8 if quick else 160)]
        self._made: dict[Any, Subject | None] = {}

    def _key(self, rng: random.Random) -> tuple[int, str, str]:
        """A robot, a question, and options: two threads, or outside wrenches and gravity as inputs."""
        options = rng.choices(("", "threads", "inputs"), (6, 2, 2))[0]
        return rng.randrange(len(self.robots)), rng.choice(self.members), options

    def draw(self, rng: random.Random) -> Subject:
        """One of the kernels."""
        while True:
            robot, member, options = key = rng.choice(self.keys)
            if key not in self._made:
                self._made[key] = self._make(self.robots[robot], member, options)
            found = self._made[key]
            if found is not None:
                return found

    def _make(self, robot: lw.Robot, member: str, options: str) -> Subject | None:
        given: dict[str, Any] = {}
        if options == "threads":
            given = {"threads": 2}
        elif options == "inputs":
            given = {"gravity": "input", "external": (robot.links[-1].name,), "base_motion": True}
        try:
            kernel = getattr(lw.compile(robot, **given), member)
        except LinkwiseError:  # elastic questions to a rigid robot, and the like
            return None
        return Subject(kernel, arrays.function(kernel.program)) if isinstance(kernel, Kernel) else None


def states(robot: lw.Robot, rng: np.random.Generator, size: float = 1.0) -> list[np.ndarray]:
    """Random q, qd, qdd, with unit quaternions."""
    q = rng.uniform(-2.0, 2.0, robot.nq)
    for slot in robot.slots.values():
        if slot.nq == 7:
            q[slot.q + 3 : slot.q + 7] /= np.linalg.norm(q[slot.q + 3 : slot.q + 7])
    return [q, *(size * rng.uniform(-1.0, 1.0, (2, robot.nv)))]


def numbers(rng: random.Random) -> np.random.Generator:
    """NumPy's random numbers, from Python's."""
    return np.random.default_rng(rng.getrandbits(64))
