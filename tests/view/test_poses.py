"""What a page shows is where the compiled functions say that the links are."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion.columns import column_names
from support.every_machine import SORTS, sort
from support.led_machines import knee, waves

CLOSE = 1e-9  # the page has the same operations in the same numbers; loops are closed by Newton's method to less
SAMPLES = 3


def states(robot, width, count=SAMPLES):
    rng = np.random.default_rng(3)
    return lw.compile(robot).integrate(robot.q(), width * rng.uniform(-1.0, 1.0, (count, robot.nv)), 1.0)


def columns(robot, t, q):
    return {"t": t, **dict(zip(column_names(robot, "q"), q.T, strict=True))}


def apart(page, robot, t, q, base=None):
    """The largest difference of any link at any time, fixed links among them."""
    dyn, worst = lw.compile(robot), 0.0
    for time, row in zip(t, q, strict=True):
        found = page.ask(f"linkwise.poses({time})")
        assert list(found) == [k.name for k in robot.links]
        moving = dict(zip(robot.moving_links, dyn.poses(row), strict=True))
        for name, T in found.items():
            expected = moving[name] if name in moving else dyn.pose(row, name)
            expected = expected if base is None else np.array(base(time).matrix()) @ expected
            worst = max(worst, float(np.abs(np.array(T) - expected).max()))
    return worst


QUICK = (
    "floating",
    "elastic, moving base",
    "five-bar, elastic",
    "ankle, moving base",
    "hexapod + arm",
    "3-RRR",
    "Delta",
)
EVERY = [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in SORTS]


@pytest.mark.parametrize("name", EVERY)
def test_every_sort_of_machine(shown, name):
    case = sort(name)
    t, q = 0.5 * np.arange(SAMPLES), states(case.robot, case.width)
    base = waves if case.base_motion else None
    with shown(case.robot, columns(case.robot, t, q), base_motion=base) as page:
        assert apart(page, case.robot, t, q, base) < CLOSE
        assert page.colours() > 40


def kinds():
    links = [lw.Link(name, 1.0, (0.0, 0.0, 0.1), (0.1, 0.1, 0.1)) for name in "abcdefghij"]
    every = [
        lw.Joint("planar", "a", "b", "planar"),
        lw.Joint("lift", "b", "c", "prismatic", lw.Pose.of((0, 0, 0.2)), limits=lw.Limits(0.0, 0.3)),
        lw.Joint("ball", "c", "d", "spherical", lw.Pose.of((0, 0, 0.3))),
        lw.Joint("cross", "d", "e", "universal", lw.Pose.of((0.2, 0, 0.1))),
        lw.Joint("screw", "e", "f", "screw", lw.Pose.of((0.1, 0.1, 0)), pitch=0.01),
        lw.Joint("follower", "c", "g", "revolute", lw.Pose.of((0.2, 0, 0)), mimic=lw.Mimic("lift", 2.0, 0.1)),
        lw.Joint("rail", "f", "h", "translation", lw.Pose.of((0.1, 0, 0))),
        lw.Joint("weld", "h", "i", "fixed", lw.Pose.of((0.0, 0.1, 0.0), (0.3, 0.2, 0.1))),
    ]
    return lw.Robot(links[:9], every, name="every kind")


def test_every_kind_of_joint(shown):
    robot = kinds()
    t, q = 0.5 * np.arange(SAMPLES), states(robot, 0.4)
    with shown(robot, columns(robot, t, q)) as page:
        assert apart(page, robot, t, q) < CLOSE
        assert page.colours() > 40


@pytest.mark.parametrize("robot", [lw.load("walker"), lw.load("differential_drive"), knee()], ids=lambda r: r.name)
def test_people_wheels_and_knees(shown, robot):
    rng = np.random.default_rng(1)
    q = robot.q() + 0.1 * rng.uniform(-1.0, 1.0, (SAMPLES, robot.nq))
    t = 0.5 * np.arange(SAMPLES)
    with shown(robot, columns(robot, t, q)) as page:
        assert apart(page, robot, t, q) < CLOSE


def test_between_samples_positions_are_on_lines_and_quaternions_on_arcs(shown):
    robot = lw.load("rr").replace(name="free")
    robot = lw.Robot(
        [lw.Link("world"), lw.Link("body", 1.0, inertia=(1, 1, 1)), lw.Link("arm", 1.0, inertia=(1, 1, 1))],
        [lw.Joint("free", "world", "body", "floating"), lw.Joint("turn", "body", "arm")],
    )
    half = np.sqrt(0.5)
    q = np.array([[0, 0, 0, 0, 0, 0, 1, 0.2], [1, 2, 3, 0, 0, -half, -half, 0.6]], dtype=float)  # a quarter, by -q
    eighth = [0.5, 1.0, 1.5, 0, 0, np.sin(np.pi / 8), np.cos(np.pi / 8), 0.4]
    with shown(robot, columns(robot, np.array([0.0, 2.0]), q)) as page:
        found = page.ask("linkwise.poses(1.0)")
    expected = lw.compile(robot).poses(np.array(eighth))
    np.testing.assert_allclose(np.array([found["body"], found["arm"]]), expected, atol=1e-12)


def test_sliders_move_the_robot(shown):
    robot = sort("elastic").robot
    joint = robot.names[1]
    with shown(robot) as page:
        assert page.ask(f"linkwise.setJoint({joint!r}, 0.7)")
        assert not page.ask("linkwise.setJoint('nothing', 0.7)")
        found = page.ask("linkwise.poses()")
        page.page.locator(".lw-slider input").nth(0).fill("0.3")  # as a hand does it
        moved = page.ask("linkwise.poses()")
    dyn, last = lw.compile(robot), robot.moving_links[-1]
    np.testing.assert_allclose(found[last], dyn.poses(robot.q({joint: 0.7}))[-1], atol=CLOSE)
    both = robot.q({joint: 0.7, robot.names[0]: 0.3})
    np.testing.assert_allclose(moved[last], dyn.poses(both)[-1], atol=CLOSE)


def test_sliders_turn_a_platform_and_say_where_it_cannot_go(shown):
    robot = lw.gough_stewart()
    turned = lw.Pose.of((0.0, 0.0, 0.75), (0.1, 0.0, 0.2))
    with shown(robot) as page:
        page.ask("linkwise.setJoint('platform.roll', 0.1)")
        page.ask("linkwise.setJoint('platform.yaw', 0.2)")
        found = page.ask("linkwise.poses()")["platform"]
        np.testing.assert_allclose(found, turned.matrix(), atol=CLOSE)
    five = lw.load("fivebar")
    with shown(five) as page:
        assert page.page.locator(".lw-message").text_content() == ""
        for joint, angle in (("left_motor", -1.5), ("right_motor", 1.5)):
            page.ask(f"linkwise.setJoint({joint!r}, {angle})")
        assert np.isnan(lw.compile(five).poses([-1.5, 1.5])).any()
        assert "Out of reach" in page.page.locator(".lw-message").text_content()
        assert np.isfinite(np.array(list(page.ask("linkwise.poses()").values()))).all()
