"""Random closed motions, each as large as limits allow: where a search for an exciting motion begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwise.errors import InputError
from linkwise.kernel.compile import compile
from linkwise.planning.curve import Array, Curve
from linkwise.planning.problem import Problem
from linkwise.planning.solvers import Monitor

HALVINGS = 10  # towards the largest size of a motion that keeps all limits
SWAY = 0.25  # of the ranges of joints: how far the middles of motions are from theirs
REACH = np.pi  # rad or m: how far joints without limits of position go at most
FAINT = 1e-3  # of the size that ranges allow: motions that are smaller are none
DENSE = 2001  # instants at which loops must be closed


def stays_closed(problem: Problem, curve: Curve) -> bool:
    """Whether loops stay closed along a whole motion, between the points at which limits are looked at too."""
    if not problem.robot.follows:
        return True
    t = np.linspace(0.0, curve.duration, DENSE)
    motion = problem.chart.motion([curve(t, order) for order in range(3)])
    return bool(np.isfinite(compile(problem.robot.rigid()).inverse_dynamics(*motion)).all())


@dataclass(frozen=True, eq=False)
class Random:
    """Random motions of a problem on a space of closed curves: Fourier series about some position.

    Args:
        problem: with its space, objective and limits.
        harmonics: of the series.
        seed: of the random numbers.
    """

    problem: Problem
    harmonics: int
    seed: int = 0

    def motions(self, count: int, monitor: Monitor) -> list[Curve]:
        """So many tries, of which those that keep all limits are returned, the best first."""
        rng, found = np.random.default_rng(self.seed), []
        told = self.problem.objective.wholes[0][1]
        with monitor.listening():
            for k in range(count):
                monitor.say(f"random motion {k + 1} of {count}")
                if (curve := self.motion(rng)) is not None:
                    value = told.value(curve.points, curve.duration)
                    found += [(value, curve)] if np.isfinite(value) else []
                if monitor.reason or (monitor.out_of_time and found):
                    break
        if not found and monitor.reason:
            raise KeyboardInterrupt
        if not found:
            worst = self.problem.largest_violation(
                self._curve(self._middle, np.zeros((self.problem.basis.count, 1)), 0.0)
            )
            raise InputError(
                f"excite: expected limits within which the robot can move, got none of {count} random motions that"
                f" keeps them; at rest in the middle, {worst}. Try larger limits, a longer duration, or a start."
            )
        return [curve for _, curve in sorted(found, key=lambda pair: pair[0])]

    def motion(self, rng: np.random.Generator) -> Curve | None:
        """One try: a motion as large as limits allow, or none if they do not allow any there."""
        shape = self._shape(rng)
        middle = self._middle + self._sway * rng.uniform(-1.0, 1.0, len(self._middle))
        low, high = self.problem.box
        room = np.minimum(np.minimum(high - middle, middle - low), REACH)
        small, large = 0.0, 1.0
        for k in range(HALVINGS):
            size = large if not k else 0.5 * (small + large)
            if self._kept(self._curve(middle, shape * room, size)):
                small = size
                if not k:
                    break
            else:
                large = size
        return self._curve(middle, shape * room, small) if small > FAINT else None

    def _shape(self, rng: np.random.Generator) -> Array:
        """Control points (count, n) of random waves of size one, in the space of the problem."""
        basis, n = self.problem.basis, self.problem.chart.n
        space, _ = self.problem.space or (np.eye(basis.count), None)
        phase = 2.0 * np.pi * np.outer(basis.abscissae, np.arange(1, self.harmonics + 1))
        falling = np.arange(1.0, self.harmonics + 1.0)[:, None] ** -rng.uniform(0.0, 1.0)
        a, b = rng.normal(size=(2, self.harmonics, n)) * falling
        waves = np.cos(phase) @ a + np.sin(phase) @ b
        waves = space @ np.linalg.lstsq(space, waves, rcond=None)[0]
        waves -= 0.0 if self._starts else waves.mean(axis=0)
        return np.asarray(waves / np.abs(basis.matrix(np.linspace(0.0, 1.0, 200)) @ waves).max(axis=0))

    def _curve(self, middle: Array, waves: Array, size: float) -> Curve:
        problem = self.problem
        return Curve(problem.basis, middle + size * waves, problem.duration or 1.0)

    def _kept(self, curve: Curve) -> bool:
        """Whether a motion keeps all limits, and loops stay closed; clearance, which takes longest, comes last."""
        if any(not over.max(initial=0.0) <= 0.0 for _, over in self.problem.violations(curve)):
            return False
        if not stays_closed(self.problem, curve):
            return False
        return not self.problem.near or self.problem.largest_violation(curve).violation <= 0.0

    @property
    def _starts(self) -> bool:
        """Whether the start is given."""
        space, _ = self.problem.space or (np.ones((1, 1)), None)
        return bool(np.abs(self.problem.basis.matrix([0.0]) @ space).max() < 1e-9)

    @cached_property
    def home(self) -> Array:
        """The numbers of the robot's own position."""
        links = self.problem.robot.rigid()
        q = links.q()
        return self.problem.chart.numbers(q, compile(links).positions(q).q)

    @cached_property
    def _middle(self) -> Array:
        """About which motions are: the start, or the middle of ranges, or with loops the robot's own position."""
        if self._starts and self.problem.space:
            return self.problem.space[1][0]
        low, high = self.problem.box
        known = np.isfinite(high - low) & (not self.problem.robot.follows)
        return np.where(known, 0.5 * (np.nan_to_num(low) + np.nan_to_num(high)), self.home)

    @cached_property
    def _sway(self) -> Array:
        low, high = self.problem.box
        wide = np.where(np.isfinite(high - low), high - low, 0.0)
        return SWAY * wide * (not self._starts and not self.problem.robot.follows)
