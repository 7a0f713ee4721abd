"""Experiments on forward dynamics, moving bases and simulation say the same as the library."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from papers import forward_routes, moving_base, shuttle, snake

GOLDEN = Path(__file__).parents[1] / "golden" / "sources.json"


def test_published_counts():
    assert forward_routes.published(6) == (1429, 1063)


@pytest.mark.parametrize(("slope", "expected"), [(1, 2), (2, 3), (7, 8), (23, 24), (24, None), (100, None)])
def test_crossing_is_the_least_number_that_wins(slope, expected):
    cost = {"linear": lambda n: slope * n, "square": lambda n: n * n}
    assert forward_routes.crossing(lambda n, route: (cost[route](n), 0), "linear", "square") == expected


def test_walker_orin_is_the_route_by_the_inertia_matrix():
    robot = lw.random_tree(3, 6, armature=0.5, friction=0.5, springs=0.5)
    rng = np.random.default_rng(1)
    q, qd, tau = rng.normal(size=(3, robot.nv)).tolist()
    expected = lw.forward_dynamics.plain(robot, q, qd, tau, route="inertia")
    np.testing.assert_allclose(forward_routes.walker_orin.plain(robot, q, qd, tau), expected, rtol=1e-10)


def test_the_shuttle_arm_has_the_public_mass_and_length():
    robot = shuttle.shuttle_arm()
    assert sum(link.mass for link in robot.links) == pytest.approx(905 * 0.45359237, rel=1e-3)
    tip = lw.pose.plain(robot, [0.0] * 6, frame="tip")
    assert np.reshape(tip, (4, 4))[0, 3] == pytest.approx(50.25 * 0.3048, abs=0.05)
    loaded = shuttle.loaded_arm()
    assert sum(link.mass for link in loaded.links[1:]) - shuttle.MASS == pytest.approx(65_000 * 0.45359237, rel=1e-3)


def test_the_reference_robot_is_the_golden_one():
    case, given = moving_base.reference_case(), json.loads(GOLDEN.read_text())["003_moving_base"]
    np.testing.assert_array_equal(case.q, given["q"])
    np.testing.assert_allclose(case.gravity, [0, 0, -9.81] @ np.array(given["R"]), atol=1e-14)
    assert [row.mass for row in case.rows] == given["robot"]["M"]
    assert case.reference["inverse"]["Gamma"] == given["id"]["Gamma"]
    assert case.reference["direct"]["qdd"] == given["fd"]["qdd"]


def test_a_wrong_base_is_noticed():
    """The differences are not zero by construction: another reference is far away."""
    case = moving_base.reference_case()
    wrong = replace(case, omega=case.omega + 0.1)
    assert moving_base.differences(wrong)["7.3, independent accelerations"] > 1e-3


def test_the_wave_has_its_derivatives():
    h = 1e-5
    for t in (0.3, 0.99, 1.7):
        (below, v0, _), (_, qd, qdd), (above, v1, _) = (snake.wave(3)(t + d) for d in (-h, 0.0, h))
        assert qd == pytest.approx((above - below) / (2 * h), abs=1e-6)
        assert qdd == pytest.approx((v1 - v0) / (2 * h), abs=1e-5)


def test_a_pushed_snake_gains_momentum():
    """Momentum is measured: it is not kept on the ground."""
    robot = snake.snake_robot()
    result = snake.moved(robot, snake.laws()["crawling"])
    kept, predicted = snake.momenta(robot, result)
    assert kept > 0.1
    assert predicted > 0.01


def test_counts_stay_below_the_published_ones():
    """Nasser's scheme takes fewer operations than printed, articulated bodies fewer still from six joints on."""
    for n in range(2, 11):
        robot = forward_routes.general_chain(n)
        count = {route: sum(forward_routes.operations(robot, route)) for route in ("Nasser", "articulated bodies")}
        assert count["Nasser"] < sum(forward_routes.published(n))
        assert n < 6 or count["articulated bodies"] < count["Nasser"]
