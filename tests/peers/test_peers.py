"""Models that are built from a robot, not from a file, in other libraries."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.peers import models, times


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_agree_everywhere(seed):
    result = times.measure(lw.random_tree(seed), rows=32, rounds=1)
    assert all(difference < 1e-13 for difference in result["difference"].values())


def test_axes_off_the_origin_and_fixed_links():
    links = [lw.Link("base"), lw.Link("a", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.1, 0.1))]
    links += [lw.Link("b", mass=2.0, com=(0.3, 0, 0), inertia=(0.2, 0.3, 0.4)), lw.Link("c", mass=0.5)]
    joints = [
        lw.Joint("one", "base", "a", axis=(1, 2, 3), anchor=(0.1, -0.2, 0.3), armature=0.3),
        lw.Joint("weld", "a", "b", "fixed", origin=(0.1, 0.2, 0.3)),
        lw.Joint("two", "b", "c", "prismatic", axis=(0, -1, 0), origin=(0.5, 0, 0)),
    ]
    robot = lw.Robot(links, joints, gravity=(1.0, 2.0, -9.0))
    given = times.states(robot, 16)
    ways = [*times.pinocchio_peers(*models.pinocchio_model(robot), given)]
    assert times.compare(robot, given, ways, 1)["difference"]["Pinocchio, rneaInParallel(1)"] < 1e-14


def test_the_loop_stands_in_for_a_missing_batch_call(monkeypatch):
    import pinocchio

    monkeypatch.delattr(pinocchio, "rneaInParallel")
    robot = lw.load("industrial6").without_friction()
    result = times.compare(
        robot, given := times.states(robot, 8), times.pinocchio_peers(*models.pinocchio_model(robot), given), 1
    )
    assert result["difference"]["Pinocchio, rnea in a Python loop"] < 1e-13


def test_states_have_unit_quaternions():
    q, qd, _ = times.states(lw.load("rr", base="floating"), 5)
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1.0)
    assert qd.shape == (5, 8)
