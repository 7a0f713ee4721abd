"""Numbers of the sources, from compiled kernels: every entry of golden/sources.json that rigid trees can answer."""

from dataclasses import replace

import numpy as np
import pytest

import linkwise as lw
from linkwise.robot import Drive, Frame, Joint, Link, Motor, Robot
from linkwise.vector import Vec3
from papers.stanford import rates_along, sampling_errors
from support.sources import case, in_order, planar, serial, stanford, tree
from support.trees import error, hat

PLANAR = ("001_RR_table4.1", "001_RR_vertical_payload", "001_PR_table4.3")
GRAVITY = np.array([0.0, 0.0, -9.81])


def column(rows, key):
    return np.array([row[key] for row in rows])


def test_stanford_arm_at_three_states():
    states = case("002_stanford")["states"]
    q, qd, qdd, tau = (column(states, key) for key in ("q", "qd", "qdd", "tau"))
    assert error(lw.compile(stanford()).inverse_dynamics(q, qd, qdd), tau) < 1e-12


def test_stanford_arm_along_the_trajectory():
    samples = case("002_stanford")["trajectory"]["samples"]
    q, qd, qdd, tau = (column(samples, key) for key in ("q", "qd", "qdd", "tau"))
    assert error(lw.compile(stanford()).inverse_dynamics(q, qd, qdd), tau) < 1e-12


@pytest.mark.parametrize("route", ["recursion", "series"])
def test_torque_rates_of_the_stanford_arm(route):
    """At three states, and along the trajectory; and the errors of backward differences over 1e-4 s."""
    c = case("002_stanford")
    rows = [*c["states"], *c["trajectory"]["samples"]]
    *motion, tau, tau_dot = (column(rows, key) for key in ("q", "qd", "qdd", "qddd", "tau", "taudot"))
    kernel = lw.compile(stanford(), lw.force_rates, route=route)
    found = kernel(*motion)
    assert error(found.tau, tau) < 1e-12
    assert error(found.tau_dot, tau_dot) < 1e-11


@pytest.mark.parametrize("motors", [False, True])
def test_sampling_errors_of_the_stanford_arm(motors):
    """max|tau_dot - backward difference of tau| of all six joints; 2.462e-2 is printed for the first."""
    c = case("002_stanford")["trajectory"]
    robot, suffix = stanford(), ""
    if motors:
        inertias = zip(robot.joints, c["Paul_motor_inertia"], strict=True)
        robot, suffix = robot.replace(*(replace(j, armature=a) for j, a in inertias)), "_with_Paul_motor_inertia"
    motion = (np.array(c["qi"]), np.array(c["qf"]), c["tf"])
    found = sampling_errors(rates_along(robot, motion), 1e-4, c["tf"])
    np.testing.assert_allclose(found, c[f"max_abs_dtaudot_Ts1e4{suffix}"], rtol=1e-5)


def loaded(name):
    """A planar arm with a frame where its load acts, and the load on the robot in that frame's axes."""
    c, robot = case(name), planar(name)
    if not c["ext"]:
        return robot, (), np.empty((0, 6))
    (load,) = c["ext"]
    robot = robot.add(Frame("grip", f"link{load['k']}", lw.Pose(p=Vec3(*load["r"]))))
    R = lw.compile(robot).pose(c["q"], "grip")[:3, :3]
    return robot, ("grip",), -np.array([[*(R.T @ load["F"]), *(R.T @ load["N"])]])


@pytest.mark.parametrize("name", PLANAR)
def test_planar_arms(name):
    """Torques with the load, and dtau/dqdd = M."""
    c = case(name)
    robot, at, f_ext = loaded(name)
    load = (f_ext,) if at else ()
    tau = lw.compile(robot, lw.inverse_dynamics, external=at)(c["q"], c["qd"], c["qdd"], *load)
    assert error(tau, c["tau"]) < 1e-12
    assert error(lw.compile(robot).mass_matrix(c["q"]), c["dtau_dqdd"]) < 1e-12


@pytest.mark.parametrize("name", PLANAR)
def test_joint_forces_of_planar_arms(name):
    """F_p, the force of link j-1 on link j in frame j; against the file's note it holds the load."""
    c = case(name)
    robot, at, f_ext = loaded(name)
    load = (f_ext,) if at else ()
    wrench = lw.compile(robot, lw.joint_wrenches, external=at)(c["q"], c["qd"], c["qdd"], *load).wrench
    assert error(wrench[:, :3], c["Fp"]) < 1e-12


def test_joint_force_of_the_loaded_arm_is_its_weight_and_load():
    """The same by hand: F_p of the first joint = sum of m (c_ddot - g) + the load, in frame 1."""
    c = case("001_RR_vertical_payload")
    (q1, q2), (w1, w2), (a1, a2) = c["q"], c["qd"], c["qdd"]

    def swing(length, angle, rate, acceleration):
        along = np.exp(1j * angle) * length
        return along * (1j * acceleration - rate**2)

    first, second = swing(0.2, q1, w1, a1), swing(0.2, q1 + q2, w1 + w2, a1 + a2)
    F = 0.5 * (first + 2.0 * first + second + 2 * 9.81j) + complex(*c["ext"][0]["F"][:2])
    F = F * np.exp(-1j * q1)
    assert error([F.real, F.imag, 0.0], c["Fp"][0]) < 1e-12


def test_elastic_inverse():
    """The accelerations that the elastic joints were found to have need the torques of their springs."""
    c = case("003_elastic_inverse")
    robot = tree(c["robot"])
    q, qd, qdd, tau = (in_order(robot, c[key]) for key in ("q", "qd", "qdd", "Gamma"))
    found = lw.compile(robot).inverse_dynamics(q, qd, qdd)
    assert error(found, tau) < 1e-12
    spring = [
        -K * x if soft else g for K, x, soft, g in zip(c["K"], c["Delta_q"], c["elastic"], c["Gamma"], strict=True)
    ]
    assert error(found, in_order(robot, spring)) < 1e-12


@pytest.mark.parametrize("part", ["id", "fd"])
def test_moving_base(part):
    """Joint torques with the base's motion prescribed; that motion leaves no force on a base that floats."""
    c = case("003_moving_base")
    robot = tree(c["robot"])
    q, qd, qdd = (in_order(robot, x) for x in (c["q"], c["qd"], c[part]["qdd"]))
    tau = in_order(robot, c["Gamma"] if part == "fd" else c[part]["Gamma"])
    v, omega, a = (
        np.array(c["v0_base_axes"]),
        np.array(c["w0_base_axes"]),
        np.array(c[part]["V0dot_classical_base_axes"]),
    )
    R = np.array(c["R"])
    moved = lw.compile(robot, lw.inverse_dynamics, base_motion=True, gravity="input")
    assert error(moved(q, qd, qdd, [*v, *omega], a, GRAVITY @ R), tau) < 1e-12

    floating, q, qd = on_a_floating_base(c)
    accelerations = lw.compile(floating).component_acceleration(qd, [*a, *qdd])
    assert error(lw.compile(floating).inverse_dynamics(q, qd, accelerations), [*np.zeros(6), *tau]) < 1e-12


def on_a_floating_base(c):
    """The robot of the case with its base on a floating joint, and its positions and velocities."""
    body, robot = c["base"], tree(c["robot"])
    base = Link("base", body["M"], np.array(body["MS"]) / body["M"], body["I_com"])
    floating = robot.replace(base).add(Link("world"), Joint("root", "world", "base", "floating"))
    q = [0.0, 0.0, 0.0, *from_matrix(np.array(c["R"])), *in_order(robot, c["q"])]
    return floating, np.array(q), np.array([*c["v0_base_axes"], *c["w0_base_axes"], *in_order(robot, c["qd"])])


@pytest.mark.parametrize("part", ["id", "fd"])
def test_moving_base_by_hybrid_dynamics(part):
    """Section 7.2: joints driven, base free; section 7.3: all free. The base's acceleration is classical."""
    c = case("003_moving_base")
    robot, q, qd = on_a_floating_base(c)
    joints = [n for n in robot.names if n != "root"]
    qdd, tau = (in_order(tree(c["robot"]), x) for x in (c[part]["qdd"], c[part].get("Gamma", c["Gamma"])))
    driven, given = (joints, qdd) if part == "id" else ((), tau)
    found = lw.compile(robot, lw.hybrid_dynamics, driven=driven)(q, qd, [*np.zeros(6), *given])
    a = lw.compile(robot).classical_acceleration(qd, found.qdd)
    assert error(a[:6], c[part]["V0dot_classical_base_axes"]) < 1e-11
    assert error(a[6:], qdd) < 1e-11
    assert error(found.tau, [*np.zeros(6), *tau]) < 1e-11
    if part == "fd":
        for route in ("inertia", "articulated"):
            forward = lw.compile(robot, lw.forward_dynamics, route=route)(q, qd, [*np.zeros(6), *tau])
            assert error(forward, found.qdd) < 1e-11


def test_composite_base_is_a_block_of_the_whole():
    """Identities of section 7: J0^c = A11, and beta0^c = -(H1 + A12 qdd), gravity left to the base's acceleration."""
    c = case("003_moving_base")
    robot, q, qd = on_a_floating_base(c)
    J, beta = composite_base(c)
    A = lw.compile(robot).mass_matrix(q)
    assert error(A[:6, :6], J) < 1e-12
    still = lw.compile(robot).component_acceleration(qd, np.zeros(robot.nv))  # no classical acceleration of the base
    H = lw.compile(robot, lw.inverse_dynamics, gravity=(0, 0, 0))(q, qd, still)
    qdd = in_order(tree(c["robot"]), c["id"]["qdd"])
    assert error(-(H[:6] + A[:6, 6:] @ qdd), beta) < 1e-12
    felt = np.linalg.solve(J, beta)
    felt[:3] += GRAVITY @ np.array(c["R"])
    assert error(felt, c["id"]["V0dot_classical_base_axes"]) < 1e-11


def composite_base(c):
    """J0^c and beta0^c by (94)-(96) as corrected, from the numbers of the case and the poses of its links."""
    rows, robot = c["robot"], tree(c["robot"])
    parents, dyn, q = rows["ant"], lw.compile(robot), in_order(robot, c["q"])
    T = [np.eye(4), *(dyn.pose(q, f"link{k + 1}") for k in range(len(parents)))]
    J = [inertia(body, k) for body, k in [(c["base"], None), *((rows, k) for k in range(len(parents)))]]
    omega, shift, zeta = [np.array(c["w0_base_axes"])], [np.eye(6)], [np.zeros(6)]
    for j, (i, s, rate, acceleration) in enumerate(
        zip(parents, rows["sigma"], c["qd"], c["id"]["qdd"], strict=True), start=1
    ):
        X = np.linalg.inv(T[i]) @ T[j]
        R, P, z = X[:3, :3].T, X[:3, 3], np.array([0.0, 0.0, 1.0])
        carried = R @ omega[i]
        omega.append(carried + (1 - s) * rate * z)
        shift.append(np.block([[R, -R @ hat(P)], [np.zeros((3, 3)), R]]))
        turning = np.cross(carried, rate * z)
        gamma = [*(R @ np.cross(omega[i], np.cross(omega[i], P)) + 2 * s * turning), *((1 - s) * turning)]
        zeta.append(gamma + acceleration * np.array([*(s * z), *((1 - s) * z)]))
    beta = [-gyration(K, w) for K, w in zip(J, omega, strict=True)]
    for j in range(len(parents), 0, -1):
        i = parents[j - 1]
        J[i] = J[i] + shift[j].T @ J[j] @ shift[j]  # (95)
        beta[i] = beta[i] + shift[j].T @ (beta[j] - J[j] @ zeta[j])  # (96)
    return J[0], beta[0]


def inertia(body, k):
    """The 6 by 6 inertia of a body about its frame's origin: of row k of a table, or of the one body there is."""
    m, mc, I = (body[key] if k is None else body[key][k] for key in ("M", "MS", "J_origin"))
    return np.block([[m * np.eye(3), -hat(mc)], [hat(mc), np.array(I)]])


def gyration(J, omega):
    """[w x (w x MS); w x J w]."""
    mc = np.array([J[5, 1], J[3, 2], J[4, 0]])
    return np.concatenate([np.cross(omega, np.cross(omega, mc)), np.cross(omega, J[3:, 3:] @ omega)])


def from_matrix(R):
    """The quaternion x, y, z, w of a rotation by less than a half turn."""
    w = np.sqrt(1.0 + np.trace(R)) / 2.0
    return [*(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w)), w]


def test_four_bar():
    """The torques of the tree, and those of the loop by its transposed Jacobian."""
    c = case("003_fourbar")
    tau = lw.compile(tree(c["robot"], c["g"])).inverse_dynamics(c["q"], c["qd"], c["qdd"])
    assert error(tau, c["Gamma_tree"]) < 1e-12
    assert error(np.array(c["G"]).T @ tau, c["Gamma_c"]) < 1e-12


def test_legs_of_the_gough_stewart_platform():
    """Each leg in its own base frame, in which gravity is turned."""
    c = case("003_gough_stewart")
    legs = lw.compile(tree(c["leg"]), lw.inverse_dynamics, gravity="input")
    felt = GRAVITY @ np.array(c["leg_base_rotation_world"])
    assert error(legs(c["leg_q"], c["leg_qd"], c["leg_qdd"], felt), c["leg_Gamma"]) < 1e-12


def test_serial_robot_with_rotor_inertia():
    """The accelerations found by forward dynamics need the torques it was given."""
    c = case("004_serial_RRPRRR")
    assert error(lw.compile(serial()).inverse_dynamics(c["q"], c["qd"], c["qdd"]), c["tau"]) < 1e-12


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        (lw.forward_dynamics, {"route": "inertia"}),
        (lw.forward_dynamics, {"route": "articulated"}),
        (lw.algorithms.inbound_outbound, {}),
    ],
)
def test_forward_dynamics_of_the_serial_robot(algorithm, options):
    """The accelerations that its torques cause, by each route."""
    c = case("004_serial_RRPRRR")
    found = lw.compile(serial(), algorithm, **options)(c["q"], c["qd"], c["tau"])
    assert error(found, c["qdd"]) < 1e-11


def test_mass_matrix_with_motors():
    """A of the elastic arm with its motor angle tied to the joint: M = P^T A P, P = [1; 0 0 1]."""
    c = case("000_arm3_table1")
    P = np.vstack([np.eye(3), [0.0, 0.0, 1.0]])
    assert error(lw.compile(arm(c)).mass_matrix(c["q"]), P.T @ c["A"] @ P) < 1e-12


def arm(c):
    """Hua's arm with a rigid third joint: joint i turns about z of frame i, link i is given in frame i+1."""
    links, joints = [Link("link0")], []
    for k, motor in enumerate(c["motors"]):
        R, r = np.array(c["Rfix"][k]), np.array(c["r_oi_oi1"][k])
        com = np.array(c["r_oi_ci"][k]) - r
        links.append(Link(f"link{k + 1}", c["m"][k], com, c["Ibar"][k]))
        T = np.block([[R, (R @ r)[:, None]], [np.zeros(3), 1.0]])
        drive = Drive(Motor(f"link{motor['link']}", rotor=motor["Iz"], axis=Vec3(*motor["z"])), gear=motor["eta"])
        joints.append(Joint(f"joint{k + 1}", f"link{k}", f"link{k + 1}", origin=T, axis=R[2], anchor=-r, drive=drive))
    return Robot(links, joints)
