"""Laws of parallel robots: legs follow, work balances, routes agree."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.parallel import quantities
from linkwise.parallel.mechanics import Machine
from linkwise.vector import cross, dot
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


def moved(robot, pose, velocity, acceleration):
    """A machine, and its pose and velocity a complex step later: imaginary parts are time derivatives."""
    model = Machine.of(robot)
    rate = quantities.pose_rate.function(model, list(pose), list(velocity))[0]
    later = [x + 1j * STEP * d for x, d in zip(pose, rate, strict=True)]
    return model, later, [x + 1j * STEP * d for x, d in zip(velocity, acceleration, strict=True)]


def along(quantity, robot, pose, velocity, acceleration):
    """The time derivative of a quantity of pose and velocity along a motion."""
    model, *state = moved(robot, pose, velocity, acceleration)
    (found,) = quantity.function(model, *state[: len(quantity.inputs)])
    return np.array([np.imag(x) / STEP for x in found])


@every
def test_forward_after_inverse_and_back(name):
    """1000 states: the accelerations come back from the forces, and the forces from the accelerations."""
    m = machine(name)
    pose, v, a = m.states(1000)
    forces = m.par.inverse_dynamics(pose, v, a)
    assert error(m.par.forward_dynamics(pose, v, forces), a) < 1e-8
    assert error(m.par.inverse_dynamics(pose, v, m.par.forward_dynamics(pose, v, forces)), forces) < 1e-8


@every
def test_legs_end_on_the_platform(name):
    """By the kinematics of trees: the leg's tip is at its point of the platform."""
    m = machine(name)
    pose, _, _ = m.states(5)
    q = m.par.inverse_kinematics(pose)
    plane = m.robot.motion.plane
    k = 0
    for leg in m.robot.legs:
        dyn = lw.compile(leg.placed)
        tips = dyn.pose(q[:, k : k + leg.robot.nq], f"{leg.name}.{leg.tip}")[:, :3, 3]
        k += leg.robot.nq
        for x, tip in zip(pose, tips, strict=True):
            goal = np.array(m.robot.motion.pose(list(x)).point(leg.at))
            np.testing.assert_allclose(tip[: 2 if plane else 3], goal[: 2 if plane else 3], rtol=0, atol=1e-13)


@every
def test_rates_and_accelerations_of_legs(name):
    """qd is the rate of the leg's angles and lengths, qdd that of qd."""
    m = machine(name)
    pose, v, a = m.states(3)
    found = m.par.leg_motion(pose, v, a)
    places = m.par._leg_places(pose)
    turning = [j.kind != "prismatic" for j in m.robot.joints]
    for k in range(3):
        d = along(quantities.inverse_kinematics, m.robot, pose[k], v[k], a[k])
        d, (c, s) = d.reshape(-1, 2), places[k].T
        rates = np.where(turning, c * d[:, 1] - s * d[:, 0], d[:, 0])
        assert error(found.qd[k], rates) < 1e-12
        assert error(found.qdd[k], _rate_of_rates(m, pose[k], v[k], a[k])) < 1e-11


def _rate_of_rates(m, pose, v, a):
    model, later, faster = moved(m.robot, pose, v, a)
    motion, found = model.motion.motion(faster), []
    for place in model.places(later)[1]:
        tip = motion.linear + cross(motion.angular, place.lever)
        found += [dot(row, tip) for row in place.rows]
    return np.array([x.imag / STEP for x in found])


@few
def test_jacobians(name):
    """J_p inverts J_p^-1, which takes velocities to rates of the actuated joints."""
    m = machine(name)
    pose, v, a = m.states(50)
    K, J = m.par.inverse_jacobian(pose), m.par.jacobian(pose)
    assert error(J @ K, np.broadcast_to(np.eye(m.robot.nv), (50, m.robot.nv, m.robot.nv))) < 1e-11
    active = [n in m.robot.names for n in m.robot.joint_names]
    assert error(np.einsum("bij,bj->bi", K, v), m.par.leg_motion(pose, v, a).qd[:, active]) < 1e-12


@every
def test_model_in_the_coordinates_of_the_platform(name):
    """Forces on the platform are M a + h, and what K^T takes the motors' forces to; T = v M v / 2."""
    m = machine(name)
    pose, v, a = m.states(50)
    M, h = m.par.mass_matrix(pose), m.par.bias_forces(pose, v)
    W = m.par.platform_forces(pose, v, a)
    assert error(np.einsum("bij,bj->bi", M, a) + h, W) < 1e-12
    forces = m.par.inverse_dynamics(pose, v, a)
    assert error(np.einsum("bji,bj->bi", m.par.inverse_jacobian(pose), forces), W) < 1e-10
    assert error(0.5 * np.einsum("bi,bij,bj->b", v, M, v), m.par.kinetic_energy(pose, v)) < 1e-12
    assert (np.linalg.eigvalsh(M) > 0.0).all()
    assert error(M, np.swapaxes(M, -1, -2)) == 0.0


@every
def test_gravity_is_the_gradient_of_potential_energy(name):
    m = machine(name)
    robot = without_springs(m.robot)
    pose, v, a = m.states(3)
    g = compiled(robot).gravity_forces(pose)
    for k in range(3):
        (power,) = along(quantities.potential_energy, robot, pose[k], v[k], a[k])
        assert abs(power - g[k] @ v[k]) < 1e-11 * np.abs(g[k]).max()
    assert error(m.par.gravity_forces(pose), g) < 1e-14


@every
def test_power_of_motors_is_the_rate_of_energy(name):
    m = machine(name)
    robot = without_springs(m.robot)
    par = compiled(robot)
    pose, v, a = m.states(3)
    forces = par.inverse_dynamics(pose, v, a)
    power = np.einsum("bi,bij,bj->b", forces, par.inverse_jacobian(pose), v)
    for k in range(3):
        (T,) = along(quantities.kinetic_energy, robot, pose[k], v[k], a[k])
        (V,) = along(quantities.potential_energy, robot, pose[k], v[k], a[k])
        size = np.abs(forces[k]).max()
        assert abs(T + V - power[k]) < 1e-10 * size


def without_springs(robot):
    """The ideal robot."""
    legs = []
    for leg in robot.legs:
        chain = leg.robot.without_friction()
        joints = [lw.Joint(**{**vars(j), "spring": None}) for j in chain.joints]
        legs.append(
            lw.parallel.Leg(leg.name, chain.replace(joints=joints), leg.tip, leg.at, leg.actuated, leg.base, leg.home)
        )
    return robot.replace(legs=legs)


@every
def test_forward_kinematics_finds_the_pose(name):
    m = machine(name)
    pose, _, _ = m.states(200)
    found = m.par.forward_kinematics(m.par.actuators(pose), m.home)
    assert found.converged.all()
    assert (found.residual < 1e-12).all()
    assert error(m.par.actuators(found.pose), m.par.actuators(pose)) < 1e-12
    near = np.abs(found.pose - pose).max(axis=1)
    assert np.median(near) < 1e-12  # some rows may be other assemblies
    closer = m.par.forward_kinematics(m.par.actuators(pose), pose + 1e-4)
    assert error(closer.pose, pose) < 1e-11


@few
def test_external_wrench(name):
    """A wrench of the environment takes its part off the forces, K^T of which it balances."""
    m = machine(name)
    loaded = compiled(m.robot, external=True)
    pose, v, a = m.states(20)
    f = np.random.default_rng(1).normal(size=(20, 6))
    less = m.par.inverse_dynamics(pose, v, a) - loaded.inverse_dynamics(pose, v, a, f)
    K = m.par.inverse_jacobian(pose)
    assert error(np.einsum("bji,bj->bi", K, less), f[:, m.robot.motion.axes]) < 1e-10
    forces = loaded.inverse_dynamics(pose, v, a, f)
    assert error(loaded.forward_dynamics(pose, v, forces, f), a) < 1e-9


@few
def test_forces_of_the_legs_move_the_platform(name):
    """Their sum, and that of their moments where the platform can turn, is what the platform alone takes."""
    m = machine(name)
    pose, v, a = m.states(20)
    f = m.par.leg_forces(pose, v, a)
    alone = compiled(m.robot.replace(legs=[lightened(leg) for leg in m.robot.legs])).platform_forces(pose, v, a)
    for k in range(20):
        X = m.robot.motion.pose(list(pose[k]))
        levers = np.array([np.array(X.R) @ leg.at for leg in m.robot.legs])
        total = np.concatenate([f[k].sum(axis=0), np.cross(levers, f[k]).sum(axis=0)])
        assert error(total[list(m.robot.motion.axes)], alone[k]) < 1e-9


def lightened(leg):
    """The leg without mass, rotors, friction and springs."""
    links = [lw.Link(k.name) for k in leg.robot.links]
    joints = [lw.Joint(j.name, j.parent, j.child, j.kind, j.origin, j.axis, j.anchor) for j in leg.robot.joints]
    return lw.parallel.Leg(
        leg.name, leg.robot.replace(links=links, joints=joints), leg.tip, leg.at, leg.actuated, leg.base, leg.home
    )


@few
def test_kernels_are_what_python_computes(name):
    m = machine(name)
    pose, v, a = (x[0] for x in m.states(1))
    model = Machine.of(m.robot)
    expected = quantities.inverse_dynamics.function(model, list(pose), list(v), list(a))[0]
    assert error(m.par.inverse_dynamics(pose, v, a), expected) < 1e-11


def test_redundant_motors_share_by_least_squares():
    """Eight motors for six degrees of freedom: the forces are the shortest that do it."""
    m = machine("8-UPS")
    pose, v, a = m.states(20)
    forces, W = m.par.inverse_dynamics(pose, v, a), m.par.platform_forces(pose, v, a)
    K = m.par.inverse_jacobian(pose)
    for k in range(20):
        assert error(forces[k], np.linalg.lstsq(K[k].T, W[k])[0]) < 1e-10


def test_rods_of_a_parallelogram():
    """The two rods of each parallelogram of a Delta have the energy of slender rods between their own ends."""
    m = machine("Delta")
    robot = lw.delta(arm_mass=0.5, forearm_mass=0.2)
    par = compiled(robot)
    pose, v, a = m.states(20)
    motion, q = par.leg_motion(pose, v, a), par.inverse_kinematics(pose)
    T, V = np.zeros(20), np.zeros(20)
    for k in range(3):
        turn = 2.0 * np.pi * k / 3.0
        out, side = np.array([np.cos(turn), np.sin(turn), 0.0]), np.array([-np.sin(turn), np.cos(turn), 0.0])
        angle, rate = q[:, 3 * k, None], motion.qd[:, 3 * k, None]
        along_arm = np.cos(angle) * out - np.sin(angle) * np.array([0.0, 0.0, 1.0])
        knee = 0.2 * out + 0.25 * along_arm
        knee_v = 0.25 * rate * (-np.sin(angle) * out - np.cos(angle) * np.array([0.0, 0.0, 1.0]))
        T += 0.5 * (0.5 * 0.25**2 / 3.0) * rate[:, 0] ** 2
        V += 0.5 * 9.81 * (0.5 * 0.25 * along_arm)[:, 2]
        for offset in (0.04 * side, -0.04 * side):  # both rods end beside the middles, and shift with them
            a_end, b_end = knee + offset, pose + 0.05 * out + offset
            np.testing.assert_allclose(np.linalg.norm(b_end - a_end, axis=1), 0.6, rtol=1e-13)
            T += 0.1 / 6.0 * (knee_v * knee_v + knee_v * v + v * v).sum(axis=1)
            V += 0.1 * 9.81 * (0.5 * (a_end + b_end))[:, 2]
    T += 0.5 * 0.3 * (v * v).sum(axis=1)
    V += 0.3 * 9.81 * pose[:, 2]
    assert error(par.kinetic_energy(pose, v), T) < 1e-13
    assert error(par.potential_energy(pose), V) < 1e-13


def test_payload_adds_its_own_forces():
    """Forces are linear in the platform's inertia."""
    robot, home = lw.gough_stewart(), machine("Gough-Stewart").home
    com = (0.1, -0.05, 0.2)
    inertia = ((0.3, 0.01, 0.02), (0.01, 0.2, 0.03), (0.02, 0.03, 0.25))
    _, v, a = (x[0] for x in machine("Gough-Stewart").states(1))
    forces = [
        compiled(robot.with_payload(n * 2.0, com, n * np.array(inertia))).inverse_dynamics(home, v, a) for n in range(3)
    ]
    assert error(forces[2] - forces[1], forces[1] - forces[0]) < 1e-11
    alone = compiled(lw.gough_stewart(platform=lw.Link("platform", 2.0, com, inertia))).platform_forces(home, v, a)
    empty = compiled(lw.gough_stewart(platform=lw.Link("platform"))).platform_forces(home, v, a)
    K = compiled(robot).inverse_jacobian(home)
    assert error(K.T @ (forces[1] - forces[0]), alone - empty) < 1e-11


def test_gravity_as_an_input():
    m = machine("6-UPS")
    pose, v, a = m.states(10)
    asked = compiled(m.robot, gravity="input")
    np.testing.assert_allclose(
        asked.inverse_dynamics(pose, v, a, m.robot.gravity), m.par.inverse_dynamics(pose, v, a), rtol=1e-10
    )
    fixed = compiled(m.robot, gravity=(0.0, 0.0, 0.0))
    np.testing.assert_allclose(
        asked.inverse_dynamics(pose, v, a, np.zeros(3)), fixed.inverse_dynamics(pose, v, a), rtol=1e-9
    )
