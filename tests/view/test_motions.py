"""Results and files of every kind become pages whose motion is theirs."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.view.motion import ROWS, Motion
from linkwise.view.page import view
from linkwise.walking.person import Person
from linkwise.walking.problem import Problem
from linkwise.walking.result import Walk
from linkwise.walking.walk import first_curve
from support.browser import Opened
from support.every_machine import sort

ARM = lw.load("rr")


def simulated(robot=ARM, rows=40):
    return lw.simulate(robot, robot.q() + 0.2, None, np.linspace(0.0, 1.0, rows))


def pages():
    """What has a method `view`, and where its robot is at some time."""
    sim = simulated()
    yield "simulation", sim, (sim.t[10], sim.q[10])
    rollout = lw.compile_rollout(ARM)
    rolled = rollout(np.stack([ARM.q(), ARM.q() + 0.3]), np.zeros((2, 2)), [0.1, 0.0], 0.01, steps=30, every=3)
    yield "rollout", rolled, (0.09, rolled.q[0, 2])
    plan = lw.plan(ARM, {"joint1": 0.0, "joint2": 0.0}, {"joint1": 0.4, "joint2": 0.3}, duration=1.0, control_points=6)
    yield "plan", plan, (plan.times()[100], plan.q(plan.times()[100]))
    path = lw.retime(ARM, [[0.0, 0.0], [0.3, 0.1], [0.5, 0.4]])
    yield "retimed path", path, (path.t[5], path.q[5])
    reached = lw.inverse_kinematics(ARM, ARM.moving_links[-1], [[0.5, 0.2, 0.0], [0.3, 0.4, 0.0]], guess=[0.1, 0.3])
    yield "inverse kinematics", reached, (1.0, reached.q[1])


@pytest.fixture(scope="module")
def results():
    return {name: (result, there) for name, result, there in pages()}


@pytest.mark.parametrize("name", ["simulation", "rollout", "plan", "retimed path", "inverse kinematics"])
def test_results_show_themselves(results, browser, tmp_path, name):
    result, (t, q) = results[name]
    path = result.view(tmp_path / "page.html")
    with Opened(browser, path) as page:
        page.ask("linkwise.ready.then(() => true)")
        found = page.ask(f"linkwise.poses({float(t)})")
        np.testing.assert_allclose(list(found.values())[1:], lw.compile(ARM).poses(q), atol=1e-9)
        assert not page.console


def test_rows_of_a_rollout(results, tmp_path):
    rolled = results["rollout"][0]
    rolled.view(tmp_path / "second.html", row=1)
    with pytest.raises(lw.InputError, match="view row: expected a whole number below 2, got 2"):
        rolled.view(tmp_path / "third.html", row=2)
    end = lw.compile_rollout(ARM)(ARM.q(), ARM.v(), None, 0.01, steps=3, keep="end")
    with pytest.raises(lw.InputError, match='Use keep="all"'):
        end.view(tmp_path / "end.html")


def test_a_motion_keeps_what_a_table_has():
    sim = simulated()
    motion = Motion.of(ARM, sim, wrenches=True)
    np.testing.assert_array_equal(motion.q, sim.q)
    np.testing.assert_array_equal(motion.curves["tau"][1], sim.tau)
    assert motion.curves["qd"][0] == ["qd.joint1", "qd.joint2"]
    expected = lw.compile(ARM).joint_wrenches(sim.q, sim.qd, sim.qdd).wrench
    np.testing.assert_allclose(motion.wrench, expected)


def test_what_failed_is_shown_as_far_as_it_came():
    sim = simulated()
    sim.q[-1] = np.nan
    assert len(Motion.of(ARM, sim).t) == len(sim.t) - 1


def test_files_and_frames_and_positions(tmp_path):
    sim = simulated()
    for suffix in (".csv", ".npz", ".parquet"):
        sim.save(tmp_path / f"fall{suffix}")
        np.testing.assert_allclose(Motion.of(ARM, tmp_path / f"fall{suffix}").q, sim.q, atol=1e-12)
    np.testing.assert_array_equal(Motion.of(ARM, sim.to_dataframe()).q, sim.q)
    assert Motion.of(ARM, {"joint1": 0.3}).q.tolist() == [[0.3, 0.0]]
    assert Motion.of(ARM, [0.1, 0.2]).q.tolist() == [[0.1, 0.2]]
    assert not Motion.of(ARM, [[0.1, 0.2], [0.3, 0.4]]).timed
    assert Motion.of(ARM).q.tolist() == [ARM.q().tolist()]


def test_motors_may_be_left_out_and_loops_keep_their_assembly_mode():
    soft = sort("elastic").robot
    assert Motion.of(soft, np.zeros(6)).robot == soft.rigid()
    five = lw.load("fivebar")
    q = np.linspace([0.0, 0.0], [0.2, 0.1], 6)
    tree = lw.compile(five).positions(q).q
    down = lw.compile(five).positions(q, guess={"left_elbow": 2.3, "right_elbow": -2.3}).q
    names = [f"q.{n}" for n in five.opened().coordinates]
    for rows, robot in ((tree, five), (down, five.opened())):
        columns = {"t": np.arange(6.0), **dict(zip(names, rows.T, strict=True))}
        assert Motion.of(five, columns).robot == robot


def test_long_motions_are_thinned():
    t = np.linspace(0.0, 10.0, 3 * ROWS)
    motion = Motion.of(ARM, {"t": t, "joint1": t, "joint2": 0 * t})
    assert len(motion.t) == ROWS
    assert motion.t[-1] == 10.0
    assert motion.notes == (f"{ROWS:,} of {3 * ROWS:,} rows are shown",)


def test_a_walk_has_the_forces_of_the_ground(browser, tmp_path):
    problem = Problem(Person())
    walk = Walk(problem, first_curve(problem, None), (), "stopped", 0.0)
    walk.view(tmp_path / "walk.html")
    with Opened(browser, tmp_path / "walk.html") as page:
        page.ask("linkwise.ready.then(() => true)")
        stride = walk.stride()
        found = page.ask(f"linkwise.poses({float(stride.t[7])})")
        names = problem.robot.moving_links
        expected = lw.compile(problem.robot).poses(stride.q[7])
        np.testing.assert_allclose([found[n] for n in names], expected, atol=1e-9)
        assert page.page.get_by_text("Outer forces").count() == 1
        assert not page.console


def test_errors_are_in_words(tmp_path):
    page = tmp_path / "page.html"
    cases = {
        "expected a name that ends in .html, got .pdf": lambda: ARM.view(tmp_path / "page.pdf"),
        "expected the name of an .html file, got 3": lambda: ARM.view(3),
        "expected finite positions of shape (2,) or (rows, 2), got (1, 3)": lambda: ARM.view(page, [1.0, 2.0, 3.0]),
        "expected a motion, got 'x'": lambda: view(ARM, object, page),
        "expected a motion with times": lambda: ARM.view(page, [0.0, 0.0], wrenches=True),
        "expected a file that can be read": lambda: ARM.view(page, "no.csv"),
        "view triangles: expected a whole number": lambda: ARM.view(page, triangles=0),
        "view: expected a Robot": lambda: view("rr", None, page),
        "view ghost": lambda: sort("elastic").robot.view(page, sort("elastic").robot.q(), ghost=np.zeros(6)),
    }
    for message, call in cases.items():
        with pytest.raises(lw.LinkwiseError) as caught:
            call()
        assert message.split("'x'")[0] in str(caught.value), message
    assert not page.exists()
