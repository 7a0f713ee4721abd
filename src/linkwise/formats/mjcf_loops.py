"""Loops of MJCF files: points or frames of two bodies that an equality holds together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from linkwise.errors import UnknownNameError
from linkwise.formats.mjcf_settings import Context
from linkwise.formats.xml import Element
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame
from linkwise.robot.loop import Loop
from linkwise.spatial import Pose
from linkwise.vector import EYE3, ZERO3, Vec3

KNOWN = frozenset(("name", "class", "active", "solref", "solimp", "body1", "body2", "anchor", "site1", "site2"))
WELD = KNOWN | {"relpose", "torquescale"}


class Bodies(NamedTuple):
    """What loops are made of: links with their poses in the reference position, joints, sites, and what drives."""

    placed: Mapping[str, Pose]
    joints: list[Joint]
    sites: list[Frame]
    actuated: set[str]
    mocap: set[str]


def connected(reader: Context, bodies: Bodies, equalities: Iterable[Element]) -> list[Loop]:
    """A cut joint for each <connect> (spherical) and <weld> (fixed) that is active.

    The joints in it that actuators act on are active. The softness of the constraint is left out. As in MuJoCo the
    point of the second body is the one that is at the anchor in the reference position, and a weld without relpose=...
    holds the bodies as they are there.
    """
    found: list[Loop] = []
    for tag in ("connect", "weld"):
        every = [e for section in equalities for e in section.all(tag)]
        for k, e in enumerate(every, start=1):
            if reader.classes.complete(e, tag="equality").attributes.get("active") != "false":
                loop = _loop(reader, e, e.attributes.get("name") or f"{tag}{k}", bodies)
                found += [loop] if loop else []
    return found


def _loop(reader: Context, e: Element, name: str, bodies: Bodies) -> Loop | None:
    item = f"equality {name!r}"
    reader.lines[f"loop {name!r}"] = e.line
    weld = e.tag == "weld"
    reader.known(e, item, WELD if weld else KNOWN)
    ends = _sites(reader, e, item, bodies.sites, weld)
    ends = ends or (_welded if weld else _anchored)(reader, e, item, bodies.placed)
    (a, X_a), (b, X_b) = ends
    between = list(_between(bodies.joints, a, b))
    if bodies.mocap & {a, b}:
        reader.note("warning", item, f"<{e.tag}> to a body of motion capture is not modelled")
        return None
    if all(j.is_fixed for j in between):
        reader.note("info", item, "holds together what never moves apart: left out")
        return None
    active = tuple(j.name for j in between if j.name in bodies.actuated and not j.mimic)
    kind = "fixed" if weld else "spherical"
    reader.note("info", item, f"is taken as exact: a {kind} joint that was cut, between {a!r} and {b!r}")
    with reader.file.at(e.line, item):
        return Loop(name, a, b, kind, X_a, X_b, active)


End = tuple[str, Pose]


def _sites(reader: Context, e: Element, item: str, sites: list[Frame], turned: bool) -> tuple[End, End] | None:
    """The two sites that are held together, where they are given, with their axes where those count."""
    given = [e.attributes.get(key) for key in ("site1", "site2")]
    if not any(given):
        return None
    by_name, ends = {f.name: f for f in sites}, []
    for key, name in zip(("site1", "site2"), given, strict=True):
        if name not in by_name:
            raise reader.file.error(e.line, f"{item} {key}: {UnknownNameError('site', name, by_name)}")
        X = by_name[name].origin
        ends.append((by_name[name].link, X if turned else Pose(EYE3, X.p)))
    return ends[0], ends[1]


def _anchored(reader: Context, e: Element, item: str, placed: Mapping[str, Pose]) -> tuple[End, End]:
    """The anchor on the first body, and the point of the second one, or of the world, that is there at first."""
    names = _names(reader, e, item, placed)
    if "anchor" not in e.attributes:
        raise reader.file.error(e.line, f"{item}: expected anchor=... or two sites, got none.")
    anchor = Vec3(*reader.numbers(e, "anchor", item, 3, ZERO3))
    a, b = (placed[name] for name in names)
    return (names[0], Pose(EYE3, anchor)), (names[1], Pose(EYE3, b.inverse().point(a.point(anchor))))


def _welded(reader: Context, e: Element, item: str, placed: Mapping[str, Pose]) -> tuple[End, End]:
    """The frame of the second body as it is to stand in the first one's, and that frame itself."""
    names = _names(reader, e, item, placed)
    a, b = (placed[name] for name in names)
    numbers = reader.numbers(e, "relpose", item, 7, (0.0,) * 7)
    w, *xyz = numbers[3:]
    X = Pose.of_quaternion(numbers[:3], (*xyz, w)) if any(numbers[3:]) else a.inverse() @ b
    return (names[0], X), (names[1], Pose())


def _names(reader: Context, e: Element, item: str, placed: Mapping[str, Pose]) -> list[str]:
    """The two bodies, the second one the world where it is not given."""
    names = [e.attributes.get("body1", ""), e.attributes.get("body2", "world")]
    for key, name in zip(("body1", "body2"), names, strict=True):
        if name not in placed:
            raise reader.file.error(e.line, f"{item} {key}: {UnknownNameError('body', name, placed)}")
    return names


def _between(joints: list[Joint], a: str, b: str) -> Iterator[Joint]:
    """The joints by which two links move relative to each other, in the robot's order."""
    above = {j.child: j for j in joints}

    def up(link: str) -> set[str]:
        names = set()
        while link in above:
            names.add(above[link].name)
            link = above[link].parent
        return names

    apart = up(a) ^ up(b)
    return (j for j in joints if j.name in apart)
