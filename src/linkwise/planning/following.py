"""Joint positions along the course of a tool: continuous, within limits, with what is free used well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.planning.inverse_kinematics_solver import Found, inverse_kinematics, pose_problem
from linkwise.planning.preference import Preference, null_step, preference
from linkwise.planning.tool_course import ToolCourse
from linkwise.robot.robot import Robot

Array = NDArray[np.float64]

SLACK = 1e-6  # rad or m, by which a start may be out of limits
TIGHT = 1e-10  # of the weighted error at samples, m and rad
ITERATIONS = 40  # towards a pose
FIRST, SEARCHED, MOST = 48, 192, 3072  # samples of a course: at first, of a search, and at most
BETWEEN = 8  # places between two samples at which deviations are looked at
LEANS = 0.06  # rad or m at most between two samples, towards what is preferred
SWAYS = (-0.15, -0.05, 0.05, 0.15)  # rad or m between two samples, of what is free, that a search tries
CELL, WIDE = 0.1, 64  # rad or m within which postures are one in a search, and how many of them are followed
LEAP = 0.35  # rad or m between two samples: a leap to another solution
ROUNDS, STRIDE, STILL = 40, 0.25, 1e-5  # of the search for better ones: at most, the longest and the shortest step
FLAT = 1e-9  # of the bend of a cost, which keeps it solvable where nothing is preferred
SINGULAR = 0.02  # least stretch of the tool by the joints, relative to the largest, of which a note is made


@dataclass(frozen=True, eq=False)
class Followed:
    """A spline of joint positions over s, and how well the tool follows it.

    Args:
        curve: of SciPy, over s from 0 to 1.
        position: largest deviation of the tool's place, m, in directions that count.
        rotation: of its rotation, rad.
        stretch: the least singular value of the weighted Jacobian over the largest, and where (s).
    """

    curve: Any
    position: float
    rotation: float
    stretch: tuple[float, float]


class Lost(Exception):
    """No posture beside q has the pose at s."""

    def __init__(self, s: float, q: Array) -> None:
        super().__init__(s)
        self.s, self.q = s, q


class _Level(NamedTuple):
    """Postures (rows, nq) at one place of a course, each with the one before that it was reached from, and its cost."""

    q: Array
    parents: NDArray[np.intp]
    cost: Array

    def thinned(self) -> _Level:
        """The cheapest of every cell, and of those as many as are followed, far from each other."""
        order = np.argsort(self.cost, kind="stable")
        _, first = np.unique(np.round(self.q[order] / CELL), axis=0, return_index=True)
        kept = order[np.sort(first)]
        if len(kept) > WIDE:
            q, chosen = self.q[kept], [0]
            gap = np.full(len(kept), np.inf)
            while len(chosen) < WIDE:
                gap = np.minimum(gap, np.abs(q - q[chosen[-1]]).max(axis=1))
                chosen.append(int(np.argmax(gap)))
            kept = kept[np.sort(chosen)]
        return _Level(self.q[kept], self.parents[kept], self.cost[kept])


class Follower:
    """Follows courses of a frame by a robot.

    Args:
        robot: without motors behind springs.
        frame: the tool.
        mask: weights of the directions of the tool's axes, as in `inverse_kinematics`.
        prefer: what is wanted of joint positions where some are free, as in `inverse_kinematics`.
        degree: of the spline.
    """

    def __init__(self, robot: Robot, frame: str, mask: Any, prefer: Any, degree: int) -> None:
        self.robot, self.frame, self.degree = robot, frame, degree
        self._problem, self._dyn = pose_problem(robot, frame, mask, TIGHT), compile(robot)
        self._prefer = None if robot.follows else preference(robot, self._problem, prefer, "move")
        self._counts = self._problem.weights > 0.0
        self._free = robot.nv - int(self._counts.sum())  # directions of the joints that the tool does not need

    def follow(self, course: ToolCourse, q0: Array, position: float, rotation: float) -> Followed:
        """Joint positions from q0 along a course, from which the tool deviates by no more, in m and rad."""
        first = None
        for s, q in self._ways(course, q0):
            try:
                return self._smooth(course, s, self._better(course, s, q), position, rotation)
            except InputError as error:
                first = first or error
        assert first is not None
        raise first

    def _smooth(self, course: ToolCourse, s: Array, q: Array, position: float, rotation: float) -> Followed:
        """A spline through positions at s, and through more between them where the tool leaves its course."""
        from scipy.interpolate import make_interp_spline

        q0 = q[0]
        while True:
            curve = make_interp_spline(s, q, k=self.degree, axis=0)
            fine = np.linspace(0.0, 1.0, BETWEEN * (len(s) - 1) + 1)
            off = self.deviations(course, fine, curve(fine))
            if off[0] <= position and off[1] <= rotation:
                return Followed(curve, *off, self._stretch(fine, curve(fine)))
            if 2 * len(s) > MOST:
                raise InputError(
                    f"move: no smooth motion of the joints was found that follows within {1e3 * position:.3g} mm and"
                    f" {np.degrees(rotation):.3g} degrees: the best is off by {1e3 * off[0]:.3g} mm and"
                    f" {np.degrees(off[1]):.3g} degrees. {self._near(course, fine, curve(fine))}"
                )
            s = np.linspace(0.0, 1.0, 2 * len(s) - 1)
            reached = self._reached(course.poses(s[1:]), curve(s[1:]))
            if not reached.converged.all():
                k = int(np.argmin(reached.converged)) + 1
                raise self._lost(course, Lost(float(s[k]), curve(s[k - 1])))
            q = np.vstack([q0, reached.q])

    def within(self, q: Array) -> str:
        """Which joint is out of its limits, in words; nothing where none is."""
        every = self._whole(q)
        for name, slot in self.robot.opened().slots.items():
            low, high = self._problem.lower[slot.q], self._problem.upper[slot.q]
            if slot.nq == 1 and not low - SLACK <= every[slot.q] <= high + SLACK:
                return f"{name!r} at {every[slot.q]:.6g}, which has {low:.6g} to {high:.6g}"
        return ""

    def deviations(self, course: ToolCourse, s: Array, q: Array) -> tuple[float, float]:
        """The largest deviations of place (m) and rotation (rad) at points s, in the directions that count."""
        from scipy.spatial.transform import Rotation

        T, wanted = np.asarray(self._dyn.pose(q, self.frame)), course.poses(s)
        back = np.swapaxes(wanted[:, :3, :3], 1, 2)
        place = np.einsum("kij,kj->ki", back, T[:, :3, 3] - wanted[:, :3, 3])[:, self._counts[:3]]
        turn = Rotation.from_matrix(back @ T[:, :3, :3]).as_rotvec()[:, self._counts[3:]]
        return float(np.linalg.norm(place, axis=1).max()), float(np.linalg.norm(turn, axis=1).max(initial=0.0))

    def _whole(self, q: Array) -> Array:
        """Positions of all joints, from those of what leads."""
        return np.asarray(self._dyn.positions(q).q) if self.robot.follows else q

    def _reached(self, T: Array, q: Array) -> Found:
        """Positions of what leads at poses, from guesses beside them."""
        found = self._problem.solve(T, self._problem.inside(self._whole(q)), ITERATIONS)
        return found._replace(q=found.q[:, self._problem.leads])

    def _ways(self, course: ToolCourse, q0: Array) -> Iterator[tuple[Array, Array]]:
        """Places s and positions there: of least motion; where these lead into a limit or a singular posture, others.

        Where none leads to the goal, it is said why.
        """
        s, first = np.linspace(0.0, 1.0, FIRST + 1), None
        try:
            yield s, self._continued(course, s, q0)
        except Lost as lost:
            first = lost
        if first and not self._reachable(course, 1.0, first.q):
            raise self._beyond(course, first, "the goal")
        if self._free > 0 and not self.robot.follows:
            for leaning in (preference(self.robot, self._problem, "manipulability", "move"), self._prefer):
                with suppress(Lost):
                    yield s, self._continued(course, s, q0, leaning)
            with suppress(Lost):
                fine = np.linspace(0.0, 1.0, SEARCHED + 1)
                yield fine, self._searched(course, fine, q0)
        if first:
            raise self._lost(course, first)

    def _searched(self, course: ToolCourse, s: Array, q0: Array) -> Array:
        """Positions at s with the least motion of all that are found by a search over what the tool leaves free.

        Many postures are followed at once. From each the joints go on as they have to, and to both sides of that in
        directions that leave the tool where it is; of postures in one cell the one that was reached with least motion
        is kept (dynamic programming).
        """
        levels = [_Level(q0[None], np.zeros(1, dtype=int), np.zeros(1))]
        for at in s[1:].tolist():
            before = levels[-1]
            Z = np.linalg.svd(self._problem.jacobians(before.q))[2][:, -self._free :]
            sways = np.concatenate([x * Z / np.abs(Z).max(axis=2, keepdims=True) for x in SWAYS], axis=1)
            tried = before.q[:, None] + np.concatenate([np.zeros_like(Z[:, :1]), sways], axis=1)
            parents = np.repeat(np.arange(len(before.q)), tried.shape[1])
            guesses = self._problem.inside(tried.reshape(-1, len(q0)))
            reached = self._reached(course.poses(np.full(len(guesses), at)), guesses)
            moved = reached.q - before.q[parents]
            good = reached.converged & (np.abs(moved).max(axis=1) < LEAP)
            if not good.any():
                raise Lost(at, before.q[np.argmin(before.cost)])
            cost = before.cost[parents] + np.sum(moved**2, axis=1)
            levels.append(_Level(reached.q[good], parents[good], cost[good]).thinned())
        k, found = int(np.argmin(levels[-1].cost)), []
        for level in reversed(levels):
            found.append(level.q[k])
            k = int(level.parents[k])
        return np.array(found[::-1])

    def _leaned(self, T: Array, q: Array, leaning: Preference) -> Array:
        """A posture in which the tool stays, some way towards what is preferred."""
        step = null_step(self._problem, q[None], *leaning.slopes(q[None]))
        size = float(np.abs(step).max())
        reached = self._reached(T, self._problem.inside(q + step * min(1.0, LEANS / max(size, LEANS))))
        return reached.q[0] if reached.converged[0] else q

    def _continued(self, course: ToolCourse, s: Array, q0: Array, leaning: Preference | None = None) -> Array:
        """Positions at s, each from the ones before, so that no joint leaps to another solution."""
        q, step = [q0], np.zeros_like(q0)
        for a, b in pairwise(s.tolist()):
            at, here = a, q[-1]
            parts = 1
            while at < b - 1e-15:
                to = min(b, at + (b - a) / parts)
                reached = self._reached(course.poses(np.array([to])), (here + step * (to - at))[None])
                leap = float(np.abs(reached.q[0] - here).max())
                if reached.converged[0] and leap < LEAP:
                    here, step, at = reached.q[0], (reached.q[0] - here) / (to - at), to
                elif parts < 256:
                    parts *= 4
                    step = np.zeros_like(q0)
                else:
                    raise Lost(to, here)
            q.append(here if leaning is None else self._leaned(course.poses(np.array([b])), here, leaning))
        return np.array(q)

    def _better(self, course: ToolCourse, s: Array, q: Array) -> Array:
        """The same with what is free used well: least motion and most preferred positions along the whole course."""
        free, prefer = self._free, self._prefer
        if prefer is None or free <= 0:
            return q
        h, cost = float(s[1] - s[0]), self._cost(s, q)
        scale = 1.0
        for _ in range(ROUNDS):
            Z = np.swapaxes(np.linalg.svd(self._problem.jacobians(q))[2][:, -free:], 1, 2)[1:]
            step = _newton(q, Z, h, *prefer.slopes(q))
            size = float(np.abs(step).max())
            if size < STILL:
                break
            tried = self._problem.inside(q[1:] + step * min(scale, STRIDE / size))
            reached = self._reached(course.poses(s[1:]), tried)
            found = np.vstack([q[:1], reached.q])
            better = reached.converged.all() and np.abs(np.diff(found, axis=0)).max() < LEAP
            if better and (now := self._cost(s, found)) < cost:
                q, cost, scale = found, now, min(1.0, 2.0 * scale)
            else:
                scale *= 0.25
                if scale < 1e-3:
                    break
        return q

    def _cost(self, s: Array, q: Array) -> float:
        """What `_better` makes small: the square of the motion, and what is preferred."""
        h = float(s[1] - s[0])
        preferred = self._prefer.values(q)[1:].sum() if self._prefer else 0.0
        return float(0.5 * np.sum(np.diff(q, axis=0) ** 2) / h + h * preferred)

    def _stretch(self, s: Array, q: Array) -> tuple[float, float]:
        values = np.linalg.svd(self._problem.jacobians(q), compute_uv=False)
        share = values[:, -1] / values[:, 0]
        k = int(np.argmin(share))
        return float(share[k]), float(s[k])

    def _near(self, course: ToolCourse, s: Array, q: Array) -> str:
        share, at = self._stretch(s, q)
        return f"The robot is nearly singular {place(course, at)} ({share:.2g})." if share < SINGULAR else ""

    def _reachable(self, course: ToolCourse, s: float, q: Array) -> bool:
        """Whether some posture has the pose at s."""
        T = course.poses(np.array(s))
        return bool(inverse_kinematics(self.robot, self.frame, T, q, mask=self._problem.weights, restarts=40).converged)

    def _beyond(self, course: ToolCourse, lost: Lost, what: str) -> InputError:
        held = self._problem.at_limits(self._whole(lost.q))
        limit = f", with {' and '.join(held)}" if held else ""
        return InputError(
            f"move: {what} is out of reach: the tool gets no further than {place(course, lost.s)}{limit}. Choose"
            " another goal, or start in another posture."
        )

    def _lost(self, course: ToolCourse, lost: Lost) -> InputError:
        """Why the tool cannot go on: out of reach, at a limit, or singular."""
        if not self._reachable(course, lost.s, lost.q):
            return self._beyond(course, lost, "a part of the way")
        where, held = place(course, lost.s), self._problem.at_limits(self._whole(lost.q))
        if held:
            return InputError(
                f"move: the tool cannot go on {where}: {' and '.join(held)}. Another posture of the joints reaches the"
                " pose there, but not without leaving the course. Start in another posture, such as one that"
                " inverse_kinematics finds for the goal."
            )
        share = self._stretch(np.array([lost.s]), lost.q[None])[0]
        singular = "the robot is singular there" if share < SINGULAR else "no posture beside the last one was found"
        return InputError(
            f"move: the tool cannot go on {where}: {singular} (its joints move the tool {share:.2g} times as much in"
            " the worst direction as in the best), and it would have to leap to another one. Go by another course,"
            " let a direction free (mask=), or start in another posture."
        )


def _newton(q: Array, Z: Array, h: float, gradient: Array, bend: Array) -> Array:
    """The step of rows 1, 2, ... of q within the null spaces Z (rows, nv, free) that makes the cost least."""
    n, free = len(q) - 1, Z.shape[2]
    slope = h * gradient[1:] + (q[1:] - q[:-1]) / h
    slope[:-1] -= (q[2:] - q[1:-1]) / h
    bends = h * bend[1:] + 2.0 / h
    bends[-1] -= 1.0 / h
    own = np.swapaxes(Z, 1, 2) @ (bends[:, :, None] * Z) + FLAT / h * np.eye(free)
    across = -np.swapaxes(Z[:-1], 1, 2) @ Z[1:] / h
    H, k = np.zeros((n, free, n, free)), np.arange(n)
    H[k, :, k] = own
    H[k[:-1], :, k[1:]], H[k[1:], :, k[:-1]] = across, np.swapaxes(across, 1, 2)
    right = -np.einsum("kif,ki->kf", Z, slope).reshape(-1)
    moved = np.linalg.solve(H.reshape(n * free, n * free), right).reshape(n, free)
    return np.asarray(np.einsum("kif,kf->ki", Z, moved))


def place(course: ToolCourse, s: float) -> str:
    """A place of a course, in words."""
    if course.length:
        return f"{s * course.length:.4g} m of {course.length:.4g} m along its way"
    return f"{np.degrees(s * course.angle):.4g} of {np.degrees(course.angle):.4g} degrees along its turn"
