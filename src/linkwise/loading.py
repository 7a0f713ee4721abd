"""Robots by the name of a file, or of a robot that comes with Linkwise; and into files."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fsdecode, fspath
from pathlib import PurePath

from linkwise.errors import InputError
from linkwise.robot import library
from linkwise.robot.floating import BASES, floating
from linkwise.robot.load import load as load_tree
from linkwise.robot.robot import Robot
from linkwise.robot.save import save as save_tree
from linkwise.robot.source import PathOrText, refuse_errors


def load(source: PathOrText, *, base: str = "fixed", strict: bool = False, side: PathOrText | None = None) -> Robot:
    """The robot of a file, whose suffix tells the form, or one that comes with Linkwise.

    Args:
        source: a path that ends in .urdf, .toml or .xml (MJCF), the text of a URDF or MJCF, or a name of
            `list_robots()`.
        base: "fixed", or "floating" for a free root link.
        strict: refuse a robot whose diagnostics hold errors.
        side: a TOML file that adds what a URDF cannot say: `[[joint]]` tables with drive, spring, friction, armature
            or limits of joints by name, `[[frame]]`, `[[loop]]` and `gravity`.
    """
    robot = _platform(source)
    if robot is None:
        return load_tree(source, base=base, strict=strict, side=side)
    if base not in BASES:
        raise InputError(f"load base: expected one of {BASES}, got {base!r}.")
    if side is not None:
        from linkwise.robot.toml import with_side

        robot = with_side(robot, side)
    robot = floating(robot) if base == "floating" else robot
    if strict:
        refuse_errors(robot, PurePath(fsdecode(source)).name)
    return robot


def _platform(source: PathOrText) -> Robot | None:
    """The platform on legs of a name, or of a file of their form; None of any other source."""
    if isinstance(source, str) and source in library.PLATFORMS:
        from linkwise import platforms

        build: Callable[[], Robot] = getattr(platforms, source)
        return build()
    if not isinstance(source, (str, PathLike)) or PurePath(fspath(source)).suffix.lower() != ".toml":
        return None
    from linkwise.platforms.files import is_on_legs, read_on_legs

    return read_on_legs(source) if is_on_legs(source) else None


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
    return save_tree(robot, path)


def list_robots() -> dict[str, str]:
    """The robots that `load` knows by name, each with one line that says what it is."""
    return dict(sorted({**library.list_robots(), **library.PLATFORMS}.items()))
