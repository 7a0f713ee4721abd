"""Robots from URDF files, ROS's XML form of a robot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from linkwise.errors import InputError, ModelError
from linkwise.formats.source import PathOrText, Source, refuse_errors
from linkwise.formats.urdf_shapes import ROLES, SHAPE_SCHEMA, Materials, UrdfReader, shape
from linkwise.formats.xml import Element, parse
from linkwise.robot import check
from linkwise.robot.drive import Friction, Limits
from linkwise.robot.edit import BASES, floating
from linkwise.robot.geometry import Shape
from linkwise.robot.joint import KINDS, Joint, Mimic
from linkwise.robot.link import Link, turned
from linkwise.robot.robot import Robot
from linkwise.vector import Vec3

EX = Vec3(1.0, 0.0, 0.0)  # the axis where none is given
TYPES = tuple(name for name, kind in KINDS.items() if kind.in_urdf)
TENSOR = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
XACRO = ("include", "macro", "property", "arg", "if", "unless")

# what is read; everything else (transmissions, plugins) is skipped
SCHEMA = {
    "robot": frozenset(("link", "joint", "material", "provenance", *(f"xacro:{tag}" for tag in XACRO))),
    "link": frozenset(("inertial", *ROLES)),
    **SHAPE_SCHEMA,
    "provenance": frozenset(("entry",)),
    "inertial": frozenset(("origin", "mass", "inertia")),
    "joint": frozenset(("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")),
}


def load_urdf(source: PathOrText, *, base: str = "fixed", strict: bool = False) -> Robot:
    """The robot of a URDF file.

    Joints come in file order, depth-first. A link without <inertial> has no mass; effort or velocity limits of 0 count
    as unknown; <dynamics> gives viscous and Coulomb friction; joints that <mimic> have no coordinate of their own.
    <visual> and <collision> are `robot.shapes`; meshes are not opened. What looks doubtful is listed in
    `robot.diagnostics`.

    Args:
        source: a path, or the XML text itself (bytes, or a string with a `<` in it).
        base: "fixed", or "floating" for a free root link, carried by a floating joint "root_joint" on a new
            link "world".
        strict: refuse a robot whose diagnostics hold errors, such as an inertia that no body can have.
    """
    if base not in BASES:
        raise InputError(f"load_urdf base: expected one of {BASES}, got {base!r}.")
    file = Source.of(source, "URDF text")
    if file.name.endswith(".xacro"):
        raise _unexpanded(file, 1)
    root = parse(file, SCHEMA)
    robot = _Reader(file).robot(root)
    if base == "floating":
        robot = floating(robot)
    if strict:
        refuse_errors(robot, file.name)
    return robot


class _Reader(UrdfReader):
    """The meaning of the elements of one file."""

    def robot(self, root: Element) -> Robot:
        if root.tag != "robot":
            raise self.file.error(root.line, f"expected <robot> (URDF), got <{root.tag}>.")
        for e in root.children:
            if e.tag.startswith("xacro:"):
                raise _unexpanded(self.file, e.line)
        links = [self.link(e) for e in root.all("link")]
        if not links:
            why = "A xacro that only defines macros expands to this."
            raise self.file.error(root.line, f"robot: expected at least one <link>, got none. {why}")
        joints = [self.joint(e) for e in root.all("joint")]
        still = self.standing(joints)
        joints = [replace(j, mimic=None) if j.name in still else j for j in joints]
        name = root.attributes.get("name") or self.file.name.removesuffix(".urdf")
        try:
            robot = Robot(
                links, joints, name=name, notes=self.notes, shapes=self.shapes(root), provenance=self.provenance(root)
            )
        except ModelError as error:
            raise self.unplaced(error, root.line) from error
        return robot.lock(still, at=robot.q(still)) if still else robot

    def provenance(self, root: Element) -> dict[str, str]:
        """Where the numbers come from, as our own writer says it."""
        entries = [e.attributes for block in root.all("provenance") for e in block.all("entry")]
        return {e["name"]: e.get("value", "") for e in entries if e.get("name")}

    # ---- links

    def link(self, e: Element) -> Link:
        name = self.name(e)
        item = f"link {name!r}"
        self.lines[item] = e.line
        inertial = self.only(e, "inertial", item)
        if inertial is None:
            self.note("info", item, "has no <inertial>: taken as without mass")
            return Link(name)
        at = self.origin(inertial, item)
        mass = self.only(inertial, "mass", item, missing="taken as 0")
        inertia = self.only(inertial, "inertia", item, missing="taken as 0")
        m = 0.0
        I: tuple[float, ...] = (0.0,) * 6
        if mass is not None:
            m = self.number(mass, "value", item)
        if inertia is not None:
            # products of inertia may be left out, moments may not
            defaults = (None if key[1] == key[2] else 0.0 for key in TENSOR)
            I = tuple(self.number(inertia, k, item, x) for k, x in zip(TENSOR, defaults, strict=True))
        with self.file.at(inertial.line if mass is None else mass.line, item):
            return Link(name, m, at.p, turned(I, at.R))

    def shapes(self, root: Element) -> list[Shape]:
        """What all links look like and where they touch."""
        materials = Materials(self, root)
        return [
            found
            for link in root.all("link")
            for e in link.children
            if e.tag in ROLES and (found := shape(self, e, link.attributes["name"], materials)) is not None
        ]

    # ---- joints

    def joint(self, e: Element) -> Joint:
        name, kind = self.name(e), e.attributes.get("type", "")
        item = f"joint {name!r}"
        self.lines[item] = e.line
        if kind not in TYPES:
            raise self.file.error(e.line, f"{item} type: expected one of {TYPES}, got {kind!r}.")
        parent, child = self.end_of(e, "parent", item), self.end_of(e, "child", item)
        origin = self.origin(e, item)
        if not KINDS[kind].has_axis:
            with self.file.at(e.line, item):
                return Joint(name, parent, child, kind, origin)
        axis, friction, mimic = self.axis(e, item), self.friction(e, item), self.mimic(e, item)
        if not KINDS[kind].is_single:
            if friction != Friction():
                self.notes.append(("warning", item, f"friction of a {kind} joint is not modelled"))
            with self.file.at(e.line, item):
                return Joint(name, parent, child, kind, origin, axis)
        limits = self.limits(e, item)
        if KINDS[kind].endless:
            limits = replace(limits, lower=-math.inf, upper=math.inf)
        with self.file.at(e.line, item):
            return Joint(name, parent, child, kind, origin, axis, friction=friction, limits=limits, mimic=mimic)

    def end_of(self, e: Element, tag: str, item: str) -> str:
        end = self.only(e, tag, item)
        if end is None or not end.attributes.get("link"):
            raise self.file.error(e.line, f'{item}: expected <{tag} link="..."/>, got none.')
        return end.attributes["link"]

    def axis(self, e: Element, item: str) -> Vec3:
        axis = self.only(e, "axis", item)
        if axis is None:
            return EX
        xyz = self.vector(axis, "xyz", item, EX)
        with self.file.at(axis.line, item):
            return check.axis(xyz, "axis")

    def friction(self, e: Element, item: str) -> Friction:
        dynamics = self.only(e, "dynamics", item)
        if dynamics is None:
            return Friction()
        viscous, coulomb = (self.number(dynamics, key, item, 0.0) for key in ("damping", "friction"))
        with self.file.at(dynamics.line, item):
            return Friction(viscous, coulomb)

    def limits(self, e: Element, item: str) -> Limits:
        limit = self.only(e, "limit", item)
        if limit is None:
            return Limits()
        lower, upper, velocity, effort = (
            self.number(limit, key, item, 0.0, finite=False) for key in ("lower", "upper", "velocity", "effort")
        )
        if "lower" not in limit.attributes and "upper" not in limit.attributes:
            lower, upper = -math.inf, math.inf
        with self.file.at(limit.line, item):
            return Limits(lower, upper, velocity or math.inf, effort=effort or math.inf)

    def mimic(self, e: Element, item: str) -> Mimic | None:
        mimic = self.only(e, "mimic", item)
        if mimic is None:
            return None
        ratio, offset = self.number(mimic, "multiplier", item, 1.0), self.number(mimic, "offset", item, 0.0)
        with self.file.at(mimic.line, item):
            return Mimic(mimic.attributes.get("joint", ""), ratio, offset)

    def standing(self, joints: Sequence[Joint]) -> dict[str, float]:
        """Joints that mimic a fixed joint, and so stand still: their names and positions."""
        fixed = {j.name for j in joints if j.is_fixed}
        still = {j.name: j.mimic.offset for j in joints if j.mimic and j.mimic.joint in fixed}
        for name in still:
            self.note("info", f"joint {name!r}", "mimics a fixed joint: taken as fixed")
        return still

    # ---- both

    def name(self, e: Element) -> str:
        name = e.attributes.get("name")
        if not name:
            raise self.file.error(e.line, f'<{e.tag}>: expected name="...", got none.')
        return name


def _unexpanded(file: Source, line: int) -> ModelError:
    name = file.name if file.name.endswith(".xacro") else "arm.xacro"
    target = name.removesuffix(".xacro").removesuffix(".urdf") + ".urdf"
    return file.error(line, f"expected URDF, got xacro. Expand it first: xacro {name} > {target}")
