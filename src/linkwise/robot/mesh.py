"""Mesh files, read by trimesh when somebody asks for them, and their triangles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError, ModelError
from linkwise.files import reading, required
from linkwise.robot.geometry import Shape

Array = NDArray[np.float64]
T = TypeVar("T")
LARGEST = 1 << 28  # bytes of a file
OTHERWISE = "expected a mesh (.stl, .dae, .obj, ...), got something else, or a part of it."


def file_of(shape: Shape) -> Path:
    """The file of a mesh."""
    if shape.path is None:
        raise ModelError(
            f"shape of link {shape.link!r}: expected the mesh {shape.file!r} on this machine, got none. Put it beside"
            " the robot's file, name its package in ROS_PACKAGE_PATH, or give the link shapes that need no file."
        )
    return shape.path


def triangles(shape: Shape) -> Array:
    """The triangles (n, 3, 3) of a mesh in the frame of its link, m."""
    R, p = np.array(shape.origin.R, dtype=float), np.array(shape.origin.p, dtype=float)
    return scaled(file_of(shape), shape.size) @ R.T + p


def scaled(path: Path, size: tuple[float, ...]) -> Array:
    """The triangles (n, 3, 3) of a file in its own frame, scaled, m."""
    return _read(path, path.stat().st_mtime_ns) * np.array(size)


@lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> Array:
    """The triangles of a file, kept until it changes."""
    found = np.concatenate([np.zeros((0, 3, 3)), *read(path, lambda mesh: mesh.vertices[mesh.faces])])
    found = found[np.isfinite(found).all(axis=(1, 2))]
    if not len(found):
        raise InputError(f"{path.name}: expected a mesh with triangles, got none.")
    return found


def trimesh() -> Any:
    """The package that reads meshes, or an error that says how to install it."""
    return required("trimesh", "meshes")


def read(path: Path, take: Callable[[Any], T]) -> list[T]:
    """What is taken of each mesh of a file: a trimesh where it stands, in m, its vertices as the file has them."""
    kind = path.suffix.lower().removeprefix(".")
    loaders = trimesh().exchange.load.mesh_loaders
    if kind not in loaders:
        raise InputError(
            f"{path.name}: expected a mesh that trimesh reads, got {path.suffix or 'no suffix'!r}."
            ' Readers of further formats come with: pip install "linkwise[view]".'
        )
    with reading(path, OTHERWISE, LARGEST) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of readers, about what nobody asks for
        resolver = trimesh().resolvers.FilePathResolver(str(path))
        found = loaders[kind](file_obj=file, file_type=kind, resolver=resolver)
        for piece in found.get("geometry", {"": found}).values():
            piece["process"] = False  # who wants vertices welded does so
        return [take(mesh) for mesh in _placed(trimesh().load_scene(found))]


def _placed(scene: Any) -> Iterator[Any]:
    """The meshes of a trimesh scene where they are; vertices of COLLADA files in m, their axes as they are."""
    for name in scene.graph.nodes_geometry:
        T_scene_mesh, key = scene.graph[name]
        mesh = scene.geometry[key]
        if not hasattr(mesh, "faces"):
            continue
        words = str(mesh.metadata.get("units") or "").split(" * ")
        unit = float(words[0]) if len(words) == 2 else 1.0
        mesh = mesh.copy(include_cache=False) if len(scene.graph.nodes_geometry) > len(scene.geometry) else mesh
        mesh.vertices = (mesh.vertices @ T_scene_mesh[:3, :3].T + T_scene_mesh[:3, 3]) * unit
        if np.linalg.det(T_scene_mesh[:3, :3]) < 0.0:
            mesh.faces = mesh.faces[:, ::-1]
        yield mesh
