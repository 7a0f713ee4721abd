"""Columns of a model beside inertias: laws of friction, offsets, and what they are functions of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwise.motion.trajectory import Array

if TYPE_CHECKING:
    from linkwise.identification.structure import Structure

FRICTION = {
    "viscous": "proportional to the speed",
    "coulomb": "constant, against the speed",
    "presliding": "Coulomb friction that comes back over a distance after a reversal, as bristles bend (Dahl)",
    "stribeck": "larger at low speeds, with a speed at which it has decayed",
    "root": "proportional to the root of the speed, for drives whose friction flattens",
    "asymmetric": "viscous friction that differs by direction (Coulomb's does with offsets)",
    "load": "Coulomb friction proportional to the torque that moves and holds the links",
    "temperature": "viscous and Coulomb friction that change with a measured temperature",
}


class Axis(NamedTuple):
    """A drive of one degree of freedom: a direction among velocities, and the same among torques."""

    name: str
    v: tuple[tuple[int, float], ...]
    u: tuple[tuple[int, float], ...]
    mark: str = "."  # between its name and those of its numbers

    def number(self, law: str) -> str:
        """The name of one of its numbers."""
        return f"{self.name}{self.mark}{law}"

    def speed(self, qd: Array) -> Array:
        """Its speed (rows,), or of whatever else is linear like it."""
        return np.asarray(sum(qd[:, k] * r for k, r in self.v))


class Extra(NamedTuple):
    """A column beside those of the regressor: `law` of the speed of an axis, pushing along it."""

    name: str
    law: str
    axis: Axis
    channel: str = ""  # of the log
    prior: float = 0.0
    free: bool = True


NONE = Axis("", (), ())


@dataclass(frozen=True, eq=False)
class State:
    """What columns are functions of: rows of a smooth motion, and of further channels."""

    q: Array
    qd: Array
    qdd: Array
    carried: Array | None = None  # torques that move and hold the links, without friction and rotors
    others: Mapping[str, Array] = field(default_factory=dict)
    push: Mapping[str, Array] = field(default_factory=dict)  # which way friction pushes, by axis, -1 to 1
    wrenches: Mapping[str, Array] = field(default_factory=dict)  # on the robot, by frame

    def rows(self, piece: slice) -> State:
        """Some rows."""
        carried = None if self.carried is None else self.carried[piece]
        named = [{k: x[piece] for k, x in part.items()} for part in (self.others, self.push, self.wrenches)]
        return State(self.q[piece], self.qd[piece], self.qdd[piece], carried, named[0], named[1], named[2])


def bristles(v: Array, reach: float) -> Array:
    """Friction that comes back over a distance after each reversal, from speeds; `reach` in speeds times rows."""
    way = np.sign(v)
    path = np.concatenate([[0.0], np.cumsum(np.abs(v[1:] + v[:-1]) / 2.0)]) / reach
    ends = [0, *(np.flatnonzero(np.diff(way) != 0.0) + 1), len(v)]
    found, z = np.empty(len(v)), 0.0
    for first, last in pairwise(ends):
        s = way[first]
        start = path[first - 1] if first else path[0]
        found[first:last] = s + (z - s) * np.exp(start - path[first:last])
        z = found[last - 1]
    return found


OWN = ("viscous", "coulomb")  # friction that has columns in the regressor


def _sign(s: Structure, e: Extra, x: State) -> Array:
    return s.sign(e.axis, x)


def _stribeck(s: Structure, e: Extra, x: State) -> Array:
    v = e.axis.speed(x.qd)
    return np.asarray(_sign(s, e, x) * np.exp(-((v / s.stribeck.get(e.axis.name, 0.05)) ** 2)))


def _load(s: Structure, e: Extra, x: State) -> Array:
    if x.carried is None:
        return np.zeros(len(x.q))
    return _sign(s, e, x) * np.abs(x.carried[:, e.axis.u[0][0]])


# a column as a function of the speed of its axis
LAWS: dict[str, Callable[[Structure, Extra, State], Array]] = {
    "offset": lambda s, e, x: np.ones(len(x.q)),
    "rotor": lambda s, e, x: e.axis.speed(x.qdd),
    "viscous": lambda s, e, x: e.axis.speed(x.qd),
    "coulomb": _sign,
    "stribeck": _stribeck,
    "root": lambda s, e, x: _sign(s, e, x) * np.sqrt(np.abs(e.axis.speed(x.qd))),
    "asymmetric": lambda s, e, x: np.abs(e.axis.speed(x.qd)),
    "load": _load,
}


def laws(given: str | Iterable[str] | None) -> tuple[str, ...]:
    """Names of friction laws as a user gives them: "viscous, coulomb", or a sequence; None for none."""
    if given is None:
        return ()
    words: Sequence[str] = given.replace(",", " ").replace("+", " ").split() if isinstance(given, str) else list(given)
    return tuple(dict.fromkeys(words))
