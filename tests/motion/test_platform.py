"""Motions of platforms in files: forms of turns, world axes, what is missing, and files written and read again."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise.motion.platform import platform_columns, read_platform, write_platform
from linkwise.parallel.home import home_pose
from linkwise.rotation import rpy
from support.machines import NAMES, machine

HEXAPOD, DELTA, PLANAR = lw.gough_stewart(), lw.delta(), lw.three_rrr()
T = np.linspace(0.0, 2.0, 201)
A, B = 0.9, 1.4  # rad/s


def turning():
    """Poses of a body that turns as Rz(A t) Rx(B t), with its velocity and acceleration in world axes."""
    turn = Rotation.from_euler("z", A * T[:, None]) * Rotation.from_euler("x", B * T[:, None])
    x = Rotation.from_euler("z", A * T[:, None]).apply([1.0, 0.0, 0.0])
    omega = A * np.array([0.0, 0.0, 1.0]) + B * x
    omega_dot = A * B * np.cross([0.0, 0.0, 1.0], x)
    p = np.stack([np.sin(T), np.cos(2 * T), T**2], axis=1)
    v = np.stack([np.cos(T), -2 * np.sin(2 * T), 2 * T], axis=1)
    a = np.stack([-np.sin(T), -4 * np.cos(2 * T), np.full_like(T, 2.0)], axis=1)
    return np.hstack([p, turn.as_quat()]), np.hstack([v, omega]), np.hstack([a, omega_dot])


def csv(path, header, *columns):
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=header, comments="", fmt="%.17g")
    return path


def forms(folder, pose):
    """The same poses in every form that a file may have."""
    turn = Rotation.from_quat(pose[:, 3:])
    signs = np.where(np.arange(len(pose)) % 3, 1.0, -1.0)[:, None]
    p = pose[:, :3]
    np.savez(folder / "q.npz", t=T, pose=pose)
    return [
        csv(folder / "q.csv", "t,x,y,z,qx,qy,qz,qw", T, p, signs * pose[:, 3:]),
        csv(folder / "r.csv", "time,pose.x,pose.y,pose.z,rx,ry,rz", T, p, turn.as_rotvec()),
        csv(folder / "e.csv", "yaw,t,x,roll,y,z,pitch", turn.as_euler("xyz")[:, 2], T, p[:, 0],
            turn.as_euler("xyz")[:, 0], p[:, 1:], turn.as_euler("xyz")[:, 1]),
        folder / "q.npz",
    ]  # fmt: skip


def test_rates_are_those_of_the_motion_in_every_form(tmp_path):
    """A quaternion may jump between its two signs, a rotation vector and angles at half a turn."""
    pose, velocity, acceleration = turning()
    for path in forms(tmp_path, pose):
        motion = read_platform(path, HEXAPOD)
        same = np.abs(np.sum(motion.pose[:, 3:] * pose[:, 3:], axis=1))
        np.testing.assert_allclose(same, 1.0, rtol=0, atol=1e-14)
        np.testing.assert_allclose(motion.velocity, velocity, rtol=0, atol=2e-7)
        np.testing.assert_allclose(motion.acceleration[5:-5], acceleration[5:-5], rtol=0, atol=1e-7)
        assert motion.origins == dict.fromkeys(("velocity", "acceleration"), "a quintic spline of pose")


def test_angles_are_roll_pitch_yaw_of_robot_files(tmp_path):
    angles = [0.3, -0.4, 0.5]
    rows = np.tile([0.0, 0.0, 0.7, *angles], (6, 1))
    motion = read_platform(csv(tmp_path / "a.csv", "t,x,y,z,roll,pitch,yaw", T[:6], rows), HEXAPOD)
    np.testing.assert_allclose(Rotation.from_quat(motion.pose[0, 3:]).as_matrix(), np.array(rpy(*angles)), atol=1e-15)


def test_velocities_of_the_file_are_taken(tmp_path):
    pose, velocity, acceleration = turning()
    names = [n for key in ("pose", "velocity", "acceleration") for n in platform_columns(HEXAPOD, key)]
    path = csv(tmp_path / "all.csv", ",".join(names), pose, velocity, acceleration)
    motion = read_platform(path, HEXAPOD)  # without times
    np.testing.assert_array_equal(motion.velocity, velocity)
    np.testing.assert_array_equal(motion.acceleration, acceleration)
    assert not motion.timed
    np.savez(tmp_path / "two.npz", t=T, pose=pose, velocity=velocity)
    motion = read_platform(tmp_path / "two.npz", HEXAPOD)
    np.testing.assert_allclose(motion.acceleration[5:-5], acceleration[5:-5], rtol=0, atol=1e-8)
    assert motion.origins == {"velocity": "the file", "acceleration": "a quintic spline of velocity"}


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
@pytest.mark.parametrize("name", ["Gough-Stewart", "Delta", "3-RRR upright"])
def test_written_and_read_again(tmp_path, name, suffix):
    robot = machine(name).robot
    pose, velocity, acceleration = machine(name).states(7)
    arrays = {"t": T[:7], "pose": pose, "velocity": velocity, "acceleration": acceleration}
    extra = {"positions": pose[:, : robot.na] * 0.0, "forces": np.full((7, robot.na), np.nan), "condition": T[:7]}
    legs = {"leg_forces": np.zeros((7, len(robot.legs), 3)), "energy": np.ones((7, 2))}
    write_platform(tmp_path / f"a{suffix}", robot, {**arrays, **extra, **legs}, {"a": 1}, ("kinetic", "potential"))
    motion = read_platform(tmp_path / f"a{suffix}", robot)
    for key in ("t", "velocity", "acceleration"):
        np.testing.assert_array_equal(getattr(motion, key), arrays[key])
    np.testing.assert_allclose(motion.pose, pose, rtol=0, atol=1e-15)
    assert motion.notes == ()


@pytest.mark.parametrize(
    ("robot", "header", "message"),
    [
        (HEXAPOD, "t,x,y,z", r"a\.csv:1: expected the platform's turn as columns qx, qy, qz, qw or rx, .*, got none"),
        (HEXAPOD, "t,x,y,z,qx,qy,qz,qw,rx,ry,rz", "got qx, qy, qz, qw and rx, ry, rz. Give one"),
        (HEXAPOD, "t,x,y,z,rx,ry", r"expected columns rx, ry, rz, got none for 'rz'"),
        (HEXAPOD, "t,x,y,rx,ry,rz", r"expected columns x, y, z .* 'spatial', got none for 'z'"),
        (HEXAPOD, "x,y,z,rx,ry,rz", "expected a column 't' or 'time', needed to differentiate the poses"),
        (HEXAPOD, "t,x,y,z,rx,ry,rz,vx", "unknown column of a platform 'vx'.*'velocity.vx'.*--ignore-extra"),
        (HEXAPOD, "t,x,y,z,rx,ry,rz,velocity.vx", "expected all columns of velocity or none, got none for 'velocity.v"),
        (HEXAPOD, "t,x,y,z,rx,ry,rz,pose.x", "expected each column once, got 'x' and 'pose.x'"),
        (HEXAPOD, "t,x,y,z,qx,qy,qz,qw", "platform: expected a unit quaternion .* length 2"),
        (DELTA, "t,x,y,z,rx,ry,rz", "unknown column of a platform 'rx'"),
        (DELTA, "t,x,y", "'translation', got none for 'z'"),
        (PLANAR, "t,x,y,z", "unknown column of a platform 'z'.*'angle'"),
        (PLANAR, "t,x,y", "'planar', got none for 'angle'"),
        (PLANAR, "t,leg1.motor,leg2.motor,leg3.motor", "unknown column of a platform 'leg1.motor'"),
    ],
)
def test_columns_that_do_not_fit(tmp_path, robot, header, message):
    count = header.count(",")
    path = csv(tmp_path / "a.csv", header, T[:9], np.ones((9, count)))
    with pytest.raises(lw.InputError, match=message):
        read_platform(path, robot)


def test_other_faults(tmp_path):
    path = csv(tmp_path / "a.csv", "t,x,y,z,me", T[:3], np.ones((3, 4)))
    with pytest.raises(lw.InputError, match=r"at least 4 rows to differentiate, got 3.*velocity\.\*"):
        read_platform(path, DELTA, ignore_extra=True)
    path = csv(tmp_path / "a.csv", "t,x,y,z,me", T[:4], np.ones((4, 4)))
    assert read_platform(path, DELTA, ignore_extra=True).notes == ("not used: me",)
    np.savez(tmp_path / "q.npz", t=T, q=np.ones((201, 3)))
    with pytest.raises(lw.InputError, match=r"unknown array 'q'.*'pose'"):
        read_platform(tmp_path / "q.npz", DELTA)
    np.savez(tmp_path / "w.npz", t=T, pose=np.ones((201, 6)))
    with pytest.raises(lw.InputError, match=r"array 'pose': expected the shape \(rows, 7\), got \(201, 6\).*pose\.qw"):
        read_platform(tmp_path / "w.npz", HEXAPOD)
    np.savez(tmp_path / "l.npz", t=T[:9], pose=np.ones((8, 3)))
    with pytest.raises(lw.InputError, match="as many rows each, got t 9, pose 8"):
        read_platform(tmp_path / "l.npz", DELTA)
    with pytest.raises(lw.InputError, match=r"expected a .csv or .npz file"):
        read_platform("motion.txt", DELTA)
    with pytest.raises(lw.InputError, match="expected a file that can be read"):
        read_platform("nowhere.csv", DELTA)


@pytest.mark.parametrize("name", NAMES)
def test_where_legs_are_at_home(name):
    """The homes of random machines meet at a known pose; those of built ones are symmetric."""
    robot, home = machine(name).robot, machine(name).home
    pose = home_pose(robot)
    assert machine(name).par.workspace(pose).reachable
    if name[0].isdigit() and name != "3-RRR upright":
        expected = np.concatenate([home[:3], home[3:] / np.linalg.norm(home[3:])]) if robot.nq == 7 else home
        np.testing.assert_allclose(pose, expected, rtol=0, atol=1e-9)


def test_the_home_of_the_hexapod():
    np.testing.assert_allclose(home_pose(HEXAPOD), [0, 0, 0.75, 0, 0, 0, 1], rtol=0, atol=1e-12)
