"""Simulation: exact solutions, conserved quantities, prescribed joints, and ends of every kind."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.special import ellipk

import linkwise as lw
from linkwise.simulation.solver import METHODS
from linkwise.spatial import Pose
from support.trees import error

G = 9.81
TIGHT = {"rtol": 1e-12, "atol": 1e-13}


def pendulum(length=0.5, **joint):
    links = [lw.Link("ground"), lw.Link("bob", 1.0, (0.0, 0.0, -length))]
    return lw.Robot(links, [lw.Joint("hinge", "ground", "bob", axis=(0, 1, 0), **joint)], name="pendulum")


def falling():
    """A body that falls along a prismatic joint: q = -g t^2 / 2."""
    return lw.Robot([lw.Link("world"), lw.Link("stone", 3.0)], [lw.Joint("down", "world", "stone", "prismatic")])


# ---- exact solutions


@pytest.mark.parametrize("angle", [0.1, 1.0, 2.0, 3.0])
def test_period_of_a_pendulum_is_the_elliptic_integral(angle):
    period = 4.0 * np.sqrt(0.5 / G) * ellipk(np.sin(angle / 2.0) ** 2)

    def returns(t, q, qd):
        return qd[0]

    returns.direction = -1
    result = lw.simulate(pendulum(), [angle], [0.0], 3.5 * period, events=returns, **TIGHT)
    assert result.events["returns"].t / period == pytest.approx([1, 2, 3], rel=2e-10)
    assert result.events["returns"].q[:, 0] == pytest.approx(angle, rel=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_follows_a_fall(method):
    result = lw.simulate(falling(), [0.0], [1.0], [0.0, 0.5, 1.0, 3.0], method=method, rtol=1e-6, atol=1e-8)
    assert result.q[:, 0] == pytest.approx(result.t - G / 2 * result.t**2, abs=1e-4)
    assert result.qdd == pytest.approx(np.full((4, 1), -G))
    assert result.status == "finished"


def test_friction_and_spring_of_a_damped_oscillator():
    """m q'' + c q' + k q = u, whose solution is known; where the energy goes is known too."""
    links = [lw.Link("world"), lw.Link("mass", 2.0)]
    joint = lw.Joint("x", "world", "mass", "prismatic", axis=(1, 0, 0), friction=lw.Friction(viscous=0.5),
                     spring=lw.Spring(stiffness=8.0, damping=0.3))  # fmt: skip
    result = lw.simulate(lw.Robot(links, [joint]), [1.0], [0.0], 10.0, **TIGHT)
    a = 0.8 / 4.0
    w = np.sqrt(4.0 - a * a)
    q = np.exp(-a * result.t) * (np.cos(w * result.t) + a / w * np.sin(w * result.t))
    assert np.abs(result.q[:, 0] - q).max() < 1e-10
    assert result.energy.friction[-1] == pytest.approx(4.0 - result.energy.total[-1], rel=1e-9)
    assert result.energy.drift < 1e-11


def test_quaternions_turn_a_body_as_its_spin_says():
    """A body that spins about an axis of symmetry: the angle is omega t, over many turns."""
    links = [lw.Link("world"), lw.Link("top", 1.0, inertia=(0.1, 0.1, 0.2))]
    robot = lw.Robot(links, [lw.Joint("free", "world", "top", "floating")], gravity=(0, 0, 0))
    result = lw.simulate(robot, robot.q(), [0, 0, 0, 0, 0, 7.0], 10.0, **TIGHT)
    half = 3.5 * result.t
    assert error(result.q[:, 3:], np.stack([0 * half, 0 * half, np.sin(half), np.cos(half)], axis=1)) < 1e-9
    assert np.linalg.norm(result.q[:, 3:], axis=1) == pytest.approx(1.0, abs=1e-15)


# ---- conserved quantities


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("floating", [False, True])
def test_energy_of_a_passive_tree(seed, floating):
    robot = lw.random_tree(seed, 6, floating=floating, armature=0.5, motors=0.3)
    qd = np.random.default_rng(seed).normal(size=robot.nv)
    result = lw.simulate(robot, robot.q(), qd, 5.0, **TIGHT)
    assert result.energy.drift < 1e-10
    total = result.energy.total
    assert np.abs(total - total[0]).max() < 1e-8 * result.energy.kinetic.max()


@pytest.mark.parametrize("seed", range(4))
def test_momentum_of_a_free_flying_tree(seed):
    """Joint torques, friction and springs do not change the momentum of a tree in free flight."""
    robot = lw.random_tree(seed, 5, floating=True, friction=0.5, springs=0.5).replace(gravity=(0, 0, 0))
    qd = np.random.default_rng(seed).normal(size=robot.nv)

    def control(t, q, qd):
        return np.concatenate([np.zeros(6), np.sin(t + np.arange(robot.nv - 6))])

    result = lw.simulate(robot, robot.q(), qd, 5.0, control=control, **TIGHT)
    momentum = lw.compile(robot).momentum(result.q, result.qd)
    assert error(momentum, np.broadcast_to(momentum[0], momentum.shape)) < 1e-8
    assert result.energy.drift < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_energy_balance_of_everything(seed):
    """Control, drives, friction of all laws, springs, motors, mimics, force laws, external wrenches: all accounted."""
    robot = lw.random_tree(seed, 6, friction=0.6, springs=0.5, armature=0.4, motors=0.4, mimic=0.3, frames=2)
    free, held = robot.names[0], robot.names[-1]
    result = lw.simulate(
        robot, robot.q(), None, 2.0, **TIGHT,
        control=lambda t, q, qd: 2.0 * np.cos(t + np.arange(robot.nv)),
        driven={held: lambda t: (0.3 * np.sin(t), 0.3 * np.cos(t), -0.3 * np.sin(t))},
        forces={"tool": lw.simulation.Drag((1, 2, 3), (0.1, 0.1, 0.1)),
                "frame2": lambda X, v: lw.Wrench(v.linear * -0.5)},
        joint_forces={free: lw.simulation.JointStop(-0.1, 0.1, 50.0)},
        external={"tool": lambda t, q, qd: [np.sin(t), 0, 0, 0, 0, 0.1], "frame2": [0, 0, 1.0, 0, 0, 0]},
    )  # fmt: skip
    e = result.energy
    assert e.drift < 1e-8
    for part in (e.control, e.drives, e.environment, e.friction):
        assert np.abs(part).max() > 0.0
    assert np.all(np.diff(e.friction) >= -1e-12)


# ---- driven joints


def motion(k):
    return lambda t: (0.5 * np.sin(t + k), 0.5 * np.cos(t + k), -0.5 * np.sin(t + k))


@pytest.mark.parametrize(
    "options", [{"floating": True, "friction": 0.5, "springs": 0.5}, {"motors": 0.5, "mimic": 0.4}]
)
def test_driven_joints_follow_and_torques_are_those_of_inverse_dynamics(options):
    robot = lw.random_tree(3, 6, **options)
    single = [n for n in robot.names if robot.slots[n].nv == 1]
    driven = {name: motion(k) for k, name in enumerate(single[::2])}
    result = lw.simulate(robot, robot.q(), None, 2.0, driven=driven, smooth_friction=False, **TIGHT)
    for k, name in enumerate(single[::2]):
        assert np.array_equal(result[name].q, 0.5 * np.sin(result.t + k))
        assert np.array_equal(result[name].qdd, -0.5 * np.sin(result.t + k))
    tau = lw.compile(robot).inverse_dynamics(result.q, result.qd, result.qdd)
    assert error(result.tau, tau) < 1e-11
    others = [robot.slots[n].v for n in robot.names if n not in driven]
    assert np.all(result.tau[:, others] == 0.0)
    assert result.energy.drift < 1e-9


def test_the_free_base_moves_as_momentum_demands():
    """Inverse dynamics of a moving base: joints are driven, the base's motion comes out, momentum stays zero."""
    robot = lw.random_tree(5, 4, kinds=("revolute",), floating=True).replace(gravity=(0, 0, 0))
    driven = {name: motion(k) for k, name in enumerate(robot.names[1:])}
    at_rest = np.zeros(6)  # of the whole: choose the base's velocity so that the momentum is zero
    q, qd = robot.q(), robot.v({n: driven[n](0.0)[1] for n in driven})
    q[7:] = [driven[n](0.0)[0] for n in driven]
    momentum = lw.compile(robot).momentum
    J = np.stack([momentum(q, np.eye(robot.nv)[k]) for k in range(6)], axis=1)
    qd[:6] = np.linalg.solve(J, at_rest - momentum(q, qd))
    result = lw.simulate(robot, q, qd, 6.0, driven=driven, **TIGHT)
    assert np.abs(momentum(result.q, result.qd)).max() < 1e-9
    assert np.abs(result.q[:, :3] - result.q[0, :3]).max() > 1e-2


def test_splines_and_held_positions_drive_joints():
    robot = lw.load("rr")
    times = np.linspace(0.0, 1.0, 9)
    for spline in (CubicSpline(times, np.sin(times)), make_interp_spline(times, np.sin(times), k=5)):
        result = lw.simulate(robot, [0, 0.3], None, 1.0, driven={robot.names[0]: spline, robot.names[1]: 0.3})
        assert np.array_equal(result.q[:, 0], spline(result.t))
        assert result.qdd[:, 0] == pytest.approx(spline(result.t, 2), abs=1e-12)
        assert np.all(result.q[:, 1] == 0.3)
        assert result.energy.drift < 1e-6
        assert error(result.tau, lw.compile(robot).inverse_dynamics(result.q, result.qd, result.qdd)) < 1e-12


def test_a_driven_floating_base_by_function_and_by_spline():
    """A base that is carried around: the spline's quaternion gives the rates that the function states."""
    robot = lw.random_tree(2, 3, floating=True)
    root = robot.names[0]

    def carried(t):
        pose = [0.1 * t, 0.0, np.sin(t), 0.0, 0.0, np.sin(t / 2), np.cos(t / 2)]
        c, s = np.cos(t), np.sin(t)
        v, a = np.array([0.1 * c, -0.1 * s, c]), np.array([-0.1 * s, -0.1 * c, -s])
        return pose, [*v, 0, 0, 1.0], [*a, 0, 0, 0]

    times = np.linspace(0.0, 2.0, 200)
    spline = make_interp_spline(times, [carried(t)[0] for t in times], k=5)
    one, two = (lw.simulate(robot, robot.q(), None, 2.0, driven={root: m}) for m in (carried, spline))
    assert one.energy.drift < 1e-8
    assert np.abs(one.qd - two.qd).max() < 1e-5
    assert np.abs(one.tau - two.tau).max() < 1e-3


# ---- dry friction, times, events, dense output


def test_dry_friction_is_smoothed_and_told():
    robot = pendulum(friction=lw.Friction(coulomb=2.0))
    result = lw.simulate(robot, [1.5], [0.0], 3.0, method="LSODA")
    assert "smoothed" in result.notes[0]
    assert "'hinge'" in result.notes[0]
    assert abs(result.qd[-1, 0]) < 2e-2  # creeps where friction could hold
    assert result.energy.friction[-1] > 1.0
    assert result.robot is robot
    assert lw.simulate(pendulum(), [1.5], [0.0], 0.1).notes == ()


def test_times_of_rows():
    assert len(lw.simulate(falling(), [0.0], None, 2.0)) == 201
    assert len(lw.simulate(falling(), [0.0], None, 0.01)) == 101
    assert len(lw.simulate(falling(), [0.0], None, 1000.0)) == 10001
    result = lw.simulate(falling(), [0.0], None, [5, 6, 7.5])
    assert result.t.tolist() == [5, 6, 7.5]
    assert result.q[:, 0] == pytest.approx(-G / 2 * (result.t - 5) ** 2)


def test_events_are_found_and_can_stop():
    def ground(t, q, qd):
        return q[0] + 10.0

    def passing(t, q, qd):
        return q[0] + 5.0

    ground.terminal = True
    passing.direction = 1
    result = lw.simulate(falling(), [0.0], None, 10.0, events=[ground, passing])
    touch = np.sqrt(20.0 / G)
    assert result.status == "stopped by event 'ground'"
    assert result.t[-1] == pytest.approx(touch, rel=1e-12)
    assert result.q[-1, 0] == pytest.approx(-10.0, rel=1e-12)
    assert result.events["ground"].t == pytest.approx([touch])
    assert len(result.events["passing"].t) == 0
    assert result.events["passing"].q.shape == (0, 1)


def test_events_within_one_step_and_at_its_start():
    """A fast event is seen between the ends of a long step; a zero at the start is not a crossing."""
    result = lw.simulate(falling(), [0.0], None, 5.2, events={"tick": lambda t, q, qd: np.sin(2 * np.pi * t)})
    assert result.events["tick"].t == pytest.approx(np.arange(1, 11) / 2, abs=1e-9)
    twice = lw.simulate(falling(), [0.0], None, 1.0, events=[lambda t, q, qd: t - 0.3, lambda t, q, qd: t - 0.6])
    assert {n: float(e.t[0]) for n, e in twice.events.items()} == pytest.approx({"lambda_1": 0.3, "lambda_2": 0.6})

    def third(t, q, qd):
        return np.sin(2 * np.pi * t)

    third.terminal = 3
    assert lw.simulate(falling(), [0.0], None, 5.0, events=third).t[-1] == pytest.approx(1.5)


def test_dense_output_between_rows():
    robot = lw.random_tree(1, 3, floating=True)
    result = lw.simulate(robot, robot.q(), np.ones(robot.nv), [0.0, 1.0], dense=True, **TIGHT)
    fine = lw.simulate(robot, robot.q(), np.ones(robot.nv), [0.0, 0.37, 0.6, 1.0], **TIGHT)
    q, qd = result.state([0.37, 0.6])
    assert q == pytest.approx(fine.q[1:3], abs=1e-11)
    assert qd == pytest.approx(fine.qd[1:3], abs=1e-11)
    assert result.state(0.37)[0] == pytest.approx(q[0], abs=1e-15)
    for bad in (-0.1, 1.1, np.nan):
        with pytest.raises(lw.InputError, match="expected times from 0 to 1 s"):
            result.state(bad)
    with pytest.raises(lw.InputError, match="dense=True"):
        fine.state(0.5)


# ---- ends before time


@pytest.mark.parametrize("method", METHODS)
def test_what_is_not_a_number_is_answered_at_once(method):
    """SciPy hangs on such a right-hand side, or reports success."""
    begin = time.monotonic()
    with pytest.raises(lw.SimulationError, match=r"control at t = 0 s: expected finite numbers, got \[nan\]"):
        lw.simulate(pendulum(), [1.0], [0.0], 5.0, method=method, control=lambda t, q, qd: [np.nan])
    with pytest.raises(lw.SimulationError, match=r"control at t = \S+ s: .* at q = \[\S+\], qd = \[\S+\]") as caught:
        lw.simulate(
            pendulum(),
            [1.0],
            [0.0],
            5.0,
            method=method,
            control=lambda t, q, qd: [0 / (t < 0.5) if t < 0.5 else np.inf],
        )
    assert 0.2 < caught.value.result.t[-1] <= 0.5
    assert caught.value.result.status == "failed"
    assert time.monotonic() - begin < 20.0


def test_accelerations_that_are_not_numbers_are_named():
    """A force law without bounds: the error names the joint, the time and the state."""
    robot = lw.Robot([lw.Link("world"), lw.Link("charge", 1.0)], [lw.Joint("x", "world", "charge", "prismatic")])
    with pytest.raises(lw.SimulationError, match=r"accelerations of 'x' that are not, at t = 0 s, q = \[0.\]"):
        lw.simulate(robot, [0.0], None, 1.0, joint_forces={"x": lambda q, qd: 1.0 / q})


@pytest.mark.parametrize("method", METHODS)
def test_a_motion_that_runs_away_ends_in_an_error(method):
    """q'' = q^4 reaches infinity in a finite time."""
    links = [lw.Link("world"), lw.Link("charge", 1.0)]
    robot = lw.Robot(links, [lw.Joint("x", "world", "charge", "prismatic")], gravity=(0, 0, 0))
    with pytest.raises(lw.SimulationError, match=r"at t = 1\.\d+ s") as caught:
        lw.simulate(robot, [1.0], None, 5.0, joint_forces={"x": lambda q, qd: q * q * q * q}, method=method)
    assert caught.value.result.status == "failed"
    assert 1.0 < caught.value.result.t[-1] < 2.0


def test_a_pulse_is_not_stepped_over():
    """A robot at rest invites long steps; a control that is a function bounds them."""
    robot = falling().replace(gravity=(0, 0, 0))
    result = lw.simulate(robot, [0.0], None, 10.0, control=lambda t, q, qd: [3.0 * (6.0 < t < 6.1)], method="RK45")
    assert result.qd[-1, 0] == pytest.approx(0.1, rel=1e-3)


def test_a_motion_that_ends_too_early_is_named():
    robot = lw.load("rr")
    times = np.linspace(0.0, 0.5, 9)
    short = CubicSpline(times, np.sin(times), extrapolate=False)
    with pytest.raises(lw.SimulationError, match=rf"driven '{robot.names[0]}' at t = \S+ s: expected finite"):
        lw.simulate(robot, [0, 0], None, 1.0, driven={robot.names[0]: short})


@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_keeps_what_was_computed(method):
    def control(t, q, qd):
        if t > 0.5:
            raise KeyboardInterrupt
        return [0.0]

    whole = lw.simulate(pendulum(), [1.0], [0.0], 5.0, method=method, rtol=1e-6)
    result = lw.simulate(pendulum(), [1.0], [0.0], 5.0, method=method, rtol=1e-6, control=control)
    assert result.status == "interrupted"
    assert 0.2 < result.t[-1] <= 0.5
    rows = len(result) - 1
    assert np.array_equal(result.t[:rows], whole.t[:rows])
    assert result.q[:rows] == pytest.approx(whole.q[:rows], abs=1e-5)
    assert result.energy.drift < 1e-3


def test_ctrl_c_before_anything_was_computed():
    def control(t, q, qd):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lw.simulate(pendulum(), [1.0], [0.0], 5.0, control=control)


def test_ctrl_c_from_the_keyboard():
    text = """
import linkwise as lw, sys
robot = lw.load("rr")
def progress(t, end):
    print("going", flush=True)
result = lw.simulate(robot, [0, 0], [1, 1], 1e6, progress=progress)
print(result.status, 0 < result.t[-1] < 1e6, len(result) > 1)
"""
    run = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "going\n"
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=60)
    assert out.splitlines()[-1] == "interrupted True True"


def test_errors_of_a_control_are_its_own():
    def control(t, q, qd):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        lw.simulate(pendulum(), [1.0], [0.0], 5.0, control=control)


# ---- what users may do


def test_controls_by_vector_and_by_name():
    robot = lw.load("rr")
    one = lw.simulate(robot, [0, 0], None, 1.0, control=[0.0, 0.5], max_step=0.1)
    two = lw.simulate(robot, {}, {}, 1.0, control={robot.names[1]: 0.5}, max_step=0.1)
    three = lw.simulate(robot, (0, 0), np.zeros(2, np.float32), 1, control=lambda t, q, qd: (0, 0.5))
    assert np.array_equal(one.q, two.q)
    assert np.array_equal(one.q, three.q)
    assert np.all(one.tau == [0.0, 0.5])


def test_a_control_may_keep_and_change_its_arguments():
    kept = []

    def control(t, q, qd):
        kept.append((q, q.copy()))
        q += 100.0
        qd += 100.0
        return [0.0]

    changed = lw.simulate(pendulum(), [1.0], [0.0], 1.0, control=control)
    assert np.array_equal(changed.q, lw.simulate(pendulum(), [1.0], [0.0], 1.0, max_step=0.1).q)
    assert all(np.array_equal(a, b + 100.0) for a, b in kept)


def test_a_control_sees_unit_quaternions():
    robot = lw.random_tree(1, 2, floating=True)
    lengths = []

    def control(t, q, qd):
        lengths.append(np.linalg.norm(q[3:7]))
        return np.zeros(robot.nv)

    q = robot.q()
    q[3:7] = [0, 0, 0, 3.0]
    lw.simulate(robot, q, np.ones(robot.nv), 1.0, control=control)
    assert np.array(lengths) == pytest.approx(1.0, abs=1e-15)


def test_functions_are_traced_again_when_what_they_use_has_changed():
    robot, pull = falling(), {"force": 0.0}

    def law(q, qd):
        return pull["force"]

    first = lw.simulate(robot, [0.0], None, 1.0, joint_forces={"down": law})
    pull["force"] = 3.0 * G
    second = lw.simulate(robot, [0.0], None, 1.0, joint_forces={"down": law})
    assert first.q[-1, 0] == pytest.approx(-G / 2)
    assert abs(second.q[-1, 0]) < 1e-12


def test_progress_is_told_and_can_be_silent(capsys, monkeypatch):
    seen, progress = [], sys.modules["linkwise.simulation.progress"]
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    lw.simulate(pendulum(), [1.0], [0.0], 2.0, progress=lambda t, end: seen.append((t, end)))
    assert seen[-1] == (2.0, 2.0)
    assert len(seen) > 2
    assert seen == sorted(seen)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    lw.simulate(pendulum(), [1.0], [0.0], 2.0)
    assert capsys.readouterr().err == ""  # no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    lw.simulate(pendulum(), [1.0], [0.0], 2.0, progress=False)
    assert capsys.readouterr().err == ""
    lw.simulate(pendulum(), [1.0], [0.0], 2.0)
    assert "of 2 s" in capsys.readouterr().err


# ---- refusals

REFUSALS = {
    "q0: expected 1 finite numbers": {"q0": [1.0, 2.0]},
    "q0: expected 1 finite numbers, .*hinge": {"q0": [np.nan]},
    r"q0: .*got \['a'\]": {"q0": ["a"]},
    "unknown joint 'elbow'": {"q0": {"elbow": 1.0}},
    "qd0: expected 1 finite": {"qd0": np.zeros((1, 1))},
    "t: expected a final time above 0 s": {"t": -1.0},
    "t: expected a final time .*got 0": {"t": 0},
    "t: .*got nan": {"t": np.nan},
    "t: .*got inf": {"t": np.inf},
    "t: .*rising times": {"t": [0.0, 1.0, 1.0]},
    "t: expected .* two or more": {"t": [1.0]},
    "t: .*got 'long'": {"t": "long"},
    "t: .*got None": {"t": None},
    "unknown method of simulate 'rk4'. .*'RK45'": {"method": "rk4"},
    "unknown method of simulate 5": {"method": 5},
    "rtol: expected a number from 1e-13": {"rtol": 1e-20},
    "rtol: .*got 'tight'": {"rtol": "tight"},
    "atol: expected a number": {"atol": 0.0},
    "max_step: expected a number": {"max_step": -1.0},
    "control: expected 1 finite numbers": {"control": [1.0, 2.0]},
    r"control at t = 0 s: expected 1 numbers, got \[1, 2\]": {"control": lambda t, q, qd: [1, 2]},
    "control at t = 0 s: expected 1 numbers, got None": {"control": lambda t, q, qd: None},
    "unknown joint in driven 'elbow'": {"driven": {"elbow": 1.0}},
    "driven: expected motions by joint": {"driven": ["hinge"]},
    "driven 'hinge': expected a function of time": {"driven": {"hinge": "up"}},
    "driven 'hinge' at t = 0 s: expected position, velocity": {"driven": {"hinge": lambda t: t}},
    "driven 'hinge' at t = 0 s: expected .*1, 1 and 1": {"driven": {"hinge": lambda t: (t, t)}},
    "unknown frame or link 'foot'": {"forces": {"foot": lw.simulation.Thrust()}},
    "unknown joint in joint_forces 'knee'": {"joint_forces": {"knee": lw.simulation.JointStop(0, 1)}},
    "external: expected wrenches by frame": {"external": [1, 2, 3]},
    "unknown frame or link 'tool'": {"external": {"tool": np.zeros(6)}},
    "external at t = 0 s: expected 6 numbers": {"external": {"bob": [1, 2, 3]}},
    "events: expected functions": {"events": [3]},
    "events: expected functions of .*got 'fall'": {"events": "fall"},
    "event 'none' at t = 0 s: expected a number, got None": {"events": {"none": lambda t, q, qd: None}},
    "progress: expected a function": {"progress": 3},
}


@pytest.mark.parametrize("message", REFUSALS)
def test_bad_input_is_named(message):
    given = {"q0": [1.0], "qd0": [0.0], "t": 1.0, **REFUSALS[message]}
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.simulate(pendulum(), **given)


def test_a_start_that_is_not_given_is_zero():
    robot = lw.random_tree(1, 2, floating=True)
    one, other = (lw.simulate(robot, q0, None, 0.2) for q0 in (None, robot.q()))
    np.testing.assert_array_equal(one.q, other.q)


def test_bad_robots_are_named():
    with pytest.raises(lw.InputError, match="expected a Robot first"):
        lw.simulate("arm", [0.0], None, 1.0)
    with pytest.raises(lw.InputError, match="'still', which has none"):
        lw.simulate(lw.Robot([lw.Link("block")], name="still"), [], [], 1.0)
    robot = lw.load("rr")
    links = [k.name for k in robot.links]
    torn = robot.add(lw.Loop("ring", links[0], links[-1], origin_a=Pose.of((9.0, 0.0, 0.0))))
    with pytest.raises(lw.ModelError, match=r"no configuration was found in which its loops \('ring'\) close"):
        lw.simulate(torn, [0, 0], None, 1.0)
    floating = lw.random_tree(0, 1, floating=True)
    with pytest.raises(lw.InputError, match="'root': expected a quaternion"):
        lw.simulate(floating, np.zeros(floating.nq), None, 1.0)
    ghost = lw.Robot([lw.Link("world"), lw.Link("ghost")], [lw.Joint("free", "world", "ghost")])
    with pytest.raises(lw.LinkwiseError, match="'ghost' and all it carries have no inertia"):
        lw.simulate(ghost, [0.0], None, 1.0)


def test_splines_are_evaluated_together_to_the_last_bit():
    """Joints on the same and on other intervals, within and beyond them, by SciPy's own arithmetic."""
    from scipy.interpolate import Akima1DInterpolator, CubicSpline, PchipInterpolator

    from linkwise.simulation.motions import prescribed, together

    rng = np.random.default_rng(5)
    t, other = np.linspace(0.0, 2.0, 9), np.linspace(0.0, 2.0, 5)
    splines = [CubicSpline(t, rng.normal(size=9)), PchipInterpolator(t, rng.normal(size=9), extrapolate=True)]
    splines += [CubicSpline(other, rng.normal(size=5)), Akima1DInterpolator(t, rng.normal(size=9))]
    robot = lw.load("puma560")
    motions = prescribed(robot, dict(zip(robot.names, [*splines, 0.3, lambda s: (s, 1.0, 0.0)], strict=True)))
    groups, rest = together(motions)
    assert [len(g.q) for g in groups] == [2, 1]
    assert [m.joint for m in rest] == list(robot.names[3:])
    for at in (-0.5, 0.0, 0.25, 0.777, 1.999, 2.0, 2.3):
        wanted = np.array([np.ravel(m.at(at)) for m in motions[:3]]).T
        found = np.hstack([g.at(at) for g in groups])
        assert np.array_equal(found, wanted)
