"""Positions of all joints of a machine, from those that lead or from those of the drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms import tree_positions
from linkwise.errors import InputError
from linkwise.kernel.kernel import Kernel
from linkwise.robot.robot import Robot

Array = NDArray[np.float64]


class Positions(NamedTuple):
    """Positions of the whole tree.

    Args:
        q: (..., nq of `robot.opened()`), of all joints; rows that cannot be closed are NaN.
        converged: (...,), whether the loops are closed.
        condition: (...,), how well what leads holds the rest: 1 at best, large near a singular configuration.
    """

    q: Array
    converged: NDArray[np.bool_]
    condition: Array


class Workspace(NamedTuple):
    """Whether positions can be taken.

    Args:
        reached: (...,), whether the loops close.
        within: (...,), whether all joints are then within their limits of position.
        excess: (..., nq of `robot.opened()`), by how much joints are beyond their limits; NaN where loops do not close.
        condition: (...,), as of `Positions`.
    """

    reached: NDArray[np.bool_]
    within: NDArray[np.bool_]
    excess: Array
    condition: Array


def positions(dyn: Any, q: Any, extra: tuple[Any, ...], drives: Any, guess: Any, along: Any) -> Positions:
    """See `Dynamics.positions`."""
    robot = dyn.robot
    if (q is None) == (drives is None):
        raise InputError("positions: expected either q or drives=..., got both." if q is not None else
                         "positions: expected q, or drives=..., got neither.")  # fmt: skip
    if not isinstance(along, (bool, np.bool_)):
        raise InputError(f"positions along: expected True or False, got {along!r}.")
    if drives is not None:
        led = led_by_drives(robot)
        return positions(type(dyn)(led, dyn.options), _ordered(robot, led, drives), extra, None, guess, along)
    if isinstance(q, Mapping):
        q = robot.q(q)
    if guess is not None and robot.follows:
        robot = robot.replace(reference=_reference(robot, guess))
        dyn = type(dyn)(robot, dyn.options)
    if not along or not robot.loops:
        return _checked(dyn.tree_positions(q, *extra))
    rows = np.asarray(q, dtype=float)
    if rows.ndim != 2 or not len(rows):
        raise InputError(f"positions along: expected the rows of a motion (steps, {robot.nq}), got {rows.shape}.")
    return _followed(dyn, rows, extra)


def _followed(dyn: Any, rows: Array, extra: tuple[Any, ...]) -> Positions:
    """A motion row by row, each beginning where the last one that closed ended."""
    kernel = Kernel.of(dyn.robot, tree_positions, dyn.options, {})
    whole = _checked(kernel(rows, *extra))
    if whole.converged.all():
        return whole
    found, now = [], dyn
    for row in rows:
        here = _checked(now.tree_positions(row, *extra))
        if here.converged:
            robot = dyn.robot.replace(reference=_reference(dyn.robot, here.q))
            now = type(dyn)(robot, dyn.options)
        found.append(here)
    return Positions(*(np.stack(column) for column in zip(*found, strict=True)))


def workspace(dyn: Any, q: Any, extra: tuple[Any, ...]) -> Workspace:
    """See `Dynamics.workspace`."""
    found = positions(dyn, q, extra, None, None, False)
    opened = dyn.robot.opened()
    low, high = np.full(opened.nq, -np.inf), np.full(opened.nq, np.inf)
    for j in opened.joints:
        slot = opened.slots.get(j.name)
        if slot is not None and j.freedom.is_single:
            low[slot.q], high[slot.q] = j.limits.lower, j.limits.upper
    beyond = np.maximum(np.maximum(low - found.q, found.q - high), 0.0)
    within = found.converged & (np.nan_to_num(beyond, nan=np.inf) <= 0.0).all(axis=-1)
    return Workspace(found.converged, within, np.where(found.converged[..., None], beyond, np.nan), found.condition)


def checked_weights(robot: Robot, weights: Any) -> Array:
    """Weights of the drives, 1 where they are not given."""
    if weights is None:
        return np.ones(robot.nu)
    try:
        found = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"weights: expected {robot.nu} numbers, got {weights!r}.") from None
    if not np.all(found > 0.0):
        raise InputError(f"weights: expected numbers above zero, got {weights!r}.")
    return found


def led_by_drives(robot: Robot) -> Robot:
    """The same machine, led by its drives: as many of them as what leads now."""
    if not robot.loops:
        return robot
    if robot.nu != robot.nv:
        raise InputError(
            f"positions drives: expected a machine with as many drives as degrees of freedom, got {robot.nu} and"
            f" {robot.nv}. Give q, or name leads."
        )
    return robot.replace(leads=[j.name for j in robot.joints if j.name in robot.drives])


def _ordered(robot: Robot, led: Robot, drives: Any) -> Any:
    """Positions of the drives in the order in which they lead."""
    if isinstance(drives, Mapping):
        if set(drives) != set(robot.drives):
            raise InputError(f"positions drives: expected {robot.drives}, got {tuple(drives)}.")
        drives = np.concatenate([np.atleast_1d(np.asarray(drives[n], dtype=float)) for n in robot.drives])
    try:
        given = np.asarray(drives, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"positions drives: expected {robot.nu} numbers, got {drives!r}.") from None
    if given.ndim < 1 or given.shape[-1] != led.nq:
        raise InputError(f"positions drives: expected shape (..., {led.nq}), got {given.shape}.")
    slots, at, places = led.slots, 0, np.zeros(led.nq, dtype=int)
    for name in robot.drives:
        places[slots[name].q : slots[name].q + slots[name].nq] = range(at, at + slots[name].nq)
        at += slots[name].nq
    return given[..., places]


def _reference(robot: Robot, guess: Any) -> dict[str, tuple[float, ...]]:
    """Positions of all joints by name."""
    opened = robot.opened()
    whole = opened.q(guess)
    slots = {j.name: opened.slots[j.name] for j in opened.joints if j.nv}
    return {n: tuple(whole[s.q : s.q + s.nq]) for n, s in slots.items()}


def _checked(found: Any) -> Positions:
    ok = np.asarray(found.converged) > 0.5
    return Positions(np.where(ok[..., None], found.q_tree, np.nan), ok[()], np.where(ok, found.condition, np.nan)[()])
