"""Robots that come with Linkwise: data files of this folder, and chains of any length made on demand."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from linkwise.errors import InputError, UnknownNameError
from linkwise.formats.source import Source
from linkwise.robot.joint import Joint
from linkwise.robot.link import Frame, Link
from linkwise.robot.robot import Robot
from linkwise.spatial import Pose
from linkwise.vector import ZERO3, Vec3

FOLDER = Path(__file__).parent
LONGEST = 10_000
# built by `linkwise.platforms`
PLATFORMS = {
    "delta": "A Delta robot: three motors, a platform that only translates (invented)",
    "gough_stewart": "A hexapod: a platform on six legs that change their lengths (invented)",
    "three_rrr": "A planar machine: three legs of two links, a platform that moves and turns (invented)",
}
SNAKE = "A snake of 10 equal links in a vertical plane; snake25 has 25 (invented)"


def list_robots() -> dict[str, str]:
    """The robots that `load` knows by name, each with one line that says what it is."""
    return dict(_robots())


def bundled(name: str) -> Robot:
    """The robot of that name."""
    snake = re.fullmatch(r"snake([0-9]{0,9})", name)
    if snake:
        return _snake(int(snake[1] or 10))
    if name in PLATFORMS:
        from linkwise import platforms

        build: Callable[[], Robot] = getattr(platforms, name)
        return build()
    if name not in _robots():
        unknown = UnknownNameError("robot", name, _robots())
        raise InputError(f"load {name!r}: expected a .urdf, .toml or .xml file or a robot's name, got an {unknown}")
    from linkwise.formats.toml import read

    return read(Source(f"{name}.toml", (FOLDER / f"{name}.toml").read_bytes()))


@cache
def _robots() -> dict[str, str]:
    """The first line of a data file, a comment, says what it is."""
    found = {"snake": SNAKE, **PLATFORMS}
    for file in FOLDER.glob("*.toml"):
        found[file.stem] = file.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
    return dict(sorted(found.items()))


def _snake(n: int) -> Robot:
    """A chain of n slender links of 0.1 m and 0.2 kg that turn about y; at q = 0 it lies along x."""
    if not 1 <= n <= LONGEST:
        raise InputError(f"load 'snake{n}': expected 1 to {LONGEST} joints, got {n}.")
    mass, length, radius = 0.2, 0.1, 0.015
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    along = mass * radius**2 / 2.0
    end = Vec3(length, 0.0, 0.0)
    names = ["base", *(f"link{k}" for k in range(1, n + 1))]
    links = [Link("base"), *(Link(name, mass, (length / 2, 0, 0), (along, across, across)) for name in names[1:])]
    joints = [
        Joint(f"joint{k}", names[k - 1], names[k], origin=Pose(p=end if k > 1 else ZERO3), axis=Vec3(0.0, 1.0, 0.0))
        for k in range(1, n + 1)
    ]
    return Robot(links, joints, [Frame("tool", names[-1], Pose(p=end))], name=f"snake{n}")
