"""Rows of contacts that stand: frames that stay in place, friction, pressure within the sole, feet that are lifted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.planning.chart import Chart
from linkwise.planning.curve import Array, Basis
from linkwise.planning.rows import Rows
from linkwise.planning.stance import LEVER, Stance
from linkwise.scalar import Scalar, sqrt
from linkwise.vector import Mat3, Vec3, dot

if TYPE_CHECKING:
    from linkwise.planning.point import Point

AXES = ("x", "y", "z")
LIFT = "contact lift"
BLUNT = 1e-4  # of the weight: by how much the tip of a friction cone is rounded outwards
RISING = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (0.0, 0.0, 1.0, 1.0, 0.0, 0.0)  # of a swing, and of the lift by then


def contact_rows(chart: Chart, basis: Basis, begin: list[Array], end: list[Array]) -> list[Rows]:
    """What contacts ask for. Places are held exactly at as many instants as curves have free numbers in a phase.

    Args:
        chart: what moves on splines.
        basis: of the splines.
        begin: numbers on splines at the start, and their derivatives; nan where they are free.
        end: the same at the goal.
    """
    known = [[bool(np.isfinite(x[: chart.moving]).all()) for x in ends] for ends in (begin, end)]
    found: list[Rows] = []
    for k, stance in enumerate(chart.stances):
        found += [_held(stance, basis, *known), _between(stance), _friction(stance, k)]
        if stance.is_sole:
            found.append(_pressure(stance, k))
        if stance.lift > 0.0 or not stance.stands(np.linspace(0.0, 1.0, 401)).all():
            found.append(_lifted(stance))
    return found


# ---- where frames are


def _off(stance: Stance) -> Callable[[Point], list[Scalar]]:
    """How far the frame is from its place, and turned from it where it has a sole; a point is that of its middle."""

    def function(p: Point) -> list[Scalar]:
        X = p.pose(stance.frame)
        R, at = Mat3.of([p.data[0:3], p.data[3:6], p.data[6:9]]), Vec3(*p.data[9:12])
        if not stance.is_sole:
            return list(X.point(stance.middle) - (at + R @ stance.middle))
        E = R.T @ X.R
        twice = 2.0 / sqrt(E.x.x + E.y.y + E.z.z + (1.0 + 1e-9))
        turn = [(E.z.y - E.y.z) * 0.5 * twice, (E.x.z - E.z.x) * 0.5 * twice, (E.y.x - E.x.y) * 0.5 * twice]
        return [*(X.p - at), *turn]

    return function


def _names(stance: Stance) -> tuple[str, ...]:
    turns = [f"{stance.name}.r{x}" for x in AXES] if stance.is_sole else []
    return (*(f"{stance.name}.{x}" for x in AXES), *turns)


def _held(stance: Stance, basis: Basis, begin: list[bool], end: list[bool]) -> Rows:
    at: list[float] = []
    for a, b in stance.phases:
        inner = [x for x in basis.breaks if a - 1e-12 <= x <= b + 1e-12]
        own = Basis(basis.degree, tuple((np.array(inner) - inner[0]) / (inner[-1] - inner[0]))).abscissae
        own = inner[0] + own * (inner[-1] - inner[0])
        taken = [k for k, known in enumerate(begin) if known and a <= 0.0]  # by the start and the goal
        taken += [len(own) - 1 - k for k, known in enumerate(end) if known and b >= 1.0]
        at += np.delete(own, taken).tolist()
    names = _names(stance)
    zero, one = np.zeros(len(names)), np.ones(len(names))
    return Rows("contact", names, _off(stance), zero, zero, one, at=tuple(at), data=stance.reference, width=12)


def _between(stance: Stance) -> Rows:
    names = _names(stance)
    band, size = np.full(len(names), stance.slip), np.full(len(names), LEVER)
    return _while(stance, Rows("contact slip", names, _off(stance), -band, band, size, data=stance.reference, width=12))


def _while(stance: Stance, rows: Rows) -> Rows:
    """The same rows, bounded while the contact stands."""
    low, high = rows.lower, rows.upper

    def bounds(s: Array) -> tuple[Array, Array]:
        stands = stance.stands(s)[:, None]
        return np.where(stands, low, -np.inf), np.where(stands, high, np.inf)

    return Rows(**{**vars(rows), "bounds": bounds})


def _lifted(stance: Stance) -> Rows:
    """The height of a frame above the way between its places."""

    def height(p: Point) -> list[Scalar]:
        X, at = p.pose(stance.frame), Vec3(*p.data[9:12])
        return [dot(stance.normal, X.p - at)]

    ends = [0.0, *(x for phase in stance.phases for x in phase), 1.0]
    swings = list(zip(ends[::2], ends[1::2], strict=True))

    def bounds(s: Array) -> tuple[Array, Array]:
        low = np.where(stance.stands(s), -np.inf, -stance.slip)
        for a, b in swings:
            if 0.0 < a < b < 1.0:
                within = (s > a) & (s < b)
                low[within] += (stance.lift + stance.slip) * np.interp((s[within] - a) / (b - a), *RISING)
        return low[:, None], np.full((len(s), 1), np.inf)

    size = np.array([max(stance.lift, 0.01)])
    name = (f"{stance.name}.height",)
    return Rows(LIFT, name, height, scale=size, bounds=bounds, data=stance.reference, width=12)


# ---- what the ground can exert


def _friction(stance: Stance, k: int) -> Rows:
    """The force within the cone of friction, and the moment about the normal, in weights."""
    unit, mu, spin = 1.0 / stance.weight, stance.friction, stance.torsion

    def function(p: Point) -> list[Scalar]:
        fx, fy, fz, _, _, mz = (x * unit for x in p.contacts[k])
        cone = [mu * fz + BLUNT - sqrt(fx * fx + fy * fy + BLUNT**2), fz]
        return [*cone, (spin * fz - mz) * (1.0 / LEVER), (spin * fz + mz) * (1.0 / LEVER)] if stance.is_sole else cone

    names = ("cone", "normal", *(("torsion", "torsion back") if stance.is_sole else ()))
    return _from_zero(stance, "friction", names, function)


def _pressure(stance: Stance, k: int) -> Rows:
    """The centre of pressure on the inner side of each edge of the sole, times the normal force."""
    unit, corners = 1.0 / stance.weight, np.array(stance.corners)
    edges = np.roll(corners, -1, axis=0) - corners
    edges /= np.linalg.norm(edges, axis=1)[:, None]

    def function(p: Point) -> list[Scalar]:
        _, _, fz, mx, my, _ = (x * unit for x in p.contacts[k])
        # the centre is at (-my, mx) / fz; its distance from an edge is e x (centre - corner)
        return [
            (ex * (mx - cy * fz) - ey * (-my - cx * fz)) * (1.0 / LEVER)
            for (cx, cy), (ex, ey) in zip(corners.tolist(), edges.tolist(), strict=True)
        ]

    return _from_zero(stance, "pressure", tuple(f"edge{i + 1}" for i in range(len(corners))), function)


def _from_zero(stance: Stance, label: str, names: tuple[str, ...], function: Any) -> Rows:
    """Rows that are not negative while the contact stands."""
    full, count = tuple(f"{stance.name}.{x}" for x in names), len(names)
    return _while(stance, Rows(label, full, function, np.zeros(count), np.full(count, np.inf), np.ones(count)))
