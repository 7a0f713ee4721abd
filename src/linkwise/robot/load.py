"""Robots by the name of a file, or of a robot that comes with Linkwise; the reader of a form is imported for it."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import PurePath

from linkwise.errors import InputError
from linkwise.robot.floating import BASES, floating
from linkwise.robot.library import bundled
from linkwise.robot.robot import Robot
from linkwise.robot.source import PathOrText, Source, refuse_errors


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
    if base not in BASES:
        raise InputError(f"load base: expected one of {BASES}, got {base!r}.")
    robot, name = _read(source)
    if side is not None:
        from linkwise.robot.toml import with_side

        robot = with_side(robot, side)
    if base == "floating":
        robot = floating(robot)
    if strict:
        refuse_errors(robot, name)
    return robot


def _read(source: PathOrText) -> tuple[Robot, str]:
    """The robot, and what messages call its source."""
    if isinstance(source, bytes) or (isinstance(source, str) and "<" in source):
        return _of_xml(source, "XML text")
    if not isinstance(source, (str, PathLike)):
        raise InputError(f"load: expected a path, the text of a URDF or the name of a robot, got {source!r}.")
    path = PurePath(fspath(source))
    suffix = path.suffix.lower()
    if suffix in (".urdf", ".xacro"):
        from linkwise.robot.urdf import load_urdf

        return load_urdf(source), path.name
    if suffix in (".xml", ".mjcf"):
        return _of_xml(source, path.name)
    if suffix == ".toml":
        from linkwise.robot.toml import load_toml

        return load_toml(source), path.name
    if isinstance(source, str) and not suffix and len(path.parts) < 2:
        return bundled(source), source
    remedy = "Of a URDF with another name give the text."
    got = suffix or "no suffix"
    raise InputError(f"load {fspath(source)!r}: expected a .urdf, .toml or .xml file, got {got}. {remedy}")


def _of_xml(source: PathOrText, name: str) -> tuple[Robot, str]:
    """URDF or MJCF, by the document's first element."""
    from linkwise.robot.xml import first_tag

    if first_tag(Source.of(source, name)) == "mujoco":
        from linkwise.robot.mjcf import load_mjcf

        return load_mjcf(source), name
    from linkwise.robot.urdf import load_urdf

    return load_urdf(source), name
