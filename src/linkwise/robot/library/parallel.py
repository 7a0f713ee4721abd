"""Names of the parallel robots that come along, and how to tell their files; the robots are in `linkwise.parallel`."""

from __future__ import annotations

from pathlib import Path

from linkwise.errors import LinkwiseError
from linkwise.robot.toml import parsed, toml_source

PARALLEL = {
    "delta": "A Delta robot: three motors, a platform that only translates (invented)",
    "gough_stewart": "A hexapod: a platform on six legs that change their lengths (invented)",
    "three_rrr": "A planar machine: three legs of two links, a platform that moves and turns (invented)",
}


def list_parallel_robots() -> dict[str, str]:
    """The robots that `ParallelRobot.load` knows by name, each with one line that says what it is."""
    return dict(PARALLEL)


def is_parallel(source: str) -> bool:
    """Whether a name or a file is one of a parallel robot, so that no other reader need try."""
    if source in PARALLEL:
        return True
    if Path(source).suffix.lower() != ".toml" or not Path(source).is_file():
        return False
    try:
        return {"platform", "leg"} <= parsed(toml_source(Path(source))).keys()
    except LinkwiseError:
        return False
