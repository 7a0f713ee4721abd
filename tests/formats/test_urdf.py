"""The URDF reader: what each element means, and how bad files are answered."""

from pathlib import Path

import numpy as np
import pytest

from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.algorithms.kinematics import pose
from linkwise.errors import InputError, LinkwiseError, ModelError
from linkwise.formats.registry import load
from linkwise.formats.urdf import load_urdf
from linkwise.robot import Friction, Limits, Mimic
from linkwise.rotation import rpy
from support.urdf import BODY, joint, link, three, urdf


def one(kind: str = "revolute", inside: str = ""):
    """The joint of a robot of two links."""
    return load_urdf(urdf(link("a"), link("b"), joint("j", "a", "b", kind, inside))).joint("j")


# ---- links


def test_inertial():
    inertial = (
        '<inertial><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><mass value="4"/>'
        '<inertia ixx="1" ixy="0.1" ixz="0.2" iyy="1.5" iyz="0.3" izz="2"/></inertial>'
    )
    (a,) = load_urdf(urdf(link("a", inertial))).links
    R = np.array([list(r) for r in rpy(0.1, 0.2, 0.3)])
    I = R @ [[1, 0.1, 0.2], [0.1, 1.5, 0.3], [0.2, 0.3, 2]] @ R.T
    assert (a.mass, tuple(a.com)) == (4.0, (1.0, 2.0, 3.0))
    np.testing.assert_allclose(a.inertia, I[np.triu_indices(3)], rtol=1e-14)


def test_a_link_without_inertial_has_no_mass_and_a_note():
    robot = load_urdf(urdf(link("a", "")))
    assert robot.links[0].mass == 0.0
    assert ("info", "link 'a'", "has no <inertial>: taken as without mass") in robot.diagnostics


@pytest.mark.parametrize(
    ("inertial", "mass", "xx", "missing"),
    [
        ('<mass value="2"/>', 2.0, 0.0, "inertia"),
        ('<inertia ixx="3" iyy="3" izz="3"/>', 0.0, 3.0, "mass"),
    ],
)
def test_half_an_inertial_is_noted(inertial, mass, xx, missing):
    robot = load_urdf(urdf(link("a", f"<inertial>{inertial}</inertial>")))
    assert (robot.links[0].mass, robot.links[0].inertia[0]) == (mass, xx)
    assert ("warning", "link 'a'", f"has no <{missing}>: taken as 0") in robot.diagnostics


def test_unknown_elements_and_meshes_are_ignored():
    visual = '<visual><origin xyz="bad"/><geometry><mesh filename="package://no/such.dae"/></geometry></visual>'
    text = urdf(
        link("a", BODY + visual + "<collision><inertial/></collision>"),
        '<material name="red"/>',
        '<transmission name="t"><joint name="x"/><link name="a"/></transmission>',
        "<gazebo><link name='a'><joint/></link></gazebo>",
    )
    assert len(load_urdf(text).links) == 1


def test_of_two_elements_the_first_counts():
    robot = load_urdf(urdf(link("a", BODY + BODY.replace('value="1"', 'value="2"'))))
    assert robot.links[0].mass == 1.0
    assert ("warning", "link 'a'", "has 2 <inertial>: the first counts") in robot.diagnostics


# ---- joints


def test_joint_defaults():
    j = one()
    assert (tuple(j.axis), tuple(j.origin.p), j.limits, j.friction, j.mimic) == (
        (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), Limits(), Friction(), None,
    )  # fmt: skip


def test_joint_origin_and_axis():
    j = one("prismatic", '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 3 4"/>')
    assert j.kind == "prismatic"
    assert tuple(j.origin.p) == (1.0, 2.0, 3.0)
    assert list(j.origin.R) == list(rpy(0.1, 0.2, 0.3))
    np.testing.assert_allclose(list(j.axis), [0, 0.6, 0.8], rtol=1e-15)


@pytest.mark.parametrize(
    ("kind", "attributes", "limits"),
    [
        ("revolute", 'lower="-1" upper="2" velocity="3" effort="4"', Limits(-1, 2, 3, effort=4)),
        ("revolute", 'lower="-1" upper="2" velocity="0" effort="0"', Limits(-1, 2)),
        ("revolute", 'velocity="3" effort="4"', Limits(velocity=3, effort=4)),
        ("prismatic", 'upper="2" velocity="3" effort="4"', Limits(0, 2, 3, effort=4)),
        ("prismatic", 'lower="-inf" upper="inf" velocity="inf" effort="inf"', Limits()),
        ("continuous", 'lower="0" upper="0" velocity="3" effort="4"', Limits(velocity=3, effort=4)),
    ],
)
def test_limits(kind, attributes, limits):
    assert one(kind, f"<limit {attributes}/>").limits == limits


def test_dynamics_is_friction():
    assert one(inside='<dynamics damping="0.1" friction="0.2"/>').friction == Friction(0.1, 0.2)
    assert one("fixed", '<dynamics damping="0.1" friction="0.2"/>').friction == Friction()
    assert one("floating", '<dynamics damping="-1"/><axis xyz="0 0 0"/>').kind == "floating"


def test_mimic():
    robot = load_urdf(three("revolute", "continuous"))
    assert robot.joint("j").mimic == Mimic("i", -2.0, 0.5)
    assert robot.names == ("i", "k")
    assert load_urdf(three("revolute", "revolute", '<mimic joint="i"/>')).joint("j").mimic == Mimic("i")


def test_a_fixed_joint_ignores_mimic():
    assert load_urdf(three("revolute", "fixed")).joint("j").mimic is None


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_joint_that_mimics_a_fixed_one_stands_still(kind):
    robot = load_urdf(three("fixed", kind))
    free = load_urdf(three("fixed", kind, ""))
    assert robot.names == ("k",)
    assert ("info", "joint 'j'", "mimics a fixed joint: taken as fixed") in robot.diagnostics
    np.testing.assert_allclose(pose.plain(robot, [0.3], frame="d"), pose.plain(free, [0.5, 0.3], frame="d"), atol=1e-15)
    follower = load_urdf(three("fixed", kind, third='<mimic joint="j" multiplier="2"/>'))
    assert follower.nv == 0
    np.testing.assert_allclose(pose.plain(follower, [], frame="d"), pose.plain(free, [0.5, 1.0], frame="d"), atol=1e-15)


# ---- the robot


def test_joints_come_in_file_order_depth_first():
    text = urdf(
        joint("z", "a", "b"), joint("y", "a", "c"), joint("x", "b", "d"),
        link("d"), link("c"), link("b"), link("a"),
    )  # fmt: skip
    robot = load_urdf(text)
    assert robot.names == ("z", "x", "y")
    assert [k.name for k in robot.links] == ["a", "b", "d", "c"]
    assert robot.name == "arm"


def test_the_file_names_a_robot_without_a_name(tmp_path):
    path = tmp_path / "crane.urdf"
    path.write_text(f"<robot>{link('a')}</robot>")
    assert load_urdf(path).name == "crane"


def test_floating_base():
    text = urdf(link("a"), link("b"), joint("j", "a", "b"))
    robot = load_urdf(text, base="floating")
    assert robot.names == ("root_joint", "j")
    assert (robot.root.name, robot.joint("root_joint").kind) == ("world", "floating")
    fall = [0.0, 0.0, -9.81, *[0.0] * 4]
    np.testing.assert_allclose(inverse_dynamics.plain(robot, robot.q(), [0.0] * 7, fall), [0.0] * 7, atol=1e-14)


def test_floating_base_finds_free_names():
    text = urdf(link("world"), link("world_2"), joint("root_joint", "world", "world_2"))
    robot = load_urdf(text, base="floating")
    assert robot.names == ("root_joint_2", "root_joint")
    assert robot.root.name == "world_3"


def test_base_must_be_known():
    with pytest.raises(InputError, match="base: expected one of"):
        load_urdf(urdf(link("a")), base="free")


def test_strict_refuses_doubtful_physics():
    text = urdf(link("a", BODY.replace('izz="1"', 'izz="5"')))
    assert [d.level for d in load_urdf(text).diagnostics] == ["error"]
    with pytest.raises(ModelError, match=r"^URDF text: expected no errors.*link 'a' inertia breaks the tri"):
        load_urdf(text, strict=True)
    assert load_urdf(urdf(link("a", "")), strict=True).nv == 0


# ---- load


def test_load_goes_by_suffix(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(urdf(link("a")))
    assert load(path) == load(str(path)) == load(path.read_text()) == load(path.read_bytes())
    assert load(path, base="floating").nv == 6


@pytest.mark.parametrize("source", ["stanfrod", "arm.tml", Path("arm.sdf"), 3, None])
def test_load_says_what_it_knows(source):
    with pytest.raises(LinkwiseError, match=r"(?i)^load.*: expected a .*urdf"):
        load(source)


# ---- numbers that look like something else


@pytest.mark.parametrize(
    ("inside", "question"),
    [
        ('<limit lower="-170" upper="170"/>', "its limit 170 rad is 27.1 turns. If that is degrees"),
        ('<limit lower="-180" upper="1"/>', "its limit -180 rad is 28.6 turns"),
        ('<limit lower="0" upper="0"/>', "its limits 0 to 0 let it move nowhere"),
        ('<origin xyz="0 0 300"/>', "its frame is 300 m away. If that is millimetres"),
    ],
)
def test_odd_limits_and_lengths_are_questioned(inside, question):
    robot = load_urdf(urdf(link("a"), link("b"), joint("j", "a", "b", "revolute", inside)))
    (found,) = [d for d in robot.diagnostics if d.where == "joint 'j'"]
    assert found.level == "warning"
    assert found.message.startswith(question)


@pytest.mark.parametrize("limit", ["-12.6 12.6", "-1e5 1e5", "-inf inf"])
def test_wide_limits_are_not_questioned(limit):
    lower, upper = limit.split()
    inside = f'<limit lower="{lower}" upper="{upper}"/>'
    robot = load_urdf(urdf(link("a"), link("b"), joint("j", "a", "b", "revolute", inside)))
    assert not [d for d in robot.diagnostics if d.where == "joint 'j'"]


def test_centres_of_mass_in_millimetres_are_questioned():
    far = BODY.replace("<inertial>", '<inertial><origin xyz="0 0 120"/>')
    found = [d.message for d in load_urdf(urdf(link("a", far), link("b", far), joint("j", "a", "b"))).diagnostics]
    assert "its centre of mass is 120 m away, one of 2 such places. If that is millimetres" in found[0]


def test_a_pointer_of_git_lfs_is_no_robot(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
    with pytest.raises(LinkwiseError, match=r"arm\.urdf: expected the file itself.*git lfs pull"):
        load(path)
