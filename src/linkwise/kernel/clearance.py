"""Clearance of one robot: how far it is from itself and from obstacles, as functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwise.algorithms as alg
from linkwise.algorithms.algorithm import Algorithm
from linkwise.algorithms.clearance import SPHERES, WORLD, Bodies
from linkwise.errors import InputError, ModelError, UnknownNameError
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options
from linkwise.mechanism.touching import ASKED, ENDLESS, LeftOut, has_end, self_pairs
from linkwise.robot.covering import PARTS, covered
from linkwise.robot.geometry import Shape
from linkwise.robot.height_field import HeightField
from linkwise.robot.placement import reach
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.robot.volume import Cover, Volume, sphere
from linkwise.vector import ZERO3

STILL = "neither moves"
KEPT = 16  # sets of obstacles whose functions a call remembers
Obstacle = Shape | HeightField
Names = tuple[str, str]


@dataclass(frozen=True)
class Setting:
    """What a clearance is asked about: obstacles, and which pairs."""

    obstacles: tuple[Obstacle, ...] = ()
    moving: tuple[str, ...] = ()
    spheres: int = 0
    ignore: tuple[tuple[str, ...], ...] = ()
    pairs: tuple[Names, ...] | None = None
    parts: int = PARTS
    exact: bool = False


class Clearance:
    """How far a robot is from itself and from obstacles: call it with positions whose leading axes broadcast.

    The call gives `distance` (...,), the least signed distance of all pairs of links, negative where they overlap, and
    `pair` (...,), which of `pairs` that is, -1 where the distance is NaN. Links have their collision shapes. Spheres,
    capsules, boxes and planes are exact; cylinders, ellipsoids and meshes are covered by these, so that distances are
    never too large, and by at most the `errors` of both links too small.
    """

    def __init__(self, robot: Robot, options: Options, setting: Setting = Setting()) -> None:
        self.robot, self.options, self.setting = robot, options, setting
        self._among: dict[Setting, Clearance] = {}

    def __call__(self, q: Any, *inputs: Any) -> Any:
        """The least distance and its pair.

        Args:
            q: positions (..., nq).
            inputs: poses (..., k, 4, 4) of moving obstacles and balls (..., k, 4) where `among` made them inputs, and
                `parameters` where the robot was compiled with them. Or before these, where there are no obstacles yet,
                some: a list of shapes, or an array of balls (..., k, 4), centre and radius.
        """
        own = bool(self.setting.moving) + bool(self.setting.spheres) + bool(self.options.parameters)
        if len(inputs) == own + 1 and not self.setting.obstacles and not self.setting.spheres:
            obstacles, *rest = inputs
            if _are_shapes(obstacles):
                return self._with(replace(self.setting, obstacles=_obstacles(obstacles)))(q, *rest)
            count = _balls(obstacles)
            return self._with(replace(self.setting, spheres=count))(q, obstacles, *rest)
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
            pairs: the pairs to look at, in place of those that are found; obstacles are paired with all links anyway.
            parts: capsules by which a mesh is covered at most.
            exact: whether distances of two boxes are exact, which takes ten times as long, or where their corners are
                nearest a lower bound of 0.58 of them at least. What is below zero is exact anyway.
        """
        wide = 0 if spheres is None else spheres
        for what, x, low in (("spheres", wide, 0), ("parts", parts, 1)):
            if isinstance(x, bool) or not hasattr(x, "__index__") or x < low:
                raise InputError(f"clearance {what}: expected a whole number from {low} on, got {x!r}.")
        found = Setting(
            _obstacles(obstacles),
            (moving,) if isinstance(moving, str) else tuple(moving),
            int(wide),
            tuple((x,) if isinstance(x, str) else _two(x, "ignore") for x in ignore),
            None if pairs is None else tuple(_two(x, "pairs") for x in pairs),
            int(parts),
            bool(exact),
        )
        return self._with(found)

    def _with(self, setting: Setting) -> Clearance:
        if setting not in self._among:
            if len(self._among) == KEPT:
                self._among.clear()
            self._among[setting] = Clearance(self.robot, self.options, setting)
        return self._among[setting]

    # ---- functions

    @cached_property
    def kernel(self) -> Kernel:
        """(q) -> distance, pair: what a call does, with the pair as a number."""
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
        if not self.pairs:
            raise ModelError(self._nothing())
        s = self.setting
        static = {"bodies": self.bodies, "pairs": self.pairs, "moving": s.moving, "spheres": s.spheres, "exact": s.exact}
        return Kernel.of(self.robot, algorithm, self.options, static)

    # ---- what is looked at

    @property
    def pairs(self) -> tuple[Names, ...]:
        """The pairs of links, or of a link and an obstacle, by name; their places are what `pair` counts."""
        return self._sorted[0]

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The pairs that are not looked at, each with the reason."""
        return self._sorted[1]

    @cached_property
    def covers(self) -> dict[str, Cover]:
        """By link and obstacle the volumes that stand for it, in its frame, and how far they stick out at most, m."""
        found: dict[str, list[Cover]] = {}
        for shape in (s for s in self.robot.shapes if s.is_collision):
            found.setdefault(shape.link, []).append(covered(shape, self.setting.parts))
        own = set(found)
        for x in self.setting.obstacles:
            name = x.name if isinstance(x, HeightField) else x.link
            if name in own or any(name == link.name for link in self.robot.links):
                raise InputError(f"clearance obstacle {name!r}: expected a name that no link has. Rename it.")
            cover = Cover((x.terrain,)) if isinstance(x, HeightField) else covered(x, self.setting.parts)
            found.setdefault(name, []).append(cover)
        return {n: Cover(tuple(v for c in group for v in c.volumes), max(c.error for c in group))
                for n, group in found.items()}  # fmt: skip

    @property
    def errors(self) -> dict[str, float]:
        """By link and obstacle how far what covers it sticks out at most, m; those alone that are not exact."""
        return {name: cover.error for name, cover in self.covers.items() if cover.error}

    @cached_property
    def bodies(self) -> Bodies:
        """By name what carries volumes, and these volumes: what the algorithm takes."""
        links = {link.name for link in self.robot.links}
        for name in self.setting.moving:
            if name in links or name not in self.covers:
                raise UnknownNameError("obstacle that moves", name, [n for n in self.covers if n not in links])
        carried = {**dict.fromkeys(self.setting.moving, None)}
        return tuple(
            (name, name if name in links or name in carried else WORLD, cover.volumes)
            for name, cover in self.covers.items()
        )

    @property
    def reach(self) -> NDArray[np.float64]:
        """How fast each of `distances` can change at most: (pairs, nv of `robot.opened()`), m for a rad or m.

        Between positions q0 and q1 of an open tree distances change by at most reach @ |difference(q0, q1)|; where
        `distances` are lower bounds (boxes at their corners, terrain), links still are at least distances(q0) less that
        apart. Motion of obstacles is not counted.
        """
        return self._reach.copy()

    @cached_property
    def _reach(self) -> NDArray[np.float64]:
        tree, links = Tree.of(self.robot), {link.name for link in self.robot.links}
        speeds = reach(self.robot, {name: c.volumes for name, c in self.covers.items() if name in links})
        found = np.zeros((len(self.pairs), tree.nv))
        for row, (a, b) in zip(found, self.pairs, strict=True):
            ends = [tree.place(name)[0] if name in links else 0 for name in (a, b)]
            for name, path in zip((a, b), tree.paths(*ends), strict=True):
                for k in path:
                    for at, speed in speeds[name][k].items():
                        row[at] += speed
        return found

    @cached_property
    def _sorted(self) -> tuple[tuple[Names, ...], tuple[LeftOut, ...]]:
        """The pairs that are looked at, and those that are not."""
        links = {link.name for link in self.robot.links}
        volumes = {name: cover.volumes for name, cover in self.covers.items()}
        if self.setting.spheres:
            if SPHERES in volumes or SPHERES in links:
                raise InputError(f"clearance spheres: expected no link and no obstacle of the name {SPHERES!r}.")
            volumes[SPHERES] = (sphere(ZERO3, 0.0),)
        own = {name: v for name, v in volumes.items() if name in links}
        if not own:
            raise ModelError(self._nothing())
        named = [name for group in (*self.setting.ignore, *(self.setting.pairs or ())) for name in group]
        for name in named:
            if name not in volumes:
                raise UnknownNameError("link with a collision shape, or obstacle,", name, list(volumes))
        if self.setting.pairs is None:
            pairs, left = self_pairs(self.robot, own)
        else:
            pairs, left = list(self.setting.pairs), []
        tree, moving = Tree.of(self.robot), {*self.setting.moving, *([SPHERES] if self.setting.spheres else ())}
        for obstacle in (name for name in volumes if name not in own):
            for link in own:
                reason = self._reason(tree, own[link], link, volumes[obstacle], obstacle in moving)
                pairs, left = (pairs, [*left, LeftOut(link, obstacle, reason)]) if reason else ([*pairs, (link, obstacle)], left)
        asked = [p for p in pairs if any(set(x) <= set(p) for x in self.setting.ignore)]
        left += [LeftOut(*p, ASKED) for p in asked]
        return tuple(p for p in pairs if p not in asked), tuple(left)

    def _reason(self, tree: Tree, own: Sequence[Volume], link: str, other: Sequence[Volume], moves: bool) -> str:
        """Why a link and an obstacle are no pair, if they are none."""
        if not moves and tree.place(link)[0] == 0:
            return STILL
        return "" if any(map(has_end, (*own, *other))) else ENDLESS

    def _nothing(self) -> str:
        """What to do where nothing can collide."""
        if not any(s.is_collision for s in self.robot.shapes):
            return (
                f"clearance: expected collision shapes of the robot {self.robot.name!r}, got none. Add some, such as"
                f' robot.add(lw.Shape({self.robot.links[-1].name!r}, "capsule", (0.05, 0.3), role="collision")), or let'
                " those that are drawn count: robot.replace(shapes=[dataclasses.replace(s, role='both')"
                " for s in robot.shapes])."
            )
        reasons = ", ".join(f"{x.a} - {x.b} ({x.reason})" for x in self.left_out[:6])
        return (
            f"clearance: expected pairs of the robot {self.robot.name!r} that can collide, got none."
            f" Name some with dyn.clearance.among(pairs=...), or obstacles. Left out: {reasons or 'nothing'}."
        )

    def __repr__(self) -> str:
        among = {x.name if isinstance(x, HeightField) else x.link for x in self.setting.obstacles}
        return f"<Clearance of the robot {self.robot.name!r}{' among ' + ', '.join(sorted(among)) if among else ''}>"

    def __reduce__(self) -> Any:
        return Clearance, (self.robot, self.options, self.setting)


def _are_shapes(value: Any) -> bool:
    if isinstance(value, (Shape, HeightField)):
        return True
    return isinstance(value, (list, tuple)) and any(isinstance(x, (Shape, HeightField)) for x in value)


def _obstacles(value: Any) -> tuple[Obstacle, ...]:
    items = (value,) if isinstance(value, (Shape, HeightField)) else value
    try:
        found = tuple(items)
    except TypeError:
        found = (items,)
    for x in found:
        if not isinstance(x, (Shape, HeightField)):
            raise InputError(f"clearance obstacles: expected shapes or height fields, got {x!r}.")
    return found


def _balls(value: Any) -> int:
    """How many balls an array has."""
    try:
        shape = np.shape(value)
    except ValueError:
        shape = ()
    if len(shape) < 2 or shape[-1] != 4 or not shape[-2]:
        raise InputError(
            "clearance obstacles: expected a list of shapes, or an array of balls (..., k, 4), each by centre and"
            f" radius, got {'an array of shape ' + str(shape) if shape else repr(value)}."
        )
    return int(shape[-2])


def _two(value: Any, what: str) -> Names:
    found = tuple(value) if isinstance(value, (tuple, list, set, frozenset)) else ()
    if len(found) != 2 or not all(isinstance(x, str) for x in found):
        raise InputError(f"clearance {what}: expected pairs of names, got {value!r}.")
    return found
