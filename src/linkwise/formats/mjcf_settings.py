"""What an MJCF file says once for all its bodies: units, compiler options, gravity, default classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from linkwise.errors import ModelError, UnknownNameError
from linkwise.formats.source import Source
from linkwise.formats.xml import Element, Reader, to_float
from linkwise.rotation import axis_angle, from_quaternion, rot_x, rot_y, rot_z
from linkwise.spatial import Pose
from linkwise.vector import EYE3, EZ, ZERO3, Mat3, Vec3, cross, dot

ORIENTATIONS = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3, "fromto": 6}
FLUID = ("density", "viscosity", "wind")
TURNS = {"x": rot_x, "y": rot_y, "z": rot_z}
SMALLEST = 1e-9  # length of a direction
MAIN = "main"
EXPAND = "Let MuJoCo write the whole model in plain elements: mujoco.mj_saveLastXML."


@dataclass(frozen=True)
class Settings:
    """The sections <compiler> and <option>.

    `angle` is the file's unit of angle in radians; `disabled` names the forces that are switched off.
    """

    angle: float
    eulerseq: str
    autolimits: bool
    balanceinertia: bool
    inertiafromgeom: str
    groups: tuple[float, ...]
    gravity: Vec3
    disabled: frozenset[str]


class Context(Reader):
    """A file with its settings and default classes, with which all its elements are read."""

    def __init__(self, file: Source, root: Element) -> None:
        super().__init__(file)
        self.settings = self._settings(root)
        self.classes = Classes(self, root.all("default"))
        self.refs: dict[str, float] = {}  # what MuJoCo's joint position is where the file draws the joint

    def unsupported(self, line: int, what: str, remedy: str = EXPAND) -> ModelError:
        """The error for what MuJoCo knows and Linkwise does not."""
        return self.file.error(line, f"not supported: {what}. {remedy}")

    def known(self, e: Element, item: str, keys: Iterable[str]) -> None:
        """Note the attributes that are not among `keys`: new ones of MuJoCo, or slips of the pen."""
        for key in e.attributes.keys() - keys:
            self.note("warning", item, f"<{e.tag}> {key} is not known: ignored")

    def _settings(self, root: Element) -> Settings:
        compiler, option, flag = (_merged(root, tag) for tag in ("compiler", "option", "flag"))
        self.choice(compiler, "coordinate", ("local",))
        for key in ("boundmass", "boundinertia", "settotalmass"):
            if self.number(compiler, key, "mujoco", 0.0) > 0.0:
                raise self.unsupported(compiler.line, f"{key} in <compiler>", "Write the masses into <inertial>.")
        for key in FLUID:
            if any(map(to_float, option.attributes.get(key, "").split())):
                self.note("warning", "option", f"{key} is not modelled: forces of a fluid are left out")
        disabled = frozenset(k for k, state in flag.attributes.items() if state == "disable")
        gravity = Vec3(*self.numbers(option, "gravity", "mujoco", 3, (0.0, 0.0, -9.81)))
        return Settings(
            angle=1.0 if self.choice(compiler, "angle", ("degree", "radian")) == "radian" else math.pi / 180.0,
            eulerseq=self._eulerseq(compiler),
            autolimits=self.choice(compiler, "autolimits", ("true", "false")) == "true",
            balanceinertia=self.choice(compiler, "balanceinertia", ("false", "true")) == "true",
            inertiafromgeom=self.choice(compiler, "inertiafromgeom", ("auto", "true", "false")),
            groups=tuple(self.numbers(compiler, "inertiagrouprange", "mujoco", 2, (0.0, 5.0))),
            gravity=ZERO3 if "gravity" in disabled else gravity,
            disabled=disabled | {"spring", "damper"} if "passive" in disabled else disabled,
        )

    def _eulerseq(self, compiler: Element) -> str:
        names = compiler.attributes.get("eulerseq", "xyz")
        if len(names) != 3 or set(names.lower()) - set(TURNS):
            message = f"<compiler> eulerseq: expected three of the letters xyzXYZ, got {names!r}."
            raise self.file.error(compiler.line, message)
        return names

    def placement(self, e: Element, item: str) -> Pose:
        """The pose that pos and one of quat, axisangle, euler, xyaxes, zaxis and fromto give."""
        p = Vec3(*self.numbers(e, "pos", item, 3, ZERO3))
        forms = [k for k in ORIENTATIONS if k in e.attributes]
        if not forms:
            return Pose(EYE3, p)
        if len(forms) > 1:
            message = f"{item} {e.tag}: expected one form of orientation, got {' and '.join(forms)}."
            raise self.file.error(e.line, message)
        (form,) = forms
        x = self.numbers(e, form, item, ORIENTATIONS[form], ())
        if form == "fromto":
            start, end = Vec3(*x[:3]), Vec3(*x[3:])
            p, form, x = (start + end) * 0.5, "zaxis", start - end
        R = self._euler(x) if form == "euler" else _oriented(form, x, self.settings.angle)
        if R is None:
            message = f"{item} {e.tag} {form}: expected directions that are not zero, got {tuple(x)}."
            raise self.file.error(e.line, message)
        return Pose(R, p)

    def _euler(self, angles: Sequence[float]) -> Mat3:
        """Turns about axes that move along (small letters) or stay (capitals)."""
        R = EYE3
        for name, x in zip(self.settings.eulerseq, angles, strict=True):
            turn = TURNS[name.lower()](x * self.settings.angle)
            R = R @ turn if name.islower() else turn @ R
        return R


class Classes:
    """The tree of default classes: the attributes of each tag, those of outer classes included."""

    def __init__(self, reader: Context, sections: Iterable[Element]) -> None:
        self.reader = reader
        self.table: dict[str, dict[str, dict[str, str]]] = {MAIN: {}}
        for top in sections:
            if top.attributes.get("class", MAIN) != MAIN:
                message = f"default class: expected {MAIN!r} at the top, got {top.attributes['class']!r}."
                raise reader.file.error(top.line, message)
            stack = [(top, MAIN)]
            while stack:
                section, name = stack.pop()
                self._read(section, name)
                stack += [(e, self._nested(e, name)) for e in section.all("default")]

    def _read(self, section: Element, name: str) -> None:
        """The settings of a class itself."""
        mine = self.table[name]
        for e in section.children:
            if e.tag == "include":
                raise self.reader.unsupported(e.line, "element <include>")
            if e.tag != "default":
                mine[e.tag] = _overlaid(mine.get(e.tag, {}), e.attributes)

    def _nested(self, section: Element, outer: str) -> str:
        """The name of a class inside `outer`, whose settings it starts from."""
        name = section.attributes.get("class")
        if not name or name in self.table:
            got = f"a second {name!r}" if name else "none"
            raise self.reader.file.error(section.line, f"default class: expected a name of its own, got {got}.")
        self.table[name] = dict(self.table[outer])
        return name

    def name(self, e: Element, key: str, otherwise: str) -> str:
        """The class that the attribute `key` of an element names."""
        name = e.attributes.get(key, otherwise)
        if name not in self.table:
            raise self.reader.file.error(e.line, f"<{e.tag}> {key}: {UnknownNameError('class', name, self.table)}")
        return name

    def complete(self, e: Element, childclass: str = MAIN, tag: str = "") -> Element:
        """An element with what it does not say taken from its class, where it goes under `tag`."""
        defaults = self.table[self.name(e, "class", childclass)].get(tag or e.tag)
        return Element(e.tag, e.line, _overlaid(defaults, e.attributes)) if defaults else e


def _merged(root: Element, tag: str) -> Element:
    """All elements of a tag as one, later ones over earlier ones."""
    whole = Element(tag, root.line, {})
    for section in root.children:
        for e in (section, *section.children) if section.tag in ("compiler", "option") else ():
            if e.tag == tag:
                whole = Element(tag, e.line, {**whole.attributes, **e.attributes})
    return whole


def _overlaid(defaults: dict[str, str], given: dict[str, str]) -> dict[str, str]:
    """Attributes over their defaults; a given orientation replaces one of another form."""
    if given.keys().isdisjoint(ORIENTATIONS):
        return {**defaults, **given}
    return {**{k: v for k, v in defaults.items() if k not in ORIENTATIONS}, **given}


def _oriented(form: str, x: Sequence[float], angle: float) -> Mat3 | None:
    """The rotation of a quaternion w, x, y, z, of axes, or of axis and angle; None where the numbers have none."""
    if form == "quat":
        length = math.hypot(*x)
        if not SMALLEST < length < math.inf:
            return None
        w, i, j, k = (c / length for c in x)
        return from_quaternion(i, j, k, w)
    first = _unit(Vec3(*x[:3]))
    if first is None:
        return None
    if form == "axisangle":
        return axis_angle(first, x[3] * angle)
    if form == "xyaxes":
        y = Vec3(*x[3:])
        second = _unit(y - first * dot(first, y))
        return Mat3(first, second, cross(first, second)).T if second else None
    # zaxis: the least turn that takes z there
    about = cross(EZ, first)
    return axis_angle(_unit(about) or Vec3(1.0, 0.0, 0.0), math.atan2(math.hypot(*about), first.z))


def _unit(v: Vec3) -> Vec3 | None:
    length = math.hypot(*v)
    return v * (1.0 / length) if SMALLEST < length < math.inf else None
