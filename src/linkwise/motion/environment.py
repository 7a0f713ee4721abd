"""What surrounds a robot along a motion, as functions of time: the motion of its base, and wrenches on its frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.algorithm import World, external_on_bodies
from linkwise.algorithms.environment import called
from linkwise.errors import InputError
from linkwise.jet import part
from linkwise.kernel.tracing import Port, function, trace
from linkwise.motion.base_motion import BaseMotion, running
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Wrench
from linkwise.vector import Vec3

Array = NDArray[np.float64]
Load = Callable[[Scalar], Wrench]


@dataclass(frozen=True)
class Constant:
    """A load that does not change."""

    wrench: Wrench

    def __call__(self, t: Scalar) -> Wrench:
        return self.wrench


@dataclass(frozen=True, eq=False)
class Environment:
    """What surrounds a robot, as functions of time.

    Args:
        base: how its base moves, or None where it stands.
        loads: for frames or links what is exerted on the robot there, at the frame's origin in its axes.
    """

    base: BaseMotion | None = None
    loads: Mapping[str, Load] = field(default_factory=dict)

    @classmethod
    def of(cls, robot: Robot, base_motion: Any = None, external: Any = None) -> Environment:
        """From what users give: a pose as a function of time, and wrenches, or functions of time, by frame."""
        if not isinstance(external or {}, Mapping):
            raise InputError(f"external: expected wrenches by frame, such as {{'tool': [0, 0, -20, 0, 0, 0]}}, got"
                             f" {external!r}.")  # fmt: skip
        for name in external or {}:
            robot.frame(name)
        return cls(BaseMotion.of(base_motion), {n: _load(n, given) for n, given in (external or {}).items()})

    def __bool__(self) -> bool:
        return self.base is not None or bool(self.loads)

    @property
    def steady(self) -> bool:
        """Whether nothing depends on time: the base stands, and wrenches stay what they are."""
        return self.base is None and all(isinstance(load, Constant) for load in self.loads.values())

    @property
    def options(self) -> dict[str, Any]:
        """The options of `lw.compile` whose inputs `inputs` gives."""
        moving = {"base_motion": True, "gravity": "input"} if self.base else {}
        return {"external": tuple(self.loads), **moving}

    def world(self, tree: Tree, t: Scalar, rates: int = 0) -> World:
        """What acts on the bodies of a tree at time t, its numbers with so many rates."""
        world = self.base.world(t, tree.gravity, rates) if self.base else World(tree.gravity)
        clock = running(t, rates) if rates else t
        return replace(world, external=external_on_bodies(tree, {n: load(clock) for n, load in self.loads.items()}))

    def inputs(self, t: Any, gravity: Sequence[float], rates: int = 0) -> list[Array]:
        """What a kernel with `options` takes at times t (...,): wrenches, the base's motion, each with rates, gravity.

        Args:
            t: times (...,), s.
            gravity: in the world (3).
            rates: how many rates of wrenches, and of the base's acceleration, the kernel takes.
        """
        times, found = np.asarray(t, dtype=float), []
        if all(isinstance(load, Constant) for load in self.loads.values()):
            six = np.array([[float(x) for x in load(0.0)] for load in self.loads.values()])
            found = [np.broadcast_to(x, (*times.shape, *six.shape)) for x in (six, *[0.0 * six] * rates) if self.loads]
        else:
            kernel = _wrench_kernel(tuple(self.loads.items()), rates)
            found = list(kernel(times)) if rates else [kernel(times)]
            for values in found:
                bad = ~np.isfinite(values).all(axis=(-2, -1))
                if bad.any():
                    raise InputError(f"external: expected finite wrenches, got some that are not at"
                                     f" t = {float(times[bad].flat[0]):g} s.")  # fmt: skip
        return [*found, *(self.base.inputs(times, gravity, 2 + rates) if self.base else [])]


@lru_cache(maxsize=64)
def _wrench_kernel(loads: tuple[tuple[str, Load], ...], rates: int) -> Any:
    """t -> the wrenches (frames, 6), and so many rates of them."""

    def run(t: list[Scalar]) -> list[list[Scalar]]:
        clock = running(t[0], rates) if rates else t[0]
        flat = [x for _, load in loads for x in load(clock)]
        return [[part(x, k) for x in flat] for k in range(rates + 1)]

    outputs = [Port(f"rate{k}", (len(loads), 6)) for k in range(rates + 1)]
    return function(trace("wrenches", run, [Port("t", ())], outputs))


def _load(name: str, given: Any) -> Load:
    """A wrench, or a function of time that returns one, as a function that does; checked at t = 0."""
    if not callable(given):
        constant = Constant(_wrench(name, given))
        if not all(np.isfinite([float(x) for x in constant.wrench])):
            raise InputError(f"external {name!r}: expected finite numbers, got {given!r}.")
        return constant

    def load(t: Scalar) -> Wrench:
        return _wrench(name, called(f"external {name!r}", given, t))

    load(0.0)
    return load


def _wrench(name: str, given: Any) -> Wrench:
    """A `Wrench`, or six numbers: force, then moment."""
    try:
        six = [x * 1.0 for x in given]
    except TypeError:
        six = []
    if len(six) != 6:
        raise InputError(f"external {name!r}: expected a Wrench or six numbers, force then moment, or a function of"
                         f" time that returns one, got {given!r}.")  # fmt: skip
    return Wrench(Vec3(*six[:3]), Vec3(*six[3:]))
