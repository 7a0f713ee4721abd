"""What is wanted of joint positions beside a pose, where some directions of motion are free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError, UnknownNameError
from linkwise.planning.inverse_kinematics_solver import Found, PoseProblem
from linkwise.robot.robot import Robot

Array = NDArray[np.float64]
KINDS = ("middle", "manipulability")
ROUNDS, STRIDE, STILL = 80, 0.3, 1e-7  # of the search among what is free: at most, the longest and the shortest step
FLAT = 1e-9  # of the squared Jacobian, added so that singular positions have a value


@dataclass(frozen=True, eq=False)
class Preference:
    """A cost of joint positions, with its slope and a bound of its bend, all (rows, nq).

    Args:
        robot: a tree whose joints have one coordinate each, but for a base that stays.
        problem: the frame, and the joints that move.
        middle: where each joint is best.
        weights: by how much it counts to be there; 0 for joints that may be anywhere.
        manipulability: whether instead the joints should move the tool well in all directions.
    """

    robot: Robot
    problem: PoseProblem
    middle: Array
    weights: Array
    manipulability: bool = False

    def values(self, q: Array) -> Array:
        """(rows,)."""
        if not self.manipulability:
            return np.asarray(0.5 * ((q - self.middle) ** 2 @ self.weights))
        return np.asarray(-0.5 * np.linalg.slogdet(self._square(self.problem.jacobians(q)))[1])

    def slopes(self, q: Array) -> tuple[Array, Array]:
        """The derivative of the cost, and its bend along each joint."""
        if not self.manipulability:
            return self.weights * (q - self.middle), np.broadcast_to(self.weights, q.shape)
        J = self.problem.jacobians(q)
        back = np.swapaxes(J, 1, 2) @ np.linalg.inv(self._square(J))
        found = np.zeros_like(q)
        for at, to in self.problem.singles:
            unit = np.zeros((len(q), self.robot.nv))
            unit[:, to] = 1.0
            found[:, at] = -np.einsum("kij,kji->k", back, self.problem.jacobian_rates(q, unit))
        return found, np.ones_like(q)

    def _square(self, J: Array) -> Array:
        return np.asarray(J @ np.swapaxes(J, 1, 2) + FLAT * np.eye(J.shape[1]))


def preference(robot: Robot, problem: PoseProblem, given: Any, what: str) -> Preference:
    """What users give as `prefer=`: "middle", "manipulability", or positions as a vector or by joint."""
    if robot.follows:
        raise InputError(
            f"{what} prefer: expected a robot without loops, got {robot.name!r}, whose joints follow others."
        )
    if isinstance(given, str):
        if given not in KINDS:
            raise UnknownNameError(f"{what} prefer", given, KINDS)
        low, high = problem.lower, problem.upper
        known = np.isfinite(low) & np.isfinite(high) & problem.free & (high > low)
        middle = np.where(known, 0.5 * (np.where(known, low, 0.0) + np.where(known, high, 0.0)), 0.0)
        half = np.where(known, 0.5 * (np.where(known, high, 1.0) - np.where(known, low, -1.0)), 1.0)
        return Preference(robot, problem, middle, known / half**2, given == "manipulability")
    if isinstance(given, Mapping):
        at, named = robot.q(given), np.zeros(robot.nq)
        if not np.isfinite(at).all():
            raise InputError(f"{what} prefer: expected finite positions by joint, got {dict(given)!r}.")
        for name in given:
            slot = robot.slots[name]
            named[slot.q : slot.q + slot.nq] = 1.0
        return Preference(robot, problem, at, named * problem.free)
    try:
        at = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        at = np.empty(0)
    if at.shape != (robot.nq,) or not np.isfinite(at).all():
        raise InputError(
            f"{what} prefer: expected 'middle', 'manipulability', {robot.nq} positions or positions by joint, got"
            f" {given!r}."
        )
    return Preference(robot, problem, at, problem.free.astype(float))


def settled(problem: PoseProblem, T: Array, reached: Found, prefer: Preference) -> Found:
    """The rows that reached their poses, moved to what is preferred while the frame stays; the others as they are."""
    found = Found(
        reached.q.copy(), reached.converged.copy(), reached.position_error.copy(), reached.rotation_error.copy()
    )
    rows = np.flatnonzero(found.converged)
    q, scale = found.q[rows], np.ones(len(rows))
    cost = prefer.values(q)
    for _ in range(ROUNDS):
        if not len(rows):
            break
        step = null_step(problem, q, *prefer.slopes(q))
        size = np.maximum(np.abs(step).max(axis=1), 1e-300)
        tried = problem.inside(q + step * np.minimum(scale, STRIDE / size)[:, None])
        again = problem.solve(T[rows], tried, 30)
        now = prefer.values(again.q)
        better = again.converged & (now < cost)
        for all_, some in zip(found, again, strict=True):
            all_[rows[better]] = some[better]
        q, cost = np.where(better[:, None], again.q, q), np.where(better, now, cost)
        scale = np.where(better, np.minimum(2.0 * scale, 1.0), 0.25 * scale)
        going = (scale * size > STILL) & (size > STILL)
        rows, q, scale, cost = rows[going], q[going], scale[going], cost[going]
    return found


def null_step(problem: PoseProblem, q: Array, gradient: Array, bend: Array) -> Array:
    """Newton's step within the null space of the frame's Jacobian; joints at a limit that would leave it stay."""
    at, to = (np.array(x, dtype=int) for x in zip(*problem.singles, strict=True))
    low, high = q[:, at] <= problem.lower[at] + 1e-9, q[:, at] >= problem.upper[at] - 1e-9
    J, g, b = problem.jacobians(q)[:, :, to], gradient[:, at], bend[:, at]
    stays = (low & (g > 0.0)) | (high & (g < 0.0))
    J = np.where(stays[:, None, :], 0.0, J)
    free = len(at) - J.shape[1]
    step = np.zeros_like(q)
    if free <= 0:
        return step
    Z = np.swapaxes(np.linalg.svd(J)[2][:, -free:], 1, 2) * ~stays[:, :, None]
    H = np.swapaxes(Z, 1, 2) @ (b[:, :, None] * Z) + 1e-9 * np.eye(free)
    right = np.einsum("kif,ki->kf", Z, g)
    step[:, at] = -np.einsum("kif,kf->ki", Z, np.linalg.solve(H, right[..., None])[..., 0])
    return step
