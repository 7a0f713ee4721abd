"""Meshes covered by capsules: nothing is left outside, and how far capsules stick out is said."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot import covering
from linkwise.robot.covering import covered
from linkwise.robot.distance import distance
from linkwise.robot.mesh import triangles
from linkwise.robot.volume import sphere
from linkwise.vector import Vec3

SHARE = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], 5)


def stl(path, faces):
    """Triangles (n, 3, 3) as a text file."""
    lines = ["solid part"]
    for face in faces:
        lines += [
            "facet normal 0 0 0",
            "outer loop",
            *(f"vertex {x} {y} {z}" for x, y, z in face),
            "endloop",
            "endfacet",
        ]
    path.write_text("\n".join([*lines, "endsolid part"]))
    return path


def tube(bends, radius, sides=10):
    """The triangles of a closed tube along points."""
    turn = 2.0 * np.pi * np.arange(sides) / sides
    ring = radius * np.column_stack([np.cos(turn), np.sin(turn), np.zeros(sides)])
    rings = np.array([p + ring for p in bends])
    faces = []
    for a, b in pairwise(rings):
        for k in range(sides):
            j = (k + 1) % sides
            faces += [(a[k], a[j], b[k]), (a[j], b[j], b[k])]
    for end in (rings[0], rings[-1]):
        faces += [(end.mean(axis=0), end[k], end[(k + 1) % sides]) for k in range(sides)]
    return np.array(faces)


def outside(cover, points):
    """How far points are from the nearest of a cover's volumes."""
    return [min(distance(v, sphere(Vec3(*map(float, p)), 0.0)) for v in cover.volumes) for p in points]


BENT = tube([(0.0, 0.0, 0.0), (0.0, 0.0, 0.3), (0.1, 0.0, 0.4), (0.4, 0.0, 0.42)], 0.05)


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_bent_tube(tmp_path, parts, monkeypatch):
    """All of its surface and what is inside of it; the error is that of points of the cover beside a fine sampling."""
    shape = lw.Shape("arm", "mesh", (1.0, 1.0, -2.0), lw.Pose.of((0.1, 0.2, 0.3), (0.3, 0.2, 0.1)), "collision",
                     str(stl(tmp_path / "tube.stl", BENT)))  # fmt: skip
    cover, mesh = covered(shape, parts), triangles(shape)
    assert 1 <= len(cover.volumes) <= parts
    surface = np.einsum("sk,nkd->nsd", SHARE, mesh).reshape(-1, 3)
    inside = 0.5 * (surface[:-1:7] + surface[1::7][: len(surface[:-1:7])])
    assert max(outside(cover, np.concatenate([mesh.reshape(-1, 3), surface, inside]))) < 1e-9
    assert 0.0 < cover.error < (0.4 if parts == 1 else 0.15)
    monkeypatch.setattr(covering, "fitted", None)  # a mesh is covered once, whatever links have it
    assert covered(shape, parts) == cover
    other = covered(dataclasses.replace(shape, link="hand", origin=lw.Pose()), parts)
    assert other.error == cover.error
    assert [v.seen_from(shape.origin) for v in other.volumes] == list(cover.volumes)


def test_more_parts_stick_out_less(tmp_path):
    shape = lw.Shape("arm", "mesh", role="collision", file=str(stl(tmp_path / "tube.stl", BENT)))
    errors = [covered(shape, parts).error for parts in (1, 2, 4)]
    assert errors[0] > errors[1] >= errors[2]
    straight = tube([(0.0, 0.0, 0.0), (0.0, 0.0, 0.5)], 0.05, 24)
    (volume,), error = covered(lw.Shape("arm", "mesh", role="collision", file=str(stl(tmp_path / "rod.stl", straight))))
    assert 0.05 < volume.radius < 0.08
    assert error < 0.025  # where rims are on the capsule it is 0.41 of the radius


def test_a_robot_of_meshes(tmp_path):
    """From files to the least distance, with the error of every link; a flat mesh too."""
    file = str(stl(tmp_path / "tube.stl", BENT))
    flat = str(stl(tmp_path / "flat.stl", np.array([[(0, 0, 0), (0.2, 0, 0), (0, 0.2, 0)]], float)))
    robot = lw.load("rr")
    moving = robot.moving_links[-1]
    robot = robot.replace(shapes=[lw.Shape(moving, "mesh", role="collision", file=f) for f in (file, flat)])
    near = lw.compile(robot).clearance.among([lw.Shape("ball", "sphere", 0.1, lw.Pose.of((5.0, 0.0, 0.0)))])
    assert near.pairs == ((moving, "ball"),)
    assert set(near.errors) == {moving}
    assert near(robot.q()).distance > 2.0
    assert not [d for d in robot.diagnostics if d.where == "clearance"]  # one link has nothing to collide with
    two = robot.add(lw.Shape(robot.root.name, "mesh", role="collision", file=file))
    assert "1 of 2" not in two.diagnostics[-1].message
    assert "meshes, which are opened when it is asked for: 2 of 2" in two.diagnostics[-1].message


def test_errors(tmp_path, monkeypatch):
    missing = lw.Shape("arm", "mesh", role="collision", file="nowhere.stl", folder=str(tmp_path))
    with pytest.raises(lw.ModelError, match=r"link 'arm': expected the mesh 'nowhere.stl' on this machine, got none"):
        covered(missing)
    (tmp_path / "bad.stl").write_text("no mesh")
    with pytest.raises(lw.LinkwiseError, match=r"bad.stl"):
        covered(lw.Shape("arm", "mesh", role="collision", file=str(tmp_path / "bad.stl")))
    (tmp_path / "mesh.txt").write_text("x")
    with pytest.raises(lw.InputError, match="expected a mesh that trimesh reads"):
        covered(lw.Shape("arm", "mesh", role="collision", file=str(tmp_path / "mesh.txt")))
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(lw.InputError, match=r'pip install "linkwise\[view\]"'):
        covered(lw.Shape("arm", "mesh", role="collision", file=str(stl(tmp_path / "new.stl", BENT))))
