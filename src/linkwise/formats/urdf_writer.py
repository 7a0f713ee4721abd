"""Robots as the text of URDF files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from linkwise.errors import InputError
from linkwise.formats.rigid_tree import has_dry_part, rigid_tree
from linkwise.formats.urdf import TENSOR
from linkwise.formats.urdf_shapes import ROLES, SHAPES
from linkwise.robot.drive import Limits
from linkwise.robot.geometry import SIZES, Shape
from linkwise.robot.joint import Joint
from linkwise.robot.link import Link
from linkwise.robot.robot import GRAVITY, Robot
from linkwise.robot.structure import unused
from linkwise.rotation import rpy, rpy_of
from linkwise.spatial import Pose
from linkwise.vector import ZERO3, Vec3

FAR = 1e9  # stands for a position limit that is infinite on one side only, which other readers refuse
ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_urdf(robot: Robot) -> tuple[str, tuple[str, ...]]:
    """The URDF of a robot, and what it does not carry, in sentences.

    The link's frame is moved where its joint's axis does not pass through its origin, as URDF wants; named frames
    become links without mass. Every number is written so that it reads back as the same float.
    """
    body, lost = rigid_tree(robot)
    writer = _Writer(body, lost)
    return "\n".join(writer.lines) + "\n", tuple(writer.lost)


class _Writer:
    """The lines of one file, and the remarks met on the way."""

    def __init__(self, robot: Robot, lost: list[str]) -> None:
        self.lost = lost
        self.shift = {j.child: j.anchor for j in robot.joints if j.freedom.has_axis}
        self.lines = ['<?xml version="1.0"?>', f'<robot name="{_text(robot.name)}">']
        if robot.gravity != GRAVITY:
            lost.append(f"gravity {tuple(robot.gravity)}: left out; URDF knows {tuple(GRAVITY)} only.")
        self.shapes: dict[str, list[Shape]] = {}
        for shape in robot.shapes:
            self.shapes.setdefault(shape.link, []).append(shape)
        for link in robot.links:
            self.link(link)
        for joint in robot.joints:
            self.joint(joint)
        self.frames(robot)
        if robot.provenance:  # an element of ours, which other readers pass over
            self.open(1, "provenance")
            for name, text in robot.provenance:
                self.add(2, "entry", name=_text(name), value=_text(text))
            self.lines.append("  </provenance>")
        self.lines.append("</robot>")

    def add(self, depth: int, tag: str, /, **attributes: str) -> None:
        """One element."""
        self.open(depth, tag, **attributes)
        self.lines[-1] = f"{self.lines[-1][:-1]}/>"

    def open(self, depth: int, tag: str, /, **attributes: str) -> None:
        """The beginning of an element."""
        inside = "".join(f' {key}="{value}"' for key, value in attributes.items())
        self.lines.append(f"{'  ' * depth}<{tag}{inside}>")

    def moved(self, link: str) -> Vec3:
        """How far a link's frame is moved, in its own axes."""
        return self.shift.get(link, ZERO3)

    def link(self, link: Link) -> None:
        name = _text(link.name)
        if any(self.moved(link.name)):
            lever = tuple(self.moved(link.name))
            self.lost.append(f"link {link.name!r}: its own frame is left out; it is moved by {lever} to its joint.")
        shapes = self.shapes.get(link.name, ())
        massive = link.mass or any(link.inertia)
        if not massive and not shapes:
            self.add(1, "link", name=name)
            return
        self.open(1, "link", name=name)
        if massive:
            self.open(2, "inertial")
            self.add(3, "origin", xyz=_numbers(link.com - self.moved(link.name)))
            self.add(3, "mass", value=repr(link.mass))
            self.add(3, "inertia", **{key: repr(x) for key, x in zip(TENSOR, link.inertia, strict=True)})
            self.lines.append("    </inertial>")
        for shape in shapes:
            self.shape(shape)
        self.lines.append("  </link>")

    def shape(self, shape: Shape) -> None:
        """The elements <visual> and <collision> of a shape."""
        item = f"link {shape.link!r}: a {shape.kind}"
        if shape.kind not in SHAPES:
            self.lost.append(f"{item}: left out; URDF has no such shape.")
            return
        at = Pose(shape.origin.R, shape.origin.p - self.moved(shape.link))
        size = {
            "box": {"size": _numbers(shape.size)},
            "mesh": {"filename": _text(shape.file), "scale": _numbers(shape.size)},
        }.get(shape.kind, dict(zip(SIZES[shape.kind], map(repr, shape.size), strict=False)))
        for role in ROLES:
            if shape.role not in (role, "both"):
                continue
            self.open(2, role, **({"name": _text(shape.name)} if shape.name else {}))
            self.add(3, "origin", xyz=_numbers(at.p), rpy=_numbers(rpy_of(at.R)))
            self.open(3, "geometry")
            self.add(4, shape.kind, **size)
            self.lines.append("      </geometry>")
            if role == "visual" and (shape.material or shape.colour or shape.texture):
                self.open(3, "material", name=_text(shape.material))
                if shape.colour:
                    self.add(4, "color", rgba=_numbers(shape.colour))
                if shape.texture:
                    self.add(4, "texture", filename=_text(shape.texture))
                self.lines.append("      </material>")
            self.lines.append(f"    </{role}>")

    def joint(self, j: Joint) -> None:
        if not j.freedom.in_urdf:
            raise InputError(f"joint {j.name!r}: URDF has no {j.kind} joints. Save the robot as .toml.")
        unbounded = j.limits.lower == -math.inf and j.limits.upper == math.inf
        endless = j.freedom.endless or (j.freedom.turns and unbounded)
        kind = "continuous" if endless and j.freedom.turns else j.kind
        at = j.origin @ Pose(p=self.moved(j.child)) if any(self.moved(j.child)) else j.origin
        self.open_joint(j.name, kind, j.parent, j.child, at)
        if j.freedom.has_axis:
            missing = ["armature"] if j.armature else []
            self.add(2, "axis", xyz=_numbers(j.axis))
            self.friction(j, missing)
            self.limits(j.limits, endless, missing)
            if j.mimic:
                leader, ratio, offset = _text(j.mimic.joint), repr(j.mimic.ratio), repr(j.mimic.offset)
                self.add(2, "mimic", joint=leader, multiplier=ratio, offset=offset)
            if missing:
                self.lost.append(f"joint {j.name!r}: left out: {', '.join(missing)}.")
        self.lines.append("  </joint>")

    def open_joint(self, name: str, kind: str, parent: str, child: str, at: Pose) -> None:
        """A joint up to its origin; `at` is where the child is in the parent's own frame."""
        angles = rpy_of(at.R)
        error = max(abs(x) for row in rpy(*angles) - at.R for x in row)
        if error > 1e-12:
            self.lost.append(f"joint {name!r}: its rotation, no true one by {error:.0e}, is written as the nearest.")
        self.open(1, "joint", name=_text(name), type=kind)
        self.add(2, "parent", link=_text(parent))
        self.add(2, "child", link=_text(child))
        self.add(2, "origin", xyz=_numbers(at.p - self.moved(parent)), rpy=_numbers(angles))

    def friction(self, j: Joint, missing: list[str]) -> None:
        if j.friction.viscous or j.friction.coulomb:
            self.add(2, "dynamics", damping=repr(j.friction.viscous), friction=repr(j.friction.coulomb))
        if j.friction.law != "coulomb" and has_dry_part(j.friction):
            missing.append(f"{j.friction.law} law of friction")
        if j.friction.offset:
            missing.append("constant torque (the offset of its friction)")

    def limits(self, limits: Limits, endless: bool, missing: list[str]) -> None:
        """The element <limit>; speed and effort of 0 stand for unknown."""
        attributes = {}
        ends = {"lower": limits.lower, "upper": limits.upper}
        if any(not math.isinf(x) for x in ends.values()):
            missing += ["position limits"] if endless else []
            missing += ["infinite position limit (1e9 stands for it)"] if any(map(math.isinf, ends.values())) else []
            attributes = {key: repr(math.copysign(FAR, x) if math.isinf(x) else x) for key, x in ends.items()}
        attributes = {} if endless else attributes
        known = {key: getattr(limits, key) for key in ("effort", "velocity")}
        missing += [f"{key} limit of 0" for key, x in known.items() if x == 0.0]
        attributes |= {key: repr(0.0 if math.isinf(x) else x) for key, x in known.items()}
        if not endless or any(not math.isinf(x) for x in known.values()):
            self.add(2, "limit", **attributes)
        further = {key: getattr(limits, key) for key in ("acceleration", "jerk", "effort_rate")}
        missing += [f"{key.replace('_', ' ')} limit" for key, x in further.items() if not math.isinf(x)]

    def frames(self, robot: Robot) -> None:
        links, joints = {k.name for k in robot.links}, {j.name for j in robot.joints}
        for f in robot.frames:
            link, joint = unused(f.name, links), unused(f"{f.name}_joint", joints)
            if link != f.name:
                self.lost.append(f"frame {f.name!r}: its name, which is also a link's; it is written as {link!r}.")
            links.add(link)
            joints.add(joint)
            self.add(1, "link", name=_text(link))
            self.open_joint(joint, "fixed", f.link, link, f.origin)
            self.lines.append("  </joint>")


def _numbers(values: Iterable[float]) -> str:
    return " ".join(map(repr, values))


def _text(name: str) -> str:
    """A name as the value of an attribute."""
    if NOT_XML.search(name):
        raise InputError(f"name {name!r}: expected characters that XML can hold, got others. Rename it.")
    return "".join(ESCAPES.get(c, c) for c in name)
