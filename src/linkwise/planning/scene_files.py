"""Scenes as tables of plain values, for files, and back."""

from __future__ import annotations

from typing import Any

from linkwise.mechanism.scene import Obstacle, Scene
from linkwise.robot.geometry import Shape
from linkwise.robot.height_field import HeightField
from linkwise.robot.robot import Robot
from linkwise.spatial import Pose


def kept(scene: Scene) -> dict[str, Any]:
    """What a scene is but for its robot."""
    return {
        "obstacles": [_written(x) for x in scene.obstacles],
        "ignore": [list(x) for x in scene.ignore],
        "chosen": None if scene.chosen is None else [list(x) for x in scene.chosen],
        "parts": scene.parts,
        "exact": scene.exact,
    }


def restored(robot: Robot, table: dict[str, Any]) -> Scene:
    """The scene that was kept."""
    obstacles = tuple(_read(dict(x)) for x in table["obstacles"])
    ignore = tuple(tuple(map(str, x)) for x in table["ignore"])
    chosen = None if table["chosen"] is None else tuple((str(a), str(b)) for a, b in table["chosen"])
    return Scene(robot, obstacles, (), 0, ignore, chosen, int(table["parts"]), bool(table["exact"]))


def _written(obstacle: Obstacle) -> dict[str, Any]:
    place = {"name": obstacle.name if isinstance(obstacle, HeightField) else obstacle.link,
             "pose": obstacle.origin.matrix(), "size": list(obstacle.size)}  # fmt: skip
    if isinstance(obstacle, HeightField):
        return {**place, "heights": [list(row) for row in obstacle.heights]}
    path = str(obstacle.path) if obstacle.path else ""
    return {**place, "shape": obstacle.kind, "file": path, "colour": list(obstacle.colour)}


def _read(table: dict[str, Any]) -> Obstacle:
    origin = Pose.of_matrix(table["pose"])
    if "heights" in table:
        return HeightField(table["name"], table["heights"], tuple(table["size"]), origin)
    size, colour = tuple(table["size"]), tuple(table["colour"])
    return Shape(table["name"], table["shape"], size, origin, file=table["file"], colour=colour)
