"""What clearance looks at: the volumes of a robot's links and of obstacles, and which pairs of them can collide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError, ModelError, UnknownNameError
from linkwise.mechanism.touching import ASKED, ENDLESS, LeftOut, has_end, self_pairs
from linkwise.robot.covering import PARTS, covered
from linkwise.robot.geometry import Shape
from linkwise.robot.height_field import HeightField
from linkwise.robot.placement import reach
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree
from linkwise.robot.volume import Cover, Volume, sphere
from linkwise.vector import ZERO3

WORLD = ""  # what carries an obstacle that does not move
SPHERES = "spheres"  # the name of balls that are an input
STILL = "neither moves"
Obstacle = Shape | HeightField
Names = tuple[str, str]
# by name what carries volumes, a link, an obstacle that moves or the world; and the volumes in its frame
Bodies = tuple[tuple[str, str, tuple[Volume, ...]], ...]


@dataclass(frozen=True)
class Scene:
    """A robot among obstacles, and the pairs to look at: what `Clearance.among` takes, checked."""

    robot: Robot = field(compare=False)
    obstacles: tuple[Obstacle, ...] = ()
    moving: tuple[str, ...] = ()
    spheres: int = 0
    ignore: tuple[tuple[str, ...], ...] = ()
    chosen: tuple[Names, ...] | None = None
    parts: int = PARTS
    exact: bool = False

    @property
    def static(self) -> dict[str, Any]:
        """The static arguments of the algorithms of clearance."""
        if not self.pairs:
            raise ModelError(self._nothing())
        fixed = {"moving": self.moving, "spheres": self.spheres, "exact": self.exact}
        return {"bodies": self.bodies, "pairs": self.pairs, **fixed}

    @cached_property
    def links(self) -> frozenset[str]:
        """The names of the robot's links."""
        return frozenset(link.name for link in self.robot.links)

    @cached_property
    def covers(self) -> dict[str, Cover]:
        """By link and obstacle the volumes that stand for it, in its frame, and how far they stick out at most, m."""
        found: dict[str, list[Cover]] = {}
        for shape in (s for s in self.robot.shapes if s.is_collision):
            found.setdefault(shape.link, []).append(covered(shape, self.parts))
        for x in self.obstacles:
            name = x.name if isinstance(x, HeightField) else x.link
            if name in self.links:
                raise InputError(f"clearance obstacle {name!r}: expected a name that no link has. Rename it.")
            cover = Cover((x.terrain,)) if isinstance(x, HeightField) else covered(x, self.parts)
            found.setdefault(name, []).append(cover)
        groups = found.items()
        return {
            n: Cover(tuple(v for c in group for v in c.volumes), max(c.error for c in group)) for n, group in groups
        }

    @cached_property
    def bodies(self) -> Bodies:
        """By name what carries volumes, and these volumes."""
        for name in self.moving:
            if name in self.links or name not in self.covers:
                known = [n for n in self.covers if n not in self.links]
                raise UnknownNameError("obstacle that moves", name, known)
        carried = {*self.links, *self.moving}
        return tuple((name, name if name in carried else WORLD, c.volumes) for name, c in self.covers.items())

    @property
    def pairs(self) -> tuple[Names, ...]:
        """The pairs of links, or of a link and an obstacle, by name."""
        return self._sorted[0]

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """The pairs that are not looked at, each with the reason."""
        return self._sorted[1]

    @cached_property
    def _sorted(self) -> tuple[tuple[Names, ...], tuple[LeftOut, ...]]:
        volumes: dict[str, Sequence[Volume]] = {name: cover.volumes for name, cover in self.covers.items()}
        if self.spheres:
            if SPHERES in volumes or SPHERES in self.links:
                raise InputError(f"clearance spheres: expected no link and no obstacle of the name {SPHERES!r}.")
            volumes[SPHERES] = (sphere(ZERO3, 0.0),)
        for name in (name for group in (*self.ignore, *(self.chosen or ())) for name in group):
            if name not in volumes:
                raise UnknownNameError("link with a collision shape, or obstacle,", name, list(volumes))
        own = {name: v for name, v in volumes.items() if name in self.links}
        if not own:
            raise ModelError(self._nothing())
        pairs, left = self_pairs(self.robot, own) if self.chosen is None else (list(self.chosen), [])
        tree = Tree.of(self.robot)
        still = {name for name in own if tree.place(name)[0] == 0}
        moving = {*self.moving, *([SPHERES] if self.spheres else ())}
        for obstacle, link in ((o, link) for o in volumes if o not in own for link in own):
            if link in still and obstacle not in moving:
                left.append(LeftOut(link, obstacle, STILL))
            elif not any(map(has_end, (*own[link], *volumes[obstacle]))):
                left.append(LeftOut(link, obstacle, ENDLESS))
            else:
                pairs.append((link, obstacle))
        asked = [p for p in pairs if any(set(x) <= set(p) for x in self.ignore)]
        left += [LeftOut(*p, ASKED) for p in asked]
        return tuple(p for p in pairs if p not in asked), tuple(left)

    @cached_property
    def reach(self) -> NDArray[np.float64]:
        """How fast the distance of each pair can change at most: (pairs, nv of `robot.opened()`), m for a rad or m."""
        tree = Tree.of(self.robot)
        speeds = reach(self.robot, {name: c.volumes for name, c in self.covers.items() if name in self.links})
        found = np.zeros((len(self.pairs), tree.nv))
        for row, (a, b) in zip(found, self.pairs, strict=True):
            ends = [tree.place(name)[0] if name in self.links else 0 for name in (a, b)]
            for name, path in zip((a, b), tree.paths(*ends), strict=True):
                for at, speed in (x for k in path for x in speeds[name][k].items()):
                    row[at] += speed
        found.flags.writeable = False
        return found

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


def obstacles_of(value: Any) -> tuple[Obstacle, ...]:
    """Shapes and height fields, or one."""
    items: Any = (value,) if isinstance(value, Obstacle) or not isinstance(value, Iterable) else value
    found = tuple(items)
    for x in found:
        if not isinstance(x, Obstacle):
            such = 'lw.Shape("post", "sphere", 0.1, lw.Pose.of((0.5, 0.0, 0.3)))'
            raise InputError(f"clearance obstacles: expected shapes or height fields, such as {such}, got {x!r}.")
    return found


def pair_of(value: Any, what: str) -> Names:
    """Two names."""
    found = tuple(value) if isinstance(value, (tuple, list, set, frozenset)) else ()
    if len(found) != 2 or not all(isinstance(x, str) for x in found):
        raise InputError(f"clearance {what}: expected pairs of names, got {value!r}.")
    return found
