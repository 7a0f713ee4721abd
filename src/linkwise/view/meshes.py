"""Meshes of files as solids with colours, read when somebody draws them; made coarser where there is too much."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import InputError
from linkwise.files import required
from linkwise.robot.geometry import Shape
from linkwise.robot.mesh import read, trimesh
from linkwise.view.part import Colour
from linkwise.view.solids import Array, Places, Solid

Pieces = list[tuple[Solid, Colour]]
Loaded = dict[Shape, Pieces]

MOST = 60_000  # triangles of a robot; where its meshes have more, each is made coarser by the same factor
LEAST = 60  # triangles of a piece that is left as it is
HEAD = 1 << 16  # bytes of a COLLADA file that say which way is up
GRID = 20  # bits of a coordinate within the box of a mesh, by which vertices are the same


class Found(NamedTuple):
    """The meshes of some shapes: solids with their own colours, files that were not found or read, and remarks.

    `y_up` are the shapes whose files say that y is up.
    """

    loaded: Loaded
    y_up: tuple[Shape, ...]
    missing: tuple[str, ...]
    notes: tuple[str, ...]


def found(shapes: Iterable[Shape], most: int = MOST) -> Found:
    """The meshes of shapes, made coarser where they have more triangles than `most` together."""
    paths = {shape: shape.path for shape in shapes if shape.kind == "mesh"}
    if any(paths.values()):
        trimesh()  # refused here; files that cannot be read are not
    files: dict[Path | None, Pieces] = {None: []}
    notes = []
    for path in paths.values():
        if path is not None and path not in files:
            try:
                files[path] = _pieces(path)
            except InputError as error:
                files[path] = []
                notes.append(str(error))
    total = sum(len(solid.faces) for path in paths.values() for solid, _ in files[path])
    if total > most:
        files = {path: [(coarser(solid, most / total), c) for solid, c in p] for path, p in files.items()}
        left = sum(len(solid.faces) for path in paths.values() for solid, _ in files[path])
        notes.append(f"meshes of {total:,} triangles were made coarser, to {left:,}; triangles= keeps more")
    loaded = {shape: files[path] for shape, path in paths.items() if files[path]}
    missing = dict.fromkeys(shape.file for shape in paths if shape not in loaded)
    y_up = tuple(shape for shape in loaded if (path := paths[shape]) and _says_y_up(path))
    return Found(loaded, y_up, tuple(missing), tuple(notes))


def _says_y_up(path: Path) -> bool:
    if path.suffix.lower() != ".dae":
        return False
    with path.open("rb") as file:
        return b"Y_UP" in file.read(HEAD)


def _pieces(path: Path) -> Pieces:
    """A file's solids by colour, in m; colours are empty where the file has none."""
    by_colour: dict[Colour, list[Any]] = {}
    for colour, mesh in read(path, lambda mesh: (_colour(mesh), mesh)):
        by_colour.setdefault(colour, []).append(mesh)
    pieces = [(_merged(solids), colour) for colour, solids in by_colour.items()]
    pieces = [(solid, colour) for solid, colour in pieces if len(solid.faces)]
    if not pieces:
        raise InputError(f"{path.name}: expected a mesh with triangles, got none.")
    return pieces


def _colour(mesh: Any) -> Colour:
    """The colour of a mesh, the middle of its picture where it has one; none where the file says nothing."""
    visual = mesh.visual
    if not visual.defined:
        return ()
    material = getattr(visual, "material", None)
    if material is None:
        return _rounded(visual.main_color)
    uv = getattr(visual, "uv", None)
    if getattr(material, "image", None) is not None and uv is not None and len(uv):
        return _rounded(np.asarray(material.to_color(uv), dtype=float).reshape(-1, 4).mean(axis=0))
    return _rounded(material.main_color)


def _rounded(colour: Any) -> Colour:
    r, g, b, a = (float(x) / 255.0 for x in np.asarray(colour, dtype=float)[:4])
    return round(r, 3), round(g, 3), round(b, 3), round(a, 3) or 1.0  # a file that hides all means nothing by it


def _merged(meshes: list[Any]) -> Solid:
    """One solid of several, without vertices twice nor triangles without area."""
    starts = np.cumsum([0, *(len(m.vertices) for m in meshes[:-1])])
    vertices = np.concatenate([np.asarray(m.vertices, dtype=float) for m in meshes])
    faces = np.concatenate([np.asarray(m.faces) + k for m, k in zip(meshes, starts, strict=True)])
    good = np.isfinite(vertices).all(axis=1)
    faces = faces[good[faces].all(axis=1)]
    vertices = np.where(good[:, None], vertices, 0.0)
    return _welded(vertices, faces)


def _welded(vertices: Array, faces: Places) -> Solid:
    """Vertices within a grid's cell become one."""
    if not len(faces):
        return Solid(vertices[:0], faces)
    held = np.zeros(len(vertices), dtype=bool)
    held[faces] = True
    used = vertices[held]
    low = used.min(axis=0)
    edge = max(float((used.max(axis=0) - low).max()), 1e-12)
    cells = np.clip((vertices - low) * ((1 << GRID) - 1) / edge, 0, (1 << GRID) - 1).round().astype(np.int64)
    keys = (cells[:, 0] << 2 * GRID) | (cells[:, 1] << GRID) | cells[:, 2]
    _, first, places = np.unique(keys[faces], return_index=True, return_inverse=True)
    corners = faces.reshape(-1)[first]
    joined = places.reshape(-1, 3)
    a, b, c = joined.T
    return Solid(vertices[corners], joined[(a != b) & (b != c) & (c != a)])


def coarser(solid: Solid, share: float) -> Solid:
    """The solid with about that share of its triangles, its shape kept as well as may be."""
    wanted = max(LEAST, int(share * len(solid.faces)))
    if wanted >= len(solid.faces):
        return solid
    simplify = required("fast_simplification", "meshes").simplify
    low = solid.vertices.min(axis=0)  # single precision, of a mesh that may be far from its frame
    vertices, faces = simplify(
        np.ascontiguousarray(solid.vertices - low, dtype=np.float32),
        np.ascontiguousarray(solid.faces, dtype=np.int32),
        target_count=wanted,
    )
    if not len(faces):
        return solid
    return Solid(np.asarray(vertices, dtype=float) + low, np.asarray(faces, dtype=np.int64))
