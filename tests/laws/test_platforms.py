"""Laws of platforms on legs: legs follow, work balances, routes agree."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise.algorithms import World, inverse_dynamics, kinetic_energy, potential_energy
from linkwise.mechanism.machine import machine_of
from support.machines import NAMES, RANDOM, compiled, machine
from support.trees import error

STEP = 1e-40  # of a complex step, which has no round-off
FEW = ("Gough-Stewart", "Delta", "3-RRR upright", "6-URS", "3-PRR", "8-UPS")
few = pytest.mark.parametrize("name", FEW)
every = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True)
def back_end(request, monkeypatch):
    """The interpreter, which compiles nothing; native code where forward meets inverse dynamics of known machines."""
    test = request.node.originalname
    if test != "test_forward_after_inverse_and_back" or request.node.callspec.params["name"] in RANDOM:
        monkeypatch.setenv("LINKWISE_BACKEND", "numpy")


def moved(robot, q, qd, qdd):
    """A machine, and its position and velocity a complex step later: imaginary parts are time derivatives."""
    model = machine_of(robot)
    rate = model.leaf_rates(list(q), list(qd))
    later = [x + 1j * STEP * d for x, d in zip(q, rate, strict=True)]
    return model, later, [x + 1j * STEP * d for x, d in zip(qd, qdd, strict=True)]


def along(quantity, robot, q, qd, qdd):
    """The time derivative of a quantity of position and velocity along a motion."""
    model, *state = moved(robot, q, qd, qdd)
    around = {"world": World(gravity=robot.gravity)} if quantity.uses else {}
    (found,) = quantity.function(model, *state[: len(quantity.inputs)], **around)
    return np.array([np.imag(x) / STEP for x in found])


@every
def test_forward_after_inverse_and_back(name):
    """1000 states: the accelerations come back from the forces, and the forces from the accelerations."""
    m = machine(name)
    q, qd, qdd = m.states(1000)
    tau = m.dyn.inverse_dynamics(q, qd, qdd)
    assert error(m.dyn.forward_dynamics(q, qd, tau), qdd) < 1e-8
    assert error(m.dyn.inverse_dynamics(q, qd, m.dyn.forward_dynamics(q, qd, tau)), tau) < 1e-8


@every
def test_legs_end_on_the_platform(name):
    """By the kinematics of trees: the leg's tip is at its point of the platform."""
    m = machine(name)
    found = m.dyn.positions(m.states(5)[0])
    assert found.converged.all()
    tree = compiled(m.robot.opened())
    for loop in m.robot.loops:
        ends = [(tree.pose(found.q, link) @ origin.matrix())[:, :3, 3] for link, origin in
                ((loop.a, loop.origin_a), (loop.b, loop.origin_b))]  # fmt: skip
        np.testing.assert_allclose(*ends, rtol=0, atol=1e-13)


@every
def test_rates_and_accelerations_of_legs(name):
    """Rates are those of the legs' angles and lengths, accelerations those of the rates."""
    m = machine(name)
    for q, qd, qdd in zip(*m.states(3), strict=True):
        at = machine_of(m.robot).at(list(q))
        rates, accelerations = at.led(list(qd), list(qdd))
        model, later, faster = moved(m.robot, q, qd, qdd)
        there = model.at(later)
        slots = [s.v for n, s in m.robot.opened().slots.items() if n not in m.robot.slots]
        n = m.robot.nq - m.robot.nv
        slopes = [_rate(there.q[v + n]) for v in slots]
        assert error([rates[v] for v in slots], slopes) < 1e-12
        slopes = [np.imag(x) / STEP for x in there.rates(faster)]
        assert error(np.array(accelerations), slopes) < 1e-11


def _rate(x):
    """The rate of a position, be it a number or a cosine and a sine."""
    if isinstance(x, complex):
        return x.imag / STEP
    return (np.real(x.c) * np.imag(x.s) - np.real(x.s) * np.imag(x.c)) / STEP


@few
def test_drive_jacobian(name):
    """It takes velocities to rates of the actuated joints."""
    m = machine(name)
    q, qd, _ = m.states(50)
    rates = np.einsum("bij,bj->bi", m.dyn.drive_jacobian(q), qd)
    slots = m.robot.opened().slots
    for k in range(50):
        whole = machine_of(m.robot).at(list(q[k])).rates(list(qd[k]))
        assert error(rates[k], [whole[slots[n].v] for n in m.robot.drives]) < 1e-12


@every
def test_model_in_the_coordinates_of_the_platform(name):
    """Forces on the platform are M a + h, and what J^T takes the drives' forces to; T = v M v / 2."""
    m = machine(name)
    q, qd, qdd = m.states(50)
    M, h = m.dyn.mass_matrix(q), m.dyn.bias_forces(q, qd)
    W = np.einsum("bij,bj->bi", M, qdd) + h
    tau = m.dyn.inverse_dynamics(q, qd, qdd)
    assert error(np.einsum("bji,bj->bi", m.dyn.drive_jacobian(q), tau), W) < 1e-10
    assert error(0.5 * np.einsum("bi,bij,bj->b", qd, M, qd), m.dyn.kinetic_energy(q, qd)) < 1e-12
    assert (np.linalg.eigvalsh(M) > 0.0).all()
    assert error(M, np.swapaxes(M, -1, -2)) == 0.0


@every
def test_gravity_is_the_gradient_of_potential_energy(name):
    m = machine(name)
    robot = without_springs(m.robot)
    q, qd, qdd = m.states(3)
    g = compiled(robot).gravity_forces(q)
    for k in range(3):
        (power,) = along(potential_energy, robot, q[k], qd[k], qdd[k])
        assert abs(power - g[k] @ qd[k]) < 1e-11 * np.abs(g[k]).max()
    assert error(m.dyn.gravity_forces(q), g) < 1e-13


@every
def test_power_of_motors_is_the_rate_of_energy(name):
    m = machine(name)
    robot = without_springs(m.robot)
    dyn = compiled(robot)
    q, qd, qdd = m.states(3)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    power = np.einsum("bi,bij,bj->b", tau, dyn.drive_jacobian(q), qd)
    for k in range(3):
        (T,) = along(kinetic_energy, robot, q[k], qd[k], qdd[k])
        (V,) = along(potential_energy, robot, q[k], qd[k], qdd[k])
        assert abs(T + V - power[k]) < 1e-10 * np.abs(tau[k]).max()


def without_springs(robot):
    """The ideal robot."""
    ideal = robot.without_friction()
    return ideal.replace(joints=[replace(j, spring=None) for j in ideal.joints])


@every
def test_positions_of_drives_give_the_position_of_the_platform(name):
    m = machine(name)
    if m.robot.nu > m.robot.nv:
        with pytest.raises(lw.InputError, match="as many drives as degrees of freedom, got 8 and 6"):
            m.dyn.positions(drives=np.zeros(8))
        return
    q = m.states(20, spread=0.01)[0]
    whole = m.dyn.positions(q).q
    slots = m.robot.opened().slots
    drives = whole[:, [slots[n].q for n in m.robot.drives]]
    for row, there in zip(drives, whole, strict=True):
        found = m.dyn.positions(drives=row, guess=there)
        assert found.converged
        assert error(found.q, there) < 1e-9
    found = m.dyn.positions(drives=drives, guess=m.dyn.positions(m.home).q)
    assert np.mean(found.converged) > 0.9  # others are beyond a singular position
    back = found.q[found.converged][:, [slots[n].q for n in m.robot.drives]]
    assert error(back, drives[found.converged]) < 1e-12


@few
def test_external_wrench(name):
    """A wrench of the environment takes its part off the forces, J^T of which it balances."""
    m = machine(name)
    loaded = compiled(m.robot, external=("platform",))
    q, qd, qdd = m.states(20)
    f = np.random.default_rng(1).normal(size=(20, 1, 6))
    less = m.dyn.inverse_dynamics(q, qd, qdd) - loaded.inverse_dynamics(q, qd, qdd, f)
    there = np.einsum("bji,bj->bi", m.dyn.jacobian(q, "platform", axes="local"), f[:, 0])
    assert error(np.einsum("bji,bj->bi", m.dyn.drive_jacobian(q), less), there) < 1e-10
    tau = loaded.inverse_dynamics(q, qd, qdd, f)
    assert error(loaded.forward_dynamics(q, qd, tau, f), qdd) < 1e-9


@few
def test_forces_of_the_legs_move_the_platform(name):
    """What cut joints carry from legs to platform, and its weight, is the rate of the platform's momentum."""
    m = machine(name)
    q, qd, qdd = m.states(20)
    cut = m.dyn.joint_wrenches(q, qd, qdd).cut
    platform = m.robot.link("platform")
    alone = lw.Robot([lw.Link("world"), platform], [m.robot.joint("platform")], gravity=m.robot.gravity)
    needed = lw.compile(alone).inverse_dynamics(q, qd, qdd)
    total = np.zeros((20, 6))
    for k, loop in enumerate(m.robot.loops):  # of a on b, in the axes of a, which is the platform
        R, p = np.array(loop.origin_a.R), np.array(loop.origin_a.p)
        force, moment = -cut[:, k, :3] @ R.T, -cut[:, k, 3:] @ R.T
        total += np.hstack([force, moment + np.cross(p, force)])
    if m.robot.nv == 3:
        J = m.dyn.jacobian(q, "platform", axes="local")
        total = np.einsum("bji,bj->bi", J, total)
    assert error(total, needed) < 1e-9


@few
def test_kernels_are_what_python_computes(name):
    m = machine(name)
    q, qd, qdd = (x[0] for x in m.states(1))
    expected = inverse_dynamics.plain(m.robot, list(q), list(qd), list(qdd))
    assert error(m.dyn.inverse_dynamics(q, qd, qdd), expected) < 1e-11


def test_redundant_motors_share_by_least_squares():
    """Eight motors for six degrees of freedom: the forces are the shortest that do it."""
    m = machine("8-UPS")
    q, qd, qdd = m.states(20)
    tau = m.dyn.inverse_dynamics(q, qd, qdd)
    W = np.einsum("bij,bj->bi", m.dyn.mass_matrix(q), qdd) + m.dyn.bias_forces(q, qd)
    J = m.dyn.drive_jacobian(q)
    for k in range(20):
        assert error(tau[k], np.linalg.lstsq(J[k].T, W[k])[0]) < 1e-10


def test_rods_of_a_parallelogram():
    """The two rods of each parallelogram of a Delta have the energy of slender rods between their own ends."""
    m = machine("Delta")
    robot = lw.delta(arm_mass=0.5, forearm_mass=0.2)
    dyn = compiled(robot)
    p, v, _ = m.states(20)
    q, rates = dyn.positions(p).q, np.einsum("bij,bj->bi", dyn.drive_jacobian(p), v)
    slots = robot.opened().slots
    T, V = np.zeros(20), np.zeros(20)
    for k in range(3):
        turn = 2.0 * np.pi * k / 3.0
        out, side = np.array([np.cos(turn), np.sin(turn), 0.0]), np.array([-np.sin(turn), np.cos(turn), 0.0])
        angle, rate = q[:, slots[f"leg{k + 1}.motor"].q, None], rates[:, k, None]
        along_arm = np.cos(angle) * out - np.sin(angle) * np.array([0.0, 0.0, 1.0])
        knee = 0.2 * out + 0.25 * along_arm
        knee_v = 0.25 * rate * (-np.sin(angle) * out - np.cos(angle) * np.array([0.0, 0.0, 1.0]))
        T += 0.5 * (0.5 * 0.25**2 / 3.0) * rate[:, 0] ** 2
        V += 0.5 * 9.81 * (0.5 * 0.25 * along_arm)[:, 2]
        for offset in (0.04 * side, -0.04 * side):  # both rods end beside the middles, and shift with them
            a_end, b_end = knee + offset, p + 0.05 * out + offset
            np.testing.assert_allclose(np.linalg.norm(b_end - a_end, axis=1), 0.6, rtol=1e-13)
            T += 0.1 / 6.0 * (knee_v * knee_v + knee_v * v + v * v).sum(axis=1)
            V += 0.1 * 9.81 * (0.5 * (a_end + b_end))[:, 2]
    T += 0.5 * 0.3 * (v * v).sum(axis=1)
    V += 0.3 * 9.81 * p[:, 2]
    assert error(dyn.kinetic_energy(p, v), T) < 1e-13
    assert error(dyn.potential_energy(p), V) < 1e-13


def test_payload_adds_its_own_forces():
    """Forces are linear in the platform's inertia."""
    robot, home = lw.gough_stewart(), machine("Gough-Stewart").home
    com = (0.1, -0.05, 0.2)
    inertia = ((0.3, 0.01, 0.02), (0.01, 0.2, 0.03), (0.02, 0.03, 0.25))
    _, qd, qdd = (x[0] for x in machine("Gough-Stewart").states(1))
    loaded = [robot, *(robot.with_payload(n * 2.0, com, n * np.array(inertia), at="platform") for n in (1, 2))]
    tau = [compiled(r).inverse_dynamics(home, qd, qdd) for r in loaded]
    assert error(tau[2] - tau[1], tau[1] - tau[0]) < 1e-11
    body = [lw.Link("platform", 2.0, com, inertia), lw.Link("platform")]
    alone = [compiled(lw.gough_stewart(platform=b)).inverse_dynamics(home, qd, qdd) for b in body]
    assert error(tau[1] - tau[0], alone[0] - alone[1]) < 1e-11


def test_gravity_as_an_input():
    m = machine("6-UPS")
    q, qd, qdd = m.states(10)
    asked = compiled(m.robot, gravity="input")
    np.testing.assert_allclose(
        asked.inverse_dynamics(q, qd, qdd, m.robot.gravity), m.dyn.inverse_dynamics(q, qd, qdd), rtol=1e-10
    )
    fixed = compiled(m.robot, gravity=(0.0, 0.0, 0.0))
    np.testing.assert_allclose(
        asked.inverse_dynamics(q, qd, qdd, np.zeros(3)), fixed.inverse_dynamics(q, qd, qdd), rtol=1e-9
    )


def test_velocities_are_in_the_axes_of_the_platform():
    m = machine("6-UPS")
    q, qd, _ = m.states(10)
    turn = Rotation.from_quat(q[:, 3:])
    found = m.dyn.velocity(q, qd, "platform", axes="world")
    assert error(found, np.hstack([turn.apply(qd[:, :3]), turn.apply(qd[:, 3:])])) < 1e-14
