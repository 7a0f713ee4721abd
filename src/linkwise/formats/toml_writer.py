"""Robots as the text of TOML files, without loss."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from linkwise.robot.robot import Robot
from linkwise.spatial import Pose
from linkwise.vector import EYE3, ZERO3

GROUPS = {"link": "links", "joint": "joints", "frame": "frames", "loop": "loops", "shape": "shapes"}


def to_toml(robot: Robot) -> str:
    """The robot file of a robot, from which `load_toml` makes an equal one.

    Every number is written so that it reads back as the same float; fields that have their defaults are left out.
    """
    lines = [f"name = {value_text(robot.name)}", f"gravity = {value_text(robot.gravity)}"]
    if robot.leads:
        lines.append(f"leads = {value_text(robot.leads)}")
    if robot.reference:
        lines += ["", "[reference]", *(f"{value_text(name)} = {value_text(x)}" for name, x in robot.reference)]
    if robot.provenance:
        lines += ["", "[provenance]", *(f"{value_text(name)} = {value_text(x)}" for name, x in robot.provenance)]
    for key, group in GROUPS.items():
        for item in getattr(robot, group):
            lines += ["", f"[[{key}]]", *table_lines(item, key)]
    for note in robot.notes:
        lines += [
            "",
            "[[note]]",
            *(f"{k} = {value_text(v)}" for k, v in zip(("level", "where", "message"), note, strict=True)),
        ]
    return "\n".join(lines) + "\n"


def to_toml_and_lost(robot: Robot) -> tuple[str, tuple[str, ...]]:
    """The robot file of a robot, and that it leaves nothing out."""
    return to_toml(robot), ()


def table_lines(item: Any, header: str) -> list[str]:
    """The lines of a dataclass: plain values and poses first, then tables of their own."""
    lines, inner = [], []
    for f in fields(item):
        value = getattr(item, f.name)
        if f.default is not MISSING and value == f.default:
            continue
        if isinstance(value, Pose):
            lines += [f"{f.name}.xyz = {value_text(value.p)}"] if value.p != ZERO3 or value.R == EYE3 else []
            lines += [f"{f.name}.rotation = {value_text(value.R)}"] if value.R != EYE3 else []
        elif is_dataclass(value):
            inner += [f"[{header}.{f.name}]", *table_lines(value, f"{header}.{f.name}")]
        elif f.name == "inertia" and not (value[1] or value[2] or value[4]):
            lines.append(f"inertia = {value_text((value[0], value[3], value[5]))}")
        else:
            lines.append(f"{f.name} = {value_text(value)}")
    return lines + inner


def value_text(value: Any) -> str:
    """A text, a number, or a tuple of such, as TOML writes them."""
    if isinstance(value, str):
        # a JSON string is a TOML string, but for one character that JSON leaves as it is
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple):
        return f"[{', '.join(map(value_text, value))}]"
    return repr(value)
