"""Motions of platforms in files: forms of turns, two axes of velocities, what is missing, and files read again."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise.motion import column_names, read, write
from linkwise.rotation import rpy
from support.machines import machine

HEXAPOD, DELTA, PLANAR = lw.gough_stewart(), lw.delta(), lw.three_rrr()
T = np.linspace(0.0, 2.0, 201)
A, B = 0.9, 1.4  # rad/s
RATES = ("vx", "vy", "vz", "wx", "wy", "wz")


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


def in_own_axes(pose, velocity, acceleration):
    """Velocity and acceleration of a floating joint, from those in world axes."""
    back = Rotation.from_quat(pose[:, 3:]).inv()
    v, w, a, w_dot = (back.apply(x) for y in (velocity, acceleration) for x in (y[:, :3], y[:, 3:]))
    return np.hstack([v, w]), np.hstack([a - np.cross(w, v), w_dot])


def csv(path, header, *columns):
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=header, comments="", fmt="%.17g")
    return path


def forms(folder, pose):
    """The same poses in every form that a file may have."""
    turn = Rotation.from_quat(pose[:, 3:])
    signs = np.where(np.arange(len(pose)) % 3, 1.0, -1.0)[:, None]
    p = pose[:, :3]
    np.savez(folder / "q.npz", t=T, q=pose)
    return [
        csv(folder / "q.csv", "t,x,y,z,qx,qy,qz,qw", T, p, signs * pose[:, 3:]),
        csv(folder / "p.csv", ",".join(["t", *column_names(HEXAPOD, "q")]), T, p, signs * pose[:, 3:]),
        csv(folder / "r.csv", "time,pose.x,pose.y,pose.z,rx,ry,rz", T, p, turn.as_rotvec()),
        csv(folder / "e.csv", "yaw,t,x,roll,y,z,pitch", turn.as_euler("xyz")[:, 2], T, p[:, 0],
            turn.as_euler("xyz")[:, 0], p[:, 1:], turn.as_euler("xyz")[:, 1]),
        folder / "q.npz",
    ]  # fmt: skip


def test_rates_are_those_of_the_motion_in_every_form(tmp_path):
    """A quaternion may jump between its two signs, a rotation vector and angles at half a turn."""
    pose, *motion = turning()
    qd, qdd = in_own_axes(pose, *motion)
    for path in forms(tmp_path, pose):
        found = read(path, HEXAPOD)
        same = np.abs(np.sum(found.q[:, 3:] * pose[:, 3:], axis=1))
        np.testing.assert_allclose(same, 1.0, rtol=0, atol=1e-14)
        np.testing.assert_allclose(found.qd, qd, rtol=0, atol=2e-7)
        np.testing.assert_allclose(found.qdd[5:-5], qdd[5:-5], rtol=0, atol=1e-7)
        assert found.origins == dict.fromkeys(("qd", "qdd"), "a quintic spline of q")


def test_angles_are_roll_pitch_yaw_of_robot_files(tmp_path):
    angles = [0.3, -0.4, 0.5]
    rows = np.tile([0.0, 0.0, 0.7, *angles], (6, 1))
    found = read(csv(tmp_path / "a.csv", "t,x,y,z,roll,pitch,yaw", T[:6], rows), HEXAPOD)
    np.testing.assert_allclose(Rotation.from_quat(found.q[0, 3:]).as_matrix(), np.array(rpy(*angles)), atol=1e-15)


def test_velocities_of_the_file_are_taken(tmp_path):
    """In world axes they are turned into those of the platform; in its own they are taken as they are."""
    pose, velocity, acceleration = turning()
    qd, qdd = in_own_axes(pose, velocity, acceleration)
    names = [*"xyz", "qx", "qy", "qz", "qw", *(f"{key}.{r}" for key in ("velocity", "acceleration") for r in RATES)]
    found = read(csv(tmp_path / "all.csv", ",".join(names), pose, velocity, acceleration), HEXAPOD)  # without times
    np.testing.assert_allclose(found.qd, qd, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.qdd, qdd, rtol=0, atol=1e-13)
    assert not found.timed
    assert found.origins == dict.fromkeys(("qd", "qdd"), "the file")
    names = [n for key in ("q", "qd", "qdd") for n in column_names(HEXAPOD, key)]
    found = read(csv(tmp_path / "own.csv", ",".join(names), pose, qd, qdd), HEXAPOD)
    np.testing.assert_array_equal(found.qd, qd)
    turn = Rotation.from_quat(pose[:, 3:]).as_rotvec()
    names = ["t", *"xyz", "rx", "ry", "rz", *(f"velocity.{r}" for r in RATES)]
    found = read(csv(tmp_path / "two.csv", ",".join(names), T, pose[:, :3], turn, velocity), HEXAPOD)
    np.testing.assert_allclose(found.qd, qd, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.qdd[5:-5], qdd[5:-5], rtol=0, atol=1e-7)
    assert found.origins == {"qd": "the file", "qdd": "a quintic spline of qd"}


def test_velocities_of_a_platform_that_does_not_turn(tmp_path):
    names = "x,y,z,velocity.vx,velocity.vy,velocity.vz,acceleration.vx,acceleration.vy,acceleration.vz"
    rows = np.random.default_rng(0).normal(size=(5, 9))
    found = read(csv(tmp_path / "a.csv", names, rows), DELTA)
    for key, part in zip(("q", "qd", "qdd"), np.split(rows, 3, axis=1), strict=True):
        np.testing.assert_array_equal(getattr(found, key), part)


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
@pytest.mark.parametrize("name", ["Gough-Stewart", "Delta", "3-RRR upright"])
def test_written_and_read_again(tmp_path, name, suffix):
    robot = machine(name).robot
    q, qd, qdd = machine(name).states(7)
    motion = lw.motion.Trajectory(T[:7], q, qd, qdd, True, {})
    tau, cut = np.full((7, robot.nu), np.nan), np.zeros((7, len(robot.loops), 6))
    write(tmp_path / f"a{suffix}", robot, motion, tau, cut=cut, meta={"a": 1})
    again = read(tmp_path / f"a{suffix}", robot)
    for key in ("t", "q", "qd", "qdd"):
        np.testing.assert_array_equal(getattr(again, key), getattr(motion, key))
    assert again.notes == ()


@pytest.mark.parametrize(
    ("robot", "header", "message"),
    [
        (HEXAPOD, "t,x,y,z", r"a\.csv:1: expected a column for every joint, got none for 'platform.qx'"),
        (HEXAPOD, "t,x,y,z,qx,qy,qz,qw,rx,ry,rz", "got qx, qy, qz, qw and rx, ry, rz. Give one"),
        (HEXAPOD, "t,x,y,z,rx,ry", r"expected columns rx, ry, rz, got none for 'rz'"),
        (HEXAPOD, "t,x,y,rx,ry,rz", r"got none for 'platform.z'"),
        (HEXAPOD, "x,y,z,rx,ry,rz", "expected a column 't' or 'time', needed to differentiate the positions"),
        (HEXAPOD, "t,x,y,z,rx,ry,rz,vx", "unknown column 'vx'.*--ignore-extra"),
        (HEXAPOD, "t,x,y,z,rx,ry,rz,velocity.vx", "expected all columns of velocity or none, got none for 'velocity.v"),
        (HEXAPOD, "t,x,y,z,rx,ry,rz,pose.x", "expected each column once, got 'x' and 'pose.x'"),
        (HEXAPOD, "t,x,y,z,rx,ry,rz,platform.x", "expected each column once, got 'x' and 'platform.x'"),
        (HEXAPOD, "t,x,y,z,qx,qy,qz,qw", "joint 'platform': expected a unit quaternion .* length 2"),
        (
            HEXAPOD,
            f"t,x,y,z,rx,ry,rz,{','.join(f'acceleration.{r}' for r in RATES)}",
            r"expected columns velocity\.\* beside acceleration\.\*, got none",
        ),
        (
            DELTA,
            "t,x,y,z,velocity.vx,velocity.vy,velocity.vz,qd.platform.vx,qd.platform.vy,qd.platform.vz",
            "expected 'qd.platform.vx' or 'velocity.vx', got both",
        ),
        (DELTA, "t,x,y,z,rx,ry,rz", "unknown column 'rx'"),
        (DELTA, "t,x,y", "got none for 'platform.z'"),
        (PLANAR, "t,x,y,angle,z", "unknown column 'z'"),
        (PLANAR, "t,x,y", "got none for 'platform.angle'"),
        (PLANAR, "t,leg1.motor,leg2.motor,leg3.motor", "got none for 'platform.x', 'platform.y'"),
    ],
)
def test_columns_that_do_not_fit(tmp_path, robot, header, message):
    count = header.count(",")
    path = csv(tmp_path / "a.csv", header, T[:9], np.ones((9, count)))
    with pytest.raises(lw.InputError, match=message):
        read(path, robot)


def test_other_faults(tmp_path):
    path = csv(tmp_path / "a.csv", "t,x,y,z,me", T[:3], np.ones((3, 4)))
    with pytest.raises(lw.InputError, match=r"at least 4 rows to differentiate, got 3.*qd\.\*"):
        read(path, DELTA, ignore_extra=True)
    path = csv(tmp_path / "a.csv", "t,x,y,z,me", T[:4], np.ones((4, 4)))
    assert read(path, DELTA, ignore_extra=True).notes == ("not used: me",)
    np.savez(tmp_path / "q.npz", t=T, pose=np.ones((201, 3)))
    with pytest.raises(lw.InputError, match=r"unknown array 'pose'.*'q'"):
        read(tmp_path / "q.npz", DELTA)
    np.savez(tmp_path / "w.npz", t=T, q=np.ones((201, 6)))
    with pytest.raises(lw.InputError, match=r"array 'q': expected the shape \(rows, 7\), got \(201, 6\).*platform\.qw"):
        read(tmp_path / "w.npz", HEXAPOD)
    for wrong in (np.nan, np.inf):
        bad = np.ones((9, 6))
        bad[4, 4] = wrong
        with pytest.raises(lw.InputError, match=r"a\.csv:6:.*: expected a finite number"):
            read(csv(tmp_path / "a.csv", "t,x,y,z,rx,ry,rz", T[:9], bad), HEXAPOD)
