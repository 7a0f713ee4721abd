"""Robots by the name of a file."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import PurePath

from linkwise.errors import InputError
from linkwise.robot.robot import Robot
from linkwise.robot.source import PathOrText
from linkwise.robot.urdf import load_urdf


def load(source: PathOrText, *, base: str = "fixed", strict: bool = False) -> Robot:
    """The robot of a file; the suffix tells the form.

    Args:
        source: a path that ends in .urdf, or the text of a URDF.
        base: "fixed", or "floating" for a free root link.
        strict: refuse a robot whose diagnostics hold errors.
    """
    if isinstance(source, bytes) or (isinstance(source, str) and "<" in source):
        return load_urdf(source, base=base, strict=strict)
    if not isinstance(source, (str, PathLike)):
        raise InputError(f"load: expected a path or the text of a URDF, got {source!r}.")
    suffix = PurePath(fspath(source)).suffix.lower()
    if suffix not in (".urdf", ".xacro", ".xml"):
        got = suffix or "no suffix"
        remedy = "For a URDF of another name use load_urdf."
        raise InputError(f"load {fspath(source)!r}: expected a .urdf file, got {got}. {remedy}")
    return load_urdf(source, base=base, strict=strict)
