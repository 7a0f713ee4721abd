"""Shapes of links in URDF files: <visual> and <collision>, their geometry and materials."""

from __future__ import annotations

from linkwise.errors import ModelError
from linkwise.formats.xml import Element, Reader
from linkwise.robot.geometry import Shape
from linkwise.rotation import rpy
from linkwise.spatial import Pose
from linkwise.vector import EYE3, ZERO3, Vec3

ROLES = ("visual", "collision")
SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh")
SHAPE_SCHEMA = {
    "visual": frozenset(("origin", "geometry", "material")),
    "collision": frozenset(("origin", "geometry")),
    "geometry": frozenset(SHAPES),
    "material": frozenset(("color", "texture")),
}


class UrdfReader(Reader):
    """What elements of a URDF file share."""

    def origin(self, e: Element, item: str) -> Pose:
        origin = self.only(e, "origin", item)
        if origin is None:
            return Pose()
        turn = self.vector(origin, "rpy", item, ZERO3)
        return Pose(rpy(*turn) if any(turn) else EYE3, self.vector(origin, "xyz", item, ZERO3))

    def vector(self, e: Element, key: str, item: str, default: Vec3) -> Vec3:
        return Vec3(*self.numbers(e, key, item, 3, default))


class Materials:
    """The materials that a file names: colours and textures, wherever they are first said."""

    def __init__(self, reader: UrdfReader, root: Element) -> None:
        self.reader = reader
        self.known: dict[str, tuple[tuple[float, ...], str]] = {}
        inside = (e for link in root.all("link") for v in link.all("visual") for e in v.all("material"))
        for e in (*root.all("material"), *inside):
            colour, texture = self.read(e)
            if colour or texture:
                self.known.setdefault(e.attributes.get("name", ""), (colour, texture))

    def read(self, e: Element) -> tuple[tuple[float, ...], str]:
        """The colour and the texture that an element itself says."""
        colours, textures = e.all("color"), e.all("texture")
        colour: tuple[float, ...] = ()
        item = f"material {e.attributes.get('name', '')!r}"
        if colours:
            try:
                colour = tuple(self.reader.numbers(colours[0], "rgba", item, 4, ()))
            except ModelError as error:
                self.reader.note("warning", item, f"its colour is left out: {error}")
        return colour, textures[0].attributes.get("filename", "") if textures else ""

    def of(self, visual: Element) -> tuple[str, tuple[float, ...], str]:
        """Name, colour and texture of a shape."""
        found = visual.all("material")
        if not found:
            return "", (), ""
        name = found[0].attributes.get("name", "")
        own = self.read(found[0])
        return (name, *(own if any(own) else self.known.get(name, own)))


def shape(reader: UrdfReader, e: Element, link: str, materials: Materials) -> Shape | None:
    """The shape of a <visual> or <collision>; one that cannot be read is left out with a remark."""
    item = f"link {link!r}"
    try:
        geometry = e.all("geometry")
        inside = geometry[0].children if geometry else []
        if len(inside) != 1:
            raise reader.file.error(
                e.line, f"{item} {e.tag}: expected one of {SHAPES} in <geometry>, got {len(inside)}."
            )
        (g,) = inside
        kind, file = g.tag, ""
        size: tuple[float, ...]
        if kind == "box":
            size = tuple(reader.numbers(g, "size", item, 3, ()))
        elif kind == "mesh":
            file, size = g.attributes.get("filename", ""), tuple(reader.numbers(g, "scale", item, 3, (1.0, 1.0, 1.0)))
        elif kind == "sphere":
            size = (reader.number(g, "radius", item),)
        else:
            size = (reader.number(g, "radius", item), reader.number(g, "length", item))
        material, colour, texture = materials.of(e)
        name = e.attributes.get("name", "")
        with reader.file.at(e.line, item):
            return Shape(link, kind, size, reader.origin(e, item), e.tag, file, colour, material, texture, name=name)
    except ModelError as error:
        reader.note("warning", item, f"a <{e.tag}> is left out: {error}")
        return None
