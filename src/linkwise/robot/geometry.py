"""Shapes of links: what is drawn, and what touches. Meshes are named here, and read when somebody draws them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from linkwise.errors import ModelError
from linkwise.robot import check
from linkwise.spatial import Pose

if TYPE_CHECKING:
    from linkwise.robot.robot import Robot

SIZES = {
    "box": ("x", "y", "z"),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "ellipsoid": ("x", "y", "z"),
    "plane": (),
    "mesh": ("x", "y", "z"),
}
ROLES = ("visual", "collision", "both")
PACKAGE, FILE = "package://", "file://"


@dataclass(frozen=True)
class Shape:
    """A shape that a link carries.

    A cylinder and a capsule lie along z of their frame, with its origin in their middle. A plane is z = 0, and its
    inside is below it.

    Args:
        link: name of the link.
        kind: "box", "sphere", "cylinder", "capsule", "ellipsoid", "plane" or "mesh".
        size: edges of a box along x, y, z; radius of a sphere; radius and length of a cylinder, and of a capsule
            between the centres of its ends; half axes of an ellipsoid; scale of a mesh, which may mirror; m.
        origin: pose of the shape's frame in the link's.
        role: "visual" for what is drawn, "collision" for what touches, or "both".
        file: of a mesh, as the robot's file names it: a path, or "package://name/path". It is not opened here.
        colour: red, green, blue and opacity, each from 0 to 1; none where it is not known.
        material: name of the material.
        texture: file of a picture, named as `file` is.
        folder: where relative paths begin, and where the search for packages does.
        name: of the shape, if it has one.
    """

    link: str
    kind: str
    size: tuple[float, ...] = ()
    origin: Pose = Pose()
    role: str = "visual"
    file: str = ""
    colour: tuple[float, ...] = ()
    material: str = ""
    texture: str = ""
    folder: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        what = f"shape of link {check.name(self.link, 'shape link')!r}"
        if self.kind not in SIZES:
            raise ModelError(f"{what} kind: expected one of {tuple(SIZES)}, got {self.kind!r}.")
        if self.role not in ROLES:
            raise ModelError(f"{what} role: expected one of {ROLES}, got {self.role!r}.")
        for key in ("file", "material", "texture", "folder", "name"):
            if not isinstance(getattr(self, key), str):
                raise ModelError(f"{what} {key}: expected a text, got {getattr(self, key)!r}.")
        if bool(self.file) != (self.kind == "mesh"):
            raise ModelError(f"{what}: expected a file for a mesh and for nothing else, got {self.file!r}.")
        size: Any = self.size
        if self.kind == "mesh" and size == ():
            size = (1.0, 1.0, 1.0)
        if isinstance(size, (int, float)):
            size = (size,)
        found = check.numbers(size, f"{what} size", len(SIZES[self.kind]))
        if self.kind != "mesh":
            found = tuple(check.number(x, f"{what} size", least=0.0) for x in found)
        set_ = object.__setattr__
        set_(self, "size", found)
        set_(self, "origin", check.pose(self.origin, f"{what} origin"))
        if self.colour != ():
            colour = check.numbers(self.colour, f"{what} colour", 4)
            set_(self, "colour", tuple(min(1.0, max(0.0, x)) for x in colour))

    @property
    def is_visual(self) -> bool:
        """Whether it is drawn."""
        return self.role != "collision"

    @property
    def is_collision(self) -> bool:
        """Whether it touches."""
        return self.role != "visual"

    @property
    def path(self) -> Path | None:
        """The file of a mesh on this machine; None where it is not found, or where this is no mesh.

        Packages are looked for in ROS_PACKAGE_PATH, AMENT_PREFIX_PATH and CMAKE_PREFIX_PATH, then in the folders above
        the robot's own file.
        """
        return next((p for p in places(self.file, self.folder) if os.path.isfile(p)), None) if self.file else None

    def seen_from(self, folder: str) -> Shape:
        """The same shape for a robot file in another folder: relative paths lead to the same files."""
        here, there = os.path.abspath(self.folder or os.curdir), os.path.abspath(folder or os.curdir)
        if not self.folder or here == there:
            return self

        def moved(name: str) -> str:
            if not name or "://" in name or os.path.isabs(name):
                return name
            try:
                return Path(os.path.relpath(os.path.join(here, name), there)).as_posix()
            except ValueError:  # another drive
                return os.path.join(here, name)

        return replace(self, file=moved(self.file), texture=moved(self.texture), folder=there)


def places(name: str, folder: str) -> Iterator[Path]:
    """Where a file may be that a robot's file names."""
    try:
        if name.startswith(PACKAGE):
            package, _, rest = unquote(name[len(PACKAGE) :]).partition("/")
            yield from (root / rest for root in _packages(package, folder))
        else:
            yield Path(folder or os.curdir, _plain(name[len(FILE) :]) if name.startswith(FILE) else name)
    except (ValueError, OSError):  # a name that no file can have
        return


def _plain(address: str, windows: bool = os.name == "nt") -> str:
    """The path that an address has after file://, such as /home/arm.stl, or /C:/arm.stl with a drive of Windows."""
    path = unquote(address)
    return path[1:] if windows and path[:1] == "/" and path[2:3] == ":" else path


def _packages(package: str, folder: str) -> Iterator[Path]:
    """Folders that may be the package of that name."""
    for variable, inner in (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share"), ("CMAKE_PREFIX_PATH", "share")):
        for root in os.environ.get(variable, "").split(os.pathsep):
            if root:
                yield Path(root, inner, package)
                if Path(root).name == package and not inner:
                    yield Path(root)
    here = Path(folder or os.curdir).absolute()
    for parent in (here, *here.parents):
        if parent.name == package:
            yield parent
        yield parent / package


def missing_meshes(robot: Robot) -> tuple[str, ...]:
    """The files of meshes that are not found on this machine, as the robot names them."""
    return tuple(dict.fromkeys(s.file for s in robot.shapes if s.file and s.path is None))
