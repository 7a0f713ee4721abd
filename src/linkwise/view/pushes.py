"""Forces by which somebody pushes on links: constant ones, and springs to where the mouse is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from linkwise.view.solids import Array


class Push(NamedTuple):
    """A force on a point of a link.

    Args:
        row: of the link among those of `dyn.poses`.
        at: the point, in the link's frame, m.
        force: in the world, N; where `to` is None.
        to: the other end of a spring, in the world, m.
        stiffness: of that spring, N/m.
        damping: of that spring, N s/m.
    """

    row: int
    at: Array
    force: Array
    to: Array | None = None
    stiffness: float = 0.0
    damping: float = 0.0

    def point(self, T: Array) -> Array:
        """Where the point is in the world, from the poses of links (..., nb, 4, 4)."""
        link = T[..., self.row, :, :]
        return np.asarray(link[..., :3, :3] @ self.at + link[..., :3, 3])

    def pull(self, T: Array, velocity: Array | float = 0.0) -> Array:
        """The force in the world, the point moving at a velocity."""
        if self.to is None:
            return self.force
        return np.asarray(self.stiffness * (self.to - self.point(T)) - self.damping * velocity)

    def wrench(self, T: Array, velocity: Array | float = 0.0) -> Array:
        """Force and moment on the link, in its axes about its origin (6,)."""
        f = T[self.row, :3, :3].T @ self.pull(T, velocity)
        return np.concatenate([f, np.cross(self.at, f)])


def wrenches(pushes: Iterable[Push], T: Array) -> Array:
    """Of all links (nb, 6), in their axes about their origins."""
    found = np.zeros((len(T), 6))
    for push in pushes:
        found[push.row] += push.wrench(T)
    return found


def arrows(pushes: Iterable[Push], T: Array, metres: float) -> Array:
    """From the points to where springs pull, or along constant forces, so many m for a newton (n, 2, 3)."""
    ends = []
    for push in pushes:
        point = push.point(T)
        ends.append((point, point + push.force * metres if push.to is None else push.to))
    return np.array(ends, dtype=float).reshape(-1, 2, 3)
