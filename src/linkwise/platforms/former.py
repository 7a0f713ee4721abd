"""What `ParallelRobot` was, for the release in which its name still works."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from linkwise.errors import ModelError, UnknownNameError
from linkwise.platforms.legs import Leg, on_legs
from linkwise.robot.link import Link
from linkwise.robot.robot import GRAVITY, Robot

MOBILITIES = {"spatial": "floating", "translation": "translation", "planar": "planar"}  # and motions of today


def parallel_robot(
    platform: Link,
    legs: Iterable[Leg],
    mobility: str = "spatial",
    gravity: Any = GRAVITY,
    name: str = "parallel robot",
) -> Robot:
    """`on_legs` with the arguments of `ParallelRobot`."""
    if mobility not in MOBILITIES:
        raise ModelError(f"{UnknownNameError('mobility', mobility, MOBILITIES)}")
    return on_legs(platform, legs, MOBILITIES[mobility], gravity=gravity, name=name)
