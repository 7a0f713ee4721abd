"""Controllers: closed loops obey the equations that their sources promise."""

import pickle

import numpy as np
import pytest

import linkwise as lw
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


@pytest.mark.parametrize("seed", SEEDS)
def test_lyapunov_function_falls_as_the_source_says(seed):
    """dV2/dt along the closed loop = (52), for motors that no elastic joint carries, on any robot."""
    robot = with_free_motors(seed, 4, mount="base", floating=False).without_friction()
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


def test_lyapunov_function_never_rises_in_simulation():
    robot = hua_arm()
    kernel, V = (lw.compile(robot, a, **GAINS) for a in (lw.control.cascaded_control, lw.control.cascaded_lyapunov))
    motion = curve(3, 5)
    times = np.linspace(0.0, 2.0, 401)
    result = lw.simulate(robot, {}, None, times, control=lambda t, q, qd: kernel(q, qd, *motion(t)).tau, progress=False)
    values = V(result.q, result.qd, *(np.array(x) for x in zip(*map(motion, times), strict=True)))
    assert np.diff(values.V2).max() < 1e-7 * values.V2[0]
    assert values.V2[-1] < 1e-6 * values.V2[0]
    assert (values.V1 <= values.V2).all()


def test_perfect_tracking_is_the_feedforward():
    """On the motion, with motors where they should be, the controller gives the torques of elastic_feedforward."""
    robot, motion = hua_arm(), curve(3, 2)(0.7)
    feed = lw.compile(robot).elastic_feedforward(*motion)
    q, qd = (np.concatenate(x) for x in zip(motion[:2], feed[:2], strict=True))
    found = lw.compile(robot, lw.control.cascaded_control, **GAINS)(q, qd, *motion)
    assert error(found.tau, feed.tau) < 1e-11
    assert error(found.theta_ref, feed.theta) < 1e-12


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
