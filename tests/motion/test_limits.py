import numpy as np

import linkwise as lw
from linkwise.motion import Trajectory, exceeded


def arm(limits, mimic_limits=lw.Limits()):
    links = [lw.Link("base"), lw.Link("a", mass=1.0), lw.Link("b", mass=1.0)]
    joints = [
        lw.Joint("lead", "base", "a", limits=limits),
        lw.Joint("follow", "a", "b", mimic=lw.Mimic("lead", ratio=-2.0, offset=0.5), limits=mimic_limits),
    ]
    return lw.Robot(links, joints)


def motion(q, qd=None, qdd=None):
    q = np.array(q, float)[:, None]
    qd, qdd = (np.zeros_like(q) if x is None else np.array(x, float)[:, None] for x in (qd, qdd))
    return Trajectory(0.1 * np.arange(len(q)), q, qd, qdd, True, {})


def test_worst_value_time_and_rows():
    robot = arm(lw.Limits(-1, 1, velocity=2, acceleration=3, effort=4))
    samples = motion([0, 1.2, 1.5, 0], [0, -2.5, 0, 0], [0, 0, 0, 9])
    found = exceeded(robot, samples, np.array([[0], [5], [-7], [0.0]]))
    assert [tuple(e) for e in found] == [
        ("lead", "position", 1.5, 1, 0.2, 2),
        ("lead", "velocity", -2.5, -2, 0.1, 1),
        ("lead", "acceleration", 9.0, 3, 0.1 * 3, 1),
        ("lead", "effort", -7.0, -4, 0.2, 2),
    ]


def test_reaching_a_limit_is_not_exceeding_it():
    limits = lw.Limits(-0.1, 0.3, velocity=1, effort=2)
    assert exceeded(arm(limits), motion([-0.1, 0.1 + 0.2]), np.array([[2.0], [-2.0]])) == []


def test_unknown_limits_are_never_exceeded():
    assert exceeded(arm(lw.Limits()), motion([1e9]), np.array([[1e9]])) == []


def test_a_joint_that_mimics_has_limits_of_its_own():
    (found,) = exceeded(arm(lw.Limits(), lw.Limits(-1, 1)), motion([0.0, 1.0]))
    assert (found.joint, found.what, found.value, found.limit) == ("follow", "position", -1.5, -1.0)
