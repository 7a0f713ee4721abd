"""Simulated closed chains: loops stay closed, energy is kept, and the start is made to fit."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwise as lw
from linkwise.robot import Loop
from linkwise.spatial import Pose
from support.linkages import EXAMPLES, example, golden_four_bar
from support.trees import error

STARTS = {
    "fourbar": {"crank": 1.0},
    "fivebar": {"left_motor": -0.3, "right_motor": 0.2},
    "palletiser": {"shoulder": 0.3, "crank": 0.2},
    "ankle": {"left_motor": 0.3, "right_motor": 0.1},
}


def openness(name, result):
    """The largest gap of a loop, and the largest speed at which one opens, over all rows."""
    found = example(name).assembled.closure(result.q)
    return np.abs(found.gap).max(), np.abs(np.einsum("nij,nj->ni", found.J, result.qd)).max()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_passive_mechanism_keeps_its_energy_and_its_loops(name):
    """Ten seconds of free motion under gravity."""
    result = lw.simulate(example(name).robot, STARTS[name], None, 10.0)
    assert result.status == "finished"
    assert result.energy.drift < 1e-6
    gap, speed = openness(name, result)
    assert gap < 1e-9
    assert speed < 1e-9
    for joint, value in STARTS[name].items():
        assert result[joint].q[0] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("method", ["RK45", pytest.param("LSODA", marks=pytest.mark.slow), "Radau"])
def test_other_methods_keep_the_loops_too(method):
    result = lw.simulate(example("fivebar").robot, STARTS["fivebar"], None, 1.0, method=method, rtol=1e-6)
    assert max(openness("fivebar", result)) < 1e-9
    exact = lw.simulate(example("fivebar").robot, STARTS["fivebar"], None, 1.0)
    assert np.abs(result.q[-1] - exact.q[-1]).max() < 1e-3


def test_the_motion_is_that_of_the_reduced_model():
    """One coordinate integrated by itself, with A_c and H_c."""
    chain = example("fourbar")
    result = lw.simulate(chain.robot, {"crank": 1.0}, {"crank": 0.5}, np.linspace(0.0, 1.0, 11))
    guess = result.q[0]

    def rate(t, y):
        nonlocal guess
        found = chain.forward_dynamics(y[:1], y[1:], [0.0], guess=guess)
        guess = found.q
        return [y[1], found.qdd_active[0]]

    alone = solve_ivp(rate, (0.0, 1.0), [1.0, 0.5], "DOP853", result.t, rtol=1e-10, atol=1e-12)
    assert np.abs(result["crank"].q - alone.y[0]).max() < 1e-7
    assert np.abs(result["crank"].qd - alone.y[1]).max() < 1e-6
    by_hand = [
        chain.forward_dynamics(x[:1], x[1:], [0.0], guess=q).qdd for x, q in zip(alone.y.T, result.q, strict=True)
    ]
    assert error(result.qdd, np.array(by_hand)) < 1e-5


def test_a_driven_crank_needs_the_torque_of_the_inverse_model():
    robot = golden_four_bar()
    result = lw.simulate(robot, {}, None, 2.0, driven={"joint1": lambda t: (1.1 + 3.0 * t, 3.0, 0.0)})
    chain = lw.compile(robot).closed
    found = chain.inverse_dynamics(result.q[:, :1], [3.0], [0.0], guess=result.q)
    assert error(result.q, found.q) < 1e-9
    assert error(result.qd, found.qd) < 1e-7
    assert error(result["joint1"].tau, found.tau[:, 0]) < 1e-6
    assert result.energy.drift < 1e-6


def test_control_and_forces():
    """Torques of the inverse model let a palletiser follow a motion; the work balance closes."""
    chain = example("palletiser")
    span = np.array([0.4, 0.3, 0.5, 0.3])

    def motion(t):
        s, w = np.sin(2.0 * t), 2.0 * np.cos(2.0 * t)
        return span * s, span * w, -4.0 * span * s

    def control(t, q, qd):
        x, v, a = motion(t)
        at = list(chain.structure.part.independent)
        a = a + 400.0 * (x - q[at]) + 40.0 * (v - qd[at])
        tau = np.zeros(chain.robot.nv)
        tau[list(chain.structure.part.active)] = chain.assembled.inverse_dynamics(q, qd[at], a)
        return tau

    start = chain.motion(*motion(0.0))
    result = lw.simulate(chain.robot, start.q, start.qd, 1.0, control=control)
    assert result.notes == ()
    assert np.abs(chain.of(result.q) - motion(result.t[:, None])[0]).max() < 1e-6
    assert max(openness("palletiser", result)) < 1e-9
    assert result.energy.drift < 1e-6


def test_events_and_dense_output_are_closed():
    robot = example("fourbar").robot

    def down(t, q, qd):
        return q[0] - 0.5

    result = lw.simulate(robot, {"crank": 1.0}, None, 1.0, events={"down": down}, dense=True)
    q, _ = result.state(np.linspace(0.0, 1.0, 77))
    assert np.abs(example("fourbar").assembled.closure(q).gap).max() < 1e-9
    assert len(result.events["down"].t)


def test_what_does_not_fit_is_moved_and_said():
    robot = example("fourbar").robot
    result = lw.simulate(robot, [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], 0.1)
    assert [note.split(" by ")[0] for note in result.notes] == ["q0 was moved", "qd0 was changed"]
    assert result.q[0, 0] == pytest.approx(1.0, abs=1e-12)
    assert result.qd[0, 0] == pytest.approx(2.0, abs=1e-12)
    rocker = lw.simulate(robot, {"rocker": 0.1}, {"rocker": 0.3}, 0.1)
    assert rocker["rocker"].q[0] == pytest.approx(0.1)
    assert rocker["rocker"].qd[0] == pytest.approx(0.3)
    closed = example("fourbar").motion([1.0], [2.0], [0.0])
    assert lw.simulate(robot, closed.q, closed.qd, 0.1).notes == ()


def test_a_mechanism_without_active_joints_moves():
    """What is active does not matter to a motion."""
    robot = example("fivebar").robot
    (loop,) = robot.loops
    free = robot.replace(Loop(loop.name, loop.a, loop.b, loop.kind, loop.origin_a, loop.origin_b))
    ours, theirs = (lw.simulate(r, robot.q(), {"left_motor": 1.0, "right_motor": 0.5}, 0.5) for r in (free, robot))
    assert np.abs(ours.q - theirs.q).max() < 1e-9


def test_what_cannot_be_is_named():
    robot = example("fivebar").robot
    with pytest.raises(lw.InputError, match="the loops of robot 'fivebar' do not close there, nor near it"):
        lw.simulate(robot, {"left_motor": -1.5, "right_motor": 1.5}, None, 1.0)
    with pytest.raises(lw.InputError, match="q0: expected finite numbers, got"):
        lw.simulate(robot, {"left_motor": np.nan}, None, 1.0)
    hold = dict.fromkeys(robot.names, 0.0)
    with pytest.raises(lw.InputError, match="cannot all be prescribed: 2 equations hold, and 0 of them"):
        lw.simulate(robot, {}, None, 1.0, driven=hold)
    with pytest.raises(lw.InputError, match="do not stay closed with these velocities"):
        lw.simulate(robot, robot.q(), dict.fromkeys(robot.names, 1.0), 1.0)
    with pytest.raises(lw.InputError, match="compile_rollout: expected a Robot first, got <ParallelRobot"):
        lw.compile_rollout(lw.delta())
    with pytest.raises(lw.InputError, match="compile_rollout: expected a tree, got the robot 'fivebar' with loops"):
        lw.compile_rollout(robot)


def test_a_weld_changes_nothing():
    """A pendulum of two halves that a fixed cut holds together."""
    whole = lw.Robot(
        [lw.Link("base"), lw.Link("bob", 2.0, (0.0, 0.0, -0.5), (0.1, 0.1, 0.01))],
        [lw.Joint("swing", "base", "bob", axis=(0.0, 1.0, 0.0))],
    )
    half = lw.Link("bob", 1.0, (0.0, 0.0, -0.5), (0.05, 0.05, 0.005))
    twin = lw.Link("twin", 1.0, (0.0, 0.0, -0.5), (0.05, 0.05, 0.005))
    split = lw.Robot(
        [lw.Link("base"), half, twin],
        [*whole.joints, lw.Joint("afloat", "base", "twin", "floating")],
        loops=[Loop("weld", "bob", "twin", "fixed", Pose(), Pose())],
    )
    a = lw.simulate(whole, [1.0], None, 2.0)
    b = lw.simulate(split, {"swing": 1.0}, None, 2.0)
    assert np.abs(a["swing"].q - b["swing"].q).max() < 1e-6
