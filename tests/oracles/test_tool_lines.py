"""Lines of a tool by Pinocchio's kinematics, and their times by TOPP-RA."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

import linkwise as lw
from oracles.test_toppra import their_time
from support.pinocchio_bridge import example, model

START = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.8])
FINGERS = ("panda_finger_joint1", "panda_finger_joint2")


@pytest.fixture(scope="module")
def panda():
    path = example("panda.urdf")
    return path, lw.load(path).lock(dict.fromkeys(FINGERS[:1], 0.0)).without_friction()


def test_saved_samples_of_half_a_metre_are_on_the_line(panda, tmp_path):
    """0.5 m with a turn of 30 degrees: Pinocchio finds the tool of each row within 0.01 mm and 0.005 degrees."""
    path, robot = panda
    q = dict(zip(robot.names, START, strict=True))
    motion = lw.move(robot, q, by=lw.Pose.of((0.0, 0.5, -0.1), rpy=(0.0, 0.0, np.pi / 6)), frame="panda_link8")
    motion.save(tmp_path / "line.csv")
    table = np.genfromtxt(tmp_path / "line.csv", delimiter=",", names=True, deletechars="")
    theirs = model(path, locked=FINGERS)
    data, frame = theirs.createData(), theirs.getFrameId("panda_link8")
    rows = np.stack([table[f"q.{name}"] for name in theirs.names[1:]], axis=1)
    T = []
    for row in rows:
        pin.framesForwardKinematics(theirs, data, row)
        T.append(data.oMf[frame].homogeneous.copy())
    T = np.array(T)
    s = table["s"][:, None]
    line = T[0, :3, 3] + s * np.array([0.0, 0.5, -0.1])
    turned = Rotation.from_rotvec(s * [0.0, 0.0, np.pi / 6]).as_matrix() @ T[0, :3, :3]
    assert s[-1] == pytest.approx(1.0)
    assert np.linalg.norm(T[:, :3, 3] - line, axis=1).max() < 1e-5
    angle = Rotation.from_matrix(np.swapaxes(turned, 1, 2) @ T[:, :3, :3]).magnitude()
    assert np.degrees(angle.max()) < 0.005


def test_times_are_those_of_toppra(panda):
    _, robot = panda
    limits = [robot.joint(n).limits for n in robot.names]
    effort, velocity = (np.array([getattr(x, key) for x in limits]) for key in ("effort", "velocity"))
    for by in ((0.0, 0.4, 0.0), (0.1, -0.3, -0.2)):
        motion = lw.move(robot, START, by=by, frame="panda_link8")
        theirs = their_time(robot, motion.path, motion.path.grid(400, ends_at_rest=True), effort, velocity)
        assert motion.duration == pytest.approx(theirs, rel=5e-3)
