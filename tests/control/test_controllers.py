"""Controllers: closed loops obey the equations that their sources promise."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwise as lw
from support.base_motion import BasePose
from support.elastic import hua_arm, with_free_motors
from support.trees import dynamics, error, states

GAINS = {"kp": 580.0, "kd": 65.0, "kp_motor": 375.0, "kd_motor": 14.0}
SEEDS = range(5)


def rigid_robot(seed):
    return lw.random_tree(seed, 5, armature=0.4, motors=0.4, friction=0.4, springs=0.3, mimic=0.2)


def references(count, orders, seed=11):
    return list(np.random.default_rng(seed).normal(size=(orders, count)))


# ---- rigid robots


@pytest.mark.parametrize("seed", SEEDS)
def test_computed_torque_makes_the_error_linear(seed):
    """qdd = qdd_ref + kd e' + kp e, one gain for each joint."""
    robot = rigid_robot(seed)
    q, qd, _ = (x[0] for x in states(robot, 1))
    ref = references(robot.nv, 3)
    kp, kd = np.random.default_rng(seed).uniform(1.0, 50.0, (2, robot.nv))
    tau = lw.compile(robot, lw.control.computed_torque, kp=tuple(kp), kd=tuple(kd))(q, qd, *ref)
    expected = ref[2] + kd * (ref[1] - qd) + kp * (ref[0] - q)
    assert error(dynamics(robot).forward_dynamics(q, qd, tau), expected) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_passivity_control_leaves_a_passive_error(seed):
    """M sigma' + C sigma + kd sigma = 0."""
    robot = rigid_robot(seed)
    dyn, (q, qd, _) = dynamics(robot), (x[0] for x in states(robot, 1))
    ref = references(robot.nv, 3)
    tau = lw.compile(robot, lw.control.passivity_control, kp=30.0, kd=5.0)(q, qd, *ref)
    qdd = dyn.forward_dynamics(q, qd, tau)
    slope = 30.0 / 5.0
    sigma = ref[1] + slope * (ref[0] - q) - qd
    sigma_dot = ref[2] + slope * (ref[1] - qd) - qdd
    left = dyn.mass_matrix(q) @ sigma_dot + dyn.coriolis_matrix(q, qd) @ sigma + 5.0 * sigma
    assert np.abs(left).max() < 1e-10 * np.abs(tau).max()


@pytest.mark.parametrize("controller", [lw.control.computed_torque, lw.control.passivity_control])
def test_rigid_controllers_follow_a_motion(controller):
    robot = lw.load("rr").replace(gravity=(0.0, -9.81, 0.0))
    kernel = lw.compile(robot, controller, kp=400.0, kd=40.0)

    def wave(t):
        return [0.4 * np.sin(2.0 * t + k * np.pi / 2) * 2.0**k * np.ones(2) for k in range(3)]

    result = lw.simulate(
        robot, [0.2, -0.2], None, 3.0, control=lambda t, q, qd: kernel(q, qd, *wave(t)), progress=False
    )
    assert np.abs(result.q[-1] - wave(3.0)[0]).max() < 1e-5


# ---- elastic robots


def flow(robot, kernel, q, qd, motion, t):
    """Accelerations of the closed loop."""
    tau = kernel(q, qd, *motion(t)).tau
    return dynamics(robot).forward_dynamics(q, qd, robot.tau(tau))


def curve(count, seed):
    """A smooth motion of the joints with four derivatives."""
    rng = np.random.default_rng(seed)
    size, rate, phase = rng.uniform(0.2, 0.6, count), rng.uniform(0.5, 2.0, count), rng.uniform(0.0, 6.0, count)
    return lambda t: [size * rate**k * np.sin(rate * t + phase + k * np.pi / 2) for k in range(5)]


def on_rigid_links(seed):
    """A chain whose last joint, or last two, are elastic, with heavy motors that rigid joints carry."""
    robot = lw.random_tree(seed, 4, branching=0.0, kinds=("revolute",))
    rng, moving = np.random.default_rng(seed), [j for j in robot.joints if j.nv]
    changed = [replace(j, armature=0.1) for j in moving]
    for k in (3,) if seed % 2 else (2, 3):
        axis = rng.normal(size=3)
        motor = lw.Motor(moving[1].child, rotor=2e-3, axis=axis / np.linalg.norm(axis))
        changed[k] = replace(moving[k], drive=lw.Drive(motor, gear=20.0, stiffness=200.0))
    return robot.replace(*changed)


def tilted_arm(heavier=10.0):
    """Hua's arm with the motor of its elastic joint so tilted on link 1 that joint 1, a rigid one, feels its spin."""
    robot = hua_arm()
    j = robot.joint("joint3")
    motor = replace(j.drive.motor, rotor=heavier * j.drive.motor.rotor, axis=(0.48, 0.36, 0.8))
    return robot.replace(replace(j, drive=replace(j.drive, motor=motor)))


def soft_wrist(stiffness, heavier=1.0):
    """The same with joint 2 elastic too, carrying the motor of joint 3."""
    robot = tilted_arm(heavier)
    second, third = robot.joint("joint2"), robot.joint("joint3")
    second = replace(second, drive=replace(second.drive, stiffness=stiffness))
    motor = replace(third.drive.motor, link="link2")
    return robot.replace(second, replace(third, drive=replace(third.drive, stiffness=stiffness, motor=motor)))


@pytest.mark.parametrize("mount", ["base", "rigid links"])
@pytest.mark.parametrize("seed", SEEDS)
def test_lyapunov_function_falls_as_the_source_says(seed, mount):
    """dV2/dt along the closed loop = (52), for motors that no elastic joint carries, on any robot."""
    robot = with_free_motors(seed, 4, mount="base", floating=False).without_friction()
    robot = on_rigid_links(seed) if mount == "rigid links" else robot
    n, m = len(robot.names), len(robot.coordinates) - len(robot.names)
    kernel, V = (lw.compile(robot, a, **GAINS) for a in (lw.control.cascaded_control, lw.control.cascaded_lyapunov))
    motion = curve(n, seed)
    q, qd, _ = (0.3 * x[0] for x in states(robot, 1, seed))
    qdd, h = flow(robot, kernel, q, qd, motion, 0.4), 1e-4

    def along(s):
        """V2 after a time s: the path to third order is enough for a central difference."""
        jerk = (flow(robot, kernel, q + h * qd, qd + h * qdd, motion, 0.4 + h) - qdd) / h
        at = q + s * qd + s**2 / 2 * qdd + s**3 / 6 * jerk, qd + s * qdd + s**2 / 2 * jerk
        return V(*at, *motion(0.4 + s)).V2

    rate = (8.0 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12.0 * h)
    ref = motion(0.4)
    e, e_dot, slope = ref[0] - q[:n], ref[1] - qd[:n], GAINS["kp"] / GAINS["kd"]
    K = np.array([j.drive.stiffness for j in robot.joints if j.is_elastic])
    off = kernel(q, qd, *ref).theta_ref - q[n:]
    known = GAINS["kd"] * (e_dot @ e_dot + slope**2 * (e @ e)) + GAINS["kp_motor"] / GAINS["kd_motor"] * (K @ off**2)
    left = -rate - known  # sigma_m^T kd_motor sigma_m
    values = V(q, qd, *ref)
    if m == 1:  # one motor: its sigma^2 is what V2 has beyond V1 and the spring
        B = dynamics(robot).elastic_blocks(q, qd).B[0, 0]
        sigma2 = (2.0 * (values.V2 - values.V1) - K[0] * off[0] ** 2) / B
        assert left == pytest.approx(GAINS["kd_motor"] * sigma2, rel=1e-4, abs=1e-6 * abs(rate))
    assert left > -1e-6 * abs(rate)


@pytest.mark.parametrize("seed", SEEDS)
def test_motors_on_rigid_links_are_felt(seed):
    """So that the law above says something of S and C1."""
    robot = on_rigid_links(seed)
    q, qd, _ = (0.3 * x[0] for x in states(robot, 1, seed))
    blocks = dynamics(robot).elastic_blocks(q, qd)
    assert np.abs(blocks.S).max() > 1e-2
    n = len(robot.names)
    still = np.concatenate([qd[:n], np.zeros(len(qd) - n)])
    bias = dynamics(robot).bias_forces
    assert np.abs(bias(q, qd) - bias(q, still))[:n].max() > 1e-4


@pytest.mark.parametrize("robot", [hua_arm(), tilted_arm()], ids=["hua", "tilted"])
def test_lyapunov_function_never_rises_in_simulation(robot):
    kernel, V = (lw.compile(robot, a, **GAINS) for a in (lw.control.cascaded_control, lw.control.cascaded_lyapunov))
    motion = curve(3, 5)
    times = np.linspace(0.0, 2.0, 401)
    result = lw.simulate(robot, {}, None, times, control=lambda t, q, qd: kernel(q, qd, *motion(t)).tau, progress=False)
    values = V(result.q, result.qd, *(np.array(x) for x in zip(*map(motion, times), strict=True)))
    assert np.diff(values.V2).max() < 1e-7 * values.V2[0]
    assert values.V2[-1] < 1e-6 * values.V2[0]
    assert (values.V1 <= values.V2).all()


@pytest.mark.parametrize("t", [0.0, 0.31, 0.77])
def test_lyapunov_function_falls_on_a_base_that_moves(t):
    """Closed loop on a base that turns and shakes: V2 never rises, and the motion is followed."""
    robot, base, motion = tilted_arm(), BasePose(3), curve(3, 5)
    options = {"base_motion": True, "gravity": "input"}
    laws = lw.control.cascaded_control, lw.control.cascaded_lyapunov
    kernel, V = (lw.compile(robot, a, **options, **GAINS) for a in laws)
    assert list(kernel.inputs)[7:11] == ["base_velocity", "base_acceleration", "base_jerk", "base_snap"]
    forward = lw.compile(robot, lw.forward_dynamics, **options)

    def slope(s, x):
        q, qd = x[:4], x[4:]
        around = base.inputs(s, 2, robot.gravity)
        tau = robot.tau(kernel(q, qd, *motion(s), *around).tau)
        return np.concatenate([qd, forward(q, qd, tau, *around[:2], around[-1])])

    times = np.linspace(t, t + 4.0, 401)
    found = solve_ivp(slope, times[[0, -1]], np.zeros(8), "LSODA", times, rtol=1e-9, atol=1e-10)
    wanted = [np.array(x) for x in zip(*map(motion, times), strict=True)]
    around = [np.array(x) for x in zip(*(base.inputs(s, 2, robot.gravity) for s in times), strict=True)]
    values = V(found.y[:4].T, found.y[4:].T, *wanted, *around)
    assert np.diff(values.V2).max() < 1e-7 * values.V2[0]
    assert values.V2[-1] < 1e-9 * values.V2[0]
    assert np.abs(found.y[:3, -1] - wanted[0][-1]).max() < 1e-6


def test_passivity_control_knows_the_base():
    """On the motion it gives the torques of inverse dynamics; off it the error is as passive as on a base at rest."""
    robot, base = rigid_robot(0), BasePose(1)
    q, qd, _ = (x[0] for x in states(robot, 1))
    ref, around = references(robot.nv, 3), base.inputs(0.4, 0, robot.gravity)
    options = {"base_motion": True, "gravity": "input"}
    law = lw.compile(robot, lw.control.passivity_control, kp=30.0, kd=5.0, **options)
    inverse, forward = (lw.compile(robot, a, **options) for a in (lw.inverse_dynamics, lw.forward_dynamics))
    assert error(law(*ref[:2], *ref, *around), inverse(*ref, *around)) < 1e-12

    def energy(x, v, s):
        sigma = ref[1] + s * ref[2] + 6.0 * (ref[0] + s * ref[1] - x) - v
        return 0.5 * sigma @ dynamics(robot).mass_matrix(x) @ sigma, sigma

    qdd, h = forward(q, qd, law(q, qd, *ref, *around), *around), 1e-5
    ends = [energy(q + s * qd + s**2 / 2 * qdd, qd + s * qdd, s)[0] for s in (h, -h)]
    sigma = energy(q, qd, 0.0)[1]
    assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(-5.0 * sigma @ sigma, rel=1e-5)


@pytest.mark.parametrize("robot", [hua_arm(), tilted_arm()], ids=["hua", "tilted"])
def test_perfect_tracking_is_the_feedforward(robot):
    """On the motion, with motors where they should be, the controller gives the torques of elastic_feedforward."""
    motion = curve(3, 2)(0.7)
    feed = lw.compile(robot).elastic_feedforward(*motion)
    q, qd = (np.concatenate(x) for x in zip(motion[:2], feed[:2], strict=True))
    found = lw.compile(robot, lw.control.cascaded_control, **GAINS)(q, qd, *motion)
    assert error(found.tau, feed.tau) < 1e-11
    assert error(found.theta_ref, feed.theta) < 1e-12


def test_motors_that_elastic_joints_carry_spin_as_wanted():
    """On the motion the controller is then the feed-forward with coupling="rigid"."""
    robot, motion = soft_wrist(100.0), curve(3, 2)(0.7)
    feed = lw.compile(robot, lw.algorithms.elastic_feedforward, coupling="rigid")(*motion)
    q, qd = (np.concatenate(x) for x in zip(motion[:2], feed[:2], strict=True))
    found = lw.compile(robot, lw.control.cascaded_control, **GAINS)(q, qd, *motion)
    assert error(found.theta_ref, feed.theta) < 1e-12
    assert error(found.tau, feed.tau) < 1e-11


@pytest.mark.parametrize(("stiffness", "limit"), [(100.0, 1e-5), (1000.0, 1e-6)])
def test_motors_that_elastic_joints_carry_leave_a_small_error(stiffness, limit):
    """The stiffer the springs, the smaller: what is neglected is the acceleration of their stretch."""
    robot, motion = soft_wrist(stiffness), curve(3, 5)
    kernel = lw.compile(robot, lw.control.cascaded_control, **GAINS)
    times = np.linspace(0.0, 4.0, 201)
    result = lw.simulate(robot, {}, None, times, control=lambda t, q, qd: kernel(q, qd, *motion(t)).tau, progress=False)
    wanted = np.array([motion(t)[0] for t in times])
    assert np.abs(result.q[100:, :3] - wanted[100:]).max() < limit


def test_known_loads_are_felt_by_the_motors_law_alone():
    """External wrenches change the motors' torques through the accelerations, not where motors should be."""
    robot = hua_arm()
    plain, felt = (lw.compile(robot, lw.control.cascaded_control, external=x, **GAINS) for x in ((), ("tool",)))
    q, qd, _ = (x[0] for x in states(robot, 1))
    ref = curve(3, 1)(0.2)
    without, loaded = plain(q, qd, *ref), felt(q, qd, *ref, [[0, 0, 3, 0, 0, 0]], np.zeros((1, 6)))
    assert error(loaded.theta_ref, without.theta_ref) < 1e-14
    assert error(loaded.tau[:2], without.tau[:2]) < 1e-14
    assert abs(loaded.tau[2] - without.tau[2]) > 1e-3


def test_controllers_are_pickled():
    kernel = lw.compile(hua_arm(), lw.control.cascaded_control, **GAINS)
    state = np.ones((2, 4)), np.ones((5, 3))
    again = pickle.loads(pickle.dumps(kernel))
    assert np.array_equal(again(*state[0], *state[1]).tau, kernel(*state[0], *state[1]).tau)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kp": -1.0}, "kp: expected numbers above 0, got -1.0"),
        ({"kd": (1.0, 2.0)}, "kd: expected one number or 3"),
        ({"kp_motor": 0.0}, "kp_motor: expected numbers above 0"),
        ({"kd_motor": "high"}, "kd_motor: expected numbers above 0, got 'high'"),
        ({"kd_motor": float("nan")}, "kd_motor: expected numbers above 0"),
        ({"kd": np.eye(3)}, "kd: .*diagonal"),
        ({"gain": 1.0}, "unknown option of cascaded_control 'gain'"),
    ],
)
def test_wrong_gains_are_named(change, message):
    with pytest.raises(lw.LinkwiseError, match=message):
        lw.compile(hua_arm(), lw.control.cascaded_control, **{**GAINS, **change})


def test_wrong_robots_are_named():
    rigid = {"kp": 1.0, "kd": 1.0}
    with pytest.raises(lw.LinkwiseError, match="elastic one at joint 'joint3'"):
        lw.compile(hua_arm(), lw.control.computed_torque, **rigid)
    with pytest.raises(lw.LinkwiseError, match="expected a robot with elastic drives"):
        lw.compile(hua_arm().rigid(), lw.control.cascaded_control, **GAINS)
    with pytest.raises(lw.LinkwiseError, match="floating joint 'root'"):
        lw.compile(lw.random_tree(1, 3, floating=True), lw.control.passivity_control, **rigid)
    with pytest.raises(lw.InputError, match=r"expected kp=\.\.\."):
        lw.compile(hua_arm(), lw.control.cascaded_control)
    law = {"tool": lambda pose, velocity: lw.Wrench(velocity.linear * -1.0)}
    with pytest.raises(lw.InputError, match="forces depend on q, qd, qdd, but its inputs are q, qd, q_ref"):
        lw.compile(hua_arm(), lw.control.cascaded_control, forces=law, **GAINS)
