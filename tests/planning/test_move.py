"""Motions of a tool along lines and arcs, and what is preferred in inverse kinematics."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise.planning import following
from support.every_machine import elastic

SEVEN = np.array([0.3, 0.6, -0.2, 1.2, 0.1, 0.7, 0.2])
SIX = np.array([0.2, -0.3, 0.5, 0.1, 0.9, 0.3])


@pytest.fixture(scope="module")
def seven():
    return lw.load("arm7").without_friction()


@pytest.fixture(scope="module")
def six():
    return lw.load("industrial6").without_friction()


def pose(robot, q, frame="tool"):
    return np.asarray(lw.compile(robot).pose(q, frame))


def shifted(p, *by):
    return p + np.array(by)


def off(robot, motion, start, end, frame="tool", finer=20):
    """Largest deviations from the straight line, m and degrees, on a grid much finer than that of the samples."""
    s = np.linspace(0.0, 1.0, finer * motion.facts["samples"] + 7)
    T = pose(robot, motion.path(s), frame)
    place = T[:, :3, 3] - (start[:3, 3] + s[:, None] * (end[:3, 3] - start[:3, 3]))
    whole = Rotation.from_matrix(start[:3, :3].T @ end[:3, :3]).as_rotvec()
    wanted = start[:3, :3] @ Rotation.from_rotvec(s[:, None] * whole).as_matrix()
    turn = Rotation.from_matrix(np.swapaxes(wanted, 1, 2) @ T[:, :3, :3]).magnitude()
    return np.linalg.norm(place, axis=1).max(), np.degrees(turn.max())


@pytest.mark.parametrize(
    ("robot_name", "q"), [("arm7", SEVEN), ("industrial6", SIX)], ids=["seven joints", "six joints"]
)
def test_half_a_metre_is_straight_between_samples_too(robot_name, q):
    robot = lw.load(robot_name)
    start = pose(robot, q)
    end = start.copy()
    end[:3, 3] += (0.0, -0.5, 0.0)
    end[:3, :3] = end[:3, :3] @ Rotation.from_rotvec([0.0, 0.0, 0.4]).as_matrix()
    motion = lw.move(robot, q, end)
    m, degrees = off(robot, motion, start, end)
    assert m < 1e-5
    assert degrees < 0.005
    assert motion.facts["length"] == pytest.approx(0.5)
    assert motion.facts["angle"] == pytest.approx(0.4)
    assert motion.facts["position_deviation"] == pytest.approx(m, abs=1e-6)
    assert np.abs(np.diff(motion.q, axis=0)).max() < 0.02  # no leap of a joint in a millisecond
    assert np.array_equal(motion.q[0], q)
    assert np.abs(pose(robot, motion.q[-1]) - end).max() < 1e-6
    assert max(use.share for use in motion.uses.values()) <= 1.001


def test_the_tool_keeps_its_rotation_when_it_goes_to_a_point(six):
    start = pose(six, SIX)
    motion = lw.move(six, SIX, start[:3, 3] + [-0.1, 0.2, 0.1], frame="tool")
    assert np.abs(pose(six, motion.q)[:, :3, :3] - start[:3, :3]).max() < 1e-6
    by = lw.move(six, dict(zip(six.names, SIX, strict=True)), by=(-0.1, 0.2, 0.1))
    assert np.abs(by.q[-1] - motion.q[-1]).max() < 1e-8


def test_steps_in_axes_of_the_tool(six):
    start = pose(six, SIX)
    motion = lw.move(six, SIX, by=lw.Pose.of((0.0, 0.0, -0.1), rpy=(0.0, 0.0, 0.3)), axes="tool")
    step = np.linalg.inv(start) @ pose(six, motion.q[-1])
    assert np.abs(step - lw.Pose.of((0.0, 0.0, -0.1), rpy=(0.0, 0.0, 0.3)).matrix()).max() < 1e-6


def test_a_turn_on_the_spot(six):
    motion = lw.move(six, SIX, by=lw.Pose.of((0, 0, 0), rpy=(0.5, 0, 0)), axes="tool", turn_speed=1.0)
    T = pose(six, motion.q)
    assert np.abs(T[:, :3, 3] - T[0, :3, 3]).max() < 1e-6
    assert motion.duration > 0.5
    assert motion.uses["velocity"].joint == "tool turn"


@pytest.mark.parametrize("arc", [False, True])
def test_speed_and_acceleration_of_the_tool(six, arc):
    p = pose(six, SIX)[:3, 3]
    through = {"through": shifted(p, 0.1, 0.2, 0.05)} if arc else {}
    motion = lw.move(six, SIX, by=(0.0, 0.4, 0.0), speed=0.5, tool_acceleration=1.0, **through)
    moved = pose(six, motion.q)[:, :3, 3]
    v = np.gradient(moved, motion.t, axis=0)
    a = np.linalg.norm(np.gradient(v, motion.t, axis=0), axis=1)[3:-3]
    speed = np.linalg.norm(v, axis=1)
    assert speed.max() < 0.5 * 1.0001
    assert a.max() < 1.0 * 1.001
    if not arc:  # a trapezium: 0.5 s up, 0.5 s down, and what is left at 0.5 m/s
        assert motion.duration == pytest.approx(0.5 + 0.4 / 0.5, rel=1e-3)
        assert np.mean(speed > 0.4999) > 0.2
    else:
        centre, radius = _circle(p, through["through"], shifted(p, 0.0, 0.4, 0.0))
        assert np.abs(np.linalg.norm(moved - centre, axis=1) - radius).max() < 1e-6
        assert np.linalg.norm(moved - through["through"], axis=1).min() < 1e-3
        assert a.max() > 0.97  # all of it is used


def _circle(a, b, c):
    """Centre and radius by equal distances, in the plane of three points."""
    n = np.cross(b - a, c - a)
    centre = np.linalg.solve([b - a, c - a, n], [0.5 * (b @ b - a @ a), 0.5 * (c @ c - a @ a), n @ a])
    return centre, np.linalg.norm(a - centre)


def test_a_tool_that_follows_its_arc_keeps_its_angle_to_it(six):
    p = pose(six, SIX)[:3, 3]
    motion = lw.move(six, SIX, shifted(p, 0.0, 0.3, 0.0), through=shifted(p, 0.05, 0.15, 0.02), follow=True, speed=0.3)
    T = pose(six, motion.q)
    along = np.gradient(T[:, :3, 3], motion.t, axis=0)[10:-10]
    along /= np.linalg.norm(along, axis=1)[:, None]
    seen = np.einsum("kji,kj->ki", T[10:-10, :3, :3], along)  # in the tool's axes
    assert np.abs(seen - seen[0]).max() < 1e-3
    assert motion.facts["angle"] == pytest.approx(
        motion.facts["length"] / _circle(p, shifted(p, 0.05, 0.15, 0.02), shifted(p, 0, 0.3, 0))[1]
    )


def test_limits_of_rates_hold_along_lines_too(six):
    motion = lw.move(six, SIX, by=(0.0, 0.3, 0.0), speed=0.6, jerk=300.0, effort_rate=6000.0, intervals=80)
    assert motion.tau_dot is not None
    assert {name: use.share <= 1.001 for name, use in motion.uses.items()} == dict.fromkeys(motion.uses, True)
    assert np.linalg.norm(np.gradient(pose(six, motion.q)[:, :3, 3], motion.t, axis=0), axis=1).max() < 0.6 * 1.001


def test_what_is_free_is_used_along_the_whole_line(seven):
    """From a posture near a limit the middle of the joints' ranges is sought; each sample alone would stay there."""
    limits = np.array([[seven.joint(n).limits.lower, seven.joint(n).limits.upper] for n in seven.names])
    start = lw.inverse_kinematics(seven, "tool", pose(seven, SEVEN), SEVEN, prefer={"joint3": 1.6}).q
    assert start[2] > 1.2

    def used(prefer):
        motion = lw.move(seven, start, by=(0.0, -0.3, 0.0), prefer=prefer)
        share = np.abs((2.0 * motion.q - limits.sum(axis=1)) / np.diff(limits, axis=1).T)
        return float((share**2).sum(axis=1)[-1]), motion

    middle, _ = used("middle")
    stays, motion = used(start)
    assert middle < 0.95 * stays
    assert np.abs(motion.q[-1] - start).max() < 1.5


def test_a_line_is_followed_if_some_use_of_what_is_free_follows_it(seven, monkeypatch):
    """Least motion leads this line into a limit, and so does leaning to the middle; a search finds what does not."""
    q, by = np.array([-2.6, 0.23, 1.87, 0.86, 1.8, -0.02, 2.33]), (-0.18, 0.0, -0.24)
    motion = lw.move(seven, q, by=by)
    start = pose(seven, q)
    end = start.copy()
    end[:3, 3] += by
    m, degrees = off(seven, motion, start, end)
    assert m < 1e-5
    assert degrees < 0.005
    assert np.array_equal(motion.q[0], q)
    assert np.abs(np.diff(motion.q, axis=0)).max() < 0.02  # no leap of a joint in a millisecond
    limits = [seven.joint(name).limits for name in seven.names]
    assert (motion.q >= [x.lower - 1e-9 for x in limits]).all()
    assert (motion.q <= [x.upper + 1e-9 for x in limits]).all()

    def lost(self, course, s, q0):
        raise following.Lost(0.0, q0)

    monkeypatch.setattr(following.Follower, "_searched", lost)
    with pytest.raises(lw.InputError, match="the tool cannot go on"):
        lw.move(seven, q, by=by)


def test_a_free_direction_lets_six_joints_do_more(six):
    motion = lw.move(six, SIX, by=(0.0, 0.3, 0.0), mask=(1, 1, 1, 1, 1, 0))
    T = pose(six, motion.q)
    assert np.abs(T[:, :3, 2] - T[0, :3, 2]).max() < 1e-6  # the tool's own axis is kept
    assert np.abs(T[-1, :3, 0] - T[0, :3, 0]).max() > 1e-3  # about which it has turned


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"by": (0.0, 0.0, 1.5)},
            r"goal is out of reach: the tool gets no further than 0\.\d+ m of 1.5 m",
        ),
        ({}, "either to=... or by=..., got neither"),
        ({"to": (1, 2, 3), "by": (1, 2, 3)}, "got both"),
        ({"to": (1, 2)}, "expected a Pose, a 4 by 4 matrix or a position"),
        ({"by": (0, 0, 0)}, "expected a goal away from the start"),
        ({"by": (0, 0.2, 0), "through": "middle"}, "beside the line from the start to the goal"),
        ({"by": (0, 0.2, 0), "follow": True}, "expected an arc"),
        ({"by": (0, 0.2, 0), "frame": "gripper"}, "gripper"),
        ({"by": (0, 0.2, 0), "axes": "base"}, "expected 'world' or 'tool'"),
        ({"by": (0, 0.2, 0), "speed": -1.0}, "speed"),
        ({"by": (0, 0.2, 0), "prefer": "elbow"}, "'middle', 'manipulability'"),
    ],
)
def test_what_cannot_be_is_said_in_words(seven, change, words):
    if change.get("through") == "middle":
        change = {**change, "through": pose(seven, SEVEN)[:3, 3] + [0.0, 0.1, 0.0]}
    with pytest.raises(lw.LinkwiseError, match=words):
        lw.move(seven, SEVEN, **change)


def test_a_robot_without_frames_is_asked_for_one_of_its_last_links():
    with pytest.raises(lw.InputError, match=r"Give frame=..., such as link2\."):
        lw.move(lw.load("rr"), [0.5, -1.0], by=(0.1, 0.0, 0.0))


def test_limits_and_singular_places_are_named_with_their_place():
    robot = lw.load("puma560").without_friction()
    q = np.array([0.3, -0.6, 0.3, 0.2, 0.6, 0.1])
    limits = {"frame": "link6", "velocity": 2.0}
    with pytest.raises(lw.InputError, match=r"0.1882 m of 0.8315 m along its way: 'joint3' at its limit 0.7854"):
        lw.move(robot, q, (-0.3, 0.1, 0.2), **limits)
    straight = [0.2, -0.5, 0.0, 0.4, 0.0, 0.4]  # the axes of roll and turn are one
    with pytest.raises(lw.InputError, match=r"of 0.3113 m along its way: the robot is singular there"):
        lw.move(lw.load("industrial6"), straight, by=(0.02, -0.31, -0.02))
    tight = robot.replace(joints=[_within(j, -0.7, -0.5) if j.name == "joint2" else j for j in robot.joints])
    with pytest.raises(lw.InputError, match=r"m along its way.*'joint2' at its limit -0.[57]"):
        lw.move(tight, q, by=(0.25, 0.0, 0.0), **limits)
    with pytest.raises(lw.InputError, match=r"start: expected positions within limits, got 'joint2' at -0.9"):
        lw.move(tight, [0.3, -0.9, 0.3, 0.2, 0.6, 0.1], by=(0.1, 0.0, 0.0), **limits)


def _within(joint, lower, upper):
    from dataclasses import replace

    return replace(joint, limits=replace(joint.limits, lower=lower, upper=upper))


def test_elastic_drives_and_loops(six):
    soft = elastic(six, {"shoulder"})
    motion = lw.move(soft, SIX, by=(0.0, 0.2, 0.0), speed=0.5, velocity=2.0, intervals=60)
    assert np.abs(pose(six, motion.q)[:, :3, :3] - pose(six, SIX)[:3, :3]).max() < 1e-6
    five = lw.load("fivebar")
    frame = five.frames[0].name if five.frames else five.links[-1].name
    q = five.q()
    p = pose(five, q, frame)[:3, 3]
    planar = lw.move(five, q, shifted(p, 0.02, 0.0, -0.03), frame=frame, mask=(1, 1, 1, 0, 0, 0), velocity=2.0)
    assert planar.facts["position_deviation"] < 1e-5


def test_results_are_tables_and_pictures_and_are_sent(six, tmp_path):
    import pickle

    motion = lw.move(six, SIX, by=(0.0, 0.2, 0.0), speed=0.4)
    motion.save(tmp_path / "line.csv")
    assert np.allclose(lw.motion.read(tmp_path / "line.csv", six).q, motion.q)
    motion.plot(tmp_path / "line.png")
    assert (tmp_path / "line.png").stat().st_size > 10_000
    again = pickle.loads(pickle.dumps(motion))
    assert np.array_equal(again(0.1)[0], motion(0.1)[0])
    assert again.uses == motion.uses


# ---- what is preferred in inverse kinematics


def test_preferences_keep_the_pose_and_are_stationary(seven):
    """The slope of what is preferred has no part left along postures in which the frame stays."""
    dyn, rng = lw.compile(seven), np.random.default_rng(2)
    q = SEVEN + rng.uniform(-0.4, 0.4, (20, 7))
    T = dyn.pose(q, "tool")
    limits = np.array([[seven.joint(n).limits.lower, seven.joint(n).limits.upper] for n in seven.names])
    middle, half = limits.mean(axis=1), 0.5 * np.diff(limits, axis=1)[:, 0]
    for prefer, slope in (("middle", lambda x: (x - middle) / half**2), (SEVEN, lambda x: x - SEVEN)):
        found = lw.inverse_kinematics(seven, "tool", T, q, prefer=prefer)
        assert found.converged.all()
        assert np.abs(dyn.pose(found.q, "tool") - T).max() < 1e-7
        Z = np.linalg.svd(dyn.jacobian(found.q, "tool"))[2][:, -1]
        inside = ((found.q > limits[:, 0] + 1e-6) & (found.q < limits[:, 1] - 1e-6)).all(axis=1)
        left = np.abs(np.einsum("ki,ki->k", Z, slope(found.q)))[inside]
        assert np.median(left) < 1e-4
        assert left.max() < 1e-2


def test_manipulability_rises(seven):
    dyn = lw.compile(seven)
    T = dyn.pose(SEVEN, "tool")

    def measure(q):
        J = dyn.jacobian(q, "tool")
        return np.sqrt(np.linalg.det(J @ J.T))

    found = lw.inverse_kinematics(seven, "tool", T, SEVEN, prefer="manipulability")
    assert found.converged
    assert measure(found.q) > measure(SEVEN)
    turned = lw.inverse_kinematics(seven, "tool", T, SEVEN, prefer={"joint3": 0.4})
    assert turned.q[2] == pytest.approx(0.4, abs=1e-4)


def test_without_what_is_free_nothing_changes(six):
    T = pose(six, SIX)
    plain, preferred = (lw.inverse_kinematics(six, "tool", T, SIX + 0.05, prefer=p) for p in (None, "middle"))
    assert np.abs(plain.q - preferred.q).max() < 1e-6
    with pytest.raises(lw.InputError, match="without loops"):
        lw.inverse_kinematics(lw.load("fivebar"), lw.load("fivebar").links[-1].name, np.zeros(3), prefer="middle")
