"""Panda's problems of VAMP: scenes, starts and goals, from the source distribution vamp-planner 0.6.4, unpacked.

The variable VAMP names its folder, or it stands in the working directory.
"""

from __future__ import annotations

import os
import re
import tarfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import numpy as np

import linkwise as lw

FOLDER = "vamp_planner-0.6.4"
FINGERS = {"panda_finger_joint1": 0.04, "panda_finger_joint2": 0.04}  # open


class Task(NamedTuple):
    """A scene, and where the arm is to go."""

    name: str
    obstacles: tuple[lw.Shape, ...]
    start: np.ndarray
    goal: np.ndarray


def folder() -> Path | None:
    """The folder of Panda in VAMP's source distribution, if it is here."""
    places = (Path(os.environ.get("VAMP", FOLDER)), Path(os.environ.get("VAMP", ".")) / FOLDER)
    return next((p / "resources/panda" for p in places if (p / "resources/panda").is_dir()), None)


def fetched(into: Path) -> Path | None:
    """The same, from the source distribution that pip finds, unpacked into a folder; None where it finds none.

    No build is wanted: the archive is taken as soon as pip has it.
    """
    import subprocess
    import sys
    import time

    how = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", "vamp-planner==0.6.4", "-d", str(into)]
    loaded = into / "pip"
    loaded.mkdir()
    pip = subprocess.Popen([sys.executable, "-m", "pip", *how], env={**os.environ, "TMPDIR": str(loaded)})
    while not (archives := [*into.rglob(f"{FOLDER}.tar.gz")]) and pip.poll() is None:
        time.sleep(0.5)
    time.sleep(5.0)  # until all of it is there
    pip.terminate()
    pip.wait()
    for archive in archives:
        with tarfile.open(archive) as tar:
            tar.extractall(into, filter="data")
        return into / FOLDER / "resources/panda"
    return None


def ignored(root: Path, robot: lw.Robot) -> list[tuple[str, str]]:
    """The pairs of links that the SRDF file leaves out."""
    links = {s.link for s in robot.shapes if s.is_collision}
    off = ET.parse(root / "panda.srdf").getroot().iter("disable_collisions")
    pairs = [(e.attrib["link1"], e.attrib["link2"]) for e in off]
    return [p for p in pairs if set(p) <= links]


def tasks(root: Path, every: int = 1) -> list[Task]:
    """The problems, of each set the first and then one of so many."""
    import yaml

    loader, data = getattr(yaml, "CSafeLoader", yaml.SafeLoader), {}
    with tarfile.open(root / "problems.tar.bz2", "r:bz2") as tar:
        for member in (m for m in tar if m.isfile()):
            _, group, name = member.name.split("/")
            kind, number = re.fullmatch(r"(\w+?)(\d+)\.yaml", name).groups()
            if (int(number) - 1) % every == 0:
                data[group.removesuffix("_panda"), int(number), kind] = yaml.load(tar.extractfile(member), loader)
    keys = sorted({(group, number) for group, number, _ in data})
    return [_task(f"{g} {n}", data[g, n, "scene"], data[g, n, "request"]) for g, n in keys]


def _task(name: str, scene: dict, request: dict) -> Task:
    round_as = "box" if name.startswith("box ") else "capsule"  # as VAMP has it: cans in a box are grasped from above
    shapes = tuple(_shape(x, round_as) for x in scene["world"]["collision_objects"])
    state = request["start_state"]["joint_state"]
    begin = dict(zip(state["name"], state["position"], strict=True))
    end = {e["joint_name"]: e["position"] for e in request["goal_constraints"][0]["joint_constraints"]}
    joints = [f"panda_joint{k}" for k in range(1, 8)]
    return Task(name, shapes, *(np.array([x[j] for j in joints], dtype=float) for x in (begin, end)))


def _shape(entry: dict, round_as: str) -> lw.Shape:
    """An obstacle; a cylinder lies in a box, or in a capsule of the same radius."""
    primitive, size = entry["primitives"][0], entry["primitives"][0]["dimensions"]
    at = lw.Pose()
    for pose in (entry.get("pose"), entry["primitive_poses"][0]):
        at = at @ lw.Pose.of_quaternion(pose["position"], pose["orientation"]) if pose else at
    if primitive["type"] == "cylinder":
        length, radius = size
        around = (radius, length) if round_as == "capsule" else (2.0 * radius, 2.0 * radius, length)
        return lw.Shape(entry["id"], round_as, around, at)
    return lw.Shape(entry["id"], primitive["type"], tuple(size), at)
