"""The rows of the walking problem: sums of a few quantities of an instant, within bounds, each with a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from linkwise.walking.kernel import Group
from linkwise.walking.timetable import Moment

KINDS = ("contact", "slip", "ground", "zmp", "vertical", "torque", "arm_leg", "self", "symmetry", "knee")


class Row(NamedTuple):
    """A row at a grid point.

    Args:
        kind: which constraint.
        name: of what in it.
        at: the grid point.
        terms: pairs of a quantity's name and its factor.
        lower: bound.
        upper: bound.
    """

    kind: str
    name: str
    at: int
    terms: tuple[tuple[str, float], ...]
    lower: float
    upper: float


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


def rows_of(
    moments: Sequence[Moment], joints: Sequence[str], effort: dict[str, float], weight: float, b: Bounds
) -> Iterator[Row]:
    """The rows that depend on the motion at single instants.

    Args:
        moments: of the grid.
        joints: with bounded torques.
        effort: bounds of torques by joint, N m.
        weight: of the body with its loads, N.
        b: how tight rows are.
    """
    for k, m in enumerate(moments):
        for place, target in m.contacts:
            yield Row("contact", place, k, ((place, 1.0),), target - b.contact, target + b.contact)
        for place, _ in m.contacts:
            yield Row("slip", place, k, ((f"speed.{place}", 1.0),), -b.slip, b.slip)
        for place in m.above:
            yield Row("ground", place, k, ((place, 1.0),), _clearance(m, place, b), inf)
        for f, (a_x, a_z, c) in enumerate(m.facets):
            terms = (("ground.mz", a_x / weight), ("ground.mx", -a_z / weight), ("ground.fy", c / weight))
            yield Row("zmp", f"facet{f + 1}", k, terms, -inf, 0.0)
        yield Row("vertical", "ground.fy", k, (("ground.fy", 1.0 / weight),), b.vertical, inf)
        for joint in joints:
            yield Row("torque", joint, k, ((joint, 1.0 / effort[joint]),), -1.0, 1.0)
        for name in ("arm_l_leg_r", "arm_r_leg_l"):
            yield Row("arm_leg", name, k, ((name, 1.0),), 0.0, inf)
        for name in ("wrist_hip_r", "wrist_hip_l"):
            yield Row("self", name, k, ((name, 1.0),), b.apart**2, inf)


def _clearance(m: Moment, place: str, b: Bounds) -> float:
    """How high a point has to be: nothing at both ends of the swing, all of the clearance in its middle."""
    swings = m.phase != "double" and place.split(".")[0][-1] == ("l" if m.support.right else "r")
    return b.clearance * m.lift if swings else 0.0


def places_of(groups: Sequence[Group]) -> dict[str, tuple[int, int]]:
    """Group and place in it of every quantity of an instant."""
    return {name: (g, k) for g, group in enumerate(groups) for k, name in enumerate(group.names)}
