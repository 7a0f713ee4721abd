"""The robots that come with Linkwise: they are there, and have the numbers of their sources."""

import math
import re

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.errors import LinkwiseError
from support.sources import case, planar, stanford

NAMES = [
    "ankle",
    "arm7",
    "differential_drive",
    "fivebar",
    "fourbar",
    "industrial6",
    "palletiser",
    "pr",
    "puma560",
    "rr",
    "scara",
    "snake",
    "stanford",
    "walker",
]
INVENTED = [
    "ankle", "arm7", "differential_drive", "fivebar", "fourbar", "industrial6", "palletiser", "scara", "snake",
]  # fmt: skip
# as published, at the motors
GEAR = (-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686)
ROTOR = (200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6)
VISCOUS = (1.48e-3, 0.817e-3, 1.38e-3, 71.2e-6, 82.6e-6, 36.7e-6)
COULOMB = ((0.395, 0.435), (0.126, 0.071), (0.132, 0.105), (11.2e-3, 16.9e-3), (9.26e-3, 14.5e-3), (3.96e-3, 10.5e-3))


def test_there_are_robots():
    robots = lw.list_robots()
    assert list(robots) == sorted([*NAMES, "delta", "gough_stewart", "three_rrr"])
    for description in robots.values():
        assert 20 < len(description) < 110
    robots.clear()
    assert lw.list_robots()


@pytest.mark.parametrize("name", NAMES)
def test_each_loads_and_moves(name):
    robot = lw.load(name)
    assert robot.name.startswith(name)
    q, one = robot.q(), np.ones(robot.nv)
    assert np.isfinite(inverse_dynamics.plain(robot, q, one, one)).all()
    if name in INVENTED:
        assert robot.diagnostics == ()
        assert "invented" in lw.list_robots()[name]
        assert robot.frame("tool")


@pytest.mark.parametrize("name", ["arm7", "industrial6", "scara"])
def test_invented_drives_can_hold_the_arm(name):
    robot = lw.load(name)
    q = np.random.default_rng(0).uniform(-1, 1, (200, robot.nv))
    efforts = [j.limits.effort for j in robot.joints]
    assert (np.abs(lw.compile(robot).gravity_forces(q)) < 0.8 * np.array(efforts)).all()


def test_stanford():
    robot = lw.load("stanford")
    assert robot == stanford().replace(name="stanford")
    for state in case("002_stanford")["states"]:
        tau = inverse_dynamics.plain(robot, state["q"], state["qd"], state["qdd"])
        np.testing.assert_allclose(tau, state["tau"], atol=1e-12)


@pytest.mark.parametrize(("name", "source"), [("rr", "001_RR_table4.1"), ("pr", "001_PR_table4.3")])
def test_two_links(name, source):
    robot, c = lw.load(name), case(source)
    assert robot.links == planar(source).links
    assert all(j.limits == lw.Limits(effort=10.0) for j in robot.joints)
    np.testing.assert_allclose(inverse_dynamics.plain(robot, c["q"], c["qd"], c["qdd"]), c["tau"], atol=1e-13)


def test_puma_has_the_published_actuators():
    for j, G, J, B, T in zip(lw.load("puma560").joints, GEAR, ROTOR, VISCOUS, COULOMB, strict=True):
        assert j.armature == pytest.approx(J * G**2, rel=1e-11)
        assert j.friction.viscous == pytest.approx(B * G**2, rel=1e-11)
        assert j.friction.coulomb == pytest.approx(sum(T) / 2 * abs(G), rel=1e-11)


def test_puma_at_its_ready_pose():
    """The total mass, and the load of a stretched arm on the shoulder: m g times the lever, link by link."""
    robot = lw.load("puma560")
    masses = (17.4, 4.8, 0.82, 0.34, 0.09)
    assert sum(k.mass for k in robot.links) == pytest.approx(sum(masses))
    assert math.degrees(robot.joint("joint2").limits.upper) == pytest.approx(225.0)
    tau = lw.compile(robot).gravity_forces(robot.q())
    assert tau[1] == pytest.approx(37.4837, abs=5e-5)  # Corke's toolbox prints 37.4837 at this pose
    assert tau[2] == pytest.approx(0.2489, abs=5e-5)


def test_snakes():
    assert lw.load("snake").nv == 10
    robot = lw.load("snake12")
    assert (robot.nv, robot.name) == (12, "snake12")
    T = np.reshape(lw.pose.plain(robot, robot.q(), frame="tool"), (4, 4))
    np.testing.assert_allclose(T[:3, 3], [1.2, 0.0, 0.0], atol=1e-15)
    # held straight out, the first joint carries all at half its length
    assert inverse_dynamics.plain(robot, robot.q(), robot.v(), robot.v())[0] == pytest.approx(-12 * 0.2 * 9.81 * 0.6)


@pytest.mark.parametrize("name", ["snake0", "snake10001", "snake999999999"])
def test_snakes_that_are_too_long_or_short(name):
    with pytest.raises(LinkwiseError, match=f"^load '{name}': expected 1 to 10000 joints"):
        lw.load(name)


@pytest.mark.parametrize("name", ["stanfrd", "snake-1", "snake1e3", "", "."])
def test_unknown_names_are_answered_with_the_known(name):
    with pytest.raises(
        LinkwiseError, match=rf"^load {re.escape(repr(name))}: expected a .*Valid names: 'ankle', 'arm7', "
    ):
        lw.load(name)
