"""Ground of changing height, as an obstacle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from linkwise.errors import ModelError
from linkwise.robot import check
from linkwise.robot.volume import Terrain
from linkwise.spatial import Pose

MOST = 4096  # heights: a kernel looks at each of them for every sphere


@dataclass(frozen=True)
class HeightField:
    """Ground whose height changes from place to place: all below a surface that is bilinear between heights of a grid.

    Beyond the grid the ground goes on as high as at its edge.

    Args:
        name: of the obstacle.
        heights: (nx, ny) of them, rows along x, m; at least two each way.
        size: from the first to the last height along x and along y, m; the grid's middle is at the origin.
        origin: pose of the field in the world.
    """

    name: str
    heights: Any
    size: tuple[float, float]
    origin: Pose = Pose()

    def __post_init__(self) -> None:
        what = f"height field {check.name(self.name, 'height field name')!r}"
        x, y = (check.number(s, f"{what} size", above=0.0) for s in check.numbers(self.size, f"{what} size", 2))
        try:
            given = [list(row) for row in self.heights]
        except TypeError:
            raise ModelError(f"{what} heights: expected rows of numbers (nx, ny), got {self.heights!r}.") from None
        if len(given) < 2 or len(given[0]) < 2 or len({len(row) for row in given}) > 1:
            shape = f"({len(given)}, {len(given[0]) if given else 0})"
            raise ModelError(f"{what} heights: expected a grid of at least (2, 2) heights, got {shape}.")
        if len(given) * len(given[0]) > MOST:
            raise ModelError(
                f"{what} heights: expected at most {MOST:,} heights, got {len(given) * len(given[0]):,}, all of which a"
                " kernel would look at. Give a coarser grid, of the largest height of each cell, or the part in reach."
            )
        rows = tuple(tuple(check.number(float(h), f"{what} heights") for h in row) for row in given)
        set_ = object.__setattr__
        set_(self, "heights", rows)
        set_(self, "size", (x, y))
        set_(self, "origin", check.pose(self.origin, f"{what} origin"))

    @property
    def terrain(self) -> Terrain:
        """The volume below the surface."""
        (x, y), H = self.size, self.heights
        step = x / (len(H) - 1), y / (len(H[0]) - 1)
        slope = max(
            math.hypot((H[i + 1][j + b] - H[i][j + b]) / step[0], (H[i + a][j + 1] - H[i + a][j]) / step[1])
            for i in range(len(H) - 1)
            for j in range(len(H[0]) - 1)
            for a in (0, 1)
            for b in (0, 1)
        )
        return Terrain(self.origin, (-0.5 * x, -0.5 * y), step, H, slope)
