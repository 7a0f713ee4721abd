"""The two-link problems of Barman's chapter IV, put in words, on the cubic splines of the source."""

from __future__ import annotations

import math
from typing import Any

from linkwise.formats.registry import load
from linkwise.planning.joint_limits import joints
from linkwise.planning.planner import plan
from linkwise.planning.result import Plan
from linkwise.planning.terms import effort, time

CUBIC = 3  # the degree


def minimum_time(control_points: int = 20, guess: Plan | None = None, **options: Any) -> Plan:
    """The fastest motion of the arm "rr" between two rests, (4.16) and (4.17)."""
    given: Any = {"control_points": control_points, "guess": guess, "degree": CUBIC, **options}
    return plan(load("rr"), [0.0, -2.0], [1.0, -1.0], time(), joints("effort"), **given)


def time_and_effort(u: float = 0.01, guess: Plan | None = None, **options: Any) -> Plan:
    """The motion of the arm "pr" that is best by (1 - u) time + u effort, (4.18) and (4.19)."""
    goal = [math.pi / 4.0, -math.pi / 4.0]
    aim = (1.0 - u) * time() + u * effort()
    return plan(load("pr"), [0.1, 0.6], goal, aim, joints("effort"), guess=guess, degree=CUBIC, **options)
