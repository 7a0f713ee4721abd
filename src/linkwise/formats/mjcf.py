"""Robots from MJCF files, MuJoCo's XML form of a model: the part that arms, hands and legged robots use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import NamedTuple

from linkwise.errors import ModelError
from linkwise.formats.mjcf_actuators import effort_limits
from linkwise.formats.mjcf_joints import coupled, free_joint, single_joint
from linkwise.formats.mjcf_loops import Bodies, connected
from linkwise.formats.mjcf_settings import MAIN, ORIENTATIONS, Context
from linkwise.formats.mjcf_shapes import Assets, Geom, geom, has_mass, shape, weighed
from linkwise.formats.source import PathOrText, Source, refuse_errors
from linkwise.formats.xml import EVERY, Element, parse, to_float
from linkwise.robot.geometry import Shape
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link, turned
from linkwise.robot.robot import Robot
from linkwise.spatial import Pose
from linkwise.vector import Vec3

DEEPEST = 500  # bodies are nested; MuJoCo's own reader stops here too
WORLD = "world"
JOINTS = ("joint", "freejoint")
PARTS = (*JOINTS, "body", "inertial", "geom", "site")  # of a body
SILENT = ("camera", "light")
# sections that are read; all their children are kept, so that unknown ones are noticed
SECTIONS = ("compiler", "option", "default", "worldbody", "equality", "tendon", "actuator", "asset", "deformable")
# sections that say nothing about the dynamics of the robot itself
OTHERS = ("size", "statistic", "visual", "custom", "contact", "sensor", "keyframe", "extension")
SCHEMA = dict.fromkeys(("mujoco", "body", "frame", *SECTIONS), EVERY)
BODY = frozenset(("name", "childclass", "mocap", "gravcomp", "user", "sleep", "fuse", "simple", "pos", *ORIENTATIONS))
INERTIAL = frozenset(("pos", "mass", "diaginertia", "fullinertia", *ORIENTATIONS))


def load_mjcf(source: PathOrText, *, strict: bool = False) -> Robot:
    """The robot of an MJCF file.

    Joints come in MuJoCo's order with MuJoCo's positions (`ref` included); a free joint has Linkwise's own
    coordinates. Bodies are links, sites with names are frames, and the root link is "world". Damping and frictionloss
    are friction; a joint that a linear equality ties to another mimics it, and points that <connect> holds together are
    a loop, whose active joints are those with actuators. Geoms are `robot.shapes`; a body without <inertial> weighs
    what they weigh, unless they are meshes, which are not opened. Force ranges of actuators are limits of effort.
    Forces that are not modelled (other equalities, tendons, gravity compensation, fluids) and laws of actuators are
    listed in `robot.diagnostics`; an element that changes the robot in a way that is not known is refused.

    Args:
        source: a path, or the XML text itself (bytes, or a string with a `<` in it).
        strict: refuse a robot whose diagnostics hold errors, such as an inertia that no body can have.
    """
    file = Source.of(source, "MJCF text")
    root = parse(file, SCHEMA, DEEPEST)
    if root.tag != "mujoco":
        raise file.error(root.line, f"expected <mujoco> (MJCF), got <{root.tag}>.")
    robot = _Reader(file, root).robot(root)
    if strict:
        refuse_errors(robot, file.name)
    return robot


class Part(NamedTuple):
    """An element of a body, its frame in the body's, and the class of its defaults."""

    e: Element
    X: Pose
    childclass: str


class Hanging(NamedTuple):
    """A body that is still to be read, the link it hangs on, and whether that moves."""

    part: Part
    parent: str
    moves: bool


class _Reader(Context):
    """The meaning of the elements of one file."""

    def __init__(self, file: Source, root: Element) -> None:
        super().__init__(file, root)
        self.links = [Link(WORLD)]
        self.joints: list[Joint] = []
        self.frames: list[Frame] = []
        self.placed = {WORLD: Pose()}  # in the reference position
        self.mocap: set[str] = set()
        self.shapes: list[Shape] = []
        self.assets = Assets(self, root)
        worlds = root.all("worldbody")
        self.link_names = {WORLD, *_names(worlds, ("body",))}
        self.joint_names = set(_names(worlds, JOINTS))

    def robot(self, root: Element) -> Robot:
        for e in root.children:
            if e.tag not in SECTIONS and e.tag not in OTHERS:
                raise self.unsupported(e.line, f"element <{e.tag}>")
        waiting: list[Hanging] = []
        for e in root.all("worldbody"):
            parts = self.parts(e, MAIN, "body 'world'")
            waiting += self.carried(parts, self.geoms(parts, f"link {WORLD!r}"), WORLD, moves=False)
        waiting.reverse()
        while waiting:
            waiting += reversed(self.body(*waiting.pop()))
        equalities = [] if "equality" in self.settings.disabled else root.all("equality")
        joints = coupled(self, effort_limits(self, self.joints, root.all("actuator")), equalities)
        actuated = {e.attributes.get("joint", "") for section in root.all("actuator") for e in section.children}
        loops = connected(self, Bodies(self.placed, joints, self.frames, actuated, self.mocap), equalities)
        self.remark(root)
        name = root.attributes.get("model") or PurePath(self.file.name).stem
        try:
            return Robot(
                self.links, joints, self.frames, loops, self.settings.gravity, name, self.notes, shapes=self.shapes
            )
        except ModelError as error:
            raise self.unplaced(error, root.line) from error

    # ---- bodies

    def parts(self, whole: Element, childclass: str, item: str) -> list[Part]:
        """The elements of a body in order, those inside <frame> included."""
        found, stack = [], [_inside(whole, Pose(), childclass)]
        while stack:
            part = next(stack[-1], None)
            if part is None:
                stack.pop()
                continue
            e, X, childclass = part
            if e.tag == "frame":
                childclass = self.classes.name(e, "childclass", childclass)
                stack.append(_inside(e, X @ self.placement(e, item), childclass))
            elif e.tag in PARTS:
                found.append(part)
            elif e.tag not in SILENT:
                raise self.unsupported(e.line, f"element <{e.tag}> in {item}")
        return found

    def body(self, part: Part, parent: str, moves: bool) -> list[Hanging]:
        """Read a body; return those that hang on it."""
        e, X, childclass = part
        name = e.attributes.get("name") or _unused(f"body{len(self.links)}", self.link_names)
        item = f"link {name!r}"
        self.lines[item] = e.line
        if name in (parent, WORLD):
            raise self.file.error(e.line, f"{item}: expected one link of that name, got two. Rename one of them.")
        self.known(e, item, BODY)
        if self.number(e, "gravcomp", item, 0.0):
            self.note("warning", item, "gravcomp is not modelled: the robot carries its own weight")
        if e.attributes.get("mocap") == "true":
            self.mocap.add(name)
            self.note("info", item, "is moved by motion capture: taken as fixed")
        X = X @ self.placement(e, item)
        parts = self.parts(e, self.classes.name(e, "childclass", childclass), item)
        joints, geoms = [p for p in parts if p.e.tag in JOINTS], self.geoms(parts, item)
        moves = moves or bool(joints)
        link = self.link(name, item, [p for p in parts if p.e.tag == "inertial"], geoms, moves)
        self.hang(link, parent, X, joints)
        return self.carried(parts, geoms, name, moves)

    def geoms(self, parts: list[Part], item: str) -> list[Geom]:
        """The geoms of a body, which say how it looks and may say what it weighs."""
        return [geom(self, *p, item) for p in parts if p.e.tag == "geom"]

    def carried(self, parts: list[Part], geoms: list[Geom], link: str, moves: bool) -> list[Hanging]:
        """Read the sites and shapes on a link; return its bodies."""
        self.shapes += filter(None, (shape(self, g, link, self.assets) for g in geoms))
        for e, X, childclass in parts:
            name = e.attributes.get("name")
            if e.tag == "site" and name:
                item = f"frame {name!r}"
                self.lines[item] = e.line
                site = self.classes.complete(e, childclass)
                with self.file.at(e.line, item):
                    self.frames.append(Frame(name, link, X @ self.placement(site, item)))
            elif link == WORLD and e.tag in (*JOINTS, "inertial"):
                raise self.file.error(e.line, f"<worldbody>: expected no <{e.tag}>, got one. Put it into a body.")
        return [Hanging(part, link, moves) for part in parts if part.e.tag == "body"]

    def hang(self, link: Link, parent: str, X: Pose, joints: list[Part]) -> None:
        """Join a link to its parent; between several joints stand links without mass."""
        self.placed[link.name] = self.placed[parent] @ X
        if not joints:
            name = _unused(f"{link.name}_weld", self.joint_names)
            self.joints.append(Joint(name, parent, link.name, "fixed", X))
        for k, part in enumerate(joints, start=1):
            e = part.e if part.e.tag == "freejoint" else self.classes.complete(part.e, part.childclass)
            name = e.attributes.get("name") or _unused(f"{link.name}_joint", self.joint_names)
            item = f"joint {name!r}"
            self.lines[item] = e.line
            if e.tag == "freejoint" or e.attributes.get("type") == "free":
                if parent != WORLD or len(joints) > 1:
                    place = f"in body {link.name!r}, on {parent!r}, among {len(joints)} joint(s)"
                    message = f"{item}: expected a free joint to be alone and on the world, got it {place}."
                    raise self.file.error(e.line, message)
                self.joints.append(free_joint(self, e, item, parent, link.name, name))
                continue
            child = link.name
            if k < len(joints):
                child = _unused(f"{link.name}_{name}", self.link_names)
                self.links.append(Link(child))
            with self.file.at(e.line, item):
                bare = Joint(name, parent, child, origin=X)
            self.joints.append(single_joint(self, e, item, bare, part.X))
            parent, X = child, Pose()
        self.links.append(link)

    # ---- inertia

    def link(self, name: str, item: str, inertials: list[Part], geoms: list[Geom], moves: bool) -> Link:
        if len(inertials) > 1:
            raise self.file.error(inertials[1].e.line, f"{item}: expected one <inertial>, got {len(inertials)}.")
        heavy, mode = [g for g in geoms if has_mass(self, g, item)], self.settings.inertiafromgeom
        if heavy and (mode == "true" or (mode == "auto" and not inertials)):
            if not moves:
                self.note("info", item, "has its mass from geoms: taken as without mass, as it never moves")
                return Link(name)
            link = weighed(self, name, heavy, item)
            return _balanced(link) if self.settings.balanceinertia else link
        if not inertials:
            self.note("info", item, "has no <inertial>: taken as without mass")
            return Link(name)
        return self.inertial(name, item, inertials[0])

    def inertial(self, name: str, item: str, part: Part) -> Link:
        e = part.e
        self.known(e, item, INERTIAL)
        mass = self.number(e, "mass", item)
        if "fullinertia" in e.attributes:
            clash = [k for k in ("diaginertia", *ORIENTATIONS) if k in e.attributes]
            if clash:
                raise self.file.error(e.line, f"{item} inertial: expected fullinertia alone, got {clash[0]} too.")
            xx, yy, zz, xy, xz, yz = self.numbers(e, "fullinertia", item, 6, ())
        else:
            if "diaginertia" not in e.attributes:
                self.note("warning", item, "has neither diaginertia nor fullinertia: taken as 0")
            xx, yy, zz = self.numbers(e, "diaginertia", item, 3, (0.0, 0.0, 0.0))
            xy = xz = yz = 0.0
        X = part.X @ self.placement(e, item)
        with self.file.at(e.line, item):
            link = Link(name, mass, X.p, turned((xx, xy, xz, yy, yz, zz), X.R))
        return _balanced(link) if self.settings.balanceinertia else link

    # ---- what is not modelled

    def remark(self, root: Element) -> None:
        """Note forces that Linkwise leaves out."""
        for section in root.children:
            for e in section.children:
                name = e.attributes.get("name", f"<{e.tag}>")
                if section.tag == "tendon":
                    whole = self.classes.complete(e, tag="tendon")
                    forces = _positive(whole, ("stiffness", "damping", "frictionloss", "armature", "range"))
                    what = f"its {', '.join(forces)}" if forces else "it"
                    self.note("warning" if forces else "info", f"tendon {name!r}", f"{what}: not modelled")
                elif e.tag == "flex":
                    self.note("warning", f"flex {name!r}", "is not modelled")


def _inside(whole: Element, X: Pose, childclass: str) -> Iterator[Part]:
    return (Part(e, X, childclass) for e in whole.children)


def _names(elements: Iterable[Element], tags: tuple[str, ...]) -> Iterator[str]:
    """The names of all elements of these tags, at any depth."""
    stack = list(elements)
    while stack:
        e = stack.pop()
        if e.tag in tags and e.attributes.get("name"):
            yield e.attributes["name"]
        stack += e.children


def _unused(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken; taken from now on."""
    found, k = name, 1
    while found in taken:
        k += 1
        found = f"{name}{k}"
    taken.add(found)
    return found


def _positive(e: Element, keys: Iterable[str]) -> list[str]:
    """Which of the attributes are given and not zero."""
    return [k for k in keys if any(map(to_float, e.attributes.get(k, "").split()))]


def _balanced(link: Link) -> Link:
    """The link, with equal moments of inertia where its own break the triangle inequality, as MuJoCo does on demand."""
    import numpy as np

    xx, xy, xz, yy, yz, zz = link.inertia
    a, b, c = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    mean = (xx + yy + zz) / 3.0
    return Link(link.name, link.mass, link.com, Vec3(mean, mean, mean)) if a + b < c else link
