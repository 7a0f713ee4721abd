"""Robots saved as URDF: the same torques and poses, here and in Pinocchio, and sentences about what is not carried."""

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from linkwise.errors import InputError
from linkwise.formats.rigid_tree import rigid_tree
from linkwise.formats.urdf import load_urdf
from linkwise.formats.urdf_writer import to_urdf
from linkwise.rotation import axis_angle, rpy, rpy_of
from linkwise.vector import Vec3
from support.everything import everything, pose_error, torque_error
from support.pinocchio_bridge import model, random_states, rnea

EASY = {"kinds": ("revolute", "continuous", "prismatic"), "mimic": 0.3}


def again(robot):
    """The robot after a trip through URDF, and what it lost."""
    text, lost = to_urdf(robot)
    return load_urdf(text), lost


# ---- the same robot


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_keep_their_torques(seed):
    robot = lw.random_tree(seed, 10, floating=seed % 2 == 0, frames=3, **EASY)
    saved, lost = again(robot)
    assert saved.names == robot.opened().names
    assert torque_error(robot, saved) < 1e-13
    assert {s.split(":")[0] for s in lost} == {f"link 'link{k}'" for k in range(1, 11)}  # their frames are moved


@pytest.mark.parametrize("seed", range(10))
def test_without_anchors_nothing_is_lost(seed):
    robot = lw.random_tree(seed, 8, floating=seed % 2 == 0, frames=3, **EASY)
    robot = robot.replace(*(replace(j, anchor=(0.0, 0.0, 0.0)) for j in robot.joints))
    saved, lost = again(robot)
    assert lost == ()
    assert torque_error(robot, saved) < 1e-13
    assert pose_error(robot, saved) < 1e-14
    assert all(saved.link(k.name) == k for k in robot.links)


@pytest.mark.parametrize("seed", range(5))
def test_friction_is_kept(seed):
    robot = lw.random_tree(seed, 6, friction=1.0, frames=0)
    joints = [replace(j, friction=replace(j.friction, law="coulomb")) for j in robot.joints]
    robot = robot.replace(joints=joints)
    assert torque_error(robot, again(robot)[0]) < 1e-13


@pytest.mark.parametrize("name", ["stanford", "puma560", "rr", "pr", "scara", "industrial6", "arm7", "snake6"])
def test_bundled_robots_keep_their_torques(name):
    robot = lw.load(name)
    saved, _ = again(robot)
    bare = robot.replace(*(replace(j, armature=0.0) for j in robot.joints))
    assert torque_error(bare, saved.replace(gravity=robot.gravity)) < 1e-13


def test_pinocchio_agrees(tmp_path):
    for seed in range(5):
        robot = lw.random_tree(seed, 8, floating=seed % 2 == 0, kinds=EASY["kinds"])
        lw.save(robot, tmp_path / "tree.urdf")
        theirs = model(tmp_path / "tree.urdf")
        q, qd, qdd = random_states(robot, 3)
        tau = lw.compile(robot).inverse_dynamics(q, qd, qdd)
        np.testing.assert_allclose(rnea(robot, theirs, q, qd, qdd), tau, rtol=0, atol=1e-12 * np.abs(tau).max())


def test_pinocchio_reads_what_is_unlimited(tmp_path):
    lw.save(lw.load("stanford"), tmp_path / "arm.urdf")
    assert pin.buildModelFromUrdf(str(tmp_path / "arm.urdf")).nv == 6


# ---- rotations


@pytest.mark.parametrize("pitch", [0.0, 1.0, math.pi / 2, -math.pi / 2, math.pi / 2 - 1e-9, 1e-9 - math.pi / 2])
def test_angles_of_a_rotation(pitch):
    rng = np.random.default_rng(1)
    for roll, yaw in rng.uniform(-math.pi, math.pi, (50, 2)):
        R = rpy(roll, pitch, yaw)
        assert np.abs(np.array(rpy(*rpy_of(R))) - np.array(R)).max() < 1e-15


def test_angles_of_quarter_turns():
    for axis in (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)):
        for k in range(-4, 5):
            R = axis_angle(axis, k * math.pi / 2)
            assert np.abs(np.array(rpy(*rpy_of(R))) - np.array(R)).max() < 1e-15


# ---- what a URDF says


def pair(**joint):
    """Two links and a joint."""
    return lw.Robot([lw.Link("a"), lw.Link("b", 1.0)], [lw.Joint("j", "a", "b", **joint)])


@pytest.mark.parametrize(
    ("joint", "kind", "limits"),
    [
        ({}, "continuous", lw.Limits()),
        ({"limits": lw.Limits(-1, 2, 3, effort=4)}, "revolute", lw.Limits(-1, 2, 3, effort=4)),
        ({"limits": lw.Limits(velocity=3)}, "continuous", lw.Limits(velocity=3)),
        ({"kind": "prismatic"}, "prismatic", lw.Limits()),
        ({"kind": "prismatic", "limits": lw.Limits(0, 0)}, "prismatic", lw.Limits(0, 0)),
        ({"limits": lw.Limits(-1e16, 1e16)}, "revolute", lw.Limits(-1e16, 1e16)),
    ],
)
def test_limits_that_are_kept(joint, kind, limits):
    saved, lost = again(pair(**joint))
    assert (saved.joints[0].kind, saved.joints[0].limits, lost) == (kind, limits, ())


@pytest.mark.parametrize(
    ("joint", "sentence"),
    [
        ({"armature": 1.0}, "joint 'j': left out: armature."),
        ({"friction": lw.Friction(1, 2, "tanh")}, "joint 'j': left out: tanh law of friction."),
        ({"spring": lw.Spring(5.0, 1.0)}, "joint 'j': left out: spring."),
        ({"drive": lw.Drive(gear=5, stiffness=7)}, "joint 'j': left out: gear ratio, elasticity of the drive."),
        ({"drive": lw.Drive(power=5, curve=[(0, 1)])}, "joint 'j': left out: torque-speed curve, supply limit."),
        ({"drive": lw.Drive(lw.Motor(mass=1.0))}, "joint 'j': left out: motor (its mass stays, on link 'a')."),
        ({"limits": lw.Limits(jerk=5)}, "joint 'j': left out: jerk limit."),
        ({"limits": lw.Limits(effort_rate=5, acceleration=3)}, "left out: acceleration limit, effort rate limit."),
        ({"limits": lw.Limits(-1, 1, effort=0)}, "joint 'j': left out: effort limit of 0."),
        ({"limits": lw.Limits(-1)}, "joint 'j': left out: infinite position limit (1e9 stands for it)."),
        ({"kind": "continuous", "limits": lw.Limits(-1, 1)}, "joint 'j': left out: position limits."),
        ({"anchor": (0, 1, 0)}, "link 'b': its own frame is left out; it is moved by (0.0, 1.0, 0.0) to its joint."),
    ],
)
def test_what_is_lost_is_said(joint, sentence):
    _, (lost,) = again(pair(**joint))
    assert sentence in lost


def test_what_else_is_lost():
    robot = pair().replace(gravity=(0, 0, 0), loops=[lw.Loop("l", "a", "b")], frames=[lw.Frame("b", "a")])
    saved, lost = again(robot)
    assert lost == (
        "loop 'l': left out; the tree remains.",
        "gravity (0.0, 0.0, 0.0): left out; URDF knows (0.0, 0.0, -9.81) only.",
        "frame 'b': its name, which is also a link's; it is written as 'b_2'.",
    )
    assert saved.joint("b_joint").child == "b_2"


def test_a_rotation_that_is_none_is_said():
    bent = lw.Pose(rpy(1e-7, 0.2, 0.3) * (1.0 + 1e-8))
    _, (lost,) = again(pair(origin=bent))
    assert lost.startswith("joint 'j': its rotation, no true one by 1e-08")


def test_friction_of_motors_and_damping_of_springs_act_as_before():
    for law in ("coulomb", "tanh", "stribeck"):
        losses = lw.Friction(0.01, 0.02, law, 0.3, 0.03, 0.4)
        robot = pair(drive=lw.Drive(gear=-7.0, friction=losses), friction=lw.Friction(0.1), spring=lw.Spring(0.0, 0.4))
        simple, _ = rigid_tree(robot)
        assert simple.joints[0].drive is None
        assert torque_error(robot, simple) < 1e-14
    both = pair(drive=lw.Drive(gear=-7.0, friction=lw.Friction(0.01, 0.02)), friction=lw.Friction(0.1, 0.2))
    assert torque_error(both, again(both)[0]) < 1e-14
    mixed = replace(both.joints[0], friction=lw.Friction(0.1, 0.2, "tanh"))
    assert "dry friction of the motor" in again(both.replace(mixed))[1][0]


def test_motors_weigh_as_before():
    motor = lw.Motor("b", 2.0, (0.1, 0.2, 0.3), (0.01, 0.02, 0.03))
    robot = pair(drive=lw.Drive(motor), axis=(0, 1, 0))
    assert torque_error(robot, again(robot)[0]) < 1e-14


@pytest.mark.parametrize("seed", range(10))
def test_everything_can_be_saved(seed):
    saved, lost = again(everything(seed))
    assert saved.names == everything(seed).opened().names
    assert lost


# ---- names and files


def test_names_are_escaped():
    name = "a<b>&\"c\" 'd'\n\té€"
    robot = lw.Robot([lw.Link(name, 1.0), lw.Link("b")], [lw.Joint(name, name, "b", "fixed")], name=name)
    saved, _ = again(robot)
    assert (saved.name, saved.root.name, saved.joints[0].name) == (name, name, name)


def test_names_that_xml_cannot_hold():
    with pytest.raises(InputError, match=r"^name 'a\\x01': expected characters that XML can hold"):
        to_urdf(lw.Robot([lw.Link("a\x01")]))


def test_save_refuses(tmp_path):
    robot = pair()
    for path in ("arm.xyz", "arm", 3, None, "a\0.toml"):
        with pytest.raises(InputError, match=r"^save"):
            lw.save(robot, path)
    with pytest.raises(InputError, match="expected a Robot first"):
        lw.save("arm.toml", robot)
    with pytest.raises(InputError, match="expected a file that can be written"):
        lw.save(robot, tmp_path / "no" / "such" / "arm.toml")
    with pytest.raises(InputError, match="expected names of Unicode characters"):
        lw.save(lw.Robot([lw.Link("\ud800")]), tmp_path / "arm.toml")
    assert list(tmp_path.iterdir()) == []
