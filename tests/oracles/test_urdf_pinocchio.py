"""Every robot of example-robot-data against Pinocchio: masses, names, and inverse dynamics."""

import numpy as np
import pinocchio as pin
import pytest

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.errors import ModelError
from linkwise.formats.urdf import load_urdf
from support.pinocchio_bridge import ROBOTS, example, model, random_states, rnea

# these mean nothing: one has no link, the other mimics joints that do not exist
NONSENSE = {"ur3.urdf": "expected at least one <link>", "alex_psyonic_hands.urdf": "unknown joint 'index_q1'"}
FILES = [str(p.relative_to(ROBOTS)) for p in sorted(ROBOTS.rglob("*.urdf")) if p.name not in NONSENSE]


def agree(robot, theirs):
    """Torques at three random states, relative to the largest; 60 links lose about two digits of sixteen."""
    q, qd, qdd = random_states(robot, 3)
    tau = np.array([inverse_dynamics.plain(robot, *state) for state in zip(q, qd, qdd, strict=True)])
    expected = rnea(robot, theirs, q, qd, qdd)
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-13 * np.abs(expected).max(initial=0.0))


def moving(robot):
    return {j.name for j in robot.joints if not j.is_fixed}


def test_there_are_robots():
    assert len(FILES) >= 67


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("file", FILES)
def test_robot(file, base):
    robot = load_urdf(ROBOTS / file, base=base).without_friction()
    theirs = model(ROBOTS / file, floating=base == "floating")
    assert moving(robot) == set(theirs.names) - {"universe"}
    assert sum(k.mass for k in robot.links) == pytest.approx(sum(I.mass for I in theirs.inertias), rel=1e-13)
    agree(robot, theirs)


def test_locked_fingers():
    fingers = ("panda_finger_joint1", "panda_finger_joint2")
    robot = load_urdf(example("panda.urdf")).without_friction().lock(fingers)
    assert robot.nv == 7
    agree(robot, model(example("panda.urdf"), locked=fingers))


def test_gripper_of_many_mimics():
    robot = load_urdf(example("tiago_pro.urdf"))
    followers = [j for j in robot.joints if j.mimic]
    assert len(followers) > 4
    assert robot.nv == pin.buildModelFromUrdf(str(example("tiago_pro.urdf"))).nv - len(followers)


@pytest.mark.parametrize(("file", "message"), NONSENSE.items())
def test_files_without_meaning_are_explained(file, message):
    with pytest.raises(ModelError, match=f"^{file}:.*{message}"):
        load_urdf(example(file))
