"""All that decides the program of a kernel beside the source of Linkwise, as one text."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from linkwise.algorithms.algorithm import Algorithm
from linkwise.kernel.options import Options
from linkwise.robot.robot import Robot

UNKNOWN = (" at 0x", "array(")  # in the `repr` of what has no content to show, or shows only a part
PLAIN = (str, int, float, bool, type(None))


def facts_of(robot: Robot, algorithm: Algorithm, options: Options, static: Mapping[str, Any]) -> str | None:
    """The text, or None where something is known by its code alone: a law, an algorithm or option of the user's own."""
    name = _name(algorithm)
    if name is None or options.forces or options.joint_forces or type(robot) is not Robot:
        return None
    if not all(_is_plain(value) for value in static.values()):
        return None
    parts = [
        getattr(robot, f.name) for f in fields(robot) if f.name not in ("shapes", "provenance")
    ]  # of which no program knows
    text = repr((name, sorted(static.items()), replace(options, threads=1), parts))
    return None if any(sign in text for sign in UNKNOWN) else text


def _name(algorithm: Algorithm) -> Any:
    """Where an algorithm of Linkwise is found, and which derivative of it was asked for; None of any other."""
    derives = algorithm.derives
    if derives and derives.asked:
        base = _name(derives.base)
        return base and (base, derives.asked)
    home = algorithm.__module__ or ""  # none of code that was given as a text
    ours = home.startswith("linkwise.") and getattr(sys.modules.get(home), algorithm.name, None) is algorithm
    return (home, algorithm.name) if ours else None


def _is_plain(value: Any) -> bool:
    return all(map(_is_plain, value)) if isinstance(value, (tuple, list)) else type(value) in PLAIN
