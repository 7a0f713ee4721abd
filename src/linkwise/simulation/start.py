"""The state that a simulation starts from: what was asked, driven joints on their motions, loops closed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from linkwise.algorithms.closure import tree_positions
from linkwise.errors import InputError, ModelError
from linkwise.mechanism.assemble import Assembler, assembled
from linkwise.mechanism.machine import machine_of
from linkwise.mechanism.structure import structure_of
from linkwise.robot.robot import Robot
from linkwise.simulation.leading_view import View
from linkwise.simulation.motions import Array, Prescribed

OPEN, MOVING = 1e-9, 1e-9  # of positions and of velocities: what counts as closed
STRIDE = 0.25  # rad or m, by which joints go from the reference to where they are asked to be


class Start(NamedTuple):
    """Positions and velocities of the tree, and what of the caller's had to be changed."""

    q: Array
    qd: Array
    notes: tuple[str, ...]


class InitialValues(NamedTuple):
    """Positions or velocities as a caller gives them.

    Args:
        values: of the whole tree; of joints that were not meant, anything.
        names: the coordinates that are meant, motors behind springs among them.
        leads: whether these lead, so that the rest follows from them.
        whole: whether all were given in one vector.
        choices: groups of coordinates to keep where not all can be, the best one first.
    """

    values: Array
    names: frozenset[str]
    leads: bool
    whole: bool
    choices: tuple[tuple[str, ...], ...]


def start_of(robot: Robot, q0: Any, qd0: Any, motions: Sequence[Prescribed] = (), t: float = 0.0) -> Start:
    """Positions and velocities of all joints at the start, quaternions of length one, loops closed.

    Args:
        robot: a tree, or a machine with loops.
        q0: positions of what leads, or of all joints of the tree, or by name; None for `robot.q()`.
        qd0: velocities likewise; None for rest.
        motions: of driven joints, whose positions and velocities are theirs.
        t: the time of the start, s.
    """
    tree = robot.opened()
    positions, velocities = initial_values(robot, q0, "q0", "q"), initial_values(robot, qd0, "qd0", "v")
    q, qd = positions.values.copy(), velocities.values.copy()
    for m in motions:
        s = m.slot
        q[s.q : s.q + s.nq], qd[s.v : s.v + s.nv], _ = m.at(t)
    for name, s in tree.slots.items():
        if (at := s.quaternion) is not None:
            length = float(np.linalg.norm(q[at]))
            if length < 1e-6:
                raise InputError(f"q0: joint {name!r}: expected a quaternion x, y, z, w that is not zero, got zeros.")
            q[at] /= length
    notes: tuple[str, ...] = ()
    driven = tuple(m.joint for m in motions)
    if robot.follows:
        closing = Closing(robot, driven)
        q, moved = closing.positions(q, positions)
        qd, changed = closing.velocities(q, qd, velocities)
        notes = moved + changed
    return Start(_with_motors(tree, q, positions, driven, "q"), _with_motors(tree, qd, velocities, driven, "v"), notes)


def initial_values(robot: Robot, value: Any, what: str, kind: str) -> InitialValues:
    """Positions ("q") or velocities ("v") of finite numbers: of what leads, of its joints alone, of all, or by name."""
    tree, view = robot.opened(), View.of(robot)
    make, places = (tree.q, view.q) if kind == "q" else (tree.v, view.v)
    if value is None or isinstance(value, Mapping):
        given = dict(value or {})
        values = make(given)
        if not np.isfinite(values).all():
            raise InputError(f"{what}: expected finite numbers, got {given!r}.")
        names, leads = tuple(given), False
        if set(names) <= set(robot.slots if kind == "q" else robot.speeds):
            with suppress(ModelError):  # of leads that cannot be, which need not be to simulate
                values[places] = (robot.q if kind == "q" else robot.v)(given)
                leads = True
        first = (robot.speeds,) if leads and kind == "v" else ()
        return InitialValues(values, frozenset(names), leads, False, (*first, names))
    motors = len(robot.coordinates) - len(robot.names)
    array, alone = np.asarray(value), len(places) - motors
    width = tree.nq if kind == "q" else tree.nv
    fits = array.dtype.kind in "biuf" and array.shape in ((len(places),), (alone,), (width,))
    if not fits or not np.isfinite(array).all():
        fewer = f" ({alone} without motors)" if motors else ""
        every = f", {width} for all joints of the tree" if width != len(places) else ""
        raise InputError(
            f"{what}: expected {len(places)} finite numbers{fewer}{every}, or a mapping of joints to numbers, got"
            f" {value!r}. The joints are {', '.join(robot.names)}."
        )
    leading = robot.coordinates if kind == "q" else robot.speeds
    values, names = make({}), tuple(n for n in leading if n in robot.names)
    if array.shape == (len(places),):
        values[places], names = array, leading
    elif array.shape == (alone,):
        values[places] = (robot.q if kind == "q" else robot.v)(array)
    else:
        values[:], names = array, tree.coordinates
    return InitialValues(values, frozenset(names), True, array.shape == (width,), (leading,))


def _with_motors(tree: Robot, x: Array, given: InitialValues, driven: Collection[str], kind: str) -> Array:
    """The same with motors that were not given at their joints."""
    motors = [j.motor_name for j in tree.joints if j.is_elastic]
    if not motors:
        return x
    joints = x[: -len(motors)]
    followed = tree.q(joints) if kind == "q" else tree.v(joints)
    for name in motors:
        if name not in given.names and name not in driven:
            at = tree.slots[name].q if kind == "q" else tree.slots[name].v
            x[at] = followed[at]
    return x


class Closing:
    """Closes the loops of a robot near what was asked.

    Args:
        robot: with loops.
        driven: joints whose motion is prescribed.
    """

    def __init__(self, robot: Robot, driven: tuple[str, ...]) -> None:
        self._robot, self._driven = robot, driven
        self._slots, self._assembler = robot.opened().slots, Assembler(robot)
        self._joints = {j.name for j in robot.opened().joints}

    def positions(self, q: Array, given: InitialValues) -> tuple[Array, tuple[str, ...]]:
        """Closed positions and what had to be changed, from positions as asked, driven joints on their motions."""
        if given.whole and np.abs(self._assembler.gap(q)).max() <= OPEN:
            return q, ()
        found = None
        if given.leads and not given.whole and set(self._driven) <= set(self._robot.slots):
            found = self._following(q)
        for kept in self._choices(given):
            if found is None:
                found = self._assembler.close(q, self._held(kept)) if given.whole else self._walked(q, kept)
        if found is None:
            held = ", ".join(map(repr, next(self._choices(given))))
            raise InputError(
                f"q0: the loops of robot {self._robot.name!r} do not close there, nor near it with"
                f" {held or 'any joint'} held. Take positions from lw.compile(robot).positions(...)."
            )
        moved = self._changed(q, found, given, "q")
        return found, (f"q0 was moved by up to {moved:.3g} (rad or m) to close the loops",) if moved > OPEN else ()

    def velocities(self, q: Array, qd: Array, given: InitialValues) -> tuple[Array, tuple[str, ...]]:
        """Velocities that keep the loops closed and what had to be changed, from velocities as asked."""
        J = self._assembler.jacobian_si(q)
        if _is_tied(J, qd):
            return qd, ()
        for kept in self._choices(given):
            free = [v for v in range(len(qd)) if v not in self._held(kept)]
            found = qd.copy()
            found[free] -= np.linalg.lstsq(J[:, free], J @ qd, rcond=1e-10)[0]
            if not _is_tied(J, found):
                continue
            changed = self._changed(qd, found, given, "v")
            note = f"qd0 was changed by up to {changed:.3g} (rad/s or m/s) to keep the loops closed"
            return found, (note,) if changed > MOVING else ()
        raise InputError(
            f"qd0: the loops of robot {self._robot.name!r} do not stay closed with these velocities, whatever the"
            " joints that were not named do. Name fewer, or those that lead:"
            f" {', '.join(map(repr, self._robot.speeds)) or 'none'}."
        )

    @cached_property
    def _reference(self) -> Array:
        """Closed positions from which to go to others."""
        with suppress(ModelError):  # of leads that cannot be
            return structure_of(self._robot).reference
        return assembled(self._robot).q

    def _choices(self, given: InitialValues) -> Iterator[tuple[str, ...]]:
        """Joints that are to keep what they were given: a first choice, and further ones where that does not close."""
        last = ((),) if given.whole or self._driven else ()
        for group in (*given.choices, *last):
            yield tuple(n for n in dict.fromkeys([*self._driven, *group]) if n in self._joints)

    def _held(self, kept: Sequence[str]) -> set[int]:
        return {self._slots[n].v + k for n in kept for k in range(self._slots[n].nv)}

    def _following(self, q: Array) -> Array | None:
        """Positions of all joints, from those that lead, in the robot's own assembly mode."""
        lead = q[View.of(self._robot).q].tolist()
        try:
            found, (closed,), _ = tree_positions.function(machine_of(self._robot), lead)
        except ModelError:
            return None
        return np.array(found, dtype=float) if closed > 0.5 else None

    def _walked(self, q: Array, kept: Sequence[str]) -> Array | None:
        """Closed positions with some joints as in `q`, reached in strides from the reference; None where none are."""
        begin, held = self._reference, self._held(kept)
        slots = [self._slots[n] for n in kept]
        way = [s.kind.difference(*(x[s.q : s.q + s.nq].tolist() for x in (begin, q))) for s in slots]
        strides = ceil(max((abs(x) for change in way for x in change), default=0.0) / STRIDE)
        now: Array | None = begin
        for k in range(1, strides + 1):
            tried = begin.copy() if now is None else now.copy()
            for s, change in zip(slots, way, strict=True):
                at = slice(s.q, s.q + s.nq)
                tried[at] = q[at] if k == strides else s.kind.integrate(begin[at].tolist(), change, k / strides)
            now = self._assembler.close(tried, held)
        return now

    def _changed(self, before: Array, after: Array, given: InitialValues, kind: str) -> float:
        """The largest change of a value that the caller gave."""
        spans = [self._slots[n] for n in given.names if n in self._joints and n not in self._driven]
        places = [s.q + k if kind == "q" else s.v + k for s in spans for k in range(s.nq if kind == "q" else s.nv)]
        return float(np.abs(after - before)[places].max(initial=0.0))


def _is_tied(J: Array, qd: Array) -> bool:
    return bool(np.abs(J @ qd).max() <= MOVING * max(1.0, float(np.abs(qd).max(initial=0.0))))
