"""Walking that follows measured or published curves: a term for `walk`, beside effort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.check import positive
from linkwise.errors import InputError, UnknownNameError, listing
from linkwise.planning.curve import Array
from linkwise.planning.point import Point
from linkwise.planning.rows import Rows
from linkwise.planning.term_and_constraint import Term
from linkwise.robot.robot import Robot
from linkwise.scalar import Scalar
from linkwise.walking.norms import band

ANGLES = {"hip_flex": "hip_angle", "knee": "knee_angle", "ank_flex": "ankle_angle"}
WIDTH = np.deg2rad(5.0).item()  # how far off counts as one, where nothing is said of it


@dataclass(frozen=True, eq=False)
class Curve:
    """An angle over the stride of the right leg, and how far off counts as one: both rad, at even steps of time."""

    angle: Array
    width: Array

    def at(self, percent: Array) -> tuple[Array, Array]:
        """Both at percents of the stride."""
        return self._sampled(self.angle, percent), self._sampled(self.width, percent)

    def _sampled(self, values: Array, percent: Array) -> Array:
        return np.interp(percent, np.linspace(0.0, 100.0, len(values)), values)


@dataclass(frozen=True, eq=False)
class Tracking(Term):
    """The integral of the squared distance of angles from curves, each over its width, and the mean over curves.

    Curves of frozen joints do not count.
    """

    curves: Mapping[str, Curve]
    strides: float = field(default=0.5)  # of the motion

    def over(self, steps: int) -> Tracking:
        """For a motion of so many steps."""
        return Tracking(self.curves, 0.5 * steps)

    def integrand(self, robot: Robot) -> tuple[Rows, Array, bool]:
        frozen = {j.name for j in robot.joints if j.is_fixed}
        curves = {name: curve for name, curve in self.curves.items() if name not in frozen}
        for name in curves:
            if name not in robot.names:
                raise UnknownNameError("joint in tracking", name, robot.names)
        if not curves:
            raise InputError(
                f"tracking: expected a curve of a joint that moves, got those of frozen ones, {listing(self.curves)}."
                " Leave the term out, or freeze fewer joints."
            )
        at = [robot.names.index(name) for name in curves]

        def wanted(s: Array) -> Array:
            pairs = [curve.at(100.0 * self.strides * s) for curve in curves.values()]
            return np.stack([x for angle, width in pairs for x in (angle / width, 1.0 / width)], axis=1)

        def function(p: Point) -> list[Scalar]:
            return [p.q[k] * p.data[2 * i + 1] - p.data[2 * i] for i, k in enumerate(at)]

        rows = Rows("tracking", tuple(curves), function, data=wanted, width=2 * len(at))
        return rows, np.full(len(at), 1.0 / len(at)), True


def tracking(curves: Any = None, width: Any = WIDTH) -> Tracking:
    """A term that keeps angles near measured ones: lw.walking.effort() + 0.05 * lw.walking.tracking(curves).

    Without curves hip, knee and ankle of both legs follow the published bands, a standard deviation counting as one.
    Ground reactions are not followed: torques and forces through joints are those of a predicted walk, tens of N m off
    those of the person whose angles were measured.

    Args:
        curves: angles by coordinate, rad, such as {"knee_r": angles}: at even steps of time from a heel strike of the
            right foot to its next, both included.
        width: how far off counts as one, rad: a number for all, or by coordinate.
    """
    if curves is None:
        return Tracking(published())
    if not isinstance(curves, Mapping) or not curves:
        raise InputError(f"tracking: expected angles by coordinate, such as {{'knee_r': angles}}, got {curves!r}.")
    widths = width if isinstance(width, Mapping) else dict.fromkeys(curves, width)
    for name in widths:
        if name not in curves:
            raise UnknownNameError("width in tracking", name, curves)
    found = {}
    for name, values in curves.items():
        angles = _angles(name, values)
        one = positive(widths.get(name, WIDTH), f"tracking width of {name!r}")
        found[name] = Curve(angles, np.full(len(angles), one))
    return Tracking(found)


def published() -> dict[str, Curve]:
    """The bands of hip, knee and ankle, each leg's over its own stride."""
    found = {}
    for side, begin in (("r", 0.0), ("l", 50.0)):
        for stem, name in ANGLES.items():
            b = band(name)
            percent = (np.linspace(0.0, 100.0, 101) + begin) % 100.0
            mean, high = (np.interp(percent, b.percent, x) for x in (b.mean, b.high))
            found[f"{stem}_{side}"] = Curve(np.deg2rad(mean), np.deg2rad(high - mean))
    return found


def _angles(name: str, values: Any) -> Array:
    try:
        angles = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"tracking {name!r}: expected angles over a stride, got {values!r}.") from error
    if angles.ndim != 1 or len(angles) < 3 or not np.isfinite(angles).all():
        raise InputError(f"tracking {name!r}: expected at least 3 finite angles over a stride, got {values!r}.")
    if np.abs(angles).max() > 2.0 * np.pi:
        raise InputError(f"tracking {name!r}: expected radians, got up to {np.abs(angles).max():g}. Use np.deg2rad.")
    return angles
