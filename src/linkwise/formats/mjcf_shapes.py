"""Geoms of MJCF files: how bodies look, where they touch, and what they weigh where no <inertial> says so."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from linkwise.errors import UnknownNameError
from linkwise.formats.mjcf_settings import Context
from linkwise.formats.xml import Element
from linkwise.robot.geometry import Shape
from linkwise.robot.link import Link, turned
from linkwise.spatial import Inertia, Pose
from linkwise.vector import EYE3, ZERO3

if TYPE_CHECKING:
    from collections.abc import Sequence

SOLIDS = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}  # and how many numbers say their size
WEIGHTLESS = ("plane", "hfield")
LAST_SHOWN = 2  # groups of geoms that MuJoCo draws unless told otherwise
REMEDY = 'Give the body an <inertial>: <compiler saveinertial="true"/> makes mujoco.mj_saveLastXML write them.'


class Geom(NamedTuple):
    """A geom with its defaults, its kind, its half sizes and its pose in the body."""

    e: Element
    kind: str
    half: tuple[float, ...]
    X: Pose


class Assets:
    """Meshes and materials that a file names."""

    def __init__(self, reader: Context, root: Element) -> None:
        self.reader = reader
        compilers = [c.attributes for c in root.all("compiler")]
        self.folder = next((c[k] for k in ("meshdir", "assetdir") for c in compilers if c.get(k)), "")
        self.meshes: dict[str, Element] = {}
        self.materials: dict[str, Element] = {}
        for section in root.all("asset"):
            for e in section.children:
                whole = reader.classes.complete(e) if e.tag in ("mesh", "material") else e
                stem = e.attributes.get("file", "").replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
                name = e.attributes.get("name") or stem
                table = {"mesh": self.meshes, "material": self.materials}.get(e.tag)
                if table is not None and name:
                    table[name] = whole

    def mesh(self, name: str, line: int, item: str) -> tuple[str, tuple[float, ...]]:
        """The file of a mesh and its scale."""
        if name not in self.meshes:
            raise self.reader.file.error(line, f"{item} geom mesh: {UnknownNameError('mesh', name, self.meshes)}")
        e = self.meshes[name]
        scale = tuple(self.reader.numbers(e, "scale", item, 3, (1.0, 1.0, 1.0)))
        file = e.attributes.get("file", "")
        return f"{self.folder.rstrip('/')}/{file}" if file and self.folder else file, scale

    def colour(self, geom: Element, item: str) -> tuple[float, ...]:
        """The colour of a geom: its own, or its material's."""
        if "rgba" in geom.attributes:
            return tuple(self.reader.numbers(geom, "rgba", item, 4, ()))
        material = self.materials.get(geom.attributes.get("material", ""))
        return tuple(self.reader.numbers(material, "rgba", item, 4, (1.0, 1.0, 1.0, 1.0))) if material else ()


def geom(reader: Context, e: Element, X: Pose, childclass: str, item: str) -> Geom:
    """The geom of an element, whose frame in the body is `X`."""
    whole = reader.classes.complete(e, childclass)
    kind = whole.attributes.get("type", "mesh" if "mesh" in whole.attributes else "sphere")
    given = whole.attributes.get("size", "").split()
    half = tuple(reader.numbers(whole, "size", item, len(given), ()))
    if "fromto" in whole.attributes:
        a = reader.numbers(whole, "fromto", item, 6, ())
        along = 0.5 * math.dist(a[:3], a[3:])
        half = (*half[:1], along) if kind in ("capsule", "cylinder") else (*half[:1], *half[:1], along)
    need = SOLIDS.get(kind, 0)
    if len(half) < need and "mesh" not in whole.attributes:
        raise reader.file.error(e.line, f"{item} geom size: expected {need} numbers for a {kind}, got {len(half)}.")
    return Geom(whole, kind, half[:need], X @ reader.placement(whole, item))


def shape(reader: Context, g: Geom, link: str, assets: Assets) -> Shape | None:
    """What a geom looks like; a remark and None where Linkwise has no such shape."""
    item = f"link {link!r}"
    size: tuple[float, ...]
    file = ""
    mesh = g.e.attributes.get("mesh", "")
    if mesh:
        if g.kind != "mesh":
            reader.note("info", item, f"a {g.kind} fitted to mesh {mesh!r} is drawn as the mesh itself")
        file, size = assets.mesh(mesh, g.e.line, item)
        if not file:
            reader.note("info", item, f"mesh {mesh!r} has no file: it is not drawn")
            return None
    elif g.kind in SOLIDS:
        doubled = {"box": (2, 2, 2), "capsule": (1, 2), "cylinder": (1, 2)}.get(g.kind, (1, 1, 1))
        size = tuple(n * x for n, x in zip(doubled, g.half, strict=False))
    elif g.kind == "plane":
        size = ()
    else:
        reader.note("info", item, f"a geom of type {g.kind!r} is not drawn")
        return None
    touches = any(reader.number(g.e, key, item, 1.0) for key in ("contype", "conaffinity"))
    shown = reader.number(g.e, "group", item, 0.0) <= LAST_SHOWN
    with reader.file.at(g.e.line, item):
        return Shape(
            link, "mesh" if mesh else g.kind, size, g.X,
            role="both" if touches and shown else "collision" if touches else "visual",
            file=file, colour=assets.colour(g.e, item), material=g.e.attributes.get("material", ""),
            name=g.e.attributes.get("name", ""),
        )  # fmt: skip


def has_mass(reader: Context, g: Geom, item: str) -> bool:
    """Whether MuJoCo gives mass to a geom."""
    low, high = reader.settings.groups
    if not low <= reader.number(g.e, "group", item, 0.0) <= high or g.kind in WEIGHTLESS:
        return False
    return reader.number(g.e, "mass" if "mass" in g.e.attributes else "density", item, 1000.0) != 0.0


def weighed(reader: Context, name: str, geoms: Sequence[Geom], item: str) -> Link:
    """A link that weighs what its geoms weigh together."""
    total = sum((_weight(reader, g, item) for g in geoms), Inertia())
    com = total.mc * (1.0 / total.m) if total.m else ZERO3
    return Link(name, total.m, com, total.seen_from(EYE3, -com).I_o)


def _weight(reader: Context, g: Geom, item: str) -> Inertia:
    """Mass and moments of a solid of even density about the body's origin, as MuJoCo takes them."""
    if g.e.attributes.get("mesh") or g.kind not in SOLIDS:
        raise reader.unsupported(g.e.line, f"inertia of a <geom> of type {g.kind!r} in {item}", REMEDY)
    if g.e.attributes.get("shellinertia") == "true":
        raise reader.unsupported(g.e.line, f"shellinertia of a <geom> in {item}", REMEDY)
    volume, (a, b, c) = _solid(g.kind, g.half)
    density = reader.number(g.e, "density", item, 1000.0)
    m = reader.number(g.e, "mass", item) if "mass" in g.e.attributes else density * volume
    return Inertia.of(m, g.X.p, turned((m * a, 0.0, 0.0, m * b, 0.0, m * c), g.X.R))


def _solid(kind: str, half: Sequence[float]) -> tuple[float, tuple[float, float, float]]:
    """Volume, and moments about the middle for a mass of one."""
    if kind == "sphere":
        r = half[0]
        return 4.0 / 3.0 * math.pi * r**3, (0.4 * r * r,) * 3
    x, y, z = half if len(half) == 3 else (half[0], half[0], half[1])
    if kind == "box":
        return 8.0 * x * y * z, ((y * y + z * z) / 3.0, (x * x + z * z) / 3.0, (x * x + y * y) / 3.0)
    if kind == "ellipsoid":
        return 4.0 / 3.0 * math.pi * x * y * z, ((y * y + z * z) / 5.0, (x * x + z * z) / 5.0, (x * x + y * y) / 5.0)
    across, along = x * x / 4.0 + z * z / 3.0, x * x / 2.0  # of a cylinder
    tube, ends = 2.0 * math.pi * x * x * z, 4.0 / 3.0 * math.pi * x**3
    if kind == "cylinder":
        return tube, (across, across, along)
    volume = tube + ends
    if not volume:
        return 0.0, (0.0, 0.0, 0.0)
    # half balls at the ends: their middles are 3/8 of the radius beyond
    ball = 0.4 * x * x + z * z + 0.75 * x * z
    side = (tube * across + ends * ball) / volume
    return volume, (side, side, (tube * along + ends * 0.4 * x * x) / volume)
