"""Positions of the joints that bring a frame to a pose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.check import positive, whole
from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.mechanism.structure import structure_of
from linkwise.planning.apart import Apart
from linkwise.planning.bounds import a_robot
from linkwise.planning.inverse_kinematics_step import step_kernel
from linkwise.planning.positions import given
from linkwise.planning.term_and_constraint import Constraint
from linkwise.robot.coordinates import find
from linkwise.robot.leading import looped_groups
from linkwise.robot.robot import Robot
from linkwise.spatial import Pose

Array = NDArray[np.float64]

HARDER, SOFTER = 8.0, 0.2  # factors of the damping after a step that failed, and after one that helped
STUCK = 1e8  # a damping at which a row is given up
SAME = 1e-6  # rad or m, by which closed loops may be off what was found, and joints off their limits
NEAR = 2e-3  # rad or m from a limit, at which a joint is said to be at it
WIDE = 1e3  # a bound for joints without limits, so that differences stay finite


class Found(NamedTuple):
    """The numbers of `Reached`."""

    q: Array
    converged: NDArray[np.bool_]
    position_error: Array
    rotation_error: Array


class Reached(Found):
    """Positions found, row by row: the best ones where a pose could not be reached, never NaN.

    `position_error` (m) and `rotation_error` (2 sin of half the angle, rad for small ones) count the directions asked
    for alone.
    """

    robot: Robot

    def view(self, path: str | PathLike[str] | None = None, **options: Any) -> FilePath:
        """A page that shows the robot at the positions, a row a second; see `Robot.view`."""
        from linkwise.view.page import view

        return view(self.robot, self.q.reshape(-1, self.robot.nq), path, **options)

    def _repr_html_(self) -> str:
        """The card of a notebook: a line for each row."""
        import linkwise.card as card

        title = f"inverse kinematics: {int(np.sum(self.converged))} of {np.size(self.converged)} rows converged"
        flat = (np.reshape(x, -1) for x in (self.converged, self.position_error, self.rotation_error))
        q = self.q.reshape(-1, self.q.shape[-1])
        rows = (
            ("yes" if fine else "no", f"{p:.2g}", f"{r:.2g}", " ".join(f"{x:.5g}" for x in at))
            for at, fine, p, r in zip(q, *flat, strict=True)
        )
        return card.card(title, card.table(("converged", "off by, m", "off by, rad", "q"), rows))


def inverse_kinematics(
    robot: Robot,
    frame: str,
    pose: Any,
    guess: Any = None,
    *,
    mask: Any = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    joints: Iterable[str] | None = None,
    prefer: Any = None,
    tolerance: float = 1e-8,
    iterations: int = 60,
    restarts: int = 60,
    seed: int = 0,
    clearance: Constraint | None = None,
) -> Reached:
    """Joint positions, within their limits, at which a frame has the pose; each row of poses by itself.

    Levenberg-Marquardt on the error e(q) in the target's axes, the position's R_t^T (p - p_t) and twice the vector of
    the quaternion of R_t^T R, with the exact Jacobian of both:

        (J^T W J + m e^T e 1) dq = -J^T W e

    A joint that would leave its limits is put on the limit, and the others are solved again. Rows that do not converge
    are tried again from random positions.

    With loops the joints that follow are unknowns too, the loop equations are solved along, and the positions found are
    those of what leads, in the assembly mode of the robot's reference.

    Args:
        robot: whose joints move.
        frame: a frame or link.
        pose: T_world_frame (..., 4, 4); or positions (..., 3), for which any rotation will do.
        guess: positions (..., nq) to start from, by name or as an array; zero, put within limits, without it, and with
            loops the reference.
        mask: six weights of the directions of the target's axes, linear first; 0 leaves a direction free, such as
            (1, 1, 1, 1, 1, 0) for a tool that may turn about its z axis.
        joints: those that may move; the others stay at the guess. All but floating ones without it; of loops those
            that lead, which the others follow.
        prefer: what to do with directions that are free, as of a robot with seven joints: "middle" brings joints away
            from their limits, "manipulability" makes them move the frame well in all directions; positions, as a vector
            or by joint, are come as near to as may be. None takes what is found first. It is a search from there, along
            postures in which the frame stays.
        tolerance: of the weighted error, in m and rad.
        iterations: at most, from each start.
        restarts: random starts for rows that did not converge from the guess.
        seed: of those starts.
        clearance: an lw.limit.clearance(...) that positions have to keep; those that do not are tried again, from
            where they are led away from what they touch, and from random starts.
    """
    a_robot(robot, "inverse_kinematics")
    targets, weights = _targets(pose, mask)
    robot.frame(frame)
    moving = _moving(robot, joints)
    start = _closed(robot, _start(robot, guess))
    positive(tolerance, "inverse_kinematics tolerance")
    whole(iterations, "inverse_kinematics iterations", 1)
    whole(restarts, "inverse_kinematics restarts", 0)
    batch = np.broadcast_shapes(targets.shape[:-2], start.shape[:-1])
    T = np.broadcast_to(targets, (*batch, 4, 4)).reshape(-1, 4, 4)
    q = np.broadcast_to(start, (*batch, start.shape[-1])).reshape(-1, start.shape[-1])
    problem, apart = PoseProblem(robot, frame, weights, moving, float(tolerance)), Apart.of(robot, clearance)
    reached = apart.checked(problem.solve(T, problem.inside(q), iterations))
    rng = np.random.default_rng(seed)
    for k in range(restarts):
        rows = np.flatnonzero(~reached.converged & np.isfinite(T).all(axis=(1, 2)))
        if not len(rows):
            break
        begin = apart.starts(k, reached.q[rows], problem.random(q[rows], rng))
        again = apart.checked(problem.solve(T[rows], problem.inside(begin), iterations))
        error = reached.position_error[rows] ** 2 + reached.rotation_error[rows] ** 2
        better = again.converged | (again.position_error**2 + again.rotation_error**2 < error)
        for all_, some in zip(reached, again, strict=True):
            all_[rows[better]] = some[better]
    if prefer is not None:
        from linkwise.planning.preference import preference, settled

        better = apart.checked(settled(problem, T, reached, preference(robot, problem, prefer, "inverse_kinematics")))
        for all_, some in zip(reached, better, strict=True):  # what touches something stays as it was
            all_[better.converged] = some[better.converged]
    q = _with_motors(robot, reached.q[:, problem.leads]).reshape(*batch, robot.nq)
    errors = reached.position_error.reshape(batch), reached.rotation_error.reshape(batch)
    result = Reached(q, reached.converged.reshape(batch), *errors)
    result.robot = robot
    return result


class PoseProblem:
    """One frame of a robot, the directions that count, and the joints that move."""

    def __init__(self, robot: Robot, frame: str, weights: Array, moving: Array, tolerance: float) -> None:
        self.machine, self.frame, self.weights, self.moving, self.tolerance = robot, frame, weights, moving, tolerance
        self.kernel = step_kernel(robot, frame)
        self.leads = list(structure_of(robot).lead_q)
        robot = robot.opened()
        self.lower, self.upper = np.full(robot.nq, -np.inf), np.full(robot.nq, np.inf)
        self.range = np.zeros((2, robot.nq))  # where random starts are drawn
        for j in robot.joints:
            slot = robot.slots.get(j.mimic.joint if j.mimic else j.name)
            if slot is None or slot.nq != 1:
                continue
            ratio, offset = (j.mimic.ratio, j.mimic.offset) if j.mimic else (1.0, 0.0)
            if j.freedom.endless or ratio == 0.0:
                continue
            ends = sorted((x - offset) / ratio for x in (j.limits.lower, j.limits.upper))
            self.lower[slot.q], self.upper[slot.q] = max(self.lower[slot.q], ends[0]), min(self.upper[slot.q], ends[1])
        for slot, single in ((s, s.nq == 1) for s in robot.slots.values()):
            if single and moving[slot.v]:
                low, high = self.lower[slot.q], self.upper[slot.q]
                self.range[:, slot.q] = max(low, min(-np.pi, high)), min(high, max(np.pi, low))
        self.free = np.array([bool(moving[s.v]) and s.nq == 1 for s in robot.slots.values() for _ in range(s.nq)])

    @property
    def singles(self) -> list[tuple[int, int]]:
        """Places in positions and in velocities of the joints that move by themselves."""
        slots = self.machine.opened().slots.values()
        return [(s.q, s.v) for s in slots if s.nq == 1 and self.moving[s.v]]

    def jacobians(self, q: Array) -> Array:
        """The directions that count of the frame's Jacobian, in its own axes, (rows, directions, nv)."""
        J = compile(self.machine).jacobian(q, self.frame, axes="local")
        return np.asarray(J)[:, self.weights > 0.0]

    def jacobian_rates(self, q: Array, qd: Array) -> Array:
        """How these change while the robot moves at qd."""
        return np.asarray(compile(self.machine).jacobian_dot(q, qd, self.frame, axes="local"))[:, self.weights > 0.0]

    def at_limits(self, q: Array) -> list[str]:
        """Joints that are at an end of their travel, in words."""
        found = []
        for name, slot in self.machine.opened().slots.items():
            if slot.nq == 1 and self.moving[slot.v]:
                for bound in (self.lower[slot.q], self.upper[slot.q]):
                    if abs(q[slot.q] - bound) < NEAR:
                        found.append(f"{name!r} at its limit {bound:.4g}")
        return found

    def inside(self, q: Array) -> Array:
        """Positions within the limits of the joints that move."""
        return np.where(self.free, np.clip(q, self.lower, self.upper), q)

    def random(self, q: Array, rng: np.random.Generator) -> Array:
        """Positions drawn at random for the joints that move; the given ones where loops cannot be closed there."""
        drawn = np.where(self.free, rng.uniform(self.range[0], self.range[1], q.shape), q)
        found = compile(self.machine).positions(drawn[:, self.leads])
        return np.where(found.converged[:, None], found.q, q)

    def _assembled(self, T: Array, reached: Found) -> Found:
        """What was found, with loops closed as the machine closes them; another assembly mode is not reached."""
        if len(self.leads) == reached.q.shape[1]:
            return reached
        closed = compile(self.machine).positions(reached.q[:, self.leads])
        same = closed.converged & (np.abs(closed.q - reached.q).max(axis=1) < SAME)
        q = np.where(same[:, None], closed.q, reached.q)
        _, errors, _ = self.kernel(q, T, np.ones(len(q)), *self._extra)
        position, rotation, _ = np.sqrt(errors).T
        return Found(q, same & (errors.sum(axis=1) <= self.tolerance**2) & self.within(q), position, rotation)

    def within(self, q: Array) -> NDArray[np.bool_]:
        """Whether the joints that move are within their limits."""
        out = self.free & ((q < self.lower - SAME) | (q > self.upper + SAME))
        return np.asarray(~out.any(axis=1))

    @property
    def _extra(self) -> tuple[Array, ...]:
        return self.weights, self.moving, np.maximum(self.lower, -WIDE), np.minimum(self.upper, WIDE)

    def solve(self, T: Array, q: Array, iterations: int) -> Found:
        """Steps for the rows that have not converged, and loops closed at their end."""
        rows = np.arange(len(q))
        best, errors = q.copy(), np.full((len(q), 3), np.inf)
        here, target, damping = q.copy(), T, np.ones(len(q))
        for _ in range(iterations):
            moved, before, after = self.kernel(here, target, damping, *self._extra)
            helped = after.sum(axis=1) < before.sum(axis=1)
            here = np.where(helped[:, None], moved, here)
            now = np.where(helped[:, None], after, before)
            damping = damping * np.where(helped, SOFTER, HARDER)
            best[rows], errors[rows] = here, now
            open_ = (now.sum(axis=1) > self.tolerance**2) & (damping < STUCK)  # a NaN is not
            rows, here, target, damping = rows[open_], here[open_], target[open_], damping[open_]
            if not len(rows):
                break
        position, rotation, _ = np.sqrt(errors).T
        reached = Found(best, errors.sum(axis=1) <= self.tolerance**2, position, rotation)
        return self._assembled(T, reached)


def pose_problem(robot: Robot, frame: str, mask: Any, tolerance: float) -> PoseProblem:
    """The problem to bring a frame to poses by all joints, with a mask as `inverse_kinematics` takes it."""
    return PoseProblem(robot, frame, _targets(np.eye(4), mask)[1], _moving(robot, None), tolerance)


# ---- arguments


def _targets(pose: Any, mask: Any) -> tuple[Array, Array]:
    """Poses as 4 by 4 matrices, and weights of directions."""
    try:
        given = np.asarray(pose.matrix() if isinstance(pose, Pose) else pose, dtype=float)
        weights = np.asarray(mask, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"inverse_kinematics: expected numbers for pose and mask, got {pose!r} and {mask!r}."
        ) from error
    if weights.shape != (6,) or not (np.isfinite(weights).all() and (weights >= 0.0).all() and weights.any()):
        raise InputError(
            f"inverse_kinematics mask: expected six weights of at least 0, linear directions first, got {mask!r}."
        )
    if given.shape[-2:] == (4, 4):
        R, last = given[..., :3, :3], given[..., 3, :]
        finite = np.isfinite(given).all(axis=(-2, -1))
        wrong = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-2, -1), initial=0.0)
        bad = finite & ((wrong > 1e-6) | (np.abs(last - [0.0, 0.0, 0.0, 1.0]).max(axis=-1) > 1e-9))
        bad |= finite & (np.linalg.det(np.where(finite[..., None, None], R, np.eye(3))) < 0.0)
        if bad.any():
            raise InputError(
                f"inverse_kinematics pose: {int(bad.sum())} of {bad.size} are no poses: expected a rotation in the"
                " upper left 3 by 3 and the last row 0, 0, 0, 1."
            )
        return given, weights
    if given.shape[-1:] == (3,):
        T = np.zeros((*given.shape[:-1], 4, 4))
        T[...] = np.eye(4)
        T[..., :3, 3] = given
        return T, weights * (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    raise InputError(
        f"inverse_kinematics pose: expected the shape (..., 4, 4), or (..., 3) for positions, got {given.shape}."
    )


def _start(robot: Robot, guess: Any) -> Array:
    """Where to start: as given, or zero."""
    if guess is None or (isinstance(guess, Mapping) and set(guess) <= set(robot.slots)):
        return robot.q(guess)
    if isinstance(guess, Mapping):
        reference = {n: robot.q()[s.q : s.q + s.nq] for n, s in robot.slots.items()}
        end = given(robot, {**reference, **guess}, "inverse_kinematics guess")
        return end.q if end.near is None else end.near
    try:
        q = np.asarray(guess, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"inverse_kinematics guess: expected {robot.nq} positions, got {guess!r}.") from error
    fits = q.shape[-1:] in ((robot.nq,), (robot.opened().nq,))
    if not fits or not np.isfinite(q).all():
        what = "with NaN or infinity" if fits else f"of shape {q.shape}"
        raise InputError(f"inverse_kinematics guess: expected finite positions (..., {robot.nq}), got some {what}.")
    return q


def _moving(robot: Robot, joints: Iterable[str] | None) -> Array:
    """1 for the velocities that may be used, 0 for the others; joints that follow are always used."""
    every = robot.opened().slots
    moving = np.zeros(robot.opened().nv)
    inside = {name for group in looped_groups(robot) for name in group}
    chosen = [n for n, s in robot.slots.items() if s.nv == 1 or n in inside] if joints is None else joints
    for name in [chosen] if isinstance(chosen, str) else chosen:
        find(robot, name)  # refuses what does not lead
        slot = every[name]
        moving[slot.v : slot.v + slot.nv] = 1.0
    if not moving.any():
        raise InputError("inverse_kinematics joints: expected joints that may move, got none.")
    for name, slot in every.items():
        if name not in robot.slots:
            moving[slot.v : slot.v + slot.nv] = 1.0
    return moving


def _closed(robot: Robot, q: Array) -> Array:
    """Positions of the whole tree, from those of what leads or of all joints."""
    if q.shape[-1] != robot.nq:
        return q
    found = compile(robot).positions(q)
    if not np.all(found.converged):
        raise InputError(
            "inverse_kinematics guess: expected positions at which the loops close, got some at which they do not."
        )
    return np.asarray(found.q)


def _with_motors(robot: Robot, q: Array) -> Array:
    """The positions with motors behind springs at those of their joints."""
    if not any(j.is_elastic for j in robot.joints):
        return q
    width = sum(j.nq for j in robot.joints)
    return np.array([robot.q(row[:width]) for row in q])
