"""Prescribed motions of joints: functions of time, splines, or a position to hold."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError, SimulationError, UnknownNameError
from linkwise.motion.spline import body_rates
from linkwise.robot.robot import Robot, Slot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Prescribed:
    """The prescribed motion of one joint."""

    joint: str
    slot: Slot
    function: Callable[[float], Any]  # of time, to position, velocity and acceleration

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Position (nq), velocity (nv) and acceleration (nv) at a time."""
        found = self.function(t)
        widths = (self.slot.nq, self.slot.nv, self.slot.nv)
        try:
            parts = tuple(np.asarray(x, dtype=float).reshape(-1) for x in found)
        except (TypeError, ValueError):
            parts = ()
        if tuple(map(len, parts)) != widths:
            raise InputError(
                f"driven {self.joint!r} at t = {t:g} s: expected position, velocity and acceleration of"
                f" {widths[0]}, {widths[1]} and {widths[2]} numbers, got {found!r}."
            )
        q, qd, qdd = parts
        if not all(np.isfinite(x).all() for x in parts):
            raise SimulationError(
                f"driven {self.joint!r} at t = {t:g} s: expected finite numbers, got position {q}, velocity {qd},"
                f" acceleration {qdd}. Is the motion defined up to the end of the simulation?"
            )
        return q, qd, qdd


class Splines:
    """Motions of single joints that are SciPy's piecewise polynomials on the same intervals, evaluated all at once.

    Args:
        motions: of joints whose splines `spline_of` knows, all with the same breakpoints.
    """

    def __init__(self, motions: Sequence[Prescribed]) -> None:
        splines = [spline_of(m) for m in motions]
        self.q, self.v = (np.array([getattr(m.slot, key) for m in motions], dtype=int) for key in ("q", "v"))
        self._breaks = splines[0].x.tolist()
        degree = max(len(s.c) for s in splines)
        rates = [[s, s.derivative(1), s.derivative(2)] for s in splines]
        # for each interval: powers, from the lowest; position, velocity, acceleration; joints
        self._c = np.zeros((len(self._breaks) - 1, degree, 3, len(motions)))
        for k, every in enumerate(rates):
            for order, s in enumerate(every):
                self._c[:, : len(s.c), order, k] = s.c[::-1].T

    def at(self, t: float) -> Array:
        """Positions, velocities and accelerations of the joints, (3, n)."""
        k = min(max(bisect_right(self._breaks, t) - 1, 0), len(self._c) - 1)
        lowest, *higher = self._c[k]
        found, since = lowest.copy(), t - self._breaks[k]
        power = 1.0
        for c in higher:
            power *= since
            found += c * power
        return found


def spline_of(motion: Prescribed) -> Any:
    """The piecewise polynomial of a single joint that goes on beyond its ends; None where the motion is no such one."""
    from scipy.interpolate import PPoly

    given = motion.function
    found = given.args[0][0] if isinstance(given, partial) and given.func is _single else None  # made by `_of_spline`
    return found if isinstance(found, PPoly) and found.extrapolate is True and found.c.ndim == 2 else None


def together(motions: Sequence[Prescribed]) -> tuple[list[Splines], list[Prescribed]]:
    """Motions that can be evaluated at once, by their intervals, and the others."""
    groups: dict[bytes, list[Prescribed]] = {}
    others = []
    for m in motions:
        spline = spline_of(m)
        if spline is None:
            others.append(m)
        else:
            groups.setdefault(np.asarray(spline.x).tobytes(), []).append(m)
    return [Splines(g) for g in groups.values()], others


def prescribed(robot: Robot, driven: Any) -> tuple[Prescribed, ...]:
    """The motions of driven joints, checked, in the robot's order.

    A motion is a function of time that returns (q, qd, qdd), anything with the methods of SciPy's splines (a call, and
    `derivative`), or a position to hold.
    """
    if driven is None:
        return ()
    if not isinstance(driven, Mapping):
        raise InputError(f"driven: expected motions by joint, such as {{'elbow': motion}}, got {driven!r}.")
    for name in driven:
        if name not in robot.slots:
            raise UnknownNameError("joint in driven", name, robot.coordinates)
    return tuple(Prescribed(n, s, _function(n, s, driven[n])) for n, s in robot.slots.items() if n in driven)


def _function(joint: str, slot: Slot, motion: Any) -> Callable[[float], Any]:
    if hasattr(motion, "derivative"):
        return _of_spline(slot, motion)
    if callable(motion):
        return motion
    try:
        q = np.asarray(motion, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        q = np.empty(0)
    if len(q) != slot.nq:
        raise InputError(
            f"driven {joint!r}: expected a function of time, a spline or {slot.nq} number(s) to hold, got {motion!r}."
        )
    return partial(_held, (q, np.zeros(slot.nv), np.zeros(slot.nv)))


def _held(state: tuple[Array, Array, Array], t: float) -> tuple[Array, Array, Array]:
    return state


def _of_spline(slot: Slot, spline: Any) -> Callable[[float], Any]:
    """Value and derivatives; a floating joint's seven numbers give rates in its own axes."""
    every = (spline, spline.derivative(1), spline.derivative(2))
    return partial(_single if slot.nq == 1 else _floating, every, slot)


def _single(splines: tuple[Any, ...], slot: Slot, t: float) -> Any:
    return tuple(f(t) for f in splines)


def _floating(splines: tuple[Any, ...], slot: Slot, t: float) -> Any:
    x, dx, ddx = (np.reshape(f(t), (1, -1)) for f in splines)
    if x.shape[1] != slot.nq:
        return (x[0], dx[0], ddx[0])
    qd, qdd = body_rates(x, dx, ddx)
    return x[0], qd[0], qdd[0]
