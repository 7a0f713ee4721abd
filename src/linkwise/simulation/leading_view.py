"""What callers of a simulation see of the tree that is integrated: coordinates that lead, and drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.robot.robot import Robot
from linkwise.simulation.motions import Array

KEPT = 64
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class View:
    """Places in vectors of `robot.opened()` of what leads and of what pushes; of an open tree they are all places.

    Args:
        q: places of the leading positions (nq).
        v: places of the leading velocities (nv).
        tau: places of the drives (nu).
        motors: places of the drives without residuals, in the order of `robot.motors`.
        width: number of velocities of the tree.
    """

    q: Places
    v: Places
    tau: Places
    motors: Places
    width: int

    @classmethod
    def of(cls, robot: Robot) -> View:
        """What is seen of a robot."""
        return _view(robot)

    def state(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """The leading part of positions and velocities of the tree (..., nq) and (..., nv), copied."""
        return q[..., self.q], qd[..., self.v]

    def wanted(self, numbers: str = "numbers") -> str:
        """How many torques there are to give, in words."""
        alone = f" ({len(self.motors)} for the drives alone)" if len(self.motors) != len(self.tau) else ""
        return f"{len(self.tau)} {numbers}{alone}"

    def applied(self, torques: Any) -> Array | None:
        """Forces of the tree for torques of `tau`, of the motors alone, or of all joints; None for other widths."""
        given = np.asarray(torques, dtype=float)
        for places in (self.tau, self.motors, np.arange(self.width)):
            if given.shape == places.shape:
                forces = np.zeros(self.width)
                forces[places] = given
                return forces
        return None


@lru_cache(maxsize=KEPT)
def _view(robot: Robot) -> View:
    slots = robot.opened().slots

    def places(names: Sequence[str], kind: str) -> Places:
        spans = [(getattr(slots[n], kind), getattr(slots[n], f"n{kind}")) for n in names]
        return np.array([at + k for at, count in spans for k in range(count)], dtype=int)

    tau = places(robot.drives, "v")
    return View(places(robot.coordinates, "q"), places(robot.speeds, "v"), tau, tau[robot.motors], robot.opened().nv)
