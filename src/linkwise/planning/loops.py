"""Planning of robots with closed loops: the tree's joints move on splines that close the loops.

At as many instants as passive joints have free control points the loops are closed exactly, so that the independent
joints determine the curves of the others; between the instants the gap is bounded, and judged with all limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwise.closed.closed import Closed
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.mechanism.partition import Partition
from linkwise.mechanism.structure import structure_of
from linkwise.planning.curve import Array, Basis
from linkwise.planning.ends import DERIVATIVES, State
from linkwise.planning.rows import Rows, symmetric
from linkwise.robot.robot import Robot

OPEN = 1e-4  # rad, and in parts of the mechanism's size: how far loops may open between the instants that close them
CLOSED = 1e-6  # the same, of ends that users give
STEPS = 41  # from start to goal, along which the assembly mode is kept


def check_loops(robot: Robot) -> None:
    """Refuse robots whose loops leave something that a plan does not have."""
    structure = structure_of(robot)
    if structure.free:
        raise InputError(
            f"plan: expected loops whose joints are all driven or passive, got {structure.free[0]!r} on a spring alone."
        )
    elastic = [j.name for j in robot.joints if j.is_elastic]
    if elastic:
        raise InputError(f"plan: expected rigid drives in loops, got the elastic joint {elastic[0]!r}.")


def closed_ends(robot: Robot, start: State | None, goal: State | None) -> tuple[State | None, State | None]:
    """Both ends with positions of all joints, in the same assembly mode.

    An end is given by positions of the independent joints, as a vector or by name, or by positions of all joints that
    close the loops.
    """
    closed: Closed = compile(robot).closed
    q: Array | None = None
    found: list[State | None] = []
    for which, state in (("start", start), ("goal", goal)):
        if state is not None and state.q is not None:
            _check_rest(robot, state, which)
            q = _position(closed, state.q, which, q)
            state = replace(state, q=q)
        found.append(state)
    return found[0], found[1]


def _check_rest(robot: Robot, state: State, which: str) -> None:
    derivatives = replace(state, q=None).values(robot, which)[1:]
    for name, value in zip(DERIVATIVES[1:], derivatives, strict=True):
        if np.nan_to_num(value).any():
            raise InputError(f"{which} {name}: expected rest of a robot with loops, got {value.tolist()}.")


def _position(closed: Closed, given: Any, which: str, before: Array | None) -> Array:
    """Positions of all joints at an end, reached from those at the start where there are some."""
    robot, names = closed.robot, closed.independent
    if isinstance(given, Mapping):
        everywhere = robot.q(given)
        missing = [n for n in names if n not in given]
        if missing:
            raise InputError(
                f"{which}: expected the independent joints {', '.join(names)}, got none for {missing[0]!r}."
            )
        if len(given) == len(names):
            return _reached(closed, closed.of(everywhere), which, before)
        guess = closed.reference
        for name in given:
            guess[robot.names.index(name)] = everywhere[robot.names.index(name)]
        return _reached(closed, closed.of(everywhere), which, guess)
    try:
        q = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        q = np.zeros(0)
    if q.shape == (len(robot.names),) and np.isfinite(q).all():
        reached = _reached(closed, closed.of(q), which, q)
        if np.abs(reached - q).max() > CLOSED:
            raise InputError(
                f"{which}: expected positions that close the loops, got some that are off by"
                f" {np.abs(reached - q).max():.3g}. Give those of {', '.join(names)} alone."
            )
        return reached
    if q.shape != (len(names),) or not np.isfinite(q).all():
        raise InputError(
            f"{which}: expected {len(names)} finite positions ({', '.join(names)}), or {len(robot.names)} that close"
            f" the loops, got {given!r}."
        )
    return _reached(closed, q, which, before)


def _reached(closed: Closed, q: Array, which: str, guess: Array | None) -> Array:
    """The whole tree with these positions of independent joints, moved there in small steps."""
    start = closed.reference if guess is None else guess
    line = closed.of(start) + np.linspace(0.0, 1.0, STEPS)[:, None] * (q - closed.of(start))
    positions = closed.positions(line, start, along=True)
    if not positions.converged[-1]:
        raise InputError(f"{which}: the loops cannot be closed with {', '.join(closed.independent)} at {q.tolist()}.")
    return np.asarray(positions.q[-1])


def closure_rows(robot: Robot, basis: Basis, fixed: Array) -> list[Rows]:
    """Rows that close the loops: exactly where passive joints have a control point to do it, else nearly."""
    part: Partition = structure_of(robot).part
    free = np.isnan(fixed[:, list(part.passive)]).any(axis=1)
    names = tuple(structure_of(robot).equations[r] for r in part.rows)
    zero, one = np.zeros(len(names)), np.ones(len(names))
    at = tuple(basis.abscissae[free].tolist())
    exact = Rows("closure", names, lambda p: p.gap, zero, zero, one, at=at)
    return [exact, symmetric("closure between", names, lambda p: p.gap, OPEN * one)]


class Closing:
    """The motion of a robot with loops, exactly closed, from curves that nearly close them."""

    def __init__(self, robot: Robot, base_motion: bool = False) -> None:
        self.closed: Closed = compile(robot, base_motion=base_motion).closed

    def q(self, near: Array) -> Array:
        """Positions of all joints, with the independent ones of `near`."""
        return np.asarray(self.closed.positions(self.closed.of(near), near).q)

    def motion(self, curve: Sequence[Array]) -> tuple[Array, Array, Array, Array]:
        """Positions, velocities, accelerations and jerks of all joints, from those of the curves."""
        q = self.q(curve[0])
        qd, qdd, qddd = self.closed.assembled.jerks(q, *map(self.closed.of, curve[1:]))
        return q, qd, qdd, qddd

    def torques(self, curve: Sequence[Array], base: Sequence[Array]) -> tuple[Array, Array]:
        """Torques of all joints, and their rates; passive ones have none."""
        found = np.zeros((2, *curve[0].shape))
        active = self.closed.assembled.force_rates(*self.motion(curve), *base)
        found[..., list(self.closed.structure.part.active)] = active
        return found[0], found[1]

    def wrenches(self, curve: Sequence[Array], base: Sequence[Array]) -> tuple[Array, Array]:
        """Wrenches through the joints of the tree, and through the cut ones."""
        _, wrench, cut = self.closed.assembled.joint_wrenches(*self.motion(curve)[:3], *base)
        return wrench, cut
