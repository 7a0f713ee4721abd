"""What is drawn of a robot: its shapes and meshes, or parts made from its joints."""

import importlib
import math
import sys

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot.mesh import triangles
from linkwise.view import meshes
from linkwise.view.scene import Scene
from linkwise.view.solids import box, capsule, cylinder, ellipsoid, hull, rod, sphere

STL = """solid cube
{}endsolid cube
"""


def volume(solid):
    """By the divergence theorem: positive where faces look outwards."""
    a, b, c = (solid.vertices[solid.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def test_solids_are_closed_look_outwards_and_have_their_volume():
    corners = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])
    r, h = 0.3, 0.8
    cone = math.pi * h / 3.0 * (0.3**2 + 0.3 * 0.2 + 0.2**2)  # about that of a rod, without its ends
    cases = {
        "box": (box(1.0, 2.0, 3.0), 6.0),
        "rounded": (box(1.0, 2.0, 3.0, 0.1), 6.0),
        "sphere": (sphere(r), 4.0 / 3.0 * math.pi * r**3),
        "cylinder": (cylinder(r, h), math.pi * r * r * h),
        "capsule": (capsule(r, h), math.pi * r * r * h + 4.0 / 3.0 * math.pi * r**3),
        "ellipsoid": (ellipsoid(0.1, 0.2, 0.3), 4.0 / 3.0 * math.pi * 0.006),
        "hull": (hull(corners, 0.01), 6.0),
        "rod": (rod(0.3, 0.2, h), cone + 2.0 / 3.0 * math.pi * (0.3**3 + 0.2**3)),
        "one ball inside the other": (rod(0.3, 0.1, 0.1), 4.0 / 3.0 * math.pi * 0.3**3),
        "mirrored": (box(1.0, 2.0, 3.0).scaled(-1.0, 1.0, 1.0), 6.0),
    }
    for name, (solid, expected) in cases.items():
        assert not solid.is_open, name
        assert volume(solid) == pytest.approx(expected, rel=0.06), name  # round things have corners here


@pytest.mark.parametrize("name", sorted(lw.list_robots()))
def test_every_bundled_robot_has_parts_on_its_moving_links(name):
    robot = lw.load(name)
    scene = Scene.of(robot)
    drawn = {part.link for part in scene.parts}
    assert drawn
    heavy = {k.name for k in robot.links if k.mass and k.name in robot.moving_links}
    assert len(drawn & heavy) > len(heavy) / 2  # the others are within wrists
    for part in scene.parts:
        assert np.isfinite(part.solid.vertices).all()
        assert np.abs(part.solid.vertices).max() < 3.0 * scene.size
        assert not part.solid.is_open


def test_random_trees_are_drawn():
    for seed in range(12):
        robot = lw.random_tree(seed, 9, floating=seed % 2 == 0)
        scene = Scene.of(robot)
        assert {part.link for part in scene.parts} >= {j.child for j in robot.joints if j.freedom.turns}


def test_poses_of_links_are_those_of_the_functions():
    robot = lw.random_tree(3, 6)
    scene, dyn = Scene.of(robot), lw.compile(robot)
    q = np.random.default_rng(0).uniform(-1.0, 1.0, robot.nq)
    found = scene.link_poses(dyn.poses(q))
    for name, T in found.items():
        np.testing.assert_allclose(T, dyn.pose(q, name), atol=1e-12)


def test_limits_and_starts_of_sliders():
    scene = Scene.of(lw.load("scara"))
    stroke = next(s for s in scene.sliders if s.name == "stroke")
    assert stroke.slides
    limits = lw.load("scara").joint("stroke").limits
    assert (stroke.lower, stroke.upper) == (limits.lower, limits.upper)
    platform = Scene.of(lw.gough_stewart()).sliders
    assert [s.name for s in platform] == [f"platform.{n}" for n in ("x", "y", "z", "roll", "pitch", "yaw")]
    assert platform[2].lower < 0.75 < platform[2].upper


def test_ellipsoids_have_the_inertia_of_their_links():
    link = lw.Link("b", 2.0, (0.1, 0.2, 0.3), (0.5, 0.02, -0.03, 0.6, 0.04, 0.7))
    robot = lw.Robot([lw.Link("a"), link], [lw.Joint("j", "a", "b")])
    (body,) = Scene.of(robot).bodies
    a, b, c = body.half_axes
    moments = 2.0 / 5.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    R = np.array(body.axes)
    xx, xy, xz, yy, yz, zz = link.inertia
    np.testing.assert_allclose(R @ moments @ R.T, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], atol=1e-12)


# ---- meshes


def cube(path, edge=0.2):
    solid = box(edge, edge, edge)
    facets = ""
    for face in solid.vertices[solid.faces]:
        corners = "".join(f"vertex {x} {y} {z}\n" for x, y, z in face)
        facets += f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n"
    path.write_text(STL.format(facets))
    return path


def with_mesh(folder, file="cube.stl", **fields):
    robot = lw.load("rr")
    shape = lw.Shape(robot.moving_links[0], "mesh", file=file, folder=str(folder), **fields)
    return robot.replace(shapes=[shape])


def test_meshes_are_read_scaled_and_mirrored(tmp_path):
    cube(tmp_path / "cube.stl")
    scene = Scene.of(with_mesh(tmp_path, size=(1.0, -2.0, 3.0), colour=(1.0, 0.5, 0.0, 1.0)))
    (part,) = scene.parts
    assert part.colour == (1.0, 0.5, 0.0, 1.0)
    assert len(part.solid.vertices) == 8
    np.testing.assert_allclose(np.ptp(part.solid.vertices, axis=0), [0.2, 0.4, 0.6], rtol=1e-5)
    assert volume(part.solid) == pytest.approx(0.048, rel=1e-4)


def test_missing_and_broken_meshes_are_drawn_from_joints(tmp_path):
    (tmp_path / "broken.stl").write_bytes(b"\x00" * 90 + b"\xff\xff\xff\x7f")
    (tmp_path / "words.mesh").write_text("no mesh")
    for file in ("none.stl", "broken.stl", "words.mesh"):
        robot = with_mesh(tmp_path, file)
        scene = Scene.of(robot)
        assert scene.missing == (file,)
        assert {part.link for part in scene.parts} == {robot.moving_links[0]}
        assert file == "none.stl" or file in scene.notes[0]


def test_large_meshes_are_made_coarser_and_it_is_said(tmp_path):
    import trimesh

    trimesh.creation.icosphere(subdivisions=5, radius=0.1).export(tmp_path / "ball.stl")
    scene = Scene.of(with_mesh(tmp_path, "ball.stl"), triangles=2000)
    (part,) = scene.parts
    assert len(part.solid.faces) <= 2000
    assert volume(part.solid) == pytest.approx(4.0 / 3.0 * math.pi * 1e-3, rel=0.01)
    assert scene.notes == ("meshes of 20,480 triangles were made coarser, to 2,000; triangles= keeps more",)


def test_units_and_colours_of_collada(tmp_path):
    import trimesh

    mesh = trimesh.creation.box((100.0, 200.0, 300.0))
    red = trimesh.visual.material.PBRMaterial(baseColorFactor=[255, 0, 0, 255])
    mesh.visual = trimesh.visual.TextureVisuals(material=red)
    text = mesh.export(file_type="dae").decode()
    text = text.replace("</asset>", '<unit name="millimetre" meter="0.001"/></asset>', 1)
    (tmp_path / "box.dae").write_text(text)
    (part,) = Scene.of(with_mesh(tmp_path, "box.dae")).parts
    np.testing.assert_allclose(np.ptp(part.solid.vertices, axis=0), [0.1, 0.2, 0.3], rtol=1e-5)
    assert part.colour == (1.0, 0.0, 0.0, 1.0)


def test_files_that_say_y_up_are_turned_where_the_joints_say_so(tmp_path):
    """A rod from its joint to the next, once along z as it is, once along z when y is up."""
    import trimesh

    links = [lw.Link("base"), lw.Link("rod", 1.0), lw.Link("tip", 1.0)]
    joints = [lw.Joint("a", "base", "rod"), lw.Joint("b", "rod", "tip", origin=lw.Pose.of((0, 0, 0.5)))]
    for edges, middle in (((0.1, 0.1, 0.5), (0, 0, 0.25)), ((0.1, 0.5, 0.1), (0, 0.25, 0))):
        mesh = trimesh.creation.box(edges)
        mesh.apply_translation(middle)
        text = mesh.export(file_type="dae").decode()
        assert "Y_UP" in text
        (tmp_path / "rod.dae").write_text(text)
        shape = lw.Shape("rod", "mesh", file="rod.dae", folder=str(tmp_path))
        (part,) = Scene.of(lw.Robot(links, joints, shapes=[shape])).parts
        np.testing.assert_allclose(part.solid.vertices.max(axis=0), [0.05, 0.05, 0.5], atol=1e-6)


def test_shapes_for_collisions_are_drawn_where_most_links_have_them():
    robot = lw.load("rr")
    one, two = (lw.Shape(name, "sphere", (0.1,), role="collision") for name in robot.moving_links)
    assert len(Scene.of(robot.replace(shapes=[one, two])).parts) == 2
    assert len(Scene.of(robot.replace(shapes=[one])).parts) > 2


def test_without_the_extra_the_message_says_how_to_install_it(tmp_path, monkeypatch):
    cube(tmp_path / "cube.stl")
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "trimesh", None)
        with pytest.raises(lw.InputError, match=r'pip install "linkwise\[view\]".*meshes=False'):
            Scene.of(with_mesh(tmp_path))
        assert Scene.of(with_mesh(tmp_path), use_meshes=False).parts
    assert importlib.import_module("trimesh")


def test_what_is_drawn_and_what_collides_are_the_same_triangles(tmp_path):
    import trimesh

    mirrored = trimesh.transformations.reflection_matrix((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    box, both = trimesh.creation.box((0.1, 0.2, 0.3)), trimesh.Scene()
    box.apply_translation((0.2, 0.1, 0.0))
    both.add_geometry(box, geom_name="box", node_name="one")
    both.add_geometry(box, geom_name="box", node_name="other", transform=mirrored)
    both.export(tmp_path / "both.glb")
    shape = lw.Shape("arm", "mesh", role="both", file=str(tmp_path / "both.glb"))
    ((solid, _),) = meshes.found([shape]).loaded[shape]
    read = triangles(shape)
    assert volume(solid) == pytest.approx(2.0 * 0.1 * 0.2 * 0.3, rel=1e-5)
    drawn = solid.vertices[solid.faces]
    order = [np.lexsort(np.round(t.mean(axis=1), 6).T) for t in (drawn, read)]
    assert np.abs(drawn[order[0]].mean(axis=1) - read[order[1]].mean(axis=1)).max() < 1e-6
    assert len(read) == 24
