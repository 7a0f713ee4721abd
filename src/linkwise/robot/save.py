"""Robots into files."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from linkwise.errors import InputError
from linkwise.files import replacing
from linkwise.robot.robot import Robot


def save(robot: Robot, path: str | PathLike[str]) -> tuple[str, ...]:
    """Write a robot to a file, whose suffix tells the form; returns what the file does not carry, in sentences.

    A .toml file carries all: `load` makes an equal robot of it. A .urdf file has the same torques but for what the
    sentences name; link frames stand where URDF wants them, and named frames are links without mass.

    Args:
        robot: to write.
        path: ends in .toml or .urdf; an existing file is overwritten.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"save: expected a Robot first, got {robot!r}.")
    valid = isinstance(path, (str, PathLike))
    if not valid or "\0" in fspath(path):
        raise InputError(f"save: expected a path, got {path!r}.")
    file = Path(fspath(path))
    suffix = file.suffix.lower()
    lost: tuple[str, ...] = ()
    if suffix == ".toml":
        from linkwise.robot.toml_writer import to_toml

        text = to_toml(robot)
    elif suffix == ".urdf":
        from linkwise.robot.urdf_writer import to_urdf

        text, lost = to_urdf(robot)
    else:
        raise InputError(f"save {file.name!r}: expected a name that ends in .toml or .urdf, got {suffix or 'none'!r}.")
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise InputError(f"save {file.name!r}: expected names of Unicode characters, got {character!r}.") from error
    with replacing(file) as part:
        part.write_bytes(data)
    return lost
