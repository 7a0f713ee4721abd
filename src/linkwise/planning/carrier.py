"""What surrounds a robot along a planned motion, kept with the plan: numbers at even steps of time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.jet import part
from linkwise.kernel.tracing import Port, function, trace
from linkwise.motion.environment import Environment
from linkwise.planning.chart import Chart
from linkwise.planning.curve import Array, Curve
from linkwise.planning.drives import drives_of
from linkwise.planning.point import Point

ROWS = 2001  # at which the numbers are kept
POSE = 12  # numbers of a pose


@dataclass(frozen=True, eq=False)
class Carrier:
    """Wrenches on frames, the motion of a base, and gravity in its axes.

    Args:
        frames: on which wrenches act.
        moves: whether the base moves.
        rates: how many rates of wrenches, and of the base's acceleration, are kept.
        rows: (steps, width) at even fractions of the motion's time: for each rate the wrenches of all frames; velocity,
            acceleration and its rates; gravity; the base's pose in the world, as a rotation and a position.
        duration: s.
    """

    frames: tuple[str, ...]
    moves: bool
    rates: int
    rows: Array
    duration: float

    @classmethod
    def of(cls, environment: Environment, chart: Chart, curve: Curve) -> Carrier | None:
        """The carrier of an environment along a motion; None where nothing surrounds the robot."""
        if not environment:
            return None
        robot, base = chart.robot, environment.base
        rates, t = max(1, 2 * drives_of(robot).levels + 1), np.linspace(0.0, curve.duration, ROWS)
        if environment.placed:
            parts = _loads_along(environment, chart, curve, t, rates)
            parts += base.inputs(t, robot.gravity, 2 + rates) if base else []
        else:
            parts = environment.inputs(t, robot.gravity, rates)
        parts += [base.poses(t)] if base else []
        flat = np.hstack([x.reshape(ROWS, -1) for x in parts])
        return cls(tuple(environment.loads), base is not None, rates, flat, curve.duration)

    @staticmethod
    def width(frames: int, moves: bool, rates: int) -> int:
        """How many numbers a row has."""
        return 6 * frames * (rates + 1) + (6 * (2 + rates) + 3 + POSE if moves else 0)

    @property
    def options(self) -> dict[str, Any]:
        """The options of `lw.compile` whose inputs these are."""
        return {"external": self.frames, **({"base_motion": True, "gravity": "input"} if self.moves else {})}

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicSpline

        return CubicSpline(np.linspace(0.0, 1.0, len(self.rows)), self.rows)

    def inputs(self, t: Any, rates: int) -> list[Array]:
        """What a kernel takes at times t (...,) that needs so many rates; outside of the motion, as at its ends."""
        found = self._spline(np.clip(np.asarray(t, dtype=float) / self.duration, 0.0, 1.0))
        count = 6 * len(self.frames)
        loads = [found[..., k * count : (k + 1) * count] for k in range(rates + 1 if count else 0)]
        parts = [x.reshape(*x.shape[:-1], -1, 6) for x in loads]
        if self.moves:
            begin = count * (self.rates + 1)
            parts += [found[..., begin + 6 * k : begin + 6 * k + 6] for k in range(2 + rates)]
            parts.append(found[..., -3 - POSE : -POSE])
        return parts

    def poses(self, t: Any) -> Array:
        """Rotations, row after row, then positions of the base in the world (..., 12) at times t (...,)."""
        return np.asarray(self._spline(np.clip(np.asarray(t, dtype=float) / self.duration, 0.0, 1.0))[..., -POSE:])


def _loads_along(environment: Environment, chart: Chart, curve: Curve, t: Array, rates: int) -> list[Array]:
    """Wrenches on frames (rows, frames, 6) and so many rates of them, which depend on where the robot is."""
    orders, frames = rates + 2, len(environment.loads)

    def run(p: list[Any], t: list[Any]) -> list[list[Any]]:
        motion = [p[k * chart.n : (k + 1) * chart.n] for k in range(orders)]
        motion += [[0.0] * chart.n for _ in range(5 - orders)]
        point = Point(chart.robot, motion, 0.0, (), chart, environment, t[0])
        flat = [x for wrench in point.loads(rates).values() for x in wrench]
        return [[part(x, k) for x in flat] for k in range(rates + 1)]

    outputs = [Port(f"rate{k}", (frames, 6)) for k in range(rates + 1)]
    kernel = function(trace("loads", run, [Port("p", (orders, chart.n)), Port("t", ())], outputs))
    found = list(kernel(np.stack([curve(t, k) for k in range(orders)], axis=1), t))
    bad = ~np.all([np.isfinite(x).all(axis=(1, 2)) for x in found], axis=0)
    if bad.any():
        raise InputError(
            f"external: expected finite wrenches with {rates} rates, got some that are not at t = {t[bad][0]:g} s."
            " Laws must be smooth there."
        )
    return found
