"""Distances beside those of coal, on the same shapes, alone and on a robot of Pinocchio's."""

from dataclasses import replace

import coal
import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from linkwise.robot.distance import distance
from linkwise.robot.volume import HalfSpace, cover_of
from linkwise.vector import Vec3
from support.shaped import shaped

KINDS = ("sphere", "capsule", "box", "plane")
AGREED = 1e-9


def theirs(kind, size):
    """A shape of coal's."""
    if kind == "plane":
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    return {"sphere": coal.Sphere, "capsule": coal.Capsule, "box": coal.Box}[kind](*size)


def request():
    """Signed distances, as exact as coal can."""
    asked = coal.DistanceRequest()
    asked.enable_signed_distance = True
    asked.gjk_tolerance = asked.epa_tolerance = 1e-13
    asked.gjk_max_iterations = asked.epa_max_iterations = 1000
    return asked


def placed(origin):
    found = coal.Transform3s()
    found.setRotation(np.array(origin.R))
    found.setTranslation(np.array(origin.p))
    return found


@pytest.mark.parametrize("one", KINDS)
@pytest.mark.parametrize("other", KINDS[:3])
def test_pairs_of_shapes(one, other):
    """Apart and overlapping: signed distances are depths too."""
    rng, apart = np.random.default_rng(1), []
    widths = {"sphere": 1, "capsule": 2, "box": 3, "plane": 0}
    for _ in range(40):
        shapes = []
        for kind in (one, other):
            size = tuple(rng.uniform(0.05, 0.7, widths[kind]).tolist())
            origin = lw.Pose.of(rng.uniform(-0.6, 0.6, 3).tolist(), rng.uniform(-3.0, 3.0, 3).tolist())
            shapes.append(lw.Shape("link", kind, size, origin))
        expected = coal.distance(
            *(x for s in shapes for x in (theirs(s.kind, s.size), placed(s.origin))), request(), coal.DistanceResult()
        )
        a, b = (cover_of(s).volumes[0] for s in shapes)
        assert abs(distance(a, b, exact=True) - expected) < AGREED
        apart.append(expected > 0.0)
    assert any(apart)
    assert not all(apart)


def test_least_distance_of_a_robot():
    """All pairs of a robot with spheres, capsules and boxes, in the world of obstacles too."""
    robot = shaped(lw.load("puma560"), size=0.2)
    obstacles = [
        lw.Shape("floor", "plane", origin=lw.Pose.of((0.0, 0.0, -0.8))),
        lw.Shape("shelf", "box", (0.4, 0.6, 0.1), lw.Pose.of((0.6, 0.3, 0.5), (0.2, 0.1, 0.5))),
    ]
    near = lw.compile(robot).clearance.among(obstacles, exact=True)
    dyn = lw.compile(robot)
    q = np.random.default_rng(2).uniform(-2.0, 2.0, (20, robot.nq))
    expected = np.zeros((len(q), len(near.pairs)))
    shapes = {s.link: s for s in (*robot.shapes, *obstacles)}
    for row, state in enumerate(q):
        for column, pair in enumerate(near.pairs):
            found = []
            for name in pair:
                X = placed(shapes[name].origin)
                if name not in ("floor", "shelf"):
                    T, at = dyn.pose(state, name), X
                    X = coal.Transform3s()
                    X.setRotation(T[:3, :3] @ at.getRotation())
                    X.setTranslation(T[:3, :3] @ at.getTranslation() + T[:3, 3])
                found += [theirs(shapes[name].kind, shapes[name].size), X]
            expected[row, column] = coal.distance(*found, request(), coal.DistanceResult())
    assert np.abs(near.distances(q) - expected).max() < AGREED
    least = near(q)
    assert np.abs(least.distance - expected.min(axis=1)).max() < AGREED
    assert (least.pair == expected.argmin(axis=1)).all()


def test_pinocchio_finds_the_same_pair(tmp_path):
    """A robot that Pinocchio reads from our file: the least distance of its own pairs of spheres."""
    robot = shaped(lw.random_tree(3, 5, kinds=("revolute",), branching=0.0, fixed=0.0), kinds=("sphere",), size=0.1)
    robot = robot.replace(joints=[replace(j, limits=lw.Limits(-3.0, 3.0)) for j in robot.joints])
    path = tmp_path / "robot.urdf"
    lw.save(robot, path)
    model = pin.buildModelFromUrdf(str(path))
    geometry = pin.buildGeomFromUrdf(model, str(path), pin.COLLISION)
    clearance = lw.compile(robot).clearance
    names = [g.name.removesuffix("_0") for g in geometry.geometryObjects]
    for a, b in clearance.pairs:
        geometry.addCollisionPair(pin.CollisionPair(names.index(a), names.index(b)))
    data, values = model.createData(), geometry.createData()
    order = lw.permutation(robot, list(model.names)[1:])
    q = np.random.default_rng(4).uniform(-2.0, 2.0, (10, robot.nq))
    found = clearance(q)
    for row in range(len(q)):
        best = pin.computeDistances(model, data, geometry, values, q[row, order.q])
        every = [r.min_distance for r in values.distanceResults]
        assert abs(found.distance[row] - every[best]) < AGREED
        assert found.pair[row] == int(np.argmin(every))


def test_a_plane_is_a_half_space():
    """z = 0 of its frame, and all below."""
    (half,) = cover_of(lw.Shape("floor", "plane", origin=lw.Pose.of((0.0, 0.0, 0.5)))).volumes
    assert half == HalfSpace(Vec3(0.0, 0.0, 0.5), Vec3(0.0, 0.0, 1.0))
