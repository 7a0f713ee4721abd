"""Numbers that move on splines, from which all positions of a robot follow.

They are the positions of what leads, and of joints that follow by loop equations without a closed form, which a plan
holds as constraints; after them come the wrenches of contacts. A quaternion is no such number: in its place stands the
turn since the start, 4 tan(angle / 4) along its axis, which is the rotation vector for small angles and has no singular
place within a full turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.jet import Jet, part, rate, without_last
from linkwise.kernel.tracing import Port, function, trace
from linkwise.mechanism.structure import structure_of
from linkwise.planning.stance import Stance
from linkwise.robot.joint import Kind
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.scalar import Scalar
from linkwise.vector import Vec3, cross, dot

Array = NDArray[np.float64]
KEPT = 64
UNTURNED = (0.0, 0.0, 0.0, 1.0)
TURNS = ("rx", "ry", "rz")


class Place(NamedTuple):
    """A coordinate: its kind, and where its numbers are in positions, in velocities and on the splines.

    `q` and `v` are places among what leads, or among the positions that Newton's method would find.
    """

    name: str
    kind: Kind
    q: slice
    v: slice
    x: slice

    @property
    def names(self) -> list[str]:
        """The names of its numbers on the splines."""
        if self.kind.nv == 1:
            return [self.name]
        turn = self.kind.quaternion
        own = self.kind.positions if turn is None else (*self.kind.positions[: turn.start], *TURNS)
        return [f"{self.name}.{end}" for end in own]


@dataclass(frozen=True)
class Chart:
    """The numbers on splines of a robot.

    Args:
        robot: what moves.
        about: for each quaternion, in the order of `leads` and `sought`, the one that turns begin from.
        stances: contacts that stand.
    """

    robot: Robot
    about: tuple[tuple[float, ...], ...] = ()
    stances: tuple[Stance, ...] = ()

    @property
    def leads(self) -> tuple[Place, ...]:
        """Coordinates that lead."""
        return _places(self.robot)[0]

    @property
    def sought(self) -> tuple[Place, ...]:
        """Coordinates that follow, without a closed form."""
        return _places(self.robot)[1]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all numbers."""
        own = [n for place in (*self.leads, *self.sought) for n in place.names]
        return (*own, *(n for stance in self.stances for n in stance.names))

    @cached_property
    def lengths(self) -> tuple[bool, ...]:
        """For each number, whether it is a length; else it is an angle."""
        return tuple(length for place in (*self.leads, *self.sought) for length in place.kind.lengths)

    @property
    def n(self) -> int:
        """How many numbers there are."""
        return len(self.names)

    @cached_property
    def lead_n(self) -> int:
        """How many of them lead; they come first."""
        return sum(place.kind.nv for place in self.leads)

    @cached_property
    def moving(self) -> int:
        """How many of them are positions; wrenches of contacts come after."""
        return self.lead_n + sum(place.kind.nv for place in self.sought)

    @cached_property
    def pushing(self) -> tuple[slice, ...]:
        """Where the numbers of each contact are."""
        ends = [self.moving, *accumulate((len(s.names) for s in self.stances), initial=self.moving)][1:]
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @property
    def turns(self) -> bool:
        """Whether positions of what leads have quaternions."""
        return any(place.kind.quaternion for place in self.leads)

    # ---- on any scalars

    def lead_motion(self, x: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
        """Positions, velocities, accelerations, ... of what leads, from the numbers and their derivatives."""
        if not self.turns:
            return [list(values[: self.lead_n]) for values in x]
        order = len(x) - 1
        series = [Jet.of(values) for values in zip(*x, strict=True)]
        q, v = self._positions(self.leads, series), []
        for place in self.leads:
            speeds = [rate(y) for y in q[place.q]]
            v += place.kind.tangent([without_last(y) for y in q[place.q]], speeds)
        return [[part(y) for y in q], *([part(y, k) for y in v] for k in range(order))]

    def followers(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Positions that Newton's method would find, in the order of `Structure.sought`."""
        return self._positions(self.sought, x)

    def _positions(self, places: Sequence[Place], x: Sequence[Scalar]) -> list[Scalar]:
        found: list[Scalar] = []
        for place in places:
            own, turn = list(x[place.x]), place.kind.quaternion
            found += (
                own if turn is None else [*own[: turn.start], *_turned(self._about[place.x.start], own[turn.start :])]
            )
        return found

    @cached_property
    def _about(self) -> dict[int, tuple[float, ...]]:
        """The quaternions in `about`, by the place where the numbers of their coordinate begin."""
        turning = [place.x.start for place in (*self.leads, *self.sought) if place.kind.quaternion]
        return dict(zip(turning, self.about, strict=True))

    # ---- on arrays

    def motion(self, x: Sequence[Array]) -> list[Array]:
        """Positions (..., nq), velocities (..., nv), ... of what leads, from arrays (..., n) of the numbers."""
        if not self.turns:
            return [values[..., : self.lead_n] for values in x]
        found = _motion_kernel(self, len(x))(np.stack([values[..., : self.lead_n] for values in x], axis=-2))
        return list(found) if len(x) > 1 else [found]

    def centred(self, q: Array, tree_q: Array) -> Chart:
        """The same with turns that begin at these positions of what leads, and of the whole tree."""
        about = [own[place.kind.quaternion] for place, own in self._rows(q, tree_q) if place.kind.quaternion]
        return replace(self, about=tuple(tuple(x) for x in about))

    def numbers(self, q: Array, tree_q: Array) -> Array:
        """The numbers at positions of what leads (nq), and of the whole tree."""
        found: list[float] = []
        for place, own in self._rows(q, tree_q):
            turn = place.kind.quaternion
            found += own if turn is None else own[: turn.start]
            found += [] if turn is None else _turn_between(self._about[place.x.start], own[turn])
        return np.array([*found, *[0.0] * (self.n - self.moving)])

    def _rows(self, q: Array, tree_q: Array) -> list[tuple[Place, list[float]]]:
        """The positions of each coordinate, quaternions of length one."""
        follow = tree_q[list(structure_of(self.robot).sought)]
        rows = [*((place, q) for place in self.leads), *((place, follow) for place in self.sought)]
        return [(place, place.kind.normalised(row[place.q].tolist())) for place, row in rows]


@lru_cache(maxsize=KEPT)
def chart_of(robot: Robot) -> Chart:
    """The numbers on splines of a robot; turns begin where quaternions are the identity."""
    leads, sought = _places(robot)
    return Chart(robot, tuple(UNTURNED for place in (*leads, *sought) if place.kind.quaternion))


@lru_cache(maxsize=KEPT)
def _places(robot: Robot) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
    """What leads, and what follows without a closed form."""
    leads, sought, at = [], [], 0
    for name in robot.names:
        slot = robot.slots[name]
        q, v = slice(slot.q, slot.q + slot.nq), slice(slot.v, slot.v + slot.nv)
        leads.append(Place(name, slot.kind, q, v, slice(at, at + slot.nv)))
        at += slot.nv
    wanted, names, q0, v0 = structure_of(robot).sought, _position_names(robot), 0, 0
    for kind, places, _ in Tree.of(robot).coordinates:
        if kind.nv and places.start in wanted:
            name = names[places.start].rsplit(".", 1)[0] if kind.nv > 1 else names[places.start]
            x = slice(at, at + kind.nv)
            sought.append(Place(name, kind, slice(q0, q0 + kind.nq), slice(v0, v0 + kind.nv), x))
            q0, v0, at = q0 + kind.nq, v0 + kind.nv, at + kind.nv
    return tuple(leads), tuple(sought)


def _position_names(robot: Robot) -> list[str]:
    """A name for each position of the tree."""
    slots = robot.opened().slots.items()
    return [f"{name}.{end}" if end else name for name, slot in slots for end in slot.kind.positions]


@lru_cache(maxsize=KEPT)
def _motion_kernel(chart: Chart, orders: int) -> Any:
    """(x (orders, n)) -> positions, velocities, ... of what leads."""

    def run(x: list[Any]) -> Sequence[Any]:
        return chart.lead_motion([x[k * chart.lead_n : (k + 1) * chart.lead_n] for k in range(orders)])

    nq, nv = (sum(getattr(place.kind, width) for place in chart.leads) for width in ("nq", "nv"))
    outputs = [Port(f"order{k}", (nv if k else nq,)) for k in range(orders)]
    return function(trace("lead_motion", run, [Port("x", (orders, chart.lead_n))], outputs))


def _turned(start: Sequence[float], turn: Sequence[Scalar]) -> list[Scalar]:
    """The quaternion after a turn from another, in the axes of that one."""
    a, a_w, s = Vec3(*start[:3]), start[3], Vec3(*turn) * 0.25
    square = dot(s, s)
    share = 1.0 / (1.0 + square)
    b, b_w = s * (2.0 * share), (1.0 - square) * share
    return [*(b * a_w + a * b_w + cross(a, b)), b_w * a_w - dot(a, b)]


def _turn_between(start: Sequence[float], end: Sequence[float]) -> list[float]:
    """The turn of less than half a revolution that leads from one quaternion to another."""
    a, a_w, b, b_w = -Vec3(*start[:3]), start[3], Vec3(*end[:3]), end[3]
    v, w = b * a_w + a * b_w + cross(a, b), a_w * b_w - dot(a, b)
    sign = 1.0 if w >= 0.0 else -1.0
    return [4.0 * sign * x / (1.0 + sign * w) for x in v]


# ---- what limits and terms count


@lru_cache(maxsize=KEPT)
def joint_places(robot: Robot) -> dict[str, tuple[int, int]]:
    """Joints of one degree of freedom, those that follow too, and their places in positions and velocities of all."""
    every, own = robot.opened().slots, [j.name for j in robot.joints]
    return {n: (every[n].q, every[n].v) for n in own if n in every and every[n].nv == 1}


def joint_names(robot: Robot) -> tuple[str, ...]:
    """Joints whose motion can be limited: those of one degree of freedom, those that follow too."""
    return tuple(joint_places(robot))
