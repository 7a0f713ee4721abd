"""A motion as samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Trajectory:
    """Positions, velocities, accelerations and perhaps jerks of a robot at rising times.

    Args:
        t: (rows,) in s, or the row numbers when the motion came without times.
        q: (rows, nq).
        qd: (rows, nv).
        qdd: (rows, nv).
        timed: whether `t` is a time.
        origins: where `qd`, `qdd` and `qddd` come from, in words: "the file", "a quintic spline of q".
        notes: what else a user should know, such as columns that were not used.
        qddd: (rows, nv), or None when jerks were not asked for.
        tree: positions of all joints of a robot with loops (rows, nq of `robot.opened()`), where they were given.
        cutoff: frequency in Hz below which positions are smooth, where they were made so; the highest of all joints.
        smooth: the same motion without the noise of its positions, where its accelerations are mostly noise.
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    timed: bool
    origins: dict[str, str]
    notes: tuple[str, ...] = ()
    qddd: Array | None = None
    tree: Array | None = None
    cutoff: float | None = None
    smooth: Trajectory | None = None

    def __len__(self) -> int:
        return len(self.t)
