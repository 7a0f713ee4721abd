"""A predicted walk as one HTML file that moves: no server, no other file."""

from __future__ import annotations

import html
import json
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import InputError
from linkwise.figures import INK
from linkwise.files import replacing
from linkwise.gait.pictures import LEFT, LIMBS, RIGHT

if TYPE_CHECKING:
    from linkwise.gait.result import Walk

TEMPLATE = Path(__file__).with_name("animation.html")
MIDDLE = ("pelvis", "head", "neck")  # points between both sides, before those of the sides


def write_animation(walk: Walk, path: str | PathLike[str]) -> None:
    """The figure in motion, to be turned with the mouse, with the forces of the ground."""
    file = Path(path)
    if file.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{file.name}: expected a name that ends in .html, got {file.suffix or 'none'!r}.")
    title = f"{walk.problem.speed:g} m/s, steps of {walk.problem.step:g} m, {walk.problem.person.total_mass:g} kg"
    text = TEMPLATE.read_text(encoding="utf-8").replace("TITLE", html.escape(title))
    with replacing(file) as part:
        part.write_text(text.replace("DATA", json.dumps(_data(walk), separators=(",", ":"))), encoding="utf-8")


def _data(walk: Walk) -> dict[str, Any]:
    """Points and forces at the instants of a stride, and the lines between points."""
    stride = walk.stride()
    names = list(dict.fromkeys(f"{p}_{s}" for s in "rl" for chain in LIMBS for p in chain))
    at = {name: stride.point(name) for name in names}
    hips, shoulders = (0.5 * (at[f"{p}_r"] + at[f"{p}_l"]) for p in ("hip", "shoulder"))
    vertex = stride.point("vertex")
    middle = [hips, vertex - [0.0, 0.1, 0.0], shoulders + 0.55 * (vertex - shoulders)]
    order = [*MIDDLE, *names]

    def line(chain: tuple[str, ...], colour: str, width: float) -> tuple[list[int], str, float]:
        return [order.index(p) for p in chain], colour, width

    lines = [line(("pelvis", "neck"), INK, 2.4), line(("hip_r", "pelvis", "hip_l"), INK, 2.0)]
    lines.append(line(("shoulder_r", "shoulder_l"), INK, 2.0))
    for side, colour in (("l", LEFT), ("r", RIGHT)):
        lines += [line(tuple(f"{p}_{side}" for p in chain), colour, 1.8) for chain in LIMBS]
    forces = [np.hstack([np.nan_to_num(stride.centre_of_pressure(s)), stride.ground_force(s)]) for s in "rl"]
    return {
        "duration": float(stride.t[-1]),
        "points": np.stack([*middle, *at.values()], axis=1).round(4).tolist(),
        "forces": np.stack(forces, axis=1).round(4).tolist(),
        "lines": lines,
        "colours": [RIGHT, LEFT],
    }
