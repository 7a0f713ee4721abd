"""Signed distances of volumes: laws, an optimiser as witness, and covers that contain what they cover."""

import math

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import linkwise as lw
from linkwise.robot import HeightField
from linkwise.robot.distance import distance, least
from linkwise.robot.volume import HalfSpace, Rounded, capsule, cover_of, in_spheres, sphere
from linkwise.rotation import from_quaternion
from linkwise.spatial import Pose
from linkwise.vector import Vec3

EDGES = {"sphere": 0, "capsule": 1, "box": 3}
PAIRS = [(a, b) for k, a in enumerate(EDGES) for b in [*EDGES][k:]]
ROUND = 1e-13  # lengths of about 1 go through some hundred operations


def drawn(rng, kind, spread=0.7):
    """A volume of a kind at a random place."""
    X = Pose(from_quaternion(*rng.normal(size=4).tolist()), Vec3(*rng.uniform(-spread, spread, 3).tolist()))
    if kind == "plane":
        return HalfSpace(X.p, X.R.column(2))
    n = EDGES[kind]
    half = tuple(rng.uniform(0.05, 0.4, n).tolist())
    return Rounded(X.p, tuple(X.R.column(k) for k in range(n)), half, float(rng.uniform(0.0, 0.2)) * (kind != "box"))


def nearest(a, b):
    """The distance of two volumes without their radii, by SciPy's bounded least squares over coordinates in them."""
    A, B = (np.array([np.multiply(x, h) for x, h in zip(v.axes, v.half, strict=True)]).reshape(-1, 3) for v in (a, b))
    c = np.subtract(b.centre, a.centre)
    E = np.vstack([-A, B]).T
    if not E.size:
        return math.hypot(*c)
    found = lsq_linear(E, -c, bounds=(-1.0, 1.0), method="bvls", tol=1e-15)
    return math.hypot(*(c + E @ found.x))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_distance_of_nearest_points(one, other):
    """What an optimiser finds, where volumes are apart."""
    rng = np.random.default_rng(3)
    for _ in range(12):
        a, b = drawn(rng, one), drawn(rng, other)
        found = distance(a, b, exact=True) + a.radius + b.radius
        if found > 1e-3:
            assert abs(found - nearest(a, b)) < 1e-9


@pytest.mark.parametrize(("one", "other"), [*PAIRS, ("plane", "sphere"), ("plane", "capsule"), ("plane", "box")])
def test_symmetric_and_the_same_wherever_both_are(one, other):
    """d(a, b) = d(b, a) = d(X a, X b), and a shift by s changes it by |s| at most."""
    rng = np.random.default_rng(4)
    for _ in range(10):
        a, b = drawn(rng, one), drawn(rng, other)
        X = Pose(from_quaternion(*rng.normal(size=4).tolist()), Vec3(*rng.normal(size=3).tolist()))
        for exact in (True, False):
            d = distance(a, b, exact)
            assert abs(d - distance(b, a, exact)) < ROUND
            assert abs(d - distance(a.seen_from(X), b.seen_from(X), exact)) < ROUND
            shift = Vec3(*rng.normal(scale=0.2, size=3).tolist())
            moved = b.seen_from(Pose(p=shift))
            assert abs(distance(a, moved, exact) - d) <= math.hypot(*shift) + ROUND


def test_depth_is_the_least_shift_that_parts():
    """Moved by its depth in some direction a box no longer overlaps a capsule, and by less in none."""
    rng, tried = np.random.default_rng(5), 0
    ways = rng.normal(size=(4000, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    while tried < 4:
        a, b = drawn(rng, "box", 0.2), drawn(rng, "capsule", 0.2)
        b = b._replace(radius=0.0)
        depth = -distance(a, b)
        if depth < 0.02:
            continue
        # by how much each direction has to be gone along
        wide = sum(np.abs(ways @ np.array(x)) * h for v in (a, b) for x, h in zip(v.axes, v.half, strict=True))
        needed = wide + ways @ np.subtract(a.centre, b.centre)
        assert depth <= needed.min() + ROUND
        assert needed.min() < depth + 0.03  # 4000 directions are 0.03 rad apart, and extents below 1
        tried += 1


def test_quick_distance_of_boxes_is_a_bound():
    """Between 1 / sqrt(3) of the distance and all of it; where boxes overlap it is the same."""
    rng, ratios = np.random.default_rng(6), []
    for _ in range(40):
        a, b = drawn(rng, "box", 1.0), drawn(rng, "box", 1.0)
        true, quick = distance(a, b, exact=True), distance(a, b)
        if true <= 0.0:
            assert abs(true - quick) < ROUND
        else:
            ratios.append(quick / true)
    assert 1.0 / math.sqrt(3.0) - ROUND < min(ratios) < 0.999 < max(ratios) < 1.0 + ROUND
    corner = Rounded(Vec3(2.0, 2.0, 2.0), a.axes, (0.5, 0.5, 0.5))
    worst = distance(
        Rounded(Vec3(0.0, 0.0, 0.0), tuple(Pose().R), (0.5, 0.5, 0.5)), corner._replace(axes=tuple(Pose().R))
    )
    assert worst == pytest.approx(1.0, abs=ROUND)  # of sqrt(3)


def test_touching_and_coinciding():
    """Spheres that touch are at zero; where centres, axes or boxes coincide nothing is divided by zero."""
    one, two = sphere(Vec3(0.0, 0.0, 0.0), 0.25), sphere(Vec3(0.0, 0.75, 0.0), 0.5)
    assert distance(one, two) == 0.0
    rod = capsule(Vec3(0.0, 0.0, -1.0), Vec3(0.0, 0.0, 1.0), 0.1)
    assert distance(one, one) == pytest.approx(-0.5)
    assert distance(rod, rod) == pytest.approx(-0.2)
    beside = rod.seen_from(Pose(p=Vec3(0.5, 0.0, 1.7)))
    assert distance(rod, beside) == pytest.approx(0.3)  # parallel
    above = rod.seen_from(Pose(p=Vec3(0.0, 0.0, 3.0)))
    assert distance(rod, above) == pytest.approx(0.8)  # in one line
    cube = Rounded(Vec3(0.0, 0.0, 0.0), tuple(Pose().R), (0.5, 0.5, 0.5))
    assert distance(cube, cube) == pytest.approx(distance(cube, cube, exact=True)) == pytest.approx(-1.0)
    assert distance(cube, rod) == pytest.approx(-0.6)  # along a face's normal
    assert distance(cube, rod.seen_from(Pose(p=Vec3(0.5, 0.0, 0.0)))) == pytest.approx(-0.1)  # in a face
    flat = cube._replace(half=(0.5, 0.5, 0.0))
    assert distance(flat, one) == pytest.approx(-0.25)


def test_least_is_that_of_all_pairs():
    """One root for pairs with the same radii changes nothing."""
    rng = np.random.default_rng(7)
    first = [drawn(rng, k) for k in ("sphere", "capsule", "sphere", "box")]
    second = [drawn(rng, k)._replace(radius=r) for k, r in (("sphere", 0.1), ("capsule", 0.1), ("box", 0.0))]
    first = [v._replace(radius=0.1) for v in first]
    assert least(first, second) == pytest.approx(min(distance(a, b) for a in first for b in second), abs=ROUND)


@pytest.mark.parametrize(
    ("kind", "size"), [("cylinder", (0.1, 0.6)), ("cylinder", (0.3, 0.1)), ("ellipsoid", (0.1, 0.4, 0.2))]
)
def test_covers_contain_and_stick_out_as_said(kind, size):
    """Points of the shape are inside; those of the cover are near the shape, and some as far as is said."""
    rng = np.random.default_rng(8)
    shape = lw.Shape("link", kind, size, lw.Pose.of((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)))
    cover = cover_of(shape)
    points = rng.normal(size=(4000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    if kind == "cylinder":
        r, length = size
        ring = points[:, :2] / np.linalg.norm(points[:, :2], axis=1)[:, None] * r
        rim = np.column_stack([ring, np.sign(points[:, 2]) * length / 2.0])
        supports = np.linalg.norm(points[:, :2], axis=1) * r + np.abs(points[:, 2]) * length / 2.0
    else:
        rim = points * size
        supports = np.linalg.norm(points * size, axis=1)
    (volume,) = cover.volumes
    for p in rim[:300]:
        assert distance(volume, sphere(shape.origin.point(Vec3(*p.tolist())), 0.0)) < ROUND
    # both are convex: how far one sticks out is the largest difference of their extents over directions
    ways = points @ np.array(shape.origin.R).T
    wide = sum(np.abs(ways @ np.array(x)) * h for x, h in zip(volume.axes, volume.half, strict=True)) + volume.radius
    over = (wide - supports).max()
    assert over < cover.error * (1.0 + 1e-3)
    assert over > 0.9 * cover.error


def test_spheres_contain_capsules_and_boxes():
    rng = np.random.default_rng(9)
    for kind in ("capsule", "box"):
        volume = drawn(rng, kind)._replace(radius=0.1)
        balls, error = in_spheres(volume)
        for _ in range(200):
            p = np.array(volume.centre)
            for axis, h in zip(volume.axes, volume.half, strict=True):
                p = p + np.multiply(axis, h * rng.uniform(-1.0, 1.0))
            way = rng.normal(size=3)
            p = p + 0.1 * way / np.linalg.norm(way)
            assert min(math.dist(p, b.centre) - b.radius for b in balls) < ROUND
        assert 0.0 < error < 0.5


def test_terrain_is_a_lower_bound():
    """Never more than the distance to the nearest point of the surface, and exact in sign; level ground is exact."""
    rng = np.random.default_rng(10)
    H = rng.uniform(-0.2, 0.2, (4, 5))
    field = HeightField("ground", H, (1.5, 2.0), lw.Pose.of((0.1, -0.2, 0.3), (0.0, 0.0, 0.5))).terrain
    x, y = np.meshgrid(np.linspace(-0.75, 0.75, 151), np.linspace(-1.0, 1.0, 201), indexing="ij")
    u, v = (x + 0.75) / 0.5, (y + 1.0) / 0.5
    i, j = np.minimum(u.astype(int), 2), np.minimum(v.astype(int), 3)
    a, b = u - i, v - j
    z = (1 - a) * (1 - b) * H[i, j] + a * (1 - b) * H[i + 1, j] + (1 - a) * b * H[i, j + 1] + a * b * H[i + 1, j + 1]
    surface = np.stack([x, y, z], axis=-1).reshape(-1, 3) @ np.array(field.frame.R).T + np.array(field.frame.p)
    for _ in range(60):
        k = rng.integers(len(surface))
        p = surface[k] + [0.0, 0.0, rng.uniform(-0.1, 0.3)]
        found = distance(field, sphere(Vec3(*p.tolist()), 0.05)) + 0.05
        true = np.linalg.norm(surface - p, axis=1).min()
        above = p[2] > surface[k, 2]
        assert (found > 0.0) == above
        assert found <= (true if above else -0.0) + 1e-9
        if above:
            assert found >= true / math.hypot(1.0, field.slope) - 0.01  # the surface is sampled each 0.01
    level = HeightField("ground", [[0.5, 0.5], [0.5, 0.5]], (1.0, 1.0)).terrain
    assert distance(level, sphere(Vec3(7.0, 0.0, 1.0), 0.1)) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("heights", "size", "words"),
    [
        ([[1.0, 2.0]], (1.0, 1.0), r"expected a grid of at least \(2, 2\)"),
        ([[1.0, 2.0], [1.0]], (1.0, 1.0), "expected a grid"),
        (3.0, (1.0, 1.0), "expected rows of numbers"),
        ([[1.0, 2.0], [1.0, math.nan]], (1.0, 1.0), "finite"),
        ([[1.0, 2.0], [1.0, 3.0]], (1.0, 0.0), "above 0"),
        (np.zeros((100, 100)), (1.0, 1.0), "at most 4,096 heights"),
    ],
)
def test_bad_height_fields(heights, size, words):
    with pytest.raises(lw.ModelError, match=words):
        HeightField("ground", heights, size)


def test_two_planes_have_no_distance():
    half = HalfSpace(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 1.0))
    with pytest.raises(lw.LinkwiseError, match="with an end"):
        distance(half, half)
