"""What surrounds a robot along a motion: how its base moves, and wrenches on its frames, by time and by place."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.algorithm import World, external_on_bodies
from linkwise.algorithms.environment import called, frame_wrenches
from linkwise.errors import InputError
from linkwise.jet import part
from linkwise.kernel.tracing import Port, function, trace
from linkwise.motion.base_motion import BaseMotion, running
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.spatial import Motion, Pose, Wrench
from linkwise.vector import Vec3

Array = NDArray[np.float64]
Load = Callable[[Scalar], Wrench]
State = Callable[[], tuple[Tree, Sequence[Scalar], Sequence[Scalar]]]


@dataclass(frozen=True)
class Constant:
    """A load that does not change."""

    wrench: Wrench

    def __call__(self, t: Scalar) -> Wrench:
        return self.wrench


@dataclass(frozen=True)
class Placed:
    """A load that depends on where its frame is and how it moves, and perhaps on time."""

    name: str
    law: Callable[..., Any]
    timed: bool

    def __call__(self, t: Scalar, pose: Pose, velocity: Motion) -> Wrench:
        known = (t, pose, velocity) if self.timed else (pose, velocity)
        return _wrench(self.name, called(f"external {self.name!r}", self.law, *known))


@dataclass(frozen=True, eq=False)
class Environment:
    """What surrounds a robot, as functions of time, and of where its frames are.

    Args:
        base: how its base moves, or None where it stands.
        loads: for frames or links what is exerted on the robot there, at the frame's origin in its axes.
    """

    base: BaseMotion | None = None
    loads: Mapping[str, Load | Placed] = field(default_factory=dict)

    @classmethod
    def of(cls, robot: Robot, base_motion: Any = None, external: Any = None) -> Environment:
        """From what users give: a pose as a function of time; by frame wrenches, functions of time, laws of place."""
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
        """Whether nothing changes: the base stands, and wrenches stay what they are."""
        return self.base is None and all(isinstance(load, Constant) for load in self.loads.values())

    @property
    def timed(self) -> bool:
        """Whether something depends on time itself: a base that moves, or a load."""
        return self.base is not None or any(
            load.timed if isinstance(load, Placed) else not isinstance(load, Constant) for load in self.loads.values()
        )

    @property
    def options(self) -> dict[str, Any]:
        """The options of `lw.compile` whose inputs `inputs` gives."""
        moving = {"base_motion": True, "gravity": "input"} if self.base else {}
        return {"external": tuple(self.loads), **moving}

    @property
    def placed(self) -> dict[str, Placed]:
        """Loads that depend on where their frames are."""
        return {name: load for name, load in self.loads.items() if isinstance(load, Placed)}

    def world(self, tree: Tree, t: Scalar, rates: int = 0, state: State | None = None) -> World:
        """What acts on the bodies of a tree at time t, its numbers with so many rates.

        Args:
            tree: the robot.
            t: time, a plain scalar.
            rates: how many rates the numbers of the world carry.
            state: gives the tree with its positions and velocities, as series with so many rates.
        """
        world, loads = self._base_world(tree, t, rates), self.wrenches(tree, t, rates, state)
        return replace(world, external=external_on_bodies(tree, loads), by_laws=bool(self.placed))

    def wrenches(self, tree: Tree, t: Scalar, rates: int = 0, state: State | None = None) -> dict[str, Wrench]:
        """The loads at their frames' origins in their axes, as `world` takes them, in the order of `loads`."""
        clock, placed = running(t, rates) if rates else t, self.placed
        found = {name: load(clock) for name, load in self.loads.items() if not isinstance(load, Placed)}
        if placed:
            if state is None:
                raise self._refused()
            laws = {name: [partial(load, clock)] for name, load in placed.items()}
            base = self.base.pose(clock) if self.base else Pose()
            found |= frame_wrenches(*state(), laws, self._base_world(tree, t, rates), base)
        return {name: found[name] for name in self.loads}

    def _refused(self) -> InputError:
        """What to say where positions of the robot are not known."""
        return InputError(
            f"external {next(iter(self.placed))!r}: expected a wrench or a function of time, got a law of place, which"
            " plans and retimed paths take."
        )

    def _base_world(self, tree: Tree, t: Scalar, rates: int) -> World:
        return self.base.world(t, tree.gravity, rates) if self.base else World(tree.gravity)

    def inputs(self, t: Any, gravity: Sequence[float], rates: int = 0) -> list[Array]:
        """What a kernel with `options` takes at times t (...,): wrenches, the base's motion, each with rates, gravity.

        Args:
            t: times (...,), s.
            gravity: in the world (3).
            rates: how many rates of wrenches, and of the base's acceleration, the kernel takes.
        """
        times, found = np.asarray(t, dtype=float), []
        if self.placed:
            raise self._refused()
        constant = [load.wrench for load in self.loads.values() if isinstance(load, Constant)]
        if len(constant) == len(self.loads):
            six = np.array([[float(x) for x in wrench] for wrench in constant])
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


def _load(name: str, given: Any) -> Load | Placed:
    """A wrench, a function of time that returns one, or a law of place, as a function; checked at t = 0."""
    if not callable(given):
        constant = Constant(_wrench(name, given))
        if not all(np.isfinite([float(x) for x in constant.wrench])):
            raise InputError(f"external {name!r}: expected finite numbers, got {given!r}.")
        return constant

    count = _arguments(given)
    if count in (2, 3):
        placed = Placed(name, given, count == 3)
        placed(0.0, Pose(), Motion())
        return placed

    def load(t: Scalar) -> Wrench:
        return _wrench(name, called(f"external {name!r}", given, t))

    load(0.0)
    return load


def _arguments(function: Callable[..., Any]) -> int:
    """How many arguments a function must be given; one where that is not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of what is not written in Python
        return 1
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def _wrench(name: str, given: Any) -> Wrench:
    """A `Wrench`, or six numbers: force, then moment."""
    try:
        six = [x * 1.0 for x in given]
    except TypeError:
        six = []
    if len(six) != 6:
        raise InputError(f"external {name!r}: expected a Wrench or six numbers, force then moment, or a function of"
                         f" time, or of a pose and a velocity, that returns one, got {given!r}.")  # fmt: skip
    return Wrench(Vec3(*six[:3]), Vec3(*six[3:]))
