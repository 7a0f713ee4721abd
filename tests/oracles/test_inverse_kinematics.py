"""Poses that Pinocchio computes are reached, as Pinocchio sees it."""

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from support.pinocchio_bridge import example, model, to_pin_q


@pytest.mark.parametrize(
    ("file", "frame", "locked"),
    [("panda.urdf", "panda_hand", ("panda_finger_joint1", "panda_finger_joint2")), ("ur5_robot.urdf", "tool0", ())],
)
def test_pinocchio_finds_the_frame_where_it_was_asked_for(file, frame, locked):
    path = example(file)
    full = lw.load(path)
    robot, theirs = full.lock([n for n in full.names if n in locked]), model(path, locked=locked)
    data, place = theirs.createData(), theirs.getFrameId(frame)

    def pose(q: np.ndarray) -> np.ndarray:
        pin.framesForwardKinematics(theirs, data, q)
        return data.oMf[place].homogeneous.copy()

    rng = np.random.default_rng(0)
    low, high = theirs.lowerPositionLimit, theirs.upperPositionLimit
    T = np.array([pose(rng.uniform(np.maximum(low, -3.0), np.minimum(high, 3.0))) for _ in range(200)])
    found = lw.inverse_kinematics(robot, frame, T)
    print(f"{file}: {found.converged.mean():.1%}")
    assert found.converged.mean() >= 0.99
    rows = np.flatnonzero(found.converged)
    for k in rows:
        q = to_pin_q(robot, theirs, found.q[k])
        assert np.abs(pose(q) - T[k]).max() < 2e-8
        assert (q >= low).all()
        assert (q <= high).all()
