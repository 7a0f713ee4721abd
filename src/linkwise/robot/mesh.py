"""Triangles of mesh files, read by trimesh when somebody asks for them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import InputError, ModelError
from linkwise.files import reading
from linkwise.robot.geometry import Shape

Array = NDArray[np.float64]
LARGEST = 1 << 28  # bytes of a file


def triangles(shape: Shape) -> Array:
    """The triangles (n, 3, 3) of a mesh in the frame of its link, m."""
    path = shape.path
    if path is None:
        raise ModelError(
            f"shape of link {shape.link!r}: expected the mesh {shape.file!r} on this machine, got none. Put it beside"
            " the robot's file, name its package in ROS_PACKAGE_PATH, or give the link shapes that need no file."
        )
    R, p = np.array(shape.origin.R, dtype=float), np.array(shape.origin.p, dtype=float)
    return (_read(path, path.stat().st_mtime_ns) * np.array(shape.size)) @ R.T + p


@lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> Array:
    """The triangles of a file, kept until it changes."""
    problem = "expected a mesh (.stl, .dae, .obj, ...), got something else, or a part of it."
    trimesh, kind = _trimesh(), path.suffix.lower().removeprefix(".")
    loaders = trimesh.exchange.load.mesh_loaders
    if kind not in loaders:
        raise InputError(f"{path.name}: expected a mesh that trimesh reads, got {path.suffix or 'no suffix'!r}.")
    with reading(path, problem, LARGEST) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of readers, about colours
        resolver = trimesh.resolvers.FilePathResolver(str(path))
        scene = trimesh.load_scene(loaders[kind](file_obj=file, file_type=kind, resolver=resolver))
        parts = list(_parts(scene))
    found = np.concatenate([np.zeros((0, 3, 3)), *parts])
    found = found[np.isfinite(found).all(axis=(1, 2))]
    if not len(found):
        raise InputError(f"{path.name}: expected a mesh with triangles, got none.")
    return found


def _trimesh() -> Any:
    try:
        return import_module("trimesh")
    except ImportError as error:
        raise InputError(
            "clearance: expected the package 'trimesh' to be installed, which reads meshes, got none."
            " Install it with: pip install 'linkwise[view]', or give links shapes without meshes."
        ) from error


def _parts(scene: Any) -> Iterator[Array]:
    """Triangles of a trimesh scene where they are; those of COLLADA files in m."""
    for name in scene.graph.nodes_geometry:
        T, key = scene.graph[name]
        mesh = scene.geometry[key]
        if hasattr(mesh, "faces"):
            words = str(mesh.metadata.get("units") or "").split(" * ")
            unit = float(words[0]) if len(words) == 2 else 1.0
            vertices = (np.asarray(mesh.vertices, dtype=float) @ T[:3, :3].T + T[:3, 3]) * unit
            yield vertices[np.asarray(mesh.faces)]
