"""Simulation of robots with elastic drives."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import fsolve

import linkwise as lw
from linkwise.simulation.stiffness import fastest_rate
from support.elastic import hua_arm, with_free_motors

ARM = hua_arm()


def softened(robot, stiffness, damping=0.0, armature=0.1):
    """The robot with an elastic drive at every joint."""
    drive = lw.Drive(stiffness=stiffness, damping=damping)
    joints = [replace(j, armature=armature, drive=drive) if j.kind == "revolute" else j for j in robot.joints]
    return robot.replace(joints=joints)


def test_energy_of_a_passive_elastic_chain():
    """Elastic drives and springs without losses, swinging freely for ten seconds."""
    robot = with_free_motors(2, 4, floating=False, friction=0.0, springs=1.0, elastic=1.0).without_friction()
    result = lw.simulate(robot, {}, None, 10.0, rtol=1e-11, atol=1e-12, progress=False)
    assert np.ptp(result.energy.kinetic) > 1.0
    assert result.energy.drift < 1e-8


def test_losses_of_drives_are_in_the_balance():
    robot = with_free_motors(2, 4, floating=False, friction=1.0)
    result = lw.simulate(robot, {}, None, 2.0, rtol=1e-10, atol=1e-12, progress=False)
    assert result.energy.friction[-1] > 0.1
    assert result.energy.drift < 1e-8


def test_a_start_without_motors_has_unstretched_springs():
    for start in ({"joint3": 0.4}, [0.0, 0.0, 0.4], [0.0, 0.0, 0.4, 0.4]):
        result = lw.simulate(ARM, start, None, 0.01, progress=False)
        assert result.q[0].tolist() == [0.0, 0.0, 0.4, 0.4]
    with pytest.raises(lw.InputError, match=r"q0: expected 4 finite numbers \(3 without motors\)"):
        lw.simulate(ARM, [0.0, 0.0], None, 0.01)


def test_motors_of_driven_joints_start_with_them():
    """Where their motion begins, at its speed, unless a start says otherwise."""

    def motion(t):
        return 0.3 + 2.0 * t, 2.0, 0.0

    for start in (None, {}, [0.1, 0.2, 0.0]):
        result = lw.simulate(ARM, start, None, 0.01, driven={"joint3": motion}, progress=False)
        assert result.q[0, 2:].tolist() == [0.3, 0.3]
        assert result.qd[0, 2:].tolist() == [2.0, 2.0]
    for start, speed in (({"joint3.motor": 0.5}, {"joint3.motor": 1.0}), ([0, 0, 0, 0.5], [0, 0, 0, 1.0])):
        result = lw.simulate(ARM, start, speed, 0.01, driven={"joint3": motion}, progress=False)
        assert result.q[0, 2:].tolist() == [0.3, 0.5]
        assert result.qd[0, 2:].tolist() == [2.0, 1.0]


def test_torques_of_drives_act_on_motors():
    """A vector, a mapping and a function, of drives alone or of all coordinates, are the same."""
    q0, torque = [0.1, 0.2, 0.3], [1.0, 12.0, 3.0]
    full = ARM.tau(torque)
    ends = [
        lw.simulate(ARM, q0, None, 0.2, control=control, progress=False).q[-1]
        for control in (
            full, torque, dict(zip(ARM.names, torque, strict=True)), lambda t, q, qd: torque, lambda t, q, qd: full
        )
    ]  # fmt: skip
    for end in ends[1:]:
        assert np.abs(end - ends[0]).max() < 1e-9
    with pytest.raises(lw.InputError, match=r"control at t = 0 s: expected 4 numbers \(3 for the drives alone\)"):
        lw.simulate(ARM, q0, None, 0.2, control=lambda t, q, qd: [1.0, 2.0])


def test_channels_of_motors():
    result = lw.simulate(ARM, {"joint3": 0.4}, None, 0.1, control={"joint3": 2.0}, progress=False)
    motor, joint = result["joint3.motor"], result["joint3"]
    assert np.abs(motor.tau - 2.0).max() == 0.0
    assert np.abs(joint.tau).max() == 0.0
    assert np.ptp(motor.q - joint.q) > 1e-3
    assert "q.joint3.motor" in result.columns()


def test_feedforward_torques_follow_the_motion():
    """With the torques of elastic_feedforward the links move as asked: the arm is started on the motion."""
    feed = lw.compile(ARM).elastic_feedforward
    rate, size = np.array([1.0, 1.4, 0.8]), np.array([0.4, 0.3, 0.5])

    def motion(t):
        return [size * rate**k * np.sin(rate * t + k * np.pi / 2) for k in range(5)]

    start = feed(*motion(0.0))
    q0, qd0 = (np.concatenate([x, y]) for x, y in zip(motion(0.0)[:2], start[:2], strict=True))
    result = lw.simulate(ARM, q0, qd0, 1.0, control=lambda t, q, qd: feed(*motion(t)).tau, rtol=1e-11, progress=False)
    assert np.abs(result.q[-1, :3] - motion(1.0)[0]).max() < 1e-7
    assert np.abs(result.q[-1, 3:] - feed(*motion(1.0)).theta).max() < 1e-7


def test_motors_may_be_driven():
    """A motor moved on a given path: its torque comes out, the link swings on its spring."""
    path = {"joint3.motor": lambda t: (0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t))}
    hold = {"joint1": 0.0, "joint2": 0.2}
    result = lw.simulate(ARM, {}, {}, 1.0, driven={**path, **hold}, rtol=1e-10, progress=False)
    assert np.abs(result["joint3.motor"].q - 0.3 * np.sin(2 * result.t)).max() < 1e-12
    expected = lw.compile(ARM).motor_torques(result.q, result.qd, result.qdd)
    assert np.abs(result.tau[:, ARM.motors] - expected).max() < 1e-8
    assert result.energy.drift < 1e-8


@pytest.mark.parametrize("way", ["force", "body"])
def test_payloads_sag_as_statics_say(way):
    """Motors held, springs damped: the arm comes to rest where K (theta - q) = gravity and payload."""
    arm, mass = softened(hua_arm(), 400.0, damping=40.0), 2.0
    loaded = arm.with_payload(mass, at="tool")
    held = {f"{n}.motor": 0.3 for n in arm.names}
    start = dict.fromkeys(arm.names, 0.3)

    def weight(t, q, qd):
        R = dyn.pose(q, "tool")[:3, :3]
        return [*(R.T @ [0.0, 0.0, -9.81 * mass]), 0.0, 0.0, 0.0]

    robot, loads = (arm, {"tool": weight}) if way == "force" else (loaded, None)
    dyn = lw.compile(arm)
    result = lw.simulate(robot, start, None, 6.0, driven=held, external=loads, progress=False)
    full = lw.compile(loaded)

    def unbalanced(q):
        return full.gravity_forces([*q, 0.3, 0.3, 0.3])[:3] - 400.0 * (0.3 - q)

    sagged = fsolve(unbalanced, [0.3] * 3, xtol=1e-12)
    assert abs(sagged[1] - 0.3) > 0.02
    assert np.abs(result.q[-1, :3] - sagged).max() < 1e-6


def test_pressing_on_a_spring_wall():
    """An elastic arm sinks onto a springy floor and comes to rest; the work of the wall is in the balance."""
    arm = softened(hua_arm(), 300.0, damping=30.0)
    floor = lw.simulation.GroundContact(stiffness=5e3, damping=0.5, height=0.1)
    hold = {f"{n}.motor": q for n, q in zip(arm.names, (0.0, -0.3, -0.2), strict=True)}
    start = {"joint2": 0.1, "joint3": 0.1}
    result = lw.simulate(arm, start, None, 4.0, driven=hold, forces={"tool": floor}, rtol=1e-9, progress=False)
    height = lw.compile(arm).pose(result.q[-1], "tool")[2, 3]
    assert 0.09 < height < 0.1
    assert np.abs(result.qd[-1]).max() < 1e-4
    assert result.energy.drift < 1e-6


@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e6])
def test_stiff_drives_take_a_stiff_solver(stiffness):
    """Damped drives up to 1e6 N m/rad: few steps, the same motion as by Radau, near the rigid one when stiff."""
    robot = softened(lw.load("rr").replace(gravity=(0.0, -9.81, 0.0)), stiffness, damping=1e-3 * stiffness)
    q0 = [0.3, -0.4]
    result = lw.simulate(robot, q0, None, 0.5, progress=False)
    fast = fastest_rate(robot, robot.q(q0)) > 1000.0
    assert result.facts["method"] == ("LSODA" if fast else "DOP853")
    assert result.facts["steps"] < 3000
    again = lw.simulate(robot, q0, None, 0.5, method="Radau", progress=False)
    assert np.abs(result.q[-1] - again.q[-1]).max() < 1e-6
    rigid = lw.simulate(robot.rigid(), q0, None, 0.5, progress=False)
    assert np.abs(result.q[-1, :2] - rigid.q[-1]).max() < 20.0 / stiffness


def test_compiled_slopes_are_those_of_differences():
    """The Jacobian that implicit solvers get, against central differences of the rates."""
    from linkwise.kernel.options import Options
    from linkwise.simulation.simulation import kernels_of
    from linkwise.simulation.stiffness import Slopes
    from linkwise.simulation.system import System

    robot = with_free_motors(1, 3)  # on a floating base
    kernels = kernels_of(robot, Options(), ())
    system = System(robot, kernels, None, (), ())
    rng = np.random.default_rng(3)
    y = system.start(rng.normal(size=robot.nq), rng.normal(size=robot.nv))
    J, h = Slopes(system, kernels.rates)(0.0, y), 1e-6
    differences = np.stack(
        [(system(0.0, y + h * e) - system(0.0, y - h * e)) / (2 * h) for e in np.eye(len(y))], axis=1
    )
    assert np.abs(J - differences).max() < 1e-6 * np.abs(J).max()


def test_rollouts_of_elastic_robots():
    """Steps of fixed length agree with the adaptive solver."""
    rollout = lw.compile_rollout(ARM, method="rk4")
    start = ARM.q([0.1, 0.2, 0.3])
    moved = rollout(start, np.zeros(4), np.zeros((2000, 4)), 1e-4)
    result = lw.simulate(ARM, start, None, 0.2, rtol=1e-11, atol=1e-13, progress=False)
    assert np.abs(moved.q[-1] - result.q[-1]).max() < 1e-9
