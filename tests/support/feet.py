"""A robot that stands on one leg, and plans that nobody made."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.planning import Plan
from linkwise.planning.chart import chart_of
from linkwise.planning.contact import space, with_contacts
from linkwise.planning.curve import Curve
from linkwise.planning.ends import State
from linkwise.planning.transcription import Violation
from linkwise.robot import Robot

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def hopper() -> tuple[Robot, np.ndarray]:
    """A body of 20 kg on a leg of six joints with a sole, and how it stands."""
    robot = lw.load(str(EXAMPLES / "leg.toml"))
    q = robot.q({"base": (0, 0, 0, 0, 0, 0, 1), "hip": -0.5, "knee": 1.0, "pitch": -0.5})
    q[:3] -= lw.compile(robot).pose(q, "sole")[:3, 3]
    return robot, q


def anyhow(robot: Robot, q: np.ndarray, contacts: list[Any], seed: int = 0, count: int = 14, **options: Any) -> Plan:
    """A plan that nobody made: a random motion near q, with random wrenches of contacts."""
    rng = np.random.default_rng(seed)
    chart = chart_of(robot).centred(q, q)
    start = State(chart.numbers(q, q))
    chart = with_contacts(chart, contacts, start)
    basis = space(5, count, chart)
    points = np.tile(chart.numbers(q, q), (basis.count, 1)) + 0.3 * rng.normal(size=(basis.count, chart.n))
    for stance, at in zip(chart.stances, chart.pushing, strict=True):
        known = stance.fixed(basis)
        points[:, at] = np.where(np.isnan(known), points[:, at], known)
    plan = Plan(robot, Curve(basis, points, 1.3), 0.0, "converged", Violation(0.0, "", 0.0), given_chart=chart)
    return replace(plan, **options)
