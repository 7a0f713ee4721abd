"""Positions of all joints of a machine, from those that lead or from those of the drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.algorithms.closure import tree_positions
from linkwise.errors import InputError
from linkwise.kernel.closure import reference_of
from linkwise.robot import check
from linkwise.robot.coordinates import drive_slots
from linkwise.robot.leading import refuse_wheels
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
        drive_condition: (...,), of the drives' Jacobian: 1 is best; infinite where the drives do not hold the machine.
    """

    reached: NDArray[np.bool_]
    within: NDArray[np.bool_]
    excess: Array
    condition: Array
    drive_condition: Array


def positions(dyn: Any, q: Any, extra: tuple[Any, ...], drives: Any, guess: Any, along: Any) -> Positions:
    """See `Dynamics.positions`."""
    robot = dyn.robot
    if (q is None) == (drives is None):
        raise InputError("positions: expected either q or drives=..., got both." if q is not None else
                         "positions: expected q, or drives=..., got neither.")  # fmt: skip
    if not isinstance(along, (bool, np.bool_)):
        raise InputError(f"positions along: expected True or False, got {along!r}.")
    if drives is not None:
        refuse_wheels(robot, "positions drives")
        led = led_by_drives(robot)
        return positions(type(dyn)(led, dyn.options), _ordered(robot, led, drives), extra, None, guess, along)
    if isinstance(q, Mapping):
        q = robot.q(_all_named(robot, q))
    rows = _rows(robot, q)
    further = [p.name for p in dyn.options.ports(robot, tree_positions)]
    if len(extra) != len(further):
        named = f" ({', '.join(further)})" if further else ""
        raise InputError(f"positions: expected {len(further)} further input(s){named} after q, got {len(extra)}.")
    if along and (rows.ndim < 2 or not rows.shape[-2]):
        raise InputError(f"positions along: expected rows of a motion (..., steps, {robot.nq}), got {rows.shape}.")
    if not robot.follows:
        batch, dtype = rows.shape[:-1], dyn.options.dtype
        return Positions(rows.astype(dtype), np.ones(batch, dtype=bool)[()], np.ones(batch, dtype=dtype)[()])
    if guess is not None:
        dyn = _near(dyn, guess)
    closed = _checked(dyn.tree_positions(rows, *extra))
    if not along:
        return closed
    if rows.ndim == 2 and dyn.options.structure(robot).sought:
        closed = _followed(dyn, rows, extra, closed)
    return closed._replace(q=_unwound(robot, closed.q))


def _rows(robot: Robot, q: Any) -> Array:
    """Leading positions as an array."""
    found = np.asarray(q)
    if found.dtype.kind not in "biuf":
        raise InputError(f"positions q: expected real numbers, got {q!r}.")
    if found.ndim < 1 or found.shape[-1] != robot.nq:
        raise InputError(
            f"positions q: expected shape (..., {robot.nq}), positions of {', '.join(map(repr, robot.coordinates))},"
            f" got {found.shape}."
        )
    return found.astype(float, copy=False)


def _followed(dyn: Any, rows: Array, extra: tuple[Any, ...], found: Positions) -> Positions:
    """A motion whose rows that Newton's method did not reach from the reference are sought from the row before."""
    q, converged, condition = found.q.copy(), found.converged.copy(), found.condition.copy()
    for k in range(1, len(rows)):
        if converged[k] or not converged[k - 1]:
            continue
        ahead = _checked(_near(dyn, q[k - 1]).tree_positions(rows, *extra))
        new = ~converged & ahead.converged
        new[:k] = False
        q[new], converged[new], condition[new] = ahead.q[new], True, ahead.condition[new]
    return Positions(q, converged, condition)


def _unwound(robot: Robot, q: Array) -> Array:
    """Positions of a motion in which joints that follow do not jump by whole turns."""
    opened, unwound = robot.opened(), q.copy()
    places = [s.q for n, s in opened.slots.items() if n not in robot.slots and s.kind.is_single and s.kind.turns]
    for row in np.ndindex(q.shape[:-2]):
        for k in places:
            column = unwound[(*row, slice(None), k)]
            known = np.isfinite(column)
            column[known] = np.unwrap(column[known])
    return unwound


def workspace(dyn: Any, q: Any, extra: tuple[Any, ...], length: Any = None) -> Workspace:
    """See `Dynamics.workspace`."""
    refuse_wheels(dyn.robot, "workspace")
    found = positions(dyn, q, extra, None, None, False)
    opened = dyn.robot.opened()
    low, high = np.full(opened.nq, -np.inf), np.full(opened.nq, np.inf)
    for j in opened.joints:
        slot = opened.slots.get(j.name)
        if slot is not None and j.freedom.is_single:
            low[slot.q], high[slot.q] = j.limits.lower, j.limits.upper
    beyond = np.maximum(np.maximum(low - found.q, found.q - high), 0.0)
    within = found.converged & (np.nan_to_num(beyond, nan=np.inf) <= 0.0).all(axis=-1)
    excess = np.where(found.converged[..., None], beyond, np.nan)
    return Workspace(found.converged, within, excess, found.condition, drive_condition(dyn, q, extra, length))


def drive_condition(dyn: Any, q: Any, extra: tuple[Any, ...], length: Any = None) -> Array:
    """The condition number (...,) of the drives' Jacobian, turns made comparable with shifts by a length."""
    robot = dyn.robot
    J = np.array(dyn.drive_jacobian(robot.q(q) if isinstance(q, Mapping) else q, *extra))
    size = _length(robot) if length is None else check.number(length, "workspace length", above=0.0)
    rows = [x for s in drive_slots(robot).values() for x in s.kind.lengths]
    columns = [x for s in robot.slots.values() for x in s.kind.lengths]
    J *= np.where(columns, size, 1.0)
    J /= np.where(rows, size, 1.0)[:, None]
    sound = np.isfinite(J).all(axis=(-2, -1))
    J[~sound] = 0.0
    values = np.linalg.svd(J, compute_uv=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = values[..., 0] / values[..., -1]
    return np.asarray(np.where(sound, np.where(np.isfinite(condition), condition, np.inf), np.nan)[()])


def _length(robot: Robot) -> float:
    """The length that makes turns comparable with shifts, m: the root mean square lever of the cuts at what leads."""
    ends = [o.p for loop in robot.loops for link, o in ((loop.a, loop.origin_a), (loop.b, loop.origin_b))
            if any(j.child == link and j.name in robot.slots for j in robot.joints)]  # fmt: skip
    squares = [sum(x * x for x in p) for p in ends]
    return float(np.sqrt(np.mean(squares))) if any(squares) else 1.0


def checked_weights(robot: Robot, weights: Any) -> Array:
    """Weights of the drives, 1 where they are not given."""
    if weights is None:
        return np.ones(robot.nu)
    try:
        array = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"weights: expected {robot.nu} numbers, got {weights!r}.") from None
    if not np.all(array > 0.0):
        raise InputError(f"weights: expected numbers above zero, got {weights!r}.")
    return array


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


def _near(dyn: Any, guess: Any) -> Any:
    """The functions of the same machine with another reference: one guess for all rows."""
    return type(dyn)(dyn.robot.replace(reference=reference_of(dyn.robot, guess)), dyn.options)


def _all_named(robot: Robot, q: Mapping[str, Any]) -> Mapping[str, Any]:
    """A mapping that names all that leads."""
    joints = [n for n in robot.coordinates if n not in {j.motor_name for j in robot.joints if j.is_elastic}]
    missing = [n for n in joints if n not in q]
    if missing:
        raise InputError(f"positions q: expected {', '.join(joints)}, got none for {', '.join(missing)}.")
    return q


def _checked(found: Any) -> Positions:
    ok = np.asarray(found.converged) > 0.5
    return Positions(np.where(ok[..., None], found.q_tree, np.nan), ok[()], np.where(ok, found.condition, np.nan)[()])
