"""Every URDF of example-robot-data that loads becomes a page that shows it."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion.columns import column_names
from support.examples import FILES, NOT_ROBOTS
from support.pictures import covered, poses_apart

QUICK = ("panda.urdf", "solo12.urdf")
CASES = [
    pytest.param(p, id=f"{p.parent.parent.name}/{p.name}", marks=() if p.name in QUICK else pytest.mark.slow)
    for p in FILES
    if p.name not in NOT_ROBOTS
]


@pytest.mark.parametrize("path", CASES)
def test_it_is_shown(shown, path):
    robot = lw.load(path)
    t = np.array([0.0, 1.0])
    q = robot.q() + np.array([[0.0], [0.05]]) * np.ones(robot.nq)
    motion = {"t": t, **dict(zip(column_names(robot, "q"), q.T, strict=True))} if robot.nq else None
    with shown(robot, motion, address="panel=0&plots=0") as page:
        assert covered(page) > 0.005
        assert not robot.nq or poses_apart(page, robot, t, q) < 1e-9
