"""Simulated closed chains: loops stay closed, energy is kept, and the start is made to fit."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwise as lw
from linkwise.mechanism.assemble import Assembler
from linkwise.robot import Loop
from linkwise.robot.edit import floating
from linkwise.spatial import Pose
from support.linkages import EXAMPLES, golden_four_bar, redundant_four_bar
from support.trees import error

STARTS = {
    "fourbar": {"crank": 1.0},
    "fivebar": {"left_motor": -0.3, "right_motor": 0.2},
    "palletiser": {"shoulder": 0.3, "crank": 0.2},
    "ankle": {"left_motor": 0.3, "right_motor": 0.1},
}


@cache
def machine(name):
    """A bundled robot with loops, without friction."""
    return lw.load(name).without_friction()


def openness(result):
    """The largest gap of a loop, and the largest speed at which one opens, over all rows."""
    assembler = Assembler(result.robot)
    rows = zip(result.positions, result.tree.qd, strict=True)
    found = [(np.abs(assembler.gap(q)).max(), np.abs(assembler.jacobian_si(q) @ qd).max()) for q, qd in rows]
    return np.max(found, axis=0)


def apart(a, b):
    """The largest difference of angles, whole turns left out."""
    return np.abs(np.exp(1j * a) - np.exp(1j * b)).max()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_passive_mechanism_keeps_its_energy_and_its_loops(name):
    """Ten seconds of free motion under gravity."""
    result = lw.simulate(machine(name), STARTS[name], None, 10.0)
    assert result.status == "finished"
    assert result.energy.drift < 1e-6
    gap, speed = openness(result)
    assert gap < 1e-9
    assert speed < 1e-9
    for joint, value in STARTS[name].items():
        assert result[joint].q[0] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("method", ["RK45", pytest.param("LSODA", marks=pytest.mark.slow), "Radau"])
def test_other_methods_keep_the_loops_too(method):
    result = lw.simulate(machine("fivebar"), STARTS["fivebar"], None, 1.0, method=method, rtol=1e-6)
    assert max(openness(result)) < 1e-9
    exact = lw.simulate(machine("fivebar"), STARTS["fivebar"], None, 1.0)
    assert np.abs(result.positions[-1] - exact.positions[-1]).max() < 1e-3


def test_the_motion_is_that_of_the_reduced_model():
    """One coordinate integrated by itself, with A_c and H_c."""
    robot = machine("fourbar")
    result = lw.simulate(robot, {"crank": 1.0}, {"crank": 0.5}, np.linspace(0.0, 1.0, 11))
    dyn = lw.compile(robot)

    def rate(t, y):
        return [y[1], dyn.forward_dynamics(y[:1], y[1:], [0.0])[0]]

    alone = solve_ivp(rate, (0.0, 1.0), [1.0, 0.5], "DOP853", result.t, rtol=1e-10, atol=1e-12)
    assert np.abs(result["crank"].q - alone.y[0]).max() < 1e-7
    assert np.abs(result["crank"].qd - alone.y[1]).max() < 1e-6
    assert apart(result.positions, dyn.positions(alone.y[:1].T).q) < 1e-6
    assert error(result.qdd, dyn.forward_dynamics(result.q, result.qd, np.zeros((11, 1)))) < 1e-7


def test_a_driven_crank_needs_the_torque_of_the_inverse_model():
    robot = golden_four_bar()
    result = lw.simulate(robot, {}, None, 2.0, driven={"joint1": lambda t: (1.1 + 3.0 * t, 3.0, 0.0)})
    dyn = lw.compile(robot)
    assert apart(result.positions, dyn.positions(result.q).q) < 1e-9
    assert error(result.tau, dyn.inverse_dynamics(result.q, result.qd, [0.0])) < 1e-6
    assert np.array_equal(result["joint1"].tau, result.tau[:, 0])
    assert result.energy.drift < 1e-6


def test_control_and_forces():
    """Torques of the inverse model let a palletiser follow a motion; the work balance closes."""
    robot = machine("palletiser")
    dyn = lw.compile(robot)
    span = np.array([0.4, 0.3, 0.5, 0.3])

    def motion(t):
        s, w = np.sin(2.0 * t), 2.0 * np.cos(2.0 * t)
        return span * s, span * w, -4.0 * span * s

    def control(t, q, qd):
        x, v, a = motion(t)
        return dyn.inverse_dynamics(q, qd, a + 400.0 * (x - q) + 40.0 * (v - qd))

    result = lw.simulate(robot, *motion(0.0)[:2], 1.0, control=control)
    assert result.notes == ()
    assert np.abs(result.q - motion(result.t[:, None])[0]).max() < 1e-6
    assert max(openness(result)) < 1e-9
    assert result.energy.drift < 1e-6


def test_events_and_dense_output_are_closed():
    robot = machine("fourbar")

    def down(t, q, qd):
        return q[0] - 0.5

    result = lw.simulate(robot, {"crank": 1.0}, None, 1.0, events={"down": down}, dense=True)
    times = np.linspace(0.0, 1.0, 77)
    q, qd = result.state(times, whole=True)
    assert max(np.abs(Assembler(robot).gap(x)).max() for x in q) < 1e-9
    lead = result.state(times)
    assert all(np.array_equal(a, b[:, :1]) for a, b in zip(lead, (q, qd), strict=True))
    assert result.events["down"].q.shape == (len(result.events["down"].t), 1)
    assert len(result.events["down"].t)


def test_what_does_not_fit_is_moved_and_said():
    robot = machine("fourbar")
    result = lw.simulate(robot, [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], 0.1)
    assert [note.split(" by ")[0] for note in result.notes] == ["q0 was moved", "qd0 was changed"]
    assert result.q[0, 0] == pytest.approx(1.0, abs=1e-12)
    assert result.qd[0, 0] == pytest.approx(2.0, abs=1e-12)
    rocker = lw.simulate(robot, {"rocker": 0.1}, {"rocker": 0.3}, 0.1)
    assert rocker["rocker"].q[0] == pytest.approx(0.1)
    assert rocker["rocker"].qd[0] == pytest.approx(0.3)
    led = lw.simulate(robot, [1.0], [2.0], 0.1)
    assert led.notes == ()
    assert lw.simulate(robot, led.positions[0], led.tree.qd[0], 0.1).notes == ()


def test_a_mechanism_without_active_joints_moves():
    """What is active does not matter to a motion."""
    robot = machine("fivebar")
    (loop,) = robot.loops
    free = robot.replace(Loop(loop.name, loop.a, loop.b, loop.kind, loop.origin_a, loop.origin_b))
    start = lw.compile(robot).positions(robot.q()).q
    ours, theirs = (lw.simulate(r, start, {"left_motor": 1.0, "right_motor": 0.5}, 0.5) for r in (free, robot))
    assert ours.q.shape == (101, 0)
    assert np.abs(ours.positions - theirs.positions).max() < 1e-9


def test_what_cannot_be_is_named():
    robot = machine("fivebar")
    with pytest.raises(lw.InputError, match="the loops of robot 'fivebar' do not close there, nor near it"):
        lw.simulate(robot, {"left_motor": -1.5, "right_motor": 1.5}, None, 1.0)
    with pytest.raises(lw.InputError, match="q0: expected finite numbers, got"):
        lw.simulate(robot, {"left_motor": np.nan}, None, 1.0)
    with pytest.raises(lw.InputError, match=r"q0: expected 2 finite numbers, 4 for all joints of the tree, or a map"):
        lw.simulate(robot, [0.0, 0.0, 0.0], None, 1.0)
    with pytest.raises(lw.UnknownNameError, match=r"unknown joint 'left_moter'. Did you mean 'left_m"):
        lw.simulate(robot, {"left_moter": 0.0}, None, 1.0)
    hold = dict.fromkeys(robot.opened().names, 0.0)
    with pytest.raises(lw.InputError, match="cannot all be prescribed: 2 equations hold, and 0 of them"):
        lw.simulate(robot, {}, None, 1.0, driven=hold)
    with pytest.raises(lw.InputError, match="do not stay closed with these velocities"):
        lw.simulate(robot, robot.q(), dict.fromkeys(robot.opened().names, 1.0), 1.0)
    with pytest.raises(lw.InputError, match="compile_rollout: expected a Robot first, got Link"):
        lw.compile_rollout(lw.Link("platform"))


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


def soft(robot):
    """The robot with springs between its motors and their joints."""
    active = {name for loop in robot.loops for name in loop.active}
    drive = lw.Drive(gear=20.0, stiffness=30.0, damping=0.01)
    return robot.replace(*(replace(j, drive=drive, armature=0.01) for j in robot.joints if j.name in active))


MACHINES = {
    "five-bar, elastic": (lambda: soft(machine("fivebar")), 4),
    "palletiser, floating": (lambda: floating(machine("palletiser")), 10),
    "ankle": (lambda: machine("ankle"), 2),
    "four-bar, two motors": (lambda: redundant_four_bar().without_friction().replace(leads="crank"), 2),
    "four-bar, led by its rocker": (lambda: machine("fourbar").replace(leads="rocker"), 1),
    "five-bar, one motor": (lambda: one_motor(), 2),
}


def one_motor():
    """A five-bar linkage led by two joints, one of which only a spring acts on."""
    robot = machine("fivebar")
    (loop,) = robot.loops
    sprung = replace(robot.joint("right_motor"), spring=lw.Spring(5.0))
    return robot.replace(sprung, replace(loop, active=("left_motor",)), leads=("left_motor", "right_motor"))


@pytest.mark.parametrize("name", MACHINES)
def test_motions_are_those_of_forward_dynamics(name):
    """Rows of leads and drives: accelerations by the machine's own model, energy kept."""
    make, drives = MACHINES[name]
    robot = make()
    assert robot.nu == drives
    dyn, rng = lw.compile(robot), np.random.default_rng(1)
    q, qd = dyn.integrate(robot.q(), 0.05 * rng.uniform(-1.0, 1.0, robot.nv), 1.0), 0.2 * rng.normal(size=robot.nv)
    torques = 0.1 * rng.normal(size=len(robot.motors))
    result = lw.simulate(robot, q, qd, 0.2, control=torques)
    assert (result.status, result.notes) == ("finished", ())
    assert result.energy.drift < 1e-6
    assert error(result.q[0], q) < 1e-12
    assert error(result.qd[0], qd) < 1e-12
    assert np.array_equal(result.tau, np.tile(robot.tau(torques), (101, 1)))
    assert error(result.qdd, dyn.forward_dynamics(result.q, result.qd, result.tau)) < 1e-8
    assert apart(result.positions, dyn.positions(result.q).q) < 1e-8
    assert max(openness(result)) < 1e-9


def test_starts_mean_the_same_however_they_are_given():
    """By leads, by name, by all joints; without any, the robot's own start."""
    robot = machine("palletiser")
    assert np.abs(lw.simulate(robot, None, None, 0.01).q[0] - robot.q()).max() < 1e-12
    q, qd = robot.q() + 0.1, np.linspace(0.1, 0.4, robot.nv)
    led = lw.simulate(robot, q, qd, 0.1)
    named = lw.simulate(robot, dict(zip(robot.names, q, strict=True)), dict(zip(robot.names, qd, strict=True)), 0.1)
    every = lw.simulate(robot, led.positions[0], led.tree.qd[0], 0.1)
    for other in (named, every):
        assert np.abs(led.positions - other.positions).max() < 1e-9
        assert other.notes == ()
    some = lw.simulate(robot, {"shoulder": 0.3}, None, 0.01)
    assert error(some.q[0], robot.q({"shoulder": 0.3})) < 1e-12
    soft_one = lw.simulate(soft(machine("fivebar")), [0.1, 0.2], [0.3, 0.4], 0.01)
    assert error(soft_one.q[0], np.array([0.1, 0.2, 0.1, 0.2])) < 1e-12
    assert error(soft_one.qd[0], np.array([0.3, 0.4, 0.3, 0.4])) < 1e-12


def test_forces_of_all_joints_are_taken():
    """A torque on a joint that follows, by name or in a vector of the tree."""
    robot = machine("fourbar")
    named, vector = (lw.simulate(robot, [1.0], None, 0.2, control=c) for c in ({"rocker": 0.1}, [0.0, 0.0, 0.1]))
    assert np.array_equal(named.positions, vector.positions)
    assert np.array_equal(named["rocker"].tau, np.full(101, 0.1))
    assert not named.tau.any()
    assert named.energy.control[-1] == pytest.approx(0.1 * (named["rocker"].q[-1] - named["rocker"].q[0]), rel=1e-6)
    by_function = lw.simulate(robot, [1.0], None, 0.2, control=lambda t, q, qd: np.zeros(3))
    assert not by_function.tau.any()


def test_wrenches_and_laws_on_links_that_follow():
    """A wrench and a law on the coupler; a stop at the rocker."""
    robot = machine("fourbar")
    link = robot.joint("coupler").child
    stop = lw.simulation.JointStop(lower=0.05, stiffness=1e5)
    result = lw.simulate(
        robot, [1.0], None, 1.0, external={link: lambda t, q, qd: [0.1 * np.sin(t), 0.0, qd[0], 0.0, 0.0, 0.0]},
        forces={link: lw.simulation.Drag(linear=(0.1, 0.1, 0.1))}, joint_forces={"rocker": stop},
    )  # fmt: skip
    assert result.energy.drift < 1e-6
    assert 0.045 < result["rocker"].q.min() < 0.05
