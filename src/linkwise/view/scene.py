"""What is drawn of a robot: parts on links, axes of joints, bodies, sliders. Plain data, whatever draws it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import InputError
from linkwise.robot.geometry import Shape
from linkwise.robot.joint import Joint
from linkwise.robot.robot import Robot, Slot
from linkwise.robot.tree import Tree
from linkwise.scalar import is_number
from linkwise.spatial import Pose
from linkwise.vector import EZ, Mat3, Vec3, dot
from linkwise.view import drawn_links, meshes, up_axis
from linkwise.view.part import PLAIN, Part
from linkwise.view.solids import MADE, Array

TURNS = ("roll", "pitch", "yaw")  # sliders of a quaternion
TRIANGLES = meshes.MOST  # of all meshes of a robot; larger ones are made coarser
IN_THE_WAY = (0.62, 0.64, 0.67, 1.0)  # obstacles without a colour of their own
IN_LOOPS = 0.3  # how far sliders of a platform go, in sizes of the robot and in rad
# of joints, in plots too; told apart by people who see red and green alike
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8f6fd6", "#a6a118", "#7a8691", "#b5533c")


class Place(NamedTuple):
    """Where a link is: T_world_link = T[row] @ offset, T being what `dyn.poses` gives; in the world for row -1."""

    link: str
    row: int
    offset: Pose


class Axis(NamedTuple):
    """A joint as arrows show it: the link that it moves, and a point and a direction in the link's frame.

    `coordinate` is where its numbers begin in `qd`, -1 where it has none; a joint with no axis points along z.
    """

    joint: str
    link: str
    point: Vec3
    direction: Vec3
    slides: bool
    coordinate: int


class Body(NamedTuple):
    """Mass, centre and, in the link's frame, the ellipsoid of even density with the link's inertia: half axes, axes."""

    link: str
    mass: float
    com: Vec3
    half_axes: tuple[float, float, float]
    axes: Mat3


class Slider(NamedTuple):
    """One number of `q` to choose: `q[at]`, or with `turn` an angle (0 to 2: roll, pitch, yaw) of a quaternion there.

    `also` are motors behind springs that go with it.
    """

    name: str
    coordinate: str
    at: int
    lower: float
    upper: float
    slides: bool
    turn: int = -1
    also: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn of a robot.

    Args:
        robot: whose `dyn.poses` move it.
        places: of all links.
        parts: solids with colours, each on a link.
        axes: of the joints that move.
        bodies: of the links that have a mass.
        sliders: for the coordinates.
        up: the direction up in the world.
        size: a length of the order of the robot's, m.
        missing: files of meshes that were not found; their links are drawn from joints.
        notes: what else a user should know.
    """

    robot: Robot
    places: tuple[Place, ...]
    parts: tuple[Part, ...]
    axes: tuple[Axis, ...]
    bodies: tuple[Body, ...]
    sliders: tuple[Slider, ...]
    up: Vec3
    size: float
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, robot: Robot, *, use_meshes: bool = True, triangles: int = TRIANGLES) -> Scene:
        """The scene of a robot: its visual shapes, or shapes made from its joints and links where it has none.

        Args:
            robot: any.
            use_meshes: open the files of meshes, which needs trimesh; else their links are drawn from joints.
            triangles: of all meshes together; where there are more, meshes are made coarser.
        """
        if not isinstance(robot, Robot):
            raise InputError(f"view: expected a Robot, got {robot!r}.")
        visual = [s for s in robot.shapes if s.is_visual] or _bodies_that_touch(robot)
        found = meshes.found(visual if use_meshes else (), triangles)
        loaded = up_axis.settled(robot, found.loaded, found.y_up)
        bare = {s.link for s in visual if s.kind == "mesh" and s not in loaded}
        links = {k.name for k in robot.links} if not visual else bare
        size = drawn_links.size(robot)
        parts = [part for s in visual for part in _parts(s, loaded)]
        parts += drawn_links.drawn(robot, links, COLOURS)
        return cls(robot, places(robot), tuple(parts), tuple(_axes(robot)), tuple(_bodies(robot)),
                   tuple(_sliders(robot, size)), up(robot), size, found.missing, found.notes)  # fmt: skip

    def among(self, obstacles: Sequence[Any]) -> Scene:
        """The same among obstacles that stand in the world: shapes; what has no end is not drawn."""
        root = self.robot.links[0].name
        shapes = [replace(s, link=root, colour=s.colour or IN_THE_WAY) for s in obstacles if isinstance(s, Shape)]
        loaded = meshes.found(shapes, TRIANGLES).loaded if any(s.kind == "mesh" for s in shapes) else {}
        return replace(self, parts=(*self.parts, *(part for s in shapes for part in _parts(s, loaded))))

    def link_poses(self, T: Array) -> dict[str, Array]:
        """The 4 by 4 matrices of all links by name, from those of `dyn.poses` (..., nb, 4, 4)."""
        found = {}
        for link, row, offset in self.places:
            fixed = np.array(offset.matrix(), dtype=float)
            found[link] = T[..., row, :, :] @ fixed if row >= 0 else np.broadcast_to(fixed, (*T.shape[:-3], 4, 4))
        return found


def colour_of(robot: Robot, joint: str) -> str:
    """The colour of a joint, in plots and on the robot."""
    names = [j.name for j in robot.joints if not j.is_fixed]
    return COLOURS[names.index(joint) % len(COLOURS)] if joint in names else COLOURS[0]


def places(robot: Robot) -> tuple[Place, ...]:
    """Where every link is, fixed ones on the links that carry them."""
    tree = Tree.of(robot)
    rows = {i: row for row, i in enumerate(tree.linked)}
    found = []
    for link in robot.links:
        i, X = tree.place(link.name)
        moves = link.name in robot.moving_links
        offset = Pose() if moves else tree.bodies[i].of_link @ X if i else X
        found.append(Place(link.name, rows.get(i, -1), offset))
    return tuple(found)


def up(robot: Robot) -> Vec3:
    """Against gravity; z where there is none."""
    g = robot.gravity
    if not all(is_number(x) for x in g) or not dot(g, g):
        return EZ
    return g * (-1.0 / math.sqrt(dot(g, g)))


def _bodies_that_touch(robot: Robot) -> list[Shape]:
    """The shapes for collisions where they are those of most moving links, so that they look like the robot."""
    links = {s.link for s in robot.shapes}
    heavy = [k.name for k in robot.links if k.mass and k.name in robot.moving_links]
    return list(robot.shapes) if sum(name in links for name in heavy) > 0.5 * len(heavy) else []


def _parts(shape: Shape, loaded: meshes.Loaded) -> Iterator[Part]:
    """The parts of one shape, of a mesh that was not found none; a mesh of several colours keeps them."""
    pieces = loaded.get(shape, [])
    for solid, own in pieces:
        colour = own if len(pieces) > 1 else shape.colour or own
        yield Part(shape.link, solid.scaled(*shape.size), shape.origin, colour or PLAIN)
    if shape.kind in MADE:  # a plane has no end: pages have a ground of their own
        yield Part(shape.link, MADE[shape.kind](*shape.size), shape.origin, shape.colour or PLAIN)


def _axes(robot: Robot) -> Iterator[Axis]:
    slots = robot.slots
    for j in robot.joints:
        if not j.is_fixed:
            direction = j.axis if j.freedom.has_axis else EZ
            coordinate = slots[j.name].v if j.name in slots and slots[j.name].nv else -1
            yield Axis(j.name, j.child, j.anchor, direction, j.freedom.slides, coordinate)


def _bodies(robot: Robot) -> Iterator[Body]:
    for link in robot.links:
        if not all(is_number(x) for x in (link.mass, *link.com, *link.inertia)) or not link.mass > 0.0:
            continue
        xx, xy, xz, yy, yz, zz = link.inertia
        moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float))
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] *= -1.0
        squares = 2.5 / link.mass * (moments.sum() - 2.0 * moments)
        half = tuple(float(math.sqrt(max(x, 0.0))) for x in squares)
        yield Body(link.name, float(link.mass), link.com, (half[0], half[1], half[2]), Mat3.of(axes.tolist()))


def _sliders(robot: Robot, size: float) -> Iterator[Slider]:
    joints, q = {j.name: j for j in robot.joints}, robot.q()
    for name, slot in robot.slots.items():
        if name in joints:
            also, home = _motors(robot, joints[name]), q[slot.q : slot.q + slot.nq]
            looped = bool(robot.loops) and not robot.rolls and slot.kind.nv > 1
            yield from _of_slot(joints[name], slot, home, also, size, looped)


def _motors(robot: Robot, joint: Joint) -> tuple[int, ...]:
    return (robot.slots[joint.motor_name].q,) if joint.is_elastic else ()


def _of_slot(
    joint: Joint, slot: Slot, home: Array, also: tuple[int, ...], size: float, looped: bool
) -> Iterator[Slider]:
    """The sliders of one joint: its numbers, of a quaternion its angles."""
    kind, quaternion = slot.kind, slot.kind.quaternion
    length, angle = (IN_LOOPS * size, IN_LOOPS) if looped else (size, math.pi)
    for k, part in enumerate(kind.positions):
        if quaternion is None or not quaternion.start <= k < quaternion.stop:
            slides = kind.lengths[k]
            most = length if slides else angle
            lower, upper = (joint.limits.lower, joint.limits.upper) if kind.is_single else (-math.inf, math.inf)
            low = lower if math.isfinite(lower) else min(home[k] - most, upper - most)
            high = upper if math.isfinite(upper) else max(home[k] + most, low + most)
            yield Slider(f"{joint.name}.{part}" if part else joint.name, joint.name, slot.q + k, low, high, slides,
                         also=also)  # fmt: skip
    if quaternion is not None:
        for k, part in enumerate(TURNS):
            yield Slider(f"{joint.name}.{part}", joint.name, slot.q + quaternion.start, -angle, angle, False, k)
