"""Names of the parallel robots that come along, and how to tell their files; the robots are in `linkwise.parallel`."""

from __future__ import annotations

from os import PathLike, fspath
from os.path import isfile
from pathlib import PurePath
from typing import Any

from linkwise.errors import LinkwiseError
from linkwise.robot.toml import parsed, toml_source

PARALLEL = {
    "delta": "A Delta robot: three motors, a platform that only translates (invented)",
    "gough_stewart": "A hexapod: a platform on six legs that change their lengths (invented)",
    "three_rrr": "A planar machine: three legs of two links, a platform that moves and turns (invented)",
}


def list_parallel_robots() -> dict[str, str]:
    """The parallel robots that come along by name, each with one line that says what it is."""
    return dict(PARALLEL)


def is_parallel(source: Any) -> bool:
    """Whether a name or a file is one of a parallel robot, so that no other reader need try."""
    if isinstance(source, str) and source in PARALLEL:
        return True
    if not isinstance(source, (str, PathLike)) or PurePath(fspath(source)).suffix.lower() != ".toml":
        return False
    try:
        file = toml_source(source) if isfile(source) else None
        named = file is not None and all(key in file.data for key in (b"platform", b"leg"))
        return file is not None and named and {"platform", "leg"} <= parsed(file).keys()
    except LinkwiseError:
        return False  # which the reader of trees says better
