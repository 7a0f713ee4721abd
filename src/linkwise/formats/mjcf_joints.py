"""The joints of MJCF files, and the equalities that couple them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from linkwise.errors import UnknownNameError
from linkwise.formats.mjcf_settings import Context
from linkwise.formats.xml import Element
from linkwise.robot import check
from linkwise.robot.drive import Friction, Limits, Spring
from linkwise.robot.joint import Joint, Mimic
from linkwise.spatial import Pose
from linkwise.vector import EZ, ZERO3, Vec3

KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical"}
PASSIVE = ("stiffness", "damping", "frictionloss", "armature")
ATTRIBUTES = frozenset(
    (
        *PASSIVE, "name", "class", "type", "group", "user", "pos", "axis", "ref", "springref", "springdamper",
        "springyield", "range", "limited", "margin", "solreflimit", "solimplimit", "solreffriction", "solimpfriction",
        "actuatorfrcrange", "actuatorfrclimited", "actuatorgravcomp",
    )
)  # fmt: skip


def free_joint(reader: Context, e: Element, item: str, parent: str, child: str, name: str) -> Joint:
    """A floating joint on the world; its position is the body's pose, whatever the body's own attributes say."""
    for key in PASSIVE:
        if e.tag == "joint" and _coefficient(reader, e, key, item):
            raise reader.unsupported(e.line, f"{item}, a free joint with {key}", "Use <freejoint/>.")
    return Joint(name, parent, child, "floating")


def single_joint(reader: Context, e: Element, item: str, joint: Joint, X: Pose) -> Joint:
    """A hinge or slide: `joint` says its name, links and origin, `X` is the frame it is given in."""
    kind = e.attributes.get("type", "hinge")
    if kind not in KINDS:
        raise reader.unsupported(e.line, f"{item} of type {kind!r}", f"Use {list(KINDS)}.")
    reader.known(e, item, ATTRIBUTES)
    if kind == "ball":
        return _ball_joint(reader, e, item, joint, X)
    for key in ("springdamper", "springyield"):
        if any(reader.numbers(e, key, item, len(e.attributes.get(key, "").split()), ())):
            raise reader.unsupported(e.line, f"{item} with {key}", "Give stiffness and damping.")
    unit = reader.settings.angle if kind == "hinge" else 1.0
    stiffness, damping, frictionloss, armature = (_coefficient(reader, e, key, item) for key in PASSIVE)
    rest, ref = (reader.number(e, key, item, 0.0) * unit for key in ("springref", "ref"))
    reader.refs[joint.name] = ref
    pos, axis = Vec3(*reader.numbers(e, "pos", item, 3, ZERO3)), Vec3(*reader.numbers(e, "axis", item, 3, EZ))
    with reader.file.at(e.line, item):
        at_ref = replace(
            joint,
            kind=KINDS[kind],
            axis=X.R @ check.axis(axis, "axis"),
            anchor=X.point(pos) if kind == "hinge" else ZERO3,
            friction=Friction(damping, frictionloss),
            armature=armature,
            spring=Spring(stiffness, rest=rest) if stiffness else None,
            limits=Limits(*_range(reader, e, item, unit), effort=_effort(reader, e, item)),
        )
        return replace(at_ref, origin=at_ref.pose([-ref])) if ref else at_ref


def _ball_joint(reader: Context, e: Element, item: str, joint: Joint, X: Pose) -> Joint:
    for key in PASSIVE:
        if _coefficient(reader, e, key, item):
            raise reader.unsupported(e.line, f"{item}, a ball with {key}", "Leave it out, or use three hinges.")
    pos = Vec3(*reader.numbers(e, "pos", item, 3, ZERO3))
    with reader.file.at(e.line, item):
        return replace(joint, kind=KINDS["ball"], anchor=X.point(pos))


def _coefficient(reader: Context, e: Element, key: str, item: str) -> float:
    """A passive coefficient of a joint, 0 where it is switched off; polynomials are refused."""
    first, *more = reader.numbers(e, key, item, max(1, len(e.attributes.get(key, "").split())), (0.0,))
    if any(more):
        raise reader.unsupported(e.line, f"{item} with a polynomial {key}", "Give one number.")
    switch = {"stiffness": "spring", "damping": "damper"}.get(key, key)
    return 0.0 if switch in reader.settings.disabled else first


def _range(reader: Context, e: Element, item: str, unit: float) -> tuple[float, float]:
    """Limits of the position; a range of no width counts as none."""
    lower, upper = (x * unit for x in reader.numbers(e, "range", item, 2, (0.0, 0.0)))
    limited = reader.choice(e, "limited", ("auto", "true", "false"))
    if limited == "false" or (limited == "auto" and (lower == upper or not reader.settings.autolimits)):
        return -math.inf, math.inf
    return lower, upper


def _effort(reader: Context, e: Element, item: str) -> float:
    """The limit of all actuator forces on the joint, where it is the same both ways."""
    lower, upper = reader.numbers(e, "actuatorfrcrange", item, 2, (0.0, 0.0))
    limited = reader.choice(e, "actuatorfrclimited", ("auto", "true", "false"))
    if upper <= 0.0 or limited == "false" or (limited == "auto" and not reader.settings.autolimits):
        return math.inf
    if lower != -upper:
        reader.note("info", item, f"actuatorfrcrange {lower:g} {upper:g} is not the same both ways: ignored")
        return math.inf
    return upper


def coupled(reader: Context, joints: list[Joint], equalities: Iterable[Element]) -> list[Joint]:
    """The joints, with those that a linear equality ties to another mimicking it; other equalities are noted."""
    by_name = {j.name: j for j in joints}
    for section in equalities:
        for e in section.children:
            whole = reader.classes.complete(e, tag="equality")
            item = f"equality {e.attributes['name']!r}" if e.attributes.get("name") else f"equality <{e.tag}>"
            if whole.attributes.get("active") == "false":
                continue
            if e.tag == "connect":  # a loop
                continue
            if e.tag != "joint":
                reader.note("warning", item, f"<{e.tag}> is not modelled: the robot is a tree without it")
                continue
            mimic = _mimic(reader, whole, item, by_name)
            if mimic is None:
                reader.note("warning", item, "is not linear in a joint that moves freely: not modelled")
                continue
            follower = e.attributes["joint1"]
            by_name[follower] = replace(by_name[follower], mimic=mimic)
            reader.note("info", item, f"is taken as exact: joint {follower!r} mimics {mimic.joint!r}")
    return [by_name[j.name] for j in joints]


def _mimic(reader: Context, e: Element, item: str, joints: dict[str, Joint]) -> Mimic | None:
    """What joint1 does when joint2 leads, from q1 - ref1 = c0 + c1 (q2 - ref2); None unless it is that."""
    words = e.attributes.get("polycoef", "0 1").split()
    c = [*reader.numbers(e, "polycoef", item, len(words), (0.0, 1.0)), 0.0, 0.0]
    for key in ("joint1", "joint2"):
        name = e.attributes.get(key)
        if name not in joints and (name or key == "joint1"):
            raise reader.file.error(e.line, f"{item} {key}: {UnknownNameError('joint', name, joints)}")
    leads, follows = e.attributes.get("joint2", ""), e.attributes["joint1"]
    led = {j.mimic.joint for j in joints.values() if j.mimic}
    plain = all(n in joints and joints[n].kind in KINDS.values() and not joints[n].mimic for n in (leads, follows))
    if any(c[2:]) or not plain or leads == follows or follows in led:
        return None
    with reader.file.at(e.line, item):
        return Mimic(leads, c[1], c[0] + reader.refs[follows] - c[1] * reader.refs[leads])
