"""The momentum observer: its terms on every machine, and pushes in simulations."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.control import generalised_momentum, momentum_observer
from linkwise.motion.log import Log
from support.every_machine import sort

MACHINES = ("arm", "floating", "elastic", "five-bar", "five-bar, elastic", "hexapod", "Delta", "3-RRR")
PUSH, BEGIN, END = np.array([0.0, 15.0, -10.0, 0.0, 0.0, 0.0]), 0.4, 0.8
DT, GAIN = 0.001, 40.0


@pytest.mark.parametrize("name", MACHINES)
def test_the_momentum_and_its_rate_are_those_of_the_equations_of_motion(name):
    machine = sort(name)
    robot, dyn = machine.robot, machine.dynamics()
    q, qd = machine.states(4, 1)
    tau = np.random.default_rng(3).normal(size=(4, robot.nu))
    p, rate = lw.compile(robot, generalised_momentum)(q, qd, tau)
    M = dyn.mass_matrix(q)
    assert np.allclose(p, np.einsum("rij,rj->ri", M, qd), atol=1e-12 * np.abs(M).max())
    step = 1e-5
    M_dot = (dyn.mass_matrix(dyn.integrate(q, qd, step)) - dyn.mass_matrix(dyn.integrate(q, qd, -step))) / (2.0 * step)
    qdd = dyn.forward_dynamics(q, qd, tau)
    wanted = np.einsum("rij,rj->ri", M, qdd) + np.einsum("rij,rj->ri", M_dot, qd)
    assert np.allclose(rate, wanted, atol=1e-6 * max(1.0, np.abs(wanted).max()))


def pushed(robot: lw.Robot, force=PUSH):
    """A motion under computed torque with a push on the last link, sampled, and J^T F along it."""
    control = lw.compile(robot, lw.control.computed_torque, kp=100.0, kd=20.0)
    dyn, link, n = lw.compile(robot), robot.moving_links[-1], robot.nv
    amplitude = np.linspace(0.5, 0.3, n)

    def torques(t, q, qd):
        wave = amplitude * np.sin(2.0 * t), 2.0 * amplitude * np.cos(2.0 * t), -4.0 * amplitude * np.sin(2.0 * t)
        return control(q, qd, *wave)

    def load(t, q, qd):
        return force if BEGIN <= t < END else np.zeros(6)

    t = np.arange(0.0, 1.2, DT)
    found = lw.simulate(robot, np.zeros(n), 2.0 * amplitude, t, control=torques, external={link: load}, rtol=1e-9,
                        atol=1e-11, max_step=2e-3)  # fmt: skip
    tau = np.array([torques(*row) for row in zip(t, found.q, found.qd, strict=True)])
    applied = np.array([load(s, None, None) for s in t])
    acting = dyn.inverse_dynamics(found.q, found.qd, 0.0 * found.qd)
    loaded = lw.compile(robot, lw.inverse_dynamics, external=link)(found.q, found.qd, 0.0 * found.qd, applied[:, None])
    return t, found.q, found.qd, tau, acting - loaded


def filtered(x, gain=GAIN):
    """What a first-order filter makes of a signal that is constant between samples."""
    found, fade = np.zeros_like(x), np.exp(-gain * DT)
    for k in range(1, len(x)):
        found[k] = fade * found[k - 1] + (1.0 - fade) * 0.5 * (x[k] + x[k - 1])
    return found


@pytest.fixture(scope="module")
def push():
    arm = lw.load("puma560")
    smooth = lw.Friction(viscous=1.5, coulomb=2.0, law="tanh", width=0.2)  # one that a grid of samples resolves
    robot = arm.replace(*(replace(j, friction=smooth) for j in arm.joints if not j.is_fixed))
    return robot, *pushed(robot)


def test_the_residual_is_the_push_behind_a_first_order_filter(push):
    robot, t, q, qd, tau, outside = push
    seen = momentum_observer(robot, GAIN, DT).along(q, qd, tau)
    assert np.abs(outside).max() > 2.0
    steps = (np.abs(t - BEGIN) > 3e-3) & (np.abs(t - END) > 3e-3)
    assert np.allclose(seen.torque[steps], filtered(outside)[steps], atol=0.02 * np.abs(outside).max())
    late = (t > BEGIN + 8.0 / GAIN) & (t < END)
    assert np.allclose(seen.torque[late], outside[late], atol=0.05 * np.abs(outside).max())
    assert np.abs(seen.torque[t < BEGIN]).max() < 1e-3 * np.abs(outside).max()


def test_samples_one_by_one_give_the_same_as_a_whole_log(push):
    robot, _, q, qd, tau, _ = push
    for hold in (False, True):
        observer = momentum_observer(robot, [20.0, 30.0, 40.0, 50.0, 60.0, 70.0], DT, hold=hold)
        whole = observer.along(q[:200], qd[:200], tau[:200]).torque
        single = np.array([observer(*row) for row in zip(q[:200], qd[:200], tau[:200], strict=True)])
        assert np.allclose(single, whole, atol=1e-10)
        observer.reset()
        assert np.array_equal(observer(q[0], qd[0], tau[0]), np.zeros(6))


def test_thresholds_of_a_log_without_contact_find_the_push_and_nothing_else(push):
    robot, t, q, qd, tau, _ = push
    rng = np.random.default_rng(0)
    noisy = tau + 0.3 * rng.normal(size=tau.shape)
    free = t < BEGIN - 0.01
    observer = momentum_observer(robot, GAIN, DT).fit(q[free], qd[free], noisy[free])
    found = observer.along(Log(robot, t, q, qd, noisy))
    assert not found.detected[free].any()
    (first, last, joint), *others = found.contacts
    assert BEGIN < first < BEGIN + 0.05
    assert END - 0.01 < last < END + 8.0 / GAIN
    assert joint in robot.names
    assert not others
    again = pickle.loads(pickle.dumps(observer))
    assert np.array_equal(again.threshold, observer.threshold)
    for row in zip(q, qd, noisy, strict=True):
        again(*row)
        if again.detected:
            break
    assert again.detected


def test_a_floating_robot_feels_a_push_on_its_body():
    machine = sort("floating")
    robot = machine.robot.without_friction()  # joints that stick would hold a part of the push
    link, load = robot.moving_links[-1], np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.1])
    q, qd = (x[0] for x in machine.states(1, 1))
    t = np.arange(0.0, 0.3, DT)
    found = lw.simulate(robot, q, 0.2 * qd, t, external={link: load}, rtol=1e-9, atol=1e-11)
    seen = momentum_observer(robot, 100.0, DT).along(found.q, found.qd, np.zeros((len(t), robot.nu))).torque
    plain, loaded = lw.compile(robot, lw.inverse_dynamics), lw.compile(robot, lw.inverse_dynamics, external=link)
    still = 0.0 * found.qd
    acting = plain(found.q, found.qd, still) - loaded(found.q, found.qd, still, np.tile(load, (len(t), 1, 1)))
    assert np.allclose(seen[-1], acting[-1], atol=0.03 * np.abs(acting[-1]).max())


def test_what_cannot_be_is_said():
    robot = lw.load("rr")
    with pytest.raises(lw.InputError, match="expected a Robot"):
        momentum_observer("rr")
    with pytest.raises(lw.InputError, match="gain"):
        momentum_observer(robot, gain=-1.0)
    with pytest.raises(lw.InputError, match="dt"):
        momentum_observer(robot, dt=0.0)
    observer = momentum_observer(robot)
    with pytest.raises(lw.InputError, match="shape"):
        observer([0.0], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(lw.InputError, match="no torques"):
        observer.along(Log(robot, np.arange(3.0), np.zeros((3, 2)), np.zeros((3, 2))))
    with pytest.raises(lw.InputError, match="dt=1"):
        observer.along(Log(robot, np.arange(3.0), *np.zeros((3, 3, 2))))
    with pytest.raises(lw.InputError, match="samples"):
        observer.fit(np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(lw.LinkwiseError, match="wheels"):
        momentum_observer(lw.load("differential_drive"))
