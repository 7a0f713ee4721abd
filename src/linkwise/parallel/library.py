"""Parallel robots that come with Linkwise, by name: each builder with its own numbers."""

from __future__ import annotations

from collections.abc import Callable

from linkwise.parallel.builders import delta, gough_stewart, three_rrr
from linkwise.parallel.robot import ParallelRobot

ROBOTS: dict[str, tuple[Callable[[], ParallelRobot], str]] = {
    "delta": (delta, "A Delta robot: three motors, a platform that only translates (invented)"),
    "gough_stewart": (gough_stewart, "A hexapod: a platform on six legs that change their lengths (invented)"),
    "three_rrr": (three_rrr, "A planar machine: three legs of two links, a platform that moves and turns (invented)"),
}


def list_parallel_robots() -> dict[str, str]:
    """The robots that `ParallelRobot.load` knows by name, each with one line that says what it is."""
    return {name: text for name, (_, text) in ROBOTS.items()}


def bundled(name: str) -> ParallelRobot:
    """The robot of that name."""
    build, _ = ROBOTS[name]
    return build()
