"""Clearance of machines of every sort: derivatives, bounds of motion, obstacles, and which pairs are looked at."""

import math
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.kernel import size
from linkwise.kernel.kernel import Kernel
from linkwise.mechanism.scene import STILL
from linkwise.mechanism.touching import ALWAYS, ASKED, JOINED, SAME
from linkwise.robot import HeightField
from support.every_machine import sort
from support.shaped import shaped
from support.trees import gradient

CHAIN = shaped(lw.random_tree(5, 6, kinds=("revolute",), branching=0.0, fixed=0.0))
FLOOR = lw.Shape("floor", "plane", origin=lw.Pose.of((0.0, 0.0, -1.5)))
BALL = lw.Shape("ball", "sphere", (0.2,), lw.Pose.of((0.8, 0.1, 0.2)))
TABLE = lw.Shape("table", "box", (0.5, 0.7, 0.1), lw.Pose.of((0.3, 0.9, 0.4), (0.1, 0.2, 0.3)))
ROD = lw.Shape("rod", "capsule", (0.05, 0.6), lw.Pose.of((-0.5, 0.4, 0.6), (1.0, 0.2, 0.0)))
OBSTACLES = [FLOOR, BALL, TABLE, ROD]


def positions(robot, rows=6, seed=0):
    return np.random.default_rng(seed).uniform(-2.0, 2.0, (rows, robot.nq))


def test_least_of_all_pairs():
    """distance is the least of distances, pair says which, and plain Python gives the same."""
    near, q = lw.compile(CHAIN).clearance.among(OBSTACLES), positions(CHAIN)
    found, every = near(q), near.distances(q)
    assert np.array_equal(found.distance, every.min(axis=1))
    assert np.array_equal(found.pair, every.argmin(axis=1))
    assert found.pair.dtype == np.intp
    assert every.shape == (len(q), len(near.pairs))
    plain = lw.algorithms.link_distances.plain(CHAIN, q[0].tolist(), **near.distances.static)
    assert np.abs(every[0] - plain).max() < 1e-13
    one = near(q[0])
    assert one.distance == found.distance[0]
    assert near.pairs[one.pair] == near.pairs[found.pair[0]]


@pytest.mark.parametrize("exact", [False, True])
def test_gradients_by_complex_step(exact):
    """Of every pair, spheres, capsules, boxes and planes among themselves, apart and overlapping."""
    near, q = lw.compile(CHAIN).clearance.among(OBSTACLES, exact=exact), positions(CHAIN, 3, 1)
    if exact:  # boxes alone
        boxes = [s.link for s in (*CHAIN.shapes, TABLE) if s.kind == "box"]
        near = near.among([TABLE], exact=True, pairs=[], ignore=[s.link for s in CHAIN.shapes if s.kind != "box"])
        assert near.pairs
        assert {name for pair in near.pairs for name in pair} <= {*boxes}
    static = near.distances.static
    J, g, found = near.jacobian(q), near.gradient(q), near(q)
    for row, x in enumerate(q):
        expected = gradient(CHAIN, lambda q: lw.algorithms.link_distances.plain(CHAIN, q, **static), x)
        assert np.abs(J[row] - expected).max() < 1e-10
        assert np.abs(g[row] - expected[found.pair[row]]).max() < 1e-10


@pytest.mark.parametrize("name", ["floating", "elastic", "five-bar", "hexapod", "3-RRR", "arm + four-bar gripper"])
def test_machines(name):
    """Distances are those of the opened tree where its loops close; derivatives are those along what leads."""
    machine = sort(name)
    robot = shaped(machine.robot, kinds=("sphere", "capsule"), size=0.02, most=5)
    near = lw.compile(robot).clearance.among([BALL, ROD])
    q = machine.states(3)[0]
    dyn = lw.compile(robot)
    own = [p for p in near.pairs if not {"ball", "rod"} & set(p)]
    tree = lw.compile(robot.opened()).clearance.among([BALL, ROD], pairs=own)
    assert set(tree.pairs) == set(near.pairs)
    places = [tree.pairs.index(p) for p in near.pairs]
    whole = dyn.positions(q).q
    assert np.abs(near.distances(q) - tree.distances(whole)[:, places]).max() < 1e-9
    J, h = near.jacobian(q), 1e-6
    for k, way in enumerate(np.eye(robot.nv)):
        ahead, behind = (near.distances(dyn.integrate(q, s * h * way, 1.0)) for s in (1.0, -1.0))
        slope = (ahead - behind) / (2.0 * h)
        assert np.median(np.abs(J[..., k] - slope)) < 1e-8
        assert np.quantile(np.abs(J[..., k] - slope), 0.98) < 1e-6  # but where the nearest volumes change


@pytest.mark.parametrize("seed", range(4))
def test_reach_bounds_motion(seed):
    """|change of a distance| <= reach @ |change of positions|, and a joint that moves neither side has none."""
    robot = shaped(lw.random_tree(seed, 5, mimic=0.2, fixed=0.2), seed, ("sphere", "capsule"))
    limits = {j.name: lw.Limits(-1.0, 1.0) for j in robot.joints if j.freedom.is_single}
    robot = robot.replace(joints=[replace(j, limits=limits.get(j.name, j.limits)) for j in robot.joints])
    near = lw.compile(robot).clearance.among(OBSTACLES)
    rng = np.random.default_rng(seed)
    q0, q1 = rng.uniform(-1.0, 1.0, (2, 400, robot.nq))
    q1 = np.where(rng.random(q1.shape) < 0.5, q0, q1)
    change, bound = np.abs(near.distances(q1) - near.distances(q0)), np.abs(q1 - q0) @ near.reach.T
    assert np.isfinite(near.reach).all()
    assert (change <= bound + 1e-12).all()
    assert (np.abs(near.jacobian(q0)) <= near.reach + 1e-12).all()
    still = ~(near.jacobian(q0) != 0.0).any(axis=0)
    assert (near.reach[still] == 0.0).mean() > 0.9  # all but joints whose motion happens not to matter


def test_reach_without_limits_is_infinite():
    """Beyond a sliding joint that may go anywhere levers have no bound; its own speed has."""
    robot = lw.load("stanford").replace(shapes=[])
    robot = shaped(robot.replace(joints=[replace(j, limits=lw.Limits()) for j in robot.joints]))
    near = lw.compile(robot).clearance
    k = next(i for i, j in enumerate(robot.joints) if j.freedom.slides)
    far = [row for row, (a, b) in enumerate(near.pairs) if {a, b} == {robot.links[0].name, robot.links[-1].name}]
    assert np.isinf(near.reach[far, :k]).all()
    assert np.array_equal(near.reach[far, k], [1.0])


def test_obstacles_that_move():
    """Poses as an input are the same as shapes moved there, and balls as an input the same as fixed spheres."""
    dyn, q = lw.compile(CHAIN), positions(CHAIN, 4, 2)
    near = dyn.clearance.among(OBSTACLES, moving=("rod", "table"), spheres=2)
    assert near.kernel.inputs == {"q": (6,), "obstacles": (2, 4, 4), "spheres": (2, 4)}
    X = lw.Pose.of((0.1, -0.2, 0.3), (0.5, 0.1, -0.4))
    poses = np.array([X.matrix(), lw.Pose().matrix()])
    balls = np.array([[0.5, 0.5, 0.5, 0.1], [-0.4, 0.2, 0.9, 0.25]])
    moved = [FLOOR, BALL, TABLE, replace(ROD, origin=X @ ROD.origin)]
    moved += [lw.Shape("spheres", "sphere", (float(b[3]),), lw.Pose.of(b[:3].tolist())) for b in balls]
    still = dyn.clearance.among(moved)
    at = [near.pairs.index(p) for p in still.pairs]
    assert set(near.pairs) - set(still.pairs) == {("base", "rod"), ("base", "table"), ("base", "spheres")}
    assert np.abs(near.distances(q, poses, balls)[:, at] - still.distances(q)).max() < 1e-13
    many = near(q[:, None], poses[None, None], np.stack([balls, balls + 0.1]))
    assert many.distance.shape == (4, 2)
    # the same as arguments of a call
    assert np.array_equal(dyn.clearance(q, moved).distance, still(q).distance)
    assert np.abs(dyn.clearance(q, balls).distance - dyn.clearance.among(spheres=2)(q, balls).distance).max() == 0.0
    assert np.array_equal(dyn.clearance(q, BALL).distance, dyn.clearance.among([BALL])(q).distance)


def test_height_field():
    """Level ground as a field is the plane, and hills come nearer."""
    dyn, q = lw.compile(CHAIN), positions(CHAIN, 5, 3)
    flat = HeightField("floor", np.full((3, 4), -1.5), (2.0, 2.0))
    assert np.abs(dyn.clearance(q, [flat]).distance - dyn.clearance(q, [FLOOR]).distance).max() < 0.05  # of the covers
    hills = HeightField("floor", -1.5 + 0.1 * np.arange(12.0).reshape(3, 4) % 0.3, (2.0, 2.0))
    lower, higher = (dyn.clearance.among([f], pairs=[]).distances(q) for f in (flat, hills))
    assert (higher <= lower + 1e-12).all()


def test_pairs_left_out():
    """Neighbours, welded links, links that touch always, and those that are ignored; each with the reason."""
    links = [lw.Link(n, 1.0) for n in ("base", "upper", "lower", "hand", "sensor")]
    place = lw.Pose.of((0.0, 0.0, 0.3))
    joints = [
        lw.Joint("a", "base", "upper", axis=(0, 1, 0), origin=place),
        lw.Joint("b", "upper", "lower", axis=(0, 1, 0), origin=lw.Pose.of((0.0, 0.0, 0.02))),
        lw.Joint("c", "lower", "hand", axis=(0, 1, 0), origin=place),
        lw.Joint("d", "hand", "sensor", "fixed", origin=lw.Pose.of((0.0, 0.0, 0.1))),
    ]
    shapes = [lw.Shape(link.name, "sphere", (0.05,), role="collision") for link in links]
    shapes[0] = replace(shapes[0], origin=place)  # around the first joint, where the lower link begins too
    robot = lw.Robot(links, joints, shapes=shapes)
    near = lw.compile(robot).clearance
    reasons = {(x.a, x.b): x.reason for x in near.left_out}
    assert reasons == {
        ("base", "upper"): JOINED, ("upper", "lower"): JOINED, ("lower", "hand"): JOINED, ("lower", "sensor"): JOINED,
        ("hand", "sensor"): SAME, ("base", "lower"): ALWAYS,
    }  # fmt: skip
    assert near.pairs == (("base", "hand"), ("base", "sensor"), ("upper", "hand"), ("upper", "sensor"))
    said = [d for d in robot.diagnostics if d.level == "info"]
    assert [d.where for d in said] == ["links 'base' and 'lower'"]
    assert "clearance leaves this pair out" in said[0].message
    some = near.among(OBSTACLES[:1], ignore=["sensor", ("hand", "base"), ("floor", "upper")])
    assert some.pairs == (("upper", "hand"), ("lower", "floor"), ("hand", "floor"))
    assert {x.reason for x in some.left_out} == {JOINED, SAME, ALWAYS, ASKED, STILL}
    assert near.among(pairs=[("base", "lower")]).pairs == (("base", "lower"),)
    assert near.among(pairs=[("base", "lower")])(robot.q()).distance < 0.0


def test_loops_join_their_ends():
    """Two links that a cut joint joins are neighbours."""
    robot = shaped(lw.load("fourbar"), size=0.01)
    reasons = {frozenset((x.a, x.b)): x.reason for x in lw.compile(robot).clearance.left_out}
    for loop in robot.loops:
        assert reasons[frozenset((loop.a, loop.b))] == JOINED


def test_options():
    """Numbers of the model as an input, float32, threads; NaN stays in its row; it can be sent to other processes."""
    q = positions(CHAIN, 5)
    plain = lw.compile(CHAIN).clearance
    dyn = lw.compile(CHAIN, parameters=("joint3.xyz",))
    own = dyn.clearance.kernel.parameters
    assert np.abs(dyn.clearance(q, own).distance - plain(q).distance).max() < 1e-13
    assert not np.allclose(dyn.clearance(q, own + 0.2).distance, plain(q).distance)
    assert np.allclose(dyn.clearance(q, [BALL], own).distance, plain(q, [BALL]).distance)
    single = lw.compile(CHAIN, dtype="float32").clearance(q)
    assert single.distance.dtype == np.float32
    assert np.abs(single.distance - plain(q).distance).max() < 1e-5
    q[1, 0] = np.nan
    found = plain(q)
    assert np.isnan(found.distance[1])
    assert found.pair[1] == -1
    assert np.isfinite(np.delete(found.distance, 1)).all()
    again = pickle.loads(pickle.dumps(plain.among(OBSTACLES)))
    assert np.array_equal(again(q[0]).distance, plain(q[0], OBSTACLES).distance)
    assert "floor" in repr(again)
    assert "clearance" in plain.kernel.c_source()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda c, q: c(q, 3.0), r"expected a list of shapes, or an array of balls \(..., k, 4\)"),
        (lambda c, q: c(q, np.zeros((2, 3))), "an array of balls"),
        (lambda c, q: c.among([3]), "expected shapes or height fields"),
        (lambda c, q: c.among(moving="cart").pairs and c.among(moving="cart").kernel, "obstacle that moves 'cart'"),
        (lambda c, q: c.among(spheres=-1), "whole number from 0 on"),
        (lambda c, q: c.among(parts=0), "whole number from 1 on"),
        (lambda c, q: c.among(ignore=[("a", "b", "c")]), "expected pairs of names"),
        (lambda c, q: c.among(ignore=["hand"]).pairs, "unknown link with a collision shape, or obstacle, 'hand'"),
        (lambda c, q: c.among([lw.Shape("link1", "sphere", 0.1)]).pairs, "a name that no link has"),
        (lambda c, q: c.among(pairs=[])(q), "expected pairs of the robot"),
        (lambda c, q: c(q[:3]), r"expected q of shape \(..., 6\)"),
    ],
)
def test_errors(ask, words):
    with pytest.raises(lw.LinkwiseError, match=words):
        ask(lw.compile(CHAIN).clearance, CHAIN.q())


def test_a_robot_without_shapes_says_what_to_do():
    with pytest.raises(lw.ModelError, match=r"expected collision shapes of the robot .* robot.add\(lw.Shape"):
        lw.compile(lw.load("rr").replace(shapes=())).clearance(np.zeros(2))


def test_one_distance_in_closed_form():
    """A ball at the end of a rod that turns beside a wall: L cos(q) less radius."""
    robot = lw.Robot(
        [lw.Link("base"), lw.Link("rod", 1.0)],
        [lw.Joint("turn", "base", "rod", axis=(0, 1, 0))],
        shapes=[lw.Shape("rod", "sphere", (0.1,), lw.Pose.of((0.0, 0.0, 0.7)), "collision")],
    )
    wall = lw.Shape("wall", "plane", origin=lw.Pose.of((-1.0, 0.0, 0.0), (0.0, math.pi / 2.0, 0.0)))
    near, q = lw.compile(robot).clearance.among([wall]), np.linspace(-1.0, 1.0, 7)[:, None]
    assert np.abs(near(q).distance - (0.7 * np.sin(q[:, 0]) + 1.0 - 0.1)).max() < 1e-15
    assert np.abs(near.gradient(q)[:, 0] - 0.7 * np.cos(q[:, 0])).max() < 1e-15


def test_too_many_pairs_are_refused_before_anything_is_traced(monkeypatch):
    """In words that say how many, what they cost and what to do; the cost is foretold from the kinds of volumes."""
    near = lw.compile(CHAIN).clearance.among([BALL, TABLE, ROD])
    foretold = []
    monkeypatch.setattr(size, "MOST", 0)
    for kernel, derived in (("distances", 1), ("jacobian", size.DERIVED)):
        with pytest.raises(lw.InputError) as refused:
            getattr(near, kernel)
        foretold.append(int(re.search(r"which take about ([\d,]+)", str(refused.value))[1].replace(",", "")))
        assert foretold[-1] == derived * foretold[0]
    monkeypatch.undo()
    for kernel, most in zip((near.distances, near.jacobian), foretold, strict=True):
        assert 0.4 * most < len(kernel.program.schedule) < 2.0 * most

    first, second = (CHAIN.shapes[k].link for k in (0, -1))
    spread = np.random.default_rng(0).normal(size=(2, 600, 3))
    crowd = [lw.Shape(link, "sphere", (0.01,), lw.Pose.of(tuple(p)), role="collision")
             for link, places in zip((first, second), spread, strict=True) for p in places.tolist()]  # fmt: skip
    many = CHAIN.replace(shapes=crowd)
    words = (r"360,000 pairs of volumes in 1 pairs.*about 4,320,000, and some 108 s to compile.*a sphere and a sphere,"
             r" 12 operations each.*ignore=\.\.\.")  # fmt: skip
    monkeypatch.setattr(Kernel, "of", None)
    with pytest.raises(lw.InputError, match=words):
        lw.compile(many).clearance(many.q())
    with pytest.raises(lw.InputError, match=words):
        lw.plan(many, many.q(), many.q() + 0.1, subject_to=[lw.limit.joints(velocity=1.0), lw.limit.clearance()])
