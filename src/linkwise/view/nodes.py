"""A scene as nodes of a viser server: links that move, with their parts; the ground, the camera, obstacles."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.transform import Rotation

from linkwise.errors import InputError
from linkwise.robot.geometry import Shape
from linkwise.robot.link import Link
from linkwise.robot.robot import Robot
from linkwise.rotation import with_z_along
from linkwise.view.part import Part
from linkwise.view.scene import Scene, places
from linkwise.view.solids import Array, Solid

CREASE = math.cos(math.radians(38.0))  # of the angle between faces from which their edge is sharp
SEEN_FROM = np.array([1.0, -0.9, 0.55])  # the way from the robot to the camera, the third number upwards
NARROW = math.radians(40.0)  # the camera's angle
PUSHED = (214, 73, 91)  # colour of arrows
STANDS = np.array([*np.eye(3).ravel(), 0.0, 0.0, 0.0])  # a base that nothing moves
FAINT = (205, 208, 214)  # colour of the ground


class Placed:
    """Where the links of a robot are, from what its `dyn.poses` gives."""

    def __init__(self, robot: Robot) -> None:
        found = places(robot)
        self.links = {place.link: k for k, place in enumerate(found)}
        self._rows = np.array([place.row for place in found])
        self._offsets = np.array([place.offset.matrix() for place in found], dtype=float)

    def __call__(self, T: Array) -> Array:
        """The poses of all links in their order (links, 4, 4)."""
        moving = self._rows >= 0
        whole = self._offsets.copy()
        whole[moving] = T[self._rows[moving]] @ self._offsets[moving]
        return whole


class Nodes:
    """What stands in the live page.

    Args:
        scene: what is drawn of the robot.
        server: of viser.
        poses: of all links at first, in the order of `scene.places`.
        obstacles: shapes in the world.
        drag: an async function of (link, event), called while the mouse drags a link.
    """

    def __init__(
        self, scene: Scene, server: Any, poses: Array, obstacles: Iterable[Shape], drag: Callable[..., Any]
    ) -> None:
        self.server, page = server, server.scene
        self.base = page.add_frame("/robot", show_axes=False)
        self.links = [
            page.add_frame(f"/robot/{node_name(k, place.link)}", show_axes=False)
            for k, place in enumerate(scene.places)
        ]
        numbers = {place.link: k for k, place in enumerate(scene.places)}
        for k, part in enumerate(scene.parts):
            mesh = self._mesh(f"{self.links[numbers[part.link]].name}/{k}", part)
            mesh.on_drag(_bound(drag, part.link))
        for k, part in enumerate(_parts(obstacles)):
            self._mesh(f"/obstacles/{k}", part)
        thin = scene.size / 100.0
        self.arrows = page.add_arrows(
            "/pushes", np.zeros((1, 2, 3)), PUSHED, visible=False,
            shaft_radius=thin, head_radius=2.5 * thin, head_length=5.0 * thin,
        )  # fmt: skip
        self._last, self._carried = np.zeros_like(poses), False
        self._look(scene, {link: poses[k] for link, k in numbers.items()})
        self.place(poses)

    def place(self, poses: Array, base: Array | None = None) -> None:
        """Put links at their poses on the base; and that, if it moves: its rotation row after row, its position."""
        moved = np.flatnonzero((poses != self._last).any(axis=(1, 2)))
        q = Rotation.from_matrix(poses[moved, :3, :3]).as_quat(scalar_first=True) if len(moved) else ()
        with self.server.atomic():
            for k, wxyz in zip(moved, q, strict=True):
                self.links[k].wxyz, self.links[k].position = wxyz, poses[k, :3, 3]
            if base is not None or self._carried:
                twelve = STANDS if base is None else base
                self.base.wxyz = Rotation.from_matrix(twelve[:9].reshape(3, 3)).as_quat(scalar_first=True)
                self.base.position = twelve[9:]
        self._last, self._carried = poses, base is not None

    def push(self, arrows: Array) -> None:
        """Draw arrows from points to points (n, 2, 3) in the world."""
        if len(arrows):
            self.arrows.points = arrows
        self.arrows.visible = bool(len(arrows))

    def _mesh(self, name: str, part: Part) -> Any:
        solid, T = creased(part.solid), np.array(part.origin.matrix(), dtype=float)
        colour = tuple(round(255 * x) for x in part.colour[:3])
        opacity = part.colour[3] if len(part.colour) > 3 and part.colour[3] < 1.0 else None
        wxyz = Rotation.from_matrix(T[:3, :3]).as_quat(scalar_first=True)
        return self.server.scene.add_mesh_simple(
            name, solid.vertices, solid.faces, color=colour, opacity=opacity, wxyz=wxyz, position=T[:3, 3]
        )

    def _look(self, scene: Scene, poses: dict[str, Array]) -> None:
        """The ground below the robot, and a camera that sees all of it."""
        corners = np.concatenate([_box(part, poses[part.link]) for part in scene.parts])
        frame = np.array(with_z_along(scene.up), dtype=float)
        low, high = (corners @ frame).min(axis=0), (corners @ frame).max(axis=0)
        centre, radius = (low + high) / 2.0, max(float(np.linalg.norm(high - low)) / 2.0, 1e-3)
        floor = np.array([0.0, 0.0, low[2]])
        self.server.scene.set_up_direction(tuple(scene.up))
        cell = 10.0 ** round(math.log10(radius))
        self.server.scene.add_grid(
            "/ground", 10.0 * cell, 10.0 * cell, cell_size=cell / 5.0, section_size=cell, position=frame @ floor,
            cell_color=FAINT, section_color=FAINT, cell_thickness=0.6, section_thickness=1.4,
            wxyz=Rotation.from_matrix(frame).as_quat(scalar_first=True),
        )  # fmt: skip
        camera = self.server.initial_camera
        away = SEEN_FROM * (1.25 * radius / math.sin(NARROW / 2.0) / float(np.linalg.norm(SEEN_FROM)))
        camera.fov, camera.near, camera.far = NARROW, radius / 100.0, 100.0 * radius
        camera.look_at, camera.position = frame @ centre, frame @ (centre + away)
        camera.up = np.array(scene.up, dtype=float)


def node_name(number: int, name: str) -> str:
    """What a node is called in the tree of a page: a number, and of a name what can neither be a path nor markup."""
    return f"{number} {re.sub(r'[^0-9A-Za-z_-]', '_', name)[:40]}".strip()


def creased(solid: Solid) -> Solid:
    """The solid with vertices of its own for each smooth piece of surface, so that whoever smooths leaves its edges."""
    faces = np.asarray(solid.faces)
    a, b, c = (solid.vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    ends = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)  # of all edges, three a face
    corners = np.arange(faces.size).reshape(-1, 3)[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    swapped = ends[:, 0] > ends[:, 1]
    ends[swapped], corners[swapped] = ends[swapped][:, ::-1], corners[swapped][:, ::-1]
    order = np.lexsort(ends.T)
    first, second = order[:-1], order[1:]
    smooth = (ends[first] == ends[second]).all(axis=1)
    smooth &= np.einsum("ij,ij->i", normals[first // 3], normals[second // 3]) > CREASE
    joined = corners[first[smooth]].ravel(), corners[second[smooth]].ravel()
    graph = coo_array((np.ones(len(joined[0]), dtype=bool), joined), shape=(faces.size, faces.size))
    count, piece = connected_components(graph, directed=False)
    vertices = np.empty((count, 3))
    vertices[piece] = solid.vertices[faces.ravel()]
    return Solid(vertices, piece.reshape(-1, 3).astype(np.int64))


def _bound(drag: Callable[..., Any], link: str) -> Callable[[Any], Any]:
    async def dragged(event: Any) -> None:
        drag(link, event)

    return dragged


def _parts(obstacles: Iterable[Shape]) -> tuple[Part, ...]:
    """Shapes in the world as parts."""
    shapes = tuple(obstacles)
    if not shapes:
        return ()
    for shape in shapes:
        if not isinstance(shape, Shape):
            raise InputError(f"show obstacles: expected lw.Shape(...), in the world, got {shape!r}.")
    world = Link("world")
    return Scene.of(Robot([world], shapes=[replace(s, link="world") for s in shapes], name="obstacles")).parts


def _box(part: Part, T: Array) -> Array:
    """The corners of the box around a part, in the world."""
    low, high = part.solid.vertices.min(axis=0), part.solid.vertices.max(axis=0)
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    whole = T @ np.array(part.origin.matrix(), dtype=float)
    return np.asarray(corners @ whole[:3, :3].T + whole[:3, 3])
