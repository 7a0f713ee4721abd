"""Robots as the text of TOML files, without loss."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from linkwise.robot.robot import Robot
from linkwise.spatial import Pose
from linkwise.vector import EYE3, ZERO3

GROUPS = {"link": "links", "joint": "joints", "frame": "frames", "loop": "loops"}


def to_toml(robot: Robot) -> str:
    """The robot file of a robot, from which `load_toml` makes an equal one.

    Every number is written so that it reads back as the same float; fields that have their defaults are left out.
    """
    lines = [f"name = {_value(robot.name)}", f"gravity = {_value(robot.gravity)}"]
    for key, group in GROUPS.items():
        for item in getattr(robot, group):
            lines += ["", f"[[{key}]]", *_table(item, key)]
    for note in robot.notes:
        lines += [
            "",
            "[[note]]",
            *(f"{k} = {_value(v)}" for k, v in zip(("level", "where", "message"), note, strict=True)),
        ]
    return "\n".join(lines) + "\n"


def _table(item: Any, header: str) -> list[str]:
    """The lines of a dataclass: plain values and poses first, then tables of their own."""
    lines, inner = [], []
    for f in fields(item):
        value = getattr(item, f.name)
        if f.default is not MISSING and value == f.default:
            continue
        if isinstance(value, Pose):
            lines += [f"{f.name}.xyz = {_value(value.p)}"] if value.p != ZERO3 or value.R == EYE3 else []
            lines += [f"{f.name}.rotation = {_value(value.R)}"] if value.R != EYE3 else []
        elif is_dataclass(value):
            inner += [f"[{header}.{f.name}]", *_table(value, f"{header}.{f.name}")]
        elif f.name == "inertia" and not (value[1] or value[2] or value[4]):
            lines.append(f"inertia = {_value((value[0], value[3], value[5]))}")
        else:
            lines.append(f"{f.name} = {_value(value)}")
    return lines + inner


def _value(value: Any) -> str:
    if isinstance(value, str):
        # a JSON string is a TOML string, but for one character that JSON leaves as it is
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)
