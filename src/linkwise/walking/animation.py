"""A predicted walk as one HTML file that moves: no server, no other file."""

from __future__ import annotations

import html
import json
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import InputError
from linkwise.files import replacing
from linkwise.planning.curve import Array
from linkwise.walking.features import JOINTS
from linkwise.walking.pictures import LEFT, LIMBS, RIGHT, carried

if TYPE_CHECKING:
    from linkwise.walking.result import Walk

TEMPLATE = Path(__file__).with_name("animation.html")
HEAD = 0.057  # radius of the head that is drawn, of the height
MIDDLE = ("pelvis", "head", "neck")  # points between both sides, before those of the sides


def write_animation(walk: Walk, path: str | PathLike[str]) -> None:
    """The figure in motion, to be turned with the mouse, with the forces of the ground."""
    file = Path(path)
    if file.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{file.name}: expected a name that ends in .html, got {file.suffix or 'none'!r}.")
    text = TEMPLATE.read_text(encoding="utf-8")
    data = json.dumps(_data(walk), separators=(",", ":"), allow_nan=False)
    for word, value in (("TITLE", html.escape(walk.title)), ("RIGHT;", f"{RIGHT};"), ("LEFT;", f"{LEFT};")):
        text = text.replace(word, value)
    with replacing(file) as part:
        part.write_text(text.replace("DATA", data), encoding="utf-8")


def _data(walk: Walk) -> dict[str, Any]:
    """Points and forces at the instants of a stride, lines between points, and curves of forces in body weights."""
    stride = walk.stride()
    names = list(dict.fromkeys(f"{p}_{s}" for s in "rl" for chain in LIMBS for p in chain))
    at = {name: stride.point(name) for name in names}
    hips, shoulders = (0.5 * (at[f"{p}_r"] + at[f"{p}_l"]) for p in ("hip", "shoulder"))
    vertex = stride.point("vertex")
    middle = [hips, vertex - [0.0, HEAD * walk.problem.person.height, 0.0], shoulders + 0.55 * (vertex - shoulders)]
    order = [*MIDDLE, *names]

    def line(chain: tuple[str, ...], colour: str, width: float) -> tuple[list[int], str, float]:
        return [order.index(p) for p in chain], colour, width

    lines = [line(("pelvis", "neck"), "ink", 2.4), line(("hip_r", "pelvis", "hip_l"), "ink", 2.0)]
    lines.append(line(("shoulder_r", "shoulder_l"), "ink", 2.0))
    for side, colour in (("l", "left"), ("r", "right")):
        lines += [line(tuple(f"{p}_{side}" for p in chain), colour, 1.8) for chain in LIMBS]
    forces = [np.hstack([np.nan_to_num(stride.centre_of_pressure(s)), stride.ground_force(s)]) for s in "rl"]
    return {
        "duration": float(stride.t[-1]),
        "points": np.stack([*middle, *at.values()], axis=1).round(4).tolist(),
        "forces": np.stack(forces, axis=1).round(4).tolist(),
        "lines": lines,
        "height": walk.problem.person.height,
        "head": HEAD * walk.problem.person.height,
        "loads": [{"radius": round(r, 4), "at": place.round(4).tolist()} for r, place in carried(walk)],
        "up": [_curve(stride.ground_force(s)[:, 1]) for s in "rl"],
        "forward": [_curve(stride.ground_force(s)[:, 0]) for s in "rl"],
        "joints": {
            joint: [_curve(np.linalg.norm(stride.joint_force(f"{joint}_{s}"), axis=1)) for s in "rl"]
            for joint in JOINTS
        },
    }


def _curve(values: Array) -> list[float]:
    return np.asarray(values).round(4).tolist()
