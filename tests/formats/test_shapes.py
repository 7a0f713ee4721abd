"""Shapes of links: read, kept through edits, and written; meshes found without being opened."""

import re

import numpy as np
import pytest

import linkwise as lw
from linkwise.formats.urdf_writer import to_urdf
from linkwise.robot.geometry import missing_meshes

URDF = """<robot name="arm">
  <material name="steel"><color rgba="0.5 0.5 0.6 1"/></material>
  <link name="base">
    <visual name="foot"><geometry><mesh filename="package://arm/meshes/foot.stl" scale="1 -1 0.5"/></geometry>
      <material name="steel"/></visual>
    <collision><origin xyz="0 0 0.1"/><geometry><cylinder radius="0.1" length="0.2"/></geometry></collision>
  </link>
  <link name="upper">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <visual><origin xyz="0.1 0 0" rpy="0 0 0.3"/><geometry><box size="0.3 0.1 0.1"/></geometry>
      <material name=""><color rgba="1 0 0 0.5"/><texture filename="red.png"/></material></visual>
    <visual><geometry><sphere radius="0.1"/></geometry></visual>
    <collision><geometry><capsule radius="0.1" length="0.2"/></geometry></collision>
    <collision><geometry><mesh filename="meshes/upper.stl"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 1"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


@pytest.fixture
def arm(tmp_path):
    folder = tmp_path / "arm"
    (folder / "urdf" / "meshes").mkdir(parents=True)
    (folder / "meshes").mkdir()
    (folder / "meshes" / "foot.stl").write_bytes(b"not a mesh: nobody looks")
    (folder / "urdf" / "arm.urdf").write_text(URDF)
    return lw.load(folder / "urdf" / "arm.urdf")


def test_what_a_urdf_says(arm, tmp_path):
    foot, touch, box, ball, capsule, mesh = arm.shapes
    assert (foot.link, foot.kind, foot.size, foot.name) == ("base", "mesh", (1.0, -1.0, 0.5), "foot")
    assert (foot.material, foot.colour) == ("steel", (0.5, 0.5, 0.6, 1.0))
    assert (touch.kind, touch.size, touch.role) == ("cylinder", (0.1, 0.2), "collision")
    assert tuple(touch.origin.p) == (0.0, 0.0, 0.1)
    assert (box.colour, box.texture, box.role) == ((1.0, 0.0, 0.0, 0.5), "red.png", "visual")
    assert (ball.size, capsule.size, capsule.is_visual) == ((0.1,), (0.1, 0.2), False)
    assert foot.path == tmp_path / "arm" / "meshes" / "foot.stl"
    assert mesh.path is None
    assert missing_meshes(arm) == ("meshes/upper.stl",)


@pytest.mark.parametrize("suffix", [".urdf", ".toml"])
def test_files_keep_shapes(arm, tmp_path, suffix):
    assert lw.save(arm, tmp_path / f"other{suffix}") == ()
    again = lw.load(tmp_path / f"other{suffix}")
    for old, new in zip(arm.shapes, again.shapes, strict=True):
        for field in ("link", "kind", "size", "role", "colour", "material", "name"):
            assert getattr(old, field) == getattr(new, field)
        np.testing.assert_allclose(old.origin.matrix(), new.origin.matrix(), atol=1e-15)
    assert again.shapes[0].file == "package://arm/meshes/foot.stl"
    assert again.shapes[0].path == arm.shapes[0].path  # the package is a neighbour there, too
    assert again.shapes[-1].file == "arm/urdf/meshes/upper.stl"  # relative to where the robot is now


def test_edits_keep_shapes(arm):
    two = arm.attach(arm, at="upper", prefix="b_")
    assert [s.link for s in two.shapes] == ["base"] * 2 + ["upper"] * 4 + ["b_base"] * 2 + ["b_upper"] * 4
    assert arm.lock("shoulder").shapes == arm.shapes == arm.replace(gravity=(0, 0, 0)).shapes
    more = arm.add(lw.Shape("upper", "sphere", 0.2, role="both"))
    assert more.shapes[-1].size == (0.2,)
    assert len(lw.load(URDF, base="floating").shapes) == 6


def test_shapes_change_no_number(arm):
    bare = arm.replace(shapes=())
    assert lw.compile(arm).inverse_dynamics.count() == lw.compile(bare).inverse_dynamics.count()


def test_axes_beside_the_origin_move_the_shape():
    """URDF wants a link's frame on its joint's axis: shapes stay where they are in space."""
    robot = lw.Robot(
        [lw.Link("base"), lw.Link("arm", 1.0)],
        [lw.Joint("turn", "base", "arm", anchor=(0.1, 0.2, 0.0))],
        shapes=[lw.Shape("arm", "box", (1, 1, 1), lw.Pose.of((0.5, 0.0, 0.0)))],
    )
    again = lw.load(to_urdf(robot)[0])
    q = [0.7]
    here = np.array(lw.compile(robot).pose(q, "arm")) @ np.array(robot.shapes[0].origin.matrix())
    there = np.array(lw.compile(again).pose(q, "arm")) @ np.array(again.shapes[0].origin.matrix())
    np.testing.assert_allclose(here, there, atol=1e-15)


def test_what_urdf_cannot_say_is_named(arm, tmp_path):
    (lost,) = lw.save(arm.add(lw.Shape("upper", "plane")), tmp_path / "plane.urdf")
    assert lost == "link 'upper': a plane: left out; URDF has no such shape."


def test_tables_say_that_they_have_no_shapes(arm):
    assert "shapes of links, 6: left out; a table has none." in lw.dh.to_modified_dh(arm).lost


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('size="0.3 0.1 0.1"', 'size="0.3 x 0.1"', "expected a number, got 'x'"),
        ('<sphere radius="0.1"/>', "<cone/>", "expected one of .* in <geometry>, got 0"),
        ('radius="0.1" length="0.2"', 'radius="-1" length="1"', "expected a number of at least 0, got -1"),
        ('rgba="0.5 0.5 0.6 1"', 'rgba="0.5"', "its colour is left out"),
    ],
)
def test_shapes_that_cannot_be_read_are_left_out_with_a_remark(old, new, message):
    robot = lw.load(URDF.replace(old, new, 1))
    assert any(d.level == "warning" for d in robot.diagnostics)
    assert any(re.search(message, d.message) for d in robot.diagnostics)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("upper", "cone"), "kind: expected one of"),
        (("upper", "mesh"), "expected a file for a mesh"),
        (("upper", "box", (1, 2)), "expected 3 numbers"),
        (("elbow", "sphere", 1.0), "unknown link 'elbow'"),
        (("upper", "sphere", float("nan")), "finite"),
    ],
)
def test_bad_shapes(arguments, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.load(URDF).add(lw.Shape(*arguments))


def test_packages_of_ros(arm, tmp_path, monkeypatch):
    (tmp_path / "ros" / "share" / "far").mkdir(parents=True)
    (tmp_path / "ros" / "share" / "far" / "a.stl").write_text("")
    shape = lw.Shape("upper", "mesh", file="package://far/a.stl")
    assert shape.path is None
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ros"))
    assert shape.path == tmp_path / "ros" / "share" / "far" / "a.stl"
    assert lw.Shape("upper", "mesh", file="file://" + str(shape.path)).path == shape.path
    assert lw.Shape("upper", "mesh", file="\0.stl").path is None
