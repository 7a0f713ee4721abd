"""Motions among obstacles: derivatives of rows, a bound that holds, plans of several machines, and what is refused."""

from pathlib import Path as FilePath

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import InputError
from linkwise.planning import around
from linkwise.planning.certified import along_curve, along_path, least_distance
from linkwise.planning.chart import chart_of
from linkwise.planning.clearance import PairKernel
from linkwise.planning.curve import Basis, Curve
from linkwise.planning.nearness import Nearness
from linkwise.planning.path import Path
from linkwise.planning.problem_file import read_problem
from linkwise.planning.sampling import Space, clear_way, shortened
from linkwise.planning.setup import problem_of
from linkwise.robot import HeightField

EXAMPLES = FilePath(__file__).parents[2] / "examples"

ALONG_X = (0.0, np.pi / 2.0, 0.0)
TABLE = lw.Shape("table", "box", (0.8, 1.2, 0.05), lw.Pose.of((0.9, 0.0, -0.4)))
POST = lw.Shape("post", "capsule", (0.05, 0.8), lw.Pose.of((0.5, 0.0, 0.4)))
DRUM = lw.Shape("drum", "cylinder", (0.2, 0.8), lw.Pose.of((0.3, -0.4, 0.3)))  # in a capsule that is 0.41 radii wider
FLOOR = lw.Shape("floor", "plane", origin=lw.Pose.of((0.0, 0.0, -1.0)))
START, GOAL = [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]


def shaped(robot):
    return robot.add(
        lw.Shape("base", "cylinder", (0.15, 0.04), role="collision"),
        lw.Shape("column", "capsule", (0.06, 0.2), lw.Pose.of((0.0, 0.0, 0.15)), "collision"),
        lw.Shape("upper_arm", "capsule", (0.05, 0.4), lw.Pose.of((0.2, 0.0, 0.0), ALONG_X), "collision"),
        lw.Shape("forearm", "capsule", (0.04, 0.3), lw.Pose.of((0.15, 0.0, 0.0), ALONG_X), "collision"),
        lw.Shape("tool", "box", (0.06, 0.1, 0.08), lw.Pose.of((0.0, 0.0, 0.06)), "collision"),
    )


@pytest.fixture(scope="module")
def arm():
    return shaped(lw.load(EXAMPLES / "arm.urdf"))


@pytest.fixture(scope="module")
def plan(arm):
    found = lw.plan(arm, START, GOAL, subject_to=lw.limit.clearance([TABLE, POST], 0.01), progress=False)
    assert found.converged, found.summary
    return found


def nearness(robot, *obstacles, **how):
    return Nearness(lw.limit.clearance(obstacles, **how).scene(robot), chart_of(robot))


# ---- rows


def test_distances_are_those_of_clearance(arm):
    ground = HeightField("ground", 0.05 * np.random.default_rng(0).uniform(size=(4, 5)), (2.0, 2.0), FLOOR.origin)
    near, x = (
        nearness(arm, TABLE, POST, FLOOR, ground, exact=True),
        np.random.default_rng(1).uniform(-1.5, 1.5, (50, 3)),
    )
    expected = lw.compile(arm).clearance.among([TABLE, POST, FLOOR, ground], exact=True)
    assert near.pairs == expected.pairs
    assert np.allclose(near.distances(x), expected.distances(x), rtol=0.0, atol=1e-14)


def test_first_and_second_derivatives_of_rows(arm):
    near = nearness(arm, TABLE, POST, FLOOR, exact=True)
    kernel, count, h = PairKernel(near), len(near.owner), 1e-6
    x = np.random.default_rng(1).uniform(-1.5, 1.5, (count, 3))
    data, weights = np.stack([np.zeros(count), np.arange(count)], axis=1), np.linspace(0.5, 1.5, count)[:, None]
    values, slopes = kernel.first(x[:, None], data)
    assert np.allclose(values, kernel.values(x[:, None], data), rtol=0.0, atol=1e-15)
    gradient, H = kernel.second(x[:, None], data, weights)
    assert np.allclose(gradient, weights * slopes[:, :, 0], rtol=0.0, atol=1e-14)
    for j, e in enumerate(h * np.eye(3)):
        sides = [kernel.first((x + side)[:, None], data) for side in (e, -e)]
        assert np.allclose((sides[0][0] - sides[1][0])[:, 0] / (2.0 * h), slopes[:, j, 0], rtol=0.0, atol=1e-8)
        change = (sides[0][1] - sides[1][1])[:, :, 0] / (2.0 * h)
        assert np.allclose(weights * change, H[:, :, j], rtol=0.0, atol=1e-7)


def test_nearest_volumes_are_those_of_the_nearest_links(arm):
    near, x = nearness(arm, TABLE, POST), np.random.default_rng(2).uniform(-1.5, 1.5, (20, 3))
    distances = near.distances(x)
    pairs = np.argmin(distances, axis=1)
    data = np.stack([np.zeros(20), near.nearest(x, np.zeros(20), pairs)], axis=1)
    assert np.allclose(PairKernel(near).values(x[:, None], data)[:, 0], distances.min(axis=1), rtol=0.0, atol=1e-14)


# ---- the bound


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_what_is_proven_is_never_above_what_is_seen(base):
    robot = shaped(lw.load(EXAMPLES / "arm.urdf", base=base))
    near, rng = nearness(robot, TABLE, POST), np.random.default_rng(3)
    for degree in (3, 4, 5):
        basis = Basis.uniform(degree, 9)
        curve = Curve(basis, rng.uniform(-0.6, 0.6, (9, near.chart.n)), 1.7)
        found = along_curve(near, curve)
        s = np.linspace(0.0, 1.0, 20_001)
        dense = near.distances(basis.matrix(s) @ curve.points).min()
        assert found.certified
        assert found.distance <= min(dense, found.seen)
        assert max(dense, found.seen) - found.distance <= 5.1e-4
        at = near.distances(curve(found.time)[None])[0]
        assert at[near.pairs.index(found.pair)] == pytest.approx(found.seen, abs=1e-12)


def test_one_curve_whatever_it_is_called(arm, plan):
    near, curve = nearness(arm, TABLE, POST), plan.curve
    spline = Path.spline(__import__("scipy.interpolate").interpolate.BSpline(curve.basis.knots, curve.points,
                                                                            curve.basis.degree))  # fmt: skip
    assert along_path(near, spline).distance == pytest.approx(along_curve(near, curve).distance, abs=1e-9)
    sampled = along_path(near, Path(lambda s: spline.derivatives(s, 3), 0.0, 1.0, width=3))
    assert not sampled.certified
    assert "in samples" in str(sampled)
    assert sampled.distance >= along_curve(near, curve).distance
    line = least_distance(near, lambda s, k: np.zeros((len(s), 3)), np.array([0.0, 1.0]), 3)  # stands still
    assert line.distance == line.seen


# ---- plans


def test_a_plan_goes_around_and_says_how_near_it_comes(arm, plan):
    t = np.linspace(0.0, plan.duration, 20_000)
    near = lw.compile(arm).clearance.among([TABLE, POST])
    found = near(plan.q(t)).distance.min()
    assert 0.01 <= plan.clearance.distance <= found <= plan.clearance.distance + 6e-4
    assert plan.clearance.pair == ("forearm", "post")
    assert plan.distance(t).min() == pytest.approx(found, abs=1e-12)
    assert lw.compile(arm).clearance(np.zeros(3), [TABLE, POST]).distance < 0.0  # straight through, it would touch
    limits = [arm.joint(n).limits for n in arm.names]
    assert (np.abs(plan.tau(t)) <= 1.0001 * np.array([x.effort for x in limits])).all()
    assert (np.abs(plan.qd(t)) <= 1.0001 * np.array([x.velocity for x in limits])).all()
    assert plan.multipliers["clearance.forearm.post"] > 0.0  # a larger margin takes longer


@pytest.mark.parametrize("solver", ["scipy", "ipopt"])
def test_every_solver_goes_around(arm, plan, solver):
    found = lw.plan(arm, START, GOAL, subject_to=lw.limit.clearance([TABLE, POST], 0.01), solver=solver, progress=False)
    assert found.converged
    assert found.clearance.distance >= 0.01
    assert found.duration == pytest.approx(plan.duration, rel=5e-3)


def test_a_plan_is_kept_with_its_obstacles(plan, tmp_path):
    plan.save(tmp_path / "plan.npz")
    again = lw.planning.Plan.load(tmp_path / "plan.npz")
    assert again.obstacles == plan.obstacles
    assert again.clearance == plan.clearance
    text = plan.view(tmp_path / "page.html").read_text()
    assert len(text) > len(again.robot.view(tmp_path / "robot.html").read_text())


def test_without_obstacles_links_stay_clear_of_each_other(arm):
    start, goal = [0.0, 1.2, 0.3], [0.0, 0.9, 0.5]
    found = lw.plan(arm, start, goal, subject_to=lw.limit.clearance(), progress=False)
    assert found.converged
    assert found.clearance.distance > 0.0
    free = lw.plan(arm, start, goal, progress=False)
    assert free.clearance.pair in lw.compile(arm).clearance.pairs  # of its own links, where nothing else was asked


def test_the_same_seed_the_same_way(arm):
    problem = problem_of(arm, START, GOAL, None, [lw.limit.clearance([TABLE, POST])], 1.0, 20, None, 3)
    space = Space(problem.near, *(np.clip(x, -np.pi, np.pi) for x in problem.box))
    ways = [shortened(space, clear_way(space, np.array(START), np.array(GOAL), 1), 1) for _ in range(2)]
    assert np.array_equal(*ways)
    dense = np.concatenate([np.linspace(a, b, 300) for a, b in zip(ways[0][:-1], ways[0][1:], strict=True)])
    assert lw.compile(arm).clearance(dense, [TABLE, POST]).distance.min() > -0.01


def test_where_no_way_is_found_it_says_so(arm, monkeypatch):
    monkeypatch.setattr(around, "PATIENCE", 0.2)
    walls = [lw.Shape("wall", "box", (1.6, 0.02, 3.0), lw.Pose.of((x, 0.0, 0.0))) for x in (-1.0, 1.0)]
    ceiling = lw.Shape("ceiling", "box", (3.0, 3.0, 0.02), lw.Pose.of((0.0, 0.0, 0.5)))
    limit = lw.limit.clearance([*walls, ceiling])
    plan = lw.plan(arm, START, GOAL, subject_to=limit, progress=False, iterations=20)
    assert plan.status == "gave up"
    assert "wall" in plan.summary


def test_a_platform_and_a_floating_base_stay_clear():
    robot = lw.load("delta")
    shape = lw.Shape(robot.moving_links[-1], "sphere", 0.05, role="collision")
    near = nearness(robot.replace(shapes=[shape]), lw.Shape("ball", "sphere", 0.05, lw.Pose.of((0.0, 0.0, -2.0))))
    q = robot.q()
    found = near.distances(np.tile(chart_of(robot).numbers(q, lw.compile(robot).positions(q).q), (2, 1)))
    expected = lw.compile(near.scene.robot).clearance.among(near.scene.obstacles)(q).distance
    assert np.allclose(found.min(axis=1), expected, rtol=0.0, atol=1e-12)


# ---- paths and postures


def test_a_path_is_refused_where_it_touches(arm, plan):
    through = [START, [0.0, 0.0, 0.0], GOAL]
    with pytest.raises(InputError, match=r"'forearm' and 'post' come as near as -0.0\d+ m at s = 0.\d+, expected"):
        lw.retime(arm, through, clearance=lw.limit.clearance([TABLE, POST]))
    found = lw.retime(arm, plan.q(np.linspace(0.0, plan.duration, 15)), clearance=lw.limit.clearance([TABLE, POST]))
    near = lw.compile(arm).clearance.among([TABLE, POST])
    assert 0.0 < found.clearance.distance <= near(found.q).distance.min()
    assert near(found([found.clearance.time])[0]).distance == pytest.approx(found.clearance.seen, abs=1e-3)
    assert found.obstacles == (TABLE, POST)


def test_postures_that_touch_are_not_taken():
    robot = lw.load("arm7")
    links = robot.moving_links
    robot = robot.replace(shapes=[lw.Shape(n, "sphere", 0.06, role="collision") for n in links[2:]])
    dyn, rng = lw.compile(robot), np.random.default_rng(0)
    T = dyn.pose(rng.uniform(-1.0, 1.0, (20, 7)), links[-1])
    free = lw.inverse_kinematics(robot, links[-1], T)
    elbow = dyn.pose(free.q[0], links[3])[:3, 3]
    ball = lw.Shape("ball", "sphere", 0.08, lw.Pose.of(elbow))
    off = [(links[-1], "ball")]
    clear = lw.limit.clearance([ball], 0.005, ignore=off, self_collision=False)
    found = lw.inverse_kinematics(robot, links[-1], T, clearance=clear)
    near = dyn.clearance.among([ball], ignore=off, pairs=[])
    assert near(free.q[0]).distance < 0.0
    assert found.converged.sum() >= 18
    assert (near(found.q[found.converged]).distance >= 0.005).all()
    assert np.abs(dyn.pose(found.q, links[-1]) - T)[found.converged].max() < 1e-6


REFUSED = {
    "start": (lambda r: lw.plan(r, [0.0, 0.0, 0.0], GOAL, subject_to=lw.limit.clearance([POST])), "start: .* overlap"),
    "covered": (
        lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.clearance(DRUM)),
        "up to 0.0828 m wider than their",
    ),
    "margin": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.clearance([POST], 0.5)), "more than the margin"),
    "number": (lambda r: lw.limit.clearance([POST], "wide"), "clearance margin"),
    "shape": (lambda r: lw.limit.clearance(["post"]), r"such as lw.Shape\(\"post\", \"sphere\", 0.1"),
    "word": (lambda r: lw.limit.clearance([POST], margn=0.1), "unknown argument 'margn'"),
    "ball": (lambda r: lw.limit.clearance(sphere=((0, 0, 0), 1.0)), "expected a frame"),
    "name": (lambda r: lw.plan(r, START, GOAL, subject_to=lw.limit.clearance([POST], ignore=["cup"])), "cup"),
    "posture": (lambda r: lw.inverse_kinematics(r, "tool", [0.3, 0.0, 0.3], clearance=[POST]), "with shapes"),
    "path": (lambda r: lw.retime(r, [START, GOAL], clearance=lw.limit.joints("effort")), "with shapes"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_words(arm, case):
    ask, words = REFUSED[case]
    with pytest.raises(lw.LinkwiseError, match=words):
        ask(arm)


# ---- problem files


PROBLEM = """
start = [-1.0, 0.0, 0.0]
goal = [1.0, 0.0, 0.0]
[[obstacle]]
name = "post"
shape = "capsule"
size = [0.05, 0.8]
xyz = [0.5, 0.0, 0.4]
"""


def test_obstacles_of_a_problem_file(tmp_path):
    file = tmp_path / "problem.toml"
    for more, margin, expected in (("", None, 0.0), ("[[clearance]]\nmargin = 0.02\n", None, 0.02), ("", 0.03, 0.03)):
        file.write_text(PROBLEM + more)
        (found,) = read_problem(file, margin)["subject_to"]
        assert (found.obstacles, found.margin) == ((POST,), expected)
    for wrong, words in (("shap = 1", "shap"), ('shape = "blob"', "blob"), ("size = [1.0]", "expected shape"),
                         ('shape = "sphere"\nsize = [0.1]\nxyz = [1.0]', "xyz")):  # fmt: skip
        file.write_text(f"[[obstacle]]\n{wrong}\n")
        with pytest.raises(InputError, match=words):
            read_problem(file)


# ---- the bundled problems of VAMP


@pytest.mark.slow
def test_problems_of_vamp(tmp_path_factory, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES.parent / "benchmarks"))
    import obstacles
    import vamp

    folder = vamp.folder() or vamp.fetched(tmp_path_factory.mktemp("vamp"))
    if folder is None:
        pytest.fail("vamp-planner 0.6.4 is not here: set VAMP to its unpacked source distribution, or let pip fetch it")
    panda, ignore = obstacles.robot(folder)
    rows = [obstacles.solved(panda, ignore, task) for task in vamp.tasks(folder, 50)]
    tried = [r for r in rows if "refused" not in r]
    assert len(tried) >= 10
    assert all(r["least"] > 0.0 for r in tried)
    assert all(r["certified"] <= r["least"] for r in tried)
    assert np.mean([max(r["used"].values()) <= 1.0 + 1e-3 for r in tried]) >= 0.95
    assert np.mean([r["status"] == "converged" for r in tried]) >= 0.9
