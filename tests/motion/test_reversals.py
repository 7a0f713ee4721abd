"""Where torques jump."""

import numpy as np
import pytest

import linkwise as lw

T = np.linspace(0.0, 2.0, 21)


def arm(*frictions, **joint):
    links = [lw.Link("base"), *(lw.Link(f"link{k}", 1.0, (0.1, 0, 0)) for k in range(len(frictions)))]
    joints = [
        lw.Joint(f"joint{k}", links[k].name, links[k + 1].name, friction=f, **joint) for k, f in enumerate(frictions)
    ]
    return lw.Robot(links, joints)


def test_a_reversal_is_found_where_the_torque_jumps():
    robot = arm(lw.Friction(coulomb=3.0))
    qd = np.cos(np.pi * T[:, None] / 1.9)
    (found,) = [r for r in lw.motion.reversals(robot, qd, T) if r.what == "reverses"]
    assert found.joint == "joint0"
    assert found.time == pytest.approx(0.95, abs=1e-3)
    assert found.jump == -6.0
    tau = lw.compile(robot).inverse_dynamics(np.zeros_like(qd), qd, np.zeros_like(qd))
    assert tau[found.row, 0] - tau[found.row - 1, 0] == pytest.approx(found.jump)


def test_starting_and_stopping_at_the_ends():
    robot = arm(lw.Friction(coulomb=0.5))
    found = lw.motion.reversals(robot, np.sin(np.pi * T[:, None]).round(12) * (T[:, None] <= 1.0), T)
    assert [(r.what, r.jump, r.row) for r in found] == [("starts", 0.5, 1), ("stops", -0.5, 10)]
    assert [r.time for r in found] == pytest.approx([0.0, 1.0])


def test_smooth_friction_and_none_have_no_jumps():
    robot = arm(lw.Friction(1.0, 2.0, "tanh"), lw.Friction(viscous=1.0), lw.Friction(1.0, 2.0, "stribeck", static=3.0))
    assert lw.motion.reversals(robot, np.cos(5.0 * np.stack([T, T, T], axis=1)), T) == []


def test_friction_of_the_motor_and_of_joints_that_mimic_counts_at_the_coordinate():
    drive = lw.Drive(gear=-10.0, friction=lw.Friction(coulomb=0.1))
    links = [lw.Link("base"), lw.Link("a", 1.0), lw.Link("b", 1.0)]
    joints = [
        lw.Joint("lead", "base", "a", friction=lw.Friction(coulomb=2.0), drive=drive),
        lw.Joint("follow", "a", "b", mimic=lw.Mimic("lead", -0.5), friction=lw.Friction(coulomb=1.0)),
    ]
    robot = lw.Robot(links, joints)
    (found,) = lw.motion.reversals(robot, [[-1.0], [1.0]])
    tau = lw.compile(robot.replace(gravity=(0, 0, 0))).inverse_dynamics([[0.0]] * 2, [[-1.0], [1.0]], [[0.0]] * 2)
    assert found.jump == pytest.approx(2.0 * (2.0 + 1.0 + 0.5))
    assert found.jump == pytest.approx(tau[1, 0] - tau[0, 0])
    assert found.time == 0.5


@pytest.mark.parametrize(
    ("qd", "t", "message"),
    [
        (np.zeros(3), None, r"expected the shape \(rows, 1\), got \(3,\)"),
        (np.zeros((3, 2)), None, r"expected the shape \(rows, 1\), got \(3, 2\)"),
        ("fast", None, "expected an array of numbers, got 'fast'"),
        (np.zeros((3, 1)), np.zeros(2), r"expected one time for each of 3 rows, got the shape \(2,\)"),
    ],
)
def test_wrong_shapes_are_refused(qd, t, message):
    with pytest.raises(lw.InputError, match=message):
        lw.motion.reversals(arm(lw.Friction(coulomb=1.0)), qd, t)


def test_rows_without_a_number_are_passed_over():
    (found,) = lw.motion.reversals(arm(lw.Friction(coulomb=1.0)), [[1.0], [np.nan], [-1.0], [np.nan], [-2.0]])
    assert (found.what, found.time, found.row, found.jump) == ("reverses", 1.0, 2, -2.0)
