"""Motions as messages of controllers: trajectory_msgs/JointTrajectory of ROS, as YAML or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from linkwise.errors import InputError
from linkwise.files import replacing
from linkwise.motion.trajectory import Array
from linkwise.robot.robot import Robot

SUFFIXES = (".yaml", ".yml", ".json")
QUANTITIES = {"positions": "q", "velocities": "qd", "accelerations": "qdd", "effort": "tau"}
NANO = 1_000_000_000


def joint_trajectory(robot: Robot, columns: Mapping[str, Array]) -> dict[str, Any]:
    """A JointTrajectory of named columns t, q.elbow, qd.elbow, ..., of joints with one number each.

    Efforts are among them if every joint has its own drive.
    """
    names = [name for name, slot in robot.slots.items() if slot.nq]
    if wide := [name for name in names if robot.slots[name].nq != 1]:
        raise InputError(
            f"JointTrajectory: expected joints with one position each, got {wide[0]!r}. Write a .csv file instead."
        )
    found = {
        key: [columns[f"{quantity}.{name}"] for name in names]
        for key, quantity in QUANTITIES.items()
        if all(f"{quantity}.{name}" in columns for name in names)
    }
    points = []
    for k, t in enumerate(columns["t"] - columns["t"][0]):
        whole, part = divmod(round(float(t) * NANO), NANO)
        rows = {key: [float(x[k]) for x in each] for key, each in found.items()}
        points.append({**rows, "time_from_start": {"sec": whole, "nanosec": part}})
    header = {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}
    return {"header": header, "joint_names": names, "points": points}


def write(path: str | PathLike[str], message: Mapping[str, Any]) -> None:
    """A message into a .json, .yaml or .yml file, replaced as a whole."""
    text = json.dumps(message, indent=1) + "\n" if str(path).lower().endswith(".json") else _yaml(message)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def _yaml(message: Mapping[str, Any]) -> str:
    """YAML with a line for each list of numbers; all values are valid JSON, which is YAML too."""
    lines = [f"{key}: {json.dumps(message[key])}" for key in ("header", "joint_names")]
    return "\n".join([*lines, "points:", *_points(message["points"])]) + "\n"


def _points(points: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    for point in points:
        marks = ["- ", *["  "] * (len(point) - 1)]
        found += [f"{mark}{key}: {json.dumps(value)}" for mark, (key, value) in zip(marks, point.items(), strict=True)]
    return found
