"""Clearance of one robot: how far it is from itself and from obstacles, as functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwise.algorithms as alg
from linkwise.algorithms.algorithm import Algorithm
from linkwise.errors import InputError
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options
from linkwise.kernel.size import kernel_of
from linkwise.mechanism.scene import Names, Obstacle, Scene, obstacles_of, pair_of
from linkwise.mechanism.touching import LeftOut
from linkwise.robot.covering import PARTS
from linkwise.robot.height_field import HeightField
from linkwise.robot.volume import Cover

KEPT = 16  # sets of obstacles whose functions a call remembers


class Clearance:
    """How far a robot is from itself and from obstacles: call it with positions whose leading axes broadcast.

    The call gives `distance` (...,), the least signed distance of all pairs of links, negative where they overlap, and
    `pair` (...,), which of `pairs` that is, -1 where the distance is NaN. Links have their collision shapes. Spheres,
    capsules, boxes and planes are exact; cylinders, ellipsoids and meshes are covered by these, so that distances are
    never too large, and by at most the `errors` of both links too small.
    """

    def __init__(self, scene: Scene, options: Options) -> None:
        self.scene, self.options = scene, options
        self._known: dict[Scene, Clearance] = {}

    def __call__(self, q: Any, *inputs: Any) -> Any:
        """The least distance and its pair.

        Args:
            q: positions (..., nq).
            inputs: poses (..., k, 4, 4) of moving obstacles and balls (..., k, 4) where `among` made them inputs, and
                `parameters` where the robot was compiled with them. Or before these, where there are no obstacles yet,
                some: a list of shapes, or an array of balls (..., k, 4), each by centre and radius.
        """
        own, s = len([x for x in (self.scene.moving, self.scene.spheres, self.options.parameters) if x]), self.scene
        if len(inputs) == own + 1 and not (s.obstacles or s.spheres):
            first = inputs[0]
            shapes = isinstance(first, Obstacle) or (
                isinstance(first, Sequence) and any(isinstance(x, Obstacle) for x in first)
            )
            if shapes:
                return self._with(replace(s, obstacles=obstacles_of(first)))(q, *inputs[1:])
            return self._with(replace(s, spheres=_count(first)))(q, *inputs)
        found = self.kernel(q, *inputs)
        return found._replace(pair=np.asarray(found.pair).astype(np.intp)[()])

    def among(
        self,
        obstacles: Iterable[Obstacle] | Obstacle = (),
        *,
        moving: str | Iterable[str] = (),
        spheres: int = 0,
        ignore: Iterable[Any] = (),
        pairs: Iterable[Sequence[str]] | None = None,
        parts: int = PARTS,
        exact: bool = False,
    ) -> Clearance:
        """The clearance of the same robot among obstacles, or of other pairs.

        Args:
            obstacles: shapes in the world, which is the frame of the robot's root; the `link` of a shape is the name of
                its obstacle, and shapes of one name are one obstacle. `linkwise.robot.HeightField` is one too.
            moving: names of obstacles that move: their poses in the world (..., k, 4, 4) are an input of every call,
                and their shapes are placed in that frame.
            spheres: how many balls are a further input (..., k, 4), each by centre and radius.
            ignore: pairs of names to leave out, or names of links or obstacles to leave out altogether.
            pairs: of links, to look at in place of those that are found; obstacles are paired with all links anyway.
            parts: capsules by which a mesh is covered at most.
            exact: whether distances of two boxes are exact, which takes ten times as long, or where their corners are
                nearest a lower bound of 0.58 of them at least. What is below zero is exact anyway.
        """
        for what, x, low in (("spheres", spheres, 0), ("parts", parts, 1)):
            if isinstance(x, bool) or not hasattr(x, "__index__") or x < low:
                raise InputError(f"clearance {what}: expected a whole number from {low} on, got {x!r}.")
        names = (moving,) if isinstance(moving, str) else tuple(moving)
        off = tuple((x,) if isinstance(x, str) else pair_of(x, "ignore") for x in ignore)
        chosen = None if pairs is None else tuple(pair_of(x, "pairs") for x in pairs)
        found = Scene(
            self.scene.robot, obstacles_of(obstacles), names, int(spheres), off, chosen, int(parts), bool(exact)
        )
        return self._with(found)

    def _with(self, scene: Scene) -> Clearance:
        if scene not in self._known:
            if len(self._known) == KEPT:
                self._known.clear()
            self._known[scene] = Clearance(scene, self.options)
        return self._known[scene]

    # ---- functions

    @cached_property
    def kernel(self) -> Kernel:
        """(q) -> distance, pair, which is what a call does, but with the pair as a float."""
        return self._kernel(alg.clearance)

    @cached_property
    def gradient(self) -> Kernel:
        """(q) -> the derivative (nv) of the least distance by positions, along tangent vectors."""
        return self._kernel(alg.derivative(alg.clearance, "q", of="distance"))

    @cached_property
    def distances(self) -> Kernel:
        """(q) -> the signed distance of each of `pairs`."""
        return self._kernel(alg.link_distances)

    @cached_property
    def jacobian(self) -> Kernel:
        """(q) -> the derivatives (pairs, nv) of `distances` by positions, along tangent vectors."""
        return self._kernel(alg.link_distance_derivatives)

    def _kernel(self, algorithm: Algorithm) -> Kernel:
        return kernel_of(self.scene.robot, algorithm, self.options, self.scene.static)

    # ---- what is looked at

    @property
    def pairs(self) -> tuple[Names, ...]:
        """The pairs of links, or of a link and an obstacle, by name; their places are what `pair` counts."""
        return self.scene.pairs

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The pairs that are not looked at, each with the reason."""
        return self.scene.left_out

    @property
    def covers(self) -> dict[str, Cover]:
        """By link and obstacle the volumes that stand for it, in its frame, and how far they stick out at most, m."""
        return dict(self.scene.covers)

    @property
    def errors(self) -> dict[str, float]:
        """By link and obstacle how far what covers it sticks out at most, m; those alone that are not exact."""
        return {name: cover.error for name, cover in self.covers.items() if cover.error}

    @property
    def reach(self) -> NDArray[np.float64]:
        """Bounds (pairs, nv of `robot.opened()`) of how fast each of `distances` can change, m for a rad or m.

        Between positions q0 and q1 of an open tree distances change by at most reach @ abs(difference(q0, q1)); where
        `distances` are lower bounds (boxes at their corners, terrain), links still are at least distances(q0) less that
        apart. Motion of obstacles is not counted.
        """
        return self.scene.reach

    def __repr__(self) -> str:
        among = {x.name if isinstance(x, HeightField) else x.link for x in self.scene.obstacles}
        beside = f" among {', '.join(sorted(among))}" if among else ""
        return f"<Clearance of the robot {self.scene.robot.name!r}{beside}>"

    def __reduce__(self) -> Any:
        return Clearance, (self.scene, self.options)


def _count(balls: Any) -> int:
    """How many balls an array has."""
    try:
        shape = np.shape(balls)
    except ValueError:
        shape = ()
    if len(shape) < 2 or shape[-1] != 4 or not shape[-2]:
        raise InputError(
            "clearance obstacles: expected a list of shapes, or an array of balls (..., k, 4), each by centre and"
            f" radius, got {f'an array of shape {shape}' if shape else repr(balls)}."
        )
    return int(shape[-2])
