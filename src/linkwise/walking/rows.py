"""The rows of the walking problem: quantities of an instant within bounds, which change with the phases of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from linkwise.planning.curve import Array
from linkwise.planning.rows import Rows, symmetric
from linkwise.scalar import Scalar
from linkwise.walking.instant import GLOBAL, OTHERS, PLACES
from linkwise.walking.timetable import Moment

KINDS = ("contact", "slip", "ground", "zmp", "vertical", "torque", "arm_leg", "self", "symmetry", "knee")
HEIGHTS = tuple(p for p in PLACES if p.endswith(".y") and not p.startswith("ballm"))
FACETS = 8  # of a region around two rectangles, at most


@dataclass(frozen=True)
class Bounds:
    """How tight the rows are.

    Args:
        contact: half width of the band about a foot's place on the ground, m.
        slip: of its velocity, m/s.
        clearance: least height of the swinging foot in the middle of its swing, m.
        vertical: least vertical force of the ground, in weights of body and loads.
        apart: least distance of wrists from hips, m.
        knee: lower and upper bound of the swinging knee, rad.
    """

    contact: float = 1e-3
    slip: float = 0.1
    clearance: float = 0.0
    vertical: float = 0.2
    apart: float = 0.12
    knee: tuple[float, float] = (np.deg2rad(55.0).item(), np.deg2rad(65.0).item())


def rows_of(at: Callable[[float], Moment], effort: Mapping[str, float], weight: float, b: Bounds) -> list[Rows]:
    """The rows that depend on the motion at single instants.

    Args:
        at: what holds at fractions of the time.
        effort: bounds of torques by joint, N m.
        weight: of the body with its loads, N.
        b: how tight rows are.
    """

    def changing(kind: str, names: Sequence[str], function: Any, found: Any, scale: float = 1.0, **more: Any) -> Rows:
        """Rows whose bounds are found by name at a moment; there are no others then."""

        def bounds(s: Array) -> tuple[Array, Array]:
            lower, upper = np.full((len(s), len(names)), -inf), np.full((len(s), len(names)), inf)
            for k, x in enumerate(s.tolist()):
                for name, pair in found(at(x)).items():
                    lower[k, names.index(name)], upper[k, names.index(name)] = pair
            return lower, upper

        return Rows(kind, tuple(names), function, scale=np.full(len(names), scale), bounds=bounds, **more)

    def above(kind: str, names: Sequence[str], function: Any, lower: float, scale: float = 1.0) -> Rows:
        n = len(names)
        return Rows(kind, tuple(names), function, np.full(n, lower), np.full(n, inf), np.full(n, scale))

    def facets(s: Array) -> Array:
        found = np.zeros((len(s), FACETS, 3))
        for row, x in zip(found, s.tolist(), strict=True):
            row[: len(at(x).facets)] = at(x).facets
        return found.reshape(len(s), -1)

    sides = [f"facet{k + 1}" for k in range(FACETS)]
    heights = [PLACES.index(p) for p in HEIGHTS]
    return [
        changing("contact", PLACES, lambda p: p.instant.places,
                 lambda m: {place: (x - b.contact, x + b.contact) for place, x in m.contacts}),
        changing("slip", PLACES, lambda p: p.instant.speeds,
                 lambda m: {place: (-b.slip, b.slip) for place, _ in m.contacts}),
        changing("ground", HEIGHTS, lambda p: [p.instant.places[k] for k in heights],
                 lambda m: {place: (_clearance(m, place, b), inf) for place in m.above}),
        changing("zmp", sides, _outside, lambda m: dict.fromkeys(sides[: len(m.facets)], (-inf, 0.0)), weight,
                 data=facets, width=3 * FACETS),
        above("vertical", ["ground.fy"], lambda p: [p.instant.ground[1]], b.vertical * weight, weight),
        symmetric("torque", list(effort), lambda p: p.tau[GLOBAL:], list(effort.values())),
        above("arm_leg", OTHERS[:2], lambda p: p.instant.others[:2], 0.0),
        above("self", OTHERS[2:], lambda p: p.instant.others[2:], b.apart**2),
    ]  # fmt: skip


def _outside(p: Any) -> list[Scalar]:
    """How far the zero-moment point is beyond each facet, times the vertical force: without a division."""
    _, fy, _, mx, _, mz = p.instant.ground
    return [a_x * mz - a_z * mx + c * fy for a_x, a_z, c in zip(*(iter(p.data),) * 3, strict=True)]


def _clearance(m: Moment, place: str, b: Bounds) -> float:
    """How high a point has to be: nothing at both ends of the swing, all of the clearance in its middle."""
    swings = m.phase != "double" and place.split(".")[0][-1] == ("l" if m.support.right else "r")
    return b.clearance * m.lift if swings else 0.0
