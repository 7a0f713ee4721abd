"""Khalil's section 6 along a motion."""

import numpy as np

from papers import lumped_elasticity as page


def test_all_ways_agree_along_the_swing_of_the_elastic_joints():
    robot = page.lumped_robot()
    run = page.course(robot, 61)
    assert max(page.checks(robot, run).values()) < page.TOLERANCE
    assert page.simulated(robot, run) < 1e-6
    after = run.t > page.TIME
    assert np.ptp(run.q[after][:, list(page.SOFT)], axis=0).min() > 1e-3  # they swing on
    np.testing.assert_allclose(run.qdd[0, list(page.SOFT)], 0.0, atol=1e-8)  # from their sag


def test_another_stiffness_is_noticed():
    """The forces of the springs are the page's, so that a robot with others does not agree."""
    run = page.course(page.lumped_robot(1.1 * page.STIFFNESS), 21)
    assert max(page.checks(page.lumped_robot(1.1 * page.STIFFNESS), run).values()) > 1e-4
