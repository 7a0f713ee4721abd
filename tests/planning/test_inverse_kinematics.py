"""Joint positions for poses, against forward kinematics."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from support.trees import dynamics, error

ARMS = {"arm7": "tool", "industrial6": "tool", "puma560": "link6"}


def reachable(robot: lw.Robot, frame: str, rows: int, seed: int = 0) -> np.ndarray:
    """Poses of a frame at random positions within the limits."""
    limits = [robot.joint(n).limits for n in robot.names]
    low, high = (
        [max(min(x, np.pi), -np.pi) for x in xs] for xs in zip(*((k.lower, k.upper) for k in limits), strict=True)
    )
    q = np.random.default_rng(seed).uniform(low, high, (rows, robot.nq))
    return dynamics(robot).pose(q, frame)


def inside(robot: lw.Robot, q: np.ndarray) -> bool:
    limits = [robot.joint(n).limits for n in robot.names]
    return all((q[..., k] >= x.lower).all() and (q[..., k] <= x.upper).all() for k, x in enumerate(limits))


@pytest.mark.parametrize("name", ARMS)
def test_reachable_poses_are_reached_within_limits(name):
    """At least 99 in 100 random poses; each that is said to be reached is, by forward kinematics."""
    robot, frame = lw.load(name), ARMS[name]
    T = reachable(robot, frame, 500)
    first = lw.inverse_kinematics(robot, frame, T, restarts=0)
    found = lw.inverse_kinematics(robot, frame, T)
    print(f"{name}: {first.converged.mean():.1%} from zero, {found.converged.mean():.1%} with restarts")
    assert found.converged.mean() >= 0.99
    assert inside(robot, found.q)
    assert np.isfinite(found.q).all()
    assert np.abs(dynamics(robot).pose(found.q[found.converged], frame) - T[found.converged]).max() < 2e-8


def test_a_pose_is_its_matrix():
    arm, X = lw.load("arm7"), lw.Pose.of((0.4, 0.1, 0.6), (0.1, 0.5, 0.2))
    by_pose, by_matrix = (lw.inverse_kinematics(arm, "tool", T) for T in (X, X.matrix()))
    assert by_pose.converged
    np.testing.assert_array_equal(by_pose.q, by_matrix.q)


def test_a_good_guess_is_kept():
    """The solution nearest to where a guess is: a small step of the pose is a small step of the joints."""
    robot = lw.load("arm7")
    q = np.array([0.3, 0.5, -0.2, 1.0, 0.4, 0.7, -0.3])
    T = dynamics(robot).pose(q + 1e-3, "tool")
    found = lw.inverse_kinematics(robot, "tool", T, guess=q)
    assert found.converged
    assert np.abs(found.q - q).max() < 5e-3


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_half_a_turn_is_an_error_like_any_other(axis):
    """A free body that looks the other way about each axis turns round."""
    body = lw.Robot([lw.Link("world"), lw.Link("body", mass=1.0)], [lw.Joint("free", "world", "body", "floating")])
    turn = np.diag([1.0 if k in (axis, 3) else -1.0 for k in range(4)])
    first = lw.inverse_kinematics(body, "body", turn, joints="free", restarts=0, iterations=1)
    assert first.rotation_error > 0.1
    found = lw.inverse_kinematics(body, "body", turn, joints="free", restarts=0)
    assert found.converged
    assert error(dynamics(body).pose(found.q, "body"), turn) < 1e-7


def test_directions_may_be_free():
    robot = lw.load("industrial6")
    T = reachable(robot, "tool", 50, 2)
    points = lw.inverse_kinematics(robot, "tool", T[:, :3, 3])
    assert points.converged.all()
    assert np.abs(dynamics(robot).pose(points.q, "tool")[:, :3, 3] - T[:, :3, 3]).max() < 2e-8
    turned = lw.inverse_kinematics(robot, "tool", T, mask=(1, 1, 1, 1, 1, 0))
    assert turned.converged.all()
    found = dynamics(robot).pose(turned.q, "tool")
    assert np.abs(found[:, :3, 2:] - T[:, :3, 2:]).max() < 1e-7  # the z axis and the origin
    assert np.abs(found[:, :3, 0] - T[:, :3, 0]).max() > 0.1


def test_rows_fail_by_themselves():
    """Out of reach, NaN and a good pose in one batch."""
    robot = lw.load("arm7")
    good = dynamics(robot).pose(np.full(7, 0.3), "tool")
    far = good.copy()
    far[0, 3] = 9.0
    found = lw.inverse_kinematics(robot, "tool", np.stack([far, good * np.nan, good]), restarts=2)
    assert found.converged.tolist() == [False, False, True]
    assert np.isfinite(found.q).all()
    assert 7.5 < found.position_error[0] < 9.0
    alone = lw.inverse_kinematics(robot, "tool", good)
    assert np.array_equal(found.q[2], alone.q)


def test_batches_and_guesses_broadcast():
    robot = lw.load("arm7")
    T = reachable(robot, "tool", 6).reshape(2, 3, 4, 4)
    found = lw.inverse_kinematics(robot, "tool", T, guess=np.zeros((3, 7)))
    assert found.q.shape == (2, 3, 7)
    assert found.converged.shape == found.position_error.shape == (2, 3)
    assert lw.inverse_kinematics(robot, "tool", T[:0]).q.shape == (0, 3, 7)


def test_named_joints_alone_move_and_a_floating_base_may():
    robot = lw.random_tree(1, floating=True, joints=3)
    frame = robot.links[-1].name
    base = lw.inverse_kinematics(robot, frame, np.eye(4), joints=robot.names)
    assert base.converged
    assert np.abs(dynamics(robot).pose(base.q, frame) - np.eye(4)).max() < 1e-7
    arm = lw.load("arm7")
    some = lw.inverse_kinematics(arm, "tool", [0.3, 0.2, 0.6], joints=["joint1", "joint2", "joint4"])
    assert some.converged
    assert not some.q[[2, 4, 5, 6]].any()


def test_elastic_joints_have_their_motors_with_them():
    arm = lw.load("arm7")
    robot = arm.replace(replace(arm.joint("joint2"), armature=0.0, drive=lw.Drive(stiffness=1e4)))
    T = dynamics(arm).pose(np.full(7, 0.2), "tool")
    found = lw.inverse_kinematics(robot, "tool", T)
    assert found.converged
    assert found.q[robot.slots["joint2.motor"].q] == found.q[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pose": np.diag([2.0, 1.0, 1.0, 1.0])}, "1 of 1 are no poses"),
        ({"pose": np.diag([-1.0, 1.0, 1.0, 1.0])}, "expected a rotation"),
        ({"pose": np.zeros((5, 2))}, "got \\(5, 2\\)"),
        ({"pose": "home"}, "expected numbers for pose and mask, got 'home'"),
        ({"frame": "tol"}, "Did you mean 'tool'"),
        ({"guess": [0.0] * 6}, "\\(\\.\\.\\., 7\\)"),
        ({"guess": [np.nan] * 7}, "NaN or infinity"),
        ({"mask": (1, 1, 1)}, "six weights"),
        ({"mask": (0,) * 6}, "six weights"),
        ({"joints": ["joint8"]}, "Did you mean"),
        ({"joints": []}, "got none"),
        ({"tolerance": 0.0}, "above 0"),
        ({"restarts": -1}, "at least 0"),
        ({"prefer": {"joint1": np.nan}}, "prefer: expected finite positions by joint"),
    ],
)
def test_refusals(change, message):
    given = {"frame": "tool", "pose": np.eye(4), **change}
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.inverse_kinematics(lw.load("arm7"), **given)
