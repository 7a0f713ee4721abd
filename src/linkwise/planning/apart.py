"""Positions that keep clear of things, for inverse kinematics: which do, and starts that lead away from others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.errors import InputError
from linkwise.planning.chart import chart_of
from linkwise.planning.clearance import PairKernel
from linkwise.planning.curve import Array
from linkwise.planning.nearness import Nearness
from linkwise.planning.positions import numbers_of
from linkwise.planning.term_and_constraint import Constraint
from linkwise.robot.robot import Robot

PUSHES = (0.1, 0.3, 0.6, 1.0)  # rad or m along the gradient of the least distance, one after the other


@dataclass(frozen=True, eq=False)
class Apart:
    """What positions have to keep clear of; nothing, if there are no pairs.

    Args:
        near: the pairs, or None.
        margin: m.
    """

    near: Nearness | None = None
    margin: float = 0.0

    @classmethod
    def of(cls, robot: Robot, clearance: Any) -> Apart:
        """What an lw.limit.clearance(...) asks, or nothing."""
        if clearance is None:
            return cls()
        scene = clearance.scene(robot) if isinstance(clearance, Constraint) else None
        if scene is None:
            raise InputError(
                f"inverse_kinematics clearance: expected lw.limit.clearance(...) with shapes, got {clearance!r}."
            )
        return cls(Nearness(scene, chart_of(robot)), clearance.margin)

    def _numbers(self, q: Array) -> Array:
        """The numbers on splines of positions of the tree (rows, nq)."""
        assert self.near is not None
        return numbers_of(self.near.chart, q, "inverse_kinematics") if len(q) else np.zeros((0, self.near.chart.n))

    def clear(self, q: Array) -> Any:
        """Which rows of positions of the tree keep the margin."""
        if self.near is None:
            return np.ones(len(q), dtype=bool)
        return (self.near.distances(self._numbers(q)) >= self.margin).all(axis=1)

    def checked(self, found: Any) -> Any:
        """What inverse kinematics found, as not converged where it is not clear."""
        if self.near is None:
            return found
        return found._replace(converged=found.converged & self.clear(found.q))

    def starts(self, k: int, reached: Array, drawn: Array) -> Array:
        """Where to begin again: away from what is near, of an open tree with simple joints, then at random."""
        if self.near is None or k >= len(PUSHES) or reached.shape[1] != self.near.chart.n:
            return drawn
        x = self._numbers(reached)
        pairs = np.argmin(self.near.distances(x), axis=1)
        data = np.stack([np.zeros(len(x)), self.near.nearest(x, np.zeros(len(x)), pairs)], axis=1)
        _, slopes, *_ = PairKernel(self.near).first(x[:, None], data)
        slope = slopes[:, :, 0]
        size = np.linalg.norm(slope, axis=1, keepdims=True)
        return reached + PUSHES[k] * slope / np.maximum(size, 1e-12)
