"""Machines of every kind by the name of a file, or of a robot that comes with Linkwise; and into files."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from linkwise.errors import InputError
from linkwise.robot import library
from linkwise.robot import load as trees
from linkwise.robot import save as save_tree
from linkwise.robot.floating import BASES
from linkwise.robot.library.parallel import PARALLEL, is_parallel
from linkwise.robot.robot import Robot
from linkwise.robot.source import PathOrText, refuse_errors

if TYPE_CHECKING:  # what parallel robots need is imported for them alone
    from linkwise.parallel.robot import ParallelRobot


def load(
    source: PathOrText, *, base: str = "fixed", strict: bool = False, side: PathOrText | None = None
) -> Robot | Any:
    """The robot of a file, whose suffix tells the form, or one that comes with Linkwise.

    A .toml file with a `[platform]` on `[[leg]]`s is that of a `ParallelRobot`; everything else is a `Robot`.

    Args:
        source: a path that ends in .urdf, .toml or .xml (MJCF), the text of a URDF or MJCF, or a name of
            `list_robots()`.
        base: "fixed", or "floating" for a free root link.
        strict: refuse a robot whose diagnostics hold errors.
        side: a TOML file that adds what a URDF cannot say: `[[joint]]` tables with drive, spring, friction, armature
            or limits of joints by name, `[[frame]]`, `[[loop]]` and `gravity`.
    """
    if not is_parallel(source):
        return trees(source, base=base, strict=strict, side=side)
    if base not in BASES:
        raise InputError(f"load base: expected one of {BASES}, got {base!r}.")
    name = PurePath(fspath(source)).name  # type: ignore[arg-type]
    for option, given in (("base", base != "fixed"), ("side", side is not None)):
        if given:
            raise InputError(f"load {name!r}: expected no {option}= for a parallel robot, got one. Leave it out.")
    from linkwise.parallel.files import load as load_parallel

    robot = load_parallel(source)
    if strict:
        refuse_errors(robot, name)
    return robot


def save(robot: Robot | ParallelRobot, path: str | PathLike[str]) -> tuple[str, ...]:
    """Write a robot to a file, whose suffix tells the form; returns what the file does not carry, in sentences.

    A .toml file carries all: `load` makes an equal robot of it. A .urdf file has the same torques but for what the
    sentences name; link frames stand where URDF wants them, and named frames are links without mass.

    Args:
        robot: to write.
        path: ends in .toml or .urdf, for a parallel robot in .toml; an existing file is overwritten.
    """
    if isinstance(robot, Robot):
        return save_tree(robot, path)
    from linkwise.parallel.files import save as save_parallel
    from linkwise.parallel.robot import ParallelRobot

    if not isinstance(robot, ParallelRobot):
        raise InputError(f"save: expected a Robot first, got {robot!r}.")
    save_parallel(robot, path)
    return ()


def list_robots() -> dict[str, str]:
    """The robots that `load` knows by name, each with one line that says what it is."""
    return dict(sorted({**library.list_robots(), **PARALLEL}.items()))
