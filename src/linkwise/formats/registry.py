"""Every format of robot files, and `load` and `save`, which choose by the suffix; a reader is imported when needed."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path, PurePath
from pkgutil import resolve_name
from typing import Any, NamedTuple

from linkwise.errors import InputError
from linkwise.files import replacing
from linkwise.formats.library import bundled
from linkwise.formats.library import list_robots as list_robots
from linkwise.formats.source import PathOrText, Source, refuse_errors
from linkwise.robot.edit import BASES, floating
from linkwise.robot.robot import Robot


class Format(NamedTuple):
    """A format: the suffixes of its files, its first element where it is XML, and the functions that read and write."""

    suffixes: tuple[str, ...]
    first_tag: str
    reader: str  # takes a path or a text, gives a robot
    writer: str = ""  # takes a robot, gives a text and sentences that say what the text does not carry


FORMATS = (
    Format((".urdf", ".xacro"), "robot", "linkwise.formats.urdf:load_urdf", "linkwise.formats.urdf_writer:to_urdf"),
    Format((".xml", ".mjcf"), "mujoco", "linkwise.formats.mjcf:load_mjcf"),
    Format((".toml",), "", "linkwise.formats.toml:load_toml", "linkwise.formats.toml_writer:to_toml_and_lost"),
)
XML = (".xml", ".mjcf")  # suffixes that say XML, so that the first element tells the format


def load(source: PathOrText, *, base: str = "fixed", strict: bool = False, side: PathOrText | None = None) -> Robot:
    """The robot of a file, whose suffix tells the format, or one that comes with Linkwise.

    Args:
        source: a path that ends in .urdf, .toml or .xml (MJCF), the text of a URDF or MJCF, or a name of
            `list_robots()`.
        base: "fixed", or "floating" for a free root link.
        strict: refuse a robot whose diagnostics hold errors.
        side: a TOML file that adds what a URDF cannot say: `[[joint]]` tables with drive, spring, friction, armature
            or limits of joints by name, `[[frame]]`, `[[loop]]` and `gravity`.
    """
    if base not in BASES:
        raise InputError(f"load base: expected one of {BASES}, got {base!r}.")
    robot, name = _read(source)
    if side is not None:
        from linkwise.formats.toml import with_side

        robot = with_side(robot, side)
    if base == "floating":
        robot = floating(robot)
    if strict:
        refuse_errors(robot, name)
    return robot


def save(robot: Robot, path: str | PathLike[str]) -> tuple[str, ...]:
    """Write a robot to a file, whose suffix tells the format; returns what the file does not carry, in sentences.

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
    writer = next((f.writer for f in FORMATS if f.writer and suffix == f.suffixes[0]), None)
    if writer is None:
        raise InputError(f"save {file.name!r}: expected a name that ends in .toml or .urdf, got {suffix or 'none'!r}.")
    folder = str(file.absolute().parent)
    text, lost = resolve_name(writer)(robot.replace(shapes=[s.seen_from(folder) for s in robot.shapes]))
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise InputError(f"save {file.name!r}: expected names of Unicode characters, got {character!r}.") from error
    with replacing(file) as part:
        part.write_bytes(data)
    return tuple(lost)


def _read(source: Any) -> tuple[Robot, str]:
    """The robot, and what messages call its source."""
    text = isinstance(source, bytes) or (isinstance(source, str) and "<" in source)
    if not text and not isinstance(source, (str, PathLike)):
        raise InputError(f"load: expected a path, the text of a URDF or the name of a robot, got {source!r}.")
    path = PurePath("XML text" if text else fspath(source))
    suffix = XML[0] if text else path.suffix.lower()
    if isinstance(source, str) and not suffix and len(path.parts) < 2:
        return bundled(source), source
    found = next((f for f in FORMATS if suffix in f.suffixes), None)
    if found is None:
        remedy = "If this is a URDF with another extension, pass its text."
        got = suffix or "no suffix"
        raise InputError(f"load {fspath(source)!r}: expected a .urdf, .toml or .xml file, got {got}. {remedy}")
    if suffix in XML:
        from linkwise.formats.xml import first_tag

        tag = first_tag(Source.of(source, path.name))
        found = next((f for f in FORMATS if tag == f.first_tag), FORMATS[0])
    robot: Robot = resolve_name(found.reader)(source)
    return robot if text else _in_folder(robot, path), path.name


def _in_folder(robot: Robot, path: PurePath) -> Robot:
    """The robot whose shapes know where their file stands, so that their meshes can be found when they are drawn."""
    if not any(s.file or s.texture for s in robot.shapes):
        return robot
    folder = str(Path(path).absolute().parent)
    return robot.replace(
        shapes=[s if s.folder or not (s.file or s.texture) else replace(s, folder=folder) for s in robot.shapes]
    )
