"""What surrounds a robot along a planned motion, kept with the plan: numbers at even steps of time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.motion.environment import Environment
from linkwise.planning.curve import Array
from linkwise.planning.drives import drives_of
from linkwise.robot.robot import Robot

ROWS = 2001  # at which the numbers are kept


@dataclass(frozen=True, eq=False)
class Carrier:
    """Wrenches on frames, the motion of a base, and gravity in its axes.

    Args:
        frames: on which wrenches act.
        moves: whether the base moves.
        rates: how many rates of wrenches, and of the base's acceleration, are kept.
        rows: (steps, width) at even fractions of the motion's time: for each rate the wrenches of all frames; velocity,
            acceleration and its rates; gravity.
        duration: s.
    """

    frames: tuple[str, ...]
    moves: bool
    rates: int
    rows: Array
    duration: float

    @classmethod
    def of(cls, environment: Environment, robot: Robot, duration: float) -> Carrier | None:
        """The carrier of an environment, whose functions of time it samples; None where nothing surrounds the robot."""
        if not environment:
            return None
        rates = max(1, 2 * drives_of(robot).levels + 1)
        parts = environment.inputs(np.linspace(0.0, duration, ROWS), robot.gravity, rates)
        flat = np.hstack([x.reshape(ROWS, -1) for x in parts])
        return cls(tuple(environment.loads), environment.base is not None, rates, flat, duration)

    @staticmethod
    def width(frames: int, moves: bool, rates: int) -> int:
        """How many numbers a row has."""
        return 6 * frames * (rates + 1) + (6 * (2 + rates) + 3 if moves else 0)

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
            parts.append(found[..., -3:])
        return parts
