"""Actuators of MJCF files: their force ranges are limits of the joints they move; what else they say is remarked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from linkwise.formats.mjcf_settings import Context
from linkwise.formats.xml import Element, to_float
from linkwise.robot.joint import Joint

TAGS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion", "plugin")
GAINS = ("kp", "kv", "dampratio", "timeconst", "inheritrange")
PASSIVE = ("armature", "damping")


def effort_limits(reader: Context, joints: list[Joint], sections: Iterable[Element]) -> list[Joint]:
    """The joints, with the forces that their actuators can give at most as limits of effort."""
    limits: dict[str, list[float]] = {}
    for section in sections:
        for e in section.children:
            whole = _complete(reader, e)
            item = f"actuator {e.attributes['name']!r}" if e.attributes.get("name") else f"actuator <{e.tag}>"
            name = whole.attributes.get("joint") or whole.attributes.get("jointinparent", "")
            if not name:
                reader.note("warning", item, "does not act on a joint: not modelled")
                continue
            passive = [key for key in PASSIVE if any(map(to_float, whole.attributes.get(key, "").split()))]
            if passive:
                reader.note("warning", item, f"its {', '.join(passive)}: not modelled")
            limits.setdefault(name, []).append(_force(reader, whole, item))
    return [
        replace(j, limits=replace(j.limits, effort=min(j.limits.effort, sum(limits[j.name]))))
        if j.name in limits and j.freedom.is_single
        else j
        for j in joints
    ]


def _complete(reader: Context, e: Element) -> Element:
    """An actuator with what its class says of actuators of any tag."""
    for tag in TAGS:
        if tag != e.tag:
            e = reader.classes.complete(e, tag=tag)
    return reader.classes.complete(e)


def _force(reader: Context, e: Element, item: str) -> float:
    """The most that an actuator exerts on its joint; infinite where it is not bounded."""
    words = e.attributes.get("gear", "1").split()
    gear = abs([*reader.numbers(e, "gear", item, len(words), (1.0,)), 1.0][0])
    force, control = (_range(reader, e, item, key) for key in ("force", "ctrl"))
    gains = [f"{key} {e.attributes[key]}" for key in GAINS if key in e.attributes]
    if e.tag != "motor":
        control = math.inf  # what it asks for is no force
        words = [f"a {e.tag} actuator", *gains]
        reader.note("info", item, f"{', '.join(words)}: its law is not modelled, `tau` is the force on the joint")
    if gear != 1.0:
        reader.note("info", item, f"gear {gear:g}: limits are those of the joint, `tau` is on the joint's side")
    return gear * min(force, control)


def _range(reader: Context, e: Element, item: str, what: str) -> float:
    """The larger side of a range that holds, infinite where none does."""
    lower, upper = reader.numbers(e, f"{what}range", item, 2, (0.0, 0.0))
    limited = reader.choice(e, f"{what}limited", ("auto", "true", "false"))
    if limited == "false" or (limited == "auto" and (lower == upper or not reader.settings.autolimits)):
        return math.inf
    if lower != -upper:
        reader.note("info", item, f"{what}range {lower:g} {upper:g} is not the same both ways: the larger is taken")
    return max(abs(lower), abs(upper))
